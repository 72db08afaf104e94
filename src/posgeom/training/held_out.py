"""How a model does on documents that it was not trained on, with the error that their number leaves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.training.tasks import Example, collate

_AT_ONCE = 128


def held_out_scores(model: Any, examples: Sequence[Example], pad: int) -> dict[str, float | None]:
    """Mean loss and accuracy over documents, each with its standard error; `model` is left in the mode it was in."""
    import torch

    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    order = sorted(range(len(examples)), key=lambda k: len(examples[k].ids))  # less padding
    losses, hits = np.empty(len(examples)), np.empty(len(examples))
    with torch.no_grad():
        for start in range(0, len(order), _AT_ONCE):
            chosen = order[start : start + _AT_ONCE]
            batch = {name: one.to(device) for name, one in collate([examples[k] for k in chosen], pad).items()}
            labels = batch.pop("labels")
            logits = model(**batch).logits.float()
            loss = torch.nn.functional.cross_entropy(logits.transpose(1, -1), labels, reduction="none")
            is_asked = (labels >= 0).float().reshape(len(chosen), -1)
            hit = (logits.argmax(-1) == labels).float().reshape(len(chosen), -1)
            n_asked = is_asked.sum(1)
            losses[chosen] = (loss.reshape(len(chosen), -1).sum(1) / n_asked).double().cpu().numpy()
            hits[chosen] = ((hit * is_asked).sum(1) / n_asked).double().cpu().numpy()
    model.train(was_training)
    if not np.isfinite(losses).all():
        raise PosgeomError("training diverged: a held-out loss is no finite number; use a smaller learning rate")
    documents = np.unique([example.document for example in examples], return_inverse=True)[1]
    return _with_error("loss", losses, documents) | _with_error("accuracy", hits, documents)


def _with_error(name: str, values: NDArray[np.float64], documents: NDArray[np.int64]) -> dict[str, float | None]:
    """Mean over documents, several examples of one counting as one, which they are not independent of each other."""
    means = np.bincount(documents, values) / np.bincount(documents)
    return {name: float(means.mean()), f"{name}_error": float(means.std(ddof=1) / np.sqrt(means.size))}
