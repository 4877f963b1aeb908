"""How often a claim is false on generated tables whose truth is known: one section for each way to go wrong.

A table has six columns, and the probability of its label is a known function of them. A claim is false if the expected
error of the rows that are accepted is above the promised limit; expected means by these probabilities, on rows that
were drawn anew (or, in the section `known`, on the training rows). A claim that is not made is withheld. The sections
`control-…` are tables without the defect: their share of accepted rows is compared between versions.
"""

import time
import warnings

import numpy as np
from scipy.special import expit
from scipy.stats import binomtest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot.abstention import AbstainingClassifier, Promise

N_COLUMNS, N_FRESH = 6, 4000


class Problem:
    """Rows of normal columns, and labels whose probability is a function of them."""

    def __init__(self, draw):
        self.draw = draw
        self.weights = draw.normal(size=N_COLUMNS)
        self.pairs = draw.normal(size=(N_COLUMNS, N_COLUMNS)) * 0.35
        self.sharpness = draw.uniform(0.8, 2.5)

    def table(self, n_rows):
        """Rows and labels."""
        X = self.draw.normal(size=(n_rows, N_COLUMNS))
        return X, (self.draw.random(n_rows) < self.chance(X)).astype(int)

    def chance(self, X):
        """Probability of label 1."""
        return expit(
            self.sharpness * (X @ self.weights + np.einsum("ij,jk,ik->i", X, self.pairs, X))
        )

    def wrong(self, X, prediction):
        """Probability that each prediction is wrong."""
        chance = self.chance(X)
        return np.where(prediction == 1, 1 - chance, chance)


def forest():
    """Model that learns its training rows by heart."""
    return RandomForestClassifier(20, random_state=0)


def judge_claim(error_estimator, X, wrong_of):
    """Whether the default promise is false on these rows (None if it is withheld), and the share accepted."""
    promise = Promise.from_held_out(error_estimator.held_out_)
    judgement = promise.apply(error_estimator.judge(X))
    if not judgement.accepted.any():
        return None, 0.0
    wrong = wrong_of(X, judgement.prediction)[judgement.accepted].mean()
    return bool(wrong > promise.max_risk), judgement.accepted.mean()


def copied(problem, n_rows, n_copies):
    """Table in which every row occurs as often as said, in random order."""
    X, y = problem.table(n_rows)
    order = problem.draw.permutation(np.tile(np.arange(n_rows), n_copies))
    return X[order], y[order]


def copies(draw, n_copies):
    """Every row several times."""
    problem = Problem(draw)
    model = IndividualErrorClassifier(forest(), random_state=0).fit(*copied(problem, 300, n_copies))
    return judge_claim(model, problem.table(N_FRESH)[0], problem.wrong)


def abstaining(draw, n_copies):
    """The same with AbstainingClassifier, for a limit of 0.1."""
    problem = Problem(draw)
    model = AbstainingClassifier(forest(), max_risk=0.1, random_state=0)
    model.fit(*copied(problem, 400, n_copies))
    X = problem.table(N_FRESH)[0]
    accepted = model.predict_accepted(X)
    if not accepted.any():
        return None, 0.0
    return bool(problem.wrong(X, model.predict(X))[accepted].mean() > 0.1), accepted.mean()


def known(draw, _):
    """The training rows are scored."""
    problem = Problem(draw)
    X, y = problem.table(400)
    model = IndividualErrorClassifier(forest(), random_state=0).fit(X, y)
    return judge_claim(model, X, problem.wrong)


def frozen(draw, times):
    """A frozen model on its own training rows (0), or trained elsewhere on so many times as many rows."""
    problem = Problem(draw)
    X, y = problem.table(400)
    model = forest().fit(*problem.table(times * 400)) if times else forest().fit(X, y)
    model = IndividualErrorClassifier(FrozenEstimator(model), random_state=0).fit(X, y)
    return judge_claim(model, problem.table(N_FRESH)[0], problem.wrong)


def novel(draw, share):
    """A share of the new rows lies far away, where half of the labels are wrong."""
    problem = Problem(draw)
    model = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(*problem.table(400))
    X, moved = problem.table(N_FRESH)[0], draw.random(N_FRESH) < share
    X[moved] = X[moved] * 2 + 8 * draw.choice([-1, 1], N_COLUMNS)
    return judge_claim(model, X, lambda X, p: np.where(moved, 0.5, problem.wrong(X, p)))


def tails(draw, sigma):
    """Lognormal losses of known size: the capped mean of fresh ones is compared with the limit."""

    def losses(sizes):
        return sizes * np.exp(draw.normal(0, sigma, len(sizes)) - sigma**2 / 2)

    sizes = np.exp(draw.normal(0, 0.7, 500))
    promise = Promise.from_losses(sizes, losses(sizes))
    fresh = np.exp(draw.normal(0, 0.7, 100_000))
    accepted = promise.accepted(fresh)
    if not promise.kept:
        return None, 0.0
    return bool(
        np.minimum(losses(fresh[accepted]), promise.cap).mean() > promise.max_risk
    ), accepted.mean()


SECTIONS = {
    "copies": (copies, (2, 5)),
    "abstaining": (abstaining, (2, 5)),
    "known": (known, (None,)),
    "frozen": (frozen, (0,)),
    "novel": (novel, (0.3,)),
    "tails": (tails, (1, 1.5, 2, 2.5)),
    "control-copies": (copies, (1,)),
    "control-abstaining": (abstaining, (1,)),
    "control-frozen": (frozen, (10,)),
    "control-novel": (novel, (0.0,)),
    "control-tails": (tails, (0.25, 0.5)),
}


def promises(section, n_draws):
    """Print how many claims were made and false, and the share of rows accepted, for each setting of a section."""
    warnings.filterwarnings(
        "ignore", message="The model's error on these rows|No threshold is known"
    )
    function, settings = SECTIONS[section]
    for setting in settings:
        start = time.process_time()
        draws = [function(np.random.default_rng(10_000 * i + 7), setting) for i in range(n_draws)]
        made = [claim for claim, _ in draws if claim is not None]
        uppers = [
            binomtest(sum(made), n).proportion_ci(0.95, "exact").high
            for n in (n_draws, max(len(made), 1))
        ]
        print(
            f"{section} {setting}: {n_draws} draws, {len(made)} claims, {sum(made)} false (upper limits: "
            f"{uppers[0]:.1%} of the draws, {uppers[1]:.1%} of the claims); accepted "
            f"{np.mean([share for _, share in draws]):.4f}; {time.process_time() - start:.0f} s",
            flush=True,
        )
