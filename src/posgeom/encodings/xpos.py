"""xPos: rotary embedding with a decay by pair (Sun et al. 2023)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import check_positive
from posgeom.encodings.documentation import documented
from posgeom.encodings.rope import rotation_for
from posgeom.encodings.rotation import Pairing
from posgeom.encodings.warping import at_warped_positions, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError


@takes_warp
@documented
def xpos(
    n_positions: int,
    n_dims: int,
    *,
    base: float = 10000.0,
    gamma: float = 0.4,
    scale_base: float = 512.0,
    pairing: Pairing | None = None,
    form: BiasForm = "kernel",
    warp: Warp | None = None,
) -> Encoding:
    """The kernel that xPos gives equal queries and keys: a sum of damped cosines.

    Queries are scaled by zeta_k^(i/B) and keys by zeta_k^(-j/B), with zeta_k = (2k/d + gamma) / (1 + gamma). For
    i >= j and unit pairs k(l) = sum_k zeta_k^(l/B) cos(omega_k l), which is a positive kernel of the lag, so
    d^2(l) = 2 (k(0) - k(l)). The decay makes it no orbit of one vector: there are no coordinates.

    Parameters
    ----------
    n_dims : int
        Width d of a head, even.
    base : float
        omega_k = base^(-2k/d).
    gamma : float
        The larger, the slower the decay.
    scale_base : float
        B, in positions.
    pairing : {"interleaved", "halves"}, optional
        Channels of pair k; distances do not depend on it, exported angles do.
    form : {"linear", "kernel", "mds"}
        How the kernel becomes distances.

    Raises
    ------
    EncodingError
        When the width is odd or an option is out of range.
    """
    if n_dims % 2:
        raise EncodingError(f"xpos needs an even width, got d = {n_dims}: use -d {n_dims - 1} or {n_dims + 1}")
    check_positive("xpos gamma", gamma)
    check_positive("xpos scale_base", scale_base)
    rotation = rotation_for(
        n_positions, n_dims, base=base, pairing=pairing, partial=1.0, offset=0, scaling=None, warp=warp
    )
    decay = np.log((np.arange(0, n_dims, 2) / n_dims + gamma) / (1 + gamma)) / scale_base

    def drop(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.zeros(lags.size)
        for omega, rate in zip(rotation.inv_freq, decay, strict=True):
            # 1 - z cos = (1 - z) + z (1 - cos), each term without cancellation.
            out += -np.expm1(rate * lags) + 2 * np.exp(rate * lags) * np.sin(omega * lags / 2) ** 2
        return out[None]

    def values(query: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.float64]:
        lags = np.abs(np.asarray(query - key))
        out = np.zeros(lags.shape)
        for omega, rate in zip(rotation.inv_freq, decay, strict=True):
            out += np.exp(rate * lags) * np.cos(omega * lags)
        return out[None]

    bias = Bias(1, values, causal=True, conditionally_positive=True, drop=drop)
    encoding = BiasEncoding("xpos", n_positions, at_warped_positions(bias, warp), form)
    encoding.rotation = replace(rotation, decay=decay)
    return encoding
