import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgba
from scipy.spatial import ConvexHull, Voronoi
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import LocalSensitivity
from surefoot.plots import VoronoiCellDisplay

GRID = np.array([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) if x or y])
CROSS = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, -4.0]])


@pytest.fixture
def sign_of_x():
    """A model of two classes whose decision function is the first column."""
    model = LogisticRegression().fit(GRID, GRID[:, 0] > 0.5)
    model.coef_, model.intercept_ = np.array([[1.0, 0.0]]), np.array([0.0])
    return LocalSensitivity(FrozenEstimator(model), n_neighbors=4).fit(CROSS)


def area(polygon):
    following = np.roll(polygon, -1, axis=0)
    return (polygon[:, 0] * following[:, 1] - polygon[:, 1] * following[:, 0]).sum() / 2


def random_rows(seed, n_rows=40):
    return np.random.default_rng(seed).normal(size=(n_rows, 2))


def test_rows_that_are_no_neighbours_cut_the_cell_too():
    display = VoronoiCellDisplay.from_points(CROSS, [[0.0, 0.0]], n_neighbors=3)

    np.testing.assert_array_equal(display.neighbors, CROSS[:3])
    np.testing.assert_array_equal(display.others, CROSS[3:])
    # The sides are half way: x from -3/2 to 1/2, y from -4/2 to 2/2.
    assert area(display.cell) == pytest.approx(2.0 * 3.0)


def test_cell_at_the_rim_runs_to_the_frame():
    display = VoronoiCellDisplay.from_points([[0.0, 0.0], [0.0, 1.0]], [2.0, 0.0], n_neighbors=2)

    low, high = display.box
    assert display.cell[:, 0].max() == pytest.approx(high[0])
    assert display.cell[:, 1].min() == pytest.approx(low[1])
    assert display.ax_.get_xlim() == pytest.approx((low[0], high[0]))
    # Towards (0, 0) it ends at (1, 0), towards (0, 1) at the middle (1, 1/2).
    np.testing.assert_allclose(display.samples, [[1.0, 0.0], [1.0, 0.5]])


def test_row_equal_to_the_query_cuts_nothing():
    display = VoronoiCellDisplay.from_points([[0.0, 0.0], *CROSS], [0.0, 0.0], n_neighbors=5)

    assert area(display.cell) == pytest.approx(6.0)
    np.testing.assert_array_equal(display.samples[0], [0.0, 0.0])
    whole = VoronoiCellDisplay.from_points([[3.0, 4.0]] * 2, [3.0, 4.0])
    assert area(whole.cell) == pytest.approx(np.prod(whole.box[1] - whole.box[0]))


@pytest.mark.parametrize("gap", [1e-3, 1e-15, 1e-100])
def test_near_duplicates_of_the_query_leave_a_thin_strip(gap):
    rows = np.array([[gap, 0.0], [-gap, 0.0], [0.0, 9.0]])

    display = VoronoiCellDisplay.from_points(rows, [0.0, 0.0], n_neighbors=3)

    # As wide as the gap, and from the frame up to half way to the third row.
    assert np.ptp(display.cell[:, 0]) == pytest.approx(gap, abs=1e-14)
    assert np.ptp(display.cell[:, 1]) == pytest.approx(4.5 - display.box[0, 1])


@pytest.mark.parametrize("seed", range(2))
def test_bounded_cell_has_the_area_that_qhull_finds(seed):
    rows = random_rows(seed)
    diagram = Voronoi(np.vstack([[0.0, 0.0], rows]))
    region = diagram.regions[diagram.point_region[0]]
    assert -1 not in region

    display = VoronoiCellDisplay.from_points(rows, [0.0, 0.0])

    assert area(display.cell) == pytest.approx(ConvexHull(diagram.vertices[region]).volume)


@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 30), scale=st.sampled_from([1e-6, 1, 1e6]))
@settings(max_examples=25, deadline=None)
def test_corners_are_as_far_from_two_rows_as_from_the_query_or_on_the_frame(seed, n_rows, scale):
    rows = random_rows(seed, n_rows) * scale
    query = random_rows(seed + 1, 1)[0] * scale
    display = VoronoiCellDisplay.from_points(rows, query)
    plt.close(display.figure_)

    rounding = 1e-9 * scale
    gaps = cdist(display.cell, rows) - cdist(display.cell, [query])
    on_frame = (np.abs(display.cell[:, None, :] - display.box) < rounding).any(axis=(1, 2))
    assert (gaps > -rounding).all()
    assert (((np.abs(gaps) < rounding).sum(axis=1) >= 2) | on_frame).all()


def test_drawing():
    display = VoronoiCellDisplay.from_points(np.vstack([GRID, 2 * GRID]), [0, 0], n_neighbors=8)

    assert display.ax_.figure is display.figure_
    assert display.ax_.get_aspect() == 1.0
    assert [number.get_text() for number in display.numbers_] == list("12345678")
    np.testing.assert_array_equal(
        display.segments_.get_segments(), [[[0, 0], neighbor] for neighbor in display.neighbors]
    )
    np.testing.assert_array_equal(display.marks_[0].get_offsets(), display.samples)
    np.testing.assert_array_equal(display.polygon_.get_xy()[:-1], display.cell)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["cell, nearest to x", "neighbours, nearest first", "x, the query", "samples"]


def test_margin_and_flips_of_a_known_model(sign_of_x):
    display = VoronoiCellDisplay.from_estimator(sign_of_x, [0.2, 0.0])

    # Class True leads by x: 0.6 half way to (1, 0), -1.4 to (-3, 0).
    by_neighbor = dict(zip(map(tuple, display.neighbors), display.values, strict=True))
    assert by_neighbor[1.0, 0.0] == pytest.approx(0.6)
    assert by_neighbor[-3.0, 0.0] == pytest.approx(-1.4)
    np.testing.assert_allclose(display.values, display.samples[:, 0])
    np.testing.assert_array_equal(display.flips, display.samples[:, 0] <= 0)
    assert display.colorbar_.ax.get_ylabel() == "lead of class True (decision function)"
    assert display.colorbar_.vmin == -display.colorbar_.vmax


def test_flips_alone_have_two_colours_and_no_scale(sign_of_x):
    display = VoronoiCellDisplay.from_estimator(sign_of_x, [0.2, 0.0], color_by="flips")

    kept, flipped = display.marks_
    assert display.colorbar_ is None
    np.testing.assert_array_equal(flipped.get_offsets(), display.samples[display.flips])
    assert tuple(kept.get_facecolor()[0]) != tuple(flipped.get_facecolor()[0])
    assert tuple(flipped.get_facecolor()[0]) == to_rgba("#D55E00")


def test_regressor_shows_the_change_of_its_prediction():
    model = LinearRegression().fit(CROSS, CROSS @ [3.0, 1.0])
    indicator = LocalSensitivity(FrozenEstimator(model), n_neighbors=4).fit(CROSS)

    display = VoronoiCellDisplay.from_estimator(indicator, [0.0, 0.0])

    # Half of the neighbours' own 3, 2, -9 and -4.
    np.testing.assert_allclose(display.values, [1.5, 1.0, -4.5, -2.0])
    assert display.flips is None
    with pytest.raises(ValueError, match=r"color_by='flips' needs a classifier"):
        VoronoiCellDisplay.from_estimator(indicator, [0.0, 0.0], color_by="flips")


def test_pipeline_is_drawn_as_its_last_step_sees_it():
    frame = pd.DataFrame(random_rows(1) * [100.0, 1.0], columns=["long", "short"])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    indicator = LocalSensitivity(model).fit(frame, frame["long"] > 0)

    by_row = VoronoiCellDisplay.from_estimator(indicator, frame.iloc[0])
    by_frame = VoronoiCellDisplay.from_estimator(indicator, frame.iloc[[0]])

    scaled = StandardScaler().fit_transform(frame.to_numpy())
    np.testing.assert_allclose(by_row.query, scaled[0])
    np.testing.assert_array_equal(by_row.values, by_frame.values)
    assert by_row.xlabel is None


@pytest.mark.parametrize(
    ("X", "query", "options", "message"),
    [
        (np.eye(3), [0, 0], {}, "X has 3 column"),
        (CROSS, [0, 0, 0], {}, "query has 3 column"),
        (CROSS, CROSS, {}, "query has 4 rows: it may be one row only"),
        (CROSS, [0, 0], {"n_neighbors": "many"}, "n_neighbors='many' is not known: it may be"),
        (CROSS, [0, np.nan], {}, "query contains NaN"),
    ],
)
def test_what_cannot_be_drawn_from_points(X, query, options, message):
    with pytest.raises(ValueError, match=message):
        VoronoiCellDisplay.from_points(X, query, **options)


@pytest.mark.parametrize(
    ("options", "n_columns", "message"),
    [
        ({"metric": "manhattan"}, 2, "metric='cityblock'.* metric may be 'euclidean'"),
        ({"sampling": "midpoint"}, 2, "sampling='midpoint'.* sampling may be 'voronoi'"),
        ({}, 3, "indicator has 3 column"),
    ],
)
def test_indicators_that_cannot_be_drawn(options, n_columns, message):
    X = np.random.default_rng(0).normal(size=(20, n_columns))
    indicator = LocalSensitivity(LogisticRegression(), **options)
    with pytest.raises(NotFittedError):
        VoronoiCellDisplay.from_estimator(indicator, X[0])
    with pytest.raises(TypeError, match="it may be a fitted LocalSensitivity"):
        VoronoiCellDisplay.from_estimator(LogisticRegression(), X[0])
    indicator.fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=message):
        VoronoiCellDisplay.from_estimator(indicator, X[0])
    with pytest.raises(ValueError, match="color_by='rank' is not known"):
        VoronoiCellDisplay.from_estimator(indicator, X[0], color_by="rank")
