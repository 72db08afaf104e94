"""Warps of known truth: corpora on a line that is spaced in a known way, and one of landmarks."""

from functools import cache

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.line import line
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.warp_fits import _smoothed, best_warp, rayleigh
from posgeom.encodings.warps import LogWarp, PowerWarp, ReciprocalWarp, TableWarp, Warp
from posgeom.errors import EncodingError, GeometryError
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.mds import double_centre
from posgeom.inference.left_out import leave_out_first, restricted
from posgeom.inference.scoring import alignment
from posgeom.inference.warp import WarpFit, fit_warp, warp_band
from posgeom.report.warp import warp_document, warp_findings
from posgeom.seeds import make_rng
from posgeom.simulation.synthetic import sample_counts

N, V, DOCUMENTS = 48, 60, 8000
ARC = 0.5
"""Radians between the first and the last position, so few that an arc is a line to a hundredth."""
TRUTH = (LogWarp(2.0), LogWarp(0.5), PowerWarp(0.4), ReciprocalWarp(6.0))


def counts_of(coordinates: np.ndarray, seed: int = 0, documents: int = DOCUMENTS) -> PositionCounts:
    """Roots of token frequencies on a circle of radius 1 through two distributions without a common token."""
    rng = make_rng(seed)
    first, second = np.zeros(V), np.zeros(V)
    first[: V // 2], second[V // 2 :] = rng.dirichlet(np.ones(V // 2)), rng.dirichlet(np.ones(V // 2))
    span = float(np.ptp(coordinates))
    angles = np.pi / 4 + ARC * ((coordinates - coordinates.min()) / span - 0.5)
    distributions = np.cos(angles)[:, None] ** 2 * first + np.sin(angles)[:, None] ** 2 * second
    return sample_counts(distributions, np.full(len(angles), documents), n_folds=10, rng=rng)


@cache
def on_line(warp: Warp) -> Geometry:
    return geometry(counts_of(warp.at(np.arange(N))))


@cache
def fit_of(warp: Warp) -> WarpFit:
    return fit_warp(on_line(warp))


@cache
def landmarks() -> Geometry:
    """All positions alike, but for a few in the middle that are each unlike all others."""
    rng = make_rng(3)
    distributions = np.full((N, V), 1 / V)
    for place in (20, 21, 22, 30):
        distributions[place] = rng.dirichlet(np.full(V, 0.2))
    return geometry(sample_counts(distributions, np.full(N, 2000), n_folds=10, rng=rng))


@pytest.mark.parametrize("truth", TRUTH, ids=str)
def test_family_and_parameter_are_those_of_the_truth(truth: Warp) -> None:
    fit = fit_of(truth)
    of_one = [one for one in fit.families if one.parameter is not None]
    assert of_one[0].name == truth.name
    bounds = of_one[0].parameter_interval
    assert bounds is not None
    assert truth.parameter is not None
    assert bounds.low < truth.parameter < bounds.high
    assert fit.is_line
    for one in of_one[1:]:
        assert (one.alignment.value or 0) < (of_one[0].alignment.value or 0)
    assert (of_one[0].alignment.value or 0) > 0.97


@pytest.mark.slow
def test_landmarks_are_no_line() -> None:
    fit = fit_warp(landmarks())
    assert fit.is_line is False
    assert (fit.beyond_lines.value or 0) > 0.3
    (sentence,) = (text for text in warp_findings(fit) if "do not lie on a line" in text)
    assert f"Use mds:rank={max(fit.mds)} " in sentence
    alone = fit_warp(landmarks(), ["log"])
    assert alone.is_line is False
    assert alone.best == "log"


def test_the_best_of_a_family_is_where_a_fine_grid_has_it() -> None:
    shape = on_line(TRUTH[0])
    centred = double_centre(shape.distances.squared)
    for name, family in (("log", LogWarp), ("power", PowerWarp), ("reciprocal", ReciprocalWarp)):
        found = best_warp(centred, shape.positions, name)
        grid = np.geomspace((found.parameter or 0) / 2, 2 * (found.parameter or 0), 4001)
        values = [rayleigh(centred, family(float(c)).at(shape.positions)) for c in grid]
        assert found.parameter == pytest.approx(grid[int(np.argmax(values))], rel=1e-3)
        assert rayleigh(centred, found.at(shape.positions)) >= max(values) * (1 - 1e-9)


def test_the_monotone_warp_is_no_worse_than_any_other_one() -> None:
    rng = make_rng(0)
    for shape in (on_line(TRUTH[1]), landmarks()):
        centred = double_centre(shape.distances.squared)
        best = rayleigh(centred, best_warp(centred, shape.positions, "monotone").at(shape.positions))
        assert best <= np.linalg.eigvalsh(centred)[-1] * (1 + 1e-9)
        for name in ("log", "power", "reciprocal"):
            assert rayleigh(centred, best_warp(centred, shape.positions, name).at(shape.positions)) <= best
        for _ in range(200):
            steps = rng.exponential(size=N) * (rng.random(N) < rng.random())
            if steps[1:].any():
                assert rayleigh(centred, np.cumsum(steps)) <= best


def test_alignment_is_out_of_sample_and_that_of_a_line_that_is_fitted_anew() -> None:
    shape, fit = on_line(TRUTH[0]), fit_of(TRUTH[0])
    for name in ("log", "monotone"):
        scored = alignment(line(N, warp=fit[name].warp), shape)
        assert scored == pytest.approx(fit[name].alignment.value)
        assert alignment(
            build_encoding(f"line:warp=corpus:{name}", n_positions=N, n_dims=8, geometry=shape), shape
        ) == (pytest.approx(scored))
    frozen = LogWarp(fit["log"].parameter or 0, fit["log"].warp.origin)
    assert alignment(line(N, warp=frozen), shape) != pytest.approx(scored, abs=1e-9)


def test_a_fit_is_a_warp_that_any_scheme_takes() -> None:
    fit = fit_of(TRUTH[0])
    encoding = sinusoidal(N, 16, warp=fit)
    np.testing.assert_array_equal(
        encoding.coordinates(),
        sinusoidal(N, 16, warp=fit[fit.best].warp).coordinates(),
    )
    assert encoding.is_fitted_to(on_line(TRUTH[0]))
    assert encoding.refit is not None
    again = encoding.refit(on_line(TRUTH[1]))
    assert not np.allclose(again.distances(), encoding.distances(), rtol=1e-3)
    fresh = sinusoidal(2 * N, 16, warp=fit["log"].warp).coordinates()  # beyond the corpus, as the family goes on
    assert fresh is not None
    assert np.isfinite(fresh).all()


def test_what_has_no_formula_goes_on_as_the_best_family() -> None:
    fit = fit_of(TRUTH[0])
    places = np.arange(4 * N)
    for name in ("monotone", "smooth"):
        warp = fit[name].warp
        assert isinstance(warp, TableWarp)
        assert str(warp.beyond) == str(fit["log"].warp)  # the family that the truth is of
        values = warp.at(places)
        assert (np.diff(values) >= 0).all()
        family = fit["log"].warp.at(places)
        np.testing.assert_allclose(np.polyfit(values[:N], family[:N], 1), [1, 0], atol=1e-9)  # on its scale
        np.testing.assert_allclose(np.diff(values[N - 1 :]), np.diff(family[N - 1 :]), rtol=1e-9)
        truth = TRUTH[0].at(places)
        scale = np.polyfit(truth[:N], values[:N], 1)
        assert np.abs(values - np.polyval(scale, truth)).max() < 0.1 * np.ptp(values)


def test_the_smooth_warp_is_a_curve_through_the_centres_of_steps() -> None:
    values = np.array([0.0, 1, 1, 1, 3, 4, 4])
    curve = _smoothed(values, np.arange(7))
    assert curve[[0, 2, 4]].tolist() == [0, 1, 3]  # centres of steps that lie on positions
    assert curve[1] < 1 < curve[3]
    assert curve[5] == pytest.approx(PchipInterpolator([0, 2, 4, 5.5], [0, 1, 3, 4])(5))
    assert curve[6] == pytest.approx(4)  # behind the last centre it is flat
    for truth in TRUTH:
        errors = {}
        for name in ("smooth", "monotone"):
            values, expected = fit_of(truth)[name].warp.at(np.arange(N)), truth.at(np.arange(N))
            errors[name] = np.polyfit(expected, values, 1, full=True)[1][0] / np.ptp(values) ** 2
        assert errors["smooth"] < errors["monotone"], truth


def test_bands_run_from_0_to_1_and_hold_the_truth() -> None:
    truth = TRUTH[0]
    band = warp_band(fit_of(truth), "log", np.arange(N))
    assert (band[0][0], band[-1][0]) == (0.0, 1.0)
    expected = truth.at(np.arange(N)) / truth.at(N - 1)
    inside = [
        bounds is not None and bounds.low <= f <= bounds.high
        for f, (_, bounds) in zip(expected[1:-1], band[1:-1], strict=True)
    ]
    assert np.mean(inside) > 0.9


def test_some_positions_by_themselves() -> None:
    counts = counts_of(TRUTH[0].at(np.arange(N)))
    shape, part = geometry(counts), geometry(counts, positions=(8, 30))
    np.testing.assert_array_equal(part.positions, np.arange(8, 31))
    cut = restricted(shape, np.arange(8, 31))
    # Positions of one depth are rarefied alike with and without the others.
    np.testing.assert_allclose(part.distances.squared, cut.distances.squared, atol=1e-12)
    assert part.products is not None
    assert cut.products is not None
    np.testing.assert_allclose(cut.products.centred(), part.products.centred(), atol=1e-12)
    np.testing.assert_allclose(cut.products.inner_products, part.products.inner_products, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(cut.products.mean_squared, part.products.mean_squared, rtol=1e-9)
    for ends in ((5, 5), (-1, 4), (3, N), (9, 2)):
        with pytest.raises(GeometryError, match="expected a range of at least 2 of the positions 0 to 47"):
            geometry(counts, positions=ends)


def test_leaving_first_positions_out() -> None:
    rows = leave_out_first(on_line(TRUTH[1]), ["log"])
    assert [row.first for row in rows] == [0, 1, 2, 4, 8, 16, 32]
    shares = [row.share.value or 0 for row in rows]
    assert shares[0] == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    truth = TRUTH[1].at(np.arange(N))
    for row in rows[:5]:
        x, whole = truth[row.first :] - truth[row.first :].mean(), truth - truth.mean()
        bounds = row.share.interval(0.999)
        assert bounds is not None
        assert bounds.low - 0.02 < (x @ x / (whole @ whole)) ** 2 < bounds.high + 0.02
    assert (rows[0].alignments["log"].value or 0) > (rows[0].alignments["line"].value or 0)


def test_nothing_is_fitted_to_noise() -> None:
    rng = make_rng(1)
    counts = sample_counts(np.full((12, 20), 0.05), np.full(12, 1000), n_folds=10, rng=rng)
    fit = fit_warp(geometry(counts))
    assert fit.best is None
    assert fit.is_line is None
    document = warp_document(fit, ())
    assert document["families"][0]["alignment"] is None
    assert "no axis of this geometry is more than noise" in document["findings"][0]
    with pytest.raises(EncodingError, match="there is no best warp: no axis"):
        sinusoidal(12, 8, warp=fit)


def test_plugin_geometries_are_fitted_in_sample() -> None:
    fit = fit_warp(geometry(counts_of(TRUTH[0].at(np.arange(N))), estimator="plugin"), ["log"])
    assert not fit.out_of_sample
    assert fit["log"].parameter_interval is None
    assert "in sample" in warp_findings(fit)[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["cubic"]}, "warp family 'cubic': expected one of log, power, reciprocal, monotone"),
        ({"families": "log"}, "got 'log' for families"),
        ({"families": []}, "got \\[\\] for families"),
        ({"level": 1.0}, "level 1.0"),
    ],
)
def test_bad_arguments(options: dict[str, object], message: str) -> None:
    with pytest.raises((EncodingError, GeometryError), match=message):
        fit_warp(on_line(TRUTH[0]), **options)  # type: ignore[arg-type]
    assert isinstance(fit_of(TRUTH[0])["monotone"].warp, TableWarp)
