"""What the items are computed from: corpora counted once, models opened once, synthetic corpora drawn once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from posgeom.counts.counting import count
from posgeom.errors import PosgeomError
from posgeom.inference.significance import significance
from posgeom.models.model import Model, open_model
from posgeom.paper.measured import Measured
from posgeom.paper.result import Missing
from posgeom.paper.values import paper_source
from posgeom.progress import ProgressHook, silent
from posgeom.simulation.synthetic import DEFAULT_CONCENTRATION, DEFAULT_PREFERENCE, SyntheticCorpus, synthetic
from posgeom.tokenize.tokenizer_files import TokenizerSpec

N_DIMS = 768
"""Width of the paper's encodings on SST-2 and IMDB."""
N_SEEDS = 20
"""Synthetic corpora, and random encodings, that means and spreads are over."""
BERT_VOCABULARY = 30_522
_OVERLAP = (
    "SST-2: the rows are overlapping phrases of some 7,000 sentences, and the file does not say of which. Phrases of "
    "one sentence fall into both halves, so its sound numbers still hold some noise and their intervals are too narrow."
)


@dataclass(frozen=True)
class Given:
    """What one of the needs of a row comes to: a value, several where rows are means over them, none where missing."""

    values: tuple[Any, ...] = ()
    missing: tuple[Missing, ...] = ()
    is_the_papers: bool = True
    notes: tuple[str, ...] = ()
    other_model: str | None = None
    """Name of a model that has not the sizes of the paper's."""


class Need(Protocol):
    """Something that rows are computed from."""

    @property
    def inputs(self) -> frozenset[str]:
        """Those of sst2, imdb, model and train that it is made of."""

    def of(self, inputs: "Inputs") -> Given:
        """What it comes to."""


@dataclass(frozen=True, slots=True)
class PaperCorpus:
    """A corpus of the paper, with its context length and its size: a need of rows."""

    key: str
    title: str
    n_positions: int
    n_documents: int
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> frozenset[str]:
        """Itself."""
        return frozenset({self.key})

    def of(self, inputs: "Inputs") -> Given:
        """The corpus that was given for it."""
        corpus = inputs.corpora.get(self.key)
        if corpus is None:
            reason = "the corpus is not part of posgeom, and no file of it was named"
            return Given(missing=(Missing(self.title, reason, f"--{self.key} PATH"),))
        other = (
            f"{self.title}: {corpus.counts.n_documents:,} documents and V = {corpus.counts.vocab_size:,} were given, "
            f"the paper's has {self.n_documents:,} and BERT's uncased vocabulary of {BERT_VOCABULARY:,}: its numbers "
            "are not comparable."
        )
        notes = self.notes if corpus.is_the_papers else (other, *self.notes)
        return Given((corpus,), is_the_papers=corpus.is_the_papers, notes=notes)


SST2 = PaperCorpus("sst2", "SST-2", 128, 67_349, (_OVERLAP,))
IMDB = PaperCorpus("imdb", "IMDB", 256, 25_000)


@dataclass(frozen=True, eq=False)
class Corpus(Measured):
    """A corpus that was given for one of the paper's."""

    what: PaperCorpus = field(kw_only=True)

    @property
    def is_the_papers(self) -> bool:
        """Whether it has the size of the paper's, and BERT's vocabulary."""
        return (self.counts.n_documents, self.counts.vocab_size) == (self.what.n_documents, BERT_VOCABULARY)

    @cached_property
    def significant_rank(self) -> int | None:
        """Axes that are more than noise; None where there are too few folds to tell."""
        tested = significance(self.sound, progress=self.progress)
        return None if tested is None else tested.rank


@dataclass(frozen=True, eq=False)
class SyntheticRun(Measured):
    """A synthetic corpus, whose truth is known."""

    corpus: SyntheticCorpus = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The corpora that were given by key, the models, and the seeds that means and spreads are over."""

    corpora: dict[str, Corpus] = field(default_factory=dict)
    model: Model | None = None
    """A pretrained model, or one tuned from it."""
    scratch: Model | None = None
    """One trained from scratch."""
    seed: int = 0
    n_seeds: int = N_SEEDS
    progress: ProgressHook = silent
    concentration: float = DEFAULT_CONCENTRATION
    preference: float = DEFAULT_PREFERENCE
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Runs of training by name, each as the content of its ``run.json``."""
    given_already: dict[Need, Given] = field(default_factory=dict, init=False, repr=False)

    @property
    def seeds(self) -> range:
        """The seeds that means and spreads are over."""
        return range(self.seed, self.seed + self.n_seeds)

    @cached_property
    def synthetic(self) -> tuple[SyntheticRun, ...]:
        """Synthetic corpora, one a seed."""
        runs = []
        for done, seed in enumerate(self.seeds):
            self.progress("synthetic corpora", done, self.n_seeds)
            corpus = synthetic(concentration=self.concentration, preference=self.preference, seed=seed)
            runs.append(SyntheticRun(corpus.counts, seed, corpus=corpus))
        self.progress("synthetic corpora", self.n_seeds, self.n_seeds)
        return tuple(runs)

    def described(self) -> dict[str, Any]:
        """What was run, of which paper, over which seeds: how a document of results begins."""
        software = {"name": "posgeom", "version": version("posgeom")}
        return {"software": software, "paper": paper_source(), "seed": self.seed, "n_seeds": self.n_seeds}

    def given(self, need: Need) -> Given:
        """What a need comes to, computed once."""
        if need not in self.given_already:
            self.given_already[need] = need.of(self)
        return self.given_already[need]

    def only(self, need: Need) -> Any:
        """The one value of a need; None where it is missing."""
        values = self.given(need).values
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class PaperFiles:
    """What was named for the corpora, the tokenizer and the models of the paper."""

    sst2: str | Path | None = None
    imdb: str | Path | None = None
    tokenizer: TokenizerSpec | None = None
    model: str | Path | None = None
    scratch: str | Path | None = None


def open_inputs(
    files: PaperFiles = PaperFiles(),
    *,
    seed: int = 0,
    n_seeds: int = N_SEEDS,
    workers: int | None = None,
    needed: Collection[str] = ("sst2", "imdb", "model"),
    runs: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    progress: ProgressHook = silent,
) -> Inputs:
    """Open those models and count those corpora that were named and are needed."""
    if seed < 0 or n_seeds < 2:
        raise PosgeomError(f"seed {seed} and {n_seeds} seeds: expected 0 or more, and at least 2 seeds")
    paths = (files.model, files.scratch) if "model" in needed else (None, None)
    model, scratch = (None if path is None else open_model(path) for path in paths)
    own = None if files.model is None else _own_tokenizer(files.model)
    corpora = {}
    for what, path in ((SST2, files.sst2), (IMDB, files.imdb)):
        if path is None or what.key not in needed:
            continue
        counts = count(
            path,
            files.tokenizer or own or "bert-base-uncased",
            n_positions=what.n_positions,
            seed=seed,
            workers=workers,
            progress=_named(what, progress),
        )
        corpora[what.key] = Corpus(counts, seed, progress, what=what)
    return Inputs(corpora, model, scratch, seed, n_seeds, progress, runs=runs)


def _own_tokenizer(model: str | Path) -> str | Path | None:
    place = Path(model)
    if not place.exists():  # a name on the hub
        return str(model)
    file = place / "tokenizer.json"
    return file if file.is_file() else None


def _named(what: PaperCorpus, progress: ProgressHook) -> ProgressHook:
    def hook(stage: str, done: int, total: int | None) -> None:
        progress(f"{stage} {what.title}", done, total)

    return hook
