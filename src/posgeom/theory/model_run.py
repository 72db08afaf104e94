"""Theorem 4 and the tangent kernel on a checkpoint and a corpus: the model's own embeddings, projections and loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CheckpointError, PosgeomError
from posgeom.estimation.build import geometry
from posgeom.messages import one_line, shown
from posgeom.models.config import ModelConfig
from posgeom.models.family import PositionTable
from posgeom.models.interventions import parameter_name
from posgeom.models.model import open_model
from posgeom.models.order import load_torch_model
from posgeom.models.position_rows import read_positions
from posgeom.policies import ALPHA
from posgeom.theory.empirical_ntk import KernelFit, empirical_kernel, kernel_fit
from posgeom.theory.mean_embeddings import mean_embedding_test, projected_embedding_test
from posgeom.theory.separation import SeparationCheck, separation
from posgeom.theory.swap import swap_test, torch_loss

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
        encoded = _encoded(str(model), texts, min(counts.n_positions, stack.n_positions or counts.n_positions))
        masked = head == "AutoModelForMaskedLM"
        if masked and encoded.mask_token is None:
            raise CheckpointError(f"the tokenizer of {shown(model)} has no mask token, which its model predicts")
        loss = torch_loss(torch_model, mask_token=encoded.mask_token if masked else None, seed=seed)
        swaps = swap_test(loss, encoded.ids, encoded.mask, content=encoded.content, alpha=alpha, seed=seed)
    rows = (
        read_positions(opened.tensors, stack.positions).points if isinstance(stack.positions, PositionTable) else None
    )
    return separation(h1, h3, swaps, rows=rows)


def kernel_of_model(
    model: str | Path, counts: PositionCounts, texts: Sequence[str], *, n_projections: int = 8, seed: int = 0
) -> KernelFit:
    """How much of a model's tangent kernel in P is a function of the corpus's d_H; needs the extra ``models``.

    Parameters
    ----------
    model : str or Path
        A directory or a hub name, of a model with a table of positions.
    counts : PositionCounts
        Their cross-validated distances are used.
    texts : sequence of str
        Documents; those that do not reach the context length of the counts are left out, so that all positions are
        seen equally often.
    n_projections : int
        Random sums of outputs an example.
    seed : int

    Returns
    -------
    KernelFit

    Raises
    ------
    PosgeomError
        When the model has no table, or fewer than two documents are long enough.
    """
    opened = open_model(model)
    table = opened.stacks[0].positions
    if not isinstance(table, PositionTable):
        raise CheckpointError(f"{shown(model)} has positions of kind {table.kind}, no table with a tangent kernel")
    torch_model = load_torch_model(str(model), opened)
    encoded = _encoded(str(model), texts, counts.n_positions)
    whole = encoded.mask.all(axis=1) if encoded.mask.shape[1] == counts.n_positions else np.zeros(0, np.bool_)
    if int(whole.sum()) < 2:
        raise PosgeomError(
            f"{int(whole.sum())} of {len(texts)} documents have {counts.n_positions} tokens: expected 2 or more; count "
            "with a smaller -n"
        )
    kernel = empirical_kernel(
        torch_model,
        parameter_name(torch_model, opened, table.tensor),
        encoded.ids[whole],
        encoded.mask[whole],
        offset=table.offset,
        n_projections=n_projections,
        seed=seed,
    )
    distances = geometry(counts, seed=seed).distances
    return kernel_fit(kernel, distances.values, distances.positions, seed=seed)


@dataclass(frozen=True, eq=False)
class _Encoded:
    """Token ids, attention mask and what is not a special token, each of shape (N, n); and the id that masks."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    content: NDArray[np.bool_]
    mask_token: int | None


def _encoded(name: str, texts: Sequence[str], n_positions: int) -> _Encoded:
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name, local_files_only=Path(name).is_dir(), trust_remote_code=False
        )
        encoded = tokenizer(list(texts), truncation=True, max_length=n_positions, return_special_tokens_mask=True)
    except Exception as error:  # noqa: BLE001  the library raises errors without a common root
        raise CheckpointError(f"the tokenizer of {shown(name)} cannot be used: {one_line(error)}") from None
    ids, special = (_padded(encoded[key], fill) for key, fill in (("input_ids", 0), ("special_tokens_mask", 1)))
    mask = _padded([[1] * len(one) for one in encoded["input_ids"]], 0)
    return _Encoded(ids, mask, special == 0, tokenizer.mask_token_id)


def _padded(lists: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    out = np.full((len(lists), max(map(len, lists))), fill, np.int64)
    for row, one in zip(out, lists, strict=True):
        row[: len(one)] = one
    return out
