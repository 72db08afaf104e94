"""Table 4 and Figure 4: encodings on SST-2 and IMDB."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from posgeom.paper.inputs import IMDB, N_DIMS, SST2, Corpus, PaperCorpus
from posgeom.paper.item import Item, Panel, Quantity, Results, curve, on, panel
from posgeom.paper.measured import FIXED, MDS, SPECS, Convention, scores_of
from posgeom.paper.needs import SEED
from posgeom.paper.on_synthetic import IN_SAMPLE
from posgeom.paper.result import Estimate, value_of
from posgeom.paper.values import stated

CORPORA = (SST2, IMDB)
GAUSSIAN_ROPE = "rope:reference=gaussian"
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, N_DIMS)
MDS_WIDTHS = (1, 2, 3, 8, 16, 32, 64)
SOUND_RANKS = (1, 2, 3, 8)
ZERO = 1e-9
"""Raw stress that is zero to round-off."""


def raw(spec: str) -> Callable[..., float]:
    """Raw stress of an encoding at the paper's width; of a seed, where one is given."""
    return lambda corpus, seed=None: corpus.raw_stress(spec, N_DIMS, seed)


def off_sinusoidal(spec: str) -> Callable[..., float]:
    """How far its raw stress is from the sinusoid's, in per cent."""
    return lambda corpus, seed=None: 100 * (raw(spec)(corpus, seed) / raw("sinusoidal")(corpus) - 1)


def alignment(spec: str) -> Callable[..., Estimate | None]:
    """Alignment of an encoding with an interval; of a seed, without one."""
    return lambda corpus, *seed_and_side: corpus.alignment(spec, N_DIMS, seed_and_side[-1], *seed_and_side[:-1])


def table4_rows(what: PaperCorpus) -> tuple[Quantity, ...]:
    """The rows of a corpus in Table 4."""
    title, key = what.title, f"table4.{what.key}"
    mds, alibi, sinusoidal, rope, ratio = (
        stated(f"{key}.{name}") for name in ("mds", "alibi", "sinusoidal", "rope", "ratio")
    )
    return (
        *on(what)(
            Quantity(f"{title}: raw stress, MDS", raw("mds"), mds),
            Quantity(f"{title}: raw stress, ALiBi", raw("alibi"), alibi),
            Quantity(f"{title}: raw stress, sinusoidal", raw("sinusoidal"), sinusoidal),
            Quantity(f"{title}: raw stress, RoPE", raw("rope")),
            Quantity(f"{title}: RoPE against sinusoidal", off_sinusoidal("rope"), rope),
        ),
        *on(what, SEED)(
            Quantity(f"{title}: the same, Gaussian reference", off_sinusoidal(GAUSSIAN_ROPE), rope),
            Quantity(f"{title}: raw stress, random", raw("random")),
        ),
        *on(what)(
            Quantity(
                f"{title}: raw stress, sinusoidal over ALiBi", lambda c: raw("sinusoidal")(c) / raw("alibi")(c), ratio
            )
        ),
    )


def table4_change(results: Results) -> str:
    """Which fixed encoding is nearest to each corpus by either convention."""
    sentences = []
    for what in CORPORA:
        rows = results.named(f"{what.title}: alignment, ").items()
        fixed = [(name, r.plugin.value, r.sound.value) for name, r in rows if name != MDS and r.plugin and r.sound]
        if fixed:
            before = max(fixed, key=lambda row: row[1])
            after = max(fixed, key=lambda row: row[2])
            sentences.append(
                f"on {what.title} the fixed encoding that has most of the plug-in geometry is {before[0]} (alignment "
                f"{before[1]:.3f}), of the cross-validated one {after[0]} ({after[2]:.3f})"
            )
    if not sentences:
        return ""
    return "Raw stress follows the norm of an encoding, alignment does not: " + "; ".join(sentences) + "."


TABLE4 = Item(
    name="table4",
    title=f"Table 4: encodings on SST-2 and IMDB, d = {N_DIMS}",
    section="6.3",
    rows=tuple(row for what in CORPORA for row in table4_rows(what)),
    sound=tuple(
        Quantity(
            f"{what.title}: alignment, {name}", alignment(spec), needs=(what, SEED) if name == "random" else (what,)
        )
        for what in CORPORA
        for name, spec in SPECS.items()
    ),
    change=table4_change,
    notes=(
        IN_SAMPLE,
        (
            "RoPE rotates a reference vector: one of unit length in every pair of channels lies on the sinusoid's "
            "curve, a Gaussian one of the same norm near it."
        ),
    ),
)


def mds_at(rank: int, corpus: Corpus) -> float | None:
    """Raw stress of MDS of a rank; None where there are not so many axes."""
    return corpus.mds_stresses[rank - 1].raw if rank <= len(corpus.mds_stresses) else None


def zero_at(corpus: Corpus) -> int | None:
    """Smallest rank at which the raw stress of MDS is zero to round-off."""
    stresses = enumerate(corpus.mds_stresses, 1)
    return next((rank for rank, stress in stresses if stress.raw is not None and stress.raw <= ZERO), None)


def raw_by_width(corpus: Corpus, spec: str) -> dict[int, float]:
    """Raw stress of an encoding at each width."""
    return {width: corpus.raw_stress(spec, width) for width in WIDTHS}


def least_growth(corpus: Corpus) -> float:
    """Least factor by which the sinusoid's raw stress grows from one width to the next, from the second one on."""
    return min(b / a for a, b in pairwise(list(raw_by_width(corpus, "sinusoidal").values())[1:]))


def gap(corpus: Corpus) -> float:
    """Largest relative difference of RoPE and sinusoidal over the widths, in per cent."""
    rope, sinusoidal = (raw_by_width(corpus, spec) for spec in ("rope", "sinusoidal"))
    return max((100 * (rope[width] / sinusoidal[width] - 1) for width in WIDTHS), key=abs)


def parameters(corpus: Corpus) -> int:
    """Numbers that the exact encoding takes, r(n + d)."""
    return (corpus.paper.rank or 0) * (corpus.what.n_positions + N_DIMS)


def axes(corpus: Corpus, convention: Convention) -> float | None:
    """Axes of the plug-in geometry, and of the sound one those that are more than noise."""
    return corpus.paper.rank if convention == "paper" else corpus.significant_rank


def aligned_mds(rank: int, corpus: Corpus, convention: Convention) -> Estimate | None:
    """Alignment of MDS of a rank; None where the sound geometry has not so many axes."""
    if convention == "sound" and rank > corpus.sound.spectrum.n_positive:
        return None
    return corpus.alignment(f"mds:rank={rank}", N_DIMS, convention)


def sound_curve(corpus: Corpus, widths: Mapping[int, str]) -> dict[int, float | None]:
    """Alignment with the cross-validated geometry, of an encoding at each width."""
    encodings = [corpus.build(spec, N_DIMS if "mds" in spec else width, "sound") for width, spec in widths.items()]
    scores = scores_of(encodings, corpus.sound, intervals=False) if encodings else []
    return {width: value_of(score) for width, score in zip(widths, scores, strict=True)}


def sound_mds_curve(corpus: Corpus) -> dict[int, float | None]:
    """The same of MDS by rank."""
    return sound_curve(corpus, {rank: f"mds:rank={rank}" for rank in _ranks(corpus.sound.spectrum.n_positive)})


def _ranks(n_axes: int) -> list[int]:
    return [rank for rank in sorted({*MDS_WIDTHS, *WIDTHS, n_axes}) if 0 < rank <= n_axes]


def fig4_rows(what: PaperCorpus) -> tuple[Quantity, ...]:
    """The rows of a corpus in Figure 4."""
    title, key, full = what.title, f"fig4.{what.key}", what.n_positions * N_DIMS
    return on(what)(
        Quantity(f"{title}: width at which MDS has no stress", zero_at, f"{key}.zero_at"),
        *(Quantity(f"{title}: raw stress, MDS at d = {rank}", partial(mds_at, rank)) for rank in MDS_WIDTHS),
        Quantity(f"{title}: sinusoidal, least growth from d = {WIDTHS[1]} on", least_growth, "fig4.grows"),
        Quantity(f"{title}: RoPE off sinusoidal, at most", gap, "fig4.gap"),
        Quantity(f"{title}: parameters r(n + d) at that width", parameters, stated(f"{key}.parameters")),
        Quantity(f"{title}: parameters n d of a full table", lambda _: full, stated(f"{key}.full")),
        Quantity(
            f"{title}: parameters saved", lambda c: 100 * (1 - parameters(c) / full), stated(f"{key}.saving"), "%"
        ),
    )


def fig4_sound(what: PaperCorpus) -> tuple[Quantity, ...]:
    """The sound rows of a corpus in Figure 4."""
    ranks = (Quantity(f"{what.title}: alignment, MDS of rank {r}", partial(aligned_mds, r)) for r in SOUND_RANKS)
    return on(what)(Quantity(f"{what.title}: axes", axes), *ranks)


def _given(results: Results) -> list[Corpus]:
    return [corpus for what in CORPORA if (corpus := results.inputs.only(what))]


def fig4_change(results: Results) -> str:
    """At which rank MDS has most of the other half of each corpus."""
    parts = []
    for corpus in _given(results):
        aligned = {rank: value for rank, value in sound_mds_curve(corpus).items() if value is not None}
        if not aligned:
            continue
        best, last = max(aligned, key=aligned.__getitem__), max(aligned)
        text = f"on {corpus.what.title}, of {corpus.paper.rank} plug-in axes, "
        if corpus.significant_rank is not None:
            text += f"{corpus.significant_rank} stand out of noise and "
        text += f"MDS fitted on one half of the corpus has most of the other at rank {best} ({aligned[best]:.3f}"
        parts.append(text + (f"; with all {last} axes {aligned[last]:.3f})" if last != best else ")"))
    if not parts:
        return ""
    return f"By alignment with the cross-validated geometry more axes do not always help: {'; '.join(parts)}."


def fig4_panels(results: Results) -> list[Panel]:
    """Raw stress on the paper's distances, alignment with sound ones, of each corpus."""
    panels = []
    for corpus in _given(results):
        raw: dict[str, Mapping[int, float | None]] = {
            MDS: {rank: mds_at(rank, corpus) for rank in _ranks(len(corpus.mds_stresses))}
        }
        raw |= {name: raw_by_width(corpus, spec) for name, spec in FIXED.items()}
        aligned = {MDS: sound_mds_curve(corpus)}
        aligned |= {name: sound_curve(corpus, dict.fromkeys(WIDTHS, spec)) for name, spec in FIXED.items()}
        panels += [_panel(corpus.what, "raw stress, plug-in", raw, y_log=True)]
        panels += [_panel(corpus.what, "alignment, cross-validated", aligned, y_log=False)]
    return panels


def _panel(what: PaperCorpus, text: str, curves: Mapping[str, Mapping[int, float | None]], *, y_log: bool) -> Panel:
    # Zero has no place on a logarithmic axis: the curve ends before it.
    kept = {
        name: {d: v for d, v in values.items() if v is not None and (v > ZERO or not y_log)}
        for name, values in curves.items()
    }
    return panel(
        "lines",
        f"{what.title}: {text}",
        f"{what.title}: {text}, of encodings of width d; of MDS, with so many axes. RoPE covers sinusoidal."
        + (" A curve that ends has reached zero." if y_log else ""),
        x_title="width d (of MDS: rank)",
        y_title=text.partition(",")[0],
        x_log=True,
        y_log=y_log,
        series=[curve(name, values) for name, values in kept.items()],
    )


FIG4 = Item(
    name="fig4",
    title="Figure 4: stress against the width d, SST-2 and IMDB",
    section="6.4",
    rows=tuple(row for what in CORPORA for row in fig4_rows(what)),
    sound=tuple(row for what in CORPORA for row in fig4_sound(what)),
    change=fig4_change,
    panels=fig4_panels,
    notes=(
        IN_SAMPLE,
        (
            f"Widths {', '.join(map(str, WIDTHS))}. Growth is the factor from one to the next, without d = "
            f"{WIDTHS[0]}, where a sinusoid has a single frequency."
        ),
    ),
)
