"""Leading axes of many positions, from sparse counts: ``python -m benchmarks.large [N ...]``.

At n = 4,096 in turn with the usual way, scikit-learn's ClassicalMDS on the distances of the same counts, where that is
installed. For each N named, time and peak memory of a run of its own.
"""

import resource
import sys
import time
from statistics import median

import numpy as np

from posgeom.analysis import DEFAULT_ENCODINGS
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.leading_axes import leading_axes
from posgeom.estimation.metrics import distribution_distances
from posgeom.inference.large_alignment import large_alignment
from posgeom.inference.sampled_scores import sampled_scores
from posgeom.tokenize.tokenizers import TokenizerIdentity

VOCAB, N_AXES, ROUNDS = 30_522, 64, 3


def drifting_counts(n: int, tokens_a_row: int, n_folds: int = 10, seed: int = 0) -> PositionCounts:
    """Zipf counts in which some tokens come and go along the sequence, so that there are axes to be found."""
    rng = np.random.default_rng(seed)
    zipf = 1 / (np.arange(VOCAB) + 2.7)
    phase, cycles = rng.random(VOCAB), rng.integers(1, 40, VOCAB)
    size = 2 * tokens_a_row // n_folds  # tokens come twice, so that about `tokens_a_row` entries are left of a row
    parts = []
    for i in range(n):
        share = zipf * (1 + 0.8 * np.sin(2 * np.pi * (cycles * i / n + phase)))
        token = np.searchsorted(np.cumsum(share), rng.random(n_folds * size) * share.sum())
        fold = np.repeat(np.arange(n_folds), size)
        keys, count = np.unique(fold * VOCAB + np.minimum(token, VOCAB - 1), return_counts=True)
        parts.append((keys // VOCAB, np.full(keys.size, i), keys % VOCAB, count))
    fold, position, token, count = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    order = np.argsort(fold, kind="stable")
    return PositionCounts(
        fold=fold[order],
        position=position[order],
        token=token[order],
        count=count[order],
        n_positions=n,
        tokenizer=TokenizerIdentity("tokenizers", "drifting", None, VOCAB, 0),
        documents=np.full(n_folds, size),
        empty_documents=0,
    )


def race(n: int = 4096, tokens_a_row: int = 1200) -> None:
    """The plug-in axes, ours and the usual way, in turn, and how far their eigenvalues are apart."""
    counts = drifting_counts(n, tokens_a_row)
    matrix = counts.matrix()
    print(
        f"n = {n:,}, {matrix.nnz / n:,.0f} tokens a row, {N_AXES} axes, CPU seconds of {ROUNDS} rounds in turn",
        flush=True,
    )
    try:
        from sklearn.manifold import ClassicalMDS
    except ImportError:
        ClassicalMDS = None
        print("scikit-learn with ClassicalMDS is not installed: no peer")
    times: dict[str, list[float]] = {"plug-in": [], "cross-validated": [], "ClassicalMDS": []}
    for done in range(ROUNDS):
        for name, estimator in (("plug-in", "plugin"), ("cross-validated", "crossval")):
            start = time.process_time()
            axes = leading_axes(counts, N_AXES, estimator=estimator)  # type: ignore[arg-type]
            times[name].append(time.process_time() - start)
            if estimator == "plugin":
                ours = axes
        if ClassicalMDS is not None:
            start = time.process_time()
            peer = ClassicalMDS(n_components=N_AXES, metric="precomputed").fit(distribution_distances(matrix))
            times["ClassicalMDS"].append(time.process_time() - start)
        seconds_of = ", ".join(f"{name} {seconds[-1]:.2f} s" for name, seconds in times.items() if seconds)
        print(f"round {done + 1}: {seconds_of}", flush=True)
    for name, seconds in times.items():
        if seconds:
            ratio = median(times["ClassicalMDS"]) / median(seconds) if times["ClassicalMDS"] else float("nan")
            print(f"{name:<16} {median(seconds):8.2f} s ({min(seconds):.2f} to {max(seconds):.2f}) {ratio:6.1f} x")
    print(f"largest error bound of ours {ours.error_bounds.max() / ours.eigenvalues[0]:.1e} of the first eigenvalue")
    if ClassicalMDS is not None:
        gap = np.abs(peer.eigenvalues_ / ours.eigenvalues - 1).max()
        print(f"eigenvalues of the two, largest relative difference {gap:.1e}")


def run(n: int, tokens_a_row: int = 800) -> None:
    """Time and peak memory of one run."""
    counts = drifting_counts(n, tokens_a_row)
    before, began = time.process_time(), time.perf_counter()
    axes = leading_axes(counts, N_AXES)
    solved = time.process_time()
    encodings = [build_encoding(spec, n_positions=n, n_dims=768) for spec in DEFAULT_ENCODINGS if spec != "mds"]
    scores = sampled_scores(encodings, axes)
    aligned = [large_alignment(encoding, axes).value for encoding in encodings]
    scored, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n = {n:,}, {counts.count.size:,} counts: {axes!r}, {solved - before:.0f} CPU seconds, all scores of "
        f"{len(encodings)} encodings {scored - solved:.0f} more, {time.perf_counter() - began:.0f} seconds in all, "
        f"peak {peak:.1f} GiB, largest error bound {axes.error_bounds.max() / axes.eigenvalues[0]:.1e} of the first",
        flush=True,
    )
    for one, alignment in zip(scores[1:], aligned, strict=True):
        stress = one.scores["stress_scaled"]
        print(
            f"  {one.name:<24} alignment {alignment:.4f}, scaled stress {stress.value:.4f} "
            f"± {stress.standard_error or 0:.4f}",
            flush=True,
        )


def main() -> None:
    """The race, or the runs that were named."""
    if len(sys.argv) == 1:
        race()
    for n in sys.argv[1:]:
        run(int(n))


if __name__ == "__main__":
    main()
