"""Whether every number in the sentences of a report is that of its rows.

Tables go through `surefoot report --scores`. Each sentence and figure of the page's first four sections, and each one
on the rows in its details, must fit one of the patterns below; its numbers are computed anew, in plain numpy, from the
file of `--scores` alone. A number agrees if it is the computed one within the rounding of its last digit. Sentences on
refits (what would help), on bootstraps and on rules of other columns cannot be computed from that file; they are
counted. Intervals are computed twice, with copies of a row as one unit and with every row by itself: which it is
depends on whether copies are a coincidence. The verdict must name the class with the lowest recall wherever that is ten
points below the accuracy.
"""

import contextlib
import io
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.metrics import r2_score

from reproduction.data import fetch_table, list_tables
from surefoot.cli import main

MOST_ROWS = 1500
N_TABLES = {"classification": 24, "regression": 6}
BLOCKS = {"p", "li", "small", "td", "th", "h2", "h3", "figcaption", "output", "label", "button"}

# Sentences whose numbers come from elsewhere: refits, resamples, other columns, settings of the run.
ELSEWHERE = re.compile(
    r"would make|made by surefoot|fitting on|gain |augrc|smooth calibration error|principal components|worst where|"
    r"no region|elsewhere|after recalibration|winkler|held out in|answers .* of rows, up to|limit for the|for new rows|"
    r"interval|confidence$|to a random order|at random|counted from 0|of that change|change of the|^loss|^own_error|"
    r"^rows |^models |residual of each row|<=|each point|the first \d+ of|in the order|may give the target away|labels|"
    r"copies|have a copy|surefoot report|--groups|depend on each",
    re.IGNORECASE,
)


class Sentences(HTMLParser):
    """Texts with digits in the blocks of a page, each with the section it is in."""

    def __init__(self, page):
        super().__init__()
        self.found, self.section, self.text, self.hidden = [], None, "", 0
        self.feed(page)
        self.end()

    def end(self):
        """Keep the text of a block."""
        text = re.sub(r"\s+", " ", self.text).strip()
        if re.search(r"\d", text):
            self.found.append((self.section, text))
        self.text = ""

    def handle_starttag(self, tag, attrs):
        """Begin a block or a section."""
        self.hidden += tag in ("script", "style", "svg", "template")
        if tag in BLOCKS | {"section", "div", "details"}:
            self.end()
        if tag == "section":
            self.section = dict(attrs).get("id", self.section)

    def handle_endtag(self, tag):
        """End a block."""
        self.hidden -= tag in ("script", "style", "svg", "template")
        if tag in BLOCKS | {"section", "div", "details"}:
            self.end()

    def handle_data(self, data):
        """Add to the block's text."""
        if not self.hidden:
            self.text += data


def agrees(text, value):
    """Whether a number as it is written is a value, within the rounding of its last digit."""
    if text in ("none", "fewer than 1"):
        return value < 0.5 and (value == 0) == (text == "none")
    scale = 100 if "%" in text else 1
    if text.startswith("below"):
        return 0 < scale * value < 0.01
    digits = re.sub(r"[^\d.e−-]", "", text).replace("−", "-")
    decimals = len(digits.split("e")[0].partition(".")[2])
    shown = float(digits)
    step = 10.0**-decimals * (10.0 ** int(digits.split("e")[1]) if "e" in digits else 1)
    if scale == 100 and 99 < shown < 100:  # never rounded up to 100 %
        return 0 <= scale * value - shown < step + 1e-9
    if shown == 0:
        return abs(scale * value) < step
    digits_lost = 10.0 ** max(0, len(digits.partition(".")[0].lstrip("-")) - 3)
    return abs(scale * value - shown) <= max(step, digits_lost if "," in text else 0) / 2 + 1e-9


class Facts:
    """What the rows of a file of `--scores` say."""

    def __init__(self, scores, table):
        self.scores = scores
        inputs = table.drop(columns="target").iloc[scores["row"]]
        self.units = inputs.groupby(list(inputs), dropna=False, sort=False).ngroup().to_numpy()
        self.loss = scores["loss"].to_numpy(float)
        self.estimate = scores["estimated_error"].to_numpy()
        self.truth, self.prediction = scores["truth"], scores["prediction"]
        self.classifies = any(name.startswith("probability_") for name in scores)
        self.n = len(scores)
        self.coverage = None  # of the slider, where nothing is promised
        self.accepted = scores["accepted"].to_numpy(bool) if "accepted" in scores else None
        doubt = np.where(scores["novel"], np.inf, self.estimate)
        self.doubts = {"surefoot": doubt}
        if "own_error" in scores:
            self.doubts["own"] = scores["own_error"].to_numpy()

    def constant(self):
        """Mean loss of the best constant prediction, and that constant as the page names it."""
        if not self.classifies:
            return np.abs(self.truth - np.median(self.truth)).mean(), "the median"
        counts = self.truth.astype(str).value_counts()
        return 1 - counts.max() / self.n, counts.index[0]

    def caught(self, share, by="surefoot"):
        """Share of the loss among the most doubtful rows, expected over the order of equal doubts."""
        doubt = self.doubts[by]
        order = np.argsort(-doubt, kind="stable")
        n_checked = share * self.n
        cut = doubt[order][min(int(np.ceil(n_checked - 1e-9)), self.n) - 1]
        above, at = doubt > cut, doubt == cut
        part = (n_checked - above.sum()) / at.sum()
        return (self.loss[above].sum() + part * self.loss[at].sum()) / self.loss.sum()

    def risk(self, by="surefoot"):
        """Mean loss of the answered rows; without a promise the last of them may be a part of a row."""
        coverage = self.coverage or self.accepted.mean()
        lost = self.loss.sum() * (1 - self.caught(1 - coverage, by))
        return lost / (coverage * self.n)

    def recall(self, label):
        """Rows of a class, and those that are found."""
        mine = (self.truth.astype(str) == label).to_numpy()
        return mine, mine & (self.loss == 0)

    def lowest(self):
        """Recall of the class that is found least."""
        return min(
            (f.sum() / m.sum(), c) for c in set(self.truth.astype(str)) for m, f in [self.recall(c)]
        )


def share_ends(facts, rows, hits):
    """Wilson's 95 % interval of the share of hits, with every row by itself and with copies as one unit."""
    n_rows, share = len(rows), hits.mean()
    sums = pd.Series(hits - share).groupby(facts.units[rows]).sum()
    variance = len(sums) / max(len(sums) - 1, 1) * (sums**2).sum()
    n_counted = share * (1 - share) * n_rows**2 / variance if variance else len(sums)
    z, ends = norm.ppf(0.975), []
    for n in (n_rows, min(max(n_counted, 1), n_rows)):
        middle = (share * n + z * z / 2) / (n + z * z)
        half = z / (n + z * z) * np.sqrt(n * share * (1 - share) + z * z / 4)
        ends.append((middle - half, middle + half))
    return list(zip(*ends, strict=True))


def mean_ends(facts, values):
    """Student's 95 % interval of a mean, in both ways."""
    ends = []
    for units in (np.arange(facts.n), facts.units):
        sums = pd.Series(values - values.mean()).groupby(units).sum()
        spread = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / facts.n
        half = student.ppf(0.975, len(sums) - 1) * spread
        ends.append((values.mean() - half, values.mean() + half))
    return list(zip(*ends, strict=True))


def of_error(facts):
    """Mean loss of all rows."""
    return facts.loss.mean()


def headline_rare(facts, found, label, error, baseline, constant):
    """Recall of the rarest class, the error, and that of the commonest class always."""
    mine, right = facts.recall(label)
    worst, name = facts.constant()
    shares = facts.truth.astype(str).value_counts()
    return [
        (found, right.sum() / mine.sum()),
        (error, of_error(facts)),
        (baseline, worst),
        (f"{shares[label]}", shares.min()),
        (f"{shares[constant]}", shares[name]),
    ]


def decision(facts, answered, wrong, left, found):
    """Of 1,000 cases: answered and wrong, left and wrong."""
    per, inside = 1000 / facts.n, facts.accepted
    return [
        (answered, round(per * inside.sum())),
        (left, 1000 - round(per * inside.sum())),
        (wrong, per * facts.loss[inside].sum()),
        (found, per * facts.loss[~inside].sum()),
    ]


def decision_of_sizes(facts, answered, error, left, other):
    """Of 1,000 cases: answered and left, with their mean errors."""
    inside = facts.accepted
    return [
        (answered, round(1000 * inside.mean())),
        (left, 1000 - round(1000 * inside.mean())),
        (error, facts.loss[inside].mean()),
        (other, facts.loss[~inside].mean()),
    ]


def least_found(facts, label, found, n_rows, share, low, high):
    """Recall of a class with its interval; it must be the lowest of all."""
    mine, right = facts.recall(label)
    ends = share_ends(facts, np.flatnonzero(mine), right[mine].astype(float))
    return [
        (found, right.sum()),
        (n_rows, mine.sum()),
        (share, right.sum() / mine.sum()),
        (share, facts.lowest()[0]),
        (low, ends[0]),
        (high, ends[1]),
    ]


def least_found_answered(facts, label, n_rows, missed):
    """Answered rows of a class, and those that are missed."""
    mine, right = facts.recall(label)
    answered = mine & facts.accepted
    return [(n_rows, answered.sum()), (missed, (answered & ~right).sum())]


def range_of_error(facts, low, high, _, baseline):
    """Interval of the error, or of what is right, and the figure of a constant."""
    lows, highs = mean_ends(facts, facts.loss)
    if facts.classifies:
        wilson = share_ends(facts, np.arange(facts.n), facts.loss)
        lows, highs = (lows[1], wilson[0][0]), (highs[1], wilson[1][0])
    constant = facts.constant()[0]
    if facts.classifies and of_error(facts) >= 0.05:
        lows, highs = (tuple(1 - end for end in ends) for ends in (highs, lows))
        constant = 1 - constant
    return [(low, lows), (high, highs), (baseline, constant)]


def answered(facts, share, n_rows, rest, n_rest):
    """Answered rows and the others."""
    inside = facts.accepted
    return [
        (share, inside.mean()),
        (n_rows, inside.sum()),
        (rest, 1 - inside.mean()),
        (n_rest, (~inside).sum()),
    ]


def top_rows(facts, n_rows, estimate, n_wrong, share, low, high):
    """Rows with the highest estimates, and how many are wrong."""
    top = np.argsort(-facts.estimate, kind="stable")[: int(n_rows.replace(",", ""))]
    ends = share_ends(facts, top, facts.loss[top])
    return [
        (estimate, facts.estimate[top].mean()),
        (n_wrong, facts.loss[top].sum()),
        (share, facts.loss[top].mean()),
        (low, ends[0]),
        (high, ends[1]),
    ]


def top_sizes(facts, n_rows, estimate, error):
    """Rows with the highest estimates, and their mean error."""
    top = np.argsort(-facts.estimate, kind="stable")[: int(n_rows.replace(",", ""))]
    return [(estimate, facts.estimate[top].mean()), (error, facts.loss[top].mean())]


def expected(facts, total, made, low, high):
    """Expected and made mistakes, and how many the estimates allow by chance."""
    mean, lows = facts.estimate.sum(), mean_ends(facts, facts.loss - facts.estimate)[0]
    reach = [facts.n * (np.mean(facts.loss - facts.estimate) - end) for end in lows]
    return [
        (total, mean),
        (made, facts.loss.sum()),
        (low, [mean - each for each in reach]),
        (high, [mean + each for each in reach]),
    ]


def tenths_kept(facts, kept, n_tenths):
    """Tenths of the rows whose interval holds their mean estimate."""
    if not facts.classifies:
        return []  # its intervals are of means
    limits = np.quantile(facts.estimate, np.arange(1, int(n_tenths)) / int(n_tenths))
    places = np.searchsorted(limits, facts.estimate)
    inside = []
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        lows, highs = share_ends(facts, rows, facts.loss[rows])
        mean = facts.estimate[rows].mean()
        inside.append([low <= mean <= high for low, high in zip(lows, highs, strict=True)])
    return [(kept, np.sum(inside, axis=0))]


def risks_of_others(facts, own, best):
    """Mean loss of as many answered rows by own confidence, and at best."""
    facts.doubts["best"] = facts.loss
    return [(own, facts.risk("own")), (best, facts.risk("best"))]


def caught_if_checked(facts, share, other):
    """Share of the loss in a tenth of the rows, by both orders."""
    return [
        (share, facts.caught(0.1)),
        *([] if other is None else [(other, facts.caught(0.1, "own"))]),
    ]


N = r"((?:below )?−?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: %)?|none|fewer than 1)"
PATTERNS = [
    (rf"Right {N} of the time\.", lambda f, x: [(x, 1 - of_error(f))]),
    (
        rf"Wrong on {N} of rows; {N} if it always said “.*”\.",
        lambda f, e, b: [(e, of_error(f)), (b, f.constant()[0])],
    ),
    (rf"Off by {N} on average\.", lambda f, x: [(x, of_error(f))]),
    (
        rf"Finds {N} of class “(.*)”; {N} of all rows are wrong, {N} if it always said “(.*)”\.",
        headline_rare,
    ),
    (
        (
            rf"Of 1,000 such cases, {N} are answered automatically, (?:about )?{N} of them wrong; the {N} with the "
            rf"highest estimated error go to a person, who can find (?:about )?{N} mistakes of the model\."
        ),
        decision,
    ),
    (
        (
            rf"Of 1,000 such cases, {N} are answered automatically, off by {N} on average; the {N} with the highest "
            rf"estimated error go to a person, where the model is off by {N} on average\."
        ),
        decision_of_sizes,
    ),
    (
        (
            rf"If a person checked 100 of 1,000 such cases, those with the highest estimated error, they would catch "
            rf"{N} of its .*; {N} if the cases were chosen by the model's own confidence"
        ),
        caught_if_checked,
    ),
    (
        rf"The class that is found least is “(.*?)”: {N} of its {N} rows, {N} \({N} to {N}\)\.",
        least_found,
    ),
    (
        rf"found least is “(.*?)”.*Of the {N} of them that are answered, {N} (?:is|are) missed",
        least_found_answered,
    ),
    (rf"^{N} to {N}; always predicting “?(.*?)”?: {N}$", range_of_error),
    (
        rf"^{N} of the (?:mistakes|error|cost) caught by checking 10 % of the rows",
        lambda f, x: [(x, f.caught(0.1))],
    ),
    (rf"chosen by its own confidence: {N}", lambda f, x: [(x, f.caught(0.1, "own"))]),
    (rf"^{N} of the rows can be answered", lambda f, x: [(x, f.accepted.mean())]),
    (rf"Answer {N} of the rows \({N}\) and give {N} \({N}\) to a person", answered),
    (
        rf"^{N} (?:share of wrong answers|mean error) in the answered rows",
        lambda f, x: [(x, f.risk())],
    ),
    (
        rf"^{N} of (?:all mistakes|the total error|the total cost) caught by the person",
        lambda f, x: [(x, f.loss[~f.accepted].sum() / f.loss.sum())],
    ),
    (rf", {N} if all rows are answered", lambda f, x: [(x, of_error(f))]),
    (
        rf"^{N} highest estimated error that is answered",
        lambda f, x: [(x, f.estimate[f.accepted].max())],
    ),
    (rf"^All {N} held-out rows", lambda f, x: [(x, f.n)]),
    (rf"“answer” for the {N} of all rows", lambda f, x: [(x, f.accepted.mean())]),
    (
        rf"The estimated errors add up to {N} mistakes?; the model made {N}\. If the estimates are right, {N} to {N}",
        expected,
    ),
    (
        rf"The estimated errors are {N} on average; the mean error is {N}\.",
        lambda f, a, b: [(a, f.estimate.mean()), (b, of_error(f))],
    ),
    (
        (
            rf"The {N} rows with the highest estimates have {N} on average, and {N} (?:is|are) wrong "
            rf"\({N}, 95 % interval {N} to {N}\)"
        ),
        top_rows,
    ),
    (
        rf"The {N} rows with the highest estimates have {N} on average, and their mean error is {N},",
        top_sizes,
    ),
    (rf"in {N} of {N} tenths of the rows", tenths_kept),
    (
        rf"^{N} if chosen by the model's own confidence$",
        lambda f, x: [(x, f.caught(1 - (f.coverage or f.accepted.mean()), "own"))],
    ),
    (
        rf"^{N} if chosen by the model's own confidence, {N} with the best possible choice",
        risks_of_others,
    ),
    (
        rf"always predicting the mean: {N}$",
        lambda f, x: [(x, f.truth.std(ddof=0))],
    ),
    (rf"^{N} R²", lambda f, x: [(x, r2_score(f.truth, f.prediction))]),
    (rf"of all held-out rows: {N}$", lambda f, x: [(x, of_error(f))]),
    (
        rf"{N} of the 90 % conformal intervals contain",
        lambda f, x: [(x, np.mean((f.truth >= f.scores["low"]) & (f.truth <= f.scores["high"])))],
    ),
    (
        rf"their mean width is {N}",
        lambda f, x: [(x, np.mean(f.scores["high"] - f.scores["low"]))],
    ),
    (
        rf"explain {N} of the variance of the true values",
        lambda f, x: [(x, r2_score(f.truth, f.prediction))],
    ),
    (rf"^{N} RMSE", lambda f, x: [(x, np.sqrt(np.mean((f.truth - f.prediction) ** 2)))]),
    (rf"^{N} MAE", lambda f, x: [(x, of_error(f))]),
    (rf"own confidence, on {N} mistakes?\.", lambda f, x: [(x, f.loss.sum())]),
]


def check_page(page, facts):
    """Numbers that agree, those that differ with their sentence, and sentences that no pattern fits."""
    n_right, different, unknown = 0, [], []
    if facts.accepted is None:  # nothing is promised: the rows are those of the slider
        texts = " ".join(text for _, text in Sentences(page).found)
        shown = re.search(r"Answer ([\d.]+) % of the rows \(([\d,]+)\)", texts)
        ranks = np.argsort(np.argsort(facts.doubts["surefoot"], kind="stable"))
        if shown:
            facts.accepted = ranks < int(shown[2].replace(",", ""))
            facts.coverage = float(shown[1]) / 100
    for section, text in Sentences(page).found:
        matched = False
        for pattern, compute in PATTERNS:
            if match := re.search(pattern, text):
                matched = True
                for shown, value in compute(facts, *match.groups()):
                    if any(agrees(shown, each) for each in np.atleast_1d(value)):
                        n_right += 1
                    else:
                        different.append(f"{text}: {shown}, computed {value}")
        if not matched and len(text) > 25 and not ELSEWHERE.search(text):
            unknown.append(f"[{section}] {text}")
    return n_right, different, unknown


def sentences(n_tables):
    """Print for each table how many numbers agree and differ, and sentences that were not checked."""
    totals, seen = np.zeros(3, int), set()
    for task, most in N_TABLES.items():
        for name in (list_tables(task, "tabular") + list_tables(task, "pmlb"))[:most][:n_tables]:
            with tempfile.TemporaryDirectory() as folder:
                page, *tables = run_report(name, task, Path(folder))
            facts = Facts(*tables)
            n_right, different, unknown = check_page(page, facts)
            named = "" if names_lowest(page, facts) else "  LOWEST RECALL NOT NAMED"
            print(
                f"{name:<32} {n_right:>4} numbers agree, {len(different)} differ{named}", flush=True
            )
            for line in different:
                print(f"    {line}")
            for line in unknown:
                if re.sub(r"\d", "", line) not in seen:
                    seen.add(re.sub(r"\d", "", line))
                    print(f"    not checked: {line}")
            totals += [n_right, len(different), bool(named)]
    print(
        f"{totals[0]} numbers agree, {totals[1]} differ; lowest recall not named: {totals[2]} tables"
    )


def run_report(name, task, folder):
    """Page and scores of the command for a table, and the table as it was read."""
    X, y = fetch_table(name)
    table = pd.DataFrame(X).add_prefix("c").assign(target=y)
    table = table.sample(min(len(table), MOST_ROWS), random_state=0)
    table.to_csv(folder / "table.csv", index=False)
    options = ["--target", "target", "--task", task, "--quick"]
    files = ["--out", str(folder / "page.html"), "--scores", str(folder / "scores.csv")]
    quiet = io.StringIO()
    with (
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
        contextlib.suppress(SystemExit),
    ):
        main(["report", str(folder / "table.csv"), *options, *files])
    page = (folder / "page.html").read_text("utf-8")
    return page, pd.read_csv(folder / "scores.csv"), pd.read_csv(folder / "table.csv")


def names_lowest(page, facts):
    """Whether the verdict names the class with the lowest recall, where it is ten points below the accuracy."""
    if not facts.classifies:
        return True
    recall, label = facts.lowest()
    verdict = [text for section, text in Sentences(page).found if section == "verdict"]
    return recall > 1 - of_error(facts) - 0.1 or any(f"“{label}”" in text for text in verdict)
