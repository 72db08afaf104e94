"""Encodings inside models: torch modules, and training watched and redone."""

from posgeom.errors import PosgeomError

try:
    import torch  # noqa: F401
except ImportError:
    raise PosgeomError("posgeom.training needs torch and transformers: pip install 'posgeom[models]'") from None

from posgeom.training.apply import Applied, apply_encoding, from_pretrained, position_table, remove_encoding
from posgeom.training.modules import LowRankPositionalEmbedding, PositionalEmbedding

__all__ = [
    "Applied",
    "LowRankPositionalEmbedding",
    "PositionalEmbedding",
    "apply_encoding",
    "from_pretrained",
    "position_table",
    "remove_encoding",
]
