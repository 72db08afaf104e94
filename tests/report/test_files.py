import csv
import json
import os
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from safetensors import safe_open

from posgeom.analysis import analyze
from posgeom.counts.counting import count_texts
from posgeom.counts.storage import read_counts
from posgeom.encodings.base import PointEncoding
from posgeom.errors import OutputError
from posgeom.estimation.build import MAX_RANK_POSITIONS
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.metrics import METRICS
from posgeom.report import files as module
from posgeom.report.document import to_document
from posgeom.report.files import save, save_counts, staged_directory, staged_file
from posgeom.results import Analysis
from posgeom.simulation.synthetic import synthetic

NAMES = [
    "charts.json",
    "counts.parquet",
    "distances.npz",
    "mds.safetensors",
    "replicates.npz",
    "scores.csv",
    "scores.json",
]


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(synthetic().counts, n_dims=16, encodings=[PointEncoding("zero", np.zeros((32, 4)))])


def listing(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir())


def test_the_document_follows_its_schema(analysis: Analysis) -> None:
    schema = json.loads((files("posgeom.report") / "scores.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    texts = [" ".join(f"w{(i * k) % 97}" for k in range(1, 10 + i % 20)) for i in range(300)]
    selected = count_texts(texts, n_positions=16, min_length=12, null_replicates=3)
    flat = count_texts(["a a a a"] * 60, n_positions=4, groups=[str(i) for i in range(60)], null_replicates=3)
    for case in (
        analysis,
        analyze(flat, n_dims=16),
        analyze(selected, n_dims=16, level=None),
        analyze(synthetic().counts, n_dims=16, convention="paper"),
        analyze(selected, n_dims=16, bins="geometric:6"),
    ):
        jsonschema.validate(json.loads(json.dumps(to_document(case), allow_nan=False)), schema)
    assert set(schema["required"]) == set(schema["properties"])
    assert schema["properties"]["metric"]["enum"] == list(METRICS)
    assert f"more than {MAX_RANK_POSITIONS:,}" in schema["properties"]["rank"]["description"]


def test_the_document_says_what_was_counted_and_how_it_was_put_together() -> None:
    texts = [" ".join(f"w{(i * k) % 97}" for k in range(1, 10 + i % 20)) for i in range(300)]
    document = to_document(analyze(count_texts(texts, n_positions=16, min_length=12), n_dims=16, bins="uniform:4"))
    assert document["bins"] == {"kind": "uniform", "edges": [0, 4, 8, 12, 16]}
    assert document["positions_used"] == [1, 5, 9, 13]
    corpus = document["corpus"]
    assert (corpus["min_length"], corpus["documents"] + corpus["short_documents"]) == (12, 300)
    assert corpus["shared_passages"]["length"] == 12
    plain = to_document(analyze(synthetic().counts, n_dims=16))
    assert (plain["bins"], plain["corpus"]["min_length"], plain["corpus"]["shared_passages"]) == (None, None, None)


def test_every_key_of_the_schema_is_in_the_documentation() -> None:
    schema = json.loads((files("posgeom.report") / "scores.schema.json").read_text())
    page = (Path(__file__).parents[2] / "docs" / "scores-json.md").read_text()
    properties = schema["properties"]
    entries = properties | properties["encodings"]["items"]["properties"]
    for group in ("software", "corpus", "tokenizer", "mean_squared_distance", "bins"):
        entries |= {f"{group}.{key}": value for key, value in properties[group]["properties"].items()}
    shared = properties["corpus"]["properties"]["shared_passages"]["properties"]
    entries |= {f"corpus.shared_passages.{key}": value for key, value in shared.items()}
    for key, value in entries.items():
        assert f"| `{key}` | {value['description']} |" in page, key


def test_files(analysis: Analysis, tmp_path: Path) -> None:
    save(analysis, tmp_path / "deep" / "run")
    out = tmp_path / "deep" / "run"
    assert listing(out) == NAMES
    document = json.loads((out / "scores.json").read_text())
    assert document == json.loads(json.dumps(to_document(analysis)))
    with (out / "scores.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [r["name"] for r in rows] == [e["name"] for e in document["encodings"]]
    assert float(rows[0]["stress_raw"]) == document["encodings"][0]["stress_raw"]
    assert [int(rows[0][f"min_separation_{k}"]) for k in "ij"] == document["encodings"][0]["min_separation_pair"]
    assert rows[-1]["stress_scaled"] == ""  # undefined, not 0
    matrices = np.load(out / "distances.npz")
    np.testing.assert_array_equal(matrices["distances"], analysis.geometry.distances.values)
    assert set(matrices) == {"positions", "depth", "distances", "plugin_squared", "crossval_squared"}
    with safe_open(str(out / "mds.safetensors"), "numpy") as tensors:
        np.testing.assert_array_equal(tensors.get_tensor("positions"), np.arange(32))
        coordinates = tensors.get_tensor("coordinates")
        metadata = json.loads(tensors.metadata()["posgeom"])
        assert (metadata["estimator"], metadata["n_positions"]) == ("crossval", 32)
    np.testing.assert_allclose(
        euclidean_distances(coordinates), euclidean_distances(analysis.geometry.mds().coordinates)
    )
    again = analyze(read_counts(out / "counts.parquet"), n_dims=16)
    assert again.scorecard.rows == analysis.scorecard.rows[:-1]


def test_saving_twice_gives_the_same_bytes(analysis: Analysis, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(analysis, tmp_path / name)
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.parametrize("failing", NAMES)
@pytest.mark.parametrize("existing", [False, True])
def test_a_full_disk_leaves_nothing(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, existing: bool
) -> None:
    def full(analysis: Analysis, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    out = tmp_path / "new" / "run"
    if existing:
        out.mkdir(parents=True)
        (out / "scores.json").write_text("old")
    monkeypatch.setitem(module._FILES, failing, full)
    with pytest.raises(OutputError, match=f"cannot write .*{failing}.*: No space left on device"):
        save(analysis, out)
    if existing:
        assert listing(out) == ["scores.json"]
        assert (out / "scores.json").read_text() == "old"
    else:
        assert listing(tmp_path) == []


def test_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    def interrupted_directory() -> None:
        with staged_directory(tmp_path / "run") as stage:
            (stage / "x").write_text("half")
            raise KeyboardInterrupt

    def interrupted_file() -> None:
        with staged_file(tmp_path / "x.parquet") as path:
            path.write_text("half")
            raise KeyboardInterrupt

    for write in (interrupted_directory, interrupted_file):
        with pytest.raises(KeyboardInterrupt):
            write()
    assert listing(tmp_path) == []


def test_what_a_killed_run_left_is_removed_by_the_next_but_not_what_one_is_writing(tmp_path: Path) -> None:
    left = tmp_path / ".posgeom-killed"
    (left / "new").mkdir(parents=True)
    (left / "new" / "scores.json").write_text("half")
    with staged_file(tmp_path / "a") as first:
        assert not left.exists()
        with staged_directory(tmp_path) as second:
            assert first.parent.is_dir()
            (second / "b").write_text("b")
        first.write_text("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_unwritable_places(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="it is a file, expected a directory"):
        save(analysis, tmp_path / "file")
    with pytest.raises(OutputError, match="cannot write"):
        save(analysis, tmp_path / "file" / "below")
    with pytest.raises(OutputError, match="No such file or directory"):
        save_counts(analysis.counts, tmp_path / "missing" / "c.parquet")
    with pytest.raises(OutputError, match="it is a directory"):
        save_counts(analysis.counts, tmp_path)
    assert listing(tmp_path) == ["file"]


@pytest.mark.parametrize("url", ["s3://bucket/run", "file:///tmp/run", Path("gs://bucket/run")])
def test_a_url_is_no_place_to_write(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str | Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="it is a URL, expected a file or directory of this machine"):
        save(analysis, url)
    with pytest.raises(OutputError, match="it is a URL"):
        save_counts(analysis.counts, f"{url}/c.parquet")
    assert listing(tmp_path) == []


def test_a_file_that_cannot_be_replaced_leaves_everything_as_it_was(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "scores.json").mkdir()
    (tmp_path / "scores.csv").write_text("old")
    with pytest.raises(OutputError, match=r"scores\.json.*it is a directory, expected a file"):
        save(analysis, tmp_path)
    assert listing(tmp_path) == ["scores.csv", "scores.json"]
    assert (tmp_path / "scores.csv").read_text() == "old"


@pytest.mark.parametrize("failing", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_move_that_fails_half_way_is_taken_back(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: BaseException
) -> None:
    (tmp_path / "counts.parquet").write_text("old")
    move = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if self.name == "mds.safetensors":
            raise failing
        return move(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        save(analysis, tmp_path)
    assert listing(tmp_path) == ["counts.parquet"]
    assert (tmp_path / "counts.parquet").read_text() == "old"


def test_links_are_followed_and_special_files_refused(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_counts(analysis.counts, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read_counts(tmp_path / "real").n_documents == 5000
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="no regular file"):
        save_counts(analysis.counts, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
