"""Leading axes of many positions, from sparse counts: ``python -m benchmarks.large [N ...]``.

At n = 4,096 in turn with the usual ways, scikit-learn's ClassicalMDS and scikit-bio's pcoa (both its methods) on the
distances of the same counts, where those are installed. For each N named, time and peak memory of a process of its own,
and with ``--chart FILE`` how they grow, on logarithmic axes.
"""

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

import numpy as np
from numpy.typing import NDArray

from posgeom.analysis import DEFAULT_ENCODINGS
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.leading_axes import leading_axes
from posgeom.estimation.metrics import distribution_distances
from posgeom.inference.large_alignment import large_alignment
from posgeom.inference.sampled_scores import sampled_scores
from posgeom.tokenize.tokenizers import TokenizerIdentity

VOCAB, N_AXES, ROUNDS, STEPS = 30_522, 64, 3, 512


def drifting_counts(n: int, tokens_a_row: int, n_folds: int = 10, seed: int = 0) -> PositionCounts:
    """Zipf counts in which some tokens come and go along the sequence, so that there are axes to be found."""
    rng = np.random.default_rng(seed)
    zipf = 1 / (np.arange(VOCAB) + 2.7)
    phase, cycles = rng.random(VOCAB), rng.integers(1, 40, VOCAB)
    size = 2 * tokens_a_row // n_folds  # tokens come twice, so that about `tokens_a_row` entries are left of a row
    step = -(-n // STEPS)  # positions of one step share their distribution
    parts: list[list[NDArray[np.int64]]] = []
    for group in range(n_folds):
        for start in range(0, n, step):
            positions = np.arange(start, min(start + step, n))
            share = np.cumsum(zipf * (1 + 0.8 * np.sin(2 * np.pi * (cycles * start / n + phase))))
            token = np.searchsorted(share, rng.random(positions.size * size) * share[-1])
            keys, count = np.unique(
                np.repeat(positions, size) * VOCAB + np.minimum(token, VOCAB - 1), return_counts=True
            )
            parts.append([np.full(keys.size, group), keys // VOCAB, keys % VOCAB, count])
    fold, position, token, count = (np.concatenate([part.pop(0) for part in parts]) for _ in range(4))
    return PositionCounts(
        fold=fold,
        position=position,
        token=token,
        count=count,
        n_positions=n,
        tokenizer=TokenizerIdentity("tokenizers", "drifting", None, VOCAB, 0),
        documents=np.full(n_folds, size),
        empty_documents=0,
    )


def peers() -> dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """What is installed of the usual ways: eigenvalues of a matrix of distances."""
    known: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {}
    try:
        from sklearn.manifold import ClassicalMDS

        known["ClassicalMDS"] = lambda d: ClassicalMDS(n_components=N_AXES, metric="precomputed").fit(d).eigenvalues_
    except ImportError:
        print("scikit-learn with ClassicalMDS is not installed")
    try:
        from skbio.stats.distance import DistanceMatrix
        from skbio.stats.ordination import pcoa

        def by(method: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
            return lambda d: pcoa(DistanceMatrix(d), method=method, dimensions=N_AXES).eigvals.to_numpy()[:N_AXES]

        known |= {"pcoa eigh": by("eigh"), "pcoa fsvd": by("fsvd")}
    except ImportError:
        print("scikit-bio is not installed")
    return known


def race(n: int = 4096, tokens_a_row: int = 1200) -> None:
    """The axes, ours and the usual ways, in turn, and how far their eigenvalues are from the plug-in ones of ours."""
    counts = drifting_counts(n, tokens_a_row)
    matrix = counts.matrix()
    print(
        f"n = {n:,}, {matrix.nnz / n:,.0f} tokens a row, {N_AXES} axes, CPU seconds of {ROUNDS} rounds in turn",
        flush=True,
    )
    ways: dict[str, Callable[[], NDArray[np.float64]]] = {
        "plug-in": lambda: leading_axes(counts, N_AXES, estimator="plugin").eigenvalues,
        "cross-validated": lambda: leading_axes(counts, N_AXES, estimator="crossval").eigenvalues,
    }
    for name, peer in peers().items():
        ways[name] = lambda peer=peer: peer(distribution_distances(matrix))  # type: ignore[misc]
    times: dict[str, list[float]] = {name: [] for name in ways}
    eigenvalues = {}
    for done in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            eigenvalues[name] = way()
            times[name].append(time.process_time() - start)
        print(f"round {done + 1}: " + ", ".join(f"{name} {t[-1]:.2f} s" for name, t in times.items()), flush=True)
    ours = eigenvalues["plug-in"]
    for name, seconds in times.items():
        line = f"{name:<16} {median(seconds):8.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"
        if name not in ("plug-in", "cross-validated"):
            ratios = (f"{median(seconds) / median(times[own]):.1f} x {own}" for own in ("plug-in", "cross-validated"))
            gap = np.abs(eigenvalues[name] / ours - 1).max()
            line += f", {', '.join(ratios)}; eigenvalues differ by {gap:.1e}"
        print(line)


def run(n: int, tokens_a_row: int = 800) -> dict[str, float]:
    """Time and peak memory of one run."""
    counts = drifting_counts(n, tokens_a_row)
    cpu, began = time.process_time(), time.perf_counter()
    axes = leading_axes(counts, N_AXES, device="cpu")
    solved, solved_at = time.process_time(), time.perf_counter()
    encodings = [build_encoding(spec, n_positions=n, n_dims=768) for spec in DEFAULT_ENCODINGS if spec != "mds"]
    scores = sampled_scores(encodings, axes)
    aligned = [large_alignment(encoding, axes).value for encoding in encodings]
    scored, scored_at = time.process_time(), time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n = {n:,}, {counts.count.size:,} counts: {axes!r} in {solved_at - began:.0f} s (CPU {solved - cpu:.0f}), all "
        f"scores of {len(encodings)} encodings in {scored_at - solved_at:.0f} s (CPU {scored - solved:.0f}), peak "
        f"{peak:.1f} GiB, largest error bound {axes.error_bounds.max() / axes.eigenvalues[0]:.1e} of the first",
        flush=True,
    )
    for one, alignment in zip(scores[1:], aligned, strict=True):
        stress = one.scores["stress_scaled"]
        print(
            f"  {one.name:<24} alignment {alignment:.4f}, scaled stress {stress.value:.4f} "
            f"± {stress.standard_error or 0:.4f}",
            flush=True,
        )
    seconds = {"axes, CPU seconds": solved - cpu, "scores of 7 encodings, CPU seconds": scored - solved}
    return {"n": n} | seconds | {"peak memory, GiB": peak}


def chart(runs: list[dict[str, float]], target: str) -> None:
    """How time and memory grow, a line each, with what grows as n does beside them."""
    import altair as alt

    rows = [{"n": one["n"], "what": what, "value": value} for one in runs for what, value in one.items() if what != "n"]
    first = runs[0]
    rows += [
        {"n": one["n"], "what": "grows as n", "value": first["axes, CPU seconds"] * one["n"] / first["n"]}
        for one in runs
    ]
    alt.Chart({"values": rows}).mark_line(point=True).encode(
        alt.X("n:Q", scale=alt.Scale(type="log", base=2, nice=False), title="positions n", axis=alt.Axis(format=",")),
        alt.Y("value:Q", scale=alt.Scale(type="log"), title=None),
        alt.Color("what:N", title=None, sort=None, legend=alt.Legend(labelLimit=0)),
        alt.StrokeDash("what:N", title=None, sort=None),
    ).properties(width=480, height=300).save(target)


def main() -> None:
    """The race, or the runs that were named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int, nargs="*")
    parser.add_argument("--chart")
    chosen = parser.parse_args()
    if not chosen.n:
        race()
    runs = []
    for n in chosen.n:  # one after the other, each in a process of its own: peak memory is that of a process
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            runs.append(pool.submit(run, n).result())
    if chosen.chart:
        chart(runs, chosen.chart)


if __name__ == "__main__":
    main()
