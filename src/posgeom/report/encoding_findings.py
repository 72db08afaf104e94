"""Sentences on which encodings say more about a corpus than others, from paired differences; ties are ties."""

from collections.abc import Sequence
from typing import Any

from posgeom.encodings.registry import find_scheme
from posgeom.messages import printable

Document = dict[str, Any]


def encoding_findings(scores: Document) -> list[str]:
    """What the ranking of a run says: fixed encodings against a random table, the best of them, the best fitted one."""
    ranked = scores["ranking"]
    if not ranked["places"]:
        why = scores.get("alignment_undefined") or "every encoding has all its positions at one point"
        return [f"Encodings are not ranked: {why}."]
    by_kind: dict[str, list[list[str]]] = {"fixed": [], "fitted": [], "reference": []}
    for place in ranked["places"]:
        by_kind[place["kind"]].append(place["encodings"])
    fixed, fitted, reference = by_kind["fixed"], by_kind["fitted"], by_kind["reference"]
    told = []
    if fixed and reference:
        told.append(_against_random(fixed, reference[0], scores))
    if fixed:
        told.append(_leader("Of the encodings that are not fitted to the corpus", fixed, scores))
    if fitted:
        out = all(e["sample"] == "out" for e in scores["encodings"] if [e["name"]] in [p[:1] for p in fitted])
        how = ", scored on documents that they are not fitted to" if out else ", scored on what they are fitted to"
        told.append(_leader(f"Of those fitted to the corpus{how}", fitted, scores))
    return told


def _against_random(fixed: Sequence[list[str]], random: list[str], scores: Document) -> str:
    """Whether any fixed encoding says more than a random table."""
    gaps = {place[0]: _gap(place[0], random[0], scores) for place in fixed}
    kind = "standard" if all(find_scheme(name.partition(":")[0]) for name in gaps) else "fixed"
    best = fixed[0]
    gap = gaps[best[0]]
    numbers = f"{_name(best)} has an alignment of {_alignment(best[0], scores)}, {_name(random)} has "
    numbers += f"{_alignment(random[0], scores)}, a difference of {_difference(gap, scores)}"
    sample = f"{scores['corpus']['documents']:,} documents"
    if gap["low"] is None:
        return (
            f"The {kind} encoding with the highest alignment: {numbers} ({sample}). Without intervals, "
            "what is more than chance is not known."
        )
    more = [place for place in fixed if (gaps[place[0]]["low"] or 0) > 0]
    if more:
        count = f"{len(more)} of {len(fixed)} {kind} encodings say" if len(fixed) > 1 else f"The {kind} encoding says"
        return f"{count} more about this corpus than a random table: {numbers} ({sample})."
    if all(one["high"] is not None and one["high"] <= 0 for one in gaps.values()):
        return f"No {kind} encoding says more about this corpus than a random table: {numbers} ({sample})."
    return (
        f"No {kind} encoding says more about this corpus than a random table, as far as {sample} can tell: {numbers}."
    )


def _leader(which: str, places: Sequence[list[str]], scores: Document) -> str:
    """The first of a group, and those that it is not told apart from."""
    best, *others = places
    first = f"{which}, {_name(best)} has the highest alignment, {_alignment(best[0], scores)}"
    if not others:
        return f"{first}."
    gaps = [(place, _gap(best[0], place[0], scores)) for place in others]
    tied = [(place, gap) for place, gap in gaps if gap["low"] is not None and gap["low"] <= 0 <= gap["high"]]
    if tied:
        names = ", ".join(_name(place) for place, _ in tied)
        nearest = _difference(tied[0][1], scores)
        return f"{first}, a tie: it is not told apart from {names} (difference to {_name(tied[0][0])}: {nearest})."
    place, gap = gaps[0]
    return f"{first}; {_name(place)} comes next, a difference of {_difference(gap, scores)}."


def _gap(first: str, second: str, scores: Document) -> Document:
    """The difference of two, whichever way round it is stored."""
    for one in scores["ranking"]["differences"]:
        if (one["first"], one["second"]) == (first, second):
            return dict(one)
        if (one["second"], one["first"]) == (first, second):
            value, low, high = (None if one[key] is None else -one[key] for key in ("value", "high", "low"))
            return {"value": value, "low": low, "high": high}
    raise KeyError((first, second))


def _name(names: Sequence[str]) -> str:
    """Encodings that are the same by construction, as one."""
    return " = ".join(map(printable, names))


def _alignment(name: str, scores: Document) -> str:
    encoding = next(e for e in scores["encodings"] if e["name"] == name)
    interval = (encoding.get("intervals") or {}).get("alignment")
    level = (scores.get("uncertainty") or {}).get("level")
    between = "" if not interval else f" ({level:.0%} interval {interval['low']:.3f} to {interval['high']:.3f})"
    return f"{encoding['alignment']:.3f}{between}"


def _difference(gap: Document, scores: Document) -> str:
    """A difference with its interval, which holds together with all others."""
    if gap["low"] is None:
        return f"{gap['value']:.3f} (no interval)"
    ranked = scores["ranking"]
    n = len(ranked["differences"])
    return (
        f"{gap['value']:.3f} ({ranked['level']:.0%} interval {gap['low']:.3f} to {gap['high']:.3f}, "
        f"simultaneous over {n} difference{'s' * (n != 1)})"
    )
