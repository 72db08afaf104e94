"""A run in plain sentences, each from its numbers with their interval, estimator and sample size."""

from statistics import median
from typing import Any

from posgeom.report.encoding_findings import encoding_findings

Document = dict[str, Any]


def findings(scores: Document) -> list[str]:
    """What a run found: how far positions differ, in how many dimensions, and which encodings say so."""
    told = [_size(scores), _axes(scores)]
    return told + (encoding_findings(scores) if scores.get("ranking") else [])


def layers_findings(layers: Document) -> list[str]:
    """What ``posgeom layers`` found: the head that keeps most of the geometry, and whether training did that."""
    sample = f"{layers['estimator']} distances of {len(layers['positions_used']):,} positions"
    heads = [row for row in layers["rows"] if row.get("head") is not None and row["alignment"] is not None]
    trained = [row for row in heads if row["weights"] == "trained"]
    fresh = [row["alignment"] for row in heads if row["weights"] == "initial"]
    if not trained:
        return [f"Alignment is undefined for every head (with {sample})."]
    best = max(trained, key=lambda row: (row["alignment"], -row["layer"], -row["head"]))
    middle = median([row["alignment"] for row in trained])
    kept = (
        f"Head {best['head']} of layer {best['layer']} keeps most of the geometry: alignment "
        f"{best['alignment']:.3f}, where the median of {len(trained):,} heads is {middle:.3f} (with {sample})."
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
    common, share = mean["crossval_common_depth"], scores.get("noise_share") or {}
    value = mean["crossval"] if common is None else common
    at = f"{value:.3g}{_interval(intervals.get('crossval_common_depth'), scores)}{_samples(scores)}"
    if share.get("value") is None:
        return f"The mean squared {metric} distance between positions is {at}, cross-validated ({sample})."
    noise = f"{max(share['value'], 0):.0%}{_interval(share, scores, '.1%')}"
    return (
        f"{noise} of the mean squared {metric} distance between positions by plain frequencies (plug-in), {plugin}, is "
        f"not found again in the other half of the corpus: most of that is sampling noise. Cross-validated, the "
        f"distance is {at} ({sample})."
    )


def _axes(scores: Document) -> str:
    tested = scores.get("significance")
    positive = [value for value in scores["spectrum"] if value > 0]
    estimator = _estimator(scores)
    if not positive:
        return f"No axis of this geometry has positive length: positions are not told apart ({estimator})."
    leading = f"the first axis holds {positive[0] / sum(positive):.0%} of the positive inertia"
    if not tested:
        return (
            f"{_capital(leading)}, the first two {sum(positive[:2]) / sum(positive):.0%}, of {len(positive):,} with "
            f"positive length ({estimator}); how many are more than noise was not tested."
        )
    rank, by = tested["significant_rank"], f"by {tested['n_patterns']:,} patterns of signs of folds"
    if not rank:
        p_value = f" (p = {tested['axes'][0]['p_value']:.2g})" if tested["axes"] else ""
        return f"No axis stands above noise, {by}{p_value}: nothing here says that position matters ({estimator})."
    share = tested.get("signal_share")
    signal = f", with {share:.0%} of the inertia" if share is not None else ""
    return f"{rank} {'axis stands' if rank == 1 else 'axes stand'} above noise, {by}{signal}; {leading} ({estimator})."


def _samples(scores: Document) -> str:
    depth = scores.get("common_depth")
    return "" if depth is None else f", of samples of {depth:,} documents"


def _estimator(scores: Document) -> str:
    return "cross-validated" if scores["estimator"] == "crossval" else "plug-in"


def _interval(interval: Document | None, scores: Document, spec: str = ".3g") -> str:
    """An interval in brackets, with its level; nothing where there is none."""
    if not interval or interval.get("low") is None or interval.get("high") is None:
        return ""
    level = (scores.get("uncertainty") or {}).get("level")
    named = f"{level:.0%} interval " if level is not None else ""
    return f" ({named}{interval['low']:{spec}} to {interval['high']:{spec}})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
