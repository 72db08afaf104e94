"""The files of ``posgeom reproduce``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posgeom.report.files import os_errors_named
from posgeom.report.reproduction import csv_text

JSON, ROWS = "reproduce.json", "reproduce.csv"


def write_reproduction(document: Mapping[str, Any], stage: Path, target: Path) -> list[str]:
    """Write the result to a scratch directory.

    Parameters
    ----------
    document : mapping
        Content of ``reproduce.json``.
    stage : Path
        Where to write.
    target : Path
        Where the files will be, for messages.

    Returns
    -------
    list of str
        Names of the files.

    Raises
    ------
    OutputError
        When one cannot be written.
    """
    with os_errors_named(target):
        (stage / JSON).write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="ascii")
        (stage / ROWS).write_text(csv_text(document), encoding="utf-8", newline="")
    return [ROWS, JSON]
