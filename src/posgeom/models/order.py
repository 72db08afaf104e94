"""Order sensitivity of a model in use: how far it is from permuting its output as its input is permuted.

Without positions a Transformer encoder is permutation equivariant, f(x P) = P f(x) (Theorem 1 of the paper), so the gap
without the encoding is round-off; with it, the gap says how much the model makes of order.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError, PosgeomError
from posgeom.messages import one_line, shown
from posgeom.models.family import PositionTable, Stack
from posgeom.models.files import HubFiles, LocalFiles
from posgeom.models.interventions import How, altered
from posgeom.models.model import Model, open_model
from posgeom.models.position_rows import read_positions
from posgeom.seeds import make_rng

_NO_TOKENS: tuple[str, ...] = ("vit", "deit", "dinov2", "clip", "clip_text_model", "clip_vision_model", "whisper")
_NO_TOKENS += ("siglip", "siglip_text_model", "siglip_vision_model", "swin", "swinv2")


@dataclass(frozen=True, slots=True)
class OrderSensitivity:
    """Equivariance gaps of a model, each max |f(x P) - P f(x)| over permutations P, positions and channels.

    Attributes
    ----------
    name, model_type, stack, scheme : str
    causal : bool
        Whether a mask hides later tokens, which is order of its own: the gap without the encoding is then not 0.
    n_tokens : int
        Of the sequence; special tokens of a text keep their places.
    n_permutations, seed : int
    gap : float
        With the model's encoding.
    gap_zeroed : float
        Without it.
    gap_shuffled : float
        With its positions in another order.
    round_off : float
        max |f(x) - g(x)|, g being the same model in double precision: what a gap must exceed to mean anything.
    largest : float
        max |f(x)|, for scale.
    gap_double, gap_zeroed_double : float
        The first two gaps in double precision: what is round-off shrinks with the precision, and what is not stays.
    """

    name: str
    model_type: str
    stack: str
    scheme: str
    causal: bool
    n_tokens: int
    n_permutations: int
    seed: int
    gap: float
    gap_zeroed: float
    gap_shuffled: float
    round_off: float
    largest: float
    gap_double: float
    gap_zeroed_double: float


def order_sensitivity(
    model: str | Path, *, text: str | None = None, n_tokens: int = 32, n_permutations: int = 16, seed: int = 0
) -> OrderSensitivity:
    """Measure how much a model makes of the order of its tokens; needs the extra ``models``.

    Parameters
    ----------
    model : str or Path
        A directory or a hub name. Code that comes with a checkpoint is never run.
    text : str, optional
        Tokenised with the model's tokenizer; its special tokens keep their places. By default random tokens,
        none of them special.
    n_tokens : int
        Length of the sequence, at most that of the model; a longer text is cut.
    n_permutations : int
    seed : int

    Returns
    -------
    OrderSensitivity

    Raises
    ------
    PosgeomError
        When torch or transformers is missing, or the model does not take tokens or cannot be loaded.
    """
    if n_tokens < 2 or n_permutations < 1:
        raise PosgeomError(f"got {n_tokens} tokens and {n_permutations} permutations: expected at least 2 and 1")
    rng = make_rng(seed)
    opened = open_model(model)
    if opened.model_type is None or opened.model_type in _NO_TOKENS:
        raise CheckpointError(f"{shown(model)} takes no sequence of tokens, whose order could be changed")
    stack = opened.stacks[0]
    limit = stack.n_positions
    if isinstance(stack.positions, PositionTable):
        limit = read_positions(opened.tensors, stack.positions).points.shape[0]
    n_tokens = min(n_tokens, limit or n_tokens)
    torch_model = load_torch_model(str(model), opened)
    if text is None:
        tokens, movable = _random_tokens(torch_model.config, n_tokens, rng), np.arange(n_tokens)
    else:
        tokens, movable = _tokenised(str(model), text, n_tokens, torch_model.config.vocab_size)
    orders = [_permutation(tokens.size, movable, rng) for _ in range(n_permutations)]
    shuffled = rng.permutation(tokens.size)
    run = _runner(torch_model, stack)
    gaps = []
    ways: tuple[How | None, ...] = (None, "zeroed", "shuffled")
    for how in ways:
        with altered(torch_model, opened, stack, how, shuffled) if how else nullcontext():
            gaps.append(_gap(run, tokens, orders))
    single = run(tokens)
    torch_model.double()
    try:
        double, gap_double = run(tokens), _gap(run, tokens, orders)
        with altered(torch_model, opened, stack, "zeroed", shuffled):
            gap_zeroed_double = _gap(run, tokens, orders)
    except RuntimeError as error:  # experts that have no code in double precision
        raise CheckpointError(f"{shown(model)} does not run in double precision: {one_line(error)}") from None
    return OrderSensitivity(
        name=opened.checkpoint.name,
        model_type=opened.model_type,
        stack=stack.name,
        scheme=stack.positions.kind,
        causal=stack.causal,
        n_tokens=int(tokens.size),
        n_permutations=n_permutations,
        seed=seed,
        gap=gaps[0],
        gap_zeroed=gaps[1],
        gap_shuffled=gaps[2],
        round_off=float(np.abs(single - double).max()),
        largest=float(np.abs(single).max()),
        gap_double=gap_double,
        gap_zeroed_double=gap_zeroed_double,
    )


def _gap(run: Any, tokens: NDArray[np.int64], orders: list[NDArray[np.int64]]) -> float:
    plain = run(tokens)
    return max(float(np.abs(run(tokens[order]) - plain[order]).max()) for order in orders)


def _permutation(n: int, movable: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    order = np.arange(n)
    order[movable] = rng.permutation(movable)
    return order


def _runner(torch_model: Any, stack: Stack) -> Any:
    """From tokens, shape (n,), to the last hidden states, shape (n, d), in float64."""
    import torch

    module = torch_model.get_encoder() if torch_model.config.is_encoder_decoder else torch_model
    options = {"use_cache": False} if stack.causal else {}

    def run(tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        ids = torch.as_tensor(tokens)[None]
        with torch.no_grad():
            # A mask of ones: without one, Bloom builds its bias where nothing can reach it.
            out = module(input_ids=ids, attention_mask=torch.ones_like(ids), **options)
        return np.asarray(out.last_hidden_state[0].double().numpy())

    return run


def load_torch_model(name: str, opened: Model, auto: str = "AutoModel") -> Any:
    """The running model of a checkpoint, by one of the automatic classes of transformers."""
    try:
        import torch
        import transformers
    except ImportError:
        raise PosgeomError("this runs the model: install posgeom[models] (torch, transformers)") from None
    if Path(name).is_file():
        raise CheckpointError(f"{shown(name)} is one file: name the directory of the model, with its config.json")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        torch_model, loaded = getattr(transformers, auto).from_pretrained(
            name,
            local_files_only=Path(name).is_dir(),
            trust_remote_code=False,
            dtype=torch.float32,
            attn_implementation="eager",
            output_loading_info=True,
        )
    except Exception as error:  # noqa: BLE001  the library raises errors without a common root
        raise CheckpointError(f"{shown(name)} cannot be loaded by transformers: {one_line(error)}") from None
    missing = sorted(key for key in loaded["missing_keys"] if "pooler" not in key)
    if missing:
        raise CheckpointError(
            f"{shown(opened.checkpoint.name)} lacks weights of its model, such as {shown(missing[0])}"
        )
    return torch_model.eval()


def _random_tokens(config: Any, n_tokens: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Tokens other than the special ones that the config names."""
    special: set[int] = set()
    for key, value in config.to_dict().items():
        if key.endswith("_token_id") and value is not None:
            special |= set(value) if isinstance(value, list) else {value}
    usable = np.setdiff1d(np.arange(config.vocab_size), np.array(sorted(special), np.int64))
    if not usable.size:
        raise CheckpointError("the model's vocabulary has special tokens only")
    return np.asarray(rng.choice(usable, n_tokens))


def _tokenised(name: str, text: str, n_tokens: int, vocab_size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids of a text with its special tokens, and the places of the others."""
    from tokenizers import Tokenizer

    path = (LocalFiles(Path(name)) if Path(name).is_dir() else HubFiles(name)).find("tokenizer.json")
    if path is None:
        raise CheckpointError(f"{shown(name)} has no tokenizer.json, which a text needs: leave --text out")
    try:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(n_tokens)
        encoded = tokenizer.encode(text)
    except Exception as error:  # noqa: BLE001  the library raises bare Exception
        raise CheckpointError(f"{shown(path)} cannot be used: {one_line(error)}") from None
    tokens = np.array(encoded.ids, np.int64)
    movable = np.flatnonzero(np.array(encoded.special_tokens_mask) == 0)
    if movable.size < 2:
        raise PosgeomError(f"the text has {movable.size} tokens beside special ones: expected at least 2")
    if int(tokens.max()) >= vocab_size:
        raise CheckpointError(f"{shown(path)} gives token {int(tokens.max())}, the model knows {vocab_size:,}")
    return tokens, movable
