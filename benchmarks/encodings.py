"""Distances of lag-only schemes against the way through their coordinates: ``python -m benchmarks.encodings``.

A ratio above 1 says how many times longer the peer takes. Peak memory is that of Python's and NumPy's allocations.
"""

import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from benchmarks.kernels import race
from posgeom.encodings.base import Encoding
from posgeom.encodings.rope import rope
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.inference.scoring import stress
from posgeom.scores.effective_rank import encoding_effective_rank

N_POSITIONS, N_DIMS = 8192, 256


def coordinates_of(encoding: Encoding) -> NDArray[np.float64]:
    """The n x d matrix that is not needed."""
    points = encoding.points(np.arange(encoding.n_positions))
    return np.empty((0, 0)) if points is None else points


def peak_memory(name: str, function: Callable[[], object]) -> None:
    """Print the peak of allocations while a function runs, beyond what its result needs."""
    tracemalloc.start()
    result = function()
    size = result.nbytes if isinstance(result, np.ndarray) else 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{name:<66} {peak / 1e6:8.1f} MB, of which the result {size / 1e6:.1f} MB")


def main() -> None:
    """Print the tables."""
    encoding, positions = rope(N_POSITIONS, N_DIMS), np.arange(N_POSITIONS)
    upper = np.triu_indices(N_POSITIONS, 1)
    print(f"RoPE of {N_DIMS // 2} pairs, n = {N_POSITIONS:,}")
    print(f"{'kernel, peer':<66} {'ours':>10} {'peer':>10} {'peer/ours':>9}")
    race(
        "distances by lag, matrix product of the coordinates",
        encoding.distances,
        lambda: euclidean_distances(coordinates_of(encoding)),
        lambda a, b: bool(np.allclose(a, b, rtol=1e-8, atol=1e-8)),
    )
    race(
        "distances by lag, scipy.spatial.distance.pdist of the coordinates",
        encoding.distances,
        lambda: pdist(coordinates_of(encoding)),
        lambda a, b: bool(np.allclose(a[upper], b, rtol=1e-8, atol=1e-8)),
    )
    race(
        "table of lags alone, coordinates alone",
        encoding.lag_distances,
        lambda: coordinates_of(encoding),
        lambda a, b: a.size == len(b),
    )
    target = DistanceMatrix(np.sqrt(np.abs(positions[:, None] - positions)), positions, "given", "given")
    race(
        "scaled stress, the same from the coordinates",
        lambda: stress(encoding, target, "scaled"),
        lambda: stress(coordinates_of(encoding), target, "scaled"),
        lambda a, b: abs(a - b) < 1e-10,
    )
    peak_memory("table of lags", lambda: encoding.lag_distances())
    peak_memory("coordinates", lambda: coordinates_of(encoding))
    peak_memory(
        "effective rank, beside the distances",
        lambda: encoding_effective_rank(encoding, np.empty(0), positions),
    )


if __name__ == "__main__":
    main()
