"""Notes that go with the numbers of an analysis."""

from posgeom.geometry.build import MAX_RANK_POSITIONS, Geometry
from posgeom.geometry.depth_curve import DepthCurve
from posgeom.geometry.fold_pairs import ENOUGH_BLOCKS, MIN_BLOCK_DEPTH
from posgeom.geometry.noise import FEWEST_POSITIONS
from posgeom.geometry.significance import FEWEST_NULLS, Significance
from posgeom.messages import printable
from posgeom.scores.scorecard import Scorecard

LARGE_NEGATIVE_MASS, RESOLVED, FEW_FOLDS = 0.05, 0.9, 6
"""When a note says so: share of the spectrum, self-affinity, and folds that hold documents."""


GROWING = 0.05
"""Growth of the mean squared distance over the last step of depth beyond which more text is said to show more."""


def notes_on(
    shape: Geometry,
    card: Scorecard,
    n_dims: int,
    *,
    default_encodings: bool,
    tested: Significance | None = None,
    curve: DepthCurve | None = None,
    level: float | None = None,
) -> tuple[str, ...]:
    """What a reader of the numbers should know: first what always holds, then what this corpus calls for.

    Parameters
    ----------
    shape : Geometry
    card : Scorecard
    n_dims : int
        Width d that was asked for.
    default_encodings : bool
        Whether the default encodings were wanted.
    tested : Significance, optional
    curve : DepthCurve, optional
    level : float, optional
        Of the intervals; None where they were not wanted.

    Returns
    -------
    tuple of str
    """
    notes = [
        (
            "Stress says how faithfully an encoding reproduces the geometry of the corpus. It is a diagnostic: a lower "
            "stress is not a better model."
        ),
    ]
    names = [row.name for row in card]
    if "random" in names:
        notes.append(
            "Compare encodings by scaled stress. random is nearly equidistant: an encoding that is not below it says "
            "no more of this geometry than equal distances do."
        )
    notes += _on_errors(shape, card, tested, level)
    for row in card:
        if row.negative_mass:
            notes.append(
                f"{printable(row.name)}: {row.negative_mass:.1%} of the spectrum of its bias is negative, which no "
                "distances can have; its classical MDS leaves that part out."
            )
    samples = {row.sample for row in card}
    if "in" in samples:
        notes.append("mds is fitted to the distances it is scored on, so its scores are in-sample.")
    if "out" in samples:
        notes.append(
            "mds is fitted on one half of the corpus and its stress and correlations are those against the other half."
        )
    if "mds" in names and shape.spectrum.negative_mass > LARGE_NEGATIVE_MASS:
        notes.append(
            f"{shape.spectrum.negative_mass:.0%} of the spectrum is negative, which no coordinates can have: full mds "
            "keeps as much noise on its positive axes, and a lower rank is more faithful."
        )
    if shape.estimator == "plugin":
        notes.append(
            "Plug-in distances are biased upwards by sampling noise: part of this geometry, and of its rank, is noise."
        )
    if shape.self_affinity is not None and shape.self_affinity < RESOLVED:
        notes.append(
            f"Two halves of the corpus agree on a position's tokens to {shape.self_affinity:.2f} (1: all resolved): "
            "many tokens are seen about once, and differences that rest on them are not detected."
        )
    notes += _on_depth(curve, level)
    unit = "sequences at the shallowest position" if shape.selection.bins is None else "tokens in the shallowest bin"
    if shape.depth is not None and shape.depth < MIN_BLOCK_DEPTH:
        notes.append(
            f"Each part of the corpus has only {shape.depth} {unit}: distances are "
            "imprecise. More text, or a higher --min-depth, would help."
        )
    if shape.estimator == "crossval" and shape.n_folds_used < FEW_FOLDS:
        notes.append(
            f"Only {shape.n_folds_used} of {shape.n_folds} folds hold documents, so parts differ in more than noise: "
            "group by a column with more values."
        )
    if shape.selection.shallow.size > shape.positions.size:
        notes.append(
            f"{shape.selection.shallow.size:,} positions with data are masked for lack of depth, more than are used: a "
            "lower --min-depth sees farther, less precisely."
        )
    if default_encodings and n_dims % 2:
        notes.append(f"rope is left out: it needs an even width, and d = {n_dims}.")
    if shape.rank is None:
        notes.append(
            f"The paper's rank is not computed: more than {MAX_RANK_POSITIONS:,} positions have data. The spectrum of "
            "the used ones is."
        )
    return tuple(notes)


def _on_errors(shape: Geometry, card: Scorecard, tested: Significance | None, level: float | None) -> list[str]:
    if shape.estimator == "plugin":
        return ["Scores against plug-in distances carry no intervals: their bias is larger than their chance error."]
    if level is None:
        return ["Intervals were not asked for: small differences may be chance."]
    notes = []
    if card.level is None:
        notes.append(f"Scores carry no intervals: {_why_no_intervals(shape)}.")
    if tested is None:
        notes.append(
            f"The significant rank is not known: that takes {FEWEST_NULLS} null corpora or more (--null), counted in "
            "the same pass."
        )
    elif tested.rank == 0:
        notes.append(
            "No axis of this geometry is more than noise and the lengths of documents produce: nothing here says that "
            "position matters, and scores say nothing about encodings."
        )
    return notes


def _why_no_intervals(shape: Geometry) -> str:
    reasons = (
        (shape.depth is None, "distances at full depth have none; those at a common depth do"),
        (len(shape.blocks) < ENOUGH_BLOCKS, f"that takes {ENOUGH_BLOCKS} folds with documents"),
        (shape.positions.size < FEWEST_POSITIONS, f"that takes {FEWEST_POSITIONS} positions"),
        (
            shape.fold_pairs is None,
            "the distances of every pair of folds do not fit in memory; fewer --folds, a smaller -n or --bins would do",
        ),
    )
    return next((text for holds, text in reasons if holds), "these distances have no noise at all")


def _on_depth(curve: DepthCurve | None, level: float | None) -> list[str]:
    limit = None if curve is None or level is None else curve.limit(level)
    if curve is None or limit is None:
        return []
    before, last = curve.points[-2:]
    growth = (last.mean_squared - before.mean_squared) / last.mean_squared if last.mean_squared > 0 else 0
    if growth <= GROWING:
        return []
    note = (
        f"More text would show more: the mean squared distance grows from {before.mean_squared:.4f} to "
        f"{last.mean_squared:.4f} between depths {before.depth:,} and {last.depth:,}; with unlimited text it would be "
        f"between {limit[1]:.4f} and {limit[2]:.4f}."
    )
    return [note]
