"""Figure 2 of Bennett (2007): stacked and striving classifiers of texts beside the linear SVM."""

from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import f1_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from reproduction.results import Floats, Ints, Mask, progress, text_table, write_table
from reproduction.texts import Corpus, newsgroups, rcv1, reuters, term_information
from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot.ensemble import StriveClassifier
from surefoot.indicators import Indicator, NeighborDistance
from surefoot.metrics import macro_sign_test, macro_t_test, micro_sign_test
from surefoot.neighborhoods import Neighborhood

SVM = "SVM"
# With the metaclassifier of the paper, a linear SVM of each topic's own.
STACK, STRIVE = "Stack-S", "STRIVE-S"
# With the default metaclassifier of StriveClassifier, a logistic regression in steps.
OUR_STACK, OUR_STRIVE = "stepped stack", "stepped strive"
COMPARED = (
    (STRIVE, SVM),
    (STRIVE, STACK),
    (STACK, SVM),
    (OUR_STRIVE, SVM),
    (OUR_STRIVE, OUR_STACK),
    (OUR_STRIVE, STRIVE),
)
OBJECTIVES = {"f1": "thresholds learned for F1", "error": "thresholds learned for error"}
# Range of the relative reductions in error by STRIVE-S over the four corpora.
PAPER = {"f1": (0.04, 0.18), "error": (0.03, 0.16)}
COLORS = {
    "false_positives": "#D55E00",
    "false_negatives": "#E69F00",
    "correct_positives": "#0072B2",
}
TESTS: dict[str, Any] = {
    "micro sign": micro_sign_test,
    "macro sign": macro_sign_test,
    "macro t": macro_t_test,
}
# Columns of the indicators by how their names begin, for the backward selection.
KINDS = {
    "sensitivity": ("shift", "spread"),
    "confidence": ("log_odds", "margin", "entropy", "max_probability"),
    "distance": ("log_distance",),
    "terms": ("log_terms",),
}
N_LARGEST = 10
QUICK_STEP, QUICK_TOPICS = 10, 5
# Draws of the folds in which metaclassifiers score held-out documents.
ALL_DRAWS, QUICK_DRAWS = 5, 2
# Terms of a topic that its tree may use.
TREE_TERMS = 300
# Below this a topic is assigned above the highest held-out score only; of 0, 0.1, 0.3 and 0.5 the best for
# all three systems on training documents.
LEAST_F1 = 0.5

Assigned = dict[tuple[str, str], Mask]
Row = dict[str, Any]


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the SVM, Stack-S, STRIVE-S and our variants on each corpus that is available; fewer errors are better.

    Writes `bennett-figure-2.csv`, `bennett-figure-2-tests.csv`, `bennett-figure-2-selection.csv` and the figure, and
    returns the results as text. Quick: every tenth document and the five largest topics of Reuters.
    """
    corpora, parts = find_corpora(quick=quick)
    n_draws = QUICK_DRAWS if quick else ALL_DRAWS
    rows: list[Row] = []
    tests: list[Row] = []
    selections: list[Row] = []
    for corpus in corpora:
        strive, columns = fit_base_models(corpus)
        large = corpus.largest(N_LARGEST)
        scopes = {corpus.name: np.arange(corpus.n_topics)}
        if corpus.n_topics > N_LARGEST:
            scopes[f"{corpus.name}, ten largest"] = large
        for draw in progress(range(n_draws), total=n_draws, label=f"draws of {corpus.name}"):
            combined = metaclassifiers(strive, draw)
            assigned = decide(strive, combined, columns)
            for name, topics in scopes.items():
                some = {key: flags[:, topics] for key, flags in assigned.items()}
                truth = corpus.y_test[:, topics] == 1
                rows += [{"draw": draw} | row for row in measured(name, truth, some)]
                tests += [{"draw": draw} | row for row in significance(name, truth, some)]
            for system in (STRIVE, OUR_STRIVE):
                about = {"corpus": corpus.name, "system": system, "draw": draw}
                selections += [about | row for row in selection(combined[system], large)]
    write_table(out / "bennett-figure-2.csv", rows, ".4f")
    write_table(out / "bennett-figure-2-tests.csv", tests, ".6g")
    write_table(out / "bennett-figure-2-selection.csv", selections)
    draw_figure(out / "bennett-figure-2.png", rows)
    texts = [render(name, rows, tests) for name in dict.fromkeys(row["corpus"] for row in rows)]
    return "\n\n".join([*texts, selection_table(selections), *parts])


def fit_base_models(corpus: Corpus) -> tuple[StriveClassifier, Floats]:
    """Base models with their out-of-fold columns, and their columns for the test documents."""
    strive = StriveClassifier(base_models(), reliability(), cv=corpus.folds, random_state=0)
    total = corpus.n_topics * (corpus.folds.get_n_splits() + 1)
    CountedTree.done = progress(
        range(total), total=total, label=f"topics in folds of {corpus.name}"
    )
    strive.fit(corpus.X_train, corpus.y_train)
    return strive, strive.meta_columns(corpus.X_test)


def find_corpora(*, quick: bool) -> tuple[list[Corpus], list[str]]:
    """The corpora whose files are there, and a sentence for each that is not."""
    whole, skipped = reuters(), []
    if quick:
        return [whole.thinned(QUICK_STEP).only(whole.largest(QUICK_TOPICS))], []
    corpora = [whole]
    for name, read in {"RCV1": rcv1, "20 newsgroups": newsgroups}.items():
        try:
            corpora.append(read())
        except OSError:
            skipped.append(f"{name} skipped: its files are not in scikit-learn's data home.")
    return corpora, skipped


class _LogOdds:
    """Naive Bayes by its log-odds: as probabilities of long texts they are 0 or 1."""

    predict_joint_log_proba: Any

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint[:, 1] - joint[:, 0])


class BernoulliLogOdds(_LogOdds, BernoulliNB):
    """The multivariate model: which words occur."""


class MultinomialLogOdds(_LogOdds, MultinomialNB):
    """The multinomial model: how often."""


class CountedTree(DecisionTreeClassifier):
    """Decision tree, the slowest of the models, which counts the topics that it was fitted to."""

    done: ClassVar[Iterator[int]] = iter(())

    def fit(self, X: Any, y: Any, **options: Any) -> Self:
        """Fit the tree, and count it."""
        next(self.done, None)
        return super().fit(X, y, **options)


class TermCount(Indicator):
    """How much there is to read: the logarithm of the number of known terms; more is more trustworthy."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """One column."""
        rows = neighborhood.inputs
        counts = np.diff(rows.indptr) if issparse(rows) else (np.asarray(rows) != 0).sum(axis=1)
        return np.log1p(counts)[:, None]

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """The column itself."""
        return self.columns(neighborhood)[:, 0]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name of the column."""
        return np.array(["log_terms"], dtype=object)


def base_models() -> list[tuple[str, Any]]:
    """The paper's five by name: nearest neighbours, linear SVM, decision tree and both kinds of naive Bayes."""
    tree = CountedTree(min_samples_leaf=3, random_state=0)
    return [
        ("knn", KernelKNeighborsClassifier(kernel="cosine")),
        ("svm", LinearSVC(random_state=0)),
        ("tree", make_pipeline(SelectKBest(term_information, k=TREE_TERMS), tree)),
        ("bernoulli", BernoulliLogOdds(alpha=0.1)),
        ("multinomial", MultinomialLogOdds(alpha=0.1)),
    ]


def reliability() -> dict[str, list[Indicator]]:
    """The indicators of each model: sensitivity where the texts themselves are the input, and confidence."""
    both: list[Indicator] = [LocalSensitivity(per_class=True), Confidence()]
    return {
        "knn": [*both, NeighborDistance(n_neighbors=(1, 10)), TermCount()],
        "svm": both,
        "tree": [Confidence()],
        "bernoulli": both,
        "multinomial": both,
    }


def paper_metaclassifier() -> Any:
    """The linear SVM that combines the columns in the paper, on columns within the range of the held-out ones."""
    svm = LinearSVC(C=0.1, dual=False, max_iter=10_000, random_state=0)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)


def metaclassifiers(strive: StriveClassifier, draw: int) -> dict[str, StriveClassifier]:
    """Systems by name on the same base models and columns, with the folds of one draw."""
    names = list(strive.feature_names_out_)
    scores = [name for name in names if name.endswith("__score")]
    final = {STRIVE: paper_metaclassifier(), OUR_STRIVE: None}
    published, stepped = (
        copy(strive).set_params(final_estimator=meta, random_state=draw).with_columns(names)
        for meta in final.values()
    )
    return {
        STACK: published.with_columns(scores),
        STRIVE: published,
        OUR_STACK: stepped.with_columns(scores),
        OUR_STRIVE: stepped,
    }


def decide(
    strive: StriveClassifier, combined: dict[str, StriveClassifier], columns: Floats
) -> Assigned:
    """Decisions on the test documents, given by their columns, by objective and system.

    All thresholds are learned, topic by topic, on scores of held-out training documents.
    """
    held_out, svm = strive.held_out_, list(strive.feature_names_out_).index("svm__score")
    systems = {SVM: (held_out.columns[:, :, svm], columns[:, :, svm])}
    for system, model in combined.items():
        known = columns[:, :, : len(model.feature_names_out_)]  # scores come first
        systems[system] = model.held_out_scores_, meta_scores(model, known)
    assigned = {}
    for objective in OBJECTIVES:
        for system, (seen, new) in systems.items():
            thresholds = [
                topic_threshold(scores, truth, objective)
                for scores, truth in zip(seen.T, held_out.targets.T, strict=True)
            ]
            assigned[objective, system] = np.nan_to_num(new, nan=-np.inf) > np.array(thresholds)
    return assigned


def meta_scores(model: StriveClassifier, columns: Floats) -> Floats:
    """Scores of the metaclassifiers before any threshold; NaN for a topic without one."""
    scores = np.full(columns.shape[:2], np.nan)
    for topic, final in enumerate(model.final_estimators_):
        if final is not None:
            scores[:, topic] = final.decision_function(columns[:, topic])
    return scores


def topic_threshold(scores: Floats, truth: Ints, objective: str) -> float:
    """Threshold of one topic with the lowest error or the best F1; inf if no held-out document has the topic.

    Of equally good thresholds it is the nearest to 0. If even the best F1 is too low, the topic is not assigned
    (Yang 2001 calls it SCutFBR.1).
    """
    known = ~np.isnan(scores)
    scores, truth = scores[known], truth[known]
    if not truth.any() or np.ptp(scores) == 0:
        return np.inf
    steps = np.unique(scores)
    middles = (steps[1:] + steps[:-1]) / 2
    cuts = np.array([0.0, steps[0] - 1, steps[-1] + 1, *middles])
    above, hits = (
        len(values) - np.searchsorted(np.sort(values), cuts, side="right")
        for values in (scores, scores[truth == 1])
    )
    f1 = 2 * hits / (above + truth.sum())
    if objective == "f1" and f1.max() < LEAST_F1:
        return float(steps[-1])
    value = f1 if objective == "f1" else 2 * hits - above
    best = np.sort(cuts[value >= value.max() - 1e-9])[::-1]
    return float(best[np.abs(best).argmin()])


def by_kind(strive: StriveClassifier) -> dict[str, list[str]]:
    """Columns of all models' indicators by the kind of indicator."""
    names = [name.split("__", 1) for name in strive.feature_names_out_]
    return {
        kind: [f"{model}__{column}" for model, column in names if column.startswith(starts)]
        for kind, starts in KINDS.items()
    }


def selection(strive: StriveClassifier, topics: Ints) -> list[Row]:
    """Steps of the backward selection by kind, with the wrong held-out decisions on the topics."""
    n_decisions = len(strive.held_out_.rows) * len(topics)
    return [
        {
            "step": number,
            "dropped": step.dropped or "",
            "held_out_errors": round((1 - step.score) * n_decisions),
        }
        for number, step in enumerate(strive.backward_selection(by_kind(strive), topics=topics))
    ]


def selection_table(selections: list[Row]) -> str:
    """Order in which kinds of indicators are dropped in each draw, with the wrong decisions after it."""
    cells = [["", "with all", *(f"dropped {n}" for n in ("first", "second", "third", "last"))]]
    runs: dict[tuple[str, str, int], list[Row]] = {}
    for row in selections:
        runs.setdefault((row["corpus"], row["system"], row["draw"]), []).append(row)
    for (corpus, system, draw), steps in runs.items():
        orders = [f"{step['dropped']} {step['held_out_errors']}".strip() for step in steps]
        cells.append([f"{corpus}, {system}, draw {draw}", *orders])
    title = "Wrong held-out decisions on the largest topics as kinds of indicators are left out"
    return f"{title}\n{text_table(cells)}"


def measured(name: str, truth: Mask, assigned: Assigned) -> list[Row]:
    """Counts of each system's decisions, their changes relative to the SVM's, F1, and the share of errors saved.

    The standard error of that share is over documents.
    """
    rows = []
    for (objective, system), flags in assigned.items():
        counts, base = (count(truth, assigned[objective, each]) for each in (system, SVM))
        changes = counts / np.maximum(base, 1) - 1
        saved = (assigned[objective, SVM] != truth).sum(axis=1) - (flags != truth).sum(axis=1)
        row = {"corpus": name, "topics": truth.shape[1], "objective": objective, "system": system}
        row |= {component: int(n) for component, n in zip(COLORS, counts, strict=True)}
        row |= {f"{component}_change": c for component, c in zip(COLORS, changes, strict=True)}
        row |= {
            "f1": 2 * counts[2] / (2 * counts[2] + counts[:2].sum()),
            "macro_f1": f1_score(truth, flags, average="macro", zero_division=1.0),
            "error_reduction": 1 - counts[:2].sum() / base[:2].sum(),
            "reduction_error": saved.std() * np.sqrt(len(saved)) / base[:2].sum(),
        }
        rows.append(row)
    return rows


def count(truth: Mask, assigned: Mask) -> Ints:
    """False positives, false negatives and correct positives over all topics."""
    pairs = (assigned & ~truth, ~assigned & truth, assigned & truth)
    return np.array([pair.sum() for pair in pairs])


def significance(name: str, truth: Mask, assigned: Assigned) -> list[Row]:
    """Two-sided p-values of the three tests for each pair of systems."""
    return [
        {
            "corpus": name,
            "objective": objective,
            "first": first,
            "second": second,
            "test": test,
            "p_value": p_of(truth, assigned[objective, first], assigned[objective, second]).p_value,
        }
        for objective in OBJECTIVES
        for first, second in COMPARED
        for test, p_of in TESTS.items()
    ]


def render(name: str, rows: list[Row], tests: list[Row]) -> str:
    """One corpus as text: means and standard deviations over the draws, and tests, with the paper's range beside."""
    own = [row for row in rows if row["corpus"] == name]
    n_draws = len({row["draw"] for row in own})
    lines = [f"{name}: {own[0]['topics']} topics, mean ± standard deviation of {n_draws} draws"]
    for objective, about in OBJECTIVES.items():
        cells = [
            [about, "FP", "FN", "CP", "errors", "F1", "macro", "reduction (s.e.)", "the paper"]
        ]
        for system in dict.fromkeys(row["system"] for row in own):
            some = [r for r in own if (r["objective"], r["system"]) == (objective, system)]
            cells.append([f"  {system}", *system_cells(objective, some)])
        lines.append(text_table(cells))
        found: dict[str, list[float]] = {}
        for test in tests:
            if (test["corpus"], test["objective"]) == (name, objective):
                pair = f"  {test['first']} against {test['second']}, {test['test']}"
                found.setdefault(pair, []).append(test["p_value"])
        ranges = [
            [pair, f"{np.median(p):.3g}", f"{min(p):.3g} to {max(p):.3g}"]
            for pair, p in found.items()
        ]
        lines.append(text_table([["  p-values", "median", "range"], *ranges]))
    return "\n".join(lines)


def system_cells(objective: str, some: list[Row]) -> list[str]:
    """Means of one system over its draws, and the distance of its reduction to the paper's range."""

    def spread(values: list[Any], form: str) -> str:
        deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
        return f"{np.mean(values):{form}}" + (f" ± {deviation:{form}}" if deviation > 1e-9 else "")

    counts = [[row[component] for row in some] for component in COLORS]
    errors = [sum(pair) for pair in zip(*counts[:2], strict=True)]
    f1s = [spread([row[kind] for row in some], ".4f") for kind in ("f1", "macro_f1")]
    reduction, error = (
        float(np.mean([row[k] for row in some])) for k in ("error_reduction", "reduction_error")
    )
    paper, (low, high) = "", PAPER[objective]
    if some[0]["system"] == STRIVE:
        away = max(low - reduction, reduction - high, 0.0) / max(error, 1e-9)
        paper = f"{low:.0%} to {high:.0%}, {away:.1f} s.e. away"
    cells = [spread(values, ".1f") for values in (*counts, errors)]
    return [*cells, *f1s, f"{reduction:.1%} ({error:.1%})", paper]


def draw_figure(path: Path, rows: list[Row]) -> None:
    """Draw the paper's figure, and our variants beside: mean change of the three components relative to the SVM."""
    names = list(dict.fromkeys(row["corpus"] for row in rows))
    systems = [STACK, STRIVE, OUR_STACK, OUR_STRIVE]
    figure = Figure(figsize=(3 + 5 * len(names), 8), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
    places = [(name, system) for name in names for system in systems]
    ticks = [4 * p + 1.5 * (p // 4) + 1 for p in range(len(places))]
    for ax, (objective, about) in zip(axes, OBJECTIVES.items(), strict=True):
        for tick, (name, system) in zip(ticks, places, strict=True):
            key = name, objective, system
            some = [r for r in rows if (r["corpus"], r["objective"], r["system"]) == key]
            draw_bars(ax, some, tick, is_first=tick == ticks[0])
        ax.axhline(0, color="#1a1a1a", linewidth=0.8)
        ax.tick_params(axis="x", length=0)
        ax.set_title(about)
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_ylabel("change relative to the SVM")
    labels = [f"{system}\n{name if s % 4 == 1 else ''}" for s, (name, system) in enumerate(places)]
    axes[1].set_xticks(ticks, labels)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=150)


def draw_bars(ax: Any, some: list[Row], middle: float, *, is_first: bool) -> None:
    """Draw the mean changes of one system, three bars; the first ones are named in the legend."""
    for c, (component, color) in enumerate(COLORS.items()):
        value = float(np.mean([row[f"{component}_change"] for row in some]))
        label = component.replace("_", " ") if is_first else None
        drawn = ax.bar(middle + c - 1, value, 0.95, color=color, label=label)
        ax.bar_label(drawn, [f"{value:+.0%}".replace("-", "−")], fontsize=7, padding=2)
