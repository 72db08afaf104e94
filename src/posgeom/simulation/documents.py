"""Documents drawn from given distributions as real ones are: with topics, runs, copies, authors and unequal lengths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_N, _KEPT, _COPIES, _AUTHORS = 2000, 0.6, 5, 100
Tokens = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Documents:
    """Drawn documents."""

    tokens: Tokens
    """Of shape (n_documents, n_positions)."""
    lengths: NDArray[np.int64]
    """Of shape (n_documents,)."""
    groups: list[str] | None = None
    """What decides the folds; None where texts or rows do."""


def _draw(rng: np.random.Generator, marginal: NDArray[np.float64], n: int) -> Tokens:
    """Independent tokens, shape (n, n_positions)."""
    out = np.empty((n, marginal.shape[0]), np.int64)
    for position, cumulative in enumerate(np.cumsum(marginal, axis=1)):
        out[:, position] = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
    return np.asarray(np.minimum(out, marginal.shape[1] - 1))


def _geometric(rng: np.random.Generator, mean: float, n: int, marginal: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.minimum(rng.geometric(1 / mean, n), marginal.shape[0])


def _full(tokens: Tokens) -> NDArray[np.int64]:
    return np.full(len(tokens), tokens.shape[1])


def independent(rng: np.random.Generator, marginal: NDArray[np.float64], n: int = _N) -> Documents:
    """Documents whose tokens are independent of each other."""
    tokens = _draw(rng, marginal, n)
    return Documents(tokens, _full(tokens))


def unequal(rng: np.random.Generator, marginal: NDArray[np.float64], mean: float, n: int = _N) -> Documents:
    """Documents of geometric length, whose tokens are independent."""
    lengths = _geometric(rng, mean, n, marginal)
    return Documents(_draw(rng, marginal, n), lengths)


def topical(
    rng: np.random.Generator, marginal: NDArray[np.float64], topics: NDArray[np.float64], *, lengths: bool
) -> Documents:
    """Documents of equally likely topics, with distributions of shape (n_topics, n_positions, vocab_size)."""
    topic, tokens = rng.integers(len(topics), size=_N), np.empty((_N, marginal.shape[0]), np.int64)
    for k, distributions in enumerate(topics):
        tokens[topic == k] = _draw(rng, distributions, int((topic == k).sum()))
    return Documents(tokens, _geometric(rng, 12, _N, marginal) if lengths else _full(tokens))


def runs(rng: np.random.Generator, marginal: NDArray[np.float64]) -> Documents:
    """Documents in which a token repeats the one before with probability .6; the marginal is that of the chain."""
    fresh = (marginal[1:] - _KEPT * marginal[:-1]) / (1 - _KEPT)
    tokens = _draw(rng, np.concatenate([marginal[:1], fresh]), _N)
    keep = rng.random(tokens.shape) < _KEPT
    for position in range(1, tokens.shape[1]):
        tokens[keep[:, position], position] = tokens[keep[:, position], position - 1]
    return Documents(tokens, _full(tokens))


def chain(fresh: NDArray[np.float64]) -> NDArray[np.float64]:
    """The marginals of `runs` whose new tokens have these distributions."""
    out = fresh.copy()
    for position in range(1, len(out)):
        out[position] = _KEPT * out[position - 1] + (1 - _KEPT) * fresh[position]
    return out


def families(
    rng: np.random.Generator,
    marginal: NDArray[np.float64],
    *,
    grouped: bool,
    edited: float = 0.1,
    lengths: bool = False,
) -> Documents:
    """Families of five copies of one source, each copy edited by itself."""
    family = np.repeat(np.arange(_N // _COPIES), _COPIES)
    tokens = _draw(rng, marginal, _N // _COPIES)[family]
    fresh, is_edited = _draw(rng, marginal, _N), rng.random(tokens.shape) < edited
    tokens[is_edited] = fresh[is_edited]
    size = _geometric(rng, 12, _N, marginal) if lengths else _full(tokens)
    return Documents(tokens, size, family.astype(str).tolist() if grouped else None)


def authors(rng: np.random.Generator, marginal: NDArray[np.float64]) -> Documents:
    """Documents of a hundred authors, who each use a tenth of the tokens five times as often; grouped by author."""
    author = rng.integers(_AUTHORS, size=_N)
    tokens = np.empty((_N, marginal.shape[0]), np.int64)
    for one in np.unique(author):
        liked = np.where(rng.random(marginal.shape[1]) < 1 / 10, 5.0, 1.0)
        tokens[author == one] = _draw(rng, marginal * liked, int((author == one).sum()))
    return Documents(tokens, _full(tokens), author.astype(str).tolist())
