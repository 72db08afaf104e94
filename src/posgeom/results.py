"""`Analysis`: what the main job gives."""

from dataclasses import dataclass
from html import escape
from typing import Any

from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding
from posgeom.estimation.build import Geometry
from posgeom.frames import Framed
from posgeom.inference.depth_curve import DepthCurve
from posgeom.inference.jackknife import Estimate
from posgeom.inference.null_corpora import OrderBeyondLengths
from posgeom.inference.order import CorpusOrder
from posgeom.inference.scorecard import Scorecard
from posgeom.inference.significance import Significance
from posgeom.messages import Caution
from posgeom.options import Convention


@dataclass(frozen=True, eq=False)
class Analysis(Framed):
    """A corpus, its geometry, and encodings scored against it.

    Attributes
    ----------
    counts : PositionCounts
    geometry : Geometry
    encodings : tuple of Encoding
    scorecard : Scorecard
    convention : str
    n_dims : int
        Width d of the schemes that have one.
    seed : int
    notes : tuple of str
        What a reader of the numbers should know; `cautions` are those that change the reading.
    level : float or None
        Of the intervals; None where they were not wanted.
    mean_squared : Estimate
        Mean squared distance over pairs of positions.
    noise_share : Estimate or None
        Share of the plug-in distance that two halves of the corpus do not agree on; None for plug-in distances.
    significance : Significance or None
        The axes of the geometry, tested; None for plug-in distances, and where fewer than six folds hold documents.
    beyond_lengths : OrderBeyondLengths or None
        The axes against null corpora; None where fewer than three were counted.
    depth_curve : DepthCurve or None
        What more or less text shows; None for plug-in distances, and where intervals were not wanted.
    order : CorpusOrder
        Monotonicity violations of the corpus's own distances.
    """

    counts: PositionCounts
    geometry: Geometry
    encodings: tuple[Encoding, ...]
    scorecard: Scorecard
    convention: Convention
    n_dims: int
    seed: int
    notes: tuple[str, ...]
    level: float | None
    mean_squared: Estimate
    noise_share: Estimate | None
    significance: Significance | None
    beyond_lengths: OrderBeyondLengths | None
    depth_curve: DepthCurve | None
    order: CorpusOrder

    @property
    def cautions(self) -> tuple[str, ...]:
        """Those of the notes that change how the numbers are to be read."""
        return tuple(note for note in self.notes if isinstance(note, Caution))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per encoding: the scorecard's."""
        return self.scorecard.to_dicts()

    def _repr_html_(self) -> str:
        from posgeom.report.document import to_document  # a notebook shows what the report says

        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in to_document(self)["findings"])
        cautions = "".join(f"<li>{escape(caution)}</li>" for caution in self.cautions)
        before = f"<p>Before you read the numbers:</p><ul>{cautions}</ul>" if cautions else ""
        return f"<ul>{sentences}</ul>{before}" + self.scorecard._repr_html_() + self.geometry._repr_html_()

    def __repr__(self) -> str:
        return f"<Analysis, convention {self.convention}: {self.geometry!r}, {self.scorecard!r}>"
