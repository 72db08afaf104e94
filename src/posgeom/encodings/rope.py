"""Rotary position embedding (Su et al. 2021), as the orbit of a reference vector or as a kernel."""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, LagEncoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.encodings.checks import as_parameters, check_base, check_choice, check_offset, check_width
from posgeom.encodings.documentation import documented
from posgeom.encodings.frequencies import inverse_frequencies
from posgeom.encodings.rotary_scaling import Scaling
from posgeom.encodings.rotation import PAIRINGS, Pairing, Rotation
from posgeom.encodings.tables import Table, read_table
from posgeom.encodings.warping import at_warped_positions, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.seeds import make_rng


class OrbitEncoding(LagEncoding):
    """The images R(i) x of a vector under a rotation: its rotated channels by pair, and all of it if it was given."""

    def __init__(
        self,
        name: str,
        n_positions: int,
        rotation: Rotation,
        pairs: NDArray[np.float64],
        vector: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(name, n_positions, rotation.n_dims, partial(rotation.lag_distances, pairs=pairs))
        self.rotation: Rotation = rotation
        self._pairs, self._vector = pairs, vector

    def lag_distances(self) -> NDArray[np.float64] | None:
        """Distance at lag 0 to n - 1, shape (n,), or None under a warp."""
        return super().lag_distances() if self.rotation.warp is None else None

    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Distances between positions, shape (m, m)."""
        if self.rotation.warp is None:
            return super().distances(positions)
        return euclidean_distances(self.points(self._check(positions)))

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Vectors R(i) x, shape (m, d)."""
        first, second = self.rotation.channels()
        vector = np.zeros(self.rotation.n_dims) if self._vector is None else self._vector.copy()
        vector[first], vector[second] = self._pairs[:, 0], self._pairs[:, 1]
        return self.rotation.rotate(vector, self._check(positions))

    def points(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The rotated channels pair by pair, shape (m, r): distances do not depend on the order of channels."""
        chosen = self._check(positions)
        return self.rotation.rotate_pairs(self._pairs, chosen).reshape(chosen.size, self._pairs.size)


@takes_warp
@documented
def rope(
    n_positions: int,
    n_dims: int,
    *,
    base: float = 10000.0,
    pairing: Pairing | None = None,
    partial: float = 1.0,
    offset: int = 0,
    scaling: Scaling | None = None,
    reference: Literal["unit", "gaussian"] | Table = "unit",
    key: Table | None = None,
    form: Literal["orbit", "kernel", "mds"] = "orbit",
    warp: Warp | None = None,
    seed: int = 0,
) -> Encoding:
    """Rotations of channel pairs by angles omega_k (i + offset).

    RoPE rotates queries and keys instead of adding a vector. The orbit p_i = R(i) x of one reference vector makes it
    comparable with absolute encodings; it is also what the kernel k(i - j) = x' R(i - j) x induces:
    d^2(i, j) = 2 (k(0) - k(i - j)) = sum_k |x_k|^2 4 sin^2(omega_k (i - j) / 2), x_k the k-th pair of channels.

    Parameters
    ----------
    n_dims : int
        Width d of a head, even.
    base : float
        ``rope_theta``.
    pairing : {"interleaved", "halves"}, optional
        Channels of pair k: 2k and 2k + 1 (GPT-J, Cohere), or k and k + r/2 (Llama, Mistral, Qwen). Needed for
        coordinates, angles and vectors of a model; distances of the other references do not depend on it.
    partial : float
        Share of the channels that are rotated (``partial_rotary_factor``), the first ones.
    offset : int
        Added to every position; distances do not depend on it.
    scaling : Scaling, optional
        How frequencies change for longer contexts.
    reference : {"unit", "gaussian"} or array_like
        Every pair (1, 0), which has the distances of the sinusoidal encoding; one Gaussian vector scaled to the same
        squared norm r/2; or a vector of d channels, such as a model's mean query.
    key : array_like, optional
        A second vector, such as a model's mean key: the kernel is then q' R(j - i) k, q the reference.
    form : {"orbit", "kernel", "mds"}
        Orbit of the reference; distances of the kernel; or classical MDS of the kernel, where two vectors make it
        indefinite.
    seed : int
        Draws the Gaussian reference.

    Raises
    ------
    EncodingError
        When the rotated width is odd, an option is out of range, or the pairing is needed and not said.
    """
    rotation = rotation_for(
        n_positions, n_dims, base=base, pairing=pairing, partial=partial, offset=offset, scaling=scaling, warp=warp
    )
    check_choice("rope form", form, ("orbit", "kernel", "mds"))
    if key is not None and form == "orbit":
        raise EncodingError("rope key: an orbit has one reference vector; with a key, say form=kernel or form=mds")
    vector = None
    if isinstance(reference, str) and reference in _REFERENCES:
        pairs = _REFERENCES[reference](rotation.inv_freq.size, seed)
    elif isinstance(reference, str):
        raise EncodingError(
            f"rope reference {reference!r}: expected unit or gaussian, or a vector of d = {n_dims} channels"
        )
    else:
        vector = _read_vector(reference, "reference", n_dims)
        pairs = rotation.pairs_of(vector)
    if form == "orbit":
        return OrbitEncoding("rope", n_positions, rotation, pairs, vector)
    keys = pairs if key is None else rotation.pairs_of(_read_vector(key, "key", n_dims))
    encoding = BiasEncoding("rope", n_positions, rotary_kernel(rotation, pairs, keys), form)
    encoding.rotation = rotation
    return encoding


def rotation_for(
    n_positions: int,
    n_dims: int,
    *,
    base: float,
    pairing: Pairing | None,
    partial: float,
    offset: int,
    scaling: Scaling | None,
    warp: Warp | None,
) -> Rotation:
    """The rotation of `rope` with these options, which it documents."""
    check_width(n_dims)
    check_base(base)
    check_offset(offset)
    if pairing is not None:
        check_choice("rope pairing", pairing, PAIRINGS)
    if not 0 < partial <= 1:
        raise EncodingError(f"rope partial {partial:g}: expected a share of the channels, above 0 and at most 1")
    rotated = int(n_dims * partial)
    if partial == 1 and n_dims % 2:
        raise EncodingError(f"rope needs an even width, got d = {n_dims}: use -d {n_dims - 1} or {n_dims + 1}")
    if rotated < 2 or rotated % 2:
        raise EncodingError(
            f"rope partial {partial:g} of d = {n_dims} rotates {rotated} channels: expected an even number from 2"
        )
    if scaling is None:
        omega, factor = inverse_frequencies(rotated, base), 1.0
    else:
        omega, factor = scaling.frequencies(rotated, base, n_positions + max(offset, 0))
    return Rotation(omega, n_dims, pairing, factor, offset, warp=warp)


def rotary_kernel(rotation: Rotation, queries: NDArray[np.float64], keys: NDArray[np.float64]) -> Bias:
    """The kernel q' R(j - i) k as a bias of one head, from rotated channels by pair, shape (r / 2, 2)."""
    scale = rotation.attention_factor**2
    even = scale * (queries * keys).sum(axis=1)
    odd = scale * (queries[:, 0] * keys[:, 1] - queries[:, 1] * keys[:, 0])

    def values(query: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.float64]:
        relative = np.asarray(key - query)
        out = np.zeros(relative.shape)
        for omega, cosine, sine in zip(rotation.inv_freq, even, odd, strict=True):
            out += cosine * np.cos(omega * relative) - sine * np.sin(omega * relative)
        return out[None]

    def drop(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.zeros(lags.size)
        for omega, cosine in zip(rotation.inv_freq, even, strict=True):
            out += 2 * cosine * np.sin(omega * lags / 2) ** 2
        return out[None]

    bias = Bias(1, values, even=not odd.any(), conditionally_positive=bool((even >= 0).all()), drop=drop)
    return at_warped_positions(bias, rotation.warp, rotation.offset)


def _unit(n_pairs: int, seed: int) -> NDArray[np.float64]:  # noqa: ARG001
    return np.tile([1.0, 0.0], (n_pairs, 1))


def _gaussian(n_pairs: int, seed: int) -> NDArray[np.float64]:
    pairs = make_rng(seed).standard_normal((n_pairs, 2))
    pairs *= np.sqrt(n_pairs / (pairs**2).sum())
    return pairs


_REFERENCES = {"unit": _unit, "gaussian": _gaussian}


def _read_vector(table: Table, option: str, n_dims: int) -> NDArray[np.float64]:
    name, values = read_table(table)
    return as_parameters(f"rope {option}, {name},", np.squeeze(values), (n_dims,))
