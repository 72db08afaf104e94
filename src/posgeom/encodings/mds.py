"""The paper's information-optimal encoding: classical MDS of a corpus geometry."""

from posgeom.encodings.base import Encoding, PointEncoding, check_width
from posgeom.errors import EncodingError
from posgeom.geometry.build import Geometry


def mds(geometry: Geometry, n_dims: int | None = None, *, rank: int | None = None) -> Encoding:
    """Coordinates that reproduce a geometry, from its leading axes (Algorithm 1 of the paper).

    It is fitted to the geometry that scores refer to, so its scores are in-sample. Masked positions have no
    vector.

    Parameters
    ----------
    geometry : Geometry
    n_dims : int, optional
        Width d. Axes beyond it are dropped; columns beyond the axes there are hold zeros.
    rank : int, optional
        Leading axes to keep. By default all, or as many as fit in `n_dims`.

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When `rank` is below 1 or above `n_dims`.
    """
    solution = geometry.mds()
    available = max(solution.coordinates.shape[1], 1)
    if n_dims is not None:
        check_width(n_dims)
    if rank is not None and (rank < 1 or (n_dims is not None and rank > n_dims)):
        raise EncodingError(f"mds rank {rank}: expected 1 to the width d{'' if n_dims is None else f' = {n_dims}'}")
    kept = min(limit for limit in (rank, n_dims, available) if limit is not None)
    points = solution.embed(kept, n_dims or kept)
    return PointEncoding("mds", points, geometry.positions, geometry.n_positions)
