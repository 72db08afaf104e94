"""Sandwich: the inner product of sinusoidal encodings as a bias (Chi et al. 2023)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import kernel_of_drop
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import check_base, check_choice, check_heads, check_size, of_head
from posgeom.encodings.documentation import documented
from posgeom.encodings.warping import at_warped_lags, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError


@takes_warp
@documented
def sandwich(
    n_positions: int,
    *,
    heads: int = 12,
    width: int = 128,
    base: float = 10000.0,
    first: Literal["1", "0"] = "1",
    form: BiasForm = "kernel",
    head: int | None = None,
    causal: bool = True,
    warp: Warp | None = None,
) -> Encoding:
    """The bias of head h of H: (H / 8h) (sum_k cos(omega_k (i - j)) - w/2), omega_k = base^(-2k/w).

    A sum of cosines is a positive kernel, and head h is the closer to constant the larger h.

    Parameters
    ----------
    heads : int
        Number of heads H.
    width : int
        Width w of the sinusoidal encoding, even; the paper's d-bar.
    base : float
        Base of the frequencies.
    first : {"1", "0"}
        First frequency index: k = 1 .. w/2 as in the paper's formula, or 0 .. w/2 - 1 as in the sinusoidal encoding.
    warp : Warp, optional
        f(|i - j|) in place of the lag.
    """
    check_heads("sandwich", heads)
    check_base(base)
    check_size("sandwich width", width)
    if width % 2:
        raise EncodingError(f"sandwich width {width}: expected an even number")
    check_choice("sandwich first", first, ("1", "0"))
    omega = base ** (-2 * (np.arange(width // 2) + int(first)) / width)
    scale = of_head("sandwich", heads / (8 * np.arange(1, heads + 1)), head)

    def drop(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.zeros(lags.shape)
        for frequency in omega:
            out += 2 * np.sin(frequency * lags / 2) ** 2
        return np.asarray(np.multiply.outer(scale, out))

    bias = at_warped_lags(kernel_of_drop(scale.size, drop, causal=causal), warp, is_bernstein=False)
    return BiasEncoding("sandwich", n_positions, bias, form)
