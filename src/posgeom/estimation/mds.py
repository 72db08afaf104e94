"""Classical multidimensional scaling (Algorithm 1 of the paper) with its whole spectrum."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError, check_type
from posgeom.estimation.distance_matrix import DistanceMatrix, check_matrix_fits

_SIGN_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of the double-centred matrix B = -1/2 J D^2 J.

    Attributes
    ----------
    eigenvalues : ndarray of float, shape (m,)
        All of them, largest first, negative ones included.
    tolerance : float
        Magnitude up to which an eigenvalue is round-off.
    """

    eigenvalues: NDArray[np.float64]
    tolerance: float

    def __repr__(self) -> str:
        return f"<Spectrum: rank {self.rank}, negative mass {self.negative_mass:.3g}>"

    @property
    def rank(self) -> int:
        """Eigenvalues of B that are not zero to round-off, of either sign."""
        return int((np.abs(self.eigenvalues) > self.tolerance).sum())

    @property
    def n_positive(self) -> int:
        """Axes that a Euclidean embedding can have."""
        return int((self.eigenvalues > self.tolerance).sum())

    @property
    def negative_mass(self) -> float:
        """Share of sum |eigenvalue| that is negative; 0 for a Euclidean geometry."""
        magnitudes = np.abs(self.eigenvalues)
        negative = magnitudes[self.eigenvalues < -self.tolerance].sum()
        return min(float(negative / magnitudes.sum()), 1.0) if negative else 0.0

    @property
    def explained(self) -> NDArray[np.float64]:
        """Share of the positive inertia on each axis, shape (n_positive,); the sum over all axes is 1."""
        positive = self.eigenvalues[: self.n_positive]
        return np.asarray(positive / positive.sum()) if positive.size else positive


@dataclass(frozen=True, eq=False)
class MDS:
    """A classical MDS solution.

    Attributes
    ----------
    coordinates : ndarray of float, shape (m, n_positive)
        Principal coordinates, one column per axis, by decreasing eigenvalue. Each column's entry of largest
        magnitude is positive; axes with equal eigenvalues are defined up to rotation only.
    positions : ndarray of int, shape (m,)
    spectrum : Spectrum
    self_products : ndarray of float, shape (m,)
        Diagonal of B: squared distance of each position from the centroid.
    """

    coordinates: NDArray[np.float64]
    positions: NDArray[np.int64]
    spectrum: Spectrum
    self_products: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<MDS: {self.coordinates.shape[0]:,} positions, {self.coordinates.shape[1]} axes>"

    def truncate(self, rank: int) -> "MDS":
        """The same solution with its leading axes only; the spectrum stays whole.

        Parameters
        ----------
        rank : int
            Axes to keep, at least 1; all where there are not so many.

        Returns
        -------
        MDS

        Raises
        ------
        GeometryError
            When `rank` is below 1.
        """
        if rank < 1:
            raise GeometryError(f"MDS rank {rank}: expected at least 1")
        return replace(self, coordinates=self.coordinates[:, :rank])

    def embed(self, rank: int | None = None, n_dims: int | None = None) -> NDArray[np.float64]:
        """Coordinates of chosen rank in a chosen width.

        Parameters
        ----------
        rank : int, optional
            Leading axes to keep; all by default, and never more than there are.
        n_dims : int, optional
            Width d of the result; further columns are zero. By default as many as axes kept.

        Returns
        -------
        ndarray of float, shape (m, n_dims)

        Raises
        ------
        GeometryError
            When `rank` is below 1, or `n_dims` below the axes kept.
        """
        axes = self.coordinates if rank is None else self.truncate(rank).coordinates
        kept = axes.shape[1]
        width = kept if n_dims is None else n_dims
        if width < kept:
            raise GeometryError(f"{kept} MDS axes do not fit in width d = {width}: choose a rank of at most {width}")
        return np.pad(axes, ((0, 0), (0, width - kept)))

    def extend(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates of further positions, from their squared distances to the fitted ones.

        Gower's formula (Gower 1968, "Adding a point to vector diagrams in multivariate analysis"),
        x = 1/2 L^-1 X' (diag B - d^2), over the axes kept. A position of the fit comes back where it is, and a new one
        that lies in the span of the axes is placed exactly; what lies outside of it is projected onto it. The same
        estimator, at the same depth, must have given both sets of distances.

        Parameters
        ----------
        squared : array_like, shape (k, m)
            Squared distances, as estimated, of k further positions to the m fitted ones.

        Returns
        -------
        ndarray of float, shape (k, n_axes)

        Raises
        ------
        GeometryError
            When the shape is another, or a number is not finite.
        """
        new = np.asarray(squared, np.float64)
        if new.ndim != 2 or new.shape[1] != self.positions.size:
            raise GeometryError(f"squared distances have shape {new.shape}: expected (any, {self.positions.size})")
        if not np.isfinite(new).all():
            raise GeometryError("squared distances to the fitted positions must be finite")
        inertia = self.spectrum.eigenvalues[: self.coordinates.shape[1]]
        return np.asarray((self.self_products - new) @ self.coordinates / inertia / 2)


def double_centre(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """B = -1/2 J D^2 J, with J the centring matrix; shapes (m, m)."""
    row_means = squared.mean(axis=0)
    return np.asarray(-(squared - row_means - row_means[:, None] + row_means.mean()) / 2)


def spectrum_of(squared: NDArray[np.float64]) -> Spectrum:
    """Spectrum of B without its eigenvectors.

    Shapes: `squared` (m, m).
    """
    check_matrix_fits(squared.shape[0])
    return _spectrum(np.asarray(np.linalg.eigvalsh(double_centre(squared))[::-1], np.float64), squared)


def _spectrum(eigenvalues: NDArray[np.float64], squared: NDArray[np.float64]) -> Spectrum:
    # Centring subtracts numbers of the size of the squared distances, so round-off scales with those too.
    size = max(float(np.abs(eigenvalues).max()), float(np.abs(squared).max()))
    return Spectrum(np.ascontiguousarray(eigenvalues), 10 * eigenvalues.size * np.finfo(float).eps * size)


def classical_mds(distances: DistanceMatrix) -> MDS:
    """Classical MDS (principal coordinates) of a distance matrix.

    For Hellinger distances this is the principal component analysis of the matrix of square-root frequencies,
    and B has no negative eigenvalue; other metrics and unbiased estimates can have some, which are reported in
    the spectrum and carry no coordinates.

    Parameters
    ----------
    distances : DistanceMatrix

    Returns
    -------
    MDS
    """
    check_type(distances, DistanceMatrix, "a DistanceMatrix; make one of your own matrix of distances", GeometryError)
    check_matrix_fits(len(distances))
    products = double_centre(distances.squared)
    values, vectors = np.linalg.eigh(products)
    spectrum = _spectrum(values[::-1], distances.squared)
    axes = vectors[:, ::-1][:, : spectrum.n_positive] * np.sqrt(spectrum.eigenvalues[: spectrum.n_positive])
    coordinates = fix_signs(_merge_copies(axes, distances))
    return MDS(coordinates, distances.positions, spectrum, np.diagonal(products).copy())


def _merge_copies(axes: NDArray[np.float64], distances: DistanceMatrix) -> NDArray[np.float64]:
    """Give positions that are the same point the same coordinates, where round-off would part them."""
    first_copy = (distances.squared == 0).argmax(axis=1)
    same = (distances.squared == distances.squared[first_copy]).all(axis=1)
    return np.asarray(axes[np.where(same, first_copy, np.arange(len(distances)))])


def fix_signs(axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column with its entry of largest magnitude positive; shape as `axes`."""
    magnitudes = np.abs(axes)
    # The first of those that tie, so that round-off does not choose between mirror images.
    leading = (magnitudes >= magnitudes.max(axis=0, initial=0) * (1 - _SIGN_TIE)).argmax(axis=0)
    signs = np.where(axes[leading, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(axes * signs)
