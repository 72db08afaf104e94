"""Networks of one hidden layer, which some schemes learn: from a file, or as they are initialised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.checks import as_parameters
from posgeom.encodings.tables import load_tensors
from posgeom.errors import EncodingError
from posgeom.messages import shown

MAX_PARAMETERS = 1 << 26
Activation = Literal["relu", "gelu"]
Array = NDArray[np.float64]


def _gelu(x: Array) -> Array:
    from scipy.special import erf  # not needed by a plain import

    return np.asarray(0.5 * x * (1 + erf(x / np.sqrt(2))))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": lambda x: np.maximum(x, 0), "gelu": _gelu}


@dataclass(frozen=True, eq=False)
class Network:
    """y = W2 act(W1 x + b1) + b2."""

    w1: Array
    b1: Array
    w2: Array
    b2: Array
    """Shapes (hidden, inputs), (hidden,), (outputs, hidden), (outputs,)."""
    activation: Activation
    """The exact one, through the error function."""

    @property
    def n_outputs(self) -> int:
        """Outputs of the network."""
        return int(self.b2.size)

    def output(self, index: int | None) -> "Network":
        """The network with one of its outputs only; None: as it is."""
        return self if index is None else replace(self, w2=self.w2[[index]], b2=self.b2[[index]])

    def __call__(self, inputs: Array) -> Array:
        """Outputs for inputs of shape (..., inputs)."""
        hidden = _ACTIVATIONS[self.activation](inputs @ self.w1.T + self.b1)
        return np.asarray(hidden @ self.w2.T + self.b2)


def draw_network(
    n_inputs: int, hidden: int, n_outputs: int, rng: np.random.Generator, *, activation: Activation
) -> Network:
    """A network before training: weights and biases of a layer uniform within 1 / sqrt(its inputs)."""
    n_parameters = hidden * (n_inputs + n_outputs)
    if n_parameters > MAX_PARAMETERS:
        raise EncodingError(f"a network of {n_parameters:,} weights: expected at most {MAX_PARAMETERS:,}")

    def layer(rows: int, columns: int) -> tuple[Array, Array]:
        bound = 1 / np.sqrt(columns)
        return rng.uniform(-bound, bound, (rows, columns)), rng.uniform(-bound, bound, rows)

    return Network(*layer(hidden, n_inputs), *layer(n_outputs, hidden), activation)


def read_network(
    path: Path, n_inputs: int | None, activation: Activation, *, scalars: Sequence[str] = ()
) -> tuple[Network, dict[str, float]]:
    """A network from mlp.0.weight, mlp.0.bias, mlp.2.weight and mlp.2.bias of a file, and single numbers beside it."""
    tensors = load_tensors(path)
    names = ("mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias")
    for name in names:
        if name not in tensors:
            raise EncodingError(f"{shown(path)} has no tensor {name}: expected {', '.join(names)}")
    w1 = as_parameters(f"{shown(path)}: mlp.0.weight", tensors[names[0]], (None, n_inputs))
    b1 = as_parameters(f"{shown(path)}: mlp.0.bias", tensors[names[1]], (w1.shape[0],))
    w2 = as_parameters(f"{shown(path)}: mlp.2.weight", tensors[names[2]], (None, w1.shape[0]))
    b2 = as_parameters(f"{shown(path)}: mlp.2.bias", tensors[names[3]], (w2.shape[0],))
    found = {
        name: float(as_parameters(f"{shown(path)}: {name}", tensors[name].reshape(-1), (1,))[0])
        for name in scalars
        if name in tensors
    }
    return Network(w1, b1, w2, b2, activation), found
