"""Figure 2 of Bennett (2007): stacked and striving classifiers of texts beside the linear SVM."""

import csv
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from surefoot._typing import Floats, Ints, Mask
from surefoot.ensemble import StriveClassifier
from surefoot.experiments._progress import Progress, silent
from surefoot.experiments._text_corpora import Corpus, find_corpora
from surefoot.experiments._text_decisions import meta_scores, topic_threshold
from surefoot.experiments._text_models import base_models, paper_metaclassifier, reliability
from surefoot.metrics import macro_sign_test, macro_t_test, micro_sign_test

SVM, STACK, STRIVE = "SVM", "Stack-S", "STRIVE-S"
# With the metaclassifier of the paper, a linear SVM of each topic's own.
PAPER_STACK, PAPER_STRIVE = "Stack-S, as published", "STRIVE-S, as published"
SYSTEMS = (SVM, PAPER_STACK, PAPER_STRIVE, STACK, STRIVE)
OBJECTIVES = {"f1": "thresholds learned for F1", "error": "thresholds learned for error"}
PAPER = {"f1": "4 to 18 %", "error": "3 to 16 %"}
COLORS = {
    "false positives": "#D55E00",
    "false negatives": "#E69F00",
    "correct positives": "#0072B2",
}
COMPONENTS = tuple(COLORS)
TESTS: dict[str, Any] = {
    "micro sign": micro_sign_test,
    "macro sign": macro_sign_test,
    "macro t": macro_t_test,
}
N_LARGEST = 10


class Outcome:
    """Topics that the systems assign to the test documents of a corpus, for each objective."""

    def __init__(self, name: str, truth: Mask, assigned: dict[tuple[str, str], Mask]) -> None:
        self.name = name
        self.truth = truth
        self.assigned = assigned

    def only(self, topics: Ints, name: str) -> "Outcome":
        """Outcome of some topics alone."""
        assigned = {key: flags[:, topics] for key, flags in self.assigned.items()}
        return Outcome(name, self.truth[:, topics], assigned)

    def counts(self, objective: str, system: str) -> Floats:
        """False positives, false negatives and correct positives over all topics."""
        assigned = self.assigned[objective, system]
        pairs = (assigned & ~self.truth, ~assigned & self.truth, assigned & self.truth)
        return np.array([float(pair.sum()) for pair in pairs])

    def f1(self, objective: str, system: str) -> float:
        """Micro-averaged F1."""
        false, missed, right = self.counts(objective, system)
        return 2 * right / (2 * right + false + missed)

    def macro_f1(self, objective: str, system: str) -> float:
        """Mean F1 of the topics."""
        assigned = self.assigned[objective, system]
        return float(f1_score(self.truth, assigned, average="macro", zero_division=1.0))

    def error_reduction(self, objective: str, system: str, reference: str = SVM) -> float:
        """Share of the reference's wrong decisions that are saved."""
        ours, theirs = (self.counts(objective, name)[:2].sum() for name in (system, reference))
        return float(1 - ours / theirs)


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Compare the SVM, Stack-S and STRIVE-S on each corpus that is at hand; fewer errors are better.

    Writes `bennett-figure-2.csv`, `bennett-figure-2-tests.csv`, `bennett-figure-2-selection.csv` and,
    where matplotlib is installed, the figure to `out`, and returns the results as text.

    Parameters
    ----------
    out : Path
        Folder for the results.
    quick : bool, default=False
        Whether to take every tenth document and the five largest topics of Reuters only.
    progress : callable, default=silent
        Called as `progress(items, total=..., label=...)`; yields the items.

    Returns
    -------
    str
    """
    corpora, skipped = find_corpora(quick=quick)
    outcomes, selections = [], {}
    for corpus in progress(corpora, total=len(corpora), label="corpora"):
        strive = StriveClassifier(base_models(), reliability(), cv=corpus.folds())
        strive.fit(corpus.X_train, corpus.y_train)
        outcome = Outcome(corpus.name, corpus.y_test == 1, decide(strive, corpus))
        outcomes.append(outcome)
        if corpus.n_topics > N_LARGEST:
            outcomes.append(outcome.only(corpus.largest(N_LARGEST), f"{corpus.name}, ten largest"))
        large = corpus.largest(N_LARGEST)
        selections[corpus.name] = strive.backward_selection(by_kind(strive), topics=large)
    _write_counts(out / "bennett-figure-2.csv", outcomes)
    _write_tests(out / "bennett-figure-2-tests.csv", outcomes)
    _write_selections(out / "bennett-figure-2-selection.csv", selections)
    drawn = _draw(out / "bennett-figure-2.png", outcomes)
    parts = [render(outcome) for outcome in outcomes]
    parts += [_render_selection(name, steps) for name, steps in selections.items()]
    return "\n\n".join([*parts, *skipped, f"Tables{drawn} are in {out}."])


def decide(strive: StriveClassifier, corpus: Corpus) -> dict[tuple[str, str], Mask]:
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
            above = np.nan_to_num(new, nan=-np.inf) > np.array(thresholds)
            assigned[objective, system] = above
    return assigned


def by_kind(strive: StriveClassifier) -> dict[str, list[str]]:
    """Columns of all models' indicators by the kind of indicator."""
    kinds = {
        "sensitivity": ("shift", "spread"),
        "confidence": ("log_odds", "margin", "entropy", "max_probability"),
        "distance": ("log_distance",),
        "terms": ("log_terms",),
    }
    names = [name.split("__", 1) for name in strive.feature_names_out_]
    return {
        kind: [f"{model}__{column}" for model, column in names if column.startswith(starts)]
        for kind, starts in kinds.items()
    }


def render(outcome: Outcome) -> str:
    """One corpus as text: counts, errors and tests, with the paper's range beside."""
    lines = [
        f"{outcome.name}: {outcome.truth.shape[1]} topics, {len(outcome.truth)} test documents"
    ]
    for objective, about in OBJECTIVES.items():
        lines.append(
            f"{about:<30}{'FP':>7}{'FN':>7}{'CP':>8}{'errors':>8}{'F1':>9}{'macro':>9}{'reduction':>11}"
        )
        for system in (each for each in SYSTEMS if (objective, each) in outcome.assigned):
            false, missed, right = outcome.counts(objective, system)
            saved = outcome.error_reduction(objective, system)
            note = f"  (the paper: {PAPER[objective]})" if system == PAPER_STRIVE else ""
            lines.append(
                f"  {system:<28}{false:7.0f}{missed:7.0f}{right:8.0f}{false + missed:8.0f}"
                f"{outcome.f1(objective, system):9.4f}{outcome.macro_f1(objective, system):9.4f}{saved:11.1%}{note}"
            )
        for first, second, test, value in significance(outcome, objective):
            lines.append(f"  {first} against {second}, {test}: p = {value:.3g}")
    return "\n".join(lines)


def significance(outcome: Outcome, objective: str) -> list[tuple[str, str, str, float]]:
    """Two-sided p-values of the three tests for each pair of systems."""
    pairs = ((STRIVE, SVM), (STRIVE, STACK), (STACK, SVM))
    tables = {system: outcome.assigned[objective, system] for system in (SVM, STACK, STRIVE)}
    return [
        (first, second, name, test(outcome.truth, tables[first], tables[second]).p_value)
        for first, second in pairs
        for name, test in TESTS.items()
    ]


def _render_selection(name: str, steps: list[Any]) -> str:
    lines = [
        f"{name}: accuracy of held-out decisions on the largest topics as indicators are left out"
    ]
    lines += [f"  {step.dropped or 'nothing':<14}{step.score:.5f}" for step in steps]
    return "\n".join(lines)


def _write_counts(path: Path, outcomes: list[Outcome]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        names = [name.replace(" ", "_") for name in COMPONENTS]
        changes = [f"{name}_change" for name in names]
        writer.writerow(
            [
                "corpus",
                "topics",
                "objective",
                "system",
                *names,
                *changes,
                "f1",
                "macro_f1",
                "error_reduction",
            ]
        )
        for outcome in outcomes:
            for objective, system in outcome.assigned:
                row = [outcome.name, outcome.truth.shape[1], objective, system]
                counts = outcome.counts(objective, system)
                change = changes_of(outcome, objective, system)
                saved = outcome.error_reduction(objective, system)
                cells = [f"{value:.0f}" for value in counts] + [f"{value:.4f}" for value in change]
                means = outcome.f1(objective, system), outcome.macro_f1(objective, system)
                cells += [f"{value:.4f}" for value in (*means, saved)]
                writer.writerow([*row, *cells])


def changes_of(outcome: Outcome, objective: str, system: str) -> Floats:
    """Change of the three components relative to the SVM's."""
    ours, base = outcome.counts(objective, system), outcome.counts(objective, SVM)
    return ours / np.maximum(base, 1) - 1


def _write_tests(path: Path, outcomes: list[Outcome]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["corpus", "objective", "first", "second", "test", "p_value"])
        for outcome in outcomes:
            for objective in OBJECTIVES:
                for first, second, test, value in significance(outcome, objective):
                    writer.writerow([outcome.name, objective, first, second, test, f"{value:.6g}"])


def _write_selections(path: Path, selections: dict[str, list[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["corpus", "step", "dropped", "held_out_accuracy"])
        for name, steps in selections.items():
            for number, step in enumerate(steps):
                writer.writerow([name, number, step.dropped or "", f"{step.score:.6f}"])


def _draw(path: Path, outcomes: list[Outcome]) -> str:
    """Draw the paper's figure: change of the three components relative to the SVM, an objective a side."""
    if find_spec("matplotlib") is None:
        return ""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only this figure needs it
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    figure = Figure(figsize=(5 + 2.6 * len(outcomes), 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (objective, about) in zip(axes, OBJECTIVES.items(), strict=True):
        _draw_bars(ax, outcomes, objective)
        ax.axhline(0, color="#1a1a1a", linewidth=0.8)
        ax.tick_params(axis="x", length=0)
        ax.set_title(about)
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes[0].set_ylabel("change relative to the SVM")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False
    )
    figure.savefig(path, dpi=150)
    return " and the figure"


def _draw_bars(ax: Any, outcomes: list[Outcome], objective: str) -> None:
    """Draw the changes of each outcome and system, three bars each, with names below."""
    ticks, labels = [], []
    for o, outcome in enumerate(outcomes):
        for s, system in enumerate((STACK, STRIVE)):
            start = 8.5 * o + 4 * s
            bars = changes_of(outcome, objective, system)
            for c, (component, value) in enumerate(zip(COMPONENTS, bars, strict=True)):
                label = component if o == s == 0 else None
                drawn = ax.bar(start + c, value, 0.95, color=COLORS[component], label=label)
                ax.bar_label(drawn, [f"{value:+.0%}".replace("-", "−")], fontsize=7, padding=2)
            ticks.append(start + 1)
            labels.append(system)
        ax.annotate(
            outcome.name,
            (8.5 * o + 3, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -28),
            textcoords="offset points",
            ha="center",
        )
    ax.set_xticks(ticks, labels)
