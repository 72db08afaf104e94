"""Documents that spell out an added token: what it does to its surroundings only the reference knows."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines.spaces import MARK, only_marks_spaces


class AddedTokens:
    """The added tokens of a ``tokenizer.json``.

    `are_plain` where a text that holds one, as it is or as it is normalised, spells it out.
    """

    def __init__(self, definition: Mapping[str, Any]) -> None:
        tokens = [token for token in definition.get("added_tokens", ()) if token.get("content")]
        normalised = [str(token["content"]) for token in tokens if token.get("normalized", True)]
        # Where no more is done than to mark spaces, a text has a token without one only if it spells it out.
        self.are_plain = definition.get("normalizer") is None or all(
            only_marks_spaces(definition) and not set(content) & {" ", MARK} for content in normalised
        )
        # By what they begin with, which a text seldom has: hundreds of tokens <|...|> are then looked for at once.
        contents = sorted({str(token["content"]).encode() for token in tokens})
        alike = [list(group) for _, group in groupby(contents, key=lambda content: content[0])]
        self._patterns = [(_common_start(group), re.compile(b"|".join(map(re.escape, group)))) for group in alike]

    def occur_in(self, text: str) -> bool:
        """Whether a text spells out any of them."""
        return bool(self.documents(Texts.from_strings([text])).size)

    def documents(self, texts: Texts) -> NDArray[np.int64]:
        """Numbers of the documents that spell out any of them, increasing."""
        data, starts, ends = texts.utf8()
        places = sorted(
            place
            for start, pattern in self._patterns
            for place in _occurrences(data, start)
            if pattern.match(data, place)
        )
        if not places:
            return np.empty(0, np.int64)
        offsets = np.array(places)
        owners = np.searchsorted(starts, offsets, side="right") - 1
        # A token that crosses the end of a document is none; its document goes to the reference all the same.
        return np.unique(owners[(owners >= 0) & (offsets < ends[owners])])


def _common_start(contents: list[bytes]) -> bytes:
    first, last = contents[0], contents[-1]  # sorted: what these share, all share
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:size]


def _occurrences(data: bytes, start: bytes) -> Iterator[int]:
    """All of them, overlapping ones too: a false one at the end of a document must not hide the next."""
    place = data.find(start)
    while place >= 0:
        yield place
        place = data.find(start, place + 1)
