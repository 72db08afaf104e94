"""Rotations of channel pairs: what rotary schemes do to queries and keys, at any frequencies."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.frequencies import rotation_lag_distances
from posgeom.encodings.warping import warped
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

Pairing = Literal["interleaved", "halves"]
PAIRINGS: tuple[Pairing, Pairing] = ("interleaved", "halves")


@dataclass(frozen=True)
class Temperature:
    """What queries are multiplied by, beside any rotation: 1 + beta log(1 + floor((i + shift) / length)) (Llama 4)."""

    beta: float
    length: float
    shift: int = 0

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The factor of each position, shape (m,)."""
        return np.asarray(1 + self.beta * np.log1p(np.floor((positions + self.shift) / self.length)))


@dataclass(frozen=True, eq=False)
class Rotation:
    """The rotation of the k-th channel pair by omega_k (i + offset) at position i, times the attention factor.

    Attributes
    ----------
    inv_freq : ndarray of float, shape (r / 2,)
        omega_k in radians a position, after any scaling.
    n_dims : int
        Width of the vectors; channels from r on are left as they are.
    pairing : {"interleaved", "halves"} or None
        Channels of pair k: 2k and 2k + 1, or k and k + r / 2. None: not said, so no channel can be named.
    attention_factor : float
        Multiplies cosines and sines.
    offset : int
    decay : ndarray of float, optional, shape (r / 2,)
        Logarithm of what a query's pair is multiplied by, and a key's divided by, per position (xPos).
    temperature : Temperature or None
        What queries are multiplied by as well; no part of the distances, which it would make asymmetric.
    warp : Warp or None
        f(i + offset) is in the place of i + offset.
    """

    inv_freq: NDArray[np.float64]
    n_dims: int
    pairing: Pairing | None = None
    attention_factor: float = 1.0
    offset: int = 0
    decay: NDArray[np.float64] | None = None
    temperature: Temperature | None = None
    warp: Warp | None = None

    def __repr__(self) -> str:
        return f"<Rotation: {2 * self.inv_freq.size} of {self.n_dims} channels, pairing {self.pairing}>"

    def angles(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """omega_k f(i + offset), in radians and in float64 whatever the model runs in, shape (m, r / 2)."""
        return np.asarray(self.places(positions)[:, None] * self.inv_freq)

    def places(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """f(i + offset), shape (m,): the position ids that a model of this rotation is called with."""
        return warped(positions, self.offset, self.warp)

    def channels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and second channel of each pair, shapes (r / 2,)."""
        k = np.arange(self.inv_freq.size)
        if self.pairing is None:
            raise EncodingError(
                "which channels a rotation pairs differs between model families: say pairing=interleaved (channels 2k "
                "and 2k + 1: GPT-J, Cohere) or pairing=halves (k and k + r/2: Llama, Mistral, Qwen, GPT-NeoX)"
            )
        return (2 * k, 2 * k + 1) if self.pairing == "interleaved" else (k, k + k.size)

    def cos_sin(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Cosines and sines by channel, times the attention factor, shapes (m, r)."""
        angles = self.angles(positions)[:, self._pair_of()]
        return self.attention_factor * np.cos(angles), self.attention_factor * np.sin(angles)

    def scales(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What a query's channels are multiplied by at each position, and a key's divided by, shape (m, r)."""
        rates = np.zeros(self.inv_freq.size) if self.decay is None else self.decay
        return np.exp(self.places(positions)[:, None] * rates[self._pair_of()])

    def _pair_of(self) -> NDArray[np.int64]:
        """The pair of each rotated channel."""
        first, second = self.channels()
        pairs = np.empty(2 * first.size, np.int64)
        pairs[first] = pairs[second] = np.arange(first.size)
        return pairs

    def pairs_of(self, vector: ArrayLike) -> NDArray[np.float64]:
        """The rotated channels of a vector as pairs, shape (r / 2, 2)."""
        x = np.asarray(vector, np.float64)
        first, second = self.channels()
        return np.stack([x[first], x[second]], axis=-1)

    def rotate_pairs(self, pairs: NDArray[np.float64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pairs rotated to each position, shape (m, r / 2, 2)."""
        angles = self.angles(positions)
        cosines, sines = self.attention_factor * np.cos(angles), self.attention_factor * np.sin(angles)
        x, y = pairs[:, 0], pairs[:, 1]
        return np.stack([x * cosines - y * sines, x * sines + y * cosines], axis=2)

    def rotate(self, vector: ArrayLike, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """A vector rotated to each position, shape (m, n_dims).

        Parameters
        ----------
        vector : array_like, shape (n_dims,)
        positions : ndarray of int, shape (m,)

        Returns
        -------
        ndarray of float

        Raises
        ------
        EncodingError
            When the pairing is not said, or the vector has another width.
        """
        x = np.asarray(vector, np.float64)
        if x.shape != (self.n_dims,):
            raise EncodingError(f"vector has shape {x.shape}: expected ({self.n_dims},)")
        first, second = self.channels()
        rotated = self.rotate_pairs(self.pairs_of(x), positions)
        out = np.tile(x, (positions.size, 1))
        out[:, first], out[:, second] = rotated[:, :, 0], rotated[:, :, 1]
        return out

    def lag_distances(self, lags: NDArray[np.int64], pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distance between a vector's images at each lag, shape (m,), from its rotated channels by pair."""
        weights = self.attention_factor**2 * (pairs**2).sum(axis=1)
        return rotation_lag_distances(lags, self.inv_freq, weights)
