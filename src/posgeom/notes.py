"""Notes that go with the numbers of an analysis."""

from posgeom.geometry.build import MAX_RANK_POSITIONS, Geometry
from posgeom.geometry.depth import ENOUGH
from posgeom.messages import printable
from posgeom.scores.scorecard import Scorecard

LARGE_NEGATIVE_MASS, RESOLVED, FEW_FOLDS = 0.05, 0.9, 6
"""When a note says so: share of the spectrum, self-affinity, and folds that hold documents."""


def notes_on(shape: Geometry, card: Scorecard, n_dims: int, *, default_encodings: bool) -> tuple[str, ...]:
    """What a reader of the numbers should know: first what always holds, then what this corpus calls for.

    Parameters
    ----------
    shape : Geometry
    card : Scorecard
    n_dims : int
        Width d that was asked for.
    default_encodings : bool
        Whether the default encodings were wanted.

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
    notes.append("Scores carry no intervals yet: small differences may be chance.")
    for row in card:
        if row.negative_mass:
            notes.append(
                f"{printable(row.name)}: {row.negative_mass:.1%} of the spectrum of its bias is negative, which no "
                "distances can have; its classical MDS leaves that part out."
            )
    if any(name == "mds" or name.startswith("mds:") for name in names):
        notes.append("mds is fitted to the distances it is scored on, so its scores are in-sample.")
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
            "many tokens are seen about once, and differences that rest on them are not detected. More text resolves "
            "more."
        )
    unit = "sequences at the shallowest position" if shape.selection.bins is None else "tokens in the shallowest bin"
    if shape.depth is not None and shape.depth < ENOUGH:
        notes.append(
            f"Each half of the corpus has only {shape.depth} {unit}: distances are "
            "imprecise. More text, or a higher --min-depth, would help."
        )
    if shape.estimator == "crossval" and shape.n_folds_used < FEW_FOLDS:
        notes.append(
            f"Only {shape.n_folds_used} of {shape.n_folds} folds hold documents, so halves differ in more than noise: "
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
