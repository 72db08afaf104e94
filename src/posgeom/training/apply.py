"""Encodings put into models of transformers: written into the table that the model has, recorded, and taken back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from posgeom.encodings.catalog import plain
from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError, EncodingError
from posgeom.messages import one_line, shown
from posgeom.models.checkpoint import open_checkpoint
from posgeom.training.low_rank import is_low_rank, load_factors, make_full, make_low_rank
from posgeom.training.places import Place, place_of
from posgeom.training.rows import EncodingRows, as_encoding, factors_of, rms_norm, rows_of, scaled_to

NONE = "none"
"""The encoding that is no encoding: a zero table that stays frozen."""
_KEY, _HANDLE = "posgeom", "_posgeom_applied"


@dataclass(frozen=True, eq=False)
class Applied:
    """An encoding in a model.

    Attributes
    ----------
    place : Place
        The model's table: ``place.parameter`` is its name, ``place.first_row`` its row of position 0. Rows before that,
        of padding or of class tokens, keep what they had.
    record : dict
        What ``config.posgeom`` says: the encoding's spec, scheme and options, how it was fitted to a corpus if it was,
        n_positions, n_dims, rank, trainable, row_norm (root mean square of the rows' norms as put in), n_parameters
        (numbers that positions have: n d, or r (n + d)), stack.
    """

    place: Place
    record: dict[str, Any]
    _former: Tensor | None
    _former_record: dict[str, Any] | None = None
    _former_trainable: bool = True

    def __repr__(self) -> str:
        rank = "" if self.record["rank"] is None else f", rank {self.record['rank']}"
        positions = f"{self.record['n_positions']} positions"
        return f"<Applied {self.record['encoding']}{rank}: {self.place.parameter}, {positions}>"


def apply_encoding(
    model: nn.Module,
    encoding: EncodingRows | str | Path,
    *,
    trainable: bool = True,
    match_norm: bool = True,
    rank: int | None = None,
    stack: str | None = None,
    seed: int = 0,
) -> Applied:
    """Put an encoding into a model of transformers, in place of the table of positions that it has.

    Row i of the encoding goes to position i: after the padding rows of RoBERTa and OPT, and to patch i of a ViT. Rows
    that no position has keep what they had. What is changed is the table's values, under its own name, so that
    ``save_pretrained`` and ``from_pretrained`` work as ever; ``config.posgeom`` records it. An encoding applied before
    is taken back first.

    Parameters
    ----------
    model : PreTrainedModel
        One whose family has a table of positions: BERT, DistilBERT, ELECTRA, RoBERTa, XLM-R, MPNet, ALBERT, GPT-2,
        GPT-Neo, OPT, BART, ViT, DeiT, DINOv2, CLIP, SigLIP, ...
    encoding : Encoding, array or tensor of shape (n, d), str or Path
        With the model's width, and at least its positions. A spec or file as `posgeom.build_encoding` takes it is
        built for the model. ``"none"`` is no encoding at all: a zero table that stays frozen, whatever `trainable`.
    trainable : bool
        Whether the table is learned from there on. False freezes the whole parameter.
    match_norm : bool
        Scale the encoding, by one factor, to the root mean square of the row norms of the table that it replaces, so
        that tokens keep their weight against positions. A zero encoding stays zero.
    rank : int, optional
        Make the table a product A W^T of this rank, learned or frozen as such (Remark 8 of the paper). By default the
        table is full.
    stack : str, optional
        Such as encoder, decoder, text, vision. By default the model's first.
    seed : int
        Of specs that draw.

    Returns
    -------
    Applied

    Raises
    ------
    CheckpointError
        When the model's family is not known, or has no such table.
    EncodingError
        When the encoding has no vectors, another width, or fewer positions than the model.
    """
    place = place_of(model, stack)
    rows, width = place.table(model).shape
    n = rows - place.first_row
    is_none = isinstance(encoding, str) and encoding == NONE
    if isinstance(encoding, str | Path):
        built = build_encoding("nope" if is_none else str(encoding), n_positions=n, n_dims=width, seed=seed)
    else:
        built = as_encoding(encoding)
    points = rows_of(built, n)
    if points.shape[1] != width:
        raise EncodingError(
            f"encoding {built.name} has width d = {points.shape[1]}, the model's table has {width}: build it with "
            f"n_dims = {width}"
        )
    if rank is not None:
        coordinates, axes = factors_of(points, rank)
        points = coordinates @ axes.T
    before: Applied | None = getattr(model, _HANDLE, None)
    if match_norm and points.any():
        former = place.table(model).detach()
        if before is not None and before._former is not None and before.place == place:
            former = before._former.reshape(former.shape)
        own = rms_norm(former[place.first_row :].double().cpu().numpy())
        if own == 0:
            raise EncodingError("the model's table is zero, which nothing can be scaled to: say match_norm=False")
        points = scaled_to(points, own, built.name)
    if before is not None and before._former is not None:
        remove_encoding(model)
    elif before is not None and is_low_rank(model, place):
        make_full(model, place)  # of a loaded model, whose former table is not known, the values stay
    learns = trainable and not is_none
    table: nn.Parameter = getattr(place.owner(model), place.attribute)
    applied = Applied(
        place,
        {
            "encoding": built.name,
            "scheme": built.scheme,
            "options": {key: plain(value) for key, value in built.options.items()},
            "fit": dict(built.fit) or None,
            "n_positions": n,
            "n_dims": width,
            "rank": rank,
            "trainable": learns,
            "row_norm": rms_norm(points),
            "n_parameters": n * width if rank is None else rank * (n + width),
            "stack": stack,
        },
        table.detach().clone(),
        getattr(model.config, _KEY, None),
        table.requires_grad,
    )
    with torch.no_grad():
        table[..., place.first_row :, :] = torch.as_tensor(points, dtype=torch.float64).to(table)
    table.requires_grad_(learns)
    if rank is not None:
        make_low_rank(model, place, rank)
    model.config.posgeom = applied.record
    setattr(model, _HANDLE, applied)
    return applied


def remove_encoding(model: nn.Module) -> None:
    """Give a model the table back that it had before `apply_encoding`, exactly.

    Parameters
    ----------
    model : PreTrainedModel

    Raises
    ------
    CheckpointError
        When no encoding was applied to it, or it was loaded with one: a checkpoint does not keep the former table.
    """
    applied: Applied | None = getattr(model, _HANDLE, None)
    if applied is None:
        raise CheckpointError(f"{type(model).__name__} has no encoding that apply_encoding put into it here")
    if applied._former is None:
        raise CheckpointError(
            f"{type(model).__name__} was loaded with its encoding, and a checkpoint does not keep the table before it: "
            "load the model that it was made from"
        )
    if is_low_rank(model, applied.place):
        make_full(model, applied.place)
    table: nn.Parameter = getattr(applied.place.owner(model), applied.place.attribute)
    with torch.no_grad():
        table.copy_(applied._former)
    table.requires_grad_(applied._former_trainable)
    delattr(model, _HANDLE)
    if applied._former_record is None:
        delattr(model.config, _KEY)
    else:
        model.config.posgeom = applied._former_record


def position_table(model: nn.Module, stack: str | None = None) -> Tensor:
    """The vectors that a model of transformers has for positions 0 to n - 1 now, shape (n, d), without a copy.

    Parameters
    ----------
    model : PreTrainedModel
    stack : str, optional
        By default the first.

    Returns
    -------
    Tensor
        Part of the parameter, or of the product A W^T; gradients flow into it.

    Raises
    ------
    CheckpointError
        As `apply_encoding`.
    """
    place = place_of(model, stack)
    return place.table(model)[place.first_row :]


def from_pretrained(path: str | Path, model_class: Any = None, **options: Any) -> Any:
    """Load a model that was saved with an encoding in it, as it was: low-rank factors, and frozen where it was frozen.

    Plain ``from_pretrained`` of transformers loads the same numbers, as a full table that is learned on.

    Parameters
    ----------
    path : str or Path
        A directory that ``save_pretrained`` wrote, or a hub name.
    model_class : type, optional
        Such as ``BertForMaskedLM``. By default the class that was saved.
    **options
        Passed on to its ``from_pretrained``.

    Returns
    -------
    PreTrainedModel

    Raises
    ------
    CheckpointError
        When it cannot be loaded, or no encoding is recorded in its config.
    """
    import transformers

    try:
        if model_class is None:
            names = transformers.AutoConfig.from_pretrained(str(path)).architectures or ["AutoModel"]
            model_class = getattr(transformers, names[0], transformers.AutoModel)
        model = model_class.from_pretrained(str(path), **options)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{shown(path)} cannot be loaded by transformers: {one_line(error)}") from None
    record = getattr(model.config, _KEY, None)  # of a file that is not trusted
    if not isinstance(record, dict):
        raise CheckpointError(f"{shown(path)} has no encoding of posgeom in its config: load it with transformers")
    kinds: dict[str, Any] = {"rank": int | None, "trainable": bool, "stack": str | None, "encoding": str}
    for key, kind in kinds.items():
        if not isinstance(record.get(key, ...), kind):
            raise CheckpointError(
                f"{shown(path)}: its config has posgeom.{key} = {shown(record.get(key), 40)}: load it with transformers"
            )
    place = place_of(model, record["stack"])
    getattr(place.owner(model), place.attribute).requires_grad_(record["trainable"])
    if record["rank"] is not None:
        make_low_rank(model, place, record["rank"])
        load_factors(model, place, open_checkpoint(path))
    setattr(model, _HANDLE, Applied(place, record, None))
    return model
