"""What a run counts, and the manifest that keeps two different runs apart."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from posgeom.counts.cluster.partitions import Partition, digest_of
from posgeom.counts.cluster.run_directory import MANIFEST, RunDirectory
from posgeom.counts.tallying import CountSettings
from posgeom.errors import CountsError
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.tokenize.tokenizers import TokenizerIdentity

SCHEMA_VERSION = 3
SAME_EVERYWHERE = ("posgeom", "tokenizers")
"""Packages whose version must be the same on all machines, because the counts may depend on it."""


def environment() -> dict[str, str]:
    """What the counts depend on beside the settings: versions by name."""
    return {name: version(name) for name in SAME_EVERYWHERE} | {"Unicode": unicodedata.unidata_version}


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker knows beside its partition; the tokenizer's definition lies in the run directory."""

    run_dir: str
    options: ReadOptions
    counting: CountSettings
    tokenizer: TokenizerIdentity
    engine: str | None
    """The client's, which all workers must have, since counts of two engines are never added up."""
    requested_engine: str
    environment: dict[str, str] = field(default_factory=environment)

    def settings(self) -> dict[str, str | int | bool | None]:
        """All that the counts depend on beside the files, by a name for messages."""
        options, counting, tokenizer = self.options, self.counting, self.tokenizer
        return {
            "context length n": counting.n_positions,
            "minimum length": counting.min_length,
            "number of folds": counting.n_folds,
            "number of null replicates": counting.null_replicates,
            "kind of the null replicates": counting.null_kind if counting.null_replicates else None,
            "seed of the null replicates": counting.seed if counting.null_replicates else None,
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
        return digest_of([self.settings(), self.engine])


def claim(directory: RunDirectory, job: Job, partitions: Sequence[Partition], size: int | None, changed: bool) -> None:
    """Enter a run in the manifest of its directory, or refuse where another one is entered, but for files `changed`."""
    files = {file.path: asdict(file) for partition in partitions for file in partition.identities}
    settings = {**job.settings(), "partition size": size}
    text = directory.read_text(MANIFEST)
    if text is not None:
        place = shown(directory.place)
        way_out = "name another --run-dir, or delete this one"
        try:
            stored = json.loads(text)
            if stored["schema_version"] != SCHEMA_VERSION:
                raise CountsError(f"run directory {place}: made by another version of posgeom: {way_out}")
            other_settings = _other_settings(stored["settings"], settings)
            other_files = "" if changed else _other_files(stored["files"], files)
        except (ValueError, TypeError, LookupError, AttributeError):
            raise CountsError(f"run directory {place}: its {MANIFEST} is damaged: {way_out}") from None
        if other_settings:
            raise CountsError(f"run directory {place}: holds counts with {other_settings}: {way_out}")
        if other_files:
            raise CountsError(
                f"run directory {place}: holds counts of another corpus, {other_files}: count what is new with"
                f" --recount-changed, {way_out}"
            )
    manifest = {"schema_version": SCHEMA_VERSION, "settings": settings, "files": files}
    directory.write_text(MANIFEST, json.dumps(manifest, indent=1))


def _other_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    for name in dict.fromkeys([*now, *before]):
        if before.get(name) != now.get(name):
            was, is_ = ("left out" if one.get(name) is None else shown(one[name], 80) for one in (before, now))
            return f"{name} {was}, not {is_}"
    return ""


def _other_files(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    for path, file in now.items():
        if path not in before:
            return f"without {shown(path)}"
        if before[path]["size"] != file["size"]:
            return f"where {shown(path)} had {before[path]['size']:,} bytes, not {file['size']:,}"
        if before[path] != file:
            return f"made before {shown(path)} was changed"
    return next((f"with {shown(path)}" for path in before if path not in now), "")
