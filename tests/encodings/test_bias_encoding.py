from typing import Literal

import numpy as np
import pytest

from posgeom.encodings.alibi import alibi, alibi_bias, alibi_slopes
from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.encodings.kerple import kerple
from posgeom.encodings.sandwich import sandwich
from posgeom.encodings.xpos import xpos
from posgeom.errors import EncodingError
from posgeom.estimation.build import geometry
from posgeom.estimation.mds import spectrum_of
from posgeom.inference.scorecard import score
from posgeom.simulation.synthetic import synthetic

Form = Literal["linear", "kernel", "mds"]


def lag_table(*values: float) -> Bias:
    table = np.array(values)
    return Bias(1, lambda query, key: table[np.abs(np.asarray(query - key))][None])


def test_three_routes_of_one_bias() -> None:
    bias = alibi_bias(alibi_slopes(4))
    lags = np.arange(6)
    linear, kernel, mds = (BiasEncoding("x", 6, bias, form) for form in ("linear", "kernel", "mds"))
    np.testing.assert_allclose(linear.lag_distances(), np.sqrt((alibi_slopes(4) ** 2).sum()) * lags)  # type: ignore[arg-type]
    np.testing.assert_allclose(kernel.lag_distances(), np.sqrt(2 * alibi_slopes(4).sum() * lags))  # type: ignore[arg-type]
    np.testing.assert_allclose(mds.distances(), kernel.distances(), atol=1e-12)
    assert mds.lag_distances() is None
    assert mds.negative_mass == 0
    assert kernel.negative_mass is None


@pytest.mark.parametrize("form", ["linear", "kernel"])
def test_alibi_by_its_own_formulas(form: Form) -> None:
    for head in (None, 2):
        slopes = alibi_slopes(8) if head is None else alibi_slopes(8)[[head]]
        general = BiasEncoding("x", 9, alibi_bias(slopes), form)
        np.testing.assert_allclose(general.distances(), alibi(9, form=form, heads=8, head=head).distances(), rtol=1e-12)


KERNELS: list[Encoding] = [
    alibi(40, form="kernel"),
    kerple(40),
    kerple(40, kind="power", r2=(0.5,)),
    kerple(40, kind="power", r2=(2.0,)),
    sandwich(40),
    xpos(40, 16),
]


@pytest.mark.parametrize("encoding", KERNELS, ids=lambda e: e.name)
def test_kernels_that_are_said_to_be_positive_are(encoding: Encoding) -> None:
    assert encoding.bias is not None
    assert encoding.bias.conditionally_positive
    distances = encoding.distances()
    assert spectrum_of(distances**2).negative_mass == 0
    drops = encoding.bias.values(np.zeros(1, int), np.zeros(1, int)) - encoding.bias.values(
        np.arange(40), np.zeros(40, int)
    )
    np.testing.assert_allclose(encoding.bias.drops(np.arange(40)), drops, atol=1e-12)
    np.testing.assert_allclose(distances[0] ** 2, 2 * drops.sum(axis=0), atol=1e-9)


def test_an_indefinite_bias_goes_through_mds_alone() -> None:
    bias = lag_table(0, -1, -0.1, -3)
    kernel, mds = BiasEncoding("x", 4, bias, "kernel"), BiasEncoding("x", 4, bias, "mds")
    with pytest.raises(EncodingError, match=r"encoding x: .*% of the spectrum of its bias is negative.*form=mds"):
        kernel.distances()
    with pytest.raises(EncodingError, match="form=mds"):
        kernel.lag_distances()
    squared = 2 * bias.drops_between(np.arange(4), lambda drops: drops.sum(axis=0))
    values = spectrum_of(squared).eigenvalues
    assert mds.negative_mass == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    points = mds.coordinates()
    assert points is not None
    np.testing.assert_allclose((points**2).sum(), values[values > 1e-12].sum())
    np.testing.assert_allclose(mds.distances(np.array([0, 2])), mds.distances()[np.ix_([0, 2], [0, 2])])


def test_a_bias_that_rises_away_from_itself() -> None:
    bias = lag_table(0, 1, -1)
    for form in ("linear", "kernel"):
        with pytest.raises(EncodingError, match=f"form={form} cannot read as a distance; use form=mds"):
            BiasEncoding("x", 3, bias, form).distances()
        with pytest.raises(EncodingError, match="use form=mds"):
            BiasEncoding("x", 3, bias, form).lag_distances()
    assert np.isfinite(BiasEncoding("x", 3, bias, "mds").distances()).all()


def test_heads_cancel_in_a_kernel_but_not_one_by_one() -> None:
    opposed = Bias(2, lambda q, k: np.stack([-np.abs(q - k), 0.5 * np.abs(q - k)]), conditionally_positive=True)
    np.testing.assert_allclose(BiasEncoding("x", 5, opposed, "kernel").lag_distances(), np.sqrt(np.arange(5)))  # type: ignore[arg-type]
    with pytest.raises(EncodingError, match="form=linear"):
        BiasEncoding("x", 5, opposed, "linear").distances()


def test_a_bias_that_is_flat() -> None:
    flat = BiasEncoding("flat", 32, lag_table(*[1.0] * 32), "mds")
    assert not flat.distances().any()
    scores = score(flat, geometry(synthetic().counts))
    assert (scores.stress_raw, scores.stress_scaled, scores.effective_rank, scores.negative_mass) == (1, None, 0, 0)


def test_bad_form() -> None:
    with pytest.raises(EncodingError, match="x form 'cubic': expected linear or kernel or mds"):
        BiasEncoding("x", 4, lag_table(0, 1), "cubic")  # type: ignore[arg-type]
