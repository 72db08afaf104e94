"""What the items are computed from: corpora counted once, models opened once, synthetic corpora drawn once."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from posgeom.analysis import CONVENTIONS
from posgeom.counts.counting import count
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import PosgeomError
from posgeom.estimation.build import Geometry, geometry
from posgeom.inference.significance import significance
from posgeom.models.model import Model, open_model
from posgeom.paper.result import Estimate, Missing
from posgeom.progress import ProgressHook, silent
from posgeom.simulation.synthetic import DEFAULT_CONCENTRATION, DEFAULT_PREFERENCE, SyntheticCorpus, synthetic
from posgeom.tokenize.tokenizer_files import TokenizerSpec

N_DIMS = 768
"""Width of the paper's encodings on SST-2 and IMDB."""
N_SEEDS = 20
"""Synthetic corpora, and random encodings, that means and spreads are over."""
BERT_VOCABULARY = 30_522
_BERT_BASE = ("bert", 12, 12, 768)


@dataclass(frozen=True, slots=True)
class PaperCorpus:
    """A corpus of the paper.

    Attributes
    ----------
    key, title : str
    n_positions, n_documents : int
        Its context length, and its size.
    option : str
        That names it on the command line.
    """

    key: str
    title: str
    n_positions: int
    n_documents: int
    option: str


SST2 = PaperCorpus("sst2", "SST-2", 128, 67_349, "--sst2 PATH")
IMDB = PaperCorpus("imdb", "IMDB", 256, 25_000, "--imdb PATH")


@dataclass(frozen=True, eq=False)
class Corpus:
    """A counted corpus, and its geometry in the paper's convention and in the sound one.

    Attributes
    ----------
    what : PaperCorpus
    counts : PositionCounts
    seed : int
    progress : callable
    """

    what: PaperCorpus
    counts: PositionCounts
    seed: int
    progress: ProgressHook = silent

    @property
    def is_the_papers(self) -> bool:
        """Whether it has the size of the paper's, and BERT's vocabulary."""
        found = (self.counts.n_documents, self.counts.vocab_size)
        return found == (self.what.n_documents, BERT_VOCABULARY)

    @cached_property
    def paper(self) -> Geometry:
        """Plug-in distances, empty positions uniform."""
        return geometry(self.counts, seed=self.seed, progress=self.progress, **CONVENTIONS["paper"])

    @cached_property
    def sound(self) -> Geometry:
        """Cross-validated distances, empty and shallow positions masked."""
        return geometry(self.counts, seed=self.seed, progress=self.progress, **CONVENTIONS["sound"])

    @cached_property
    def significant_rank(self) -> int | None:
        """Axes that are more than noise; None where there are too few folds to tell."""
        tested = significance(self.sound, progress=self.progress)
        return None if tested is None else tested.rank


@dataclass(frozen=True, eq=False)
class SyntheticRun:
    """A synthetic corpus and its two geometries.

    Attributes
    ----------
    corpus : SyntheticCorpus
    paper, sound : Geometry
    seed : int
    """

    corpus: SyntheticCorpus
    paper: Geometry
    sound: Geometry
    seed: int


@dataclass(frozen=True, eq=False)
class Inputs:
    """Corpora, models and seeds.

    Attributes
    ----------
    corpora : mapping of str to Corpus
        Those that were given, by key.
    model, scratch : Model or None
        A pretrained model or one tuned from it, and one trained from scratch.
    seed : int
        First seed.
    n_seeds : int
        Synthetic corpora, and random encodings.
    progress : callable
    concentration, preference : float
        Of the synthetic corpora, see `synthetic`.
    """

    corpora: dict[str, Corpus] = field(default_factory=dict)
    model: Model | None = None
    scratch: Model | None = None
    seed: int = 0
    n_seeds: int = N_SEEDS
    progress: ProgressHook = silent
    concentration: float = DEFAULT_CONCENTRATION
    preference: float = DEFAULT_PREFERENCE

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
            paper, sound = (geometry(corpus.counts, seed=seed, **CONVENTIONS[name]) for name in ("paper", "sound"))
            runs.append(SyntheticRun(corpus, paper, sound, seed))
        self.progress("synthetic corpora", self.n_seeds, self.n_seeds)
        return tuple(runs)


def open_inputs(
    *,
    sst2: str | Path | None = None,
    imdb: str | Path | None = None,
    tokenizer: TokenizerSpec | None = None,
    model: str | Path | None = None,
    scratch: str | Path | None = None,
    seed: int = 0,
    n_seeds: int = N_SEEDS,
    workers: int | None = None,
    wanted: Collection[str] = ("sst2", "imdb", "model"),
    progress: ProgressHook = silent,
) -> Inputs:
    """Open the models and count the corpora that were given."""
    if seed < 0 or n_seeds < 2:
        raise PosgeomError(f"seed {seed} and {n_seeds} seeds: expected 0 or more, and at least 2 seeds")
    models = [None if path is None or "model" not in wanted else open_model(path) for path in (model, scratch)]
    chosen = tokenizer or (_own_tokenizer(model) if model is not None else None) or "bert-base-uncased"
    corpora = {}
    for what, path in ((SST2, sst2), (IMDB, imdb)):
        if path is None or what.key not in wanted:
            continue
        counts = count(
            path,
            chosen,
            n_positions=what.n_positions,
            seed=seed,
            workers=workers,
            progress=_named(what, progress),
        )
        corpora[what.key] = Corpus(what, counts, seed, progress)
    return Inputs(corpora, models[0], models[1], seed, n_seeds, progress)


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


def corpus_missing(what: PaperCorpus) -> Missing:
    """Why there are no numbers of a corpus."""
    return Missing(what.title, "the corpus is not part of posgeom, and no file of it was named", what.option)


def model_missing(what: str, option: str) -> Missing:
    """Why there are no numbers of a model."""
    return Missing(what, "weights are not part of posgeom, and none were named", option)


def is_bert_base(model: Model) -> bool:
    """Whether a model has the sizes of the paper's."""
    stack = model.stack()
    return (model.model_type, stack.n_uses or stack.n_layers, stack.n_heads, stack.width) == _BERT_BASE


def value_of(estimate: Estimate | None) -> float:
    """The value of an estimate that cannot be undefined here."""
    return defined(None if estimate is None else estimate.value)


def defined(value: float | None) -> float:
    """A score that cannot be undefined here."""
    if value is None:
        raise PosgeomError("a stress is undefined: all positions of the corpus have one and the same distribution")
    return value
