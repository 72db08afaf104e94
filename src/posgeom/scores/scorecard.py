"""The scorecard: every score of every encoding against one geometry."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from posgeom.encodings.base import Encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.html_table import html_table
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson, spearman
from posgeom.scores.effective_rank import encoding_effective_rank
from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.separation import minimum_separation
from posgeom.scores.stress import paired_distances, stress_of_pairs


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
    """

    rows: tuple[EncodingScores, ...]
    estimator: str
    n_positions_used: int

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


def scorecard(
    encodings: Sequence[Encoding] | Encoding, geometry: Geometry, *, progress: ProgressHook = silent
) -> Scorecard:
    """Score encodings against a geometry, all over the same positions.

    Parameters
    ----------
    encodings : sequence of Encoding, or one
    geometry : Geometry
    progress : callable
        Called as ``progress("scoring", encodings_done, n_encodings)``.

    Returns
    -------
    Scorecard
    """
    if isinstance(encodings, Encoding):
        encodings = [encodings]
    rows = []
    for done, encoding in enumerate(encodings):
        progress("scoring", done, len(encodings))
        rows.append(score(encoding, geometry))
    progress("scoring", len(encodings), len(encodings))
    return Scorecard(tuple(rows), geometry.estimator, int(geometry.positions.size))


def score(encoding: Encoding, geometry: Geometry) -> EncodingScores:
    """Every score of one encoding.

    Parameters
    ----------
    encoding : Encoding
    geometry : Geometry

    Returns
    -------
    EncodingScores
    """
    distances, target = paired_distances(encoding, geometry)
    positions = target.positions
    pairs, target_pairs = upper_pairs(distances), target.pairs
    stress = stress_of_pairs(pairs, target_pairs)
    order = monotonicity(distances, positions)
    closest = minimum_separation(distances, positions)
    return EncodingScores(
        name=encoding.name,
        n_dims=encoding.n_dims,
        stress_raw=stress.raw,
        stress_scaled=stress.scaled,
        scale=stress.scale,
        stress_1=stress.stress_1,
        pearson=pearson(pairs, target_pairs),
        spearman=spearman(pairs, target_pairs),
        violation_rate=order.violation_rate,
        tie_rate=order.tie_rate,
        n_triples=order.triples,
        min_separation=closest.distance,
        min_separation_pair=closest.pair,
        effective_rank=encoding_effective_rank(encoding, distances, positions),
        negative_mass=encoding.negative_mass,
    )
