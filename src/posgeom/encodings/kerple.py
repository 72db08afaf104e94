"""KERPLE: kernelised relative positional embedding (Chi et al. 2022)."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import kernel_of_drop
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import check_choice, check_positive, of_head
from posgeom.encodings.documentation import documented
from posgeom.encodings.warping import at_warped_lags, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

Lags = NDArray[np.float64]
_KINDS: dict[str, Callable[[Lags, Lags, Lags], Lags]] = {
    "log": lambda lags, r1, r2: r1 * np.log1p(r2 * lags),
    "power": lambda lags, r1, r2: r1 * lags**r2,
}


@takes_warp
@documented
def kerple(
    n_positions: int,
    *,
    kind: Literal["log", "power"] = "log",
    r1: tuple[float, ...] = (1.0,),
    r2: tuple[float, ...] = (1.0,),
    form: BiasForm = "kernel",
    head: int | None = None,
    causal: bool = True,
    warp: Warp | None = None,
) -> Encoding:
    """Conditionally positive kernels of the lag: -r1 log(1 + r2 |i - j|), or -r1 |i - j|^r2.

    Parameters
    ----------
    kind : {"log", "power"}
        Logarithmic or power variant; power with r2 = 1 is ALiBi with slope r1.
    r1, r2 : tuple of float
        Learned, positive, one per head or one for all; r2 of the power variant is at most 2. The defaults are neutral
        values, not a trained model's.
    warp : Warp, optional
        f(|i - j|) in place of the lag.
    """
    check_choice("kerple kind", kind, _KINDS)
    n_heads = max(len(r1), len(r2))
    for option, values in (("r1", r1), ("r2", r2)):
        if len(values) not in (1, n_heads):
            raise EncodingError(f"kerple {option} has {len(values)} entries: expected one, or one per head ({n_heads})")
        for value in values:
            check_positive(f"kerple {option}", value)
    if kind == "power" and max(r2) > 2:
        raise EncodingError(f"kerple r2 {max(r2):g}: the power variant is a kernel up to 2 only")
    scale, shape = (of_head("kerple", np.broadcast_to(np.array(v, np.float64), n_heads), head) for v in (r1, r2))

    def drop(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        axes = [1] * lags.ndim
        return _KINDS[kind](lags.astype(np.float64), scale.reshape(-1, *axes), shape.reshape(-1, *axes))

    bias = kernel_of_drop(scale.size, drop, causal=causal)
    is_bernstein = kind == "log" or max(r2) <= 1
    return BiasEncoding("kerple", n_positions, at_warped_lags(bias, warp, is_bernstein=is_bernstein), form)
