"""Figure 7: distances of embeddings against Hellinger distances, on SST-2."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.scores.correlation import pearson
from posgeom.scores.stress import stress_of_pairs
from posgeom.seeds import make_rng
from posgeom.studies.paper.inputs import N_DIMS, SST2, Corpus, Inputs
from posgeom.studies.paper.intervals import jackknife
from posgeom.studies.paper.own_positions import MODELS, model_notes, trained_encodings
from posgeom.studies.paper.quantities import Quantity, corpus_notes, missing_corpora, rows_of
from posgeom.studies.paper.result import Estimate, ItemResult, SoundRow, over_seeds
from posgeom.studies.paper.stresses import MDS

DRAWN_PAIRS = 400
"""Pairs of positions in the figure, drawn at random from all."""


def fig7(inputs: Inputs) -> ItemResult:
    """Compute Figure 7.

    Parameters
    ----------
    inputs : Inputs

    Returns
    -------
    ItemResult
    """
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
    return ItemResult(
        name="fig7",
        title="Figure 7: distances of embeddings against Hellinger distances, SST-2",
        section="6.7",
        rows=tuple(rows),
        sound=() if corpus is None else tuple(_sound(inputs, corpus, trained.encodings)),
        change="" if corpus is None else _change(corpus, trained.encodings.get("pretrained")),
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


def _random(shape: Geometry, inputs: Inputs) -> Estimate:
    found = [pearson(_pairs(_build("random", shape, seed), shape), shape.distances.pairs) for seed in inputs.seeds]
    return over_seeds([value for value in found if value is not None])


def _statistic(pairs: NDArray[np.float64]) -> Callable[[DistanceMatrix], float | None]:
    return lambda distances: pearson(pairs, distances.pairs)


def _sound(inputs: Inputs, corpus: Corpus, trained: dict[str, Encoding]) -> list[SoundRow]:
    used = corpus.sound
    rows = []
    for name, spec in (("sinusoidal", "sinusoidal"), ("ALiBi", "alibi")):
        rows.append(_sound_row(name, _build(spec, used, corpus.seed), corpus))
    rows.append(SoundRow("Pearson, random", "", _random(corpus.paper, inputs), _random(used, inputs)))
    rows += [_sound_row(name, encoding, corpus) for name, encoding in trained.items()]
    return rows


def _sound_row(name: str, encoding: Encoding, corpus: Corpus) -> SoundRow:
    plugin = _of_model(encoding, corpus)
    statistic = _statistic(_pairs(encoding, corpus.sound))
    sound = jackknife(statistic, corpus.sound.distances, corpus.resampled)
    return SoundRow(f"Pearson, {name}", "", None if plugin is None else Estimate(plugin), sound)


def _change(corpus: Corpus, pretrained: Encoding | None) -> str:
    lags = _build("alibi", corpus.sound, corpus.seed)
    plugin = _of_model(lags, corpus)
    sound = pearson(_pairs(lags, corpus.sound), corpus.sound.distances.pairs)
    if plugin is None or sound is None:
        return ""
    model = ""
    if pretrained is not None:
        before = _of_model(pretrained, corpus)
        after = pearson(_pairs(pretrained, corpus.sound), corpus.sound.distances.pairs)
        if before is not None and after is not None:
            model = f", the pretrained model's positions at {before:.3f} and {after:.3f}"
    return (
        f"The lag |i - j| correlates with plug-in distances over all 128 positions at {plugin:.3f}, with "
        f"cross-validated ones over the {corpus.sound.positions.size} positions with enough data at {sound:.3f}"
        f"{model}; that MDS has 1 is so by construction, as it is fitted to these distances."
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
