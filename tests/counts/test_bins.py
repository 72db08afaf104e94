from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.counts.bins import Bins, make_bins
from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.errors import CountsError
from tests.conftest import make_counts
from tests.counts.helpers import check_same_counts


@pytest.mark.parametrize(
    ("spec", "n", "edges"),
    [
        ("uniform:3", 10, (0, 3, 6, 10)),
        ("uniform:2", 3, (0, 1, 3)),
        ("uniform:4", 4, (0, 1, 2, 3, 4)),
        ("geometric:7", 127, (0, 1, 3, 7, 15, 31, 63, 127)),
        ("geometric:2", 2, (0, 1, 2)),
        ("geometric:5", 6, (0, 1, 2, 3, 4, 6)),
    ],
)
def test_edges(spec: str, n: int, edges: tuple[int, ...]) -> None:
    bins = make_bins(spec, n)
    assert bins.edges == edges
    assert bins.spec == spec
    assert len(bins) == len(edges) - 1
    assert bins.widths.sum() == n


@pytest.mark.parametrize("n", [2, 3, 7, 100, 1023, 4096])
def test_there_are_as_many_bins_as_asked_for_and_none_is_empty(n: int) -> None:
    for k in {2, 3, 5, n // 3, n // 2, n - 1, n} & set(range(2, n + 1)):
        for kind in ("uniform", "geometric"):
            bins = make_bins(f"{kind}:{k}", n)
            assert len(bins) == k
            assert bins.edges[-1] == n
            assert bins.widths.min() >= 1
            centres = bins.centres
            assert ((np.array(bins.edges[:-1]) <= centres) & (centres < bins.edges[1:])).all()
            if kind == "uniform":
                assert np.ptp(bins.widths) <= 1
            else:  # widths grow, but for a position that rounding moved
                assert (np.diff(bins.widths) >= -1).all()


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("uniform", "expected uniform:K or geometric:K"),
        ("spiral:3", "bins 'spiral:3': expected uniform:K"),
        ("uniform:", "expected uniform:K"),
        ("uniform:-3", "expected uniform:K"),
        ("uniform:2.5", "expected uniform:K"),
        ("uniform:\u0663", "expected uniform:K"),
        ("uniform:1", "1 bins of n = 8 positions: expected 2 to 8"),
        ("geometric:9", "9 bins of n = 8 positions: expected 2 to 8"),
        ("geometric:" + "9" * 5000, "bins of n = 8 positions"),
        ([0, 8], "1 bins: a distance needs at least 2"),
        ([], "0 bins"),
        ([0, 5, 5, 8], "increasing positions from 0 to n"),
        ([1, 5, 8], "increasing positions from 0 to n"),
        ([0, 4, 9], "bins end at 9: expected the context length n = 8"),
        (Bins("uniform", (0, 2, 4)), "bins end at 4"),
    ],
)
def test_bins_that_do_not_fit(bins: Any, message: str) -> None:
    with pytest.raises(CountsError, match=message) as caught:
        make_bins(bins, 8)
    assert len(str(caught.value)) < 200


def random_counts(n: int = 13) -> PositionCounts:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdef"), rng.integers(0, n + 3))) + f" {i % 7}" for i in range(300)]
    return count_texts(texts, n_positions=n, n_folds=3, null_replicates=2)


def dense(counts: PositionCounts) -> np.ndarray:
    out = np.zeros((counts.n_folds, counts.n_positions, int(counts.token.max()) + 1), int)
    np.add.at(out, (counts.fold, counts.position, counts.token), counts.count)
    return out


@pytest.mark.parametrize("spec", ["uniform:4", "geometric:5", [0, 1, 2, 9, 13]])
def test_a_bin_holds_the_tokens_of_its_positions(spec: Any) -> None:
    counts = random_counts()
    binned = counts.binned(spec)
    assert binned.bins is not None
    for part, whole in zip((binned, *binned.null), (counts, *counts.null), strict=True):
        found, expected = dense(part), dense(whole)
        for k, (a, b) in enumerate(zip(binned.bins.edges, binned.bins.edges[1:], strict=False)):
            np.testing.assert_array_equal(found[:, binned.bins.centres[k]], expected[:, a:b].sum(axis=1))
        assert part.n_tokens == whole.n_tokens
        assert part.bins == binned.bins
        assert part.depth[np.setdiff1d(np.arange(13), binned.bins.centres)].sum() == 0
    assert counts.bins is None
    assert binned.checksum != counts.checksum
    assert binned.grid.tolist() == binned.bins.centres.tolist()
    assert "bins " in repr(binned)


def test_a_bin_for_each_position_changes_nothing() -> None:
    counts = random_counts()
    for spec in ("uniform:13", "geometric:13"):
        check_same_counts(counts.binned(spec), counts)


def test_binning_and_merging_commute() -> None:
    texts = [f"a{i % 5} b{i % 3} c d{i % 2}" for i in range(60)]
    settings: dict[str, Any] = {"n_positions": 5, "n_folds": 3, "null_replicates": 1}
    parts = [count_texts(some, **settings) for some in (texts[:20], texts[20:])]
    merged = parts[0].merge(parts[1])
    binned = parts[0].binned("uniform:2").merge(parts[1].binned("uniform:2"))
    assert binned.checksum == merged.binned("uniform:2").checksum
    for other, message in (
        (parts[1], "with bins 'uniform:2' and None"),
        (parts[1].binned("geometric:2"), "with bins 'uniform:2' and 'geometric:2'"),
    ):
        with pytest.raises(CountsError, match=message):
            binned.merge(other)
    given = [parts[0].binned([0, k, 5]) for k in (1, 2)]
    with pytest.raises(CountsError, match="with bin edges"):
        given[0].merge(given[1])


def test_counts_are_put_in_bins_once() -> None:
    binned = random_counts().binned("uniform:4")
    with pytest.raises(CountsError, match=r"in bins \(uniform:4\) already"):
        binned.binned("uniform:2")


def test_bins_are_stored(tmp_path: Path) -> None:
    binned = random_counts().binned("geometric:4")
    write_counts(binned, tmp_path / "c.parquet")
    stored = read_counts(tmp_path / "c.parquet")
    assert stored.bins == binned.bins
    assert stored.checksum == binned.checksum
    assert [part.bins for part in stored.null] == [binned.bins] * 2


def test_counts_in_bins_are_checked() -> None:
    counts = make_counts(np.ones((2, 4, 2), int))
    bins = make_bins("uniform:2", 4)
    with pytest.raises(CountsError, match="a position is not the centre of a bin"):
        PositionCounts(**{**vars_of(counts), "bins": bins})
    binned = vars_of(counts.binned(bins))
    assert binned["count"].tolist() == [2] * 8
    with pytest.raises(CountsError, match="more tokens than there are documents"):
        PositionCounts(**{**binned, "count": np.full(8, 3)})
    with pytest.raises(CountsError, match="bins end at 4, not at n = 5"):
        PositionCounts(**{**binned, "n_positions": 5})


def vars_of(counts: PositionCounts) -> dict[str, Any]:
    return {name: getattr(counts, name) for name in counts.__dataclass_fields__}
