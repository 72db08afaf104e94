"""A checkpoint: its config and its tensors by name, in one file or many, read only as far as they are asked for."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import shown, shown_list
from posgeom.models.files import Files, HubFiles, Inside, LocalFiles, Source, check_name
from posgeom.models.gguf_file import GgufFile
from posgeom.models.json_files import read_object
from posgeom.models.pickle_file import PICKLE_SUFFIXES, PickleFile
from posgeom.models.quantised import FLOATS, PACKED, scaled
from posgeom.models.safetensors_file import SafetensorsFile, TensorEntry

WRAPPERS = frozenset({"_orig_mod", "module", "model", "transformer", "base_model", "language_model"})
"""Parts that wrapping puts before a tensor's name, in any number."""
LARGEST_WEIGHT = 1e30
"""Magnitude up to which products of positions and two projections can be squared and summed in double precision."""
_INDEX_SUFFIX = ".index.json"
_WEIGHTS = tuple(name + end for name in ("model.safetensors", "pytorch_model.bin") for end in ("", _INDEX_SUFFIX))


class Store(Protocol):
    """A file with tensors."""

    path: Path
    entries: Mapping[str, TensorEntry]
    bytes_read: int

    def read(self, name: str, rows: slice = ...) -> NDArray[Any]:
        """Read a tensor, or some rows of it."""


class Checkpoint:
    """A model's config, where it has a ``config.json``, or its .gguf file, and its tensors."""

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any] | None,
        files: Mapping[str, "LazyStore"],
        gguf: GgufFile | None = None,
    ) -> None:
        self.name = name
        self.gguf = gguf
        self.config = config
        self._files = files
        self._by_suffix: dict[str, list[str]] = {}
        self._prefixes: frozenset[str] | None = None

    def __repr__(self) -> str:
        return f"<Checkpoint {self.name}: {len(self._files):,} tensors>"

    @property
    def names(self) -> list[str]:
        """Names of the tensors, as stored."""
        return list(self._files)

    @property
    def bytes_read(self) -> int:
        """Bytes of tensors read so far."""
        return sum(file.bytes_read for file in {id(file): file for file in self._files.values()}.values())

    def find(self, name: str, prefixes: Iterable[str] = ()) -> str | None:
        """The stored name of a tensor, whatever wrappers stand before it."""
        allowed = WRAPPERS | frozenset(prefixes)
        if allowed != self._prefixes:
            self._by_suffix, self._prefixes = names_by_suffix(self._files, allowed), allowed
        found = self._by_suffix.get(name, [])
        if len(found) > 1:
            raise CheckpointError(
                f"{shown(self.name)} has {shown_list(found)}, which could all be {shown(name)}: name the tensor to use "
                "with --tensor"
            )
        return found[0] if found else None

    def locate(self, name: str, prefixes: Iterable[str] = ()) -> str:
        """As `find`, of a tensor that must be there."""
        found = self.find(name, prefixes)
        stem = name.removesuffix("weight")
        for end in PACKED if found is None and stem != name else ():
            if (packed := self.find(stem + end, prefixes)) is not None:
                raise CheckpointError(
                    f"{shown(self.name)} has {shown(packed)} for {shown(name)}, packed integers, which are not read: "
                    "use the checkpoint before quantisation"
                )
        if not self._files:
            raise CheckpointError(f"{shown(self.name)} has no weights: expected one of {', '.join(_WEIGHTS)}")
        if found is None:
            raise CheckpointError(
                f"{shown(self.name)} has no tensor {shown(name)}, which its model_type promises; it has "
                f"{shown_list(sorted(self._files), 6)}"
            )
        return found

    def entry(self, name: str) -> TensorEntry:
        """Type and shape of a stored tensor."""
        return self._store(name).entries[name]

    def file_of(self, name: str) -> Path:
        """The file that a stored tensor is in."""
        return self._store(name).path

    def read(self, name: str, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Read a stored tensor of real numbers, or some rows of it, in float64."""
        store = self._store(name)
        entry = store.entries[name]
        if 0 in entry.shape:
            raise CheckpointError(
                f"{shown(store.path)}: tensor {shown(name)} has shape {entry.shape}, no values: a sharded optimizer "
                "keeps them elsewhere; save a gathered checkpoint"
            )
        if entry.dtype == "BOOL" or (not entry.shape and entry.dtype not in FLOATS):
            raise CheckpointError(f"{shown(store.path)}: tensor {shown(name)} is no array of real numbers")
        array = store.read(name, rows).astype(np.float64)
        if entry.dtype not in FLOATS:
            array = scaled(shown(store.path), name, entry.dtype, array, rows, self._files, self.read)
        if not (np.abs(array) <= LARGEST_WEIGHT).all():  # NaN is not below it either
            raise CheckpointError(
                f"{shown(store.path)}: tensor {shown(name)} holds a number that is not finite or beyond "
                f"{LARGEST_WEIGHT:g}: the file is damaged, or training diverged"
            )
        return array

    def _store(self, name: str) -> Store:
        if name not in self._files:
            raise CheckpointError(
                f"{shown(self.name)} has no tensor {shown(name)}: it has {shown_list(sorted(self._files), 8)}"
            )
        store = self._files[name].open()
        if name not in store.entries:
            raise CheckpointError(
                f"{shown(store.path)} has no tensor {shown(name)}, which the index of {shown(self.name)} puts there"
            )
        return store


class LazyStore:
    """A file with tensors, opened when it is first needed."""

    def __init__(self, find: Callable[[], Source]) -> None:
        self._find = find
        self._store: Store | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes of tensors read so far."""
        return self._store.bytes_read if self._store else 0

    def open(self) -> Store:
        """The open file."""
        if self._store is None:
            self._store = open_store(self._find())
        return self._store


def open_store(source: Source) -> Store:
    """Open a file with tensors, by its suffix."""
    path = source.path
    if path.suffix in PICKLE_SUFFIXES:
        return PickleFile(path)
    if path.suffix == ".gguf":
        return GgufFile(path, source.opener)
    if path.suffix != ".safetensors":
        raise CheckpointError(
            f"{shown(path)}: expected a model directory, a .safetensors file, or a hub name (owner/model)"
        )
    return SafetensorsFile(path, source.opener)


def open_checkpoint(model: str | Path) -> Checkpoint:
    """Open a model's checkpoint; its tensors are read later, when they are asked for."""
    if not isinstance(model, str | Path):
        raise CheckpointError(
            f"got {type(model).__name__} for a model: expected the path of a directory or a file, or a hub name"
        )
    path = Path(model)
    if not str(model).strip():
        raise CheckpointError(f"no model at {shown(model)}: expected a directory, a .safetensors file, or a hub name")
    if path.is_file():
        if path.suffix == ".json":
            return Checkpoint(str(model), read_object(path), {})
        beside = LocalFiles(path.parent).find("config.json")
        values = read_object(beside) if beside and path.suffix != ".gguf" else None
        return _of_one_file(str(model), values, Source(path))
    if path.is_dir():
        return _from_files(LocalFiles(path))
    name = str(model)
    if (
        name.startswith((".", "/", "~"))
        or name.count("/") > 1
        or path.suffix in (".safetensors", ".gguf", ".json", *PICKLE_SUFFIXES)
    ):
        raise CheckpointError(f"no model at {shown(name)}: expected a directory, a .safetensors file, or a hub name")
    return _from_files(HubFiles(name))


def _from_files(files: Files) -> Checkpoint:
    files = _transformer_module(files)
    config = files.find("config.json")
    values = read_object(config) if config else None
    for name in _WEIGHTS:
        if name.endswith(_INDEX_SUFFIX):
            if (path := files.find(name)) is not None:
                return Checkpoint(files.name, values, _sharded(files, path))
        elif (source := files.find_tensors(name)) is not None:
            return _of_one_file(files.name, values, source)
    if values is not None:  # enough where positions are a formula
        return Checkpoint(files.name, values, {})
    raise CheckpointError(_nothing_here(files))


def _nothing_here(files: Files) -> str:
    """What a place without a config and weights is, as far as its other files tell."""
    what = f"{shown(files.name)} has no config.json and none of {', '.join(_WEIGHTS)}"
    adapter = files.find("adapter_config.json")
    if adapter is not None:
        base = read_object(adapter).get("base_model_name_or_path")
        return f"{what}: it is an adapter to {shown(base, 100)}: name that model, or one that both were merged into"
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if files.find(name) is not None:
            return f"{what}: it is a tokenizer alone; name the model's directory"
    others = files.models() if isinstance(files, LocalFiles) else []
    return f"{what}" + (f": name one of {shown_list(others)}" if others else "")


def _transformer_module(files: Files) -> Files:
    """The transformer inside a directory of sentence-transformers; the files themselves where there is none."""
    modules = files.find("modules.json")
    if modules is None:
        return files
    listed = read_object(modules, array="modules").get("modules") or []
    paths = [m.get("path") for m in listed if isinstance(m, dict) and str(m.get("type")).endswith(".Transformer")]
    if len(paths) != 1 or not isinstance(paths[0], str):
        raise CheckpointError(f"{shown(modules)} has {len(paths)} transformers: expected one, or name its directory")
    return Inside(files, paths[0]) if paths[0] else files


def _of_one_file(name: str, config: Mapping[str, Any] | None, source: Source) -> Checkpoint:
    file = LazyStore(lambda: source)
    store = file.open()
    return Checkpoint(name, config, dict.fromkeys(store.entries, file), store if isinstance(store, GgufFile) else None)


def _sharded(files: Files, index: Path) -> dict[str, LazyStore]:
    """The file of each tensor: the one that the index names, and no other."""
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise CheckpointError(f"{shown(index)} has no weight_map from tensors to files")
    for name in set(places.values()):
        check_name(name, str(index))
    stores = {name: LazyStore(_finder(files, name, index)) for name in set(places.values())}
    return {tensor: stores[name] for tensor, name in places.items()}


def _finder(files: Files, name: str, index: Path) -> Callable[[], Source]:
    def find() -> Source:
        source = files.find_tensors(name)
        if source is None:
            raise CheckpointError(f"{shown(index)} names the file {shown(name)}, which is missing")
        return source

    return find


def names_by_suffix(names: Iterable[str], allowed: frozenset[str]) -> dict[str, list[str]]:
    """Names of tensors by what is left of them without leading parts that may stand there."""
    found: dict[str, list[str]] = {}
    for name in names:
        parts = name.split(".")
        start = 0
        found.setdefault(name, []).append(name)
        while start < len(parts) - 1 and parts[start] in allowed:
            start += 1
            found.setdefault(".".join(parts[start:]), []).append(name)
    return found
