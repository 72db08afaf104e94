"""Figure 1: the matrix of Hellinger distances and its eigenvalues."""

import numpy as np

from posgeom.estimation.build import Geometry
from posgeom.paper.inputs import Inputs, SyntheticRun
from posgeom.paper.result import ItemResult, SoundRow, compare, over_seeds
from posgeom.paper.table2 import (
    axes_row,
    full_depth,
    mean_squared_row,
    shares_of_axes,
    synthetic_note,
    true_mean_squared,
)


def fig1(inputs: Inputs) -> ItemResult:
    """Compute Figure 1, of the synthetic corpus."""
    runs = inputs.synthetic
    shares = np.array([shares_of_axes(run.paper) for run in runs])
    within, between = np.array([_within_and_between(run) for run in runs]).T
    rows = (
        compare("rank of B", over_seeds([run.paper.rank or 0 for run in runs]), "table2.rank"),
        compare("inertia on two axes", over_seeds(shares[:, 0].tolist()), "table2.two_axes"),
        compare("inertia on three axes", over_seeds(shares[:, 1].tolist()), "table2.three_axes"),
        compare("mean distance within a regime", over_seeds(within.tolist())),
        compare("mean distance between regimes", over_seeds(between.tolist())),
    )
    truth = over_seeds([true_mean_squared(run) for run in runs])
    sound = (mean_squared_row(runs), SoundRow("mean squared distance, the truth", "", None, truth), axes_row(runs))
    plugin, crossval = (
        np.mean([full_depth(s).mean_squared for s in shapes])
        for shapes in ([run.paper for run in runs], [run.sound for run in runs])
    )
    first = runs[0]
    return ItemResult(
        name="fig1",
        title="Figure 1: Hellinger distances and eigenvalues, synthetic corpus",
        section=None,
        rows=rows,
        sound=sound,
        change=(
            f"Almost nothing changes: the mean squared distance goes from {plugin:.4f} to {crossval:.4f} where the "
            f"truth is {truth.value:.4f}, as 5,000 documents resolve 200 tokens; text leaves more to noise (Table 4)."
        ),
        panels=(
            {
                "kind": "matrix",
                "title": "Hellinger distances",
                "caption": f"Between the positions of the synthetic corpus of seed {first.seed}, 5,000 documents.",
                "labels": first.paper.positions.tolist(),
                "estimates": {
                    "plug-in": first.paper.distances.values.tolist(),
                    "cross-validated": first.sound.distances.values.tolist(),
                },
                "depth": first.paper.position_depth[first.paper.positions].tolist(),
            },
            {
                "kind": "lines",
                "title": "Eigenvalues of B",
                "caption": "Inertia on each axis of the same distances: three regimes span two axes.",
                "x_title": "axis",
                "y_title": "eigenvalue",
                "x_log": False,
                "y_log": False,
                "series": [_spectrum("plug-in", first.paper), _spectrum("cross-validated", first.sound)],
            },
        ),
        notes=(synthetic_note(inputs), f"Drawn: the corpus of seed {first.seed}."),
    )


def _within_and_between(run: SyntheticRun) -> tuple[float, float]:
    """Mean distance of pairs in one regime, and of pairs in two."""
    regimes = run.corpus.regimes
    same = (regimes[:, None] == regimes)[np.triu_indices(regimes.size, 1)]
    pairs = run.paper.distances.pairs
    return float(pairs[same].mean()), float(pairs[~same].mean())


def _spectrum(name: str, shape: Geometry) -> dict[str, object]:
    values = shape.spectrum.eigenvalues.tolist()
    return {"name": name, "x": list(range(1, len(values) + 1)), "y": values}
