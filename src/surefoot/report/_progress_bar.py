"""Steps of a report, whose progress is shown."""

from surefoot._parallel import Plan, Show, bar

# Costs of steps relative to one fit of the model on a fold, measured on tables of 250 to 1,500 rows.
COSTS = {"fit": 1.0, "search": 1.3, "describe": 0.8, "section": 5.0, "refit": 0.7}
WORDS = {
    "fit": "Fitting the model on folds",
    "search": "Fitting second opinions",
    "describe": "Judging held-out rows",
    "section": "Measuring",
    "refit": "Trying what would help",
}


def plan_report(
    progress: bool | Show, *, n_splits: int, classifies: bool, n_sections: int, n_refits: int
) -> Plan | None:
    """Plan of the steps of a report, to be shown as `progress` says; None if nothing is to be shown.

    A regressor's errors are learned within each training part again, by models of pairs of folds.
    """
    show = bar() if progress is True else progress
    if not show:
        return None
    pairs = 0 if classifies else n_splits * (n_splits - 1) // 2
    steps = {
        "fit": n_splits + 1 + pairs,
        "search": n_splits + 1 + pairs,
        "describe": n_splits + 2 * pairs,
        "section": n_sections,
        "refit": n_refits,
    }
    return Plan(steps, COSTS, WORDS, show)
