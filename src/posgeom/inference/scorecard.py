"""The scorecard: every score of every encoding against one geometry, with its interval."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from posgeom.encodings.base import Encoding
from posgeom.encodings.given import Encodings, as_encodings
from posgeom.errors import GeometryError, check_type
from posgeom.estimation.build import Geometry
from posgeom.frames import Framed
from posgeom.inference.alignment import why_undefined
from posgeom.inference.comparison import Difference, RunScore, difference
from posgeom.inference.encoding_scores import EncodingScores, scores_without_corpus
from posgeom.inference.fields import FIELDS, EncodingPairs
from posgeom.inference.jackknife import Interval, Replicates
from posgeom.inference.scoring import all_replicates, intervals_of, values_of
from posgeom.policies import ENOUGH_FOLDS, LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.scores.stress import paired_distances
from posgeom.tables import Table


@dataclass(frozen=True)
class Scorecard(Framed):
    """Scores of several encodings against one geometry.

    A higher alignment, or a lower stress, is a more faithful geometry, not a better model. Intervals of alignment hold;
    those of stress and correlations, which rest on roots of noisy numbers, are approximate.

    Attributes
    ----------
    rows : tuple of EncodingScores
    estimator : str
        Of the distances that were scored against.
    n_positions_used : int
    depth : int or None
        Documents of the samples whose geometry this is; None where depths are as they are.
    undefined : str or None
        Why alignment is not defined, as a clause; None where it is.
    level : float or None
        Of the intervals; None where there are none.
    n_folds : int
        Folds, or groups of them, that intervals rest on.
    ceiling : dict of str to float or None
        By field: what the distances of one half of the corpus score against the other half.
    ceiling_intervals : dict of str to Interval
    replicates : tuple of tuple of Replicates
        By encoding, for each of the fields that rest on the corpus: what intervals and differences are made of.
    """

    rows: tuple[EncodingScores, ...]
    estimator: str
    n_positions_used: int
    depth: int | None = None
    undefined: str | None = None
    level: float | None = None
    n_folds: int = 0
    ceiling: dict[str, float | None] = field(default_factory=dict)
    ceiling_intervals: dict[str, Interval] = field(default_factory=dict)
    replicates: tuple[tuple[Replicates, ...], ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Scorecard: {len(self)} encodings, {self.estimator}, {self.n_positions_used:,} positions>"

    def _repr_html_(self) -> str:
        caption = f"{self.estimator} distances, {self.n_positions_used:,} positions; higher alignment: more faithful"
        if self.level is not None:
            caption += f"; {self.level:.0%} intervals, jackknife over {self.n_folds} parts of the corpus"
        rows = []
        for row in self.by_alignment():
            known = row.intervals.get("alignment")
            between = "" if known is None else f"{known.low:.3f} to {known.high:.3f}"
            rows.append([row.name, row.alignment, between, row.stress_scaled, row.pearson, row.effective_rank])
        headings = ["encoding", "alignment", "interval of it", "scaled stress", "Pearson", "effective rank"]
        return Table.of(caption, headings, rows).to_html()

    def by_alignment(self) -> list[EncodingScores]:
        """The highest alignment first, undefined ones last."""
        return sorted(self.rows, key=lambda row: (row.alignment is None, -(row.alignment or 0.0)))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[EncodingScores]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> EncodingScores:
        """The scores of the encoding of that name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no encoding {name!r} in this scorecard: it has {', '.join(r.name for r in self.rows)}")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per encoding, for JSON, CSV or a data frame."""
        return [asdict(row) for row in self.rows]

    def difference(self, first: str, second: str, score: str = "alignment") -> Difference:
        """Compare two encodings by one score, with a paired interval.

        Parameters
        ----------
        first, second : str
            Names.
        score : str
            One of the fields that have intervals, such as ``"alignment"`` or ``"pearson"``.

        Returns
        -------
        Difference

        Raises
        ------
        GeometryError
            When there is no such score.
        """
        if score not in FIELDS:
            raise GeometryError(f"score {score!r}: expected one of {', '.join(FIELDS)}")
        scored = [self.scored(name, score) for name in (first, second)]
        return difference(scored[0], scored[1], score, self.level or LEVEL)

    def scored(self, name: str, score: str, run: str = "", parts: bytes = b"") -> RunScore:
        """One score of one encoding, with what its standard error is made of; see `RunScore`."""
        row = self[name]
        known = self.replicates[self.rows.index(row)][FIELDS.index(score)] if self.replicates else None
        return RunScore(run, name, getattr(row, score), known, parts)


def scorecard(
    encodings: Encodings,
    geometry: Geometry,
    *,
    level: float | None = LEVEL,
    progress: ProgressHook = silent,
) -> Scorecard:
    """Score encodings against a geometry, all over the same positions.

    Parameters
    ----------
    encodings : sequence, or mapping by name, of Encoding or array_like, or one of these
        An array has one row per position, shape (n, d): of NumPy, a tensor or parameter of any type on any device, or
        an embedding layer.
    geometry : Geometry
    level : float, optional
        Of the intervals, between 0 and 1; None leaves them out. They are Student's, with the delete-one jackknife over
        folds. There are none for plug-in distances, whose bias an interval would not cover, and none where fewer than
        four folds hold documents (five for alignment, six for what is fitted).
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Scorecard

    Raises
    ------
    GeometryError
        When `level` is not between 0 and 1.
    EncodingError
        When something is neither an encoding nor the rows of one.

    Examples
    --------
    >>> import numpy as np
    >>> import posgeom as pg
    >>> geometry = pg.geometry_of([[3, 1, 0], [2, 2, 0], [0, 2, 2]])
    >>> card = pg.scorecard({"steps": np.arange(3)[:, None], "sinusoidal": pg.sinusoidal(3, 8)}, geometry)
    >>> [row.name for row in card]
    ['steps', 'sinusoidal']
    """
    if level is not None and not 0 < level < 1:
        raise GeometryError(f"level {level!r}: expected a number between 0 and 1, such as 0.95")
    check_type(geometry, Geometry, "a Geometry; make one of counts with geometry(counts)", GeometryError)
    chosen = as_encodings(encodings)
    undefined = why_undefined(geometry)
    errors = level is not None and geometry.products is not None and geometry.products.n >= ENOUGH_FOLDS
    rows: list[EncodingScores] = []
    pairs: list[EncodingPairs] = []
    for done, encoding in enumerate(chosen):
        progress("scoring", done, len(chosen))
        distances = paired_distances(encoding, geometry)[0]
        pairs.append(EncodingPairs.of(distances))
        rows.append(scores_without_corpus(encoding, geometry, distances))
    progress("scoring", len(chosen), len(chosen))
    found, ceiling = all_replicates(chosen, pairs, geometry, undefined, errors=errors, progress=progress)
    for k, of_one in enumerate(found):
        intervals = intervals_of(of_one, level if errors else None)
        rows[k] = replace(rows[k], intervals=intervals, **values_of(of_one))
    card = Scorecard(
        tuple(rows), geometry.estimator, int(geometry.positions.size), depth=geometry.depth, undefined=undefined
    )
    if ceiling is not None:
        card = replace(card, ceiling=values_of(ceiling))
    if not errors or geometry.products is None:
        return card
    return replace(
        card,
        level=level,
        n_folds=geometry.products.n,
        ceiling_intervals={} if ceiling is None else intervals_of(ceiling, level),
        replicates=tuple(tuple(one) for one in found),
    )


def score(encoding: Encoding, geometry: Geometry) -> EncodingScores:
    """Every score of one encoding, without intervals; `scorecard` has those.

    Parameters
    ----------
    encoding : Encoding
    geometry : Geometry

    Returns
    -------
    EncodingScores
    """
    return scorecard(encoding, geometry, level=None).rows[0]
