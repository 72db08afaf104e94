"""Parts of files that can be read on their own, and what the start of a file decides for all its parts."""

from dataclasses import dataclass

from posgeom.options import Format


@dataclass(frozen=True, slots=True)
class Layout:
    """What the first rows of a file decide for all of it: its columns, and the byte where the documents begin.

    `column` is None where JSON lines are strings; `index` and `group` are the places of text and fold value in `names`.
    """

    column: str | None
    names: tuple[str, ...] = ()
    index: int = 0
    group: int | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file that can be read on its own: row groups of a Parquet file, bytes of any other.

    A line belongs to the part in which it starts. `layout` is what the first rows of the file decided, so that no two
    parts decide differently. With `lines_before`, the line feeds before byte ``start - 1``, lines are numbered as in
    the file.
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
