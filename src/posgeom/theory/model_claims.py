"""The claims about models as they are: numbers 1, 3, 5 to 7, 25 to 28 and 32 of the ledger."""

from collections.abc import Sequence

import numpy as np

from posgeom.encodings.base import Encoding
from posgeom.encodings.random import random
from posgeom.estimation.distance_matrix import upper_pairs
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.models.encoding import model_encoding
from posgeom.models.family import PositionTable
from posgeom.models.initial import initial_query_key
from posgeom.models.layers import layer_scores
from posgeom.models.model import Model
from posgeom.models.position_rows import read_positions
from posgeom.models.projection import ProjectionScores
from posgeom.paper.inputs import N_DIMS, SST2, Corpus
from posgeom.paper.result import defined
from posgeom.scores.correlation import pearson
from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.separation import minimum_separation
from posgeom.theory.attention_lipschitz import attention_lipschitz
from posgeom.theory.collapse import PROBLEMS, collapse_check
from posgeom.theory.evidence import AbsentError, Evidence
from posgeom.theory.mean_embeddings import PairTest, mean_embedding_test, projected_embedding_test
from posgeom.theory.necessity import necessity
from posgeom.theory.separation import initial_separation
from posgeom.theory.verdict import Finding, Verdict

REPORTED_SEPARATION = 0.70
_CLOSE = 0.01
"""A rate, and a correlation, up to which two are called the same."""


def equivariance(evidence: Evidence) -> Finding:
    """Permute the input of the model, without its encoding, and with it."""
    if evidence.model is None:
        raise AbsentError("no model was given: --model MODEL")
    removed, kept = (necessity(evidence.model, encoding=state, seed=evidence.seed) for state in ("removed", "kept"))
    because = f"{removed.because}; {kept.because}."
    gaps = {"removed": removed.measured.gap_zeroed_double, "kept": kept.measured.gap_double}
    verdict = removed.verdict
    if kept.verdict == Verdict.HOLDS:
        verdict = Verdict.NOT_TESTABLE
        because += " The encoding makes no difference either, so that nothing was taken out."
    return Finding(verdict, because, gaps)


def mean_embeddings_differ(evidence: Evidence) -> Finding:
    """Test every pair of positions of each corpus."""
    tests = {corpus.what.title: _h1(evidence, corpus) for corpus in _corpora(evidence)}
    verdicts = {test.verdict for test in tests.values()}
    verdict = Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.NOISE
    because = " ".join(f"{title}: {test.because}." for title, test in tests.items())
    numbers = {title: {"pairs": t.n_pairs, "told_apart": t.n_told_apart} for title, t in tests.items()}
    return Finding(verdict, because, numbers)


def projection_sees(evidence: Evidence) -> Finding:
    """See whether M, trained and freshly drawn, is invertible; and of the pairs of H1, count those of H3."""
    opened, corpus = evidence.opened, _corpora(evidence)[0]
    stack = opened.stack()
    copies = {"trained": opened.query_key(stack, 0), "fresh": initial_query_key(stack, 0, evidence.seed)}
    h1, table = _h1(evidence, corpus), evidence.token_embedding(corpus)
    smallest, kept, parts = {}, {}, []
    for name, projections in copies.items():
        query, key = projections.whole
        singular = np.linalg.svd(query.T @ key, compute_uv=False)
        smallest[name] = float(singular[-1] / singular[0])
        h3 = projected_embedding_test(corpus.counts, table, query, key, seed=evidence.seed)
        kept[name] = int((h1.told_apart & h3.told_apart).sum()) // 2
        parts.append(f"{name} {smallest[name]:.2g}")
    is_invertible = min(smallest.values()) > len(singular) * float(np.finfo(np.float64).eps)
    because = (
        f"The smallest singular value of the first layer's M is a share of the largest, {' and '.join(parts)}: "
        + ("M is invertible, so M (e_i - e_j) is 0 where e_i = e_j alone. " if is_invertible else "M is singular. ")
        + f"On {corpus.what.title}, of {h1.n_told_apart:,} pairs whose mean embeddings differ, {kept['trained']:,} "
        f"still differ beyond noise after the trained M and {kept['fresh']:,} after the fresh one."
    )
    all_kept = min(kept.values()) == h1.n_told_apart
    verdict = Verdict.HOLDS if is_invertible else Verdict.CONVENTION if all_kept else Verdict.FALSE
    return Finding(verdict, because, {"smallest_singular": smallest, "kept": kept, "pairs": h1.n_told_apart})


def distinct_rows(evidence: Evidence) -> Finding:
    """Look at the rows of the model, and at small problems; the theorem is about what no run can show."""
    checks = [collapse_check(name, seed=evidence.seed) for name in PROBLEMS]
    numbers: dict[str, object] = {one.problem: one.end for one in checks}
    holding, failing = ([one for one in checks if bool(one.fails) == fails] for fails in (False, True))
    because = (
        "The theorem speaks of global minimisers, and no trained model is known to be one. Rows collapse in "
        f"{sum(one.collapsed for one in holding)} of {len(holding)} small problems where every hypothesis holds, and "
        f"in {sum(one.collapsed for one in failing)} of {len(failing)} where one is made to fail."
    )
    model = evidence.inputs.model
    if model is not None and isinstance(table := model.stack().positions, PositionTable):
        points = read_positions(model.tensors, table).points[: SST2.n_positions]
        nearest = minimum_separation(euclidean_distances(points), np.arange(len(points)))
        numbers["minimum_separation"] = nearest.distance
        because += f" The nearest two of the first {len(points)} rows of the model are {nearest.distance:.3g} apart."
    is_contrary = any(one.collapsed for one in holding)
    return Finding(Verdict.FALSE if is_contrary else Verdict.NOT_TESTABLE, because, numbers)


def separation_of_scratch(evidence: Evidence) -> Finding:
    """Draw the initialisation, and train nothing."""
    check = initial_separation(REPORTED_SEPARATION, n_positions=SST2.n_positions, n_dims=N_DIMS, seed=evidence.seed)
    return Finding.of(check, "mean", "lowest", "highest")


def violations_of_models(evidence: Evidence) -> Finding:
    """Count violations of random rows, and of the tables that were given."""
    rates = {"random": float(np.mean([_violations(_random(seed)) for seed in evidence.inputs.seeds]))}
    rates |= {name: _violations(_positions(model)) for name, model in _models(evidence)}
    shown = ", ".join(f"{name} {100 * rate:.1f} %" for name, rate in rates.items())
    told = f"Violations of monotonicity: {shown}."
    if not evidence.is_bert_base:
        return Finding(Verdict.NOT_RUN, f"The numbers are of BERT-base: --model bert-base-uncased. {told}", rates)
    is_lower = rates["pretrained"] < rates["random"] - _CLOSE
    scratch = rates.get("scratch", rates["random"])
    verdict = Verdict.HOLDS if is_lower and abs(scratch - rates["random"]) <= 2 * _CLOSE else Verdict.FALSE
    return Finding(verdict, told, rates)


def correlations(evidence: Evidence) -> Finding:
    """Correlate distances of MDS, and of the tables that were given, with the corpus's, and MDS of one axis."""
    corpus = evidence.sst2
    encodings = {"MDS": corpus.build("mds", N_DIMS), "MDS of rank 1": corpus.build("mds:rank=1", N_DIMS)}
    encodings |= {name: _positions(model) for name, model in _models(evidence)}
    by_name = {
        name: pearson(upper_pairs(one.distances(corpus.paper.positions)), corpus.paper.distances.pairs)
        for name, one in encodings.items()
    }
    shown = ", ".join(f"{name} {defined(value):.3f}" for name, value in by_name.items())
    exact = abs(defined(by_name["MDS"]) - 1) < 1e-6
    because = f"Pearson correlations: {shown}."
    if exact:
        because += " That of MDS is 1 by construction, at any width of at least the rank of B."
    missing = [name for name in ("pretrained", "scratch") if name not in by_name]
    if missing:
        because += f" Not run: {' and '.join(missing)}."
    return Finding(Verdict.CONVENTION if exact else Verdict.FALSE, because, by_name)


def peak_layer(evidence: Evidence) -> Finding:
    """Set raw stress by layer beside the norm of M, and beside scaled stress."""
    trained, _ = _layers(evidence)
    raw, norms, scaled = (
        np.array([defined(getattr(row, name)) for row in trained]) for name in ("stress_raw", "norm", "stress_scaled")
    )
    with_norm = defined(pearson(np.log(raw), np.log(norms)))
    peak, scaled_peak = int(raw.argmax()) + 1, int(scaled.argmax()) + 1
    spread = float(scaled.max() / scaled.min())
    because = (
        f"Raw stress peaks in layer {peak} of {len(raw)}, {raw.max() / raw.min():.1f} times its least, and correlates "
        f"{with_norm:.3f} with the norm of M in logarithms; scaled stress peaks in layer {scaled_peak}, {spread:.2f} "
        f"times its least.{_of_which(evidence)}"
    )
    follows = peak == int(norms.argmax()) + 1 and spread < np.sqrt(raw.max() / raw.min())
    verdict = Verdict.SCALE if follows else Verdict.FALSE if peak != scaled_peak else Verdict.HOLDS
    numbers = {"raw": raw, "scaled": scaled, "norm": norms, "log_correlation": with_norm}
    return Finding(verdict, because, numbers)


def fresh_layers(evidence: Evidence) -> Finding:
    """Set the raw stress of fresh layers beside that of no encoding at all, and beside scaled stress."""
    trained, fresh = _layers(evidence)
    raw, scaled, own = (
        float(np.mean([defined(getattr(row, name)) for row in rows]))
        for rows, name in ((fresh, "stress_raw"), (fresh, "stress_scaled"), (trained, "stress_scaled"))
    )
    because = (
        f"Mean raw stress of fresh layers is {raw:.3g}, where no encoding at all has 1; at the best scale it is "
        f"{scaled:.3f}, and the trained model's {own:.3f}.{_of_which(evidence)}"
    )
    # Without misalignment, scaled stress too would be near nothing beside the trained model's.
    verdict = Verdict.SCALE if scaled > own / 2 else Verdict.HOLDS
    return Finding(verdict, because, {"fresh_raw": raw, "fresh_scaled": scaled, "trained_scaled": own, "zero_raw": 1.0})


def lipschitz(evidence: Evidence) -> Finding:
    """Try every pair for mean embeddings, with the constant 2 beside; and every head of the model for attention."""
    paper, sharper = (evidence.bounds.named(name)[-1] for name in ("mean_embedding", "mean_embedding_sharp"))
    numbers: dict[str, object] = {"mean_embedding": paper.tightness, "with_2": sharper.tightness}
    because = f"{paper.because} {sharper.because}"
    try:
        corpus, opened = _corpora(evidence)[-1], evidence.opened
        attention = attention_lipschitz(
            corpus.counts, evidence.token_embedding(corpus), opened.query_key(opened.stack(), 0)
        )
    except AbsentError as error:
        verdict = paper.verdict if paper.verdict == Verdict.FALSE else Verdict.CONVENTION
        return Finding(verdict, f"{because} Of attention not run: {error}.", numbers)
    numbers |= {"attention": attention.measured, "attention_bound": attention.sharp}
    is_false = Verdict.FALSE in (paper.verdict, attention.verdict)
    because += f" Of attention: {attention.because}."
    return Finding(Verdict.FALSE if is_false else Verdict.HOLDS, because, numbers)


def _h1(evidence: Evidence, corpus: Corpus) -> PairTest:
    table = evidence.token_embedding(corpus)
    return evidence.once(f"H1 {corpus.what.key}", lambda: mean_embedding_test(corpus.counts, table, seed=evidence.seed))


def _corpora(evidence: Evidence) -> Sequence[Corpus]:
    corpora = list(evidence.inputs.corpora.values())
    if not corpora:
        raise AbsentError("no corpus was given: --imdb PATH")
    return corpora[::-1]


def _models(evidence: Evidence) -> list[tuple[str, Model]]:
    both = {"pretrained": evidence.inputs.model, "scratch": evidence.inputs.scratch}
    return [(name, model) for name, model in both.items() if model is not None]


def _positions(model: Model) -> Encoding:
    return model_encoding(model, model.stack(), SST2.n_positions, untrained="keep")


def _random(seed: int) -> Encoding:
    return random(SST2.n_positions, N_DIMS, seed=seed)


def _violations(encoding: Encoding) -> float:
    return defined(monotonicity(encoding.distances(), np.arange(encoding.n_positions)).violation_rate)


def _layers(evidence: Evidence) -> tuple[list[ProjectionScores], list[ProjectionScores]]:
    """Layers of the model and of a fresh copy, sinusoidal positions projected, against plug-in distances of SST-2."""
    opened, corpus = evidence.opened, evidence.sst2
    analysis = evidence.once(
        "layers", lambda: layer_scores(opened, corpus.paper, input="sinusoidal", heads=False, seed=evidence.seed)
    )
    both = ("trained", "initial")
    trained, fresh = ([row.scores for row in analysis.rows if row.weights == weights] for weights in both)
    return trained, fresh


def _of_which(evidence: Evidence) -> str:
    opened = evidence.opened
    if evidence.is_bert_base:
        return ""
    return f" The model is {opened.model_type} of {opened.stack().n_layers} layers, not BERT-base."
