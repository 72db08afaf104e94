"""Token ids counted as they come: every form gives the same counts, masks and special ids hold their places."""

from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CorpusError

V = 70_000  # ids on both sides of the characters that stand for no text


def table(counts: PositionCounts) -> dict[tuple[int, int], int]:
    keys = zip(counts.position.tolist(), counts.token.tolist(), counts.count.tolist(), strict=True)
    out: dict[tuple[int, int], int] = {}
    for position, token, n in keys:
        out[position, token] = out.get((position, token), 0) + n
    return out


def rows() -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.random.default_rng(0).integers(0, V, (40, 6))


def test_every_form_gives_the_same_counts() -> None:
    ids = rows()
    forms: list[Any] = [
        ids.tolist(),
        list(ids),
        [ids[:25], ids[25:]],
        [ids[:25].astype(np.int32).tolist(), ids[25:].astype(np.uint32)],
        [{"input_ids": ids[:10]}, {"input_ids": ids[10:].tolist(), "attention_mask": np.ones((30, 6), int)}],
    ]
    expected = table(pg.count_ids(forms[0], V, n_positions=6))
    slow: dict[tuple[int, int], int] = {}
    for row in ids.tolist():
        for position, token in enumerate(row):
            slow[position, token] = slow.get((position, token), 0) + 1
    assert expected == slow
    checksums = {pg.count_ids(form, V, n_positions=6).checksum for form in forms}
    assert len(checksums) == 1


def test_padding_on_either_side_moves_nothing() -> None:
    ids, mask = [[0, 0, 5, 6, 7], [5, 6, 7, 0, 0]], [[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]]
    counts = pg.count_ids([{"input_ids": ids, "attention_mask": mask}], 10, n_positions=5)
    assert table(counts) == {(0, 5): 2, (1, 6): 2, (2, 7): 2}


def test_special_ids_hold_their_places_and_are_not_counted() -> None:
    counts = pg.count_ids([[1, 5, 6, 2], [1, 7, 2]], 10, special_ids=[1, 2], n_positions=4)
    assert table(counts) == {(1, 5): 1, (2, 6): 1, (1, 7): 1}
    assert counts.n_documents == 2


def test_they_agree_with_the_tokenizer_that_made_them() -> None:
    texts = [f"{a} {b} {c}" for a in "abc" for b in "bcd" for c in "ade"] * 4
    by_text = pg.count_texts(texts, "chars", n_positions=5)
    by_id = pg.count_ids([[ord(c) for c in text] for text in texts], 200, n_positions=5)
    assert table(by_text) == table(by_id)
    assert (by_text.fold == by_id.fold).all()  # one hash, whatever the text is called
    one, other = (pg.geometry(counts).distances.values for counts in (by_text, by_id))
    np.testing.assert_allclose(one, other)


def test_n_is_chosen_and_sequences_that_it_cuts_are_known() -> None:
    assert pg.count_ids([[1, 2, 3]] * 30, 5).n_positions == 3
    assert pg.count_ids([[1, 2, 3]] * 30, 5, n_positions=2).cut_documents == 30


@pytest.mark.parametrize(
    ("batches", "match"),
    [
        ([[1, 99]], "sequence 1: id 99, expected 0 to 9"),
        ([[1, 2], [-1]], "sequence 2: id -1"),
        ([[0.5, 1.0]], "whole numbers"),
        ([{"ids": [1]}], "without input_ids"),
        ([{"input_ids": [[1, 2]], "attention_mask": [[1]]}], "2 ids with a mask of 1"),
        ([{"input_ids": [[1, 2, 3]], "attention_mask": [[1, 0, 1]]}], "leaves gaps"),
        ({"input_ids": [[1]]}, "expected an iterable"),
        ([], "no documents"),
    ],
)
def test_what_cannot_be_counted_is_refused(batches: Any, match: str) -> None:
    with pytest.raises(CorpusError, match=match):
        pg.count_ids(batches, 10, n_positions=4)


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(CorpusError, match="vocab_size 0"):
        pg.count_ids([[0]], 0)
    with pytest.raises(CorpusError, match="special id 9"):
        pg.count_ids([[0]], 5, special_ids=[9])
