"""The ledger: every claim of the paper, each with a verdict that a run gave. A claim is a row; rows are run alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from posgeom.errors import PosgeomError
from posgeom.paper.inputs import Corpus
from posgeom.paper.values import paper_source
from posgeom.theory import geometry_claims as geometry
from posgeom.theory import kernel_claims as kernels
from posgeom.theory import model_claims as models
from posgeom.theory import run_claims as runs
from posgeom.theory.evidence import Evidence
from posgeom.theory.verdict import VERDICTS, Finding, Verdict, plain

SCHEMA_VERSION = 1
SST2, IMDB, MODEL, SCRATCH, RUN = "--sst2 PATH", "--imdb PATH", "--model MODEL", "--scratch MODEL", "--run DIR"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper in our words.

    Attributes
    ----------
    number : int
    section, text : str
    check : callable
        From what was given to a finding; its docstring says what it does.
    needs : tuple of str
        Options that give it something to work on, some of which it may do without.
    """

    number: int
    section: str
    text: str
    check: Callable[[Evidence], Finding]
    needs: tuple[str, ...] = ()


_ROWS: tuple[tuple[str, str, Callable[[Evidence], Finding], tuple[str, ...]], ...] = (
    (
        "3, Theorem 1",
        "A Transformer without a positional signal is permutation-equivariant, at every depth.",
        models.equivariance,
        (MODEL,),
    ),
    ("3", "So no task that depends on order can be learned without an encoding.", runs.needs_encoding, (RUN,)),
    (
        "4, Table 1",
        "H1: the mean embeddings of any two positions of a real corpus differ.",
        models.mean_embeddings_differ,
        (SST2, IMDB, MODEL),
    ),
    ("4, Table 1", "H2: swapping the tokens of any two positions raises the loss.", runs.swaps_raise_loss, (RUN,)),
    (
        "4, Table 1",
        "H3: M tells mean embeddings apart, at usual initialisations and through training.",
        models.projection_sees,
        (IMDB, MODEL),
    ),
    (
        "4, Theorem 4",
        "Every global minimiser of the loss gives positions distinct rows.",
        models.distinct_rows,
        (MODEL,),
    ),
    (
        "6.5",
        "A minimum separation of 0.70 after training from scratch shows the theorem at work.",
        models.separation_of_scratch,
        (),
    ),
    (
        "6.5",
        "Fine-tuning changes the minimum separation by less than 1 %.",
        runs.separation_of_tuning,
        (RUN,),
    ),
    ("5.2", "d_H is the geodesic distance of the Fisher metric.", geometry.geodesic, ()),
    ("5.2", "An exact isometry into a flat space cannot be had in general.", geometry.no_isometry, ()),
    (
        "5.3, Proposition 6",
        "Classical MDS is the best approximation, and minimises stress.",
        geometry.mds_minimises_stress,
        (SST2,),
    ),
    ("6.2", "A stress of .009 at d = 16 is residual curvature.", geometry.stress_is_curvature, ()),
    (
        "5.4",
        "Where d_H depends on the lag alone, B is about circulant and its eigenvectors are sinusoids.",
        geometry.circulant,
        (),
    ),
    (
        "5.4",
        "Hence the sinusoidal encoding is about the optimum of MDS on smooth corpora.",
        geometry.sinusoid_optimal,
        (),
    ),
    (
        "5, Remark 8",
        "The rank of B is the intrinsic dimension: 64 on SST-2, 254 on IMDB.",
        geometry.rank_is_dimension,
        (SST2, IMDB),
    ),
    (
        "5, Remark 8",
        "r(n + d) parameters in place of n d save 42 % on SST-2, and little on IMDB.",
        geometry.parameters_saved,
        (SST2, IMDB),
    ),
    (
        "5, Remark 8 and Table 2",
        "Rank 3 has stress .047, 99.8 % below the sinusoid, with 88 % fewer parameters.",
        geometry.rank_three,
        (),
    ),
    (
        "5, Remark 8",
        "Where d_H is a function of the lag, B has rank about 1, as ALiBi has.",
        geometry.rank_one,
        (),
    ),
    ("6.3", "MDS is an exact isometry at d = 768.", geometry.exact_at_768, (SST2, IMDB)),
    (
        "6.3",
        "ALiBi's low stress shows that d_H is about a function of the lag on SST-2.",
        geometry.alibi_shows_lag,
        (SST2,),
    ),
    (
        "6.3, 7",
        "The ratio 483 of the sinusoid's stress to ALiBi's quantifies what practitioners observe.",
        geometry.sinusoid_over_alibi,
        (SST2,),
    ),
    (
        "6.3",
        "RoPE is within 3 % of the sinusoid, since frequencies decide.",
        geometry.rope_near_sinusoid,
        (SST2,),
    ),
    ("6.4", "The sinusoid's stress grows exponentially with d.", geometry.stress_exponential, (SST2,)),
    (
        "6.6",
        "That MDS violates 22.0 % of the triples on SST-2, and random rows 50 %, supports the conjecture.",
        geometry.violations_support,
        (SST2,),
    ),
    (
        "6.6",
        "Pretrained positions violate 25.4 % of the triples, those from scratch 48.2 %.",
        models.violations_of_models,
        (MODEL, SCRATCH),
    ),
    (
        "6.7",
        "The Pearson correlation with d_H is 1.000 for MDS, .036 from scratch and .168 pretrained.",
        models.correlations,
        (SST2, MODEL, SCRATCH),
    ),
    (
        "6.8",
        "Stress peaks in layer 3, which therefore reorganises position most.",
        models.peak_layer,
        (SST2, MODEL),
    ),
    (
        "6.8",
        "Layers that are not trained have a stress near 0, so there is no misalignment.",
        models.fresh_layers,
        (SST2, MODEL),
    ),
    (
        "A, hypothesis A1",
        "The kernel f(d_H) is positive definite for an increasing f.",
        kernels.kernel_exists,
        (),
    ),
    (
        "A, Lemma 12",
        "KL <= 2 sqrt 2 d_H for distributions bounded away from 0.",
        geometry.kl_above,
        (SST2,),
    ),
    ("A", "KL >= d_H^2 / 2.", geometry.kl_below, (SST2,)),
    (
        "A, Lemma 16",
        "Mean embeddings and attention weights are Lipschitz in d_H, with the constants given.",
        models.lipschitz,
        (SST2, MODEL),
    ),
    ("A, Lemma 18", "The flow converges to alpha^-1 b.", kernels.flow_converges, ()),
    (
        "A, Lemma 18",
        "Its fixed point is monotone, and |p_i - p_j| <= C d_H.",
        kernels.fixed_point_monotone,
        (),
    ),
    ("A", "Equal distributions get equal rows at the fixed point.", kernels.equal_rows, ()),
    ("A", "The flow is cooperative in the sense of Hirsch.", kernels.cooperative, ()),
    (
        "1, 7",
        "A lower stress need not mean a better accuracy.",
        runs.stress_and_accuracy,
        (RUN, RUN),
    ),
    (
        "7",
        "Learned low-rank positions P = A W^T converge to those of MDS (an open question).",
        runs.low_rank_converges,
        (RUN,),
    ),
)
CLAIMS = tuple(Claim(number, *row) for number, row in enumerate(_ROWS, 1))
"""All of them, in the order of their numbers."""


@dataclass(frozen=True)
class LedgerRow:
    """A claim and its finding."""

    claim: Claim
    finding: Finding
    given: frozenset[str]

    @property
    def command(self) -> str:
        """What reproduces the verdict; of one that was not run, what would give one."""
        is_run = self.finding.verdict != Verdict.NOT_RUN
        options = [one for one in self.claim.needs if one in self.given or not is_run]
        return " ".join(("posgeom claims", str(self.claim.number), *options))


@dataclass(frozen=True)
class Ledger:
    """Claims with their verdicts.

    Attributes
    ----------
    rows : tuple of LedgerRow
    evidence : Evidence
    """

    rows: tuple[LedgerRow, ...]
    evidence: Evidence

    def to_dict(self) -> dict[str, Any]:
        """The content of ``claims.json``."""
        inputs = self.evidence.inputs
        return {
            "schema_version": SCHEMA_VERSION,
            "software": {"name": "posgeom", "version": version("posgeom")},
            "paper": paper_source(),
            "seed": inputs.seed,
            "n_seeds": inputs.n_seeds,
            "verdicts": {str(verdict): meaning for verdict, meaning in VERDICTS.items()},
            "corpora": {
                corpus.what.title: {
                    "documents": corpus.counts.n_documents,
                    "vocab_size": corpus.counts.vocab_size,
                    "tokenizer": corpus.counts.tokenizer.name,
                    "is_the_papers": corpus.is_the_papers,
                }
                for corpus in inputs.corpora.values()
            },
            "model": None if inputs.model is None else inputs.model.checkpoint.name,
            "runs": len(self.evidence.runs),
            "claims": [
                {
                    "number": row.claim.number,
                    "section": row.claim.section,
                    "claim": row.claim.text,
                    "verdict": str(row.finding.verdict),
                    "because": row.finding.because,
                    "numbers": plain(row.finding.numbers),
                    "command": row.command,
                }
                for row in self.rows
            ],
        }


def chosen_claims(numbers: Sequence[int]) -> list[Claim]:
    """Claims by number, in their order and once each; all where none is named."""
    for number in numbers:
        if not 1 <= number <= len(CLAIMS):
            raise PosgeomError(f"no claim {number}: expected 1 to {len(CLAIMS)}")
    return [claim for claim in CLAIMS if not numbers or claim.number in numbers]


def ledger(evidence: Evidence, numbers: Sequence[int] = ()) -> Ledger:
    """Check claims of the paper, each by a run.

    Parameters
    ----------
    evidence : Evidence
        Corpora, models and runs that were given.
    numbers : sequence of int
        Claims by number; by default all.

    Returns
    -------
    Ledger
        A claim that lacks something, or cannot be checked on what was given, is not run, and says why.

    Raises
    ------
    PosgeomError
        When there is no claim of a number.
    """
    claims, inputs, progress = chosen_claims(numbers), evidence.inputs, evidence.inputs.progress
    options: dict[str, object] = {MODEL: inputs.model, SCRATCH: inputs.scratch, RUN: evidence.runs or None}
    options |= {f"--{key} PATH": corpus for key, corpus in inputs.corpora.items()}
    given, rows = frozenset(option for option, value in options.items() if value is not None), []
    for done, claim in enumerate(claims):
        progress("claims", done, len(claims))
        try:
            finding = claim.check(evidence)
        except PosgeomError as error:
            finding = Finding(Verdict.NOT_RUN, str(error))
        others = [
            one for key, one in inputs.corpora.items() if f"--{key} PATH" in claim.needs and not one.is_the_papers
        ]
        rows.append(LedgerRow(claim, replace(finding, because=_sentences(finding.because, others)), given))
    progress("claims", len(claims), len(claims))
    return Ledger(tuple(rows), evidence)


def _sentences(text: str, others: Sequence[Corpus]) -> str:
    """A reason as sentences, with what was given for a corpus of the paper and is another."""
    whole = text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
    return " ".join(
        [whole, *(f"What was given for {one.what.title} is another corpus than the paper's." for one in others)]
    )
