import io

import numpy as np
import pytest
from rich.console import Console

from posgeom.analysis import analyze
from posgeom.corpus.counting import count_texts
from posgeom.encodings.base import PointEncoding
from posgeom.report.table import WIDTH, print_analysis
from posgeom.studies.synthetic import synthetic


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
    assert "do not fit" not in text
    assert "a lower stress is not a better model" in " ".join(text.split())


@pytest.mark.parametrize("width", [60, 72, 80, 90])
def test_a_narrow_terminal_gets_fewer_scores_and_whole_numbers(width: int) -> None:
    text = printed(width)
    assert "scores do not fit this terminal" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= width
    assert "\u2026" not in text


def test_undefined_scores_are_shown_as_undefined() -> None:
    text = printed(encodings=[PointEncoding("zero", np.zeros((32, 4)))], default_encodings=False)
    line = next(line for line in text.splitlines() if line.startswith("zero"))
    assert line.split() == ["zero", "undef", "1", "undef", "undef", "undef", "undef", "0.00", "100.0", "0", "0.0"]


def test_names_cannot_reach_the_terminal_as_markup_or_control_codes() -> None:
    counts = count_texts(["a b c"] * 3 + ["b c a", "c a b", "d e f", "e f g"], source="[red]x[/red]\x1b[2J\n")
    stream = io.StringIO()
    print_analysis(analyze(counts, estimator="plugin", min_depth=1, n_dims=4), Console(file=stream, width=100))
    assert "[red]x[/red]" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()
