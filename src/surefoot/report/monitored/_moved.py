"""Section "What moved": columns whose values are distributed otherwise than in the held-out rows."""

from typing import Any

from surefoot._words import number, plural
from surefoot.monitoring import RowComparison
from surefoot.report.monitored._period_rows import plain

# Columns that one sentence names.
MOST_NAMED = 5


def describe_moved(
    comparison: RowComparison | None,
    n_rows: int,
    periods: list[dict[str, Any]],
    latest: RowComparison | None,
) -> dict[str, Any]:
    """Columns with the effect and the p value of each, the largest effect first, and whether the rows differ at all.

    `comparison` is that of all rows, `latest` that of the latest of several periods; None if there are too few rows.
    """
    if comparison is None:
        return {
            "columns": [],
            "n_moved": 0,
            "auc": None,
            "p_value": None,
            "same": None,
            "sentence": f"There are too few new rows to tell whether inputs have moved: {number(n_rows)}.",
            "by_period": None,
        }
    columns = [
        {
            "name": str(column.name),
            "effect": float(column.effect),
            "p_value": plain(column.p_value),
            "moved": bool(column.moved),
        }
        for column in sorted(comparison.columns, key=lambda column: -column.effect)
    ]
    return {
        "columns": columns,
        "n_moved": sum(column["moved"] for column in columns),
        "auc": plain(comparison.auc),
        "p_value": plain(comparison.p_value),
        "same": bool(comparison.same),
        "sentence": _sentence(comparison, n_rows),
        "by_period": _about_periods(periods, latest) if len(periods) > 1 else None,
    }


def _about_periods(periods: list[dict[str, Any]], latest: RowComparison | None) -> str:
    """Sentence on the periods whose rows differ, and on what moved in the latest one."""
    differing = [period for period in periods if period["shifted"]]
    if differing:
        most = max(differing, key=lambda period: period["auc"])
        by_period = (
            f"Period by period, rows differ in {len(differing):,} of {len(periods):,} (one in twenty would by "
            f"chance), most in {most['name']}, with an AUC of {number(most['auc'])}."
        )
    else:
        by_period = f"In none of {len(periods):,} periods alone do the rows differ measurably."
    if latest is None:
        return f"{by_period} {periods[-1]['name'].capitalize()} has too few rows to tell what moved in it."
    name, names = periods[-1]["name"], [f"“{column.name}”" for column in latest.moved]
    if not names:
        return f"{by_period} In {name}, no single column has moved measurably."
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{by_period} In {name}, these have moved: {', '.join(names[:MOST_NAMED])}{more}."


def _sentence(comparison: RowComparison, n_rows: int) -> str:
    n_columns, n_moved = len(comparison.columns), len(comparison.moved)
    auc = number(plain(comparison.auc))
    if comparison.same:
        beginning = (
            f"Nothing shows that {plural(n_rows, 'new row')} differ as a whole from those that the model was fitted "
            f"on: a classifier tells them apart with an AUC of {auc} (0.5 is chance)."
        )
    else:
        beginning = (
            f"The new rows differ from those that the model was fitted on: a classifier tells them apart with an AUC "
            f"of {auc} (0.5 is chance)."
        )
    if not n_columns:
        return beginning
    if not n_moved:
        return f"{beginning} No single column has moved measurably."
    moved = "1 column has" if n_moved == 1 else f"{n_moved:,} columns have"
    return f"{beginning} {moved} moved, of {n_columns:,}."
