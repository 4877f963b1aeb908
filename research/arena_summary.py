"""Summary and picture of the arena's figures."""

import numpy as np
import pandas as pd

LEAST_TEST_ERRORS = 5
# From this many test errors on a ratio of two AUGRCs is stable enough for a strict limit.
MANY_TEST_ERRORS = 20
GROUPS = {"under 20": (0, 20), "20 to 99": (20, 100), "100 and more": (100, np.inf)}
DRAWS = 1000
OWN = "own confidence"
OURS = ("surefoot", "surefoot, no prior")
FIVE = ("logistic", "forest", "boosting", "svm", "knn")
# Models that are judged, as they are reported.
JUDGED = {"the five": FIVE, "catboost": ("catboost",), "stack": ("stack",)}
# Rivals are chosen with these numbers of training rows; 8,000 rows only six tables have.
CHOOSING_SIZES = (300, 1500)
# Tables with this many rows measure calibration.
LEAST_ROWS_CALIBRATED = 2000
LEAST_CALIBRATION = 1e-3
KEYS = ["table", "model", "n_train", "random_state"]


def with_ratios(figures, *, least_test_errors=LEAST_TEST_ERRORS, over=OWN):
    """Figures of the cases with enough test errors, and the AUGRC over that of own confidence, or of another method."""
    base = figures[figures.method == over].set_index(KEYS).augrc
    beside = figures.join(base.rename("base"), on=KEYS, how="inner")
    beside = beside[beside.test_errors >= least_test_errors]
    # No ranking is perfect to the last digit: an AUGRC of 0 counts as one thousandth of the errors' share.
    least = 1e-3 * beside.test_errors / beside.n_test
    return beside.assign(
        ratio=np.maximum(beside.augrc, least) / np.maximum(beside.base, least),
    )


def geometric_mean(ratios):
    """Geometric mean; NaN of nothing."""
    return float(np.exp(np.log(ratios).mean())) if len(ratios) else np.nan


def interval(part):
    """95 % bootstrap interval of the geometric mean, over tables."""
    by_table = np.log(part.ratio).groupby(part.table).agg(["sum", "count"]).to_numpy()
    random = np.random.default_rng(0)
    draws = by_table[random.integers(len(by_table), size=(DRAWS, len(by_table)))].sum(axis=1)
    return np.exp(np.quantile(draws[:, 0] / draws[:, 1], [0.025, 0.975]))


def of_models(figures, models=FIVE):
    """Figures of some judged models."""
    return figures[figures.model.isin(models)]


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
            **{name: geometric_mean(in_group(part, name).ratio) for name in GROUPS},
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


def strongest_rival(figures):
    """Method over which surefoot's lead is smallest, around the five models of the chosen-on half.

    Each is compared on the cases that it has, at least half of all: some tables are too large for one or another.
    """
    part = of_models(figures[(figures.half == "chosen") & figures["size"].isin(CHOOSING_SIZES)])
    by_method = with_ratios(part, over=OURS[0]).groupby("method").ratio
    means = by_method.apply(geometric_mean)[by_method.size() >= by_method.size().max() / 2]
    return means.drop([*OURS, OWN], errors="ignore").idxmin()


def over_rivals(figures):
    """Surefoot's AUGRC over that of every rival, by number of training rows, with an interval over tables."""
    lines = {}
    for size, of_size in of_models(figures).groupby("size"):
        for rival in of_size.method.unique():
            ratios = with_ratios(of_size, over=rival)
            part = ratios[ratios.method == OURS[0]]
            if rival in OURS or part.empty:
                continue
            by_table = part.groupby("table").ratio.apply(geometric_mean)
            low, high = interval(part)
            lines[f"{size} rows, {rival}"] = {
                "cases": len(part),
                "tables": len(by_table),
                "mean": geometric_mean(part.ratio),
                "low": low,
                "high": high,
                "better %": 100 * (part.ratio < 1).mean(),
                "better tables %": 100 * (by_table < 1).mean(),
                "worst table": by_table.max(),
            }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    order = [name.split(" rows, ") for name in frame.index]
    frame = frame.assign(size=[int(size) for size, _ in order])
    return frame.sort_values(["size", "mean"], ascending=[True, False]).drop(columns="size")


def criteria(figures, method=OURS[0]):
    """One line a judged model and number of training rows: what is asked of surefoot around it."""
    lines = {}
    for name, models in JUDGED.items():
        own = with_ratios(of_models(figures[figures.method.isin((OWN, method))], models))
        own = own[own.method == method]
        for size, part in [("all", own), *own.groupby("size")]:
            if len(part):
                lines[f"{name}, {size} rows"] = criteria_line(part)
    return pd.DataFrame.from_dict(lines, orient="index")


def criteria_line(part):
    """Means, shares and extremes of the ratios to own confidence of some cases."""
    many = part[part.test_errors >= MANY_TEST_ERRORS].ratio
    few = part[part.test_errors < MANY_TEST_ERRORS].ratio
    low, high = interval(part)
    return {
        "cases": len(part),
        "mean": geometric_mean(part.ratio),
        "low": low,
        "high": high,
        "under 20": geometric_mean(in_group(part, "under 20").ratio),
        "better %": 100 * (part.ratio < 1).mean(),
        "many": len(many),
        "many better %": 100 * (many < 1).mean(),
        "> 1.15 %": 100 * (many > 1.15).mean(),
        "> 1.2 %": 100 * (many > 1.2).mean(),
        "many worst": many.max(),
        "few > 2 %": 100 * (few > 2).mean(),
        "few worst": few.max(),
        "expected / observed": part.expected_errors.sum() / part.test_errors.sum(),
    }


def calibration_lines(figures, method=OURS[0], over="isotonic confidence"):
    """Smooth calibration error of a method beside that of isotonic regression, on tables of 2,000 and more rows."""
    part = figures[figures.n_rows >= LEAST_ROWS_CALIBRATED]
    pairs = part.pivot_table(
        index=[*KEYS, "size"], columns="method", values="calibration_error"
    ).reset_index()
    lines = {}
    groups = {"the five": FIVE} | {name: (name,) for name in (*FIVE, "lightgbm", "catboost")}
    for name, models in groups.items():
        own = pairs[pairs.model.isin(models) & (pairs["size"] > min(CHOOSING_SIZES))]
        if len(own):
            ratio = own[method].mean() / own[over].mean()
            # Both are 0 but for rounding where a model hardly errs.
            by_table = own.groupby("table")[[method, over]].mean().clip(lower=LEAST_CALIBRATION)
            lines[name] = {
                "tables": len(by_table),
                "cases": len(own),
                method: own[method].mean(),
                over: own[over].mean(),
                "ratio of the means": ratio,
                "geometric mean over tables": geometric_mean(by_table[method] / by_table[over]),
            }
    return pd.DataFrame.from_dict(lines, orient="index")


def in_its_place(figures, strong=("catboost", "stack")):
    """Share of rows still wrong after the most doubtful tenth was checked, and seconds, by what a user might do.

    Means over the draws that all of these models have; seconds are medians of the processor time of all that is needed.
    """
    figures = figures[figures.model.isin([*FIVE, *strong]) & figures.method.isin([OWN, OURS[0]])]
    draw = ["table", "n_train"]
    counts = figures.groupby(draw).model.transform("nunique")
    figures = figures[counts == len(FIVE) + len(strong)]
    lines = {}
    for size, of_size in [("all", figures), *figures.groupby("size")]:
        for name, models in {"one of the five": FIVE, **{one: (one,) for one in strong}}.items():
            for method in (OWN, OURS[0]):
                part = of_models(of_size, models)
                part = part[part.method == method]
                if len(part):
                    lines[f"{size} rows: {name}, {method}"] = {
                        "draws": part.groupby(draw).ngroups,
                        "wrong %": 100 * (part.test_errors / part.n_test).mean(),
                        "still wrong %": 100 * part.left_wrong.mean(),
                        "seconds": (part.seconds + part.model_seconds).median(),
                    }
    return pd.DataFrame.from_dict(lines, orient="index")


def when_to_replace(figures, strong="catboost"):
    """Watching a model or replacing it, by how many of its answers are wrong beside those of the strong model.

    One line a group of cases: those of the five that make up to 1.1, 1.1 to 1.5, and more times the errors.
    """
    part = figures[figures.method.isin([OWN, OURS[0]])]
    draw = ["table", "n_train"]
    own = part[(part.model == strong) & (part.method == OWN)].set_index(draw)
    watched = part[part.model.isin(FIVE) & (part.method == OURS[0])]
    watched = watched.join(own[["test_errors", "left_wrong"]].add_suffix("_strong"), on=draw)
    watched = watched.dropna(subset="left_wrong_strong")
    times = watched.test_errors / watched.test_errors_strong.clip(lower=1)
    lines = {}
    for name, least, most in (
        ("at most as many errors", 0, 1),
        ("up to 1.2 times", 1, 1.2),
        ("1.2 to 2 times", 1.2, 2),
        ("more than twice", 2, np.inf),
    ):
        group = watched[(times > least) & (times <= most)] if least else watched[times <= most]
        if len(group):
            lines[name] = {
                "cases": len(group),
                "watched: still wrong %": 100 * group.left_wrong.mean(),
                "replaced: still wrong %": 100 * group.left_wrong_strong.mean(),
                "watching is better %": 100 * (group.left_wrong < group.left_wrong_strong).mean(),
            }
    return pd.DataFrame.from_dict(lines, orient="index")


def worst_lines(figures, method, n_lines=10):
    """Largest ratios of a method."""
    part = with_ratios(figures)
    part = part[part.method == method].sort_values("ratio", ascending=False).head(n_lines)
    part = part.assign(n_train=part.n_train.astype(str))
    return part[["table", "model", "n_train", "training_errors", "test_errors", "ratio"]]


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
    few = ratios.test_errors < MANY_TEST_ERRORS
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


def by_size_lines(figures):
    """Mean ratio to own confidence around the five models, by method and number of training rows."""
    return with_ratios(figures).pivot_table(
        index="method", columns="size", values="ratio", aggfunc=geometric_mean, sort=False
    )


def summarize(figures, half=None):
    """Tables of the arena as text, of one half of the families; the rival is chosen on the first half in any case.

    At 8,000 rows, which only six tables have, surefoot is compared with the rivals on both halves.
    """
    of_five = of_models(figures)
    can_choose = (of_five.half == "chosen") & of_five["size"].isin(CHOOSING_SIZES)
    rival = strongest_rival(figures) if can_choose.any() else "—"
    large = figures[figures["size"] > max(CHOOSING_SIZES)]
    shown = figures if half is None else figures[figures.half == half]
    five = of_models(shown)
    by_model = with_ratios(shown).pivot_table(
        index="method", columns="model", values="ratio", aggfunc=geometric_mean, sort=False
    )
    ranked = standings(five)
    heading = (
        f"Half: {half or 'both'}. {shown.table.nunique()} tables, {shown.groupby(KEYS).ngroups} cases. AUGRC over that "
        f"of own confidence, geometric mean over cases with at least {LEAST_TEST_ERRORS} test errors, with a 95 % "
        f"bootstrap interval over tables. The strongest rival on the chosen-on half: {rival}"
    )
    parts = [
        (heading, ranked, "method"),
        ("By number of training rows, the five models", by_size_lines(five), "method"),
        ("Surefoot over each rival, the five models", over_rivals(shown), "rival"),
        ("Surefoot around the models", criteria(shown), "model"),
        ("The strongest rival around the models", criteria(shown, rival), "model"),
        ("Calibration, tables of 2,000 rows and more", calibration_lines(shown), "model"),
        ("After the most doubtful tenth was checked", in_its_place(shown), "what is done"),
        (
            "When CatBoost would replace the model",
            when_to_replace(shown),
            "errors beside CatBoost's",
        ),
        ("Largest ratios, the five models", extremes_lines(five).loc[ranked.index], "method"),
        ("Under 20 errors in the training rows, pooled", few_errors_lines(five), "method"),
        ("By model", by_model.loc[ranked.index], "method"),
        ("Largest ratios of surefoot", worst_lines(shown, OURS[0]).set_index("table"), "table"),
    ]
    if half == "reported" and len(large):
        parts.insert(3, ("8,000 rows, both halves", over_rivals(large), "rival"))
    return "\n\n".join(
        f"{title}\n\n{simple_table(f, first)}" for title, f, first in parts if len(f)
    )


def draw(figures, file):
    """Draw ranked dots with intervals: all cases, and those with few errors in the training rows."""
    from matplotlib.figure import Figure

    table = standings(of_models(figures))[::-1]
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
