"""Figure 8: stress layer by layer, of positions projected by the query-key products of a model, on SST-2."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from posgeom.models.family import PositionTable
from posgeom.models.layers import layer_scores
from posgeom.models.model import Model
from posgeom.paper.inputs import SST2, Corpus, Given, Inputs
from posgeom.paper.item import Item, Panel, Quantity, Results, curve, on, panel
from posgeom.paper.measured import CONVENTIONS, Convention
from posgeom.paper.needs import MODELS, N_LAYERS, of_model
from posgeom.paper.result import Estimate, Missing, defined, over_seeds

Source = Literal["sinusoidal", "own"]
"""Positions that are projected: sinusoidal ones, or the model's own table."""


@dataclass(frozen=True)
class LayerStresses:
    """A trained model and a fresh copy of its sizes, each by layer."""

    raw: list[float]
    fresh_raw: list[float]
    """Raw stress of sinusoidal positions projected, on plug-in distances."""
    alignments: dict[tuple[Source, Convention], tuple[list[float | None], list[float | None]]]
    """The model's and the copy's; of its own table where it has one."""

    @property
    def best_source(self) -> Source:
        """The model's own table, where it has one."""
        return "own" if ("own", "sound") in self.alignments else "sinusoidal"


@dataclass(frozen=True)
class Layers:
    """The need of rows by layer: a trained model, and the corpus."""

    model: str
    inputs: frozenset[str] = SST2.inputs | {"model"}

    def of(self, inputs: Inputs) -> Given:
        """The stresses, where there are such a model and the corpus."""
        corpus = inputs.given(SST2)
        if not corpus.values:
            return Given(missing=(*corpus.missing, *of_model(inputs, self.model, lambda _: None).missing))
        given = of_model(inputs, self.model, lambda opened: _layer_stresses(opened, corpus.values[0], inputs))
        comparable = corpus.is_the_papers and given.is_the_papers
        return replace(given, is_the_papers=comparable, missing=(*corpus.missing, *given.missing), notes=corpus.notes)


@dataclass(frozen=True)
class OwnTable(Layers):
    """The same, where the model has a table of positions of its own."""

    def of(self, inputs: Inputs) -> Given:
        """The stresses, with those of the table."""
        given = inputs.given(Layers(self.model))
        return given if all(one.best_source == "own" for one in given.values) else replace(given, values=())


@dataclass(frozen=True)
class AllLayers(Layers):
    """The same, where the model has as many layers as the paper's."""

    def of(self, inputs: Inputs) -> Given:
        """The stresses of so many layers."""
        given = inputs.given(Layers(self.model))
        n_layers = [len(one.raw) for one in given.values]
        if n_layers in ([], [N_LAYERS]):
            return given
        reason = f"the model has {n_layers[0]} sets of layer weights, the paper's numbers are of {N_LAYERS} layers"
        missing = Missing("layers 3, 4 to 11, and 12", reason, "--model with a directory of BERT-base")
        return replace(given, values=(), missing=(*given.missing, missing))


def _layer_stresses(opened: Model, corpus: Corpus, inputs: Inputs) -> LayerStresses:
    sources: list[Source] = ["sinusoidal"]
    if isinstance(opened.stack().positions, PositionTable):
        sources.append("own")
    alignments, raw = {}, {}
    for source, convention in product(sources, CONVENTIONS):
        analysis = layer_scores(
            opened,
            corpus.under(convention),
            input=source,
            heads=False,
            seed=inputs.seed,
            progress=inputs.progress,
        )
        trained, fresh = (
            [row.scores for row in analysis.rows if row.weights == weights] for weights in ("trained", "initial")
        )
        alignments[source, convention] = ([one.alignment for one in trained], [one.alignment for one in fresh])
        raw[source, convention] = ([one.stress_raw for one in trained], [one.stress_raw for one in fresh])
    of_model, of_copy = ([defined(value) for value in values] for values in raw["sinusoidal", "paper"])
    return LayerStresses(of_model, of_copy, alignments)


def mean(values: Sequence[float]) -> float:
    """The mean of numbers by layer."""
    return sum(values) / len(values)


def over_layers(values: Sequence[float | None]) -> Estimate | None:
    """Mean over layers; None where one of them is undefined, as against distances that are noise alone."""
    known = [value for value in values if value is not None]
    return over_seeds(known, "layers") if len(known) == len(values) else None


def aligned(source: Source, *, fresh: bool) -> Callable[[LayerStresses, Convention], Estimate | None]:
    """Mean alignment over the layers of a model, or of its fresh copy."""
    return lambda model, convention: over_layers(model.alignments[source, convention][fresh])


def fig8_sound(name: str) -> tuple[Quantity, ...]:
    """The sound rows of a model."""
    return (
        *on(Layers(name))(
            Quantity(f"alignment, {name}, P sinusoidal", aligned("sinusoidal", fresh=False)),
            Quantity(f"alignment, {name}, fresh copy, P sinusoidal", aligned("sinusoidal", fresh=True)),
        ),
        *on(OwnTable(name))(
            Quantity(f"alignment, {name}, P its own table", aligned("own", fresh=False)),
            Quantity(f"alignment, {name}, fresh copy and table", aligned("own", fresh=True)),
        ),
    )


def _models(results: Results) -> dict[str, LayerStresses]:
    return {name: model for name in MODELS if (model := results.inputs.only(Layers(name))) is not None}


def fig8_change(results: Results) -> str:
    """What the sound version says of Figure 8."""
    model = next(iter(_models(results).values()))
    text = "Raw stress follows the norm of M"
    if any(model.fresh_raw):
        text += f": the model's is {mean(model.raw) / mean(model.fresh_raw):,.1f} times that of a fresh copy"
    trained, fresh = map(over_layers, model.alignments[model.best_source, "sound"])
    if trained is not None and fresh is not None:
        what = "sinusoidal positions" if model.best_source == "sinusoidal" else "its own table"
        text += (
            f"; the mean alignment over layers with the cross-validated geometry is {trained.value:.3f} for {what}, "
            f"and {fresh.value:.3f} for the copy"
        )
    return f"{text}."


def fig8_panels(results: Results) -> tuple[Panel, Panel]:
    """Raw stress and alignment by layer."""
    raw, alignments = [], []
    for name, model in _models(results).items():
        trained, fresh = model.alignments[model.best_source, "sound"]
        raw += [curve(name, model.raw), curve(f"fresh copy of {name}", model.fresh_raw)]
        alignments += [curve(name, trained), curve(f"fresh copy of {name}", fresh)]
    axes = {"x_title": "layer", "x_log": False}
    return (
        panel(
            "lines",
            "Raw stress by layer",
            "Against the plug-in distances of SST-2, P sinusoidal. Raw stress follows the norm of M.",
            **axes | {"y_title": "raw stress", "y_log": True, "series": raw},
        ),
        panel(
            "lines",
            "Alignment by layer",
            "With the cross-validated geometry, P the model's own table where it has one.",
            **axes | {"y_title": "alignment", "y_log": False, "series": alignments},
        ),
    )


FIG8 = Item(
    name="fig8",
    title="Figure 8: stress by layer of P M, M = W_Q^T W_K, SST-2",
    section="6.8",
    rows=(
        *on(AllLayers("pretrained"))(
            Quantity("raw stress, pretrained, layer 3", lambda m: m.raw[2], "fig8.layer3"),
            Quantity("layers 4 to 11, smallest", lambda m: min(m.raw[3:11]), "fig8.layers4to11"),
            Quantity("layers 4 to 11, largest", lambda m: max(m.raw[3:11]), "fig8.layers4to11"),
            Quantity("layer 12", lambda m: m.raw[11], "fig8.layer12"),
        ),
        *on(Layers("pretrained"))(
            Quantity("mean over layers", lambda m: over_seeds(m.raw, "layers")),
            Quantity("fresh copy, mean over layers", lambda m: over_seeds(m.fresh_raw, "layers")),
            Quantity(
                "fresh copy, share of the model's mean", lambda m: 100 * mean(m.fresh_raw) / mean(m.raw), unit="%"
            ),
        ),
        *on(Layers("pretrained"), Layers("scratch"))(
            Quantity(
                "scratch, largest, share of the model's mean",
                lambda m, scratch: 100 * max(scratch.raw) / mean(m.raw),
                "fig8.scratch",
            )
        ),
    ),
    sound=tuple(row for name in MODELS for row in fig8_sound(name)),
    change=fig8_change,
    panels=fig8_panels,
    notes=(
        (
            "P is sinusoidal, the input whose norm gives raw stresses of the paper's size. The fresh copy has the "
            "model's sizes and freshly drawn weights."
        ),
    ),
)
