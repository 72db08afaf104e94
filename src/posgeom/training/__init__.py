"""Encodings inside models: torch modules, and training watched and redone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from posgeom.errors import PosgeomError

try:
    import torch  # noqa: F401
except ImportError:
    raise PosgeomError("posgeom.training needs torch and transformers: pip install 'posgeom[models]'") from None

from posgeom.training.apply import Applied, apply_encoding, from_pretrained, position_table, remove_encoding
from posgeom.training.modules import LowRankPositionalEmbedding, PositionalEmbedding
from posgeom.training_options import TrainOptions

if TYPE_CHECKING:
    from posgeom.training.callback import PositionGeometryCallback
    from posgeom.training.result import TrainingResult
    from posgeom.training.run import train

_WITH_THE_TRAINER = {
    "PositionGeometryCallback": "callback",
    "TrainingResult": "result",
    "train": "run",
}


def __getattr__(name: str) -> Any:
    if name in _WITH_THE_TRAINER:  # transformers takes seconds to load
        try:
            import accelerate  # noqa: F401
            import transformers  # noqa: F401
        except ImportError:
            raise PosgeomError("training needs transformers and accelerate: pip install 'posgeom[models]'") from None
        return getattr(import_module(f"posgeom.training.{_WITH_THE_TRAINER[name]}"), name)
    raise AttributeError(f"module 'posgeom.training' has no attribute {name!r}")


__all__ = [
    "Applied",
    "LowRankPositionalEmbedding",
    "PositionGeometryCallback",
    "PositionalEmbedding",
    "TrainOptions",
    "TrainingResult",
    "apply_encoding",
    "from_pretrained",
    "position_table",
    "remove_encoding",
    "train",
]
