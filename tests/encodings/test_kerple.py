import numpy as np
import pytest

from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.kerple import kerple
from posgeom.errors import EncodingError

LAGS = np.arange(7)


def test_both_kinds_by_their_formulas() -> None:
    log, power = kerple(7, r1=(2.0,), r2=(0.5,)), kerple(7, kind="power", r1=(2.0,), r2=(0.5,))
    np.testing.assert_allclose(log.lag_distances() ** 2, 2 * 2 * np.log(1 + LAGS / 2))  # type: ignore[operator]
    np.testing.assert_allclose(power.lag_distances() ** 2, 2 * 2 * np.sqrt(LAGS))  # type: ignore[operator]
    linear = kerple(7, r1=(2.0,), r2=(0.5,), form="linear").lag_distances()
    np.testing.assert_allclose(linear, 2 * np.log(1 + LAGS / 2))  # type: ignore[arg-type]


def test_the_power_kind_has_alibi_in_it() -> None:
    slopes = tuple(alibi_slopes(4).tolist())
    for head in (None, 3):
        ours = kerple(7, kind="power", r1=slopes, head=head)
        np.testing.assert_allclose(ours.distances(), alibi(7, form="kernel", heads=4, head=head).distances())


def test_the_bias_of_each_head() -> None:
    bias = kerple(7, r1=(1.0, 2.0), r2=(3.0,)).bias
    assert bias is not None
    expected = -np.array([1.0, 2.0])[:, None] * np.log1p(3 * LAGS)
    np.testing.assert_allclose(bias.at_lags(LAGS), expected)
    assert np.isneginf(bias.at_lags(-LAGS)[:, 1:]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "cubic"}, "kerple kind 'cubic': expected log or power"),
        ({"r1": (0.0,)}, "kerple r1 0: expected a positive number"),
        ({"r2": (1.0, -1.0)}, "kerple r2 -1"),
        ({"r1": (1.0, 2.0), "r2": (1.0, 2.0, 3.0)}, r"kerple r1 has 2 entries: expected one, or one per head \(3\)"),
        ({"kind": "power", "r2": (2.5,)}, "r2 2.5: the power variant is a kernel up to 2 only"),
        ({"head": 1}, "kerple head 1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        kerple(7, **options)  # type: ignore[arg-type]
