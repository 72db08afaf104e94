"""Theorem 4 on a checkpoint and a corpus: the hypotheses from the model's own embeddings, projections and loss."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown
from posgeom.models.config import ModelConfig
from posgeom.models.family import PositionTable
from posgeom.models.model import open_model
from posgeom.models.order import load_torch_model
from posgeom.models.position_rows import read_positions
from posgeom.policies import ALPHA
from posgeom.theory.mean_embeddings import mean_embedding_test, projected_embedding_test
from posgeom.theory.separation import SeparationCheck, separation
from posgeom.theory.swap import SwapTest, swap_test, torch_loss

_HEADS = {
    "ForMaskedLM": "AutoModelForMaskedLM",
    "ForCausalLM": "AutoModelForCausalLM",
    "LMHeadModel": "AutoModelForCausalLM",
}
"""Classes that predict tokens, by the end of what a config calls them."""


def separation_of_model(
    model: str | Path, counts: PositionCounts, texts: Sequence[str] = (), *, alpha: float = ALPHA, seed: int = 0
) -> SeparationCheck:
    """Test the hypotheses of Theorem 4 on a model and a corpus; needs the extra ``models``.

    Parameters
    ----------
    model : str or Path
        A directory or a hub name.
    counts : PositionCounts
        Made with the model's own tokenizer.
    texts : sequence of str
        Documents whose tokens are swapped, for H2. It is not run without any, nor where the checkpoint has no head that
        predicts tokens.
    alpha : float
        Of each hypothesis, for all of its pairs together.
    seed : int

    Returns
    -------
    SeparationCheck

    Raises
    ------
    PosgeomError
        When the model cannot be loaded, or the counts are not of its tokenizer.
    """
    opened = open_model(model)
    stack = opened.stacks[0]
    named = ModelConfig(opened.checkpoint.config or {}, opened.checkpoint.name).get("architectures") or [""]
    head = next((auto for ending, auto in _HEADS.items() if str(named[0]).endswith(ending)), None)
    torch_model = load_torch_model(str(model), opened, head or "AutoModel")
    embedding = torch_model.get_input_embeddings().weight.detach().double().numpy()
    h1 = mean_embedding_test(counts, embedding, alpha=alpha, seed=seed)
    h3 = projected_embedding_test(
        counts, embedding, *opened.query_key(stack, 0).whole, positions=h1.positions, alpha=alpha, seed=seed
    )
    swaps = None
    if head is not None and len(texts) > 0:
        n_positions = min(counts.n_positions, stack.n_positions or counts.n_positions)
        swaps = _swapped(str(model), torch_model, head, texts, n_positions, alpha, seed)
    rows = (
        read_positions(opened.tensors, stack.positions).points if isinstance(stack.positions, PositionTable) else None
    )
    return separation(h1, h3, swaps, rows=rows)


def _swapped(
    name: str, torch_model: Any, head: str, texts: Sequence[str], n_positions: int, alpha: float, seed: int
) -> SwapTest:
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name, local_files_only=Path(name).is_dir(), trust_remote_code=False
        )
        encoded = tokenizer(list(texts), truncation=True, max_length=n_positions, return_special_tokens_mask=True)
    except Exception as error:  # noqa: BLE001  the library raises errors without a common root
        raise CheckpointError(f"the tokenizer of {shown(name)} cannot be used: {one_line(error)}") from None
    ids, content = (_padded(encoded[key], fill) for key, fill in (("input_ids", 0), ("special_tokens_mask", 1)))
    mask = _padded([[1] * len(one) for one in encoded["input_ids"]], 0)
    mask_token = tokenizer.mask_token_id if head == "AutoModelForMaskedLM" else None
    if head == "AutoModelForMaskedLM" and mask_token is None:
        raise CheckpointError(f"the tokenizer of {shown(name)} has no mask token, which its model predicts")
    loss = torch_loss(torch_model, mask_token=mask_token, seed=seed)
    return swap_test(loss, ids, mask, content=content == 0, alpha=alpha, seed=seed)


def _padded(lists: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    out = np.full((len(lists), max(map(len, lists))), fill, np.int64)
    for row, one in zip(out, lists, strict=True):
        row[: len(one)] = one
    return out
