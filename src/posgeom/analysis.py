"""The main job in one call: from a corpus to a scored geometry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.documents import ReadOptions
from posgeom.counts.bins import Bins, make_bins
from posgeom.counts.counting import DEFAULT_N_FOLDS, DEFAULT_N_POSITIONS, Engine, count
from posgeom.counts.null_corpora import NullKind
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding
from posgeom.encodings.checks import check_width
from posgeom.encodings.learned import learned
from posgeom.encodings.registry import build_encoding, check_spec
from posgeom.errors import EncodingError, PosgeomError
from posgeom.estimation.build import EmptyPolicy, Estimator, Geometry, geometry
from posgeom.inference.depth_curve import depth_curve
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.inference.null_corpora import order_beyond_lengths
from posgeom.inference.order import corpus_order
from posgeom.inference.scorecard import scorecard
from posgeom.inference.significance import significance
from posgeom.notes import notes_on
from posgeom.policies import LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.results import Analysis, Convention
from posgeom.tokenize.tokenizer_files import TokenizerSpec

EncodingLike = str | Encoding | NDArray[Any] | Callable[..., Any]

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


def analyze(
    corpus: str | Path | Sequence[str | Path] | PositionCounts,
    tokenizer: TokenizerSpec | None = None,
    *,
    n_positions: int | None = None,
    n_dims: int = DEFAULT_N_DIMS,
    encodings: Sequence[EncodingLike] = (),
    default_encodings: bool = True,
    ranks: Sequence[int] | None = None,
    convention: Convention = "sound",
    estimator: Estimator | None = None,
    empty: EmptyPolicy | None = None,
    min_depth: int | None = None,
    metric: str = "hellinger",
    n_folds: int | None = None,
    min_length: int | None = None,
    bins: str | Sequence[int] | Bins | None = None,
    level: float | None = LEVEL,
    null_replicates: int | None = None,
    null_kind: NullKind | None = None,
    column: str | int | None = None,
    fold_by: str | int | None = None,
    options: ReadOptions | None = None,
    tokenizer_engine: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    scheduler: str | None = None,
    run_dir: str | Path | None = None,
    partition_size: int | str | None = None,
    recount_changed: bool = False,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> Analysis:
    """Count a corpus, estimate the geometry of its positions, and score encodings against it.

    Parameters
    ----------
    corpus : str, Path, sequence of these, or PositionCounts
        Files, globs, directories, ``"-"``, or counts made before.
    tokenizer, n_positions, n_folds, min_length, column, fold_by, options, tokenizer_engine, workers
    engine, scheduler, run_dir, partition_size, recount_changed
        See `count`, whose defaults they have. Fixed when counts were made, and refused with them.
    n_dims : int
        Width d of the schemes that have one.
    encodings : sequence of str, Encoding, ndarray or callable
        Specs (see `build_encoding`), encodings of your own, matrices with one row per position, or functions and
        classes as `register` takes them; scored beside the default ones.
    default_encodings : bool
        Whether to score the default encodings.
    ranks : sequence of int, optional
        Ranks of MDS to score beside the full one. By default 1, 2, 3, 8, 16 and 32, as far as there are axes.
    convention : {"sound", "paper"}
        Where the next three come from when they are not given: cross-validated with masked positions, or the
        paper's plug-in estimate with empty positions uniform and no minimum depth.
    estimator, empty, min_depth, metric
        See `geometry`.
    bins : str, sequence of int, or Bins, optional
        Bins of positions to add counts up over before anything else, as in ``"uniform:32"``; see
        `PositionCounts.binned`. An encoding is scored at the centres of the bins.
    level : float, optional
        Of the intervals, between 0 and 1; None leaves out intervals and the depth curve.
    null_replicates : int, optional
        Null corpora to count in the same pass, which tell whether order matters beyond the lengths of documents. None
        by default; three at least are needed, and five support no p-value below about .001.
    null_kind : {"rotate", "permute"}, optional
        How null corpora are made; see `posgeom.inference.null_corpora`.
    seed : int
        Splits, null corpora, and whatever encodings draw.
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
    length = DEFAULT_N_POSITIONS if n_positions is None else n_positions
    if bins is not None and not isinstance(corpus, PositionCounts):
        make_bins(bins, length)  # refused before the corpus is read
    _check_items(encodings, corpus.n_positions if isinstance(corpus, PositionCounts) else length, n_dims)
    if isinstance(corpus, PositionCounts):
        fixed = {"tokenizer": tokenizer, "n_positions": n_positions, "n_folds": n_folds, "column": column}
        fixed |= {
            "min_length": min_length,
            "fold_by": fold_by,
            "options": options,
            "tokenizer_engine": tokenizer_engine,
            "workers": workers,
        }
        fixed |= {"engine": engine, "scheduler": scheduler, "run_dir": run_dir, "partition_size": partition_size}
        fixed |= {"recount_changed": recount_changed or None, "null_replicates": null_replicates}
        fixed |= {"null_kind": null_kind}
        for name, value in fixed.items():
            if value is not None:
                raise PosgeomError(f"{name} was fixed when the counts were made: leave it out, or count again")
        counts = corpus
    else:
        counts = count(
            corpus,
            tokenizer,
            n_positions=length,
            n_folds=DEFAULT_N_FOLDS if n_folds is None else n_folds,
            min_length=min_length,
            column=column,
            fold_by=fold_by,
            options=options,
            tokenizer_engine="auto" if tokenizer_engine is None else tokenizer_engine,
            workers=workers,
            engine=engine or "local",
            scheduler=scheduler,
            run_dir=run_dir,
            partition_size=partition_size,
            recount_changed=recount_changed,
            null_replicates=null_replicates or 0,
            null_kind=null_kind or "rotate",
            seed=seed,
            progress=progress,
        )
    if bins is not None:
        counts = counts.binned(bins)
    given = {"estimator": estimator, "empty": empty, "min_depth": min_depth}
    policy = dict(CONVENTIONS[convention]) | {key: value for key, value in given.items() if value is not None}
    shape = geometry(counts, metric=metric, seed=seed, progress=progress, **policy)
    specs: list[str | Callable[..., Any]] = list(_default_specs(shape, n_dims, ranks)) if default_encodings else []
    specs += [item for item in encodings if isinstance(item, str)]
    specs += [item for item in encodings if _is_builder(item)]
    chosen = [
        build_encoding(spec, n_positions=counts.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
        for spec in dict.fromkeys(specs)
    ]
    for i, item in enumerate(encodings):
        if isinstance(item, Encoding):
            chosen.append(item)
        elif isinstance(item, np.ndarray):
            chosen.append(learned(item, n_positions=counts.n_positions, name=f"encodings[{i}]"))
    if not chosen:
        raise EncodingError("no encoding to score: name one with --encoding, or keep the default ones")
    tested = significance(shape, progress=progress)
    card = scorecard(chosen, shape, level=level, progress=progress)
    curve = None if level is None else depth_curve(counts, shape, progress=progress)
    analysis = Analysis(
        counts,
        shape,
        tuple(chosen),
        card,
        convention,
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
    return replace(analysis, notes=notes_on(analysis, default_encodings=default_encodings))


def _default_specs(shape: Geometry, n_dims: int, ranks: Sequence[int] | None) -> list[str]:
    specs = [s for s in DEFAULT_ENCODINGS if n_dims % 2 == 0 or not s.startswith("rope")]
    axes = min(shape.spectrum.n_positive, n_dims)
    wanted = [r for r in DEFAULT_RANKS if r < axes] if ranks is None else list(ranks)
    return specs + [f"mds:rank={r}" for r in wanted]


def _is_builder(item: object) -> TypeGuard[Callable[..., Any]]:
    """Whether an item is a function or class that builds an encoding."""
    return callable(item) and not isinstance(item, Encoding)


def _check_items(encodings: Sequence[EncodingLike], n_positions: int, n_dims: int) -> None:
    """Refuse what cannot be scored before the corpus is read."""
    if isinstance(encodings, str | Encoding | np.ndarray) or _is_builder(encodings):
        raise EncodingError(f"got {type(encodings).__name__} for encodings: expected a list, as in [{encodings!r:.40}]")
    for item in encodings:
        if not (isinstance(item, str | Encoding | np.ndarray) or _is_builder(item)):
            raise EncodingError(
                f"got {type(item).__name__} among encodings: expected specs, Encodings, arrays or functions"
            )
        if (
            isinstance(item, str) or _is_builder(item)
        ) and n_positions > 1:  # a shorter context is refused by the counting
            check_spec(item, n_positions=n_positions, n_dims=n_dims)
