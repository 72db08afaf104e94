"""Figure 4: stress against the width d, on SST-2 and IMDB."""

from functools import partial
from itertools import pairwise

import numpy as np

from posgeom.scores.stress import Stress
from posgeom.studies.paper.inputs import IMDB, N_DIMS, SST2, Corpus, Inputs, PaperCorpus, defined
from posgeom.studies.paper.quantities import (
    Quantity,
    corpus_notes,
    is_the_papers,
    missing_corpora,
    named_after,
    rows_of,
)
from posgeom.studies.paper.result import Estimate, ItemResult, Row, SoundRow
from posgeom.studies.paper.stresses import FIXED, IN_SAMPLE, MDS, mds_stresses, sound_stress, stress_of
from posgeom.studies.paper.values import paper_values

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, N_DIMS)
MDS_WIDTHS = (1, 2, 3, 8, 16, 32, 64)
ZERO = 1e-9
"""Raw stress that is zero to round-off."""
SOUND_RANKS = (1, 2, 3, 8)
_WHATS = (SST2, IMDB)


def fig4(inputs: Inputs) -> ItemResult:
    """Compute Figure 4.

    Parameters
    ----------
    inputs : Inputs

    Returns
    -------
    ItemResult
    """
    curves = {key: _Curves(corpus) for key, corpus in inputs.corpora.items() if key in (SST2.key, IMDB.key)}
    rows: list[Row] = []
    for what in _WHATS:
        found, comparable = curves.get(what.key), is_the_papers(inputs, what)
        rows += rows_of(named_after(what, _quantities(what)), found, is_the_papers=comparable)
    sound = [
        SoundRow(
            f"{what.title}: scaled stress, MDS of rank {rank}",
            "",
            _scaled(curves[what.key].mds, rank),
            sound_stress(f"mds:rank={rank}", inputs.corpora[what.key], N_DIMS),
        )
        for what in _WHATS
        if what.key in curves
        for rank in SOUND_RANKS
    ]
    return ItemResult(
        name="fig4",
        title="Figure 4: stress against the width d, SST-2 and IMDB",
        section="6.4",
        rows=tuple(rows),
        sound=tuple(sound),
        change=_change(inputs, curves),
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


class _Curves:
    """Stress at every width, of MDS at every rank, on both geometries of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.title = corpus.what.title
        self.parameters = (corpus.paper.rank or 0) * (corpus.what.n_positions + N_DIMS)
        self.mds = mds_stresses(corpus.paper.distances)
        self.sound_mds = mds_stresses(corpus.sound.distances)
        self.fixed, self.sound_fixed = (
            {name: [stress_of(spec, shape, width, corpus.seed) for width in WIDTHS] for name, spec in FIXED.items()}
            for shape in (corpus.paper, corpus.sound)
        )

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
        """Raw stress on the paper's distances, scaled stress on sound ones."""
        return [
            self._panel("raw stress, plug-in", "stress_raw", self.mds, self.fixed, y_log=True),
            self._panel(
                "scaled stress, cross-validated", "stress_scaled", self.sound_mds, self.sound_fixed, y_log=False
            ),
        ]

    def _panel(
        self, what: str, score: str, mds: list[Stress], fixed: dict[str, list[Stress]], *, y_log: bool
    ) -> dict[str, object]:
        ranks = [rank for rank in sorted({*MDS_WIDTHS, *WIDTHS, len(mds)}) if 0 < rank <= len(mds)]
        drawn = {MDS: (ranks, [mds[rank - 1] for rank in ranks])} | {n: (list(WIDTHS), s) for n, s in fixed.items()}
        series = []
        for name, (x, stresses) in drawn.items():
            values = [s.raw if score == "stress_raw" else s.scaled for s in stresses]
            # Zero has no place on a logarithmic axis: the curve ends before it.
            kept = [(d, v) for d, v in zip(x, values, strict=True) if v is not None and (v > ZERO or not y_log)]
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


def _scaled(stresses: list[Stress], rank: int) -> Estimate | None:
    value = stresses[rank - 1].scaled if rank <= len(stresses) else None
    return None if value is None else Estimate(value)


def _change(inputs: Inputs, curves: dict[str, _Curves]) -> str:
    parts = []
    for key, found in curves.items():
        scaled = [1.0 if s.scaled is None else s.scaled for s in found.sound_mds]
        best = int(np.argmin(scaled))
        used = inputs.corpora[key].sound.positions.size
        text = f"on {found.title} MDS of the {used} positions with enough data is most faithful at rank {best + 1}"
        if scaled[-1] - scaled[best] > ZERO:
            text += f" (scaled stress {scaled[best]:.3f}) and worse with all {len(scaled)} axes ({scaled[-1]:.3f})"
        parts.append(f"{text}, where the plug-in curve falls until {found.zero_at}")
    return f"Against cross-validated distances {'; '.join(parts)}." if parts else ""
