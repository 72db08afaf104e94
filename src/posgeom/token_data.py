"""What charts, tables and files show of the tokens that set positions apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.token_names import token_names
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.inference.token_effects import TokenEffect, TokenEffects, token_effects
from posgeom.policies import ALPHA, LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.tokenize.tokenizer_files import TokenizerSpec

LARGEST_ALPHABET = 30
"""Distinct tokens of a corpus up to which all of them can be shown at every position."""
_STORED = 50


def token_document(
    found: Sequence[TokenEffects],
    counts: PositionCounts,
    geometry: Geometry,
    *,
    tokenizer: TokenizerSpec | None = None,
    n_tokens: int | None = None,
) -> dict[str, Any]:
    """Axes and positions with their tokens by name."""
    ids = sorted({effect.token for one in found for effect in one.effects})
    names = dict(zip(ids, token_names(counts, ids, tokenizer), strict=True))
    return {
        "estimator": geometry.estimator,
        "metric": geometry.metric.name,
        "documents": counts.n_documents,
        "common_depth": geometry.depth,
        "n_folds": len(geometry.fold_groups),
        "false_discovery_rate": ALPHA,
        "looked_at": [
            {
                "kind": one.kind,
                "number": one.number,
                "size": one.size,
                "ends": [list(end) for end in one.ends],
                "tokens_tested": one.n_tested,
                "tokens_told": len(one.effects),
                "tokens": [_row(effect, names[effect.token]) for effect in one.effects[:n_tokens]],
            }
            for one in found
        ],
    }


def _row(effect: TokenEffect, name: str) -> dict[str, Any]:
    bounds = effect.deviation.interval(LEVEL)
    return {
        "token": name,
        "id": effect.token,
        "deviation": effect.deviation.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "share": effect.share,
        "frequency": effect.frequency,
        "elsewhere": effect.elsewhere,
        "p_value": effect.p_value,
    }


def token_chart_data(counts: PositionCounts, geometry: Geometry, *, progress: ProgressHook = silent) -> dict[str, Any]:
    """The part of ``charts.json`` about tokens: what sets positions apart, and the logo of a small alphabet."""
    try:
        found = token_effects(counts, geometry, progress=progress)
    except GeometryError:  # plug-in distances, or too few folds
        return {"tokens": None, "logo": _logo(counts, geometry)}
    document = token_document(found, counts, geometry, n_tokens=_STORED)
    return {"tokens": document, "logo": _logo(counts, geometry)}


def _logo(counts: PositionCounts, geometry: Geometry) -> dict[str, Any] | None:
    """Bits that each token has at each position (Schneider and Stephens 1990); None where there are too many tokens.

    The height of a position is the Kullback-Leibler divergence of its distribution from that of all positions, less
    what a sample of its depth has of it by chance (Miller 1955); a token's part is its share.
    """
    ids, positions = counts.distinct_tokens, geometry.positions
    if not 2 <= ids.size <= LARGEST_ALPHABET:
        return None
    table = np.zeros((counts.n_positions, ids.size))
    np.add.at(table, (counts.position, np.searchsorted(ids, counts.token)), counts.count)
    table = table[positions]
    depth = np.maximum(table.sum(axis=1, keepdims=True), 1)
    shares, everywhere = table / depth, table.sum(axis=0) / table.sum()
    ratio = np.divide(shares, everywhere, out=np.ones_like(shares), where=shares > 0)
    divergence = (shares * np.log2(ratio)).sum(axis=1, keepdims=True)
    chance = ((everywhere > 0).sum() - 1) / (2 * np.log(2) * depth)
    heights = shares * np.maximum(divergence - chance, 0)
    return {
        "positions": positions.tolist(),
        "tokens": token_names(counts, ids.tolist()),
        "bits": [[float(f"{bits:.6g}") for bits in row] for row in heights.T],
    }
