"""Whether the gains that a report claims are met on rows that it never saw.

Twelve tables with classes and six with numbers, two models each. A report gets half of the rows, at most 1,500; each
change that it measured is then made with the same rows, and its gain measured again on the others, at most 5,000. Of
95 % intervals, at most one in twenty may miss.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split

from error_detection import encoded
from reproduction.data import fetch_table, list_tables
from surefoot.active_learning import query
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.recalibration import RecalibratedClassifier
from surefoot.report import ReliabilityReport
from surefoot.resampling import HoldoutSplit
from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor

MOST_ROWS, MOST_FRESH = 1500, 5000
N_DRAWS = 4  # halves are drawn anew


def models(X, classifies):
    """Two models to report on, and those that a report compares them with, by their names in its sentences."""
    if classifies:
        boosting = HistGradientBoostingClassifier(random_state=0)
        trees, line = (
            ExtraTreesClassifier(50, random_state=0),
            LogisticRegression(max_iter=1000, tol=1e-2),
        )
    else:
        boosting = HistGradientBoostingRegressor(random_state=0)
        trees = ExtraTreesRegressor(50, min_samples_leaf=2, random_state=0)
        line = RidgeCV(np.logspace(-2, 4, 7))
    reported = {"boosting": encoded(boosting, X), "linear": encoded(line, X)}
    linear = "a logistic regression" if classifies else "a linear regression"
    names = {"a forest": trees, "boosted trees": boosting, linear: line}
    return reported, {name: encoded(model, X) for name, model in names.items()}


class Fresh:
    """Losses on rows that the report never saw, of models fitted on the rows that it had."""

    def __init__(self, model, rows, fresh, classifies):
        self.model, (self.X, self.y), (self.X_new, self.y_new) = model, rows, fresh
        self.classifies = classifies
        self.draw = np.random.RandomState(1)
        self.own = clone(model).fit(self.X, self.y)

    def loss(self, prediction):
        """Losses of predictions."""
        return (
            (prediction != self.y_new) * 1.0 if self.classifies else np.abs(prediction - self.y_new)
        )

    def predicted(self, model):
        """Losses of a fitted model."""
        return self.loss(model.predict(self.X_new))

    def take(self, rows):
        """Some of the report's rows, and their targets."""
        return (self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]), self.y[rows]

    def fit(self, rows):
        """The model, fitted on some of the report's rows."""
        return clone(self.model).fit(*self.take(rows))

    def halves(self):
        """Two random halves of the report's rows."""
        stratify = self.y if self.classifies else None
        [halves] = HoldoutSplit(0.5, random_state=self.draw).split(self.y, stratify)
        return halves

    def gain(self, card, others):
        """Gain of the change that a card of the report is about, over what the card compares it with."""
        name, sentence = card["name"], card["sentence"].casefold()
        named = {word: model for word, model in others.items() if word in sentence}
        if name == "Recalibrated probabilities":
            better = RecalibratedClassifier(self.model, random_state=0).fit(self.X, self.y)
            truth = self.y_new[:, None] == better.classes_
            chances = {
                "that of this model": self.own.predict_proba(self.X_new),
                "better": better.predict_proba(self.X_new),
            }
            constant = (self.y[:, None] == better.classes_).mean(axis=0)
            scores = {each: ((chances[each] - truth) ** 2).sum(axis=1) for each in chances}
            before = scores.get(card["than"], ((constant - truth) ** 2).sum(axis=1))
            return share(before, scores["better"])
        before = self.before(card["than"], others)
        if name == "Another model for every row":
            first = min(named, key=sentence.index)
            return share(before, self.predicted(clone(others[first]).fit(self.X, self.y)))
        if name == "Another model where it is better":
            kind = LocalSelectionClassifier if self.classifies else LocalSelectionRegressor
            settings = {} if self.classifies else {"loss": "absolute"}
            chosen = kind([("own", self.model), *named.items()], random_state=0, **settings)
            return share(before, self.predicted(chosen.fit(self.X, self.y)))
        if name == "The other class where it is better":
            judged = IndividualErrorClassifier(self.model, random_state=0).fit(self.X, self.y)
            judged = judged.judge(self.X_new)
            lost = self.loss(judged.prediction)
            return share(before, np.where(judged.error > 0.5, 1 - lost, lost))
        if name == "Correction by the expected error":
            better = IndividualErrorRegressor(self.model, corrected=True, random_state=0)
            return share(before, self.predicted(better.fit(self.X, self.y)))
        return float(np.mean([self.drawn_gain(name, before) for _ in range(N_DRAWS)]))

    def before(self, than, others):
        """Losses of what a card compares with; None for fits on fewer rows."""
        if than == "this model":
            return self.predicted(self.own)
        if than.startswith("always"):
            best = pd.Series(self.y).mode()[0] if self.classifies else np.median(self.y)
            return self.loss(np.full(len(self.y_new), best))
        return self.predicted(clone(others[than]).fit(self.X, self.y)) if than in others else None

    def drawn_gain(self, name, before):
        """Gain of a change that draws halves of the rows; without `before`, over fits on fewer or random rows."""
        halves = self.halves()
        fitted = [self.fit(half) for half in halves]
        if name == "More rows":
            own = self.predicted(self.own)
            halved = [before if before is not None else self.predicted(model) for model in fitted]
            return float(np.mean([share(each, own) for each in halved]))
        if name == "Averaging several fits":
            return share(before, self.loss(self.average([self.own, *fitted])))
        start, rest = halves
        n_more = round(0.25 * len(start))
        if self.classifies:
            asked = rest[
                query("confidence", fitted[0], self.take(rest)[0], n_more, random_state=self.draw)
            ]
        else:
            error_estimator = IndividualErrorRegressor(self.model, cv=3, random_state=0).fit(
                *self.take(start)
            )
            asked = rest[np.argsort(-error_estimator.predict_error(self.take(rest)[0]))[:n_more]]
        drawn = self.draw.permutation(rest)[:n_more]
        grown = [self.predicted(self.fit(np.append(start, more))) for more in (drawn, asked)]
        return share(grown[0] if before is None else before, grown[1])

    def average(self, fitted):
        """Mean prediction of several models."""
        if not self.classifies:
            return np.mean([model.predict(self.X_new) for model in fitted], axis=0)
        votes = np.sum([model.predict_proba(self.X_new) for model in fitted], axis=0)
        return fitted[0].classes_[votes.argmax(axis=1)]


def share(before, after):
    """Share of a loss that is gone."""
    return 1 - float(after.mean() / before.mean())


def claims(name, classifies):
    """Gains of one table's reports, claimed and met."""
    X, y = fetch_table(name)
    n_rows = min(MOST_ROWS, len(y) // 2)
    X, X_new, y, y_new = train_test_split(
        X, y, train_size=n_rows, random_state=0, stratify=y if classifies else None
    )
    X_new, y_new = X_new[:MOST_FRESH], y_new[:MOST_FRESH]
    reported, others = models(X, classifies)
    for kind, model in reported.items():
        cards = ReliabilityReport(model, X, y).summarize()["improvements"]
        fresh = Fresh(model, (X, y), (X_new, y_new), classifies)
        for card in cards:
            if card["gain"] is not None and fresh.predicted(fresh.own).sum() > 0:
                met = fresh.gain(card, others)
                yield {
                    "table": name,
                    "model": kind,
                    "name": card["name"],
                    "verdict": card["verdict"],
                } | {"gain": card["gain"], "low": card["low"], "high": card["high"], "met": met}


def gains(n_tables, out):
    """Print each gain that was claimed beside the one that was met, and the share of intervals that miss."""
    warnings.filterwarnings("ignore", message="y_pred values do not sum to one")
    rows = []
    for task in ("classification", "regression"):
        for name in list_tables(task, "tabular")[:n_tables]:
            new = list(claims(name, task == "classification"))
            rows += new
            for row in new:
                inside = row["low"] <= row["met"] <= row["high"]
                print(
                    f"{row['table']:<22} {row['model']:<9} {row['name']:<34} {row['verdict']:<15} "
                    f"{row['gain']:6.3f} ({row['low']:6.3f} to {row['high']:6.3f})  fresh {row['met']:6.3f}"
                    f"{'' if inside else '  OUTSIDE'}",
                    flush=True,
                )
    table = pd.DataFrame(rows)
    table["outside"] = ~table["met"].between(table["low"], table["high"])
    if out:
        table.to_csv(out, index=False)
    print(table.groupby("name")["outside"].agg(["mean", "sum", "count"]).to_string())
    helps = table[table["verdict"] == "helps"]
    print(f"outside: {table['outside'].mean():.3f} of {len(table)}, asked: at most 0.05")
    print(
        f"of those that help: {helps['outside'].mean():.3f} of {len(helps)}; no gain: {(helps['met'] <= 0).sum()}"
    )
