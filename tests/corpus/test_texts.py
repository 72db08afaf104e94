from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from posgeom.corpus.texts import Texts

STRINGS = ["one", "", "\u4e2d\u6587 x", "\U0001f600", ""]


def check(texts: Texts, strings: list[str]) -> None:
    assert len(texts) == len(strings)
    assert list(texts) == texts.strings() == strings
    assert texts.pieces() == [s.encode() for s in strings]
    data, offsets = texts.contiguous()
    assert data == "".join(strings).encode()
    assert [data[a:b].decode() for a, b in pairwise(offsets)] == strings


def test_from_strings() -> None:
    check(Texts.from_strings(STRINGS), STRINGS)
    check(Texts.from_strings([]), [])
    texts = Texts.from_strings(STRINGS)
    assert Texts.from_strings(texts) is texts
    assert texts[2] == STRINGS[2]
    assert texts[1:3] == STRINGS[1:3]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_from_arrow(kind: pa.DataType) -> None:
    values: list[str | None] = ["skipped", *STRINGS, None, "last", "skipped"]
    array = pa.array([None if v is None else v.encode() for v in values], kind)
    check(Texts.from_arrow(array[1:-1]), [*STRINGS, "", "last"])
    check(Texts.from_arrow(pa.array([], kind)), [])


def test_an_offsets_buffer_may_be_longer_than_its_offsets() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 3], np.int32).tobytes() + b"\0\0")
    check(Texts.from_arrow(pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abc"))), ["a", "bc"])


def test_a_null_that_covers_bytes_is_empty() -> None:
    # The format allows it, though few writers leave such gaps.
    validity, offsets = pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 1, 3, 4], np.int32))
    array = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"axxb"), validity, 1)
    texts = Texts.from_arrow(array)
    check(texts, ["a", "", "b"])


def test_take_shares_the_buffer() -> None:
    texts = Texts.from_strings(STRINGS)
    some = texts.take(np.array([2, 0]))
    check(some, [STRINGS[2], STRINGS[0]])
    assert some.utf8()[0] is texts.utf8()[0]


def test_lone_surrogates_are_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        Texts.from_strings(["\ud800"]).utf8()
