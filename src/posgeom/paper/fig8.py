"""Figure 8: stress layer by layer, of positions projected by the query-key products of a model, on SST-2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from posgeom.errors import PosgeomError
from posgeom.estimation.build import Geometry
from posgeom.models.family import PositionTable
from posgeom.models.layers import Weights, layer_scores
from posgeom.models.model import Model
from posgeom.models.projection import ProjectionScores
from posgeom.paper.inputs import SST2, Inputs, defined, is_bert_base, model_missing
from posgeom.paper.own_positions import MODELS, given_models, model_notes
from posgeom.paper.quantities import Quantity, corpus_notes, missing_corpora, rows_of
from posgeom.paper.result import Estimate, ItemResult, Missing, Row, SoundRow, over_seeds

N_LAYERS = 12
"""Layers of the paper's model."""


@dataclass(frozen=True)
class _Stresses:
    """By layer, of the model and of a fresh copy of its sizes: raw stress where the paper has it, and alignment."""

    raw: list[float]
    fresh_raw: list[float]
    aligned: list[float | None]
    fresh_aligned: list[float | None]


@dataclass(frozen=True)
class _Scored:
    """A model against both geometries, sinusoidal positions projected; and its own table where it has one."""

    paper: _Stresses
    sound: _Stresses
    own: tuple[_Stresses, _Stresses] | None
    is_the_papers: bool


def fig8(inputs: Inputs) -> ItemResult:
    """Compute Figure 8."""
    missing = missing_corpora(inputs, [SST2])
    scored: dict[str, _Scored] = {}
    for name, opened in given_models(inputs).items():
        if opened is None:
            missing.append(model_missing(f"{name} model", MODELS[name]))
        elif SST2.key in inputs.corpora:
            try:
                scored[name] = _score(inputs, opened)
            except PosgeomError as error:
                missing.append(Missing(f"{name} model", str(error), None))
    rows = _rows(scored)
    found = scored.get("pretrained")
    if found is not None and len(found.paper.raw) != N_LAYERS:
        reason = (
            f"the model has {len(found.paper.raw)} sets of layer weights, the paper's numbers are of {N_LAYERS} layers"
        )
        missing.append(Missing("layers 3, 4 to 11, and 12", reason, "--model with a directory of BERT-base"))
    sound = [row for name, entry in scored.items() for row in _sound(name, entry)]
    return ItemResult(
        name="fig8",
        title="Figure 8: stress by layer of P M, M = W_Q^T W_K, SST-2",
        section="6.8",
        rows=tuple(rows),
        sound=tuple(sound),
        change=_change(scored),
        panels=_panels(scored),
        missing=tuple(missing),
        notes=(
            *corpus_notes(inputs, [SST2]),
            *model_notes([name for name, entry in scored.items() if not entry.is_the_papers]),
            (
                "P is sinusoidal, the input whose norm gives raw stresses of the paper's size. The fresh copy has the "
                "model's sizes and freshly drawn weights."
            ),
        ),
    )


def _score(inputs: Inputs, opened: Model) -> _Scored:
    corpus = inputs.corpora[SST2.key]
    paper = _stresses(opened, corpus.paper, "sinusoidal", inputs, with_raw=True)
    sound = _stresses(opened, corpus.sound, "sinusoidal", inputs)
    own = None
    if isinstance(opened.stack().positions, PositionTable):
        own = (_stresses(opened, corpus.paper, "own", inputs), _stresses(opened, corpus.sound, "own", inputs))
    return _Scored(paper, sound, own, corpus.is_the_papers and is_bert_base(opened))


def _stresses(opened: Model, shape: Geometry, source: str, inputs: Inputs, *, with_raw: bool = False) -> _Stresses:
    analysis = layer_scores(opened, shape, input=source, heads=False, seed=inputs.seed, progress=inputs.progress)

    def rows(weights: Weights) -> list[ProjectionScores]:
        return [row.scores for row in analysis.rows if row.weights == weights]

    trained, fresh = rows("trained"), rows("initial")
    return _Stresses(
        [defined(row.stress_raw) for row in trained if with_raw],
        [defined(row.stress_raw) for row in fresh if with_raw],
        [row.alignment for row in trained],
        [row.alignment for row in fresh],
    )


def _rows(scored: Mapping[str, _Scored]) -> list[Row]:
    model, scratch = scored.get("pretrained"), scored.get("scratch")
    whole = None if model is None or len(model.paper.raw) != N_LAYERS else model
    comparable = model is None or model.is_the_papers
    by_layer: list[Quantity[_Scored]] = [
        Quantity("raw stress, pretrained, layer 3", "fig8.layer3", _at_layer(3)),
        Quantity("layers 4 to 11, smallest", "fig8.layers4to11", lambda s: min(s.paper.raw[3:11])),
        Quantity("layers 4 to 11, largest", "fig8.layers4to11", lambda s: max(s.paper.raw[3:11])),
        Quantity("layer 12", "fig8.layer12", _at_layer(12)),
    ]
    over_layers: list[Quantity[_Scored]] = [
        Quantity("mean over layers", None, lambda s: over_seeds(s.paper.raw, "layers")),
        Quantity("fresh copy, mean over layers", None, lambda s: over_seeds(s.paper.fresh_raw, "layers")),
        Quantity("fresh copy, share of the model's mean", None, lambda s: _share(s.paper.fresh_raw, s), "%"),
    ]
    rows = rows_of(by_layer, whole, is_the_papers=comparable) + rows_of(over_layers, model)
    both = model if scratch is not None else None
    largest: Quantity[_Scored] = Quantity(
        "scratch, largest, share of the model's mean",
        "fig8.scratch",
        lambda s: _share([max(scratch.paper.raw)], s) if scratch is not None else None,
    )
    return rows + rows_of([largest], both, is_the_papers=comparable and (scratch is None or scratch.is_the_papers))


def _at_layer(layer: int) -> Callable[[_Scored], float]:
    return lambda scored: scored.paper.raw[layer - 1]


def _share(values: list[float], scored: _Scored) -> float:
    return 100 * _mean(values) / _mean(scored.paper.raw)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _sound(name: str, scored: _Scored) -> list[SoundRow]:
    def row(what: str, plugin: list[float | None], sound: list[float | None]) -> SoundRow:
        return SoundRow(f"alignment, {name}, {what}", "", _over_layers(plugin), _over_layers(sound))

    rows = [
        row("P sinusoidal", scored.paper.aligned, scored.sound.aligned),
        row("fresh copy, P sinusoidal", scored.paper.fresh_aligned, scored.sound.fresh_aligned),
    ]
    if scored.own is not None:
        plugin, sound = scored.own
        rows += [
            row("P its own table", plugin.aligned, sound.aligned),
            row("fresh copy and table", plugin.fresh_aligned, sound.fresh_aligned),
        ]
    return rows


def _over_layers(values: list[float | None]) -> Estimate | None:
    """Mean over layers; None where one of them is undefined, as against distances that are noise alone."""
    known = [value for value in values if value is not None]
    return over_seeds(known, "layers") if len(known) == len(values) else None


def _change(scored: Mapping[str, _Scored]) -> str:
    found = scored.get("pretrained") or scored.get("scratch")
    if found is None:
        return ""
    text = "Raw stress follows the norm of M"
    if any(found.paper.fresh_raw):
        raw = _mean(found.paper.raw) / _mean(found.paper.fresh_raw)
        text += f": the model's is {raw:,.1f} times that of a fresh copy"
    sound = found.sound if found.own is None else found.own[1]
    aligned, fresh = _over_layers(sound.aligned), _over_layers(sound.fresh_aligned)
    if aligned is not None and fresh is not None:
        what = "sinusoidal positions" if found.own is None else "its own table"
        text += (
            f"; the mean alignment over layers with the cross-validated geometry is {aligned.value:.3f} for {what}, "
            f"and {fresh.value:.3f} for the copy"
        )
    return f"{text}."


def _panels(scored: Mapping[str, _Scored]) -> tuple[dict[str, object], ...]:
    if not scored:
        return ()
    raw: list[dict[str, object]] = []
    aligned: list[dict[str, object]] = []
    for name, entry in scored.items():
        raw += [_series(name, entry.paper.raw), _series(f"fresh copy of {name}", entry.paper.fresh_raw)]
        best = entry.sound if entry.own is None else entry.own[1]
        aligned += [_series(name, best.aligned), _series(f"fresh copy of {name}", best.fresh_aligned)]
    titles = {"kind": "lines", "x_title": "layer", "x_log": False}
    return (
        titles
        | {
            "title": "Raw stress by layer",
            "caption": "Against the plug-in distances of SST-2, P sinusoidal. Raw stress follows the norm of M.",
            "y_title": "raw stress",
            "y_log": True,
            "series": raw,
        },
        titles
        | {
            "title": "Alignment by layer",
            "caption": "With the cross-validated geometry, P the model's own table where it has one.",
            "y_title": "alignment",
            "y_log": False,
            "series": aligned,
        },
    )


def _series(name: str, values: Sequence[float | None]) -> dict[str, object]:
    return {"name": name, "x": list(range(1, len(values) + 1)), "y": list(values)}
