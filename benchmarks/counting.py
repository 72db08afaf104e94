"""Counting against the usual way, in turn in one run, with the counts compared: ``python -m benchmarks.counting``.

The usual way is `tokenizers` with `encode_batch` in batches of 2,000 and a NumPy increment for each document. A ratio
says how many times longer it takes. Every way reads the same Parquet file; tokenizers are loaded before the clock
starts. POSGEOM_DATA names the directory of the corpora. ``memory`` as an argument measures peak memory instead, each
stream in a process of its own.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from posgeom.counts.counting import count, count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.tokenize.tokenizer_files import load_tokenizer

ROUNDS, REPEATS = 3, 3
"""Times in turn, and how often each of ours in its turn: they are short."""
GIB = 1 << 30
Counted = NDArray[np.int64]


def usual_way(path: Path, column: str, tokenizer: Tokenizer, n: int) -> Counted:
    """Count without folds, special tokens included as they come, truncated by hand."""
    counts = np.zeros((n, tokenizer.get_vocab_size()), np.int64)
    for batch in pq.ParquetFile(path).iter_batches(2000, columns=[column]):
        for encoding in tokenizer.encode_batch(batch.column(0).to_pylist()):
            ids = np.array(encoding.ids[:n])
            counts[np.arange(ids.size), ids] += 1
    return counts


def content_only(counts: Counted, tokenizer: Tokenizer, path: Path, column: str, n: int) -> Counted:
    """Without opening and closing special tokens, and what the closing one displaces."""
    if not tokenizer.num_special_tokens_to_add(False):
        return counts
    counts = np.zeros_like(counts)
    for batch in pq.ParquetFile(path).iter_batches(2000, columns=[column]):
        for encoding in tokenizer.encode_batch(batch.column(0).to_pylist()):
            ids = np.array(encoding.ids[1:-1][: n - 2])
            counts[1 + np.arange(ids.size), ids] += 1
    return counts


def floor(path: Path, column: str, n_tokens: int, n_cells: int) -> float:
    """Seconds that one thread needs to read, decode and scan the text and to add so many tokens up."""
    cells = np.random.default_rng(0).integers(0, n_cells, n_tokens)
    counts = np.ones(n_cells, np.int64)
    start = time.perf_counter()
    for batch in pq.ParquetFile(path).iter_batches(2000, columns=[column]):
        data = batch.column(0).buffers()[2].to_pybytes()
        data.decode()
        np.flatnonzero(np.frombuffer(data, np.uint8) == 0x20)
    np.add.at(counts, cells, 1)
    return time.perf_counter() - start


def dense(counts: PositionCounts, vocab_size: int) -> Counted:
    """All folds together, shape (n, V)."""
    out = np.zeros((counts.n_positions, vocab_size), np.int64)
    np.add.at(out, (counts.position, counts.token), counts.count)
    return out


def race(title: str, path: Path, column: str, tokenizer: Tokenizer, n: int, engines: tuple[str, ...]) -> None:
    """Time the usual way and ours in turn; print medians, ratios and whether the counts agree."""
    ours = {engine: load_tokenizer(tokenizer, engine) for engine in engines}
    ways: dict[str, Callable[[], object]] = {"the usual way": lambda: usual_way(path, column, tokenizer, n)}
    for engine, loaded in ours.items():
        ways[engine] = lambda t=loaded: count(path, t, column=column, n_positions=n)  # type: ignore[misc]
    ways["auto, with null"] = lambda: count(path, ours[engines[0]], column=column, n_positions=n, null_replicates=1)
    times: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, object] = {}
    turns = [name for name in ways for _ in range(1 if name == "the usual way" else REPEATS)]
    for _ in range(ROUNDS):
        for name in turns:
            start = time.perf_counter()
            results[name] = ways[name]()
            times[name].append(time.perf_counter() - start)
    expected = content_only(np.asarray(results["the usual way"]), tokenizer, path, column, n)
    medians = {name: median(values) for name, values in times.items()}
    print(f"\n{title}")
    for name, seconds in medians.items():
        verdict = ""
        found = results[name]
        if isinstance(found, PositionCounts):
            same = np.array_equal(dense(found, tokenizer.get_vocab_size()), expected)
            verdict = ("same counts, " if same else "COUNTS DIFFER, ") + "; ".join(found.engines + found.engine_notes)
        print(f"  {name:<16} {seconds:8.3f} s {medians['the usual way'] / seconds:7.1f} x  {verdict}")
    print(f"  null / without   {medians['auto, with null'] / medians[engines[0]]:8.2f} x the time")
    n_tokens = int(expected.sum())
    lowest = median(floor(path, column, n_tokens, expected.size) for _ in range(ROUNDS))
    print(
        f"  {'floor, 1 thread':<16} {lowest:8.3f} s {medians['the usual way'] / lowest:7.1f} x  "
        f"{medians[engines[0]] / lowest:.1f} times away"
    )


def texts(path: Path, column: str) -> Iterator[str]:
    """Documents of a Parquet file."""
    for batch in pq.ParquetFile(path).iter_batches(2000, columns=[column]):
        yield from batch.column(0).to_pylist()


def byte_level(path: Path, column: str, vocab_size: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer of the GPT-2 kind on the corpus itself."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts(path, column), trainer)
    return tokenizer


def unigram(path: Path, column: str) -> Tokenizer:
    """Train a unigram tokenizer that splits its text at spaces."""
    trainer = trainers.UnigramTrainer(vocab_size=8000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    return _with_marks(Tokenizer(models.Unigram()), trainer, path, column)


def whole_unigram(path: Path, column: str) -> Tokenizer:
    """Train a unigram tokenizer and let it see whole texts."""
    tokenizer = unigram(path, column)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    return tokenizer


def whole_merges(path: Path, column: str) -> Tokenizer:
    """Train merges and let them see whole texts, spaces marked by the normalizer, as the first Llamas do."""
    trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=["<unk>"], show_progress=False)
    tokenizer = _with_marks(Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True)), trainer, path, column)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    parsed = json.loads(tokenizer.to_str())
    return Tokenizer.from_str(json.dumps(parsed | {"pre_tokenizer": None}))


def _with_marks(tokenizer: Tokenizer, trainer: trainers.Trainer, path: Path, column: str) -> Tokenizer:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator((text for i, text in enumerate(texts(path, column)) if i % 10 == 0), trainer)
    # Rounded as its file does: ties between tokens are decided by the last digits of their scores.
    return Tokenizer.from_str(tokenizer.to_str())


def speed(data: Path) -> None:
    """Print the table of speeds."""
    bert = Tokenizer.from_file(str(data / "bert-uncased" / "tokenizer.json"))
    bert.no_padding()
    bert.no_truncation()
    sst2, imdb = data / "sst2.parquet", data / "imdb.parquet"
    wordpiece = ("auto", "chunks", "reference")
    race("SST-2, n = 128, BERT's WordPiece", sst2, "sentence", bert, 128, wordpiece)
    race("IMDB, n = 256, BERT's WordPiece", imdb, "text", bert, 256, wordpiece)
    bpe = byte_level(imdb, "text", 32_000)
    race("IMDB, n = 256, byte-level BPE, V = 32,000", imdb, "text", bpe, 256, ("auto", "fastokens", "chunks"))
    for title, make in (
        ("unigram on words", unigram),
        ("merges, no splitting", whole_merges),
        ("unigram, no splitting", whole_unigram),
    ):
        race(f"SST-2, n = 128, {title}, V = 8,000", sst2, "sentence", make(sst2, "sentence"), 128, ("auto",))
        race(f"IMDB, n = 256, {title}, V = 8,000", imdb, "text", make(imdb, "text"), 256, ("auto",))


def short_documents(data: Path) -> PositionCounts:
    """Ten million documents of up to seven words, as a stream."""
    bert = data / "bert-uncased" / "tokenizer.json"
    stream = (f"event {i % 9973} took {i % 619} ms at node {i % 31}" for i in range(10_000_000))
    return count_texts(stream, bert, n_positions=128)


def long_stream(data: Path) -> PositionCounts:
    """IMDB again and again, until 20 GB of text have gone by."""
    documents = list(texts(data / "imdb.parquet", "text"))
    n_times = -(-20_000_000_000 // sum(len(text.encode()) for text in documents))
    stream = (text for _ in range(n_times) for text in documents)
    return count_texts(stream, data / "bert-uncased" / "tokenizer.json", n_positions=512)


STREAMS = {"short": short_documents, "long": long_stream}


def memory() -> None:
    """Print peak memory of each stream."""
    for name, function in STREAMS.items():
        print(f"{(function.__doc__ or '').rstrip('.')}:", flush=True)
        subprocess.run([sys.executable, "-m", "benchmarks.counting", "memory", name], check=True)


def measure(name: str, data: Path) -> None:
    """Count one stream in this process and print its peak memory."""
    start = time.perf_counter()
    counts = STREAMS[name](data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"  {counts.n_documents:,} documents, {counts.n_tokens:,} tokens, {time.perf_counter() - start:.0f} s, "
        f"peak {peak / GIB:.2f} GiB",
        flush=True,
    )


def main() -> None:
    """Run what the arguments ask for."""
    if "POSGEOM_DATA" not in os.environ:
        sys.exit("POSGEOM_DATA does not name the directory of the corpora: counting is not measured")
    data = Path(os.environ["POSGEOM_DATA"])
    match sys.argv[1:]:
        case []:
            speed(data)
        case ["memory"]:
            memory()
        case ["memory", name]:
            measure(name, data)


if __name__ == "__main__":
    main()
