"""Hugging Face datasets, streamed: from the hub, its cache, or a local directory in the hub's form."""

import importlib
import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from posgeom.corpus.datasets import DatasetName, choose_split
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.failures import remote_failure
from posgeom.corpus.readers.arrow_tables import documents_of, slices, text_column
from posgeom.corpus.sources import Source
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions

_FIRST_VERSION = 4  # older ones run a dataset's own script
_ROWS_AT_ONCE = 1000
_SECONDS = 10
_UNREACHABLE = frozenset({"ConnectionError", "Timeout", "TransportError"})
_NO_DATA = frozenset({"DataFilesNotFoundError", "EmptyDatasetError"})
_INSTALL = "pip install 'posgeom[datasets]'"
_PATIENCE = {
    "STREAMING_READ_MAX_RETRIES": 2,
    "STREAMING_OPEN_MAX_RETRIES": 2,
    "STREAMING_READ_RATE_LIMIT_RETRY_INTERVAL": 20,
}
"""The library would wait minutes, up to an hour, for a server that does not answer."""


def read_dataset(source: Source, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read a dataset row by row, as `datasets.load_dataset` streams it.

    A null text is an empty document. A binary column is decoded as UTF-8.
    """
    name = source.dataset
    if name is None:
        return
    for option, given in (("--whole-files", options.whole_files), ("--format", options.format != "auto")):
        if given:
            raise CorpusError(f"{shown(source.name)}: got {option} for a dataset, which has its own form: leave it out")
    library = _library(source)
    with _quiet(library):
        with _errors(source):
            dataset = _split(library, source, name).with_format("arrow")
            tables = iter(dataset.iter(min(options.batch_size, _ROWS_AT_ONCE)))
            first = next(tables, None)
        if first is None:
            return
        column = text_column(first.schema, options, source)
        options = replace(options, column=column)
        pieces = _pieces(chain([first], tables), options, column, source)
        yield from documents_of(pieces, column, source, options, _errors, lambda _: None)


def _pieces(tables: Iterable[Any], options: ReadOptions, column: str, source: Source) -> Iterator[Any]:
    schema = None
    for table in tables:
        if schema is None or not table.schema.equals(schema):  # files of one dataset may differ in their columns
            schema = table.schema
            text_column(schema, options, source)
        for batch in table.to_batches():
            yield from slices(batch, column, options)


def _split(library: Any, source: Source, name: DatasetName) -> Any:
    """The split asked for, of the configuration asked for; a lone part after the name may be either."""
    _reach_hub(library, source, name)
    lone = name.config if name.split is None and name.config is not None else ""
    try:
        splits = library.load_dataset(name.path, name.config, streaming=True)
    except ValueError as error:
        if not _is_about_configs(error):
            raise
        splits = _default_config(library, name) if lone else {}
        if lone not in splits:
            raise _no_config(library, source, name, list(splits)) from None
        return splits[lone]
    return splits[choose_split(list(splits), name.split, source.name)]


def _reach_hub(library: Any, source: Source, name: DatasetName) -> None:
    """Ask the hub once and with little patience: the library would try for minutes before it looks into its cache."""
    if library.config.HF_HUB_OFFLINE or Path(name.path).is_dir():
        return
    from huggingface_hub import HfApi

    try:
        HfApi(endpoint=library.config.HF_ENDPOINT).dataset_info(name.path, timeout=_SECONDS)
    except Exception as error:  # noqa: BLE001  of whatever HTTP client the hub's library uses
        if _UNREACHABLE & {kind.__name__ for kind in type(error).__mro__}:
            raise CorpusError(
                f"{shown(source.name)}: the hub cannot be reached: check HF_ENDPOINT and the network; for a dataset in"
                " the cache set HF_HUB_OFFLINE=1"
            ) from None
        # Anything else, such as a name it does not know, the library meets again and explains.


def _default_config(library: Any, name: DatasetName) -> dict[str, Any]:
    try:
        return dict(library.load_dataset(name.path, streaming=True))
    except ValueError as error:
        if _is_about_configs(error):
            return {}
        raise


def _is_about_configs(error: ValueError) -> bool:
    return "config" in str(error).lower()


def _no_config(library: Any, source: Source, name: DatasetName, splits: list[str]) -> CorpusError:
    configs = shown_list(library.get_dataset_config_names(name.path))
    if name.config is None:
        return CorpusError(
            f"{shown(source.name)}: several configs, {configs}: expected one; choose it with hf:NAME:CONFIG"
        )
    or_split = f", the splits {shown_list(splits)}" if splits else ""
    what = "config or split" if splits else "config"
    return CorpusError(
        f"{shown(source.name)}: no {what} {shown(name.config, 60)}: the configs are {configs}{or_split};"
        " choose one with hf:NAME:CONFIG"
    )


def _library(source: Source) -> Any:
    try:
        library = importlib.import_module("datasets")
    except ImportError:
        raise CorpusError(f"{shown(source.name)}: needs the package datasets: {_INSTALL}") from None
    if int(library.__version__.partition(".")[0]) < _FIRST_VERSION:
        raise CorpusError(
            f"{shown(source.name)}: datasets {library.__version__} runs scripts that come with a dataset:"
            f" expected {_FIRST_VERSION}.0 or newer; {_INSTALL} --upgrade"
        )
    return library


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """No bars and log lines of the libraries, and less patience than they have; all as before at the end."""
    import huggingface_hub.utils

    with ExitStack() as stack:
        for name in ("datasets", "huggingface_hub"):
            logger = logging.getLogger(name)
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        for bars in (library.utils, huggingface_hub.utils):
            if not bars.are_progress_bars_disabled():
                stack.callback(bars.enable_progress_bars)
                with warnings.catch_warnings(action="ignore"):  # where the environment asks for bars
                    bars.disable_progress_bars()
        for setting, value in _PATIENCE.items():
            if hasattr(library.config, setting):
                stack.callback(setattr, library.config, setting, getattr(library.config, setting))
                setattr(library.config, setting, value)
        yield


@contextmanager
def _errors(source: Source) -> Iterator[None]:
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:  # noqa: BLE001  the library passes on what its readers and the hub's client raise
        name = shown(source.name)
        if "scripts are no longer supported" in str(error):
            raise CorpusError(
                f"{name}: a dataset that is a script, which is never run: expected data files (Parquet, JSONL, CSV or"
                " text); look for a converted copy on the hub"
            ) from None
        if "gated dataset" in str(error):
            error = PermissionError()
        if type(error).__name__ in _NO_DATA:
            raise CorpusError(
                f"{name}: no data files in this dataset: expected Parquet, Arrow, JSONL, CSV or text files; see its"
                " page or directory"
            ) from None
        if isinstance(error, ConnectionError) and importlib.import_module("datasets.config").HF_HUB_OFFLINE:
            raise CorpusError(
                f"{name}: offline, and not in the cache: unset HF_HUB_OFFLINE and HF_DATASETS_OFFLINE, or name a local"
                " directory"
            ) from None
        raise remote_failure(error, "hf://", source.name) from None
