"""Counts made before, for the commands that take them instead of a corpus."""

from pathlib import Path

import typer

from posgeom.cli.count import merged_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CorpusError

_FIXED_BY_COUNTING = {
    "tokenizer": "-t",
    "n_positions": "-n",
    "folds": "--folds",
    "min_length": "--min-length",
    "full_length": "--full-length",
    "column": "--column",
    "fold_by": "--fold-by",
    "format_": "--format",
    "header": "--header",
    "quoting": "--quoting",
    "whole_files": "--whole-files",
    "utf8_errors": "--utf8-errors",
    "tokenizer_engine": "--tokenizer-engine",
    "null": "--null",
    "null_kind": "--null-kind",
    "workers": "--workers",
    "engine": "--engine",
    "scheduler": "--scheduler",
    "run_dir": "--run-dir",
    "partition_size": "--partition-size",
    "recount_changed": "--recount-changed",
}
"""Parameters of a command, and their options, that counts have behind them."""


def stored_counts(context: typer.Context, files: list[Path], *, free: str | None = None) -> PositionCounts:
    """Read counts and add them up, unless an option was given, but for a free one, that they leave no choice about."""
    for name, option in _FIXED_BY_COUNTING.items():
        source = context.get_parameter_source(name)
        if name != free and source is not None and source.name != "DEFAULT":
            raise CorpusError(f"{option} was fixed when the counts were made: leave it out, or count again")
    return merged_counts(files)
