"""Files of a model: in a local directory that they may not leave, or on the Hugging Face hub, each when needed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown

_BLOCK = 1 << 18
"""Bytes of a range request, at least: most headers fit."""
_TENSORS = (".safetensors", ".gguf")


@dataclass(frozen=True)
class Source:
    """A file with tensors: its path, and what opens it where it is elsewhere."""

    path: Path
    opener: Callable[[], BinaryIO] | None = None


class Files(Protocol):
    """Files of a model by name."""

    name: str

    def find_tensors(self, name: str) -> "Source | None":
        """A file with tensors, to be read in parts; None where there is none."""

    def find(self, name: str) -> Path | None:
        """The path of a file, or None where there is none."""


class LocalFiles:
    """Files of a directory.

    Names must be plain, without ``..``, and links may lead only to files of the same directory; or, in the cache of
    the Hugging Face hub, from ``snapshots`` to the ``blobs`` beside it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.name = str(directory)
        real = directory.resolve()
        self._allowed = [real]
        if real.parent.name == "snapshots":
            self._allowed.append(real.parent.parent / "blobs")

    def find_tensors(self, name: str) -> Source | None:
        """A file with tensors; None where there is none."""
        path = self.find(name)
        return Source(path) if path else None

    def models(self) -> list[str]:
        """Files with tensors, and folders with a config, by name."""
        inside = sorted(self.directory.iterdir())
        return [p.name for p in inside if p.suffix in _TENSORS or (p / "config.json").is_file()]

    def find(self, name: str) -> Path | None:
        """The path of a file, or None where there is none."""
        check_name(name, self.name)
        path = self.directory / name
        if not path.is_file():
            return None
        if not any(path.resolve().is_relative_to(root) for root in self._allowed):
            raise CheckpointError(
                f"{shown(path)} is a link out of its directory, which is not followed: name the file itself, or put a "
                "copy there"
            )
        return path


class Inside:
    """Files in a folder of other files."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files, self._folder = files, folder.rstrip("/")
        self.name = f"{files.name}/{self._folder}"

    def find(self, name: str) -> Path | None:
        """The path of a file, or None where there is none."""
        return self._files.find(f"{self._folder}/{name}")

    def find_tensors(self, name: str) -> Source | None:
        """A file with tensors; None where there is none."""
        return self._files.find_tensors(f"{self._folder}/{name}")


class HubFiles:
    """Files of a model on the hub, from the local cache or downloaded; tensors are read by range requests."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find(self, name: str) -> Path | None:
        """The path of a file, or None where the hub and the cache have none."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError, RepositoryNotFoundError

        check_name(name, self.name)
        try:
            # Fails at once without a network, where a download would try again for half a minute.
            get_hf_file_metadata(hf_hub_url(self.name, name))
            return Path(hf_hub_download(self.name, name))
        except RepositoryNotFoundError:
            raise CheckpointError(
                f"no model {shown(self.name)}: it is no directory, no .safetensors file and no model on the hub "
                "that is open to you"
            ) from None
        except LocalEntryNotFoundError as unreachable:
            return self._cached(name, unreachable)
        except EntryNotFoundError:
            return None
        except Exception as unreachable:  # noqa: BLE001  network, cache and validation errors have no common root
            return self._cached(name, unreachable)

    def find_tensors(self, name: str) -> Source | None:
        """A file with tensors, of which no more is fetched than is read; None where there is none."""
        from huggingface_hub import HfFileSystem, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
        from huggingface_hub.errors import EntryNotFoundError

        check_name(name, self.name)
        if isinstance(local := try_to_load_from_cache(self.name, name), str):
            return Source(Path(local))
        if Path(name).suffix != ".safetensors":
            return Source(path) if (path := self.find(name)) else None
        try:
            get_hf_file_metadata(hf_hub_url(self.name, name))
        except EntryNotFoundError:
            return None
        except Exception:  # noqa: BLE001  as below, which says why
            return Source(path) if (path := self.find(name)) else None

        def opened() -> BinaryIO:
            try:
                stream: BinaryIO = HfFileSystem().open(f"{self.name}/{name}", "rb", block_size=_BLOCK)
            except Exception as error:  # noqa: BLE001  network and hub errors have no common root
                raise CheckpointError(f"cannot read {shown(name)} of {shown(self.name)}: {one_line(error)}") from None
            return stream

        return Source(Path(f"{self.name}/{name}"), opened)

    def _cached(self, name: str, unreachable: Exception) -> Path | None:
        from huggingface_hub import hf_hub_download

        def cached(wanted: str) -> Path | None:
            try:
                return Path(hf_hub_download(self.name, wanted, local_files_only=True))
            except Exception:  # noqa: BLE001  as in the caller
                return None

        found = cached(name)
        if found or cached("config.json"):
            return found
        raise CheckpointError(
            f"no model {shown(self.name)} here, and none available from the hub ({one_line(unreachable)[:120]}): "
            "expected a directory, a .safetensors file, or a hub name (owner/model)"
        ) from None


def check_name(name: str, model: str) -> None:
    """Refuse the name of a file that could lie outside its model's directory."""
    parts = name.replace("\\", "/").split("/")
    if not name or not name.isprintable() or any(part in ("", ".", "..") for part in parts) or ":" in parts[0]:
        raise CheckpointError(f"{shown(model)} names the file {shown(name, 100)}: expected one inside its directory")
