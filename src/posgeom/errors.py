"""The one exception root: every error a user can cause derives from `PosgeomError`.

The command line turns it into one line on stderr and exit code 2, so a message says what was got, what was
wanted and the way out, in one line.
"""


class PosgeomError(Exception):
    """Root of all errors raised on purpose by posgeom."""


class CorpusError(PosgeomError):
    """A corpus cannot be found, read or decoded; the message names the file and, where it can, the row."""


class TokenizerError(PosgeomError):
    """A tokenizer cannot be found, loaded or applied."""


class CountsError(PosgeomError):
    """Position counts are inconsistent, incompatible with each other, or stored in an unreadable file."""


class GeometryError(PosgeomError):
    """A geometry cannot be estimated, or a matrix handed in is not a distance matrix."""


class EncodingError(PosgeomError):
    """A positional encoding is unknown, misconfigured, or holds unusable numbers."""


class CheckpointError(PosgeomError):
    """A model's checkpoint cannot be found, read or understood; the message names the file or the tensor."""


class OutputError(PosgeomError):
    """A result cannot be written."""


class RunError(PosgeomError):
    """A stored run cannot be found, read or understood; the message names the directory or the file."""


def check_type(value: object, kinds: type | tuple[type, ...], expected: str, error: type[PosgeomError]) -> None:
    """Refuse an argument of another kind; `expected` says what it should be, and how to get it."""
    if not isinstance(value, kinds):
        raise error(f"got {type(value).__name__}: expected {expected}")
