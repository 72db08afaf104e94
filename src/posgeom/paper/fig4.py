"""Figure 4: stress against the width d, on SST-2 and IMDB."""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

from posgeom.paper.inputs import IMDB, N_DIMS, SST2, Corpus, Inputs, PaperCorpus, defined
from posgeom.paper.quantities import (
    Quantity,
    corpus_notes,
    is_the_papers,
    missing_corpora,
    named_after,
    rows_of,
)
from posgeom.paper.result import Estimate, ItemResult, Row, SoundRow
from posgeom.paper.sound import scores_of
from posgeom.paper.stresses import FIXED, IN_SAMPLE, MDS, build, mds_stresses, stress_of
from posgeom.paper.values import paper_values

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, N_DIMS)
MDS_WIDTHS = (1, 2, 3, 8, 16, 32, 64)
ZERO = 1e-9
"""Raw stress that is zero to round-off."""
SOUND_RANKS = (1, 2, 3, 8)
_WHATS = (SST2, IMDB)


def fig4(inputs: Inputs) -> ItemResult:
    """Compute Figure 4."""
    curves = {key: _Curves(corpus) for key, corpus in inputs.corpora.items() if key in (SST2.key, IMDB.key)}
    rows: list[Row] = []
    for what in _WHATS:
        found, comparable = curves.get(what.key), is_the_papers(inputs, what)
        rows += rows_of(named_after(what, _quantities(what)), found, is_the_papers=comparable)
    sound = [row for what in _WHATS if what.key in curves for row in curves[what.key].sound_rows()]
    return ItemResult(
        name="fig4",
        title="Figure 4: stress against the width d, SST-2 and IMDB",
        section="6.4",
        rows=tuple(rows),
        sound=tuple(sound),
        change=_change(curves.values()),
        panels=tuple(panel for c in curves.values() for panel in c.panels()),
        missing=tuple(missing_corpora(inputs, _WHATS)),
        notes=(
            *corpus_notes(inputs, _WHATS),
            IN_SAMPLE,
            (
                f"Widths {', '.join(map(str, WIDTHS))}. Growth is the factor from one to the next, without d = "
                f"{WIDTHS[0]}, where a sinusoid has a single frequency."
            ),
        ),
    )


Curve = list[tuple[int, float | None]]
"""Widths, or ranks, and a stress at each."""


class _Curves:
    """Stress at every width, of MDS at every rank, on both geometries of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.title = corpus.what.title
        self.parameters = (corpus.paper.rank or 0) * (corpus.what.n_positions + N_DIMS)
        self.mds = mds_stresses(corpus.paper.distances)
        self.fixed = {
            name: [stress_of(spec, corpus.paper, width, corpus.seed) for width in WIDTHS]
            for name, spec in FIXED.items()
        }
        self.rank, self.significant_rank = corpus.paper.rank, corpus.significant_rank
        shape = corpus.sound
        self.n_used, n_axes = shape.positions.size, shape.spectrum.n_positive
        ranks = _ranks(n_axes)
        fitted = [build(f"mds:rank={rank}", shape, N_DIMS, corpus.seed) for rank in ranks]
        self.sound_mds = dict(zip(ranks, scores_of(fitted, shape), strict=True)) if ranks else {}
        plugin = [build(f"mds:rank={rank}", corpus.paper, N_DIMS, corpus.seed) for rank in SOUND_RANKS]
        self.plugin_mds = dict(zip(SOUND_RANKS, scores_of(plugin, corpus.paper), strict=True))
        wide = [build(spec, shape, width, corpus.seed) for spec in FIXED.values() for width in WIDTHS]
        values = [_value(estimate) for estimate in scores_of(wide, shape, intervals=False)]
        n = len(WIDTHS)
        self.sound_fixed = {name: values[k * n : (k + 1) * n] for k, name in enumerate(FIXED)}

    def sound_rows(self) -> list[SoundRow]:
        """Axes that are more than noise, and alignment of MDS at some ranks."""
        axes = SoundRow(f"{self.title}: axes", "", _estimate(self.rank), _estimate(self.significant_rank))
        return [axes] + [
            SoundRow(
                f"{self.title}: alignment, MDS of rank {rank}",
                "",
                self.plugin_mds[rank],
                self.sound_mds.get(rank),
            )
            for rank in SOUND_RANKS
        ]

    @property
    def zero_at(self) -> int | None:
        """Smallest rank at which the raw stress of MDS is zero to round-off."""
        return next((rank for rank, s in enumerate(self.mds, 1) if s.raw is not None and s.raw <= ZERO), None)

    @property
    def gap(self) -> float:
        """Largest relative difference of RoPE and sinusoidal over the widths, in per cent."""
        pairs = zip(self.fixed["RoPE"], self.fixed["sinusoidal"], strict=True)
        return max((100 * (defined(a.raw) / defined(b.raw) - 1) for a, b in pairs), key=abs)

    @property
    def least_growth(self) -> float:
        """Least factor by which the sinusoid's raw stress grows from one width to the next, from the second one on."""
        raw = [defined(s.raw) for s in self.fixed["sinusoidal"][1:]]
        return min(b / a for a, b in pairwise(raw))

    def panels(self) -> list[dict[str, object]]:
        """Raw stress on the paper's distances, alignment with sound ones."""
        raw: dict[str, Curve] = {MDS: [(rank, self.mds[rank - 1].raw) for rank in _ranks(len(self.mds))]}
        raw |= {name: [(d, s.raw) for d, s in zip(WIDTHS, found, strict=True)] for name, found in self.fixed.items()}
        aligned: dict[str, Curve] = {MDS: [(rank, _value(estimate)) for rank, estimate in self.sound_mds.items()]}
        aligned |= {name: list(zip(WIDTHS, found, strict=True)) for name, found in self.sound_fixed.items()}
        return [
            self._panel("raw stress, plug-in", raw, y_log=True),
            self._panel("alignment, cross-validated", aligned, y_log=False),
        ]

    def _panel(self, what: str, curves: dict[str, Curve], *, y_log: bool) -> dict[str, object]:
        series = []
        for name, curve in curves.items():
            # Zero has no place on a logarithmic axis: the curve ends before it.
            kept = [(d, v) for d, v in curve if v is not None and (v > ZERO or not y_log)]
            series.append({"name": name, "x": [d for d, _ in kept], "y": [v for _, v in kept]})
        return {
            "kind": "lines",
            "title": f"{self.title}: {what}",
            "caption": f"{self.title}: {what}, of encodings of width d; of MDS, with so many axes. RoPE covers "
            "sinusoidal." + (" A curve that ends has reached zero." if y_log else ""),
            "x_title": "width d (of MDS: rank)",
            "y_title": what.partition(",")[0],
            "x_log": True,
            "y_log": y_log,
            "series": series,
        }


def _ranks(n_axes: int) -> list[int]:
    return [rank for rank in sorted({*MDS_WIDTHS, *WIDTHS, n_axes}) if 0 < rank <= n_axes]


def _quantities(what: PaperCorpus) -> list[Quantity[_Curves]]:
    def key(name: str) -> str | None:
        full = f"fig4.{what.key}.{name}"
        return full if full in paper_values() else None

    full_table = what.n_positions * N_DIMS
    return [
        Quantity("width at which MDS has no stress", key("zero_at"), lambda c: c.zero_at),
        *(Quantity(f"raw stress, MDS at d = {rank}", None, partial(_at_rank, rank)) for rank in MDS_WIDTHS),
        Quantity(f"sinusoidal, least growth from d = {WIDTHS[1]} on", "fig4.grows", lambda c: c.least_growth),
        Quantity("RoPE off sinusoidal, at most", "fig4.gap", lambda c: c.gap),
        Quantity("parameters r(n + d) at that width", key("parameters"), lambda c: c.parameters),
        Quantity("parameters n d of a full table", key("full"), lambda _: full_table),
        Quantity("parameters saved", key("saving"), lambda c: 100 * (1 - c.parameters / full_table), "%"),
    ]


def _at_rank(rank: int, curves: _Curves) -> float | None:
    return curves.mds[rank - 1].raw if rank <= len(curves.mds) else None


def _estimate(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _change(curves: Iterable[_Curves]) -> str:
    parts = []
    for found in curves:
        aligned = {rank: e.value for rank, e in found.sound_mds.items() if e is not None}
        if not aligned:
            continue
        best, last = max(aligned, key=aligned.__getitem__), max(aligned)
        text = f"on {found.title}, of {found.rank} plug-in axes, "
        if found.significant_rank is not None:
            text += f"{found.significant_rank} stand out of noise and "
        text += f"MDS fitted on one half of the corpus has most of the other at rank {best} ({aligned[best]:.3f}"
        parts.append(text + (f"; with all {last} axes {aligned[last]:.3f})" if last != best else ")"))
    return (
        f"By alignment with the cross-validated geometry more axes do not always help: {'; '.join(parts)}."
        if parts
        else ""
    )
