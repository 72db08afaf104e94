"""Table 4: five encodings on SST-2 and IMDB at d = 768."""

from functools import partial

from posgeom.estimation.build import Geometry
from posgeom.paper.inputs import IMDB, N_DIMS, SST2, Corpus, Inputs, PaperCorpus, defined
from posgeom.paper.quantities import Quantity, corpus_notes, corpus_rows, missing_corpora
from posgeom.paper.result import Estimate, ItemResult, SoundRow, over_estimates, over_seeds
from posgeom.paper.sound import scores_of
from posgeom.paper.stresses import IN_SAMPLE, MDS, SPECS, build, mds_stresses, stress_of
from posgeom.paper.values import paper_values

GAUSSIAN_ROPE = "rope:reference=gaussian"
_WHATS = (SST2, IMDB)


def table4(inputs: Inputs) -> ItemResult:
    """Compute Table 4."""
    rows = [row for what in _WHATS for row in corpus_rows(inputs, what, _quantities(what, inputs.seeds))]
    sound = [
        row for what in _WHATS if (corpus := inputs.corpora.get(what.key)) for row in sound_rows(corpus, inputs.seeds)
    ]
    return ItemResult(
        name="table4",
        title=f"Table 4: encodings on SST-2 and IMDB, d = {N_DIMS}",
        section="6.3",
        rows=tuple(rows),
        sound=tuple(sound),
        change=_change(sound),
        missing=tuple(missing_corpora(inputs, _WHATS)),
        notes=(
            *corpus_notes(inputs, _WHATS),
            IN_SAMPLE,
            (
                "RoPE rotates a reference vector: one of unit length in every pair of channels lies on the sinusoid's "
                "curve, a Gaussian one of the same norm near it."
            ),
        ),
    )


def _quantities(what: PaperCorpus, seeds: range) -> list[Quantity[Corpus]]:
    def key(name: str) -> str | None:
        full = f"table4.{what.key}.{name}"
        return full if full in paper_values() else None

    return [
        Quantity("raw stress, MDS", key("mds"), lambda corpus: mds_stresses(corpus.paper.distances)[:N_DIMS][-1].raw),
        Quantity("raw stress, ALiBi", key("alibi"), partial(_raw, "alibi")),
        Quantity("raw stress, sinusoidal", key("sinusoidal"), partial(_raw, "sinusoidal")),
        Quantity("raw stress, RoPE", None, partial(_raw, "rope")),
        Quantity("RoPE against sinusoidal", key("rope"), partial(_off_sinusoidal, "rope"), "%"),
        Quantity(
            "the same, Gaussian reference",
            key("rope"),
            lambda corpus: over_seeds([_off_sinusoidal(GAUSSIAN_ROPE, corpus, seed) for seed in seeds]),
            "%",
        ),
        Quantity(
            "raw stress, random", None, lambda corpus: over_seeds([_raw("random", corpus, seed) for seed in seeds])
        ),
        Quantity(
            "raw stress, sinusoidal over ALiBi",
            key("ratio"),
            lambda corpus: _raw("sinusoidal", corpus) / _raw("alibi", corpus),
        ),
    ]


def _raw(spec: str, corpus: Corpus, seed: int = 0) -> float:
    return defined(stress_of(spec, corpus.paper, N_DIMS, seed).raw)


def _off_sinusoidal(spec: str, corpus: Corpus, seed: int = 0) -> float:
    return 100 * (_raw(spec, corpus, seed) / _raw("sinusoidal", corpus) - 1)


def sound_rows(corpus: Corpus, seeds: range) -> list[SoundRow]:
    """Alignment of the five encodings with a corpus, with jackknife intervals; of random ones the mean over seeds."""
    before, after = (_alignments(corpus, shape, seeds) for shape in (corpus.paper, corpus.sound))
    return [SoundRow(f"{corpus.what.title}: alignment, {name}", "", before[name], after[name]) for name in SPECS]


def _alignments(corpus: Corpus, shape: Geometry, seeds: range) -> dict[str, Estimate | None]:
    encodings = [build(spec, shape, N_DIMS, corpus.seed) for spec in SPECS.values()]
    found = dict(zip(SPECS, scores_of(encodings, shape), strict=True))
    drawn = scores_of([build("random", shape, N_DIMS, seed) for seed in seeds], shape, intervals=False)
    return found | {"random": over_estimates(drawn)}


def _change(sound: list[SoundRow]) -> str:
    sentences = []
    for what in _WHATS:
        fixed = [
            (row.quantity.rpartition(", ")[2], row.plugin.value, row.sound.value)
            for row in sound
            if row.quantity.startswith(f"{what.title}:") and row.plugin and row.sound and not row.quantity.endswith(MDS)
        ]
        if fixed:
            before = max(fixed, key=lambda entry: entry[1])
            after = max(fixed, key=lambda entry: entry[2])
            sentences.append(
                f"on {what.title} the fixed encoding that has most of the plug-in geometry is {before[0]} (alignment "
                f"{before[1]:.3f}), of the cross-validated one {after[0]} ({after[2]:.3f})"
            )
    if not sentences:
        return ""
    return "Raw stress follows the norm of an encoding, alignment does not: " + "; ".join(sentences) + "."
