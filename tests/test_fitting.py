"""Encodings built from a corpus: known truth, laws, and files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import posgeom as pg
from posgeom.errors import EncodingError, GeometryError
from posgeom.simulation.scenarios import _three_axes, scenarios
from tests.conftest import make_counts

N_FOLDS, N_DEEP, N_ALL = 10, 30, 40
MARGINAL = _three_axes(N_ALL, 200)


def drawn_counts(depth: list[int], seed: int = 0) -> pg.PositionCounts:
    """Counts whose positions have three axes exactly, and these depths in each fold."""
    rng = np.random.default_rng(seed)
    return make_counts(
        np.stack([[rng.multinomial(k, p) for k, p in zip(depth, MARGINAL, strict=True)] for _ in range(N_FOLDS)])
    )


@pytest.fixture(scope="module")
def counts() -> pg.PositionCounts:
    return scenarios()["rank 3"].draw(np.random.default_rng(0))


@pytest.fixture(scope="module")
def geometry(counts: pg.PositionCounts) -> pg.Geometry:
    return pg.geometry(counts)


def points_of(encoding: pg.Encoding) -> np.ndarray:
    points = encoding.coordinates()
    assert points is not None
    return points


def test_known_truth(geometry: pg.Geometry) -> None:
    """Three axes are found, and distances are the true ones to within sampling."""
    encoding = pg.fit_encoding(geometry, 64)
    assert (encoding.fit["rank"], encoding.fit["rank_chosen"]) == (3, "auto")
    assert geometry.depth is not None
    true = np.sqrt(scenarios()["rank 3"].true_squared(geometry.depth))
    assert np.linalg.norm(encoding.distances() - true) < 0.1 * np.linalg.norm(true)
    assert pg.alignment(points_of(encoding), geometry) == pytest.approx(1, abs=0.03)


def test_more_text_brings_it_nearer() -> None:
    roots = np.sqrt(MARGINAL)
    true = np.sqrt(((roots[:, None] - roots) ** 2).sum(axis=2))
    errors = [
        np.linalg.norm(pg.fit_encoding(pg.geometry(drawn_counts([n] * N_ALL)), 8, rank=3).distances() - true)
        for n in (100, 10_000)
    ]
    assert errors[1] < errors[0] / 5  # noise falls as the root of a hundred


@pytest.mark.parametrize("rows", ["as-is", "unit"])
def test_the_factors_multiply_to_the_table(geometry: pg.Geometry, rows: Any) -> None:
    encoding = pg.fit_encoding(geometry, 20, rank=2, rows=rows, n_positions=30)
    a, w = encoding.factors["coordinates"], encoding.factors["axes"]
    assert (a.shape, w.shape, points_of(encoding).shape) == ((30, 2), (20, 2), (30, 20))
    np.testing.assert_allclose(a @ w.T, points_of(encoding), atol=1e-15)
    np.testing.assert_allclose(w.T @ w, np.eye(2), atol=1e-14)
    assert encoding.fit["parameters"] == {"factors": 2 * (30 + 20), "table": 30 * 20}


def test_rows(geometry: pg.Geometry) -> None:
    """As they are, they are the classical MDS; of norm 1, they keep its directions."""
    as_is = pg.fit_encoding(geometry, 20, rank=3)
    unit = pg.fit_encoding(geometry, 20, rank=3, rows="unit")
    np.testing.assert_allclose(as_is.factors["coordinates"], geometry.mds(3).coordinates)
    np.testing.assert_allclose(np.linalg.norm(points_of(unit), axis=1), 1)
    norms = np.linalg.norm(points_of(as_is), axis=1, keepdims=True)
    np.testing.assert_allclose(points_of(unit) * norms, points_of(as_is), atol=1e-14)


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
def test_the_share_explained_is_alignment_squared(geometry: pg.Geometry, rank: int) -> None:
    """That of the analysis, which fits on one half of the corpus and scores on the other, with its interval."""
    share = pg.fit_encoding(geometry, 20, rank=rank, level=0.9).fit["explained"]
    mds = pg.build_encoding(f"mds:rank={rank}", n_positions=24, n_dims=20, geometry=geometry)
    (row,) = pg.scorecard([mds], geometry, level=0.9).rows
    assert share["out_of_sample"]
    assert row.alignment is not None
    assert share["value"] == pytest.approx(row.explained, rel=1e-9)
    interval = row.intervals["explained"]
    assert (share["low"], share["high"]) == pytest.approx((interval.low, interval.high), rel=1e-9)
    in_sample = pg.alignment(points_of(mds), geometry)
    assert in_sample is not None
    assert share["value"] < in_sample**2


def test_unit_rows_are_held_out_as_unit_rows(geometry: pg.Geometry) -> None:
    """The scorecard takes the encoding itself, and fits it anew on each half."""
    encoding = pg.fit_encoding(geometry, 20, rows="unit")
    (row,) = pg.scorecard([encoding], geometry).rows
    assert row.sample == "out"
    assert encoding.fit["explained"]["value"] == pytest.approx(row.explained, rel=1e-9)
    assert encoding.fit["explained"]["value"] < pg.fit_encoding(geometry, 20).fit["explained"]["value"]


def test_a_plug_in_geometry_is_in_sample(counts: pg.PositionCounts) -> None:
    plugin = pg.geometry(counts, estimator="plugin")
    with pytest.raises(GeometryError, match="the significant rank is not known: it takes a cross-validated geometry"):
        pg.fit_encoding(plugin, 20)
    fit = pg.fit_encoding(plugin, 64, rank=23).fit
    assert fit["significance"] is None
    assert fit["explained"] == {
        "value": pytest.approx(1),
        "undefined": None,
        "low": None,
        "high": None,
        "level": None,
        "out_of_sample": False,
        "n_folds": None,
    }


def test_three_folds_are_too_few_to_tell() -> None:
    counts = make_counts(np.random.default_rng(0).multinomial(900, MARGINAL, size=(3, N_ALL)))
    fit = pg.fit_encoding(pg.geometry(counts), 64, rank=2).fit
    assert (fit["explained"]["value"], fit["explained"]["out_of_sample"], fit["significance"]) == (None, False, None)
    assert "by fewer than 4 folds with documents" in fit["explained"]["undefined"]


def test_rows_beyond_the_corpus(geometry: pg.Geometry) -> None:
    short, long = (pg.fit_encoding(geometry, 20, n_positions=n) for n in (10, 30))
    assert long.fit["positions"] == {"fitted": [[0, 23]], "gower": [], "interpolated": [], "nearest": [[24, 29]]}
    assert (points_of(long)[24:] == points_of(long)[23]).all()
    np.testing.assert_array_equal(points_of(short), points_of(long)[:10])
    assert short.fit["positions"]["fitted"] == [[0, 9]]
    # How much of the geometry is explained does not depend on how many rows are kept.
    assert short.fit["explained"] == long.fit["explained"]


def test_rows_without_data() -> None:
    """The first and the last take their neighbour's row; one inside lies half-way."""
    depth = [500] * N_ALL
    for empty in (0, 10, 11, 39):
        depth[empty] = 0
    encoding = pg.fit_encoding(pg.geometry(drawn_counts(depth)), 20, rank=3)
    rows = points_of(encoding)
    assert encoding.fit["positions"] == {
        "fitted": [[1, 9], [12, 38]],
        "gower": [],
        "interpolated": [[10, 11]],
        "nearest": [[0, 0], [39, 39]],
    }
    np.testing.assert_array_equal(rows[[0, 39]], rows[[1, 38]])
    np.testing.assert_allclose(rows[10], (2 * rows[9] + rows[12]) / 3, atol=1e-15)


@pytest.mark.parametrize(("deep", "shallow"), [(20_000, 500), (2_000, 60)])
def test_rows_of_few_sequences(deep: int, shallow: int) -> None:
    """Gower's formula puts them nearer to where they are than the row of the last fitted position does."""
    counts = drawn_counts([deep] * N_DEEP + [shallow] * (N_ALL - N_DEEP))
    geometry = pg.geometry(counts)
    assert geometry.positions.size == N_DEEP
    roots = np.sqrt(MARGINAL)
    true = np.sqrt(((roots[N_DEEP:, None] - roots[:N_DEEP]) ** 2).sum(axis=2))
    placed, nearest = (pg.fit_encoding(geometry, 20, rank=3, counts=given) for given in (counts, None))
    assert placed.fit["positions"]["gower"] == [[N_DEEP, N_ALL - 1]]
    assert nearest.fit["positions"]["nearest"] == [[N_DEEP, N_ALL - 1]]
    errors = [
        np.linalg.norm(one.distances()[N_DEEP:, :N_DEEP] - true) / np.linalg.norm(true) for one in (placed, nearest)
    ]
    # Noise of a position in each direction is about 1 / (2 sqrt N), whatever the corpus.
    noise = 0.5 / np.sqrt(N_FOLDS * shallow) / true.mean()
    assert errors[0] < 2 * noise < errors[1]
    np.testing.assert_array_equal(points_of(placed)[:N_DEEP], points_of(nearest)[:N_DEEP])


def test_bins(counts: pg.PositionCounts) -> None:
    """Centres of bins are fitted, positions between them interpolated."""
    binned = counts.binned("uniform:8")
    geometry = pg.geometry(binned)
    encoding = pg.fit_encoding(geometry, 20, rank=2, counts=binned)
    fitted = [range(first, last + 1) for first, last in encoding.fit["positions"]["fitted"]]
    assert [position for run in fitted for position in run] == geometry.positions.tolist()
    rows = encoding.factors["coordinates"][geometry.positions]
    np.testing.assert_allclose(rows, geometry.mds(2).coordinates)
    assert not encoding.fit["positions"]["gower"]


def test_counts_are_recorded(counts: pg.PositionCounts, geometry: pg.Geometry) -> None:
    fit = pg.fit_encoding(geometry, 20, counts=counts).fit
    assert fit["tokenizer"]["kind"] == "whitespace"
    assert fit["corpus"]["documents"] == 3000
    assert fit["corpus"]["checksum"] == counts.checksum
    other = scenarios()["rank 3"].draw(np.random.default_rng(1)).merge(counts)
    with pytest.raises(EncodingError, match="the counts are not those that the geometry was estimated from"):
        pg.fit_encoding(geometry, 20, counts=other)


@pytest.mark.data
def test_splice_sites_have_four_axes(data_dir: Path) -> None:
    texts = [
        row.split(",")[2] for row in (data_dir / "uci_splice.csv").read_text().splitlines() if row.startswith("EI,")
    ]
    fit = pg.fit_encoding(pg.geometry(pg.count_texts(texts, "chars", n_positions=60)), 768).fit
    assert fit["rank"] == 4
    assert fit["explained"]["low"] > 0.85


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_files(geometry: pg.Geometry, counts: pg.PositionCounts, tmp_path: Path, dtype: Any) -> None:
    encoding = pg.fit_encoding(geometry, 20, counts=counts)
    file = tmp_path / "mds.safetensors"
    pg.export(encoding, file, dtype=dtype)
    read = pg.build_encoding(str(file), n_positions=24, n_dims=20)
    rounding = {"float32": 2**-24, "float64": 0, "bfloat16": 2**-8}[dtype]
    np.testing.assert_allclose(points_of(read), points_of(encoding), rtol=rounding, atol=0)
    assert read.fit == json.loads(json.dumps(dict(encoding.fit)))
    if dtype != "bfloat16":
        tensors = load_file(file)
        assert {name: array.shape for name, array in tensors.items()} == {
            "table": (24, 20),
            "coordinates": (24, 3),
            "axes": (20, 3),
        }
        np.testing.assert_allclose(tensors["coordinates"] @ tensors["axes"].T, tensors["table"], atol=1e-6)
    again = tmp_path / "again.safetensors"
    pg.export(pg.fit_encoding(geometry, 20, counts=counts), again, dtype=dtype)
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("metadata", [None, {"posgeom": "{"}, {"posgeom": "[]"}, {"posgeom": '{"what": "bias"}'}])
def test_a_file_of_another_hand_needs_its_tensor_named(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    file = tmp_path / "other.safetensors"
    save_file({"table": np.eye(4), "axes": np.eye(4)}, file, metadata)
    with pytest.raises(EncodingError, match="holds 2 tensors"):
        pg.build_encoding(str(file), n_positions=4, n_dims=4)
    assert pg.build_encoding(f"{file}:tensor=axes", n_positions=4, n_dims=4).fit == {}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_dims": 0}, EncodingError, "d = 0: expected 1 to"),
        ({"rank": 0}, EncodingError, "rank 0: expected auto, or 1 to 12"),
        ({"rank": 25}, EncodingError, "rank 25: expected auto, or 1 to 12; the geometry has 12 axes, the width is 20"),
        ({"rank": "best"}, EncodingError, "rank best: expected auto"),
        ({"rank": True}, EncodingError, "rank True: expected auto"),
        ({"rows": "equal"}, EncodingError, "rows 'equal': expected as-is or unit"),
        ({"n_positions": 1}, EncodingError, "n = 1, expected at least 2 positions"),
        ({"n_dims": 2}, EncodingError, "rank 3: expected auto, or 1 to 2"),
    ],
)
def test_refusals(geometry: pg.Geometry, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pg.fit_encoding(geometry, **({"n_dims": 20} | options))


def test_nothing_but_noise() -> None:
    counts = scenarios()["none: letters"].draw(np.random.default_rng(0))
    with pytest.raises(GeometryError, match="no axis of this geometry is more than noise, so that there is nothing to"):
        pg.fit_encoding(pg.geometry(counts), 16)
    fit = pg.fit_encoding(pg.geometry(counts), 16, rank=1).fit
    assert fit["explained"]["value"] is None
    assert fit["explained"]["undefined"].startswith("no axis of this geometry is more than noise (p = ")
    assert fit["significance"]["rank"] == 0


def test_a_row_without_a_direction() -> None:
    """Three distributions on a line, the middle one at the centre of all."""
    rows = [[200, 1000], [600, 600], [1000, 200]]
    geometry = pg.geometry(make_counts(np.array([rows] * 2)), estimator="plugin")
    coordinates = pg.fit_encoding(geometry, 4, rank=1).factors["coordinates"]
    assert coordinates[:, 0] == pytest.approx([coordinates[0, 0], 0, -coordinates[0, 0]])
    with pytest.raises(EncodingError, match="position 1 lies at the centre of the others: its row has no direction"):
        pg.fit_encoding(geometry, 4, rank=1, rows="unit")
