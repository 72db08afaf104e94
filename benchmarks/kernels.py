"""Our kernels against named peers, in turn in one run, with the results compared: ``make benchmark``.

A ratio above 1 says how many times longer the peer takes.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kendalltau

from benchmarks.large import drifting_counts
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.gram import cross_gram
from posgeom.estimation.leading_axes import leading_axes
from posgeom.estimation.mds import double_centre
from posgeom.estimation.rarefaction import rarefied_rows
from posgeom.inference.large_alignment import large_alignment, squared_norm
from posgeom.scores.monotonicity import monotonicity

ROUNDS = 3


def race(name: str, ours: Callable[[], object], peer: Callable[[], object], agree: Callable[..., bool]) -> None:
    """Run both in turn and print medians and their ratio."""
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    results: dict[str, object] = {}
    for _ in range(ROUNDS):
        for who, function in (("ours", ours), ("peer", peer)):
            start = time.perf_counter()
            results[who] = function()
            times[who].append(time.perf_counter() - start)
    mine, theirs = median(times["ours"]), median(times["peer"])
    verdict = "agree" if agree(results["ours"], results["peer"]) else "DIFFER"
    print(f"{name:<66} {mine:8.3f} s {theirs:8.3f} s {theirs / mine:7.1f} x  {verdict}")


def direct_violations(distances: NDArray[np.float64]) -> int:
    """All pairs of each row at once, O(n^3)."""
    n = len(distances)
    total = 0
    for i in range(n):
        lag = np.abs(np.arange(n) - i)
        nearer = (lag[:, None] < lag) & (lag[:, None] > 0)
        total += int((nearer & (distances[i][:, None] > distances[i])).sum())
    return total


def kendall_violations(distances: NDArray[np.float64]) -> int:
    """Discordant pairs of each row by SciPy's Kendall tau; right only without ties among the distances."""
    n = len(distances)
    total = 0
    for i in range(n):
        lag = np.delete(np.abs(np.arange(n) - i), i)
        values = np.delete(distances[i], i)
        pairs = lag.size * (lag.size - 1) // 2
        comparable = pairs - min(i, n - 1 - i)
        tau = kendalltau(lag, values).statistic
        total += round((comparable - tau * np.sqrt(comparable * pairs)) / 2)
    return total


def aligned_by_coordinates(points: NDArray[np.float64], products: NDArray[np.float64]) -> float:
    """Alignment times the norm of the corpus, from all distances."""
    own = double_centre(squareform(pdist(points)) ** 2)
    return float((own * products).sum() / np.linalg.norm(own))


def drawn_rarefaction(counts: NDArray[np.int64], depth: int, draws: int) -> NDArray[np.float64]:
    """Mean over subsamples, as it is usually done."""
    rng = np.random.default_rng(0)
    rows = [rng.multivariate_hypergeometric(row, depth, size=draws, method="marginals") for row in counts]
    return np.stack([np.sqrt(r / depth).mean(axis=0) for r in rows])


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    print(f"{'kernel, peer':<66} {'ours':>10} {'peer':>10} {'peer/ours':>9}")
    for n in (256, 1024):
        d = rng.random((n, n))
        d += d.T
        positions = np.arange(n)
        race(
            f"monotonicity n = {n}, all pairs of a row in NumPy",
            lambda d=d, p=positions: monotonicity(d, p, tolerance=0).violations,  # type: ignore[misc]
            lambda d=d: direct_violations(d),  # type: ignore[misc]
            lambda a, b: a == b,
        )
        race(
            f"monotonicity n = {n}, scipy.stats.kendalltau a row",
            lambda d=d, p=positions: monotonicity(d, p, tolerance=0).violations,  # type: ignore[misc]
            lambda d=d: kendall_violations(d),  # type: ignore[misc]
            lambda a, b: a == b,
        )
    counts_of_many = drifting_counts(8192, 100)
    axes = leading_axes(counts_of_many, 8, device="cpu")
    products, of_lags = axes.gram.dense(), axes.lag_sums  # of the corpus: once for all encodings
    assert of_lags.size == 8192
    encoding = sinusoidal(8192, 768)
    coordinates = encoding.coordinates()
    assert coordinates is not None
    race(
        "alignment of a sinusoid, n = 8,192, pdist of its coordinates",
        lambda: large_alignment(encoding, axes).value,
        lambda: aligned_by_coordinates(coordinates, products),
        lambda a, b: bool(np.isclose(a * np.sqrt(squared_norm(axes)[0]), b, rtol=1e-9)),
    )
    points = rng.normal(size=(2048, 768))
    race(
        "distances n = 2,048, d = 768, scipy.spatial.distance.pdist",
        lambda: euclidean_distances(points),
        lambda: squareform(pdist(points)),
        lambda a, b: bool(np.allclose(a, b, rtol=1e-10)),
    )
    zipf = 1 / (np.arange(30_000) + 2.7)
    counts = np.stack([rng.multinomial(5000, zipf / zipf.sum()) for _ in range(256)])
    roots = sparse.csr_array(np.sqrt(counts / 5000))
    race(
        "Gram matrix of 256 Zipf rows, V = 30,000, scipy sparse product",
        lambda: cross_gram(roots, roots),
        lambda: (roots @ roots.T).toarray(),
        lambda a, b: bool(np.allclose(a, b)),
    )
    few = counts[:16]
    race(
        "rarefaction of 16 Zipf rows to 2,000, mean of 100 drawn subsamples",
        lambda: rarefied_rows(sparse.csr_array(few), 2000).toarray(),
        lambda: drawn_rarefaction(few, 2000, 100),
        lambda a, b: bool(np.abs(a - b).max() < 0.01),
    )


if __name__ == "__main__":
    main()
