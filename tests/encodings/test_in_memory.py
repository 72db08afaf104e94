"""What is no encoding, matrix, config or model, given in memory: one line, never a traceback from within."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.encodings.rope_config import rope_from_config
from posgeom.encodings.tensors import tensors_of
from posgeom.errors import PosgeomError

ODD: tuple[Any, ...] = (None, 5, 1.5, {"train": ["a"]}, object(), [["a", "b"]], np.array(["a"]), b"x", [1, [2]])


def build(thing: Any) -> Any:
    return pg.build_encoding(thing, n_positions=8, n_dims=4)


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    pg.learned,
    build,
    tensors_of,
    pg.inspect_model,
    pg.open_model,
    lambda thing: rope_from_config(thing, 8),
    lambda thing: pg.learned(thing, n_positions=2),
)


@pytest.mark.parametrize("thing", ODD, ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_not_one_is_refused(function: Callable[[Any], Any], thing: Any) -> None:
    with pytest.raises(PosgeomError) as caught:
        function(thing)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n", ["8", 8.5, None, True])
def test_numbers_of_positions(n: Any) -> None:
    for make in (pg.alibi, lambda m: pg.sinusoidal(m, 4), lambda m: pg.rope(m, 4)):
        with pytest.raises(PosgeomError, match=r"expected a whole number"):
            make(n)


def test_an_encoding_is_not_built_twice() -> None:
    with pytest.raises(PosgeomError, match="already built"):
        build(pg.sinusoidal(8, 4))
