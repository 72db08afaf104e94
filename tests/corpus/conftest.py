"""What the corpus tests share: reading in one call, errors checked for their form, the data directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posgeom.corpus.documents import DocumentBatch
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents


def _read(*specs: str | Path, **options: Any) -> list[DocumentBatch]:
    return list(read_documents(specs, ReadOptions(**options)))


@pytest.fixture
def batches() -> Callable[..., list[DocumentBatch]]:
    return _read


@pytest.fixture
def texts() -> Callable[..., list[str]]:
    def read(*specs: str | Path, **options: Any) -> list[str]:
        return [text for batch in _read(*specs, **options) for text in batch.texts]

    return read


@pytest.fixture
def groups() -> Callable[..., list[str]]:
    def read(*specs: str | Path, **options: Any) -> list[str]:
        return [group for batch in _read(*specs, **options) for group in batch.groups or []]

    return read


@pytest.fixture
def refusal() -> Callable[..., str]:
    """Read, expect a `CorpusError`, check that it is one printable line, and give its message."""

    def read(*specs: str | Path, **options: Any) -> str:
        with pytest.raises(CorpusError) as caught:
            _read(*specs, **options)
        message = str(caught.value)
        assert message.isprintable(), message
        assert ": " in message
        return message

    return read
