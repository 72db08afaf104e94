"""The claims about training, from finished runs of `posgeom train`: numbers 2, 4, 8, 37 and 38 of the ledger."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from posgeom.theory.evidence import AbsentError, Evidence
from posgeom.theory.verdict import Finding, Verdict

_ERRORS = 2
"""Standard errors that make a difference."""
_LITTLE = 0.01
"""The paper's "less than 1 %"."""
Run = Mapping[str, Any]


def needs_encoding(evidence: Evidence) -> Finding:
    """Compare accuracy with chance where an order task was trained without an encoding."""
    runs = _runs(evidence, "of the task order with --encoding none", lambda run: _task(run) == "order" and _bare(run))
    with_one = [run for run in evidence.runs if _task(run) == "order" and not _bare(run)]
    beyond = [run for run in runs if _has_learned(run)]
    parts = [f"{_told(run, 'accuracy')} without, chance {run['task']['chance']:.3f}" for run in runs]
    parts += [f"{_told(run, 'accuracy')} with {run['options']['encoding']}" for run in with_one]
    because = f"Accuracy on held-out documents: {'; '.join(parts)}."
    if beyond:
        return Finding(Verdict.FALSE, because, {"runs": len(runs)})
    if not any(map(_has_learned, with_one)):
        because += " No run with an encoding learned the task either, so that these show nothing."
        return Finding(Verdict.NOT_TESTABLE, because, {"runs": len(runs)})
    return Finding(Verdict.HOLDS, because, {"runs": len(runs)})


def swaps_raise_loss(evidence: Evidence) -> Finding:
    """Count the pairs whose swap raised the loss of a trained model."""
    runs = _runs(
        evidence,
        "that learned its task, with the hypotheses of Theorem 4,",
        lambda run: run["records"][-1].get("h2_pairs") and _has_learned(run),
    )
    last = [run["records"][-1] for run in runs]
    rising, pairs = sum(one["h2"] for one in last), sum(one["h2_pairs"] for one in last)
    verdict = Verdict.HOLDS if rising == pairs else Verdict.FALSE
    because = f"At the end of training the loss rises for {rising} of {pairs} pairs of positions that were swapped."
    return Finding(verdict, because, {"rising": rising, "pairs": pairs})


def separation_of_tuning(evidence: Evidence) -> Finding:
    """Compare the minimum separation before and after fine-tuning."""
    runs = _runs(evidence, "that goes on from a checkpoint (--model)", lambda run: run["options"].get("model"))
    starts = [run["records"][0]["min_separation"] for run in runs]
    if not all(starts):
        raise AbsentError("a run starts from rows that are not distinct, whose separation has no relative change")
    changes = [_last(run, "min_separation") / start - 1 for run, start in zip(runs, starts, strict=True)]
    worst = max(changes, key=abs)
    because = f"In {len(runs)} of such runs the minimum separation changes by {100 * worst:+.2g} % at most."
    return Finding(Verdict.HOLDS if abs(worst) < _LITTLE else Verdict.FALSE, because, {"changes": changes})


def stress_and_accuracy(evidence: Evidence) -> Finding:
    """Look for two runs of one task of which the one with the lower stress is the less accurate."""
    runs = _runs(evidence, "with stress and accuracy", lambda run: _last_or_none(run, "stress_raw") is not None)
    pairs = [(a, b) for a in runs for b in runs if _same_task(a, b) and (_has_learned(a) or _has_learned(b))]
    if not pairs:
        raise AbsentError(
            "two finished runs of one task with different encodings are needed, one of which learned it: --run DIR "
            "--run DIR"
        )
    worse = [
        (a, b)
        for a, b in pairs
        if _last(a, "stress_raw") < _last(b, "stress_raw")
        and _last(b, "accuracy") - _last(a, "accuracy") > (_error(a) ** 2 + _error(b) ** 2) ** 0.5
    ]
    if not worse:
        because = f"In none of {len(pairs) // 2} pairs of runs is the one with the lower stress the less accurate."
        return Finding(Verdict.NOT_TESTABLE, because, {"pairs": len(pairs) // 2})
    a, b = max(worse, key=lambda pair: _last(pair[1], "accuracy") - _last(pair[0], "accuracy"))
    because = (
        f"In {len(worse)} of {len(pairs) // 2} pairs of runs the one with the lower stress is less accurate: "
        f"{a['options']['encoding']} has stress {_last(a, 'stress_raw'):.3g} and accuracy {_told(a, 'accuracy')}, "
        f"{b['options']['encoding']} {_last(b, 'stress_raw'):.3g} and {_told(b, 'accuracy')}."
    )
    return Finding(Verdict.HOLDS, because, {"pairs": len(pairs) // 2, "contrary": len(worse)})


def low_rank_converges(evidence: Evidence) -> Finding:
    """Follow the alignment of learned low-rank positions with the corpus, which MDS of the corpus maximises."""
    runs = _runs(evidence, "of low rank (--rank)", lambda run: run["options"].get("rank"))
    known = [run for run in runs if all(run["records"][k]["alignment"] is not None for k in (0, -1))]
    if not known:
        raise AbsentError("the runs of low rank have no alignment: their corpora show no structure")
    parts, reached = [], []
    for run in known:
        first, last = run["records"][0], run["records"][-1]
        parts.append(f"rank {run['options']['rank']}: {first['alignment']:.3f} to {last['alignment']:.3f}")
        reached.append(last["alignment_high"] is not None and last["alignment_high"] >= 1)
    because = (
        f"Alignment of learned low-rank positions with the corpus, first step to last: {'; '.join(parts)}, where P_MDS "
        "has about 1."
    )
    if all(reached):
        return Finding(Verdict.HOLDS, because, {"runs": len(known)})
    return Finding(
        Verdict.NOT_TESTABLE, f"{because} They end short of it, and more steps might not.", {"runs": len(known)}
    )


def _runs(evidence: Evidence, what: str, is_one: Callable[[Run], object]) -> Sequence[Run]:
    runs = [run for run in evidence.runs if is_one(run)]
    if not runs:
        raise AbsentError(f"no finished run {what} was given: posgeom train, then --run DIR")
    return runs


def _task(run: Run) -> str:
    return str(run["task"]["name"])


def _bare(run: Run) -> bool:
    return bool(run["options"]["encoding"] == "none")


def _same_task(a: Run, b: Run) -> bool:
    return a is not b and _task(a) == _task(b) and a["options"]["encoding"] != b["options"]["encoding"]


def _last_or_none(run: Run, name: str) -> float | None:
    value = run["records"][-1].get(name)
    return None if value is None else float(value)


def _last(run: Run, name: str) -> float:
    value = _last_or_none(run, name)
    if value is None:
        raise AbsentError(f"a run has no {name} at its last step")
    return value


def _error(run: Run) -> float:
    return _ERRORS * _last(run, "accuracy_error")


def _has_learned(run: Run) -> bool:
    return _last(run, "accuracy") - (run["task"]["chance"] or 0.0) > _error(run)


def _told(run: Run, name: str) -> str:
    return f"{_last(run, name):.3f} +- {_ERRORS * _last(run, f'{name}_error'):.3f}"
