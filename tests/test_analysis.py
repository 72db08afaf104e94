import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.report.document import to_document
from posgeom.simulation.synthetic import sample_counts, synthetic

COUNTS = synthetic().counts


def names(**settings: object) -> list[str]:
    return [row.name for row in pg.analyze(COUNTS, **({"n_dims": 16} | settings)).scorecard.rows]  # type: ignore[arg-type]


@pytest.mark.slow
def test_default_encodings_and_ranks() -> None:
    assert names() == [*pg.DEFAULT_ENCODINGS, "mds:rank=1", "mds:rank=2", "mds:rank=3", "mds:rank=8"]
    assert names(ranks=[4])[-1] == "mds:rank=4"
    assert names(encodings=["alibi", "alibi:heads=4"])[-1] == "alibi:heads=4"
    assert names(encodings=["alibi"], default_encodings=False) == ["alibi"]
    alone = pg.analyze(COUNTS, encodings=["alibi"], default_encodings=False)
    assert not any("in-sample" in note for note in alone.notes)
    with pytest.raises(pg.EncodingError, match="no encoding to score"):
        names(default_encodings=False)


def test_an_odd_width_leaves_rope_out_and_says_so() -> None:
    analysis = pg.analyze(COUNTS, n_dims=15)
    assert not any(r.name.startswith("rope") for r in analysis.scorecard.rows)
    assert any("rope is left out" in note for note in analysis.notes)
    with pytest.raises(pg.EncodingError, match="even width"):
        names(n_dims=15, encodings=["rope"])


def test_conventions_set_defaults_that_arguments_override() -> None:
    paper = pg.analyze(COUNTS, n_dims=4, convention="paper").geometry
    assert (paper.estimator, paper.empty, paper.selection.min_depth) == ("plugin", "uniform", 1)
    mixed = pg.analyze(COUNTS, n_dims=4, convention="paper", estimator="crossval", min_depth=10).geometry
    assert (mixed.estimator, mixed.empty, mixed.selection.min_depth) == ("crossval", "uniform", 10)


def test_an_encoding_of_ones_own() -> None:
    own = pg.PointEncoding("own", np.arange(32.0)[:, None])
    card = pg.analyze(COUNTS, n_dims=4, encodings=[own]).scorecard
    assert card["own"].stress_scaled == pytest.approx(card["alibi"].stress_scaled)


def test_a_bad_encoding_is_known_before_the_corpus_is_read() -> None:
    for spec in ("spiral", "rope:base=x", "mds:rank=x", "none.npy"):
        with pytest.raises(pg.EncodingError):
            pg.analyze("no-such-corpus.txt", encodings=[spec])
    with pytest.raises(pg.CountsError, match="200 bins of n = 128 positions"):
        pg.analyze("no-such-corpus.txt", n_positions=128, bins="uniform:200")
    with pytest.raises(pg.CorpusError, match="no-such-corpus"):
        pg.analyze("no-such-corpus.txt", encodings=["mds:rank=2", "rope"])


def test_a_bare_matrix_is_an_encoding_too() -> None:
    matrix = np.random.default_rng(0).normal(size=(40, 3))
    card = pg.analyze(COUNTS, n_dims=4, encodings=["alibi", matrix]).scorecard
    assert (
        card["encodings[1]"]
        == pg.scorecard(pg.learned(matrix, n_positions=32, name="encodings[1]"), pg.geometry(COUNTS)).rows[0]
    )
    assert [row.name for row in card][-1] == "encodings[1]"
    assert len(card) == len(card.rows)


def test_representations_are_short_and_comparison_is_by_identity() -> None:
    analysis = pg.analyze(COUNTS, n_dims=4)
    parts = (analysis, analysis.counts, analysis.geometry, analysis.geometry.distances, analysis.scorecard)
    for part in (*parts, analysis.geometry.mds(), analysis.geometry.spectrum):
        assert repr(part).startswith("<")
        assert len(repr(part)) < 400
        assert part == part
    assert analysis != pg.analyze(COUNTS, n_dims=4)


def noted(analysis: pg.Analysis, text: str) -> bool:
    return any(text in note for note in analysis.notes)


def test_notes_say_what_this_corpus_calls_for() -> None:
    plain = pg.analyze(COUNTS, n_dims=4)
    for text in ("no coordinates can have", "agree on a position", "is not known", "masked for lack of depth"):
        assert not noted(plain, text), text
    assert plain.geometry.self_affinity == pytest.approx(1, abs=0.05)
    rng = np.random.default_rng(0)
    flat = sample_counts(np.full((6, 3000), 1 / 3000), np.full(6, 1000), n_folds=10, rng=rng)
    sparse = pg.analyze(flat, n_dims=4)
    assert sparse.geometry.self_affinity is not None
    assert sparse.geometry.self_affinity < 0.5
    assert noted(sparse, "agree on a position's tokens")
    assert noted(sparse, "no coordinates can have")
    texts = [" ".join(["a", "b", "c"] * 2) + (" d" * 20 if i < 3 else "") for i in range(300)]
    grouped = pg.analyze(pg.count_texts(texts, groups=[str(i % 3) for i in range(300)], n_positions=30), n_dims=4)
    parts = len(grouped.geometry.fold_groups)
    assert noted(grouped, f"The significant rank is not known: that takes 6 folds with documents, and {parts} parts")
    assert noted(grouped, "Alignment is undefined: its noise is not told from its structure by fewer than 4 folds")
    assert noted(grouped, "masked for lack of depth")
    assert any("Alignment is undefined" in caution for caution in grouped.cautions)
    assert not any("significant rank is not known" in caution for caution in grouped.cautions)
    html = sparse._repr_html_()
    assert all(escape(caution) in html for caution in sparse.cautions)
    methods = set(sparse.notes) - set(sparse.cautions)
    assert any("diagnostics" in note for note in methods)
    assert not any(escape(note) in html for note in methods)


@pytest.mark.slow
def test_results_repeat_with_a_seed() -> None:
    a, b, c = (pg.analyze(COUNTS, n_dims=4, seed=s).scorecard for s in (3, 3, 4))
    assert a == b
    assert a != c


def test_little_text_is_said_to_be_little() -> None:
    small = synthetic(n_documents=60).counts
    assert any("only 6 sequences at the shallowest position" in note for note in pg.analyze(small, n_dims=4).notes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encodings": "sinusoidal"}, "got str for encodings"),
        ({"encodings": 3}, "got int for encodings"),
        ({"encodings": [None]}, "got NoneType among encodings"),
        ({"encodings": [np.eye(4)]}, r"encodings\[0\] has 4 rows"),
        ({"n_positions": 16}, "n_positions was fixed when the counts were made"),
        ({"tokenizer": "bytes"}, "tokenizer was fixed"),
        ({"seed": -1}, "seed -1"),
        ({"convention": "mine"}, "convention 'mine'"),
        ({"n_dims": 0}, "d = 0"),
        ({"ranks": [0]}, "mds rank 0"),
    ],
)
def test_bad_arguments(settings: dict[str, object], message: str) -> None:
    with pytest.raises(pg.PosgeomError, match=message):
        names(**settings)


def test_the_library_in_the_order_of_the_work(tmp_path: object) -> None:
    counts = pg.count_texts([f"word{i % 3} then word{i % 5} and more {i}" for i in range(400)], n_positions=8)
    shape = pg.geometry(counts)
    assert shape.mds().coordinates.shape[0] == shape.positions.size
    encoding = pg.sinusoidal(8, 16)
    raw, scaled = pg.stress(encoding, shape, kind="raw"), pg.stress(encoding, shape, kind="scaled")
    assert raw is not None
    assert scaled is not None
    assert raw > scaled
    assert pg.scorecard([encoding], shape)["sinusoidal"].stress_raw == raw


TEXTS = [" ".join(f"w{(i * k + k) % (3 + k)}" for k in range(1, 9)) for i in range(400)]


@pytest.fixture(scope="module")
def tested() -> pg.Analysis:
    return pg.analyze(pg.count_texts(TEXTS, n_positions=8, null_replicates=3), n_dims=4)


def document(analysis: pg.Analysis) -> dict[str, Any]:
    """As it is stored: nothing in it may be NaN or infinite."""
    made: dict[str, Any] = json.loads(json.dumps(to_document(analysis), allow_nan=False))
    return made


def test_what_an_analysis_has_besides_scores(tested: pg.Analysis) -> None:
    assert tested.level == 0.95
    assert tested.significance is not None
    assert tested.beyond_lengths is not None
    assert len(tested.beyond_lengths.null) == 3
    assert tested.depth_curve is not None
    assert tested.order.crossval is not None
    stored = document(tested)
    assert stored["uncertainty"] == {
        "level": 0.95,
        "method": "jackknife",
        "n_folds": len(tested.geometry.fold_groups),
        "depth": tested.geometry.depth,
    }
    assert stored["significance"]["significant_rank"] == tested.significance.rank
    assert stored["beyond_lengths"]["null_kind"] == "rotate"
    for axis in stored["significance"]["axes"]:
        assert axis["low"] <= axis["corrected"] <= axis["high"]
    for encoding in stored["encodings"]:
        for interval in encoding["intervals"].values():
            assert interval["low"] <= interval["high"]
    curve = stored["depth_curve"]
    assert curve["depth"] == sorted(curve["depth"])
    assert all(a <= b <= c for a, b, c in zip(curve["low"], curve["mean_squared"], curve["high"], strict=True))
    share = stored["noise_share"]
    assert share["low"] < share["value"] < share["high"]


def test_without_a_level_only_estimates_are_left(tested: pg.Analysis) -> None:
    plain = pg.analyze(tested.counts, n_dims=4, level=None)
    assert (plain.level, plain.depth_curve) == (None, None)
    assert plain.significance is not None  # it decides whether anything can be aligned with
    assert noted(plain, "Intervals were not asked for")
    for one, other in zip(plain.scorecard, tested.scorecard, strict=True):
        assert one.intervals == {}
        assert (one.stress_scaled, one.pearson, one.spearman) == (other.stress_scaled, other.pearson, other.spearman)
    stored = document(plain)
    assert stored["uncertainty"] is stored["depth_curve"] is None
    assert all(axis["low"] is None for axis in stored["significance"]["axes"])
    assert plain.scorecard.ceiling == tested.scorecard.ceiling


def test_neither_the_order_of_documents_nor_other_encodings_change_a_bit(tested: pg.Analysis) -> None:
    order = np.random.default_rng(0).permutation(len(TEXTS))
    counts = pg.count_texts([TEXTS[i] for i in order], n_positions=8, null_replicates=3)
    other = pg.analyze(counts, n_dims=4)
    assert document(other) == document(tested)
    alone = pg.analyze(counts, n_dims=4, encodings=["alibi"], default_encodings=False)
    assert alone.scorecard["alibi"] == tested.scorecard["alibi"]
    assert alone.scorecard.ceiling == tested.scorecard.ceiling


def test_renaming_tokens_changes_nothing_but_round_off(tested: pg.Analysis) -> None:
    names = {f"w{i}": f"z{(7 * i) % 31}" for i in range(31)}
    groups = [str(i % 10) for i in range(len(TEXTS))]
    renamed = [" ".join(names[word] for word in text.split()) for text in TEXTS]
    a, b = (pg.analyze(pg.count_texts(t, n_positions=8, groups=groups), n_dims=4) for t in (TEXTS, renamed))
    for one, other in zip(a.scorecard, b.scorecard, strict=True):
        assert one.stress_scaled == pytest.approx(other.stress_scaled, rel=1e-7)
        for field, interval in one.intervals.items():
            assert interval.high == pytest.approx(other.intervals[field].high, rel=1e-5), field


def test_a_level_is_a_share(tested: pg.Analysis) -> None:
    with pytest.raises(pg.GeometryError, match=r"level 95: .*such as 0\.95"):
        pg.analyze(tested.counts, n_dims=4, level=95)


def test_null_corpora_are_counted_where_they_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(TEXTS))
    sound = pg.analyze(file, n_positions=8, n_dims=4)
    assert (sound.counts.null, sound.beyond_lengths, sound.significance is not None) == ((), None, True)
    asked = pg.analyze(file, n_positions=8, n_dims=4, null_replicates=3, null_kind="permute")
    assert asked.beyond_lengths is not None
    assert (asked.beyond_lengths.kind, len(asked.counts.null)) == ("permute", 3)
    assert noted(asked, "Order beyond lengths: ")
    few = pg.analyze(file, n_positions=8, n_dims=4, null_replicates=2)
    assert noted(few, "Null corpora are not used: that takes 3 of them, and 2 were counted")
    for fixed in ({"null_replicates": 5}, {"null_kind": "rotate"}):
        with pytest.raises(pg.PosgeomError, match=f"{next(iter(fixed))} was fixed"):
            pg.analyze(sound.counts, **fixed)


FEW = [" ".join(f"w{w}" for w in row) for row in np.random.default_rng(1).integers(0, 4, (40, 6))]


@pytest.mark.parametrize("n_folds", [2, 3, 4, 5, 12, 30])
@pytest.mark.parametrize("n_documents", [8, 40])
def test_few_documents_in_any_number_of_folds(n_folds: int, n_documents: int) -> None:
    counts = pg.count_texts(FEW[:n_documents], n_positions=6, n_folds=n_folds, null_replicates=3)
    found = pg.analyze(counts, n_dims=4, min_depth=1)
    assert (found.scorecard.level is None) == (len(found.geometry.fold_groups) < 4)
    document(found)
    if n_folds < 4:
        assert noted(found, "no intervals: that takes 4 folds with documents")


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_few_positions(length: int) -> None:
    texts = [" ".join(text.split()[:length]) for text in FEW * 8]
    groups = [str(i % 10) for i in range(len(texts))]
    found = pg.analyze(pg.count_texts(texts, n_positions=length, groups=groups, null_replicates=3), n_dims=4)
    assert found.geometry.positions.size == length
    assert found.scorecard.level == 0.95
    document(found)


def test_positions_that_are_all_equal_have_no_geometry_and_undefined_scores() -> None:
    texts = [f"{'abc'[i % 3]} " * 6 for i in range(300)]
    counts = pg.count_texts(texts, n_positions=6, groups=[str(i % 12) for i in range(300)], null_replicates=3)
    found = pg.analyze(counts, n_dims=4)
    assert noted(found, "Alignment is undefined: no axis of this geometry is more than noise")
    assert noted(found, "Encodings are not ranked.")
    assert found.significance is not None
    assert found.significance.rank == 0
    for row in found.scorecard:
        assert row.alignment is row.stress_raw is row.stress_scaled is row.scale is row.pearson is row.spearman is None
    stored = document(found)
    assert stored["encodings"][0]["stress_scaled"] is None


def test_duplicates_of_a_document_stay_in_one_fold() -> None:
    counts = pg.count_texts(["a b c d e f"] * 300 + FEW, n_positions=6, n_folds=10, null_replicates=3)
    found = pg.analyze(counts, n_dims=4, min_depth=1)
    assert found.geometry.depth is not None
    assert found.geometry.depth < 20  # of folds without the copies
    document(found)


@pytest.mark.parametrize("bins", ["uniform:6", "geometric:5"])
@pytest.mark.parametrize("metric", ["hellinger", "hellinger-normalized"])
def test_bins_with_null_corpora(bins: str, metric: str) -> None:
    texts = [" ".join(f"w{(i * k + k) % (3 + k)}" for k in range(1, 13)) for i in range(300)]
    counts = pg.count_texts(texts, n_positions=12, null_replicates=3)
    found = pg.analyze(counts, n_dims=4, bins=bins, metric=metric)
    assert found.significance is not None
    assert found.scorecard.level == 0.95
    document(found)


def test_half_the_squared_distance_changes_no_free_score() -> None:
    plain, half = (pg.analyze(COUNTS, n_dims=4, metric=m) for m in ("hellinger", "hellinger-normalized"))
    for one, other in zip(plain.scorecard, half.scorecard, strict=True):
        assert one.stress_scaled == pytest.approx(other.stress_scaled, rel=1e-8)
        assert one.alignment == pytest.approx(other.alignment, rel=1e-8)
        for score in ("alignment", "stress_scaled"):
            a, b = one.intervals[score], other.intervals[score]
            assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-6)
    assert plain.depth_curve is not None
    assert half.depth_curve is not None
    of_half, of_all = (curve.points[0].mean_squared.value or 0 for curve in (half.depth_curve, plain.depth_curve))
    assert of_half == pytest.approx(of_all / 2)


def test_a_stress_beyond_double_precision_has_no_interval() -> None:
    huge = pg.PointEncoding("huge", 1e99 * np.eye(32))
    row = pg.scorecard(huge, pg.geometry(COUNTS)).rows[0]
    assert row.stress_raw is not None
    assert row.stress_raw > 1e190
    assert "stress_raw" not in row.intervals
    assert "stress_scaled" in row.intervals
    assert "alignment" in row.intervals
