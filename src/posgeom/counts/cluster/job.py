"""What a run counts, and the manifest that keeps two different runs apart."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from posgeom.counts.cluster.partitions import FileIdentity, Partition
from posgeom.counts.cluster.run_directory import MANIFEST, RunDirectory
from posgeom.counts.tallying import CountSettings
from posgeom.errors import CountsError
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.tokenize.tokenizers import TokenizerIdentity

SCHEMA_VERSION = 2
SAME_EVERYWHERE = ("posgeom", "tokenizers")
"""Packages whose version must be the same on all machines, because the counts may depend on it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker knows beside its partition.

    The tokenizer's definition lies in the run directory. Its engine must be the client's on all workers, since counts
    of two engines are never added up; `requested_engine` is what to ask for to get it.
    """

    run_dir: str
    options: ReadOptions
    counting: CountSettings
    tokenizer: TokenizerIdentity
    engine: str | None
    requested_engine: str
    environment: dict[str, str]

    def settings(self) -> dict[str, str | int | bool | None]:
        """All that the counts depend on beside the files, by a name for messages."""
        options, tokenizer = self.options, self.tokenizer
        return {
            "context length n": self.counting.n_positions,
            "minimum length": self.counting.min_length,
            "number of folds": self.counting.n_folds,
            "number of null replicates": self.counting.null_replicates,
            "kind of the null replicates": self.counting.null_kind if self.counting.null_replicates else None,
            "seed of the null replicates": self.counting.seed if self.counting.null_replicates else None,
            "tokenizer": " ".join(filter(None, (tokenizer.kind, tokenizer.sha256))),
            "format": options.format,
            "column": options.column,
            "column or row that decides folds": options.grouped_by,
            "header": options.header,
            "quoting": options.quoting,
            "whole files": options.whole_files,
            "treatment of invalid UTF-8": options.utf8_errors,
            **{f"version of {what}": value for what, value in self.environment.items()},
        }

    @property
    def digest(self) -> str:
        """Stands for the settings, and for what computes the ids."""
        return hashlib.sha256(json.dumps([self.settings(), self.engine]).encode()).hexdigest()


def environment() -> dict[str, str]:
    """What the counts depend on beside the settings: versions by name."""
    return {name: version(name) for name in SAME_EVERYWHERE} | {"Unicode": unicodedata.unidata_version}


def claim(directory: RunDirectory, job: Job, partitions: Sequence[Partition], size: int | None, changed: bool) -> None:
    """Enter a run in the manifest of its directory, or refuse where another one is entered.

    With `changed`, other files than those of the manifest are accepted, so that only they are counted again.
    """
    files = [asdict(f) for f in dict.fromkeys(f for partition in partitions for f in partition.identities)]
    settings = {**job.settings(), "partition size": size}
    manifest = {"schema_version": SCHEMA_VERSION, "settings": settings, "files": files}
    text = directory.read_text(MANIFEST)
    if text is not None:
        place = shown(directory.place)
        way_out = "name another --run-dir, or delete this one"
        try:
            stored = json.loads(text)
            if stored["schema_version"] != SCHEMA_VERSION:
                raise CountsError(f"run directory {place}: made by another version of posgeom: {way_out}")
            difference = _other_settings(stored["settings"], settings)
            if difference:
                raise CountsError(f"run directory {place}: holds counts with {difference}: {way_out}")
            difference = "" if changed else _other_files(stored["files"], files)
        except (ValueError, TypeError, LookupError, AttributeError):
            raise CountsError(f"run directory {place}: its {MANIFEST} is damaged: {way_out}") from None
        if difference:
            raise CountsError(
                f"run directory {place}: holds counts of another corpus, {difference}: count what is new with"
                f" --recount-changed, {way_out}"
            )
    directory.write_text(MANIFEST, json.dumps(manifest, indent=1))


def _other_settings(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> str:
    for name in mine.keys() | theirs.keys() if mine.keys() != theirs.keys() else mine:
        if theirs.get(name) != mine.get(name):
            return f"{name} {_shown_setting(theirs.get(name))}, not {_shown_setting(mine.get(name))}"
    return ""


def _shown_setting(value: object) -> str:
    return "left out" if value is None else shown(value, 80)


def _other_files(theirs: Sequence[Mapping[str, Any]], mine: Sequence[Mapping[str, Any]]) -> str:
    before = {file["path"]: FileIdentity(**file) for file in theirs}
    now = {file["path"]: FileIdentity(**file) for file in mine}
    for path, file in now.items():
        if path not in before:
            return f"without {shown(path)}"
        if before[path].size != file.size:
            return f"where {shown(path)} had {before[path].size:,} bytes, not {file.size:,}"
        if before[path] != file:
            return f"made before {shown(path)} was changed"
    gone = [path for path in before if path not in now]
    return f"with {shown(gone[0])}" if gone else ""
