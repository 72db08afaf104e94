"""FIRE: functional interpolation for relative positions (Li et al. 2024)."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import check_head, check_heads, check_positive, check_size
from posgeom.encodings.documentation import documented
from posgeom.encodings.networks import Network, draw_network, read_network
from posgeom.encodings.warping import takes_warp, warped_lags
from posgeom.encodings.warps import Warp
from posgeom.seeds import make_rng

_EPSILON = 1e-6


@takes_warp
@documented
def fire(
    n_positions: int,
    *,
    heads: int = 12,
    hidden: int = 32,
    c: float = 0.1,
    threshold: float = 512.0,
    weights: Path | None = None,
    causal: bool = True,
    form: BiasForm = "mds",
    head: int | None = None,
    seed: int = 0,
    warp: Warp | None = None,
) -> Encoding:
    """The bias f(psi(i - j) / psi(max(i, L))), psi(x) = log(c x + 1), f a small network.

    The query's position normalises the lag, so the bias is a function of (i, j), not of the lag.

    Parameters
    ----------
    heads : int
        Outputs of the network, where it is drawn.
    hidden : int
        Width of its hidden layer, where it is drawn.
    c : float
        Of the logarithm.
    threshold : float
        L, below which the normaliser is constant.
    weights : file, optional
        FILE.safetensors with mlp.0.weight, mlp.0.bias, mlp.2.weight, mlp.2.bias, and c, init_L and L_multiplier where
        they were learned. Without it the network is drawn as it is initialised before training.
    causal : bool
        Keys up to the query. Otherwise lags count in both directions, and distances use the mean of the two.
    form : {"linear", "kernel", "mds"}
        How the bias becomes distances; a learned function need be no kernel.
    seed : int
        Draws the network.
    warp : Warp, optional
        f(i - j), f(i) and f(L) in place of these: the lag and what it is divided by.
    """
    if weights is None:
        check_heads("fire", heads)
        check_size("fire hidden", hidden)
        network = draw_network(1, hidden, heads, make_rng(seed), activation="relu")
    else:
        network, scalars = read_network(weights, 1, "relu", scalars=("c", "init_L", "L_multiplier"))
        c = abs(scalars.get("c", c))
        threshold = abs(scalars.get("L_multiplier", 1.0) * scalars.get("init_L", threshold))
    check_positive("fire c", c)
    check_positive("fire threshold", threshold)
    check_head("fire", head, network.n_outputs)
    bias = fire_bias(network.output(head), c, threshold, causal=causal, warp=warp)
    return BiasEncoding("fire", n_positions, bias, form)


def fire_bias(network: Network, c: float, threshold: float, *, causal: bool, warp: Warp | None = None) -> Bias:
    """The bias of a given network."""

    def values(query: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.float64]:
        lags = warped_lags(np.abs(np.asarray(query - key)), warp)
        normaliser = np.log1p(c * warped_lags(np.maximum(query, threshold), warp)) + _EPSILON
        shares = np.log1p(c * lags) / normaliser
        return np.moveaxis(network(shares[..., None]), -1, 0)

    return Bias(network.n_outputs, values, causal=causal, relative=False, even=False)
