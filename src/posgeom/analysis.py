"""The main job in one call: from a corpus to a scored geometry."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard, Unpack, cast

from posgeom.arrays import is_array
from posgeom.counts.bins import make_bins
from posgeom.counts.context_length import LONGEST
from posgeom.counts.counting import count
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding
from posgeom.encodings.checks import check_width
from posgeom.encodings.given import items_of, renamed
from posgeom.encodings.learned import learned
from posgeom.encodings.registry import build_encoding, check_spec
from posgeom.errors import EncodingError, PosgeomError
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.leading_axes import LeadingAxes, leading_axes
from posgeom.inference.depth_curve import depth_curve
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.inference.null_corpora import order_beyond_lengths
from posgeom.inference.order import corpus_order
from posgeom.inference.scorecard import scorecard
from posgeom.inference.significance import significance
from posgeom.keywords import takes
from posgeom.notes import notes_on
from posgeom.options import (
    DEFAULT_N_POSITIONS,
    DEFAULT_RANKS,
    FIXED_BY_COUNTING,
    AnalyzeOptions,
    CountOptions,
    GeometryOptions,
    among,
    with_defaults,
)
from posgeom.progress import ProgressHook, silent
from posgeom.results import Analysis
from posgeom.tokenize.tokenizer_files import TokenizerSpec

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


@takes(AnalyzeOptions)
def analyze(
    corpus: str | Path | Iterable[Any] | PositionCounts,
    tokenizer: TokenizerSpec | None = None,
    *,
    progress: ProgressHook = silent,
    **options: Unpack[AnalyzeOptions],
) -> Analysis:
    """Count a corpus, estimate the geometry of its positions, and score encodings against it.

    Parameters
    ----------
    corpus : str, Path, list of these, column, table or PositionCounts
        What `count` takes, or counts made before, as `count_texts` makes them of a list of documents.
    tokenizer : str, Path, Tokenizer or object, optional
        See `count`. Like all that `count` takes but the seed, it is fixed when counts were made, and refused with them.
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
    chosen = with_defaults(options, AnalyzeOptions)
    n_dims, encodings, seed, level = chosen["n_dims"], chosen["encodings"], chosen["seed"], chosen["level"]
    _policy(options)
    check_width(n_dims)
    stored = corpus if isinstance(corpus, PositionCounts) else None
    length = chosen["n_positions"] if stored is None else stored.n_positions
    if stored is None and chosen["bins"] is not None and (length is not None or isinstance(chosen["bins"], str)):
        make_bins(chosen["bins"], LONGEST if length is None else length)  # refused before the corpus is read
    _check_items(encodings, DEFAULT_N_POSITIONS if length is None else length, n_dims)
    counts = counts_of(corpus, tokenizer, options, progress)
    shape = geometry_by(options, counts, seed=seed, progress=progress)
    specs: list[str | Callable[..., Any]] = []
    if chosen["default_encodings"]:
        specs += _default_specs(shape, n_dims, chosen["ranks"])
    items = items_of(encodings)
    specs += [item for name, item in items if name is None and isinstance(item, str)]
    specs += [item for name, item in items if name is None and _is_builder(item)]
    scored = [
        build_encoding(spec, n_positions=counts.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
        for spec in dict.fromkeys(specs)
    ]
    for place, (name, item) in enumerate(items):
        if isinstance(item, Encoding):
            one = item
        elif is_array(item):
            one = learned(item, n_positions=counts.n_positions, name=name or f"encodings[{place}]")
        elif name is None:
            continue
        else:
            one = build_encoding(item, n_positions=counts.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
        scored.append(one if name is None else renamed(one, name))
    if not scored:
        raise EncodingError("no encoding to score: name one with --encoding, or keep the default ones")
    tested = significance(shape, progress=progress)
    card = scorecard(scored, shape, level=level, progress=progress)
    curve = None if level is None else depth_curve(counts, shape, progress=progress)
    analysis = Analysis(
        counts,
        shape,
        tuple(scored),
        card,
        chosen["convention"],
        n_dims,
        seed,
        notes=(),
        level=level,
        mean_squared=mean_squared_distance(shape),
        noise_share=noise_share(counts, shape, errors=level is not None),
        significance=tested,
        beyond_lengths=order_beyond_lengths(counts, shape, progress=progress),
        depth_curve=curve,
        order=corpus_order(shape, tested),
    )
    return replace(analysis, notes=notes_on(analysis, default_encodings=chosen["default_encodings"]))


def counts_of(
    corpus: str | Path | Iterable[Any] | PositionCounts,
    tokenizer: TokenizerSpec | None,
    options: Mapping[str, Any],
    progress: ProgressHook,
) -> PositionCounts:
    """A corpus counted, or counts made before, with which nothing that counting fixed may be given; in bins, if any."""
    if isinstance(corpus, PositionCounts):
        for name, value in {"tokenizer": tokenizer, **options}.items():
            if name in FIXED_BY_COUNTING | {"tokenizer"} and value not in (None, False):
                raise PosgeomError(f"{name} was fixed when the counts were made: leave it out, or count again")
        counts = corpus
    else:
        counts = count(corpus, tokenizer, progress=progress, **cast("CountOptions", among(options, CountOptions)))
    bins = options.get("bins")
    return counts if bins is None else counts.binned(bins)


def geometry_by(
    options: Mapping[str, Any], counts: PositionCounts, *, seed: int, progress: ProgressHook = silent
) -> Geometry:
    """The geometry of counts, by a convention and what was chosen beside it."""
    return geometry(counts, seed=seed, progress=progress, **_policy(options))


def axes_by(
    options: Mapping[str, Any],
    counts: PositionCounts,
    n_axes: int,
    *,
    seed: int,
    memory: int | None = None,
    device: str | None = None,
    progress: ProgressHook = silent,
) -> LeadingAxes:
    """The leading axes of counts, by a convention and what was chosen beside it."""
    return leading_axes(counts, n_axes, seed=seed, memory=memory, device=device, progress=progress, **_policy(options))


def _policy(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = with_defaults(options, GeometryOptions)
    convention = chosen["convention"]
    if convention not in CONVENTIONS:
        raise PosgeomError(f"convention {convention!r}: expected one of {', '.join(CONVENTIONS)}")
    given = {name: chosen[name] for name in CONVENTIONS[convention] if chosen[name] is not None}
    return {"metric": chosen["metric"], "positions": chosen["positions"], **CONVENTIONS[convention], **given}


def _default_specs(shape: Geometry, n_dims: int, ranks: Sequence[int] | None) -> list[str]:
    specs = [s for s in DEFAULT_ENCODINGS if n_dims % 2 == 0 or not s.startswith("rope")]
    axes = min(shape.spectrum.n_positive, n_dims)
    wanted = [r for r in DEFAULT_RANKS if r < axes] if ranks is None else list(ranks)
    return specs + [f"mds:rank={r}" for r in wanted]


def _is_builder(item: object) -> TypeGuard[Callable[..., Any]]:
    """Whether an item is a function or class that builds an encoding."""
    return callable(item) and not isinstance(item, Encoding) and not is_array(item)


def _check_items(encodings: object, n_positions: int, n_dims: int) -> None:
    """Refuse what cannot be scored before the corpus is read."""
    if isinstance(encodings, str) or _is_builder(encodings):
        raise EncodingError(
            f"got {type(encodings).__name__} for encodings: expected a list, as in [{encodings!r:.40}], or a dict"
        )
    for _, item in items_of(encodings):
        if not (isinstance(item, str | Encoding) or is_array(item) or _is_builder(item)):
            raise EncodingError(
                f"got {type(item).__name__} among encodings: expected specs, Encodings, arrays or functions"
            )
        if (
            isinstance(item, str) or _is_builder(item)
        ) and n_positions > 1:  # a shorter context is refused by the counting
            check_spec(item, n_positions=n_positions, n_dims=n_dims)
