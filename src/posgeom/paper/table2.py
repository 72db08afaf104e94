"""Table 2: rank, stress and parameters of the minimal encoding, on the synthetic corpus."""

import numpy as np

from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.metrics import distribution_distances
from posgeom.paper.inputs import Inputs, SyntheticRun, defined, value_of
from posgeom.paper.result import ItemResult, Row, SoundRow, compare, over_seeds
from posgeom.paper.sound import scores_of
from posgeom.paper.stresses import IN_SAMPLE, build, mds_stresses, stress_of
from posgeom.scores.stress import Stress

N_DIMS = 128
RANKS = (1, 2, 3, 8, 16, 31)
_WITH_NUMBER = 3
_SOUND = ("mds:rank=3", "sinusoidal")


def table2(inputs: Inputs) -> ItemResult:
    """Compute Table 2."""
    runs = inputs.synthetic
    n = runs[0].paper.n_positions
    full = n * N_DIMS
    shares = np.array([shares_of_axes(run.paper) for run in runs])
    mds = np.array([[defined(s.raw) for s in mds_stresses(run.paper.distances)[: RANKS[-1]]] for run in runs])
    sinusoidal = [_sinusoidal(run) for run in runs]
    rows = [
        compare("rank of B", over_seeds([run.paper.rank or 0 for run in runs]), "table2.rank"),
        compare("inertia on two axes", over_seeds(shares[:, 0].tolist()), "table2.two_axes"),
        compare("inertia on three axes", over_seeds(shares[:, 1].tolist()), "table2.three_axes"),
    ]
    for rank in RANKS:
        stated = rank == _WITH_NUMBER
        rows += [
            _stress_row(rank, mds[:, rank - 1].tolist(), "table2.mds_rank3" if stated else None),
            compare(
                f"parameters r(n + d), r = {rank}", rank * (n + N_DIMS), "table2.parameters_rank3" if stated else None
            ),
        ]
    saving = 100 * (1 - _WITH_NUMBER * (n + N_DIMS) / full)
    rows += [
        compare("parameters n d of a full table", full, "table2.parameters_full"),
        compare(f"parameters saved, r = {_WITH_NUMBER}", saving, "table2.saving_rank3"),
        compare("raw stress, sinusoidal", over_seeds([defined(s.raw) for s in sinusoidal]), "table2.sinusoidal"),
    ]
    sound = _sound(runs)
    return ItemResult(
        name="table2",
        title=f"Table 2: rank, stress and parameters, synthetic corpus, d = {N_DIMS}",
        section="5",
        rows=tuple(rows),
        sound=sound,
        change=_change(sound),
        notes=(
            synthetic_note(inputs),
            IN_SAMPLE,
            (
                "A Dirichlet with concentration 0.02 and preference 100 in place of 0.1 and 30, chosen to fit, gives "
                "all of this table within the spread of seeds, and none of the three numbers of Table 3."
            ),
        ),
    )


def _stress_row(rank: int, values: list[float], key: str | None) -> Row:
    return compare(f"raw stress, MDS of rank {rank}", over_seeds(values), key)


def _sound(runs: tuple[SyntheticRun, ...]) -> tuple[SoundRow, ...]:
    plugin, sound = (
        [scores_of([build(spec, s, N_DIMS, run.seed) for spec in _SOUND], s, intervals=False) for run, s in both]
        for both in ([(run, run.paper) for run in runs], [(run, run.sound) for run in runs])
    )
    names = ("alignment, MDS of rank 3", f"alignment, sinusoidal, d = {N_DIMS}")
    return (
        mean_squared_row(runs),
        SoundRow("mean squared distance, the truth", "", None, over_seeds([true_mean_squared(run) for run in runs])),
        axes_row(runs),
        *(
            SoundRow(
                name,
                "",
                over_seeds([value_of(both[k]) for both in plugin]),
                over_seeds([value_of(both[k]) for both in sound]),
            )
            for k, name in enumerate(names)
        ),
    )


def _sinusoidal(run: SyntheticRun) -> Stress:
    return stress_of("sinusoidal", run.paper, N_DIMS, run.seed)


def _change(sound: tuple[SoundRow, ...]) -> str:
    mds, sinusoidal = (value_of(row.sound) for row in sound[-2:])
    return (
        "With 5,000 documents and 200 tokens there is little noise to take away, so the rank stays meaningful; but a "
        f"sinusoid's raw stress is mostly its norm: its alignment is {sinusoidal:.3f}, that of MDS with three axes "
        f"{mds:.3f}."
    )


def shares_of_axes(shape: Geometry) -> tuple[float, float]:
    """Share of the positive inertia on the first two axes and on the first three, in per cent."""
    shares = 100 * np.cumsum(shape.spectrum.explained)
    return float(shares[:2][-1]), float(shares[:3][-1])


def true_mean_squared(run: SyntheticRun) -> float:
    """Mean squared Hellinger distance of the distributions that a synthetic corpus was drawn from."""
    distances = distribution_distances(run.corpus.distributions)
    return float((distances[np.triu_indices(len(distances), 1)] ** 2).mean())


def mean_squared_row(runs: tuple[SyntheticRun, ...]) -> SoundRow:
    """Mean squared distance of both estimators over seeds, at full depth."""
    return SoundRow(
        "mean squared distance",
        "",
        over_seeds([run.paper.distances.mean_squared for run in runs]),
        over_seeds([full_depth(run.sound).mean_squared for run in runs]),
    )


def full_depth(shape: Geometry) -> DistanceMatrix:
    """Distances at full depth, whatever the estimator."""
    return shape.plugin if shape.crossval_full_depth is None else shape.crossval_full_depth


def axes_row(runs: tuple[SyntheticRun, ...]) -> SoundRow:
    """Share of the first two axes under both estimators over seeds."""
    return SoundRow(
        "inertia on two axes",
        "%",
        over_seeds([shares_of_axes(run.paper)[0] for run in runs]),
        over_seeds([shares_of_axes(run.sound)[0] for run in runs]),
    )


def synthetic_note(inputs: Inputs) -> str:
    """What the synthetic corpora are."""
    return (
        "The paper gives n = 32, V = 200, N = 5,000 and three regimes, and says no more of its corpus. Ours are drawn "
        f"with seeds {inputs.seeds.start} to {inputs.seeds.stop - 1}: means, and the smallest to the largest."
    )
