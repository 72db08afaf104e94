"""The main job in one call: from a corpus to a scored geometry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from posgeom.corpus.counting import DEFAULT_N_FOLDS, DEFAULT_N_POSITIONS, count
from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.documents import ReadOptions
from posgeom.corpus.tokenizers import Tokenizer
from posgeom.encodings.base import Encoding
from posgeom.encodings.frequencies import check_width
from posgeom.encodings.registry import build_encoding
from posgeom.errors import EncodingError, PosgeomError
from posgeom.geometry.build import MAX_RANK_POSITIONS, EmptyPolicy, Estimator, Geometry, geometry
from posgeom.progress import ProgressHook, silent
from posgeom.scores.scorecard import Scorecard, scorecard

Convention = Literal["sound", "paper"]

DEFAULT_N_DIMS = 768
DEFAULT_RANKS = (1, 2, 3, 8, 16, 32)
DEFAULT_ENCODINGS = (
    "sinusoidal",
    "rope",
    "alibi",
    "random",
    "mds",
    "rope:reference=gaussian",
    "alibi:form=linear",
    "alibi:form=kernel",
)

CONVENTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sound": MappingProxyType({"estimator": None, "empty": "mask", "min_depth": None}),
        "paper": MappingProxyType({"estimator": "plugin", "empty": "uniform", "min_depth": 1}),
    }
)
"""Defaults of each convention: the sound ones, and those that give the paper's figures."""


@dataclass(frozen=True)
class Analysis:
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
        What a reader of the numbers should know.
    """

    counts: PositionCounts
    geometry: Geometry
    encodings: tuple[Encoding, ...]
    scorecard: Scorecard
    convention: Convention
    n_dims: int
    seed: int
    notes: tuple[str, ...] = field(default=())


def analyze(
    corpus: str | Path | Sequence[str | Path] | PositionCounts,
    tokenizer: str | Path | Tokenizer | None = None,
    *,
    n_positions: int = DEFAULT_N_POSITIONS,
    n_dims: int = DEFAULT_N_DIMS,
    encodings: Sequence[str | Encoding] = (),
    default_encodings: bool = True,
    ranks: Sequence[int] | None = None,
    convention: Convention = "sound",
    estimator: Estimator | None = None,
    empty: EmptyPolicy | None = None,
    min_depth: int | None = None,
    metric: str = "hellinger",
    n_folds: int = DEFAULT_N_FOLDS,
    column: str | None = None,
    group: str | None = None,
    options: ReadOptions | None = None,
    workers: int | None = None,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> Analysis:
    """Count a corpus, estimate the geometry of its positions, and score encodings against it.

    Parameters
    ----------
    corpus : str, Path, sequence of these, or PositionCounts
        Files, globs, directories, ``"-"``, or counts made before.
    tokenizer, n_positions, n_folds, column, group, options, workers
        See `count`; not used when counts are given.
    n_dims : int
        Width d of the schemes that have one.
    encodings : sequence of str or Encoding
        Specs (see `build_encoding`) or encodings of your own, scored beside the default ones.
    default_encodings : bool
        Whether to score the default encodings.
    ranks : sequence of int, optional
        Ranks of MDS to score beside the full one. By default 1, 2, 3, 8, 16 and 32, as far as there are axes.
    convention : {"sound", "paper"}
        Where the next three come from when they are not given: cross-validated with masked positions, or the
        paper's plug-in estimate with empty positions uniform and no minimum depth.
    estimator, empty, min_depth, metric
        See `geometry`.
    seed : int
        Splits, and whatever encodings draw.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Analysis

    Raises
    ------
    PosgeomError
        See `count`, `geometry` and `build_encoding`.
    """
    if convention not in CONVENTIONS:
        raise PosgeomError(f"convention {convention!r}: expected one of {', '.join(CONVENTIONS)}")
    check_width(n_dims)
    for item in [encodings] if isinstance(encodings, str) else encodings:
        if not isinstance(item, str | Encoding) or item is encodings:
            raise EncodingError(f"got {type(item).__name__} for encodings, expected a list of specs and Encodings")
    if isinstance(corpus, PositionCounts):
        counts = corpus
    else:
        counts = count(
            corpus,
            tokenizer,
            n_positions=n_positions,
            n_folds=n_folds,
            column=column,
            group=group,
            options=options,
            workers=workers,
            progress=progress,
        )
    given = {"estimator": estimator, "empty": empty, "min_depth": min_depth}
    policy = dict(CONVENTIONS[convention]) | {key: value for key, value in given.items() if value is not None}
    shape = geometry(counts, metric=metric, seed=seed, progress=progress, **policy)
    specs = list(_default_specs(shape, n_dims, ranks)) if default_encodings else []
    chosen = [
        item
        if isinstance(item, Encoding)
        else build_encoding(item, n_positions=counts.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
        for item in dict.fromkeys([*specs, *encodings])
    ]
    if not chosen:
        raise EncodingError("no encoding to score: name one, or keep the default ones")
    card = scorecard(chosen, shape, progress=progress)
    notes = _notes(shape, card, n_dims, default_encodings=default_encodings)
    return Analysis(counts, shape, tuple(chosen), card, convention, n_dims, seed, notes)


def _default_specs(shape: Geometry, n_dims: int, ranks: Sequence[int] | None) -> list[str]:
    specs = [s for s in DEFAULT_ENCODINGS if n_dims % 2 == 0 or not s.startswith("rope")]
    axes = min(shape.spectrum.n_positive, n_dims)
    wanted = [r for r in DEFAULT_RANKS if r < axes] if ranks is None else list(ranks)
    return specs + [f"mds:rank={r}" for r in wanted]


def _notes(shape: Geometry, card: Scorecard, n_dims: int, *, default_encodings: bool) -> tuple[str, ...]:
    notes = [
        (
            "Stress says how faithfully an encoding reproduces the geometry of the corpus. It is a diagnostic: a lower "
            "stress is not a better model."
        ),
    ]
    if any(row.name.startswith("mds") for row in card.rows):
        notes.append("mds is fitted to the distances it is scored on, so its scores are in-sample.")
    if shape.estimator == "plugin":
        notes.append(
            "Plug-in distances are biased upwards by sampling noise: part of this geometry, and of its rank, is noise."
        )
    if default_encodings and n_dims % 2:
        notes.append(f"rope is left out: it needs an even width, and d = {n_dims}.")
    if shape.rank is None:
        notes.append(
            f"The paper's rank is not computed: more than {MAX_RANK_POSITIONS:,} positions have data. The spectrum of "
            "the used ones is."
        )
    if shape.depth is not None and shape.depth < 100:
        notes.append(
            f"Each half of the corpus has only {shape.depth} sequences at the shallowest position: distances are "
            "imprecise. More text, or a higher --min-depth, would help."
        )
    return tuple(notes)
