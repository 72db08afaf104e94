"""What the paper states, and the bounds that it is read as."""

import re

import pytest

from posgeom.paper.items import ITEMS
from posgeom.paper.values import paper_source, paper_values


def test_a_number_agrees_to_its_digits() -> None:
    value = paper_values()["table4.sst2.alibi"]
    assert (value.text, value.value, value.section, value.unit) == ("0.563", 0.563, "6.3", "")
    assert [value.low, value.high] == pytest.approx([0.5625, 0.5635])
    whole = paper_values()["table4.sst2.ratio"]
    assert (whole.low, whole.high) == (482.5, 483.5)


def test_bounds_and_words_say_how_they_are_read() -> None:
    for name, value in paper_values().items():
        assert value.low < value.high, name
        if value.value is None and not re.search(r"\d", value.text):
            assert value.read_as, name
    rope = paper_values()["table4.imdb.rope"]
    assert (rope.value, rope.low, rope.high, rope.unit) == (None, -3, 3, "%")
    assert "arXiv 2604.05217" in paper_source()


def test_every_value_is_used_and_every_key_is_a_value() -> None:
    keys = {row.key for item in ITEMS.values() for row in item.rows}
    assert keys - {None} == set(paper_values())
