import io

import numpy as np
import pytest
from rich.console import Console

from posgeom.analysis import analyze
from posgeom.counts.counting import count_texts
from posgeom.encodings.base import PointEncoding
from posgeom.inference.jackknife import Interval
from posgeom.report.table import FULL_WIDTH, OTHER_HALF, interval_text, print_analysis
from posgeom.report.terminal import WIDTH
from posgeom.simulation.synthetic import synthetic


def printed(width: int = WIDTH, **settings: object) -> str:
    analysis = analyze(synthetic().counts, n_dims=16, **settings)  # type: ignore[arg-type]
    stream = io.StringIO()
    print_analysis(analysis, Console(file=stream, width=width, markup=False))
    return stream.getvalue()


def test_fits_100_columns_and_cuts_nothing() -> None:
    assert not any(line != line.rstrip() for line in printed().splitlines())
    text = printed(encodings=["rope:base=500000,reference=gaussian,offset=17,seed=123"])
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "\u2026" not in text
    assert "4 scores do not fit this terminal" in " ".join(text.split())
    assert "do not fit" not in printed(FULL_WIDTH)
    assert "a more faithful encoding is not a better model" in " ".join(text.split())


@pytest.mark.parametrize("width", [60, 72, 80, 90])
def test_a_narrow_terminal_gets_fewer_scores_and_whole_numbers(width: int) -> None:
    text = printed(width)
    assert "scores do not fit this terminal" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= width
    assert "\u2026" not in text


def test_undefined_scores_are_shown_as_undefined() -> None:
    text = printed(FULL_WIDTH, encodings=[PointEncoding("zero", np.zeros((32, 4)))], default_encodings=False)
    line = next(line for line in text.splitlines() if line.startswith("zero"))
    # No interval where the score is undefined; raw stress, and that there is no separation, are defined.
    undefined = ["undef"] * 3  # alignment, what it explains, scaled stress
    assert line.split() == ["zero", *undefined, "1", *["undef"] * 4, "0.00", "100.0", "0", "0.0"]


def test_every_score_has_its_interval_and_the_other_half_comes_last() -> None:
    lines = printed().splitlines()
    alibi = next(line for line in lines if line.startswith("alibi "))
    aligned, low, high = (float(cell) for cell in alibi.split()[1:4])
    assert low < aligned < high
    table = [line for line in lines if line.startswith((OTHER_HALF, "mds", "sinusoidal"))]
    assert table[-1].startswith(OTHER_HALF)
    cells = table[-1][len(OTHER_HALF) :].split()
    assert 0.95 < float(cells[0]) <= 1.01  # 5,000 documents: halves agree
    assert cells[-3:] == ["undef"] * 3  # violations, separation and rank are of encodings
    assert "what the distances of one half of the corpus score against the other half" in " ".join(
        " ".join(lines).split()
    )


def test_without_a_level_there_are_no_intervals() -> None:
    lines = printed(level=None).splitlines()
    assert not any("Intervals: " in line for line in lines)
    cells = next(line for line in lines if line.startswith("alibi ")).split()
    assert len(cells) == 9  # a name and eight scores, without the interval
    assert any("Intervals were not asked for" in line for line in lines)


@pytest.mark.parametrize("bounds", [(-0.0123, 0.4567), (-123.456, 2345.678), (-1e9, 1e9), (12.3456, 99.9999)])
def test_wide_intervals_are_shown_whole(bounds: tuple[float, float]) -> None:
    text = interval_text(Interval(*bounds, 1.0))
    assert len(text) <= 13
    low, high = (float(part) for part in text.split())
    assert (low, high) == pytest.approx(bounds, rel=0.05)


def test_names_cannot_reach_the_terminal_as_markup_or_control_codes() -> None:
    counts = count_texts(["a b c"] * 3 + ["b c a", "c a b", "d e f", "e f g"], source="[red]x[/red]\x1b[2J\n")
    stream = io.StringIO()
    print_analysis(analyze(counts, estimator="plugin", min_depth=1, n_dims=4), Console(file=stream, width=100))
    assert "[red]x[/red]" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()
