from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from posgeom.encodings.options import describe, options_of, parameter_helps, parse_options
from posgeom.encodings.registry import SCHEMES
from posgeom.encodings.rotary_scaling import Linear, LongRope, Scaling
from posgeom.errors import EncodingError


def scheme(
    n_positions: int,
    n_dims: int,
    *,
    size: int = 3,
    ratio: float | None = None,
    kind: Literal["a", "b"] = "a",
    flag: bool = False,
    sizes: tuple[int, ...] = (1, 2),
    source: Literal["unit"] | Path | np.ndarray = "unit",
    scaling: Scaling | None = None,
    matrix: np.ndarray | None = None,
    seed: int = 0,
) -> None:
    """Nothing.

    Parameters
    ----------
    n_positions, n_dims : int
    size : int
        How many,
        in ``two`` lines.
    kind, flag : str
        Shared.

    Returns
    -------
    None
    """


def parsed(text: str) -> dict[str, object]:
    return parse_options(f"x:{text}", text, options_of(scheme))


def test_options_of_a_signature() -> None:
    options = options_of(scheme)
    assert list(options) == ["size", "ratio", "kind", "flag", "sizes", "source", "scaling", "seed"]  # not matrix
    assert options["size"].help == "How many, in two lines."
    assert options["kind"].help == options["flag"].help == "Shared."
    assert options["ratio"].help == ""
    assert [o.expected for o in options.values()][:6] == [
        "a whole number",
        "a number",
        "a or b",
        "true or false",
        "whole numbers separated by :",
        "unit or a file",
    ]
    assert options["scaling"].is_choice


def test_values() -> None:
    assert parsed("") == {}
    assert parsed("size=-4,ratio=1e3,kind=b,flag=true,sizes=3:4") == {
        "size": -4,
        "ratio": 1000.0,
        "kind": "b",
        "flag": True,
        "sizes": (3, 4),
    }
    assert parsed("source=unit") == {"source": "unit"}
    assert parsed("source=a.safetensors:tensor=b") == {"source": Path("a.safetensors:tensor=b")}
    assert parsed("factor=2,scaling=linear") == {"scaling": Linear(2)}
    longrope = "scaling=longrope,short_factor=1:2,long_factor=3:4.5,original_length=9,factor=2"
    assert parsed(longrope) == {"scaling": LongRope((1, 2), (3, 4.5), 9, 2)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size", "got 'size', expected option=value; known: size"),
        ("=3", "no option ''"),
        ("size=", "size is '', expected a whole number"),
        ("size=1,size=1", "size is given twice|option size is given twice"),
        ("flag=1", "flag is '1', expected true or false"),
        ("sizes=1:b", "expected whole numbers separated by :"),
        ("source=file", "source is 'file', expected unit or a file"),
        ("factor=2", "no option 'factor' here"),
        ("scaling=linear", r"scaling=linear needs factor \(a number\)"),
        ("scaling=linear,factor=x", "factor is 'x', expected a number"),
        ("matrix=x.npy", "no option 'matrix' here"),
        ("n_dims=3", "no option 'n_dims' here"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        parsed(text)


def test_classes_and_functions_without_annotations() -> None:
    class Own:
        def __init__(self, n_positions, step: int = 2, name="x", *rest, **more) -> None:  # type: ignore[no-untyped-def]
            pass

    class Child(Own):
        """No constructor of its own."""

    for build in (Own, Child):
        options = options_of(build)
        assert {o.name: o.expected for o in options.values()} == {"step": "a whole number", "name": "text"}


def test_annotations_that_do_not_resolve() -> None:
    def odd(n_positions: "Missing", *, size: "Missing" = 3) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass

    assert options_of(odd)["size"].expected == "a whole number"
    assert describe(complex) == ""


def test_docstrings_without_parameters() -> None:
    assert parameter_helps("Nothing.") == {}
    assert parameter_helps("X.\n\nParameters\n----------\na : int\n") == {"a": ""}


def test_every_option_of_every_scheme_is_explained() -> None:
    for name, entry in SCHEMES.items():
        for option in entry.options.values():
            assert option.help, (name, option.name)
