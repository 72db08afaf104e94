"""Remark 8: every rank, against fits that are scored one by one, and what the ranks of known corpora come to."""

import numpy as np
import pytest

from posgeom.analysis import CONVENTIONS
from posgeom.encodings.mds import mds
from posgeom.errors import PosgeomError
from posgeom.estimation.build import geometry
from posgeom.inference.scoring import replicates_of
from posgeom.scores.stress import stress_of_pairs
from posgeom.simulation.synthetic import synthetic
from posgeom.theory.parametrisation import held_out_curve, parametrisation
from posgeom.theory.verdict import Verdict
from tests.theory.helpers import drifting, estimated, sampled


def test_the_curve_is_that_of_fits_scored_one_by_one() -> None:
    sound = estimated(drifting(), 800)
    curve = held_out_curve(sound, 5)
    for rank in (1, 2, 5):
        (scored,) = replicates_of([mds(sound, rank=rank)], sound, errors=True)
        slow = scored["alignment"].estimate
        assert curve[rank - 1].value == pytest.approx(slow.value)
        assert curve[rank - 1].standard_error == pytest.approx(slow.standard_error)


def test_noise_has_rank_and_no_significance() -> None:
    counts = sampled(drifting(), 800)
    sound, paper = (geometry(counts, **CONVENTIONS[name]) for name in ("sound", "paper"))
    result = parametrisation(sound, paper, n_dims=24)
    n = counts.n_positions
    assert result.verdict is Verdict.NOISE
    assert result.plugin_rank == n - 1
    assert 1 <= (result.significant_rank or 0) <= 3
    assert 1 <= (result.smallest or 0) <= 3
    assert (result.smallest_plugin or 0) >= (result.smallest or 0)
    assert [row.parameters for row in result.ranks] == [r * (n + 24) for r in range(1, n)]
    third = stress_of_pairs(mds(paper, rank=3).distances()[np.triu_indices(n, 1)], paper.distances.pairs)
    assert result.ranks[2].stress.raw == pytest.approx(third.raw)
    assert result.ranks[-1].plugin == pytest.approx(1)


def test_a_corpus_of_many_axes_needs_its_rank() -> None:
    """The paper's Table 2: 32 positions that draw their own distributions, so that nearly every axis is real."""
    sound = geometry(synthetic(seed=0).counts)
    result = parametrisation(sound, n_dims=128)
    assert result.verdict is Verdict.HOLDS
    assert result.significant_rank == 31
    assert result.parameters(3) == 480


def test_a_loss_that_is_none() -> None:
    with pytest.raises(PosgeomError, match="between 0 and 1"):
        parametrisation(estimated(drifting()), loss=0)
