"""What builders say alike is filled in: each parameter once, in the order of the signature, as if written there."""

import inspect

import pytest

import posgeom
from posgeom.encodings.documentation import ENTRY, documented, sections_of
from posgeom.encodings.registry import SCHEMES


@pytest.mark.parametrize("build", [*(scheme.build for scheme in SCHEMES.values()), posgeom.learned])
def test_a_builder_documents_each_parameter_once(build: object) -> None:
    start, sections = sections_of(inspect.getdoc(build) or "")
    assert start
    assert list(sections)[:3] == ["Parameters", "Returns", "Raises"]
    entries = [name for names, _ in ENTRY.findall(sections["Parameters"]) for name in names.split(", ")]
    assert entries == list(inspect.signature(build).parameters)  # type: ignore[arg-type]
    assert sections["Returns"] == "Encoding\n"
    assert sections["Raises"].startswith("EncodingError\n    When ")


def test_what_a_builder_says_itself_stands() -> None:
    @documented
    def build(n_positions: int, r1: float, r2: float, head: int | None = None) -> None:
        """A scheme.

        Parameters
        ----------
        r1, r2 : float
            Two radii.
        head : int
            The only one.

        Examples
        --------
        >>> 1 + 1
        2
        """

    assert build.__doc__ == (
        "A scheme.\n\nParameters\n----------\nn_positions : int\n    Context length n.\n"
        "r1, r2 : float\n    Two radii.\nhead : int\n    The only one.\n\n"
        "Returns\n-------\nEncoding\n\nRaises\n------\nEncodingError\n"
        "    When an option is out of range.\n\nExamples\n--------\n>>> 1 + 1\n2\n"
    )


def test_a_parameter_without_a_word_is_refused() -> None:
    def build(unheard: int) -> None:
        """A scheme."""

    with pytest.raises(KeyError, match="unheard"):
        documented(build)


def test_without_docstrings() -> None:
    def build(n_positions: int) -> None:
        pass

    assert documented(build).__doc__ is None
