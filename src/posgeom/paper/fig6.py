"""Figure 6: how often distances fall as the lag grows, on SST-2."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds
from posgeom.paper.fig2 import bars
from posgeom.paper.inputs import N_DIMS, SST2, Corpus, Inputs
from posgeom.paper.own_positions import MODELS, model_notes, trained_encodings
from posgeom.paper.quantities import Quantity, corpus_notes, corpus_rows, missing_corpora, rows_of
from posgeom.paper.result import Estimate, ItemResult, SoundRow, over_seeds
from posgeom.paper.sound import sound_statistic
from posgeom.scores.monotonicity import Monotonicity, monotonicity

Positions = NDArray[np.int64] | None
_ALL = "plug-in, all positions"
_SOUND = "cross-validated, used positions"


def fig6(inputs: Inputs) -> ItemResult:
    """Compute Figure 6."""
    corpus = inputs.corpora.get(SST2.key)
    trained = trained_encodings(inputs, SST2.n_positions)
    rows = corpus_rows(inputs, SST2, _CORPUS_QUANTITIES)
    rows += rows_of([Quantity("violations, random", "fig6.random", partial(_random, None))], inputs)
    for name in MODELS:
        quantity = Quantity(f"violations, {name}", f"fig6.{name}", partial(_violations, None))
        rows += rows_of([quantity], trained.encodings.get(name), is_the_papers=name not in trained.others)
    sound = [] if corpus is None else _sound(inputs, corpus, trained.encodings)
    return ItemResult(
        name="fig6",
        title="Figure 6: violations of monotonicity, SST-2, n = 128",
        section="6.6",
        rows=tuple(rows),
        sound=tuple(sound),
        change=_change(sound),
        panels=_panels(sound),
        missing=(*missing_corpora(inputs, [SST2]), *trained.missing),
        notes=(
            *corpus_notes(inputs, [SST2]),
            *model_notes(trained.others),
            "A violation is a triple (i, j, k) with |i - j| < |i - k| and d(i, j) > d(i, k).",
        ),
    )


def _monotonicity(distances: DistanceMatrix) -> Monotonicity:
    return monotonicity(distances.values, distances.positions)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _corpus_violations(distances: DistanceMatrix) -> float | None:
    return _percent(_monotonicity(distances).violation_rate)


_CORPUS_QUANTITIES: list[Quantity[Corpus]] = [
    Quantity("violations, MDS", "fig6.mds", lambda corpus: _corpus_violations(corpus.paper.distances)),
    Quantity("exact ties, MDS", None, lambda corpus: _percent(_monotonicity(corpus.paper.distances).tie_rate), "%"),
    Quantity("triples", None, lambda corpus: _monotonicity(corpus.paper.distances).triples),
]


def _violations(positions: Positions, encoding: Encoding) -> float | None:
    """Violations of an encoding's own distances, over all of its positions or some."""
    where = np.arange(encoding.n_positions) if positions is None else positions
    return _percent(monotonicity(encoding.distances(where), where).violation_rate)


def _fixed(spec: str, seed: int) -> Encoding:
    return build_encoding(spec, n_positions=SST2.n_positions, n_dims=N_DIMS, seed=seed)


def _random(positions: Positions, inputs: Inputs) -> Estimate:
    return over_seeds([_violations(positions, _fixed("random", seed)) or 0.0 for seed in inputs.seeds])


def _mds_violations(rank: int, distances: DistanceMatrix) -> float | None:
    fitted = euclidean_distances(classical_mds(distances).coordinates[:, :rank])
    return _percent(monotonicity(fitted, distances.positions).violation_rate)


def _sound(inputs: Inputs, corpus: Corpus, trained: dict[str, Encoding]) -> list[SoundRow]:
    used, plugin = corpus.sound.positions, corpus.paper.distances
    rows = [
        SoundRow(
            "violations, corpus (MDS)",
            "%",
            _estimate(_corpus_violations(plugin)),
            sound_statistic(_corpus_violations, corpus.sound),
        )
    ]
    for rank in (1, 2):
        statistic = partial(_mds_violations, rank)
        rows.append(
            SoundRow(
                f"violations, MDS of rank {rank}",
                "%",
                _estimate(statistic(plugin)),
                sound_statistic(statistic, corpus.sound),
            )
        )
    rows.append(SoundRow("violations, random", "%", _random(None, inputs), _random(used, inputs)))
    fixed = {"sinusoidal": _fixed("sinusoidal", inputs.seed), "ALiBi": _fixed("alibi", inputs.seed)}
    for name, encoding in (fixed | trained).items():
        both = (_estimate(_violations(where, encoding)) for where in (None, used))
        rows.append(SoundRow(f"violations, {name}", "%", *both))
    return rows


def _estimate(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value)


def _panels(sound: list[SoundRow]) -> tuple[dict[str, object], ...]:
    if not sound:
        return ()
    named = {row.quantity.partition(", ")[2]: row for row in sound}
    groups = {
        _ALL: {name: row.plugin for name, row in named.items() if row.plugin},
        _SOUND: {name: row.sound for name, row in named.items() if row.sound},
    }
    caption = (
        "Share of triples whose farther position lies nearer, of each encoding's own distances: between all 128 "
        "positions, and between those with enough data. Lines: 95 % intervals; of random, smallest to largest."
    )
    return (bars("Violations of monotonicity, SST-2", "violations, %", groups, caption, log=False),)


def _change(sound: list[SoundRow]) -> str:
    if not sound or sound[0].plugin is None or sound[0].sound is None:
        return ""
    plugin, crossval, first = sound[0].plugin, sound[0].sound, sound[1].sound
    leading = "" if first is None else f", and {first.value:.1f} % on its leading axis"
    return (
        f"The corpus itself violates monotonicity in {plugin.value:.1f} % of the triples by plug-in distances between "
        f"all 128 positions, in {crossval.value:.1f} % by cross-validated ones between those with enough data"
        f"{leading}. "
        "Distance grows with the lag more regularly than noise lets it seem."
    )
