"""Figure 2 of Bennett (2007): stacked and striving classifiers of texts beside the linear SVM."""

from copy import copy
from pathlib import Path
from typing import Any

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

SVM, STACK, STRIVE = "SVM", "Stack-S", "STRIVE-S"
# With the metaclassifier of the paper, a linear SVM of each topic's own.
PAPER_STACK, PAPER_STRIVE = "Stack-S, as published", "STRIVE-S, as published"
OBJECTIVES = {"f1": "thresholds learned for F1", "error": "thresholds learned for error"}
PAPER = {"f1": "4 to 18 %", "error": "3 to 16 %"}
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
# Terms of a topic that its tree may use.
TREE_TERMS = 300
# Below this a topic is assigned above the highest held-out score only; of 0, 0.1, 0.3 and 0.5 the best for
# all three systems on training documents.
LEAST_F1 = 0.5

Assigned = dict[tuple[str, str], Mask]
Row = dict[str, Any]


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the SVM, Stack-S and STRIVE-S on each corpus that is available; fewer errors are better.

    Writes `bennett-figure-2.csv`, `bennett-figure-2-tests.csv`, `bennett-figure-2-selection.csv` and the figure, and
    returns the results as text. Quick: every tenth document and the five largest topics of Reuters.
    """
    corpora, parts = find_corpora(quick=quick)
    rows: list[Row] = []
    tests: list[Row] = []
    selections: list[Row] = []
    for corpus in progress(corpora, total=len(corpora), label="corpora"):
        strive = StriveClassifier(base_models(), reliability(), cv=corpus.folds, random_state=0)
        strive.fit(corpus.X_train, corpus.y_train)
        truth, assigned, large = (
            corpus.y_test == 1,
            decide(strive, corpus),
            corpus.largest(N_LARGEST),
        )
        scopes = {corpus.name: np.arange(corpus.n_topics)}
        if corpus.n_topics > N_LARGEST:
            scopes[f"{corpus.name}, ten largest"] = large
        for name, topics in scopes.items():
            some = {key: flags[:, topics] for key, flags in assigned.items()}
            rows += measured(name, truth[:, topics], some)
            tests += significance(name, truth[:, topics], some)
        for number, step in enumerate(strive.backward_selection(by_kind(strive), topics=large)):
            row = {"corpus": corpus.name, "step": number, "dropped": step.dropped or ""}
            selections.append(row | {"held_out_accuracy": step.score})
    write_table(out / "bennett-figure-2.csv", rows, ".4f")
    write_table(out / "bennett-figure-2-tests.csv", tests, ".6g")
    write_table(out / "bennett-figure-2-selection.csv", selections, ".6f")
    draw(out / "bennett-figure-2.png", rows)
    texts = [render(name, rows, tests) for name in dict.fromkeys(row["corpus"] for row in rows)]
    dropped = [
        [f"{row['corpus']}, {row['dropped'] or 'nothing'}", f"{row['held_out_accuracy']:.5f}"]
        for row in selections
    ]
    title = "Accuracy of held-out decisions on the largest topics as indicators are left out"
    return "\n\n".join([*texts, f"{title}\n{text_table(dropped)}", *parts])


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
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
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


def decide(strive: StriveClassifier, corpus: Corpus) -> Assigned:
    """Decisions on the test documents by objective and system, from one pass over them.

    All thresholds are learned, topic by topic, on scores of held-out training documents.
    """
    names = list(strive.feature_names_out_)
    scores = [name for name in names if name.endswith("__score")]
    columns = strive.meta_columns(corpus.X_test)
    held_out, svm = strive.held_out_, names.index("svm__score")
    # The same base models and columns, with other metaclassifiers.
    published = copy(strive).set_params(final_estimator=paper_metaclassifier()).with_columns(names)
    combined = {
        PAPER_STACK: published.with_columns(scores),
        PAPER_STRIVE: published,
        STACK: strive.with_columns(scores),
        STRIVE: strive,
    }
    systems = {SVM: (held_out.columns[:, :, svm], columns[:, :, svm])}
    for system, model in combined.items():
        known = columns[:, :, : len(model.feature_names_out_)]  # scores come first
        systems[system] = model.held_out_scores_, meta_scores(model, known)
    assigned = {}
    for objective in OBJECTIVES:
        for system, (known, new) in systems.items():
            thresholds = [
                topic_threshold(seen, truth, objective)
                for seen, truth in zip(known.T, held_out.targets.T, strict=True)
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


def measured(name: str, truth: Mask, assigned: Assigned) -> list[Row]:
    """Counts of each system's decisions, their changes relative to the SVM's, F1, and the share of errors saved."""
    rows = []
    for (objective, system), flags in assigned.items():
        counts, base = (count(truth, assigned[objective, each]) for each in (system, SVM))
        changes = counts / np.maximum(base, 1) - 1
        row = {"corpus": name, "topics": truth.shape[1], "objective": objective, "system": system}
        row |= {component: int(n) for component, n in zip(COLORS, counts, strict=True)}
        row |= {f"{component}_change": c for component, c in zip(COLORS, changes, strict=True)}
        row |= {
            "f1": 2 * counts[2] / (2 * counts[2] + counts[:2].sum()),
            "macro_f1": f1_score(truth, flags, average="macro", zero_division=1.0),
            "error_reduction": 1 - counts[:2].sum() / base[:2].sum(),
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
        for first, second in ((STRIVE, SVM), (STRIVE, STACK), (STACK, SVM))
        for test, p_of in TESTS.items()
    ]


def render(name: str, rows: list[Row], tests: list[Row]) -> str:
    """One corpus as text: counts, errors and tests, with the paper's range beside."""
    own = [row for row in rows if row["corpus"] == name]
    lines = [f"{name}: {own[0]['topics']} topics"]
    for objective, about in OBJECTIVES.items():
        cells = [[about, "FP", "FN", "CP", "errors", "F1", "macro", "reduction", "the paper"]]
        for row in (row for row in own if row["objective"] == objective):
            counts = [row[component] for component in COLORS]
            f1s = [f"{row['f1']:.4f}", f"{row['macro_f1']:.4f}", f"{row['error_reduction']:.1%}"]
            paper = PAPER[objective] if row["system"] == PAPER_STRIVE else ""
            numbers = map(str, [*counts, sum(counts[:2])])
            cells.append([f"  {row['system']}", *numbers, *f1s, paper])
        lines.append(text_table(cells))
        lines += [
            f"  {test['first']} against {test['second']}, {test['test']}: p = {test['p_value']:.3g}"
            for test in tests
            if (test["corpus"], test["objective"]) == (name, objective)
        ]
    return "\n".join(lines)


def draw(path: Path, rows: list[Row]) -> None:
    """Draw the paper's figure: change of the three components relative to the SVM, an objective a side."""
    names = list(dict.fromkeys(row["corpus"] for row in rows))
    figure = Figure(figsize=(5 + 2.6 * len(names), 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (objective, about) in zip(axes, OBJECTIVES.items(), strict=True):
        ticks = []
        for row in rows:
            if row["objective"] == objective and row["system"] in (STACK, STRIVE):
                ticks.append(8.5 * names.index(row["corpus"]) + 4 * (row["system"] == STRIVE) + 1)
                draw_bars(ax, row, ticks[-1], is_first=len(ticks) == 1)
        ax.set_xticks(ticks, [STACK, STRIVE] * len(names))
        for o, name in enumerate(names):
            ax.annotate(
                name,
                (8.5 * o + 3, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -28),
                textcoords="offset points",
                ha="center",
            )
        ax.axhline(0, color="#1a1a1a", linewidth=0.8)
        ax.tick_params(axis="x", length=0)
        ax.set_title(about)
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes[0].set_ylabel("change relative to the SVM")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=150)


def draw_bars(ax: Any, row: Row, middle: float, *, is_first: bool) -> None:
    """Draw the changes of one system, three bars; the first ones are named in the legend."""
    for c, (component, color) in enumerate(COLORS.items()):
        value = row[f"{component}_change"]
        label = component.replace("_", " ") if is_first else None
        drawn = ax.bar(middle + c - 1, value, 0.95, color=color, label=label)
        ax.bar_label(drawn, [f"{value:+.0%}".replace("-", "−")], fontsize=7, padding=2)
