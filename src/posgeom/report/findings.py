"""Three sentences on a run, in plain words, each from its numbers with their interval, estimator and sample size."""

from statistics import median
from typing import Any

from posgeom.messages import printable

Document = dict[str, Any]


def findings(scores: Document) -> list[str]:
    """What a run found: how far positions differ, in how many dimensions, and which encoding says so.

    Parameters
    ----------
    scores : dict
        ``scores.json``.

    Returns
    -------
    list of str
        Three sentences.
    """
    return [_size(scores), _shape(scores), _encodings(scores)]


def layers_findings(layers: Document) -> list[str]:
    """What a run of ``posgeom layers`` found: the head that keeps most of the geometry, and whether training did that.

    Parameters
    ----------
    layers : dict
        ``layers.json``.

    Returns
    -------
    list of str
        Two sentences.
    """
    sample = f"{layers['estimator']} distances of {len(layers['positions_used']):,} positions"
    heads = [row for row in layers["rows"] if row.get("head") is not None and row["stress_scaled"] is not None]
    trained = [row for row in heads if row["weights"] == "trained"]
    fresh = [row["stress_scaled"] for row in heads if row["weights"] == "initial"]
    if not trained:
        return [f"Scaled stress is undefined for every head (against {sample})."]
    best = min(trained, key=lambda row: (row["stress_scaled"], row["layer"], row["head"]))
    middle = median([row["stress_scaled"] for row in trained])
    kept = (
        f"Head {best['head']} of layer {best['layer']} keeps most of the geometry: scaled stress "
        f"{best['stress_scaled']:.3f}, where the median of {len(trained):,} heads is {middle:.3f} (against {sample})."
    )
    if not fresh:
        return [kept]
    learned = f"the median is {median(fresh):.3f}: only what differs from that is learned."
    return [kept, f"In a fresh copy of the same sizes {learned}"]


def _size(scores: Document) -> str:
    mean, intervals = scores["mean_squared_distance"], scores.get("mean_squared_distance_interval") or {}
    sample = f"{scores['corpus']['documents']:,} documents, {len(scores['positions_used']):,} positions"
    metric = str(scores["metric"]).replace("_", " ").title()
    plugin = f"{mean['plugin']:.3g}"
    if mean["crossval"] is None:
        return (
            f"Positions differ by a mean squared {metric} distance of {plugin} by the plug-in estimate ({sample}), "
            "which sampling noise makes too large by an amount that this estimate cannot tell."
        )
    value = f"{mean['crossval']:.3g}{_interval(intervals.get('crossval'), scores)}"
    if mean["plugin"] <= 0:
        return f"The mean squared {metric} distance between positions is {value}, cross-validated ({sample})."
    share = mean["crossval"] / mean["plugin"]
    verdict = (
        "little of the difference between positions is found again"
        if share < _LITTLE
        else "most of the difference between positions is found again"
        if share > _MOST
        else "part of the difference between positions is found again"
    )
    return (
        f"In two halves of the corpus {verdict}: the mean squared {metric} distance is {value} cross-validated, "
        f"{share:.0%} of the plug-in estimate of {plugin} ({sample})."
    )


_LITTLE, _MOST = 0.25, 0.75


def _shape(scores: Document) -> str:
    significance = scores.get("significance") or {}
    rank = significance.get("significant_rank")
    positive = [value for value in scores["spectrum"] if value > 0]
    total = sum(positive)
    first = positive[0] / total if total else None
    estimator = _estimator(scores)
    if first is None:
        return f"No axis of this geometry has positive length: positions are not told apart ({estimator})."
    leading = f"the first axis holds {first:.0%} of the positive inertia"
    if rank is not None:
        nulls = f" by {significance['n_null']:,} null corpora" if significance.get("n_null") else ""
        axes = "axis stands" if rank == 1 else "axes stand"
        share = significance.get("signal_share")
        signal = f", with {share:.0%} of the inertia" if share is not None else ""
        return f"{rank} {axes} above what shuffled positions give{nulls}{signal}; {leading} ({estimator})."
    two = sum(positive[:2]) / total
    return (
        f"{_capital(leading)}, the first two {two:.0%}, of {len(positive):,} with positive length ({estimator}); how "
        "many are more than noise was not tested."
    )


def _encodings(scores: Document) -> str:
    known = [e for e in scores["encodings"] if e["stress_scaled"] is not None]
    outside = [e for e in known if not e["name"].startswith("mds")]
    if not known:
        return "Scaled stress is undefined for every encoding: there is nothing to be faithful to."
    ranked = sorted(outside or known, key=lambda e: (e["stress_scaled"], e["name"]))
    what = "that is not fitted to the corpus " if outside else ""
    best = ranked[0]
    text = (
        f"By scaled stress against {_estimator(scores)} distances the most faithful encoding {what}is "
        f"{printable(best['name'])} at {_stress(best, scores)}"
    )
    others = [e for e in ranked[1:] if e["name"] == "random"] or ranked[-1:] * (len(ranked) > 1)
    if others and others[0] is not best:
        text += f", where {printable(others[0]['name'])} has {_stress(others[0], scores)}"
    ceiling = (scores.get("noise_ceiling") or {}).get("stress_scaled") or {}
    if ceiling.get("value") is not None:
        text += (
            f" and one half of the corpus scores {ceiling['value']:.3f}{_interval(ceiling, scores)} against the other"
        )
    return text + "; 0 is faithful, 1 the worst."


def _stress(encoding: Document, scores: Document) -> str:
    interval = (encoding.get("intervals") or {}).get("stress_scaled")
    return f"{encoding['stress_scaled']:.3f}{_interval(interval, scores)}"


def _estimator(scores: Document) -> str:
    return "cross-validated" if scores["estimator"] == "crossval" else "plug-in"


def _interval(interval: Document | None, scores: Document) -> str:
    """An interval in brackets, with its level; nothing where there is none."""
    if not interval or interval.get("low") is None or interval.get("high") is None:
        return ""
    level = (scores.get("uncertainty") or {}).get("level")
    named = f"{level:.0%} interval " if level is not None else ""
    return f" ({named}{interval['low']:.3g} to {interval['high']:.3g})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
