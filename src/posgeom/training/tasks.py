"""What models are trained to do, made from any corpus: its labels, an order of two tokens, or masked tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import resolve_sources
from posgeom.corpus.texts import digests_of
from posgeom.errors import CorpusError, TokenizerError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions
from posgeom.tokenize.tokenizer_files import TokenizerSpec, load_tokenizer
from posgeom.training_options import TaskName

HELD_OUT = 10
"""One document in so many is held out, by a hash of its text, so that copies stay on one side."""
_MOST_COMMON = 32
"""Most common tokens that the two of an order are chosen from."""
_FEWEST = 50
"""Documents below which there is nothing to train on, or to hold out."""
_MASKED, _TO_MASK, _TO_RANDOM = 0.15, 0.8, 0.1
_IGNORED = -100


@dataclass(frozen=True, slots=True)
class Example:
    """Token ids with special tokens, the label (an id for each token, where tokens are masked), and the document."""

    ids: list[int]
    label: int | list[int]
    document: int


@dataclass(frozen=True, slots=True)
class Probe:
    """A held-out document as it is: ids, places of its content tokens, its label where the task has one."""

    ids: list[int]
    places: list[int]
    label: int | None


@dataclass(frozen=True, eq=False)
class Task:
    """Examples to train on and to be tested on."""

    name: TaskName
    description: str
    labels: tuple[str, ...]
    """What the numbers of labels stand for; empty where tokens are masked."""
    train: list[Example]
    held_out: list[Example]
    probes: list[Probe]
    """What is held out, one a document, without masks or twins."""
    texts: list[str]
    """The documents that the examples to train on are made of: those whose geometry positions are compared with."""
    vocabulary: "Vocabulary"
    chance: float | None
    """Accuracy of the best constant answer on what is held out; None where tokens are masked."""


class Vocabulary:
    """A tokenizer.json as training needs it: ids with special tokens, cut to n positions."""

    def __init__(self, spec: TokenizerSpec, n_positions: int) -> None:
        from tokenizers import Tokenizer

        loaded = load_tokenizer(spec)
        if not hasattr(loaded, "definition"):
            raise TokenizerError(
                f"tokenizer {shown(spec)}: training needs a tokenizer.json, a model directory that holds one, or a hub "
                "name; give it with -t"
            )
        self.loaded, self.n_positions, self.size = loaded, n_positions, loaded.id_space
        self.definition: str = loaded.definition()
        self._backend = Tokenizer.from_str(self.definition)
        self._backend.no_padding()
        self._backend.enable_truncation(n_positions)
        self.pad = self._first("[PAD]", "<pad>") or 0  # masked, so that any id would do
        self.mask = self._first("[MASK]", "<mask>")

    def _first(self, *names: str) -> int | None:
        return next((i for name in names if (i := self._backend.token_to_id(name)) is not None), None)

    def encode(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Ids of each text, and the places of its content tokens."""
        encoded = self._backend.encode_batch(list(texts))
        places = [np.flatnonzero(np.array(one.special_tokens_mask) == 0).tolist() for one in encoded]
        return [one.ids for one in encoded], places

    def token(self, number: int) -> str:
        """The text of a token."""
        return str(self._backend.id_to_token(number))


@dataclass(frozen=True, eq=False)
class _Documents:
    """Documents that were chosen, tokenised; `is_held_out`, shape (n_documents,)."""

    labels: list[str]
    ids: list[list[int]]
    places: list[list[int]]
    is_held_out: NDArray[np.bool_]
    vocabulary: Vocabulary
    most: int | None
    seed: int


_Made = tuple[str, tuple[str, ...], list[Example]]
"""The description of a task, its labels, and all its examples."""


def make_task(
    name: TaskName,
    corpus: Sequence[str],
    vocabulary: Vocabulary,
    *,
    options: ReadOptions,
    max_documents: int | None = None,
    seed: int = 0,
) -> Task:
    """Read a corpus and make a task of it; `options.fold_by` names the column of labels, where they are learned."""
    if name == "label" and options.fold_column is None:
        raise CorpusError("task label: name the column of labels with --label NAME")
    texts: list[str] = []
    labels: list[str] = []
    for batch in read_sources(resolve_sources(corpus, options), options):
        texts += batch.texts
        labels += batch.groups or []
    digests = digests_of([text.encode(errors="surrogatepass") for text in texts])
    # By hash, so that the first ones are a sample, which depends neither on the order of the files nor on the seed.
    chosen = np.argsort(digests, kind="stable")[: None if name == "order" else max_documents]
    kept = [texts[k] for k in chosen.tolist()]
    ids, places = vocabulary.encode(kept)
    is_held_out = digests[chosen] % np.uint64(HELD_OUT) == 0
    own = [labels[k] for k in chosen.tolist()] if name == "label" else []
    documents = _Documents(own, ids, places, is_held_out, vocabulary, max_documents, seed)
    description, names, examples = _TASKS[name](documents)
    train = [one for one in examples if not is_held_out[one.document]]
    held_out = [one for one in examples if is_held_out[one.document]]
    trained_on = dict.fromkeys(one.document for one in train)
    first = {one.document: one for one in reversed(held_out)}  # of twins, the document itself
    for what, n in (("train on", len(trained_on)), ("hold out", len(first))):
        if n < _FEWEST:
            raise CorpusError(f"task {name}: {n} documents to {what}, expected at least {_FEWEST}: use a larger corpus")
    return Task(
        name,
        description,
        names,
        train,
        held_out,
        [
            Probe(ids[k], places[k], one.label if isinstance(one.label, int) else None)
            for k, one in sorted(first.items())
        ],
        [kept[k] for k in trained_on],
        vocabulary,
        float(np.bincount([one.label for one in held_out]).max() / len(held_out)) if names else None,
    )


def _by_label(documents: _Documents) -> _Made:
    names = sorted(set(documents.labels))
    if not 2 <= len(names) <= len(documents.ids) // 2:
        raise CorpusError(f"the column of labels has {len(names)} values ({shown_list(names, 4)}): expected 2 or more")
    number = {name: k for k, name in enumerate(names)}
    pairs = zip(documents.ids, documents.labels, strict=True)
    examples = [Example(ids, number[label], k) for k, (ids, label) in enumerate(pairs)]
    return "the label of the document", tuple(names), examples


def _by_order(documents: _Documents) -> _Made:
    first, second, places = _pair(documents)
    examples = []
    for document, (i, j) in list(places.items())[: documents.most]:
        ids = documents.ids[document]
        twin = list(ids)
        twin[i], twin[j] = twin[j], twin[i]
        examples += [Example(ids, int(i < j), document), Example(twin, int(j < i), document)]
    names = [shown(documents.vocabulary.token(token)) for token in (first, second)]
    description = (
        f"which of the tokens {names[0]} and {names[1]} comes first, in documents that hold each of them once; each "
        "document stands beside its twin with the two exchanged, so that both orders are equally frequent and bags of "
        "words tell nothing"
    )
    return description, (f"{names[1]} first", f"{names[0]} first"), examples


def _pair(documents: _Documents) -> tuple[int, int, dict[int, tuple[int, int]]]:
    """Two common tokens whose rarer order is in the most documents, and where they stand in each that has both once."""
    content = [[ids[k] for k in places] for ids, places in zip(documents.ids, documents.places, strict=True)]
    train = [row for row, held in zip(content, documents.is_held_out.tolist(), strict=True) if not held]
    counts = np.bincount(np.fromiter((token for row in train for token in row), np.int64))
    common = np.argsort(-counts, kind="stable")[:_MOST_COMMON].tolist()
    where = np.full((len(content), len(common)), -1)
    for row, (tokens, places) in enumerate(zip(content, documents.places, strict=True)):
        for column, token in enumerate(common):
            if tokens.count(token) == 1:
                where[row, column] = places[tokens.index(token)]

    def rarer_order(pair: tuple[int, int]) -> int:
        both = where[~documents.is_held_out][:, pair]
        both = both[(both >= 0).all(axis=1)]
        return int(min((both[:, 0] < both[:, 1]).sum(), (both[:, 0] > both[:, 1]).sum()))

    a, b = max(combinations(range(len(common)), 2), key=rarer_order)
    rows = np.flatnonzero((where[:, [a, b]] >= 0).all(axis=1)).tolist()
    return common[a], common[b], {row: (int(where[row, a]), int(where[row, b])) for row in rows}


def _by_masks(documents: _Documents) -> _Made:
    vocabulary = documents.vocabulary
    if vocabulary.mask is None:
        raise TokenizerError("task mlm: the tokenizer has no token [MASK] or <mask>: choose another with -t")
    examples = []
    for k, (ids, places) in enumerate(zip(documents.ids, documents.places, strict=True)):
        if not places:
            continue
        rng = np.random.default_rng([documents.seed, k])
        draws = rng.random(len(places))
        masked, labels = list(ids), [_IGNORED] * len(ids)
        for rank in np.argsort(draws)[: max(1, round(_MASKED * len(places)))].tolist():
            place, fate = places[rank], rng.random()
            labels[place] = ids[place]
            if fate < _TO_MASK:
                masked[place] = vocabulary.mask
            elif fate < _TO_MASK + _TO_RANDOM:
                masked[place] = int(rng.integers(vocabulary.size))
        examples.append(Example(masked, labels, k))
    description = f"tokens under masks, {_MASKED:.0%} of each document, as BERT has them, drawn once"
    return description, (), examples


_TASKS: Mapping[TaskName, Callable[[_Documents], _Made]] = MappingProxyType(
    {"label": _by_label, "order": _by_order, "mlm": _by_masks}
)


def collate(examples: Sequence[Example], pad: int) -> dict[str, Any]:
    """A batch of tensors, padded to its longest example."""
    import torch

    longest = max(len(one.ids) for one in examples)

    def padded(rows: Sequence[list[int]], fill: int) -> Any:
        return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])

    labels = [one.label for one in examples]
    return {
        "input_ids": padded([one.ids for one in examples], pad),
        "attention_mask": padded([[1] * len(one.ids) for one in examples], 0),
        "labels": torch.tensor(labels)
        if isinstance(labels[0], int)
        else padded([label for label in labels if isinstance(label, list)], _IGNORED),
    }
