import numpy as np
import pytest

from surefoot.datasets import make_cylinder_bell_funnel, make_synthetic_control


@pytest.mark.parametrize(
    ("make", "length", "n_classes"),
    [(make_cylinder_bell_funnel, 128, 3), (make_synthetic_control, 60, 6)],
)
def test_shape_shares_and_repeatability(make, length, n_classes):
    X, y = make(10 * n_classes, random_state=0)
    again, _ = make(10 * n_classes, random_state=0)

    assert X.shape == (10 * n_classes, length)
    np.testing.assert_array_equal(np.unique(y, return_counts=True)[1], [10] * n_classes)
    np.testing.assert_array_equal(X, again)


def test_cylinder_bell_and_funnel_have_the_means_of_their_formulas():
    X, y = make_cylinder_bell_funnel(6000, random_state=0)
    starts, widths = np.arange(16, 33)[:, None, None], np.arange(32, 97)[None, :, None]
    place = (np.arange(1, 129) - starts) / widths
    inside = (place >= 0) & (place <= 1)

    for name, shape in (("cylinder", 1), ("bell", place), ("funnel", 1 - place)):
        expected = (6 * inside * shape).mean(axis=(0, 1))
        # 2000 series with a standard deviation of at most 3.5 at each time: 0.4 is 5 of theirs.
        np.testing.assert_allclose(X[y == name].mean(axis=0), expected, atol=0.4)
        np.testing.assert_allclose(X[y == name][:, :15].var(axis=0).mean(), 1, atol=0.05)


def test_control_charts_have_the_moments_of_their_formulas():
    X, y = make_synthetic_control(12000, random_state=0)
    t = np.arange(1, 61)
    after = np.clip((t - 20) / 20, 0, 1)

    expected = {
        "normal": 30 + 0 * t,
        "increasing": 30 + 0.35 * t,
        "decreasing": 30 - 0.35 * t,
        "upward": 30 + 13.75 * after,
        "downward": 30 - 13.75 * after,
    }
    for name, mean in expected.items():
        np.testing.assert_allclose(X[y == name].mean(axis=0), mean, atol=1)
    # 2 r(t) is uniform from -6 to 6, of variance 12; a sine adds E(a^2) / 2 = 79.2.
    assert X[y == "normal"].var() == pytest.approx(12, rel=0.03)
    assert X[y == "cyclic"].var() == pytest.approx(12 + (15**3 - 10**3) / 15 / 2, rel=0.03)


@pytest.mark.parametrize("make", [make_cylinder_bell_funnel, make_synthetic_control])
def test_no_series_are_refused(make):
    with pytest.raises(ValueError, match="n_samples"):
        make(0)
