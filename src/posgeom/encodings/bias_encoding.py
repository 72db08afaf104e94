"""Distances from an attention bias, by one of three named routes."""

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.checks import check_choice
from posgeom.errors import EncodingError
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import MDS, classical_mds, spectrum_of

BiasForm = Literal["linear", "kernel", "mds"]
_ROUND_OFF = 1e-10


class BiasEncoding(Encoding):
    """The geometry of an attention bias b.

    The drop of a head is s_h(i, j) = (b_h(i, i) + b_h(j, j)) / 2 - b_h(i, j), with b symmetrised (the mean of both
    directions, or the one that a causal mask leaves).

    - ``linear`` reads it as the distance itself: d^2 = sum_h s_h^2.
    - ``kernel`` takes b as a conditionally positive kernel: d^2 = 2 sum_h s_h.
    - ``mds`` is the classical MDS of sum_h b_h over positions 0 to n - 1: the part of ``kernel`` that distances can
      have. What they cannot have is reported as `negative_mass`.

    Parameters
    ----------
    name : str
    n_positions : int
    bias : Bias
    form : {"linear", "kernel", "mds"}
    """

    def __init__(self, name: str, n_positions: int, bias: Bias, form: BiasForm) -> None:
        super().__init__(name, n_positions, None)
        check_choice(f"{name} form", form, ("linear", "kernel", "mds"))
        self.bias: Bias = bias
        self.form = form

    @cached_property
    def _mds(self) -> MDS:
        positions = np.arange(self.n_positions)
        squared = 2 * self.bias.drops_between(positions, _sum)
        return classical_mds(DistanceMatrix.from_squared(squared, positions, "bias", "given"))

    @property
    def negative_mass(self) -> float | None:
        """Share of the spectrum's magnitude that the ``mds`` form left out; None for the other forms."""
        return self._mds.spectrum.negative_mass if self.form == "mds" else None

    def lag_distances(self) -> NDArray[np.float64] | None:
        """Distance at lag 0 to n - 1, shape (n,), or None where it is no function of the lag."""
        if self.form == "mds" or not self.bias.relative:
            return None
        if self._is_in_doubt:
            return np.asarray(self.distances()[0])
        return self._checked(_ROUTES[self.form](self.bias.drops(np.arange(self.n_positions))))

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64] | None:
        """Coordinates of the ``mds`` form, one column per positive axis, shape (m, k); None for the other forms."""
        chosen = self._check(positions)
        return self._axes(chosen) if self.form == "mds" else None

    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Distances between positions, shape (m, m).

        Raises
        ------
        EncodingError
            When the bias rises above its value at lag 0, or is not conditionally positive: no distance of that form.
        """
        chosen = self._check(positions)
        if self.form == "mds":
            return euclidean_distances(self._axes(chosen))
        values = self._checked(self.bias.drops_between(chosen, _ROUTES[self.form]))
        if self._is_in_doubt and chosen.size > 1:
            mass = spectrum_of(values**2).negative_mass
            if mass > 0:
                raise EncodingError(
                    f"encoding {self.name}: {mass:.2%} of the spectrum of its bias is negative, so it is no kernel of "
                    "distances; form=mds leaves that part out and reports it"
                )
        return values

    @property
    def _is_in_doubt(self) -> bool:
        """Whether the bias is read as a kernel and not known to be one, so that eigenvalues must tell."""
        return self.form == "kernel" and not self.bias.conditionally_positive

    def _axes(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        axes = self._mds.coordinates
        return axes[chosen] if axes.shape[1] else np.zeros((chosen.size, 1))

    def _checked(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if np.isnan(values).any():
            raise EncodingError(
                f"encoding {self.name}: its bias is larger between some positions than of a position with itself, "
                f"which form={self.form} cannot read as a distance; use form=mds"
            )
        return values


def _sum(drops: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(drops.sum(axis=0))


def _without_round_off(drops: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drops that are 0 but for round-off as 0, and those that are negative as NaN."""
    slack = _ROUND_OFF * float(np.abs(drops).max(initial=0))
    return np.where(drops < -slack, np.nan, np.maximum(drops, 0))


def _linear(drops: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((_without_round_off(drops) ** 2).sum(axis=0)))


def _kernel(drops: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(2 * _without_round_off(_sum(drops))))


_ROUTES = {"linear": _linear, "kernel": _kernel}
