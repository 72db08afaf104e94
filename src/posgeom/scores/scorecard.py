"""The scorecard: every score of every encoding against one geometry."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.errors import GeometryError
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.html_table import html_table
from posgeom.progress import ProgressHook, silent
from posgeom.scores.comparison import Difference, Scored, column_of, difference
from posgeom.scores.correlation import pearson_against, spearman
from posgeom.scores.effective_rank import encoding_effective_rank
from posgeom.scores.interval import Interval
from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.replicates import Replicates, has_blocks, named, replicate_scores
from posgeom.scores.scoring import FIELDS
from posgeom.scores.separation import minimum_separation
from posgeom.scores.stress import paired_distances, stress_against

DEFAULT_LEVEL = 0.95
Method = Literal["jackknife", "bootstrap"]


@dataclass(frozen=True, slots=True)
class EncodingScores:
    """Scores of one encoding; None where a score is undefined.

    Attributes
    ----------
    name : str
    n_dims : int or None
        Width d, where the scheme has one.
    stress_raw, stress_scaled, scale, stress_1 : float or None
        See `posgeom.scores.stress.Stress`.
    pearson, spearman : float or None
        Correlation of its distances with the corpus's over pairs of positions.
    violation_rate, tie_rate : float or None
        See `posgeom.scores.monotonicity.Monotonicity`; of the encoding's own distances.
    n_triples : int
    min_separation : float
    min_separation_pair : tuple of int
    effective_rank : float or None
    negative_mass : float or None
        Share of the spectrum of a bias that classical MDS had to leave out; None where that is not its form.
    sample : {"exact", "out", "in"}
        ``"exact"``: the encoding does not depend on the corpus. ``"out"``: it is fitted on one half of it, and its
        stress and correlation are those against the other half. ``"in"``: it is scored on what it is fitted to.
    intervals : dict of str to Interval
        By field, of the scores that rest on the corpus, where standard errors are to be had.
    """

    name: str
    n_dims: int | None
    stress_raw: float | None
    stress_scaled: float | None
    scale: float | None
    stress_1: float | None
    pearson: float | None
    spearman: float | None
    violation_rate: float | None
    tie_rate: float | None
    n_triples: int
    min_separation: float
    min_separation_pair: tuple[int, int]
    effective_rank: float | None
    negative_mass: float | None
    sample: Literal["exact", "out", "in"] = "exact"
    intervals: dict[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True)
class Scorecard:
    """Scores of several encodings against one geometry.

    A lower stress is a more faithful geometry, not a better model.

    Attributes
    ----------
    rows : tuple of EncodingScores
    estimator : str
        Of the distances that were scored against.
    n_positions_used : int
    level : float or None
        Of the intervals; None where there are none.
    method : str or None
        ``"jackknife"`` or ``"bootstrap"``.
    n_blocks : int
        Blocks of folds that intervals rest on.
    ceiling : dict of str to float or None
        By field: what the distances of one half of the corpus score against the other half.
    ceiling_intervals : dict of str to Interval
    replicates : Replicates or None
        What intervals and differences are made of.
    """

    rows: tuple[EncodingScores, ...]
    estimator: str
    n_positions_used: int
    level: float | None = None
    method: str | None = None
    n_blocks: int = 0
    ceiling: dict[str, float | None] = field(default_factory=dict)
    ceiling_intervals: dict[str, Interval] = field(default_factory=dict)
    replicates: Replicates | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Scorecard: {len(self)} encodings, {self.estimator}, {self.n_positions_used:,} positions>"

    def _repr_html_(self) -> str:
        keys = (
            "name",
            "n_dims",
            "stress_scaled",
            "stress_raw",
            "pearson",
            "spearman",
            "violation_rate",
            "effective_rank",
        )
        caption = f"{self.estimator} distances, {self.n_positions_used:,} positions; lower stress: more faithful"
        headings = [key.replace("_", " ") for key in keys]
        return html_table(caption, headings, [[getattr(row, key) for key in keys] for row in self])

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

    def difference(self, first: str, second: str, score: str = "stress_scaled") -> Difference:
        """Compare two encodings by one score, with a paired interval; by the jackknife, whatever the method.

        Parameters
        ----------
        first, second : str
            Names.
        score : str
            One of the fields that have intervals, such as ``"stress_scaled"`` or ``"pearson"``.

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
        return difference(scored[0], scored[1], score, self.level or DEFAULT_LEVEL)

    def scored(self, name: str, score: str, run: str = "", parts: bytes = b"") -> Scored:
        """One score of one encoding, with what its standard error is made of; see `Scored`."""
        leaving = None
        if self.replicates is not None:
            index = [row.name for row in self.rows].index(self[name].name)
            leaving = column_of(self.replicates.leaving[index], FIELDS.index(score))
        return Scored(run, name, getattr(self[name], score), leaving, parts)


def scorecard(
    encodings: Sequence[Encoding] | Encoding,
    geometry: Geometry,
    *,
    level: float | None = DEFAULT_LEVEL,
    method: Method = "jackknife",
    progress: ProgressHook = silent,
) -> Scorecard:
    """Score encodings against a geometry, all over the same positions.

    Parameters
    ----------
    encodings : sequence of Encoding, or one
    geometry : Geometry
    level : float, optional
        Of the intervals, between 0 and 1; None leaves them out. There are none for plug-in distances, whose bias an
        interval would not cover, and none where fewer than four folds hold documents, or six for what is fitted.
    method : {"jackknife", "bootstrap"}
        Student's intervals by what each pair of blocks changes; or as far as scores under random weights on blocks lie
        from their mean, in units of the same error.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Scorecard

    Raises
    ------
    GeometryError
        When `level` is not between 0 and 1, or `method` is unknown.
    """
    if level is not None and not 0 < level < 1:
        raise GeometryError(f"level {level!r}: expected a number between 0 and 1, such as 0.95")
    if method not in ("jackknife", "bootstrap"):
        raise GeometryError(f"method {method!r}: expected jackknife or bootstrap")
    if isinstance(encodings, Encoding):
        encodings = [encodings]
    rows = []
    for done, encoding in enumerate(encodings):
        progress("scoring", done, len(encodings))
        rows.append(_against_all(encoding, geometry))
    progress("scoring", len(encodings), len(encodings))
    card = Scorecard(tuple(rows), geometry.estimator, int(geometry.positions.size))
    if not has_blocks(geometry):
        return card
    errors = level is not None and geometry.noise is not None
    replicates = replicate_scores(
        encodings, geometry, errors=errors, bootstrap=errors and method == "bootstrap", progress=progress
    )
    for k, encoding in enumerate(encodings):
        values: dict[str, Any] = {
            "sample": "out" if encoding.is_fitted_to(geometry) else "exact",
            "intervals": replicates.intervals(k, level) if errors and level is not None else {},
        }
        rows[k] = replace(rows[k], **values | _by_field(replicates.leaving[k].full))
    ceiling = replicates.ceiling
    card = replace(card, rows=tuple(rows), ceiling=_by_field(ceiling.full), n_blocks=ceiling.n_blocks)
    if not errors or level is None:
        return card
    intervals = named(ceiling.intervals(level))
    return replace(card, level=level, method=method, ceiling_intervals=intervals, replicates=replicates)


def _by_field(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Values by name; None where undefined."""
    return {name: float(v) if np.isfinite(v) else None for name, v in zip(FIELDS, values, strict=True)}


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


def _against_all(encoding: Encoding, geometry: Geometry) -> EncodingScores:
    """Every score of one encoding against the whole corpus, fitted or not."""
    distances, target = paired_distances(encoding, geometry)
    positions = target.positions
    pairs = upper_pairs(distances)
    stress = stress_against(pairs, target)
    order = monotonicity(distances, positions)
    closest = minimum_separation(distances, positions)
    return EncodingScores(
        name=encoding.name,
        n_dims=encoding.n_dims,
        stress_raw=stress.raw,
        stress_scaled=stress.scaled,
        scale=stress.scale,
        stress_1=stress.stress_1,
        pearson=pearson_against(pairs, target),
        spearman=spearman(pairs, target.pairs),
        violation_rate=order.violation_rate,
        tie_rate=order.tie_rate,
        n_triples=order.triples,
        min_separation=closest.distance,
        min_separation_pair=closest.pair,
        effective_rank=encoding_effective_rank(encoding, distances, positions),
        negative_mass=encoding.negative_mass,
        sample="in" if encoding.is_fitted_to(geometry) else "exact",
    )
