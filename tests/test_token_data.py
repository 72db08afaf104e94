"""What is stored of tokens for charts: the logo against its formula, and none where there is nothing to show."""

import numpy as np
import pytest

from posgeom.counts.counting import count_texts
from posgeom.estimation.build import geometry
from posgeom.token_data import token_chart_data


def test_a_logo_has_the_divergence_of_each_position() -> None:
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), (4000, 6))
    letters[:, 2] = "G"
    counts = count_texts(["".join(row) for row in letters], "chars", n_positions=6, fold_by="row")
    logo = token_chart_data(counts, geometry(counts))["logo"]
    assert logo["tokens"] == list("ACGT")
    heights = np.array(logo["bits"]).sum(axis=0)
    everywhere = np.mean(letters == "G")
    assert heights[2] == pytest.approx(-np.log2(everywhere) - 3 / (2 * np.log(2) * 4000), rel=1e-4)
    assert logo["bits"][0][2] == 0
    slow = sum(p * np.log2(p / np.mean(letters == a)) for a in "ACGT" if (p := np.mean(letters[:, 0] == a)))
    assert heights[0] == pytest.approx(slow - 3 / (2 * np.log(2) * 4000), rel=1e-3)


def test_a_vocabulary_has_no_logo_and_plug_in_distances_no_tokens() -> None:
    counts = count_texts([f"w{i} w{i + 1} w{i + 2}" for i in range(40)] * 3, n_positions=3)
    assert token_chart_data(counts, geometry(counts, min_depth=1))["logo"] is None
    assert token_chart_data(counts, geometry(counts, estimator="plugin", min_depth=1))["tokens"] is None
