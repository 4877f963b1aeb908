"""Summary and picture of the arena's figures."""

import numpy as np
import pandas as pd

LEAST_TEST_ERRORS = 5
GROUPS = {"under 20": (0, 20), "20 to 99": (20, 100), "100 and more": (100, np.inf)}
DRAWS = 1000
OWN = "own confidence"


def with_ratios(figures, *, least_test_errors=LEAST_TEST_ERRORS):
    """Figures of the cases with enough test errors, and the AUGRC over that of own confidence."""
    keys = ["table", "model", "random_state"]
    own = figures[figures.method == OWN].set_index(keys).augrc
    beside = figures.join(own.rename("own"), on=keys)
    beside = beside[(beside.test_errors >= least_test_errors) & (beside.own > 0)]
    # No ranking is perfect to the last digit: an AUGRC of 0 counts as one thousandth of own confidence.
    return beside.assign(ratio=np.maximum(beside.augrc / beside.own, 1e-3))


def geometric_mean(ratios):
    """Geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


def interval(part):
    """95 % bootstrap interval of the geometric mean, over tables."""
    by_table = np.log(part.ratio).groupby(part.table).agg(["sum", "count"]).to_numpy()
    random = np.random.default_rng(0)
    draws = by_table[random.integers(len(by_table), size=(DRAWS, len(by_table)))].sum(axis=1)
    return np.exp(np.quantile(draws[:, 0] / draws[:, 1], [0.025, 0.975]))


def standings(figures):
    """One line a method, best first: ratios to own confidence, AUROC, calibration and seconds."""
    ratios, lines = with_ratios(figures), {}
    for method, part in ratios.groupby("method", sort=False):
        low, high = interval(part)
        lines[method] = {
            "cases": len(part),
            "mean": geometric_mean(part.ratio),
            "low": low,
            "high": high,
            **{name: _mean_or_nan(in_group(part, name).ratio) for name in GROUPS},
            "better %": 100 * (part.ratio < 1).mean(),
            "worst": part.ratio.max(),
            "AUROC": part.auroc.mean(),
            "calibration": part.calibration_error.mean(),
            "seconds": part.seconds.median(),
        }
    return pd.DataFrame.from_dict(lines, orient="index").sort_values("mean")


def in_group(part, name):
    """Cases whose number of errors in the training rows is in a group."""
    least, below = GROUPS[name]
    return part[(part.training_errors >= least) & (part.training_errors < below)]


def _mean_or_nan(ratios):
    return geometric_mean(ratios) if len(ratios) else np.nan


def worst_lines(figures, method, n_lines=10):
    """Largest ratios of a method."""
    part = with_ratios(figures)
    part = part[part.method == method].sort_values("ratio", ascending=False).head(n_lines)
    part = part.assign(random_state=part.random_state.astype(str))
    return part[["table", "model", "random_state", "training_errors", "test_errors", "ratio"]]


def few_errors_lines(figures):
    """Calibration below 20 training errors, pooled over all cases: expected over observed errors, and log losses."""
    part = figures[(figures.training_errors < 20) & figures.log_loss.notna()]
    lines = {}
    for method, cases in part.groupby("method", sort=False):
        rows = cases.n_test
        lines[method] = {
            "cases": len(cases),
            "expected / observed": cases.expected_errors.sum() / cases.test_errors.sum(),
            "log loss": (cases.log_loss * rows).sum() / rows.sum(),
            "of the base rate": (cases.base_log_loss * rows).sum() / rows.sum(),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def extremes_lines(figures):
    """Largest ratio with 5 to 19 and with at least 20 test errors, by method."""
    ratios = with_ratios(figures)
    few = ratios.test_errors < 20
    return pd.DataFrame(
        {
            "worst, 5 to 19 test errors": ratios[few].groupby("method").ratio.max(),
            "worst, 20 and more": ratios[~few].groupby("method").ratio.max(),
        }
    )


def simple_table(frame, first):
    """Table as text that is also a simple table of reStructuredText; `first` is the heading of the index."""
    cells = [[first, *frame.columns]]
    cells += [
        [name, *map(_cell, line)] for name, line in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    widths = [max(len(str(cell)) for cell in column) for column in zip(*cells, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = [
        "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _cell(value):
    """Number to three places, or to one from 20 on, a whole number in full, a text as it is; a dash for a gap."""
    if isinstance(value, str):
        return value
    if np.isnan(value):
        return "—"
    if value == round(value) and value >= 2:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 20 else f"{value:.3f}"


def summarize(figures):
    """Tables of the arena as text."""
    n_cases = figures.groupby(["table", "model", "random_state"]).ngroups
    ranked = standings(figures)
    by_model = with_ratios(figures).pivot_table(
        index="method", columns="model", values="ratio", aggfunc=geometric_mean, sort=False
    )
    heading = (
        f"{figures.table.nunique()} tables, {n_cases} cases. AUGRC over that of own confidence, geometric mean "
        f"over cases with at least {LEAST_TEST_ERRORS} test errors, with a 95 % bootstrap interval over tables"
    )
    worst = worst_lines(figures, ranked.index[0]).set_index("table")
    parts = [
        heading,
        simple_table(ranked, "method"),
        "Largest ratios",
        simple_table(extremes_lines(figures).loc[ranked.index], "method"),
        "Under 20 errors in the training rows, pooled over cases",
        simple_table(few_errors_lines(figures), "method"),
        "By model",
        simple_table(by_model.loc[ranked.index], "method"),
        f"Largest ratios of {ranked.index[0]}",
        simple_table(worst, "table"),
    ]
    return "\n\n".join(parts)


def draw(figures, file):
    """Draw ranked dots with intervals: all cases, and those with few errors in the training rows."""
    from matplotlib.figure import Figure

    table = standings(figures)[::-1]
    places = np.arange(len(table))
    figure = Figure(figsize=(8, 0.5 * len(table) + 1.4), layout="constrained")
    axis = figure.subplots()
    axis.axvline(1, color="0.6", lw=1, zorder=0)
    axis.hlines(places, table.low, table.high, color="#0072B2", lw=2.5)
    axis.scatter(
        table["mean"],
        places,
        s=55,
        color="#0072B2",
        zorder=3,
        label="all cases, 95 % interval over tables",
    )
    few = table["under 20"]
    axis.scatter(
        few,
        places,
        s=45,
        facecolor="white",
        edgecolor="#D55E00",
        zorder=2,
        label="under 20 training errors",
    )
    for place, mean in zip(places, table["mean"], strict=True):
        axis.annotate(
            f"{mean:.2f}",
            (mean, place),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axis.set_yticks(places, table.index)
    axis.set_xscale("log")
    ticks = [tick for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3) if _drawn(table, tick)]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("AUGRC over that of own confidence (left is better)")
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=2, fontsize=9)
    figure.savefig(file, dpi=150)


def _drawn(table, tick):
    """Whether a tick is near what is drawn."""
    values = table[["mean", "low", "high", "under 20"]].to_numpy()
    return 0.9 * np.nanmin(values) <= tick <= 1.1 * np.nanmax(values)
