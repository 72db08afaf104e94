"""The figures of a stored run that are lines: violations by lag, alignment by width, distance by depth."""

from posgeom.report.charts.figure import Figure, known
from posgeom.report.charts.lines import Lines, Quantity, lines_figure
from posgeom.report.run import Run, basis, level_of

_CORPUS = "corpus"


def violations(run: Run) -> Figure | None:
    """How often each encoding violates monotonicity, by lag."""
    if run.charts is None or run.charts["violations"] is None:
        return None
    stored = run.charts["violations"]
    rows = [
        {
            "distances_of": _CORPUS if series["encoding"] is None else series["encoding"],
            "lag": lag,
            "violation_rate": rate,
        }
        for series in stored["series"]
        for lag, rate in zip(stored["lags"], series["rates"], strict=True)
    ]
    if not known(rows, "violation_rate"):  # two positions have no triple
        return None
    return lines_figure(
        rows,
        name="violations",
        title="Violations of monotonicity by lag",
        x=Quantity("lag", "lag |i - k| of the farther position", "lag"),
        y=Quantity("violation_rate", "share of nearer j with d(i, j) > d(i, k)", "violations", spec=".1%"),
        lines=Lines("distances_of", shown=[_CORPUS, *_main_encodings(run)]),
        caption="How often a nearer position is farther in distance. Half is what chance gives, 0 is monotone.",
    )


def width(run: Run) -> Figure | None:
    """Alignment of encodings against their width."""
    if run.scores is None or run.charts is None or not run.charts["widths"]:
        return None
    if not known(run.charts["widths"], "alignment"):
        return None
    return lines_figure(
        run.charts["widths"],
        name="width",
        title="Alignment against width",
        x=Quantity("n_dims", "width d (of mds: axes kept)", "width", log=True),
        y=Quantity("alignment", "alignment", "alignment", spec=".3f"),
        lines=Lines("encoding", points=True),
        caption=f"What more dimensions give. {_MDS[_is_out_of_sample(run)]} {basis(run.scores)}.",
    )


_MDS = {
    True: "mds is fitted on one half of the corpus and scored on the other.",
    False: "mds is fitted to the distances it is scored on, so its scores are in-sample.",
}


def _is_out_of_sample(run: Run) -> bool:
    return any(row.get("sample") == "out" for row in (run.scores or {"encodings": []})["encodings"])


def depth_curve(run: Run) -> Figure | None:
    """Mean squared distance against the depth of samples."""
    curve = (run.scores or {}).get("depth_curve")
    if not curve or not curve["depth"]:
        return None
    empty = [None] * len(curve["depth"])
    rows = [
        {"distances": "of samples", "depth": depth, "mean_squared": value, "low": low, "high": high}
        for depth, value, low, high in zip(
            curve["depth"], curve["mean_squared"], curve.get("low") or empty, curve.get("high") or empty, strict=False
        )
    ]
    return lines_figure(
        rows,
        name="depth-curve",
        title="Mean squared distance against depth",
        x=Quantity("depth", "documents in a sample", "samples of documents:", log=True),
        y=Quantity("mean_squared", "mean squared distance", "mean squared distance", spec=".4f"),
        lines=Lines("distances", points=True, level=level_of(run.scores or {})),
        caption="What samples of so many documents show: with fewer, more tokens go unseen. Bands: intervals "
        "(jackknife over the parts of the corpus, which are fewer the deeper they are).",
    )


def _main_encodings(run: Run) -> list[str]:
    """Names to draw where not all can be told apart: those without options first, in the order scored."""
    names = [e["name"] for e in (run.scores or {"encodings": []})["encodings"]]
    return sorted(names, key=lambda name: ":" in name)
