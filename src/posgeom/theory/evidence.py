"""What the claims are checked on: corpora, models and runs that were given, and checks that several claims share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from posgeom.errors import PosgeomError
from posgeom.models.model import Model
from posgeom.paper.inputs import IMDB, N_DIMS, SST2, Corpus, Inputs, PaperCorpus
from posgeom.theory.bounds import Bounds, bounds
from posgeom.theory.mds_claims import Isometry, isometry, random_rows
from posgeom.theory.monotonicity import MonotonicityCheck, monotonicity_check
from posgeom.theory.parametrisation import Parametrisation, parametrisation
from posgeom.theory.stationary_families import StationaryFamilies, stationary_families

T = TypeVar("T")


class AbsentError(PosgeomError):
    """Something that a claim needs is missing; the message says what, and the option that gives it."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was given, and checks that are made once.

    Attributes
    ----------
    inputs : Inputs
        Corpora and models, as for the paper's tables.
    model : str or None
        Name or place of the model, for what runs it.
    run : Path or None
        Directory of a finished training run.
    """

    inputs: Inputs = field(default_factory=Inputs)
    model: str | None = None
    run: Path | None = None
    _made: dict[str, object] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """The seed of whatever is random."""
        return self.inputs.seed

    def corpus(self, what: PaperCorpus) -> Corpus:
        """A corpus of the paper."""
        if what.key not in self.inputs.corpora:
            raise AbsentError(f"{what.title} was not given: {what.option}")
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
        """Inequalities, on the corpora too that were given."""
        given = list(self.inputs.corpora.values())
        return bounds(given[0].counts if given else None, seed=self.seed)

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
