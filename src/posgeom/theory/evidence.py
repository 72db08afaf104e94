"""What the claims are checked on: corpora, models and runs that were given, and checks that several claims share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.models.model import Model
from posgeom.paper.inputs import IMDB, N_DIMS, SST2, Corpus, Inputs, PaperCorpus
from posgeom.paper.needs import of_model
from posgeom.theory.bounds import Bounds, bounds
from posgeom.theory.mds_claims import Isometry, isometry, random_rows
from posgeom.theory.monotonicity import MonotonicityCheck, monotonicity_check
from posgeom.theory.parametrisation import Parametrisation, parametrisation
from posgeom.theory.stationary_families import StationaryFamilies, stationary_families

T = TypeVar("T")


class AbsentError(PosgeomError):
    """Something that a claim needs is missing; the message says what, and the option that gives it."""


_TABLES = (
    *("embeddings.word_embeddings.weight", "embed_tokens.weight", "wte.weight", "shared.weight"),
    *("word_embeddings.weight", "embed_in.weight"),
)
"""What families call their token embeddings."""


def token_embedding(model: Model) -> NDArray[np.float64]:
    """The token embeddings of a model, shape (V, d)."""
    name = next((stored for table in _TABLES if (stored := model.tensors.find(table)) is not None), None)
    if name is None:
        raise AbsentError(f"{shown(model.checkpoint.name)} has no token embeddings of a known name")
    return model.checkpoint.read(name)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Corpora, models and documents of training runs that were given, and checks that are made once."""

    inputs: Inputs = field(default_factory=Inputs)
    model: str | None = None
    _made: dict[str, object] = field(default_factory=dict)

    @property
    def runs(self) -> list[Mapping[str, Any]]:
        """Finished runs of training, each the content of its run.json."""
        return list(self.inputs.runs.values())

    @property
    def seed(self) -> int:
        """The seed of whatever is random."""
        return self.inputs.seed

    def corpus(self, what: PaperCorpus) -> Corpus:
        """A corpus of the paper."""
        if what.key not in self.inputs.corpora:
            raise AbsentError(f"{what.title} was not given: --{what.key} PATH")
        return self.inputs.corpora[what.key]

    @property
    def sst2(self) -> Corpus:
        """SST-2."""
        return self.corpus(SST2)

    @property
    def imdb(self) -> Corpus:
        """IMDB."""
        return self.corpus(IMDB)

    @property
    def opened(self) -> Model:
        """The model that was given."""
        if self.inputs.model is None:
            raise AbsentError("no model was given: --model MODEL")
        return self.inputs.model

    @property
    def is_bert_base(self) -> bool:
        """Whether the model that was given has the sizes of the paper's."""
        return self.inputs.model is not None and of_model(self.inputs, "pretrained", lambda _: None).is_the_papers

    def token_embedding(self, corpus: Corpus) -> NDArray[np.float64]:
        """The token embeddings of the model, shape (V, d), where it has the tokenizer of a corpus."""
        model = self.opened
        table = self.once("token embeddings", lambda: token_embedding(model))
        if len(table) < corpus.counts.vocab_size:
            raise AbsentError(f"{corpus.what.title} was counted with another tokenizer than the model's: -t TOKENIZER")
        return table

    def once(self, name: str, make: Callable[[], T]) -> T:
        """A result that several claims share, made when it is first needed."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[return-value]

    @cached_property
    def families(self) -> StationaryFamilies:
        """Geometries that are stationary by construction."""
        return stationary_families()

    @cached_property
    def bounds(self) -> Bounds:
        """Inequalities, on the first corpus that was given too, with the embeddings of the model where it has them."""
        corpus = next(iter(self.inputs.corpora.values()), None)
        if corpus is None:
            return bounds(seed=self.seed)
        try:
            table = self.token_embedding(corpus)
        except AbsentError:
            return bounds(corpus.counts, seed=self.seed)
        return bounds(corpus.counts, table, seed=self.seed)

    @cached_property
    def isometry(self) -> Isometry:
        """Distances between distributions drawn at random."""
        return isometry(random_rows(self.seed))

    def ranks(self, corpus: Corpus) -> Parametrisation:
        """Every rank of MDS on a corpus."""
        return self.once(f"ranks {corpus.what.key}", lambda: parametrisation(corpus.sound, corpus.paper, n_dims=N_DIMS))

    @cached_property
    def monotonicity(self) -> MonotonicityCheck:
        """Violations on SST-2."""
        return monotonicity_check(self.sst2.sound, self.sst2.paper)
