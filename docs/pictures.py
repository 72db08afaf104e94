"""The pictures of README and concepts, from the docstrings of the standard library: ``make pictures``."""

from pathlib import Path

import altair as alt
import numpy as np

import posgeom as pg

IMAGES = Path(__file__).parent / "images"
N_POSITIONS = 40
SHOWN = ("sinusoidal", "alibi", "alibi:form=kernel", "rope:reference=gaussian", "random")


def ranking() -> alt.HConcatChart:
    """Alignment of encodings by plain frequencies, beside that without noise."""
    counts = pg.count_texts(pg.demo_texts(), "whitespace", n_positions=N_POSITIONS)
    charts = []
    for title, estimator in (("plain frequencies", "plugin"), ("without sampling noise", "crossval")):
        card = pg.analyze(counts, estimator=estimator, encodings=[]).scorecard
        rows = [{"encoding": row.name, "alignment": row.alignment} for row in card if row.name in SHOWN]
        colour = alt.condition(alt.datum.encoding == "random", alt.value("#d1495b"), alt.value("#30638e"))
        bars = alt.Chart({"values": rows}).encode(
            alt.X("alignment:Q", scale=alt.Scale(domain=[0, 0.8])), alt.Y("encoding:N", sort="-x", title=None)
        )
        labels = bars.mark_text(align="left", dx=3).encode(text=alt.Text("alignment:Q", format=".2f"))
        charts.append((bars.mark_bar().encode(color=colour) + labels).properties(title=title, width=230, height=130))
    return alt.hconcat(*charts).configure_view(strokeWidth=0)


def noise() -> alt.Chart:
    """Mean squared distance of more and more of the texts, as they are and with the words of each in random order."""
    texts = np.random.default_rng(0).permutation(np.array(pg.demo_texts(), dtype=object))
    rows = []
    for size in (500, 1000, 2000, 4000, texts.size):
        counts = pg.count_texts(texts[:size], "whitespace", n_positions=N_POSITIONS, null_replicates=1)
        for words, one in (("words in their order", counts), ("words in random order", counts.null[0])):
            known = pg.geometry(one, min_depth=20)
            for name, distances in (("plain frequencies", known.plugin), ("cross-validated", known.distances)):
                rows.append({"documents": size, "what": f"{words}, {name}", "value": distances.mean_squared})
    return (
        alt.Chart({"values": rows})
        .mark_line(point=True)
        .encode(
            alt.X(
                "documents:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=[500, 1000, 2000, 4000])
            ),
            alt.Y("value:Q", title="mean squared distance"),
            alt.Color("what:N", title=None, sort=None, legend=alt.Legend(labelLimit=0, orient="bottom", columns=2)),
            alt.StrokeDash("what:N", title=None, sort=None),
        )
        .properties(width=380, height=240)
    )


if __name__ == "__main__":
    for name, chart in (("ranking", ranking()), ("noise", noise())):
        chart.save(IMAGES / f"{name}.svg")
