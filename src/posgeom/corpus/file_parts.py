"""Parts of files that can be read on their own, and what the start of a file decides for all its parts."""

from dataclasses import dataclass

from posgeom.corpus.documents import Format


@dataclass(frozen=True, slots=True)
class Layout:
    """What the first rows of a file decide for all of it.

    Attributes
    ----------
    column : str or None
        The text column, as results name it; None where JSON lines are strings.
    names : tuple of str
        All columns of a delimited file.
    index, group : int, and int or None
        Which of `names` hold the text and the group.
    start : int
        Byte where the documents begin, behind a header.
    """

    column: str | None
    names: tuple[str, ...] = ()
    index: int = 0
    group: int | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file that can be read on its own.

    Attributes
    ----------
    start, stop : int
        Row groups of a Parquet file; bytes of any other, where a line belongs to the part in which it starts.
    format : str
        What the file is.
    layout : Layout or None
        What its first rows decided, so that no two parts decide differently; None where there is nothing to decide.
    lines_before : int or None
        Line feeds before byte ``start - 1``, to number lines as in the whole file; None numbers them from the part.
    """

    start: int
    stop: int
    format: Format
    layout: Layout | None = None
    lines_before: int | None = None

    @property
    def is_inner(self) -> bool:
        """Whether it is a byte range that begins inside its file."""
        return self.format != "parquet" and self.start > 0
