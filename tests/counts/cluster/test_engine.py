"""Counting on two worker processes: the local engine's counts, whatever the corpus is like and whatever was done."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from dask.utils import parse_bytes
from distributed import Client, LocalCluster

import posgeom
from posgeom.corpus.sources import resolve_sources
from posgeom.counts import tallying
from posgeom.counts.cluster import client as dask_client
from posgeom.counts.cluster import tasks
from posgeom.counts.cluster.client import WorkerMemoryError, connected, run_tasks
from posgeom.counts.cluster.job import environment
from posgeom.counts.cluster.partitions import plan
from posgeom.counts.counting import count
from posgeom.errors import CorpusError, CountsError, OutputError, PosgeomError, TokenizerError
from posgeom.options import ReadOptions
from posgeom.progress import silent
from posgeom.tokenize.tokenizers import ByteTokenizer
from tests.counts.cluster.helpers import Count, assert_identical, count_here, words
from tests.counts.test_counting import CHECKSUMS


def partials(run_dir: Path) -> dict[str, tuple[int, int]]:
    """What identifies the files written, by key: inode and time."""
    return {p.stem: (p.stat().st_ino, p.stat().st_mtime_ns) for p in (run_dir / "partials").iterdir()}


@pytest.mark.parametrize("tokenizer", ["whitespace", "chars"])
def test_the_counts_are_the_local_engines(on_cluster: Count, corpus: Path, tmp_path: Path, tokenizer: str) -> None:
    settings: dict[str, Any] = {"tokenizer": tokenizer, "n_positions": 16, "n_folds": 4}
    whole = count(corpus, **settings)
    for size in (1500, "20kB", None):
        run_dir = tmp_path / f"run-{size}"
        assert_identical(on_cluster(corpus, **settings, partition_size=size, run_dir=run_dir), whole)
        assert {p.name for p in run_dir.iterdir()} == {"manifest.json", "partials"}
        n_parts = len(plan(resolve_sources([corpus], ReadOptions()), ReadOptions(), parse_bytes(size or "4MiB")))
        assert len(partials(run_dir)) == n_parts


@pytest.mark.parametrize("tokenizer", ["whitespace", "bytes"])
def test_documents_that_are_long_enough(on_cluster: Count, corpus: Path, tokenizer: str) -> None:
    settings: dict[str, Any] = {"tokenizer": tokenizer, "n_positions": 12, "min_length": 12, "null_replicates": 1}
    whole = count(corpus, **settings)
    assert whole.short_documents > 0
    found = on_cluster(corpus, **settings, partition_size=1500)
    assert_identical(found, whole)
    assert found.short_documents == whole.short_documents
    with pytest.raises(CorpusError, match="take fewer than 400 positions"):
        on_cluster(corpus, n_positions=400, min_length=400, partition_size=4000, run_dir=corpus.parent / "other")


def test_berts_tokenizer_travels_as_its_definition(on_cluster: Count, data_dir: Path, bert: Path) -> None:
    log = data_dir / "HDFS_2k.log"
    whole = count(log, bert, n_positions=32)
    assert_identical(on_cluster(log, bert, n_positions=32, partition_size=30_000), whole)


def test_one_tokenizer_serves_runs_of_other_lengths(on_cluster: Count, tmp_path: Path, bert: Path) -> None:
    (tmp_path / "a.txt").write_text(words(200))
    for n in (4, 9, 4):
        found = on_cluster(tmp_path / "a.txt", bert, n_positions=n, run_dir=tmp_path / f"run-{n}")
        assert_identical(found, count(tmp_path / "a.txt", bert, n_positions=n))


def test_a_thousand_small_partitions(on_cluster: Count, tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text(words(2000))
    told: list[tuple[str, int, int | None]] = []
    size = path.stat().st_size / 1000
    found = on_cluster(path, "bytes", n_positions=8, partition_size=int(size), progress=lambda *args: told.append(args))
    assert_identical(found, count(path, "bytes", n_positions=8))
    assert len(partials(tmp_path / "run")) >= 1000
    counting = [done for stage, done, _ in told if stage == "counting"]
    assert counting == sorted(counting)
    assert counting[0] == 0
    assert counting[-1] == path.stat().st_size == told[0][2]
    adding = [(done, total) for stage, done, total in told if stage == "adding up"]
    assert adding == [(i, len(adding)) for i in range(1, len(adding) + 1)]
    assert len(adding) >= 32 + 1


def test_analyze_takes_the_engine(cluster: LocalCluster, corpus: Path, tmp_path: Path) -> None:
    where = {"engine": "dask", "scheduler": cluster.scheduler_address, "run_dir": tmp_path / "run"}
    found = posgeom.analyze(corpus, n_positions=8, n_dims=8, null_replicates=2, **where)  # type: ignore[arg-type]
    assert_identical(found.counts, count(corpus, n_positions=8, null_replicates=2))


def test_a_finished_run_is_not_done_again(on_cluster: Count, corpus: Path, tmp_path: Path) -> None:
    first = on_cluster(corpus, partition_size=4000)
    before = partials(tmp_path / "run")
    assert_identical(on_cluster(corpus, partition_size=4000), first)
    assert partials(tmp_path / "run") == before


def test_half_written_counts_are_made_again(on_cluster: Count, corpus: Path, tmp_path: Path) -> None:
    first = on_cluster(corpus, partition_size=4000)
    before = partials(tmp_path / "run")
    halved = sorted((tmp_path / "run/partials").iterdir())[0]
    halved.write_bytes(halved.read_bytes()[: halved.stat().st_size // 2])
    assert_identical(on_cluster(corpus, partition_size=4000), first)
    after = partials(tmp_path / "run")
    assert after.keys() == before.keys()
    assert {key for key in after if after[key] != before[key]} == {halved.stem}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_positions": 9}, "context length n '8', not '9'"),
        ({"n_folds": 3}, "number of folds '10', not '3'"),
        ({"null_replicates": 1}, "number of null replicates '0', not '1'"),
        ({"min_length": 8}, "minimum length left out, not '8'"),
        ({"tokenizer": "chars"}, "tokenizer 'whitespace', not 'chars'"),
        ({"options": ReadOptions(utf8_errors="replace")}, "treatment of invalid UTF-8 'strict', not 'replace'"),
        ({"partition_size": 5000}, "partition size '4000', not '5000'"),
        ({"partition_size": None}, "partition size '4000', not left out"),
    ],
)
def test_other_settings_are_refused(corpus: Path, tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    def start(**changed: Any) -> None:
        # Refused before anybody is asked for workers: there is no scheduler at this address.
        usual: dict[str, Any] = {"tokenizer": "whitespace", "n_positions": 8, "partition_size": 4000}
        where: dict[str, Any] = {"engine": "dask", "scheduler": "tcp://127.0.0.1:9", "run_dir": tmp_path / "run"}
        count(corpus, **(where | usual | changed))

    (tmp_path / "run").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_client, "_CONNECT_SECONDS", 0.1)
        with pytest.raises(CountsError, match="no Dask scheduler at 'tcp:"):
            start()
    with pytest.raises(CountsError, match="name another --run-dir, or delete this one") as refused:
        start(**settings)
    assert message in str(refused.value)


def test_a_changed_corpus_is_refused_or_its_changes_counted(on_cluster: Count, corpus: Path, tmp_path: Path) -> None:
    def start(**changed: Any) -> posgeom.PositionCounts:
        return on_cluster(corpus, partition_size=4000, **changed)

    start()
    before = partials(tmp_path / "run")
    changed = corpus / "1.txt"
    status, content = changed.stat(), changed.read_text()
    changed.write_text(content.replace("w1", "w2"))
    os.utime(changed, ns=(status.st_atime_ns, status.st_mtime_ns))  # size and time are those of before
    with pytest.raises(CountsError, match=r"made before '.*1\.txt' was changed"):
        start()
    changed.write_text(content + "more\n")
    with pytest.raises(CountsError, match=r"1\.txt' had [0-9,]+ bytes, not [0-9,]+: count what is new with --recount"):
        start()
    (corpus / "4.txt").write_text("a new file\n")
    assert_identical(start(recount_changed=True), count(corpus))
    after = partials(tmp_path / "run")
    kept = {key for key in before if after.get(key) == before[key]}
    assert len(kept) > len(before) / 2
    assert_identical(start(), count(corpus))
    (corpus / "4.txt").unlink()
    with pytest.raises(CountsError, match=r"another corpus, with '.*4\.txt'"):
        start()
    (corpus / "0.txt").rename(corpus / "9.txt")
    with pytest.raises(CountsError, match=r"another corpus, without '.*9\.txt'"):
        start()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 1}', '{"schema_version": 99}'])
def test_a_strange_manifest_is_refused(corpus: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/manifest.json").write_text(content)
    with pytest.raises(CountsError, match="delete this one"):
        count(corpus, engine="dask", run_dir=tmp_path / "run")


def test_a_poisoned_partition_is_named_and_the_rest_is_kept(on_cluster: Count, corpus: Path, tmp_path: Path) -> None:
    path = corpus / "2.txt"
    lines = path.read_bytes().split(b"\n")
    sound = lines[700]
    lines[700] = b"broken \xff here"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(CorpusError) as local:
        count(corpus)
    with pytest.raises(CorpusError) as refused:
        on_cluster(corpus, partition_size=4000)
    assert "2.txt', line 701: invalid UTF-8" in str(local.value)
    assert str(refused.value).startswith(str(local.value))
    kept = partials(tmp_path / "run")
    assert f"({len(kept)} of {len(kept) + 1} partitions are kept in" in str(refused.value)
    with pytest.raises(CorpusError, match="line 701"):
        on_cluster(corpus, partition_size=4000)
    assert partials(tmp_path / "run") == kept
    lines[700] = sound
    path.write_bytes(b"\n".join(lines))
    assert_identical(on_cluster(corpus, partition_size=4000, recount_changed=True), count(corpus))
    assert sum(partials(tmp_path / "run").get(key) == kept[key] for key in kept) > len(kept) / 2


def test_several_poisoned_partitions_are_counted_and_the_first_named(on_cluster: Count, tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"row {i}"}) for i in range(300)]
    for i in (250, 120, 199):
        rows[i] = "{broken"
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    with pytest.raises(CorpusError, match=r"line 121: not JSON .* \(2 more of 12 partitions failed; 9 of 12 "):
        on_cluster(tmp_path / "a.jsonl", partition_size=500)


def test_a_corpus_without_content_is_refused(on_cluster: Count, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n" * 100)
    with pytest.raises(CorpusError, match="all 100 documents"):
        on_cluster(tmp_path / "a.txt", partition_size=10)
    (tmp_path / "b.txt").write_text("")
    with pytest.raises(CorpusError, match="no documents in"):
        on_cluster(tmp_path / "b.txt", run_dir=tmp_path / "other")


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text(words(50))
    counted = tallying.count_sources

    def meanwhile(*arguments: Any, **settings: Any) -> posgeom.PositionCounts:
        result = counted(*arguments, **settings)
        path.write_text(words(60))
        return result

    monkeypatch.setattr(tasks, "count_sources", meanwhile)
    with pytest.raises(CorpusError, match="changed while the corpus was being counted"):
        count_here([path], 10**6, tmp_path / "run")
    path.unlink()
    with pytest.raises(CorpusError, match="no such file"):
        count_here([path], 10**6, tmp_path / "run")


def test_workers_that_keep_dying_are_one_line(mortal: LocalCluster) -> None:
    scheduler: Any = mortal.scheduler
    with pytest.MonkeyPatch.context() as patch, Client(mortal, set_as_default=False) as client:
        patch.setattr(scheduler, "allowed_failures", 0)
        [(number, failure)] = run_tasks(client, os._exit, {3: 1}, lambda _: "'big.txt'")
    assert number == 3
    assert str(failure).startswith("'big.txt': 1 workers died while they had it, most likely for lack of memory")


def test_a_failure_of_the_cluster_is_one_line(cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as client:
        failures = dict(run_tasks(client, int, {0: "x", 1: "1", 2: "y"}, "'{}.txt'".format))
    assert "'x.txt': the cluster failed (ValueError: invalid literal" in str(failures[0])
    assert failures[1] is None
    assert str(failures[2]).startswith("'y.txt'")


def test_a_death_counts_against_few_of_those_that_wait(mortal: LocalCluster) -> None:
    scheduler: Any = mortal.scheduler
    with pytest.MonkeyPatch.context() as patch, Client(mortal, set_as_default=False) as client:
        patch.setattr(scheduler, "allowed_failures", 0)
        # Workers need not find this file: a function of it would be none to them.
        calls = {i: "__import__('os')._exit(1)" if i == 0 else "__import__('time').sleep(0.02)" for i in range(41)}
        failures = dict(run_tasks(client, eval, calls, str))
    assert isinstance(failures[0], WorkerMemoryError)
    assert sum(failure is not None for failure in failures.values()) < 5


def test_work_begins_when_workers_come(corpus: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0") as empty:

        def hook(stage: str, done: int, total: int | None) -> None:
            told.append((stage, done, total))
            if (stage, done) == ("waiting for workers", 0):
                empty.scale(1)

        where: dict[str, Any] = {"scheduler": empty.scheduler_address, "run_dir": tmp_path / "run"}
        assert_identical(count(corpus, engine="dask", progress=hook, **where), count(corpus))
    assert told[:2] == [("waiting for workers", 0, None), ("waiting for workers", 1, 1)]


def test_out_of_memory_is_one_line(in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*arguments: Any, **settings: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "count_sources", exhausted)
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(CountsError, match=r"'.*a\.txt': out of memory on"):
        count(tmp_path / "a.txt", engine="dask", run_dir=tmp_path / "run")


def test_other_versions_on_workers_are_refused(tmp_path: Path) -> None:
    class Others:
        def run(self, *arguments: Any, **settings: Any) -> dict[str, object]:
            return {"tcp://a": self.found}

        def __init__(self, found: object) -> None:
            self.found = found

    with pytest.raises(CountsError, match=r"worker 'tcp://a' has posgeom 0\.0\.1, this client posgeom"):
        dask_client._check_versions(Others("0.0.1"))  # type: ignore[arg-type]
    with pytest.raises(CountsError, match="worker 'tcp://a' has no posgeom, this client posgeom"):
        dask_client._check_versions(Others(ImportError()))  # type: ignore[arg-type]
    with pytest.raises(CountsError, match="install the same version on both"):
        tasks._check_worker(str(tmp_path), tuple({**environment(), "Unicode": "1.0"}.items()))
    with pytest.raises(OutputError, match="does not find the run directory"):
        tasks._check_worker(str(tmp_path / "nowhere"), tuple(environment().items()))


class OwnTokenizer(ByteTokenizer):
    """A tokenizer that workers do not know."""


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"engine": "spark"}, CountsError, "engine 'spark': expected one of local, dask"),
        ({"engine": "local", "scheduler": "x"}, CountsError, "got scheduler, which means nothing to the local engine"),
        ({"engine": "local", "recount_changed": True}, CountsError, "got recount changed"),
        ({"scheduler": "x", "workers": 2}, CountsError, "got 2 workers and a scheduler"),
        ({"scheduler": "x"}, CountsError, "no run directory"),
        ({"scheduler": "no address", "run_dir": "run"}, CountsError, "no Dask scheduler at 'no address'"),
        ({"partition_size": "big"}, CountsError, "partition size 'big': expected at least 1 byte"),
        ({"partition_size": 0}, CountsError, "partition size '0'"),
        ({"workers": 0}, CountsError, "0 workers"),
        ({"tokenizer": OwnTokenizer()}, TokenizerError, "has no definition to send to workers"),
    ],
)
def test_impossible_requests_are_refused(
    corpus: Path,
    tmp_path: Path,
    settings: dict[str, Any],
    error: type[PosgeomError],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dask_client, "_CONNECT_SECONDS", 1)
    with pytest.raises(error, match=message):
        count(corpus, **({"engine": "dask"} | settings))
    assert [p.name for p in tmp_path.iterdir()] == ["corpus"]


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "http://host:8786", "tcp://host:port", ""])
def test_no_client_is_made_for_what_is_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # One that never had a connection waits half a minute for its end, and leaves a traceback.
    monkeypatch.setattr(dask_client, "Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(CountsError, match=f"no Dask scheduler at '{address}'"), connected(address, 1, silent):
        pass


def test_the_extra_is_named_where_it_is_missing(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posgeom.counts.cluster.engine.find_spec", lambda name: None)
    with pytest.raises(CountsError, match=r"needs dask and distributed and fsspec: install .*posgeom\[dask\]"):
        count(corpus, engine="dask")


def test_a_public_corpus_in_parts_and_in_reverse(on_cluster: Count, data_dir: Path, bert: Path, tmp_path: Path) -> None:
    column, n, expected = CHECKSUMS["sst2"]
    table = pq.read_table(data_dir / "sst2.parquet", columns=[column])
    backwards = table.take(list(range(table.num_rows))[::-1])
    pq.write_table(backwards, tmp_path / "parts.parquet", row_group_size=4000)
    found = on_cluster(tmp_path / "parts.parquet", bert, n_positions=n, partition_size=200_000)
    assert found.checksum.startswith(expected)
    assert len(partials(tmp_path / "run")) > 5
