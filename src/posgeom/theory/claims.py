"""The ledger: every claim of the paper, each with a verdict that a run gave. A claim is a row; rows are run alike."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from posgeom.errors import PosgeomError
from posgeom.frames import Framed
from posgeom.paper.inputs import Corpus
from posgeom.theory import geometry_claims as geometry
from posgeom.theory import kernel_claims as kernels
from posgeom.theory import model_claims as models
from posgeom.theory import run_claims as runs
from posgeom.theory.evidence import Evidence
from posgeom.theory.verdict import VERDICTS, Finding, Verdict, plain

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper in our words, its check, and options that give that something to work on."""

    number: int
    section: str
    text: str
    check: Callable[[Evidence], Finding]
    needs: tuple[str, ...] = ()


_CHECKS: tuple[Callable[[Evidence], Finding], ...] = (
    models.equivariance,
    runs.needs_encoding,
    models.mean_embeddings_differ,
    runs.swaps_raise_loss,
    models.projection_sees,
    models.distinct_rows,
    models.separation_of_scratch,
    runs.separation_of_tuning,
    geometry.geodesic,
    geometry.no_isometry,
    geometry.mds_minimises_stress,
    geometry.stress_is_curvature,
    geometry.circulant,
    geometry.sinusoid_optimal,
    geometry.rank_is_dimension,
    geometry.parameters_saved,
    geometry.rank_three,
    geometry.rank_one,
    geometry.exact_at_768,
    geometry.alibi_shows_lag,
    geometry.sinusoid_over_alibi,
    geometry.rope_near_sinusoid,
    geometry.stress_exponential,
    geometry.violations_support,
    models.violations_of_models,
    models.correlations,
    models.peak_layer,
    models.fresh_layers,
    kernels.kernel_exists,
    geometry.kl_above,
    geometry.kl_below,
    models.lipschitz,
    kernels.flow_converges,
    kernels.fixed_point_monotone,
    kernels.equal_rows,
    kernels.cooperative,
    runs.stress_and_accuracy,
    runs.low_rank_converges,
)
"""The check of each row of claims.json, in its order."""


def _claims() -> tuple[Claim, ...]:
    rows = json.loads((files("posgeom.theory") / "claims.json").read_text(encoding="utf-8"))
    pairs = enumerate(zip(rows, _CHECKS, strict=True), 1)
    return tuple(Claim(n, row["section"], row["claim"], check, tuple(row["needs"])) for n, (row, check) in pairs)


CLAIMS = _claims()
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
class Ledger(Framed):
    """Claims with their verdicts."""

    rows: tuple[LedgerRow, ...]
    evidence: Evidence

    def to_dict(self) -> dict[str, Any]:
        """The content of ``claims.json``."""
        inputs = self.evidence.inputs
        return {
            "schema_version": SCHEMA_VERSION,
            **inputs.described(),
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
            "claims": self.to_dicts(),
        }

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per claim."""
        return [
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
        ]

    def _flat(self) -> list[dict[str, Any]]:
        """Without the numbers, of which every claim has others."""
        return [{name: value for name, value in row.items() if name != "numbers"} for row in self.to_dicts()]


def chosen_claims(numbers: Sequence[int]) -> list[Claim]:
    """Claims by number, in their order and once each; all where none is named."""
    for number in numbers:
        if not 1 <= number <= len(CLAIMS):
            raise PosgeomError(f"no claim {number}: expected 1 to {len(CLAIMS)}")
    return [claim for claim in CLAIMS if not numbers or claim.number in numbers]


def ledger(evidence: Evidence, numbers: Sequence[int] = ()) -> Ledger:
    """Check claims of the paper by number, or all; one that cannot be checked on what was given is not run."""
    claims, inputs, progress = chosen_claims(numbers), evidence.inputs, evidence.inputs.progress
    options = {"--model MODEL": inputs.model, "--scratch MODEL": inputs.scratch, "--run DIR": evidence.runs or None}
    given = frozenset(name for name, value in options.items() if value is not None)
    given |= {f"--{key} PATH" for key in inputs.corpora}
    rows = []
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
