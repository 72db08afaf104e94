import numpy as np
import pytest

import posgeom as pg
from posgeom.studies.synthetic import sample_counts, synthetic

COUNTS = synthetic().counts


def names(**settings: object) -> list[str]:
    return [row.name for row in pg.analyze(COUNTS, **({"n_dims": 16} | settings)).scorecard.rows]  # type: ignore[arg-type]


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
        pg.analyze("no-such-corpus.txt", bins="uniform:200")
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
    for text in ("no coordinates can have", "agree on a position", "folds hold documents", "masked for lack of depth"):
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
    assert noted(grouped, "folds hold documents")
    assert noted(grouped, "masked for lack of depth")


def test_results_repeat_with_a_seed() -> None:
    a, b, c = (pg.analyze(COUNTS, n_dims=4, seed=s).scorecard for s in (3, 3, 4))
    assert a == b
    assert a != c


def test_little_text_is_said_to_be_little() -> None:
    small = synthetic(n_documents=60).counts
    assert any("imprecise" in note for note in pg.analyze(small, n_dims=4).notes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encodings": "sinusoidal"}, "got str for encodings"),
        ({"encodings": np.eye(32)}, "got ndarray for encodings"),
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
