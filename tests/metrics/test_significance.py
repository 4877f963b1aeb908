"""Yang and Liu's tests against sums by hand, and against scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import ttest_rel
from sklearn.metrics import f1_score

from surefoot.metrics import macro_sign_test, macro_t_test, micro_sign_test


def random_systems(n_topics=8, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random((60, n_topics)) < 0.4
    first = truth ^ (rng.random(truth.shape) < 0.1)
    second = truth ^ (rng.random(truth.shape) < 0.2)
    return truth.astype(int), first.astype(int), second.astype(int)


def test_micro_sign_test_by_hand():
    # Ten decisions: both right on four, the first alone on five, the second alone on one.
    truth = np.ones(10, dtype=int)
    first = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 0])
    second = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 1])
    # Of six coins five or six come up heads in 6 + 1 of 64 ways, and as many tails as often.
    assert micro_sign_test(truth, first, second, alternative="greater") == (5, 6, 7 / 64)
    assert micro_sign_test(truth, first, second) == (5, 6, pytest.approx(14 / 64))
    # One or more of six: all but one of 64 ways.
    assert micro_sign_test(truth, second, first, alternative="greater").p_value == 63 / 64
    assert micro_sign_test(truth, second, first, alternative="less").p_value == 7 / 64


def test_macro_tests_by_hand():
    # F1 of the first: 1, 2·1/(2+1), 1; of the second: 2·1/(2+1), 2·1/(2+1), 0. The second topic is a tie.
    truth = [[1, 1, 1], [1, 1, 0], [0, 0, 0]]
    first = [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    second = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert macro_sign_test(truth, first, second, alternative="greater") == (2, 2, 0.25)
    assert macro_sign_test(truth, first, second) == (2, 2, 0.5)

    # Differences in F1 of 1/3, 0 and 1: mean 4/9, squared deviations 1/81, 16/81 and 25/81 make 42/81.
    result = macro_t_test(truth, first, second)
    assert_allclose(result.mean_difference, 4 / 9)
    assert_allclose(result.statistic, (4 / 9) / np.sqrt(42 / 81 / 2 / 3))
    # With two degrees of freedom P(T > t) = ½ − t / (2√(2 + t²)).
    tail = 0.5 - result.statistic / (2 * np.sqrt(2 + result.statistic**2))
    assert result.degrees_of_freedom == 2
    assert_allclose(result.p_value, 2 * tail)
    assert_allclose(macro_t_test(truth, first, second, alternative="greater").p_value, tail)
    assert_allclose(macro_t_test(truth, first, second, alternative="less").p_value, 1 - tail)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_agrees_with_scipy_on_random_systems(alternative):
    truth, first, second = random_systems()
    scores = [f1_score(truth, assigned, average=None) for assigned in (first, second)]
    expected = ttest_rel(*scores, alternative=alternative)
    result = macro_t_test(truth, first, second, alternative=alternative)
    assert_allclose([result.statistic, result.p_value], [expected.statistic, expected.pvalue])
    signs = macro_sign_test(truth, first, second, alternative=alternative)
    assert signs[:2] == ((scores[0] > scores[1]).sum(), (scores[0] != scores[1]).sum())


@pytest.mark.parametrize("test", [micro_sign_test, macro_sign_test, macro_t_test])
def test_sparse_tables_get_the_same_answer(test):
    tables = random_systems()
    assert test(*map(csr_array, tables)) == test(*tables)


def test_nothing_differs():
    truth, first, _ = random_systems()
    assert micro_sign_test(truth, first, first) == (0, 0, 1.0)
    assert macro_sign_test(truth, first, first) == (0, 0, 1.0)
    assert macro_t_test(truth, first, first).p_value == 1.0
    unused = np.array([[1, 0], [0, 0]])  # a topic that nobody has and nobody is given is a tie
    assert macro_sign_test(unused, unused, [[0, 0], [0, 0]]) == (1, 1, 1.0)


def test_topics_that_all_differ_alike_are_beyond_chance_for_the_t_test():
    truth, second = np.ones((2, 3), dtype=int), np.zeros((2, 3), dtype=int)
    result = macro_t_test(truth, truth, second, alternative="greater")
    assert (result.mean_difference, result.statistic, result.p_value) == (1.0, np.inf, 0.0)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (([[1, 0]], [[1]], [[1, 0]]), "y_first has shape"),
        (([[1, 0]], [[1, 0]], [[1]]), "y_second has shape"),
        (([[1, 2]], [[1, 0]], [[1, 0]]), "y_true has other values than 0 and 1"),
    ],
)
def test_tables_that_do_not_fit_get_one_sentence(tables, sentence):
    with pytest.raises(ValueError, match=sentence):
        micro_sign_test(*tables)


def test_other_wrong_input_gets_one_sentence():
    with pytest.raises(ValueError, match="needs two or more"):
        macro_t_test([1, 0], [1, 0], [0, 0])
    with pytest.raises(ValueError, match="alternative='better' is not known"):
        macro_t_test([[1, 0]], [[1, 0]], [[0, 0]], alternative="better")
