"""Learnable Fourier features (Li et al. 2021)."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding, LagEncoding
from posgeom.encodings.checks import as_parameters, check_choice, check_positive, check_size, check_width
from posgeom.encodings.documentation import documented
from posgeom.encodings.frequencies import rotation_lag_distances
from posgeom.encodings.grids import check_grid, grid_places
from posgeom.encodings.networks import Network, draw_network, read_network
from posgeom.encodings.tables import load_tensors
from posgeom.encodings.warping import takes_warp, warped
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError
from posgeom.messages import shown
from posgeom.seeds import make_rng


@takes_warp
@documented
def fourier(
    n_positions: int,
    n_dims: int,
    *,
    features: int = 384,
    hidden: int = 32,
    gamma: float = 10.0,
    network: Literal["mlp", "none"] = "mlp",
    grid: tuple[int, ...] | None = None,
    weights: Path | None = None,
    warp: Warp | None = None,
    seed: int = 0,
) -> Encoding:
    """Random or learned frequencies w_k, r(i) = [cos(w_k i) | sin(w_k i)] / sqrt(F), and a network from r to width d.

    The features alone, without the network, have d^2 = (1/F) sum_k 4 sin^2(w_k (i - j) / 2), a function of the lag.
    On a grid, w_k and i are vectors and w_k i is their product.

    Parameters
    ----------
    n_dims : int
        Width d of the network's output.
    features : int
        F, even, where they are drawn.
    hidden : int
        Width of the hidden layer, where the network is drawn.
    gamma : float
        Frequencies are drawn from N(0, gamma^-2): gamma is a length scale in positions.
    network : {"mlp", "none"}
        Through the network, or the features alone, whose width is F.
    grid : tuple of int, optional
        Rows and columns of an image, or the three sizes of a volume; the last axis runs fastest.
    weights : file, optional
        FILE.safetensors with Wr.weight (F/2 rows, a column for each axis), and mlp.0.weight, mlp.0.bias,
        mlp.2.weight, mlp.2.bias for the network (GELU). Without it all is drawn as it is initialised before training.
    seed : int
        Draws frequencies and network.
    """
    check_choice("fourier network", network, ("mlp", "none"))
    if grid is not None:
        check_grid("fourier", grid, n_positions)
    n_axes = 1 if grid is None else len(grid)
    if weights is None:
        omega = _draw_frequencies(features, gamma, n_axes, rng := make_rng(seed))
        check_size("fourier hidden", hidden)
        check_width(n_dims)
        layers: Network | None = draw_network(features, hidden, n_dims, rng, activation="gelu")
    else:
        omega = _read_frequencies(weights, n_axes)
        layers = read_network(weights, 2 * len(omega), "gelu")[0] if network == "mlp" else None
    width = 2 * len(omega)

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        places = warped(positions[:, None] if grid is None else grid_places(positions, grid), 0, warp)
        angles = places @ omega.T
        drawn = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(width)
        return drawn if layers is None or network == "none" else layers(drawn)

    if layers is not None and network == "mlp":
        return FunctionEncoding("fourier", n_positions, layers.n_outputs, coordinates)
    if grid is not None or warp is not None:
        return FunctionEncoding("fourier", n_positions, width, coordinates)

    def by_lag(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        return rotation_lag_distances(lags, omega[:, 0], np.full(len(omega), 1 / width))

    return LagEncoding("fourier", n_positions, width, by_lag, coordinates)


def _draw_frequencies(features: int, gamma: float, n_axes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    check_size("fourier features", features)
    check_positive("fourier gamma", gamma)
    if features % 2:
        raise EncodingError(
            f"fourier features {features}: expected an even number, a cosine and a sine of each frequency"
        )
    return rng.standard_normal((features // 2, n_axes)) / gamma


def _read_frequencies(path: Path, n_axes: int) -> NDArray[np.float64]:
    tensors = load_tensors(path)
    if "Wr.weight" not in tensors:
        raise EncodingError(f"{shown(path)} has no tensor Wr.weight: expected the frequencies, one row each")
    return as_parameters(f"{shown(path)}: Wr.weight", tensors["Wr.weight"], (None, n_axes))
