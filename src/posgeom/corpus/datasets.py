"""Names of Hugging Face datasets, and directories that ``Dataset.save_to_disk`` wrote."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posgeom.corpus.urls import is_url
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list

PREFIX = "hf:"
DEFAULT_SPLIT = "train"
_DICT_FILE = "dataset_dict.json"
_STATE_FILE = "state.json"
_INFO_FILE = "dataset_info.json"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)
_FORM = "expected hf:NAME[:config][:split], with the name of a dataset on the hub or of a local directory"


@dataclass(frozen=True, slots=True)
class DatasetName:
    """What an ``hf:`` name asks for, on the hub or in a local directory; a lone `config` may turn out to be a split."""

    path: str
    config: str | None = None
    split: str | None = None


def parse_dataset(name: str) -> DatasetName:
    """Take an ``hf:NAME[:config][:split]`` name apart; a directory whose name holds colons wins."""
    rest = name.removeprefix(PREFIX)
    if is_url(rest):
        raise CorpusError(f"{shown(name)}: a URL after hf:: name the URL alone")
    parts = rest.split(":")
    for n_parts in range(len(parts), max(0, len(parts) - 3), -1):
        path = ":".join(parts[:n_parts])
        if _is_directory(path):
            # The library calls a dataset by the last part of its path, which . and .. lack.
            named = path if Path(path).name not in {"", ".."} else str(Path(path).resolve())
            return DatasetName(named, *_optional(parts[n_parts:], name))
    path, *further = parts
    if len(path) == 1 and further and further[0][:1] in ("\\", "/"):
        raise CorpusError(f"{shown(name)}: no such directory: {_FORM}")
    if not _HUB_NAME.fullmatch(path):
        reason = "no such directory" if path else "no name"
        raise CorpusError(f"{shown(name)}: {reason}: {_FORM}")
    return DatasetName(path, *_optional(further, name))


def choose_split(splits: Sequence[str], requested: str | None, name: str) -> str:
    """Choose a split: the one asked for, else ``train``, else the only one."""
    if requested is not None:
        if requested in splits:
            return requested
        raise CorpusError(f"{shown(name)}: no split {shown(requested, 60)}: the splits are {shown_list(splits)}")
    if DEFAULT_SPLIT in splits:
        return DEFAULT_SPLIT
    if len(splits) == 1:
        return splits[0]
    what = f"several splits, {shown_list(splits)}" if splits else "no split"
    raise CorpusError(f"{shown(name)}: {what}: expected one; choose it with {PREFIX}NAME:SPLIT")


def saved_shards(read: Callable[[str], bytes | None], split: str | None, name: str) -> list[str] | None:
    """Names of the Arrow files, in order, in a directory that ``save_to_disk`` of a Dataset or DatasetDict wrote.

    None when it is another kind of directory. `read` gives the content of a file in it, None where there is none.
    """
    prefix = ""
    splits = read(_DICT_FILE)
    if splits is not None:
        listed = _parsed(splits, "splits", name, _DICT_FILE)
        prefix = choose_split([_plain(item, name) for item in listed], split, name) + "/"
    state = read(prefix + _STATE_FILE)
    if state is None or read(prefix + _INFO_FILE) is None:
        if prefix:
            raise CorpusError(f"{shown(name)}: split {shown(prefix[:-1], 60)} is missing: {_SAVE_AGAIN}")
        return None
    if not prefix and split is not None:
        raise CorpusError(f"{shown(name)}: a saved Dataset without splits: leave {shown(split, 60)} out")
    files = _parsed(state, "_data_files", name, prefix + _STATE_FILE)
    shards = [_plain(item.get("filename") if isinstance(item, dict) else None, name) for item in files]
    return [prefix + shard for shard in shards]


_SAVE_AGAIN = "expected a directory as save_to_disk wrote it; save the dataset again"


def _parsed(content: bytes, key: str, name: str, file: str) -> list[object]:
    try:
        values = json.loads(content)[key]
    except (ValueError, RecursionError, LookupError, TypeError):
        values = None
    if not isinstance(values, list):
        raise CorpusError(f"{shown(name)}: damaged {file}: {_SAVE_AGAIN}")
    return values


def _plain(value: object, name: str) -> str:
    """A file or directory name that stays inside the dataset's directory."""
    if not isinstance(value, str) or not value or value in {".", ".."} or re.search(r"[/\\\0]", value):
        raise CorpusError(f"{shown(name)}: names {shown(value, 60)} as one of its files: {_SAVE_AGAIN}")
    return value


def _optional(parts: Sequence[str], name: str) -> tuple[str | None, str | None]:
    if len(parts) > 2:
        raise CorpusError(f"{shown(name)}: {len(parts)} parts after the name: {_FORM}")
    config, split = (*parts, "", "")[:2]
    return config or None, split or None


def _is_directory(path: str) -> bool:
    try:
        return Path(path).is_dir() and path != ""
    except (OSError, ValueError):
        return False
