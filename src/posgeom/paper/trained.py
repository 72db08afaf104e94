"""Figures 6 and 7: positions of trained models beside those of the encodings, on SST-2."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds
from posgeom.paper.inputs import N_DIMS, SST2, Corpus
from posgeom.paper.item import Item, Panel, Quantity, Results, on, panel, sentence, sound_bars
from posgeom.paper.measured import MDS, Convention, sound_statistic
from posgeom.paper.needs import MODELS, SEED, Positions
from posgeom.paper.result import Estimate
from posgeom.paper.values import stated
from posgeom.scores.monotonicity import Monotonicity, monotonicity
from posgeom.scores.stress import stress_of_pairs
from posgeom.seeds import make_rng

SHOWN_PAIRS = 400
"""Pairs of positions in Figure 7, chosen at random from all."""


def order(distances: DistanceMatrix) -> Monotonicity:
    """How often distances fall as the lag grows."""
    return monotonicity(distances.values, distances.positions)


def percent(share: float | None) -> float | None:
    """A share in per cent."""
    return None if share is None else 100 * share


def violations(distances: DistanceMatrix) -> float | None:
    """Triples that violate monotonicity, in per cent."""
    return percent(order(distances).violation_rate)


def mds_violations(rank: int) -> Callable[[DistanceMatrix], float | None]:
    """The same of the distances of MDS of a rank."""

    def statistic(distances: DistanceMatrix) -> float | None:
        fitted = euclidean_distances(classical_mds(distances).coordinates[:, :rank])
        return percent(monotonicity(fitted, distances.positions).violation_rate)

    return statistic


def of_distances(statistic: Callable[[DistanceMatrix], float | None]) -> Callable[..., Estimate | None]:
    """A number of the corpus's distances under a convention."""
    return lambda corpus, convention: sound_statistic(statistic, corpus.under(convention))


def own_violations(encoding: Encoding, where: NDArray[np.int64] | None = None) -> float | None:
    """The same of an encoding's own distances, over all of its positions or some."""
    positions = np.arange(encoding.n_positions) if where is None else where
    return percent(monotonicity(encoding.distances(positions), positions).violation_rate)


def used_violations(encoding: Encoding, corpus: Corpus, convention: Convention) -> float | None:
    """The same over the positions that a convention uses."""
    return own_violations(encoding, None if convention == "paper" else corpus.sound.positions)


def fixed(spec: str, seed: int = 0) -> Encoding:
    """An encoding that knows nothing of the corpus."""
    return build_encoding(spec, n_positions=SST2.n_positions, n_dims=N_DIMS, seed=seed)


def fig6_panels(results: Results) -> tuple[Panel]:
    """Violations as bars, under both conventions."""
    rows = results.named("violations, ")
    return (
        panel(
            "bars",
            "Violations of monotonicity, SST-2",
            "Share of triples whose farther position lies nearer, of each encoding's own distances: between all 128 "
            "positions, and between those with enough data. Lines: 95 % intervals; of random, smallest to largest.",
            y_title="violations, %",
            y_log=False,
            bars=sound_bars(rows, "plug-in, all positions", "cross-validated, used positions"),
        ),
    )


FIG6 = Item(
    name="fig6",
    title="Figure 6: violations of monotonicity, SST-2, n = 128",
    section="6.6",
    rows=(
        *on(SST2)(
            Quantity("SST-2: violations, MDS", lambda c: violations(c.paper.distances), "fig6.mds"),
            Quantity("SST-2: exact ties, MDS", lambda c: percent(order(c.paper.distances).tie_rate), unit="%"),
            Quantity("SST-2: triples", lambda c: order(c.paper.distances).triples),
        ),
        Quantity("violations, random", lambda s: own_violations(fixed("random", s)), "fig6.random", needs=(SEED,)),
        *(
            Quantity(f"violations, {name}", own_violations, stated(f"fig6.{name}"), "%", (Positions(name),))
            for name in MODELS
        ),
    ),
    sound=(
        *on(SST2)(
            Quantity("violations, corpus (MDS)", of_distances(violations), unit="%"),
            Quantity("violations, MDS of rank 1", of_distances(mds_violations(1)), unit="%"),
            Quantity("violations, MDS of rank 2", of_distances(mds_violations(2)), unit="%"),
        ),
        *on(SEED, SST2)(
            Quantity("violations, random", lambda s, *to: used_violations(fixed("random", s), *to), unit="%")
        ),
        *on(SST2)(
            Quantity("violations, sinusoidal", lambda *to: used_violations(fixed("sinusoidal"), *to), unit="%"),
            Quantity("violations, ALiBi", lambda *to: used_violations(fixed("alibi"), *to), unit="%"),
        ),
        *(Quantity(f"violations, {name}", used_violations, None, "%", (Positions(name), SST2)) for name in MODELS),
    ),
    change=sentence(
        "The corpus itself violates monotonicity in {plugin[violations, corpus (MDS)]:.1f} % of the triples by plug-in "
        "distances between all 128 positions, in {sound[violations, corpus (MDS)]:.1f} % by cross-validated ones "
        "between those with enough data",
        ", and {sound[violations, MDS of rank 1]:.1f} % on its leading axis",
        ". Distance grows with the lag more regularly than noise lets it seem.",
    ),
    panels=fig6_panels,
    notes=("A violation is a triple (i, j, k) with |i - j| < |i - k| and d(i, j) > d(i, k).",),
)


def pearson(spec: str) -> Callable[..., Estimate | None]:
    """Pearson correlation of an encoding's distances with the corpus's; of a seed, without an interval."""

    def compute(corpus: Corpus, seed: int | None = None, convention: Convention = "paper") -> Estimate | None:
        encoding = corpus.build(spec, N_DIMS, convention, seed)
        return corpus.pearson(encoding, convention, intervals=seed is None)

    return compute


def model_pearson(corpus: Corpus, encoding: Encoding, convention: Convention = "paper") -> Estimate | None:
    """The same of a model's own positions."""
    return corpus.pearson(encoding, convention)


def fig7_panels(results: Results) -> tuple[Panel]:
    """Distances of some pairs, those of each encoding rescaled to fit."""
    corpus: Corpus = results.inputs.only(SST2)
    target = corpus.paper.distances.pairs
    n_pairs = min(SHOWN_PAIRS, target.size)
    pairs = np.sort(make_rng(corpus.seed).choice(target.size, n_pairs, replace=False))
    encodings = {name: corpus.build(name.lower(), N_DIMS) for name in (MDS, "sinusoidal", "random")}
    encodings |= {name: own for name in MODELS if (own := results.inputs.only(Positions(name))) is not None}
    points = []
    for name, encoding in encodings.items():
        distances = upper_pairs(encoding.distances(corpus.paper.positions))
        scale = stress_of_pairs(distances, target).scale or 1.0
        points += [{"x": float(target[k]), "y": float(scale * distances[k]), "group": name, "label": ""} for k in pairs]
    return (
        panel(
            "points",
            "SST-2: distances of encodings against Hellinger distances",
            f"{n_pairs} pairs of positions drawn at random, plug-in distances. Each encoding is rescaled to fit "
            "best; the pairs at 0 are empty positions, which have one distribution.",
            x_title="Hellinger distance",
            y_title="distance of the encoding, rescaled",
            is_map=False,
            points=points,
        ),
    )


FIG7 = Item(
    name="fig7",
    title="Figure 7: distances of embeddings against Hellinger distances, SST-2",
    section="6.7",
    rows=(
        *on(SST2)(
            Quantity("Pearson, MDS", pearson("mds"), "fig7.mds"),
            Quantity("Pearson, sinusoidal", pearson("sinusoidal")),
            Quantity("Pearson, ALiBi", pearson("alibi")),
        ),
        Quantity("Pearson, random", pearson("random"), needs=(SST2, SEED)),
        *(
            Quantity(f"Pearson, {name}", model_pearson, stated(f"fig7.{name}"), needs=(SST2, Positions(name)))
            for name in MODELS
        ),
    ),
    sound=(
        *on(SST2)(
            Quantity("Pearson, sinusoidal", lambda c, side: pearson("sinusoidal")(c, convention=side)),
            Quantity("Pearson, ALiBi", lambda c, side: pearson("alibi")(c, convention=side)),
        ),
        Quantity("Pearson, random", pearson("random"), needs=(SST2, SEED)),
        *(Quantity(f"Pearson, {name}", model_pearson, needs=(SST2, Positions(name))) for name in MODELS),
    ),
    change=sentence(
        "The lag |i - j| correlates with plug-in distances over all 128 positions at {plugin[Pearson, ALiBi]:.3f}, "
        "with cross-validated ones over the {inputs.corpora[sst2].sound.positions.size} positions with enough data "
        "at {sound[Pearson, ALiBi]:.3f}",
        ", the pretrained model's positions at {plugin[Pearson, pretrained]:.3f} and {sound[Pearson, pretrained]:.3f}",
        "; that MDS has 1 is so by construction, as it is fitted to these distances.",
    ),
    panels=fig7_panels,
)
