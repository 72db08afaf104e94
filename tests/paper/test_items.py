"""The items: on synthetic corpora, on small corpora and models, and on the paper's own."""

import json
from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import PosgeomError, TokenizerError
from posgeom.paper.inputs import IMDB, SST2, Corpus, Inputs, PaperFiles, open_inputs
from posgeom.paper.items import ITEMS, chosen_items, needs_of, reproduce
from posgeom.paper.result import Estimate, ItemResult, Row, SoundRow, Verdict
from posgeom.report.reproduction import row_cells


def row_of(item: ItemResult, quantity: str) -> Row:
    return next(row for row in item.rows if row.quantity == quantity)


def value_of(item: ItemResult, quantity: str) -> float:
    ours = row_of(item, quantity).ours
    assert ours is not None
    return ours.value


def sound_of(item: ItemResult, quantity: str) -> SoundRow:
    return next(row for row in item.sound if row.quantity == quantity)


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def test_the_choice_of_items() -> None:
    assert chosen_items([]) == chosen_items(["all"]) == list(ITEMS)
    assert chosen_items(["fig2", "table3", "fig2"]) == ["table3", "fig2"]
    assert needs_of(["table2", "fig4"]) == {"sst2", "imdb"}
    with pytest.raises(PosgeomError, match="no item 'fig3': expected table2"):
        chosen_items(["fig3"])


def test_bad_inputs_are_refused(tmp_path: Path, small_corpus: Path) -> None:
    with pytest.raises(PosgeomError, match="at least 2 seeds"):
        open_inputs(n_seeds=1)
    with pytest.raises(PosgeomError, match="nowhere"):
        open_inputs(PaperFiles(sst2=tmp_path / "nowhere.parquet", tokenizer="whitespace"))
    with pytest.raises(PosgeomError, match="no model 'no/where'"):
        open_inputs(PaperFiles(model="no/where"))
    # What the items do not need is left alone.
    assert open_inputs(PaperFiles(sst2=tmp_path / "nowhere.parquet"), needed=needs_of(["table2"])).corpora == {}


def test_without_a_tokenizer_the_error_says_what_to_give(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(TokenizerError, match=r"'bert-base-uncased'.*-t takes"):
        open_inputs(PaperFiles(sst2=small_corpus))


def test_the_synthetic_items(synthetic_inputs: Inputs) -> None:
    items = {item.name: item for item in reproduce(["table2", "table3", "fig1", "fig2"], synthetic_inputs).items}
    table2, table3, fig1, fig2 = items.values()
    assert [item.status for item in items.values()] == ["run"] * 4
    assert row_of(table2, "rank of B").verdict == Verdict.AGREES
    for name in ("parameters r(n + d), r = 3", "parameters n d of a full table", "parameters saved, r = 3"):
        assert row_of(table2, name).verdict == Verdict.AGREES, name
    assert row_of(table2, "inertia on two axes").verdict in (Verdict.AGREES, Verdict.SPREAD)
    # Means over other seeds, of method and test alike.
    assert value_of(table2, "raw stress, sinusoidal") == pytest.approx(22, abs=0.6)
    assert value_of(table2, "raw stress, MDS of rank 3") == pytest.approx(0.0515, abs=0.002)
    assert value_of(table2, "raw stress, MDS of rank 31") < 1e-25
    assert value_of(table3, "raw stress, sinusoidal") == pytest.approx(1.56, abs=0.04)
    assert value_of(table3, "raw stress, MDS") == pytest.approx(0.0042, abs=0.0004)
    assert row_of(table3, "raw stress, sinusoidal").verdict == Verdict.DIFFERS
    assert value_of(fig2, "positions nearest to their regime's centre") == 100
    within, between = (value_of(fig1, f"mean distance {where}") for where in ("within a regime", "between regimes"))
    assert within < 0.6 < 1.2 < between


def test_a_generator_that_fits_table2() -> None:
    """What a note and docs/reproduce.md say of concentration 0.02 and preference 100."""
    fitted = Inputs(n_seeds=20, concentration=0.02, preference=100)
    table2, table3 = reproduce(["table2", "table3"], fitted).items
    assert {row.verdict for row in table2.rows if row.paper} == {Verdict.AGREES, Verdict.SPREAD}
    assert {row.verdict for row in table3.rows if row.paper} == {Verdict.DIFFERS}
    assert value_of(table2, "raw stress, sinusoidal") == pytest.approx(18.96, abs=5e-3)
    assert value_of(table2, "raw stress, MDS of rank 3") == pytest.approx(0.0487, abs=5e-5)


def test_the_sound_version_is_nearer_to_the_truth(synthetic_inputs: Inputs) -> None:
    (item,) = reproduce(["fig1"], synthetic_inputs).items
    both = sound_of(item, "mean squared distance")
    truth = value(sound_of(item, "mean squared distance, the truth").sound)
    assert truth < value(both.sound) < value(both.plugin)


@pytest.mark.parametrize("name", ["table4", "fig4", "fig6", "fig7", "fig8"])
def test_what_is_missing_is_said_and_never_made_up(name: str, synthetic_inputs: Inputs) -> None:
    (item,) = reproduce([name], synthetic_inputs).items
    assert item.status == ("partly run" if name == "fig6" else "not run")
    for row in item.rows:
        if row.quantity != "violations, random":
            assert (row.ours, row.difference, row.verdict) == (None, None, Verdict.NOT_RUN)
    assert item.sound == ()
    assert (item.panels, item.change) == ((), "")
    ways = {entry.way_out for entry in item.missing}
    assert ways == {f"--{need} PATH" for need in needs_of([name])} | (
        {"--scratch PATH"} if name > "fig5" and name != "table4" else set()
    )


def test_other_corpora_and_models_are_not_comparable(small_inputs: Inputs) -> None:
    result = reproduce([], small_inputs)
    for item in result.items[2:]:
        if item.name in ("fig1", "fig2", "fig5"):  # on synthetic corpora, or on draws, which need no input
            continue
        found = {row.verdict for row in item.rows if row.paper is not None and row.quantity != "violations, random"}
        assert found <= {Verdict.OTHER_INPUT, Verdict.NOT_RUN}, item.name
        assert any("not comparable" in note for note in item.notes)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["corpora"]["sst2"]["is_the_papers"] is False
    layers = document["items"][-1]
    assert layers["status"] == "partly run"
    assert any("2 sets of layer weights" in entry["reason"] for entry in layers["missing"])
    assert [panel["series"][0]["x"] for panel in layers["panels"]] == [[1, 2], [1, 2]]


def test_a_model_with_too_few_positions(small_corpus: Path, tmp_path: Path) -> None:
    from tests.models.raw import save_bert

    inputs = open_inputs(
        PaperFiles(sst2=small_corpus, tokenizer="whitespace", model=save_bert(tmp_path / "m")), n_seeds=2
    )
    item = ITEMS["fig6"].redo(inputs)
    assert row_of(item, "violations, pretrained").verdict == Verdict.NOT_RUN
    assert any("has 24 positions, n = 128" in entry.reason for entry in item.missing)


def test_a_corpus_without_structure(small_model: Path, tmp_path: Path) -> None:
    """Cross-validated distances that are noise have no stress; the paper's numbers are there all the same."""
    rng = np.random.default_rng(0)
    corpus = tmp_path / "noise.txt"
    corpus.write_text("\n".join(" ".join(rng.choice(list("abcdefgh"), 9)) for _ in range(400)))
    inputs = open_inputs(PaperFiles(sst2=corpus, tokenizer="whitespace", model=small_model), n_seeds=2)
    items = reproduce(["table4", "fig4", "fig6", "fig7", "fig8"], inputs).items
    assert {item.status for item in items} == {"partly run"}
    for row in (row for item in items for row in item.rows if row.quantity.startswith("SST-2")):
        assert row.ours is not None or "MDS at d" in row.quantity  # there are not so many axes
    assert any(row.sound is None for item in items for row in item.sound)


def test_the_same_seed_gives_the_same_result(small_corpus: Path) -> None:
    def run() -> str:
        inputs = open_inputs(PaperFiles(sst2=small_corpus, tokenizer="whitespace"), n_seeds=2, seed=3)
        return json.dumps(reproduce(["table3", "fig6", "fig7"], inputs).to_dict())

    assert run() == run()


DOCUMENT = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()


def documented(item: str) -> list[tuple[str, ...]]:
    """Rows of the table in docs/reproduce.md: quantity, ours, spread, paper, section, verdict."""
    lines = [line for line in DOCUMENT.splitlines() if line.startswith(f"| {item} |")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")[1:]) for line in lines]


def printed(item: ItemResult, quantity: str) -> tuple[str, ...]:
    row = next(row for row in item.to_dict()["rows"] if row["quantity"] == quantity)
    cells = row_cells(row)
    section = row["paper"]["section"] or "-"
    return (quantity, cells["ours"], cells["spread"], cells["paper"], section, cells["verdict"])


def test_the_documented_synthetic_numbers() -> None:
    for item in reproduce(["table2", "table3"], Inputs()).items:
        rows = documented(item.name)
        assert len(rows) == sum(row.paper is not None for row in item.rows)
        assert rows == [printed(item, row[0]) for row in rows]


@pytest.fixture(scope="module")
def papers(data_dir: Path, bert: Path, imdb: PositionCounts) -> Inputs:
    inputs = open_inputs(PaperFiles(sst2=data_dir / "sst2.parquet", tokenizer=bert), n_seeds=3)
    inputs.corpora[IMDB.key] = Corpus(imdb, 0, what=IMDB)
    return inputs


def check_document(item: ItemResult) -> None:
    """The documented numbers that do not depend on seeds, of which there are fewer here."""
    rows = [row for row in documented(item.name) if not row[2]]
    assert rows
    assert rows == [printed(item, row[0]) for row in rows]


def test_table4_on_the_papers_corpora(papers: Inputs) -> None:
    item = ITEMS["table4"].redo(papers)
    assert item.status == "run"
    for quantity, expected, digits in (
        ("SST-2: raw stress, ALiBi", 0.5630, 5e-5),
        ("SST-2: raw stress, sinusoidal", 271.03, 5e-3),
        ("SST-2: raw stress, RoPE", 271.03, 5e-3),
        ("SST-2: raw stress, sinusoidal over ALiBi", 481.42, 5e-3),
        ("IMDB: raw stress, ALiBi", 3.0511, 5e-5),
        ("IMDB: raw stress, sinusoidal", 1127.5, 0.05),
        ("IMDB: RoPE against sinusoidal", 0, 1e-9),
        ("SST-2: raw stress, MDS", 0, 1e-12),
        ("IMDB: raw stress, MDS", 0, 1e-12),
    ):
        assert value_of(item, quantity) == pytest.approx(expected, abs=digits), quantity
    check_document(item)
    assert not {row.verdict for row in item.rows} & {Verdict.DIFFERS, Verdict.OTHER_INPUT, Verdict.NOT_RUN}
    for what, sinusoidal, alibi in ((SST2, 0.2281, 0.2982), (IMDB, 0.0401, 0.3102)):
        for name, spec, expected in (("sinusoidal", "sinusoidal", sinusoidal), ("ALiBi", "alibi", alibi)):
            assert papers.corpora[what.key].stress(spec, 768).scaled == pytest.approx(expected, abs=5e-5)
            row = sound_of(item, f"{what.title}: alignment, {name}")
            assert row.sound is not None
            assert row.sound.kind == "jackknife"
    for name, expected in (("ALiBi", 0.490), ("sinusoidal", 0.416), ("MDS", 0.984)):
        assert value(sound_of(item, f"IMDB: alignment, {name}").sound) == pytest.approx(expected, abs=1e-3)
    assert "on IMDB the fixed encoding that has most of the plug-in geometry is random" in item.change
    assert "of the cross-validated one ALiBi" in item.change


def test_fig4_on_the_papers_corpora(papers: Inputs) -> None:
    item = ITEMS["fig4"].redo(papers)
    check_document(item)
    assert not {row.verdict for row in item.rows} & {Verdict.DIFFERS, Verdict.OTHER_INPUT, Verdict.NOT_RUN}
    for title, stresses in (
        ("SST-2", (0.2223, 0.1056, 0.0897, 0.0551, 0.0315, 0.0113, 0.0)),
        ("IMDB", (0.8704, 0.7227, 0.6856, 0.5767, 0.4737, 0.3565, 0.2183)),
    ):
        for rank, expected in zip((1, 2, 3, 8, 16, 32, 64), stresses, strict=True):
            assert value_of(item, f"{title}: raw stress, MDS at d = {rank}") == pytest.approx(expected, abs=5e-5)
    assert value_of(item, "SST-2: width at which MDS has no stress") == 64
    assert value_of(item, "IMDB: width at which MDS has no stress") == 254
    assert value_of(item, "IMDB: parameters saved") < 0  # r (n + d) is more than n d where r is near n


@pytest.mark.parametrize("name", ["fig6", "fig7"])
def test_sst2_figures_on_the_papers_corpus(papers: Inputs, name: str) -> None:
    item = ITEMS[name].redo(papers)
    check_document(item)
    known = {
        "SST-2: violations, MDS": (22.39, 0.01),
        "SST-2: exact ties, MDS": (24.8, 0.05),
        "SST-2: triples": (1_020_096, 0),
        "violations, random": (50, 1.5),
        "Pearson, MDS": (1, 1e-9),
        "Pearson, random": (0, 0.1),
    }
    for row in item.rows:
        if row.quantity in known:
            expected, digits = known[row.quantity]
            assert value(row.ours) == pytest.approx(expected, abs=digits)
    assert {entry.what for entry in item.missing} == {"pretrained model", "scratch model"}


def test_an_albert_of_another_size(papers: Inputs, data_dir: Path) -> None:
    """Its layers share one set of weights, and its table is narrower than its layers."""
    inputs = open_inputs(PaperFiles(model=data_dir / "albert-rxn"), n_seeds=2)
    inputs.corpora[SST2.key] = papers.corpora[SST2.key]
    item = ITEMS["fig8"].redo(inputs)
    assert item.status == "partly run"
    assert value_of(item, "mean over layers") > 1
    assert sound_of(item, "alignment, pretrained, P its own table").sound is not None
    assert any("12 layers" in entry.reason for entry in item.missing)
