"""The tables of docs/warp.md are what the fits say. With POSGEOM_WRITE_DOCS=1 they are written anew."""

import csv
import os
import platform
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer.testing
from tokenizers import Tokenizer

import posgeom as pg
from posgeom.cli.main import app
from posgeom.inference.jackknife import Estimate, Interval
from posgeom.simulation.standard_library import docstrings, standard_library_files
from posgeom.simulation.synthetic import sample_counts

PAGE = Path(__file__).parents[1] / "docs" / "warp.md"
VERSION = f"Python {platform.python_version()}"
HEADINGS = (
    "corpus | positions | best warp | best of one parameter | alignment of the best | sinusoid | line | MDS, rank 1 | "
    "a line?"
)


def imdb(data_dir: Path) -> pg.PositionCounts:
    return pg.count(data_dir / "imdb.parquet", data_dir / "bert-uncased/tokenizer.json", n_positions=256)


def sst2(data_dir: Path) -> pg.PositionCounts:
    return pg.count(data_dir / "sst2.parquet", data_dir / "bert-uncased/tokenizer.json", n_positions=32)


def splice(data_dir: Path) -> pg.PositionCounts:
    with (data_dir / "uci_splice.csv").open(newline="") as stream:
        windows = [row["sequence"].strip() for row in csv.DictReader(stream) if row["label"].strip() == "EI"]
    return pg.count_texts(windows, "chars", n_positions=60)


def hdfs(data_dir: Path) -> pg.PositionCounts:
    return pg.count(data_dir / "HDFS_2k.log", "whitespace", n_positions=16)


def words(data_dir: Path) -> pg.PositionCounts:
    return pg.count_texts([text for text, _ in docstrings()], "whitespace", n_positions=64)


def lines(data_dir: Path) -> pg.PositionCounts:
    def read() -> Iterator[str]:
        for path in standard_library_files():
            yield from (text for text in path.read_text("utf-8", "replace").splitlines() if text.strip())

    return pg.count_texts(list(read()), "chars", n_positions=80)


CORPORA: dict[str, Callable[[Path], pg.PositionCounts]] = {
    "IMDB": imdb,
    "SST-2": sst2,
    f"docstrings of {VERSION}": words,
    f"source lines of {VERSION}": lines,
    "splice sites EI": splice,
    "HDFS": hdfs,
}


def block(name: str, rows: list[str]) -> None:
    """Compare the table between two marks of the page, but for rows of another Python; or write it."""
    head, _, rest = PAGE.read_text().partition(f"<!-- {name} -->\n")
    stored, _, tail = rest.partition(f"<!-- /{name} -->\n")
    if os.environ.get("POSGEOM_WRITE_DOCS"):
        PAGE.write_text(f"{head}<!-- {name} -->\n" + "".join(f"{row}\n" for row in rows) + f"<!-- /{name} -->\n{tail}")
        return
    known = stored.splitlines()
    assert len(known) == len(rows)
    for old, new in zip(known, rows, strict=True):
        if "of Python" not in old or VERSION in old:
            assert old == new, "set POSGEOM_WRITE_DOCS=1 to write the page anew"


def shown(estimate: Estimate) -> str:
    bounds = estimate.interval(0.95)
    assert estimate.value is not None
    assert bounds is not None
    return f"{estimate.value:.3f} ± {(bounds.high - bounds.low) / 2:.3f}"


def parameter(one: pg.FittedWarp) -> str:
    bounds: Interval | None = one.parameter_interval
    if one.parameter is None:
        return ""
    return f"{one.parameter:.2g}" + ("" if bounds is None else f" ({bounds.low:.2g} to {bounds.high:.2g})")


def row_of(corpus: str, fit: pg.WarpFit) -> str:
    assert fit.best is not None
    close = [name for name, gap in fit.advantages.items() if (bounds := gap.interval(0.95)) and bounds.low <= 0]
    best = fit.best + (f"; not told from {', '.join(close)}" if close else "")
    simple = next(one for one in fit.families if one.parameter is not None)
    gap = f"{fit.beyond_lines.value:.3f}" if not fit.is_line else ""
    cells = [
        corpus,
        f"{fit.geometry.positions.size}",
        best,
        f"{simple.name} {parameter(simple)}: {shown(simple.alignment)}",
        shown(fit[fit.best].alignment),
        shown(fit.sinusoidal),
        shown(fit.line),
        shown(fit.mds[1]),
        "yes" if fit.is_line else f"no, by {gap}",
    ]
    return f"| {' | '.join(cells)} |"


def test_the_commands_parse() -> None:
    text = PAGE.read_text().replace("\\\n", " ")
    commands = re.findall(r"^    (posgeom .*)$|`(posgeom export[^`]*)`", text, re.MULTILINE)
    assert len(commands) == 8
    for words in (shlex.split(a or b)[1:] for a, b in commands):
        done = typer.testing.CliRunner().invoke(app, [*words, "--help"])
        assert done.exit_code == 0, words
        for spec in (word for word in words if "warp=" in word and "corpus" not in word):
            pg.build_encoding(spec, n_positions=64, n_dims=64)


@pytest.mark.slow
def test_the_python_code_runs() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    rng = np.random.default_rng(0)
    scope: dict[str, Any] = {
        "geometry": pg.geometry(sample_counts(rng.dirichlet(np.ones(9), 20), np.full(20, 900), n_folds=10, rng=rng))
    }
    exec(code, scope)
    assert scope["table"].n_positions == 512


def test_the_tokenizers_of_the_training_runs_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = (one for one in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "tokenizers" in one)
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"sentence": ["a cat sat", "the cat, a hat"]}), "sst2.parquet")
    exec(code, {})
    for name, text, expected in (
        ("words", "a cat", ["a", "cat"]),
        ("characters", "A~ b\u00e9", ["[CLS]", "A", "~", "\u2581", "b", "[UNK]", "[SEP]"]),
        ("bases", "GATN", ["[CLS]", *"GATN", "[SEP]"]),
    ):
        assert Tokenizer.from_file(f"{name}.json").encode(text).tokens == expected
        assert Tokenizer.from_file(f"{name}.json").token_to_id("[MASK]") is not None
    assert Tokenizer.from_file("characters.json").get_vocab_size() == 100


@pytest.mark.slow
def test_the_table_of_corpora(data_dir: Path) -> None:
    fits = {name: pg.fit_warp(pg.geometry(read(data_dir))) for name, read in CORPORA.items()}
    rows = [f"| {HEADINGS} |", "|" + "---|" * len(HEADINGS.split(" | ")), *(row_of(*item) for item in fits.items())]
    block("corpora", rows)
    assert not fits["splice sites EI"].is_line
    assert not fits["HDFS"].is_line
    assert fits["IMDB"].is_line
    assert fits["SST-2"].is_line


@pytest.mark.slow
def test_imdb_as_it_was_measured_and_without_its_first_positions(data_dir: Path) -> None:
    shape = pg.geometry(imdb(data_dir))
    # Measured before with a script of its own.
    for spec, expected in (("sinusoidal", 0.42), ("line", 0.49), ("line:warp=log:1", 0.82)):
        encoding = pg.build_encoding(spec, n_positions=256, n_dims=768)
        assert pg.alignment(encoding, shape) == pytest.approx(expected, abs=0.006)
    found = pg.leave_out_first(shape, ["log", "reciprocal"], [0, 15, 31])
    assert [row.first for row in found] == [1, 16, 32]
    assert found[1].share.value == pytest.approx(0.07, abs=0.005)
    names = list(found[0].alignments)
    rows = [f"| from position | share of B^2 | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
    for row in found:
        values = [row.share, *(row.alignments[name] for name in names)]
        rows.append(f"| {row.first} | {' | '.join(map(shown, values))} |")
    block("left-out", rows)
