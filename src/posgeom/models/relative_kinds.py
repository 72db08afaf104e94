"""Positional schemes inside the attention: vectors of the lag that queries and keys meet, or a bias over a window."""

from dataclasses import dataclass
from math import sqrt

from posgeom.models.query_key import HeadShape, Layout


@dataclass(frozen=True)
class Words:
    """Token embeddings as the first layer gets them.

    Attributes
    ----------
    tensor : str
    norm : str or None
        Name of their norm, without ``.weight``.
    epsilon : float
    """

    tensor: str
    norm: str | None = None
    epsilon: float = 0.0


@dataclass(frozen=True)
class Disentangled:
    """DeBERTa: vectors of the bucket of i - j, projected as keys for the queries and as queries for the keys.

    Attributes
    ----------
    tensor : str
        The vectors, shape (2 n_buckets, width), used by all layers.
    n_buckets : int
    max_distance : int
        Of logarithmic buckets; 0: a bucket for each lag.
    norm : str or None
        Norm of the vectors, without ``.weight``.
    for_queries, for_keys : str or None
        Projections of the vectors that queries meet (c2p) and that keys meet (p2c), without ``.weight``.
    content : Layout
    heads : HeadShape
    words : Words
    convolution : int
        Width of a convolution over tokens after the first layer; 0: none.
    """

    tensor: str
    n_buckets: int
    max_distance: int
    norm: str | None
    for_queries: str | None
    for_keys: str | None
    content: Layout
    heads: HeadShape
    words: Words
    convolution: int = 0
    kind = "deberta"

    @property
    def scale(self) -> float:
        """What the sum of all products is multiplied by."""
        terms = 1 + (self.for_queries is not None) + (self.for_keys is not None)
        return 1 / sqrt(self.heads.head_dim * terms)


@dataclass(frozen=True)
class RelativeSines:
    """Transformer-XL and XLNet: queries with a bias of their own meet W_R r(i - j), r being sines and cosines.

    Attributes
    ----------
    projection : str
        W_R, stored width x heads x head_dim.
    shift : tuple of str
        The biases of the query before a vector of the lag and before a key.
    clamp : int or None
        Largest lag that is told apart.
    causal : bool
    content : Layout
    heads : HeadShape
    words : Words
    """

    projection: str
    shift: tuple[str, str]
    clamp: int | None
    causal: bool
    content: Layout
    heads: HeadShape
    words: Words
    kind = "transformer-xl"

    @property
    def scale(self) -> float:
        """What the sum of all products is multiplied by."""
        return 1 / sqrt(self.heads.head_dim)


@dataclass(frozen=True)
class WindowBias:
    """Swin: a number for each head and offset inside a square window, stored, or made by a network (Swin V2).

    Attributes
    ----------
    tensor : str
        The table, shape ((2 window - 1)^2, heads), or the network, without ``.0.weight``; with ``{layer}``.
    n_layers, window, n_heads : int
    reach : int or None
        Offset that the network takes for the largest; None where the table is stored.
    """

    tensor: str
    n_layers: int
    window: int
    n_heads: int
    reach: int | None = None
    kind = "swin"
