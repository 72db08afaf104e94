"""The contract of a model family: where positions, queries and keys are in its checkpoints."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from posgeom.encodings.rotation import Pairing, Temperature
from posgeom.models.config import ModelConfig
from posgeom.models.query_key import Layout
from posgeom.models.relative_kinds import Disentangled, RelativeSines, WindowBias


@dataclass(frozen=True)
class PositionTable:
    """One vector per position, added to the embeddings of the tokens.

    Attributes
    ----------
    tensor : str
        Its name, without prefixes. Axes of length 1 are dropped.
    offset : int
        Rows before that of position 0. Decided by the architecture, never guessed from the shape.
    padding_row : int or None
        Row that padding tokens get.
    n_special : int
        Positions at the start that belong to no token or patch of the input, such as the class token of a ViT.
    grid : tuple of int or None
        Rows and columns of patches, where positions run over an image.
    fixed : bool
        Whether its family says that it holds sines and cosines, which is checked when it is read.
    initial_std : float or None
        Standard deviation it is initialised with; None where it is not drawn from a Gaussian.
    projection : str or None
        Name of the linear map, without ``.weight``, from its width to the model's, where they differ.
    formula : Sinusoids or None
        What its model computes where the checkpoint does not hold it.
    n_rows, width : int or None
        What the config says of its shape: other rows are noted, another width is an error.
    """

    tensor: str
    offset: int = 0
    padding_row: int | None = None
    n_special: int = 0
    grid: tuple[int, int] | None = None
    fixed: bool = False
    initial_std: float | None = None
    projection: str | None = None
    formula: "Sinusoids | None" = None
    n_rows: int | None = None
    width: int | None = None

    @property
    def kind(self) -> str:
        """Name of the scheme."""
        return "sinusoidal" if self.fixed else "learned"

    @property
    def n_positions(self) -> int | None:
        """Positions by the config, special ones included; None where it does not say."""
        if self.grid is not None:
            return self.n_special + self.grid[0] * self.grid[1]
        return None if self.n_rows is None else self.n_rows - self.offset


@dataclass(frozen=True)
class Rotary:
    """Rotations of queries and keys.

    Attributes
    ----------
    config : mapping
        As `posgeom.rope_from_config` takes it.
    pairing : {"interleaved", "halves"} or None
        By default that of the config's ``model_type``.
    layer_type : str or None
        Which of the config's, where layers differ.
    """

    config: Mapping[str, Any]
    pairing: Pairing | None = None
    layer_type: str | None = None
    kind = "rotary"


@dataclass(frozen=True)
class Sinusoids:
    """Sines and cosines that no checkpoint holds.

    Attributes
    ----------
    width : int
    options : mapping
        Of `posgeom.encodings.sinusoidal.sinusoidal`.
    """

    width: int
    options: Mapping[str, Any]
    kind = "sinusoidal"


@dataclass(frozen=True)
class Alibi:
    """A bias that falls linearly with the lag.

    Attributes
    ----------
    n_heads : int
    max_bias : float
    causal : bool
    scale : float
        What the bias is multiplied by before it is added to logits.
    """

    n_heads: int
    max_bias: float = 8.0
    causal: bool = True
    scale: float = 1.0
    kind = "alibi"


@dataclass(frozen=True)
class T5Bias:
    """A learned bias by buckets of the lag.

    Attributes
    ----------
    tensor : str
        Its name, without prefixes, with ``{layer}`` where each layer has one; shape (buckets, heads).
    n_layers : int or None
        Layers that have one.
    n_buckets, n_heads : int or None
        Its shape by the config, for where there are no weights.
    max_distance : int
    causal : bool
    """

    tensor: str
    max_distance: int = 128
    causal: bool = False
    n_layers: int | None = None
    n_buckets: int | None = None
    n_heads: int | None = None
    kind = "t5"


@dataclass(frozen=True)
class NoPositions:
    """No encoding of position at all; queries may be multiplied by a factor that grows with the position."""

    temperature: Temperature | None = None
    layer_type: str | None = None
    kind = "none"


LearnedBias = T5Bias | WindowBias | Disentangled | RelativeSines
"""Schemes whose numbers are learned and added to logits."""
PositionScheme = PositionTable | Rotary | Sinusoids | Alibi | LearnedBias | NoPositions
Norm = Literal["rms", "layer", "none"]


@dataclass(frozen=True)
class Embedding:
    """How a token's embedding becomes the input of a layer's queries and keys.

    Attributes
    ----------
    tensor : str
        The token embeddings, without prefixes.
    norm : str
        Pattern of the norm before the attention of layer ``{layer}``, without ``.weight``.
    kind : {"rms", "layer", "none"}
        Whether that norm subtracts the mean, or there is none.
    epsilon : float
    """

    tensor: str
    norm: str
    kind: Norm
    epsilon: float


@dataclass(frozen=True)
class Stack:
    """Layers with positions of their own: an encoder, a decoder, or the whole model.

    Attributes
    ----------
    name : str
    positions : PositionScheme
    n_layers : int
        Layers with weights of their own.
    width : int
        Width d that queries and keys are made from.
    n_heads, n_key_heads : int
    head_dim : int
    layout : Layout or None
        None where only positions are known.
    also : tuple of PositionScheme
        Further schemes that act beside the first.
    n_uses : int or None
        How often the layers are used, where they share weights.
    n_positions : int or None
        Context length of the config, where there is no table to count.
    causal : bool
    initial_std : tuple of float
        Standard deviations that the weights of queries and of keys are initialised with.
    embedding : Embedding or None
        For the kernel of rotary models.
    """

    name: str
    positions: PositionScheme
    n_layers: int
    width: int
    n_heads: int
    n_key_heads: int
    head_dim: int
    layout: Layout | None
    initial_std: tuple[float, float]
    also: tuple[PositionScheme, ...] = ()
    n_uses: int | None = None
    n_positions: int | None = None
    causal: bool = False
    embedding: Embedding | None = None


class Family(ABC):
    """A model family.

    Attributes
    ----------
    model_types : tuple of str
        ``model_type`` of its configs.
    prefixes : frozenset of str
        Parts that may stand before a tensor's name, beside those that wrapping adds.
    """

    model_types: tuple[str, ...] = ()
    prefixes: frozenset[str] = frozenset()

    @abstractmethod
    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """The stacks of a model.

        Parameters
        ----------
        config : ModelConfig

        Returns
        -------
        tuple of Stack
            The one that matters most first.

        Raises
        ------
        CheckpointError
            When the config lacks what it takes, or describes a variant that is not supported.
        """
