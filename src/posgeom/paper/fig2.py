"""Figure 2: the MDS map of the positions, and the stress of the encodings as bars."""

import numpy as np

from posgeom.paper.inputs import Inputs, SyntheticRun
from posgeom.paper.result import Estimate, ItemResult, SoundRow, compare, over_seeds
from posgeom.paper.stresses import IN_SAMPLE, MDS, SPECS
from posgeom.paper.table2 import axes_row, synthetic_note
from posgeom.paper.table3 import N_DIMS, five_stresses
from posgeom.simulation.synthetic import REGIME_NAMES


def fig2(inputs: Inputs) -> ItemResult:
    """Compute Figure 2, of the synthetic corpus."""
    runs = inputs.synthetic
    stresses = [five_stresses(run) for run in runs]
    raw, plugin, sound = ({n: over_seeds([s[n][i] for s in stresses]) for n in SPECS} for i in range(3))
    rows = (
        compare("raw stress, MDS", raw[MDS], "table3.mds"),
        compare("raw stress, sinusoidal", raw["sinusoidal"], "table3.sinusoidal"),
        compare("positions nearest to their regime's centre", over_seeds([_at_home(run) for run in runs]), unit="%"),
    )
    first = runs[0]
    axes = first.paper.mds().coordinates[:, :2]
    return ItemResult(
        name="fig2",
        title=f"Figure 2: MDS map and stress, synthetic corpus, d = {N_DIMS}",
        section="6.2",
        rows=rows,
        sound=(axes_row(runs), *(SoundRow(f"alignment, {n}", "", plugin[n], sound[n]) for n in SPECS)),
        change=(
            "The map stays as it is; the bars come to one scale. The raw stress of the sinusoid is "
            f"{raw['sinusoidal'].value / raw[MDS].value:.0f} times that of MDS, which says mostly how long its vectors "
            f"are; its alignment is {sound['sinusoidal'].value:.3f}, that of MDS {sound[MDS].value:.3f}."
        ),
        panels=(
            {
                "kind": "points",
                "title": "MDS map",
                "caption": f"Positions on the two leading axes of the plug-in distances, seed {first.seed}, by regime.",
                "x_title": "axis 1",
                "y_title": "axis 2",
                "is_map": True,
                "points": [
                    {"x": float(x), "y": float(y), "group": REGIME_NAMES[regime], "label": str(position)}
                    for position, (x, y), regime in zip(first.paper.positions, axes, first.corpus.regimes, strict=True)
                ],
            },
            bars(
                "Raw stress",
                "raw stress",
                {"plug-in": raw},
                f"Raw stress at d = {N_DIMS} by plug-in distances, mean over {len(runs)} corpora; the line is smallest "
                "to largest.",
                log=True,
            ),
            bars(
                "Alignment",
                "alignment",
                {"plug-in": plugin, "cross-validated": sound},
                f"Alignment at d = {N_DIMS}, which the norm of an encoding leaves alone, by both estimates; the line "
                "is smallest to largest.",
                log=False,
            ),
        ),
        notes=(
            synthetic_note(inputs),
            IN_SAMPLE,
            f"Map: the corpus of seed {first.seed}. Bars: means, smallest to largest.",
        ),
    )


def _at_home(run: SyntheticRun) -> float:
    """Share of the positions that lie nearest to the mean of their own regime, on two axes, in per cent."""
    regimes, axes = run.corpus.regimes, run.paper.mds().coordinates[:, :2]
    centres = np.stack([axes[regimes == regime].mean(axis=0) for regime in range(len(REGIME_NAMES))])
    nearest = ((axes[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return float(100 * (nearest == regimes).mean())


def bars(
    title: str, y_title: str, groups: dict[str, dict[str, Estimate]], caption: str, *, log: bool
) -> dict[str, object]:
    """Data of grouped bars."""
    return {
        "kind": "bars",
        "title": title,
        "caption": caption,
        "y_title": y_title,
        "y_log": log,
        "bars": [
            {"group": group, "name": name, "value": e.value, "low": e.low, "high": e.high}
            for group, entries in groups.items()
            for name, e in entries.items()
        ],
    }
