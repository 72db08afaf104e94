"""Figure 7: distances of embeddings against Hellinger distances, on SST-2."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import upper_pairs
from posgeom.paper.inputs import N_DIMS, SST2, Corpus, Inputs
from posgeom.paper.own_positions import MODELS, model_notes, trained_encodings
from posgeom.paper.quantities import Quantity, corpus_notes, missing_corpora, rows_of
from posgeom.paper.result import Estimate, ItemResult, SoundRow, over_estimates
from posgeom.paper.sound import PEARSON, scores_of
from posgeom.paper.stresses import MDS
from posgeom.scores.correlation import pearson
from posgeom.scores.stress import stress_of_pairs
from posgeom.seeds import make_rng

DRAWN_PAIRS = 400
"""Pairs of positions in the figure, drawn at random from all."""


def fig7(inputs: Inputs) -> ItemResult:
    """Compute Figure 7."""
    corpus = inputs.corpora.get(SST2.key)
    trained = trained_encodings(inputs, SST2.n_positions)
    is_the_papers = corpus is None or corpus.is_the_papers
    on_corpus = [
        Quantity("Pearson, MDS", "fig7.mds", partial(_of_spec, "mds")),
        Quantity("Pearson, sinusoidal", None, partial(_of_spec, "sinusoidal")),
        Quantity("Pearson, ALiBi", None, partial(_of_spec, "alibi")),
        Quantity("Pearson, random", None, lambda c: _random(c.paper, inputs)),
    ]
    rows = rows_of(on_corpus, corpus, is_the_papers=is_the_papers)
    for name in MODELS:
        encoding = trained.encodings.get(name)
        quantity = Quantity(f"Pearson, {name}", f"fig7.{name}", partial(_of_model, encoding))
        comparable = is_the_papers and name not in trained.others
        rows += rows_of([quantity], corpus if encoding else None, is_the_papers=comparable)
    sound = [] if corpus is None else _sound(inputs, corpus, trained.encodings)
    return ItemResult(
        name="fig7",
        title="Figure 7: distances of embeddings against Hellinger distances, SST-2",
        section="6.7",
        rows=tuple(rows),
        sound=tuple(sound),
        change="" if corpus is None else _change(corpus, sound),
        panels=() if corpus is None else (_panel(corpus, trained.encodings, inputs.seed),),
        missing=(*missing_corpora(inputs, [SST2]), *trained.missing),
        notes=(*corpus_notes(inputs, [SST2]), *model_notes(trained.others)),
    )


def _pairs(encoding: Encoding, shape: Geometry) -> NDArray[np.float64]:
    return upper_pairs(encoding.distances(shape.positions))


def _build(spec: str, shape: Geometry, seed: int) -> Encoding:
    return build_encoding(spec, n_positions=shape.n_positions, n_dims=N_DIMS, geometry=shape, seed=seed)


def _of_spec(spec: str, corpus: Corpus) -> float | None:
    shape = corpus.paper
    return pearson(_pairs(_build(spec, shape, corpus.seed), shape), shape.distances.pairs)


def _of_model(encoding: Encoding | None, corpus: Corpus) -> float | None:
    return None if encoding is None else pearson(_pairs(encoding, corpus.paper), corpus.paper.distances.pairs)


def _random(shape: Geometry, inputs: Inputs) -> Estimate | None:
    found = [pearson(_pairs(_build("random", shape, seed), shape), shape.distances.pairs) for seed in inputs.seeds]
    return over_estimates([_estimate(value) for value in found])


def _sound(inputs: Inputs, corpus: Corpus, trained: dict[str, Encoding]) -> list[SoundRow]:
    used = corpus.sound
    fixed = {name: _build(spec, used, corpus.seed) for name, spec in (("sinusoidal", "sinusoidal"), ("ALiBi", "alibi"))}
    encodings = fixed | trained
    sound = scores_of(list(encodings.values()), used, PEARSON)
    rows = [
        SoundRow(f"Pearson, {name}", "", _estimate(_of_model(encoding, corpus)), after)
        for (name, encoding), after in zip(encodings.items(), sound, strict=True)
    ]
    drawn = scores_of([_build("random", used, seed) for seed in inputs.seeds], used, PEARSON, intervals=False)
    rows.insert(2, SoundRow("Pearson, random", "", _random(corpus.paper, inputs), over_estimates(drawn)))
    return rows


def _estimate(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value)


def _change(corpus: Corpus, sound: list[SoundRow]) -> str:
    named = {row.quantity.removeprefix("Pearson, "): row for row in sound}
    lags, model = named["ALiBi"], named.get("pretrained")
    if lags.plugin is None or lags.sound is None:
        return ""
    trained = ""
    if model is not None and model.plugin is not None and model.sound is not None:
        trained = f", the pretrained model's positions at {model.plugin.value:.3f} and {model.sound.value:.3f}"
    return (
        f"The lag |i - j| correlates with plug-in distances over all 128 positions at {lags.plugin.value:.3f}, with "
        f"cross-validated ones over the {corpus.sound.positions.size} positions with enough data at "
        f"{lags.sound.value:.3f}{trained}; that MDS has 1 is so by construction, as it is fitted to these distances."
    )


def _panel(corpus: Corpus, trained: dict[str, Encoding], seed: int) -> dict[str, object]:
    """Distances of some pairs, those of each encoding rescaled to fit."""
    shape = corpus.paper
    target = shape.distances.pairs
    n_drawn = min(DRAWN_PAIRS, target.size)
    drawn = np.sort(make_rng(seed).choice(target.size, n_drawn, replace=False))
    specs = {MDS: "mds", "sinusoidal": "sinusoidal", "random": "random"}
    encodings = {name: _build(spec, shape, seed) for name, spec in specs.items()} | trained
    points = []
    for name, encoding in encodings.items():
        pairs = _pairs(encoding, shape)
        scale = stress_of_pairs(pairs, target).scale or 1.0
        points += [{"x": float(target[k]), "y": float(scale * pairs[k]), "group": name, "label": ""} for k in drawn]
    return {
        "kind": "points",
        "title": "SST-2: distances of encodings against Hellinger distances",
        "caption": f"{n_drawn} pairs of positions drawn at random, plug-in distances. Each encoding is rescaled to fit "
        "best; the pairs at 0 are empty positions, which have one distribution.",
        "x_title": "Hellinger distance",
        "y_title": "distance of the encoding, rescaled",
        "is_map": False,
        "points": points,
    }
