"""Three hundred bad uses of the commands: each gets one sentence, exit code 2, and changes nothing on disk."""

import os

import pytest
from bad_files import bad_models, bad_tables, good_table

from surefoot.cli import main

FIT = ["fit", "good.csv", "--target", "y", "--out", "new.skops"]
REPORT = ["report", "good.csv", "--target", "y", "--out", "new.html"]
SCORE = ["score", "good.skops", "good.csv", "--out", "new.csv"]
COMMANDS = {"fit": FIT, "report": REPORT, "score": SCORE}


SHARED_OPTIONS = {
    "--jobs": (("0", "99999999999", "-99999999999", "1025", "two", "1.5", ""), "jobs"),
    "--random-state": (("-1", "4294967296", "x", "1.5", "", "nan"), "random-state"),
    "--task": (("class", "Regression", "", "1"), "task"),
    "--estimator": (("tree", "Boosting", "", "model.onnx"), "--estimator"),
    "--estimator=": (("model.pkl", "model.joblib"), "is a pickle"),
    "--estimator==": (
        ("lightgbm.txt", "model.json", "model.cbm", "model.ubj"),
        "cannot check what the parser",
    ),
}
GROUPS = {
    "nothing": "has no column",
    "y": "both --target and --groups",
    "kind": "at least 5 are needed",
}


def replaced(command, old, new):
    return [new if argument == old else argument for argument in command]


def cases():
    yield from tables()
    yield from targets()
    yield from outputs()
    yield from options()
    yield from models()


def tables():
    named = {name: sentence for name, (_, sentence) in bad_tables(good_table()).items()}
    named |= {"missing.csv": "no such file", "a-folder": "is a folder", "\0.csv": "embedded null"}
    for name, sentence in named.items():
        for kind, command in COMMANDS.items():
            yield f"{kind} {name!r}", replaced(command, "good.csv", name), sentence


def targets():
    columns = {
        "nothing": ("", "has no column"),
        "Y": ("", "is it 'y'?"),
        "é": ("", "has no column"),
        "constant": (["a"] * 60, "is a in every row"),
        "number": ([3] * 60, "in every row"),
        "names": ([f"n{i}" for i in range(60)], "id or free text"),
        "rare": (["a"] * 58 + ["b"] * 2, "Fewer than two classes of 'rare' have 5 rows"),
        "rarer": (["a"] * 52 + list("bcdefghi"), "Fewer than two classes of 'rarer' have 5 rows"),
        "gaps": ([None] * 60, "is empty"),
        "few": (["a", "b"] * 5 + [None] * 50, "20 are needed"),
        "endless": ([1.0, float("inf")] * 30, "infinite"),
        "below": ([float("-inf"), 2.0, 3.0] * 20, "infinite"),
        "huge": ([i * 1e39 for i in range(60)], "no numbers above"),
        "larger": ([(-1) ** i * i * 1e300 for i in range(60)], "no numbers above"),
    }
    for name, (values, sentence) in columns.items():
        for kind in ("fit", "report"):
            yield f"{kind} target {name}", (kind, name, values), sentence
    for name, values, sentence in [
        ("rare", ["a"] * 58 + ["b"] * 2, "Fewer than two classes"),
        ("codes", list(range(60)), "60 different numbers in 60 rows, too many for classes"),
        ("tenths", [i % 25 / 10 for i in range(60)], "25 different numbers"),
    ]:
        for kind in ("fit", "report"):
            extra = ["--task", "classification"]
            yield f"{kind} {name} as classes", (kind, name, values, *extra), sentence
    for name, values in {"texts": ["a", "b"] * 30, "mixed": ["1", "x", "2"] * 20}.items():
        for kind in ("fit", "report"):
            extra = ["--task", "regression"]
            yield f"{kind} {name} as numbers", (kind, name, values, *extra), "not a number"


def outputs():
    places = {
        "a-folder": "",
        "missing/new": "no folder",
        "/dev/full": "device",
        "/dev/stdout": "device",
        "/proc/self/fd/1": "device",
        "stdout": "device",
        "null": "device",
        "x" * 300: "too long",
        "": "",
    }
    endings = {"fit": ".skops", "report": ".html", "score": ".csv"}
    for kind, command in COMMANDS.items():
        for place, sentence in places.items():
            if kind == "score" and place == "a-folder":  # an empty folder gets the parts
                continue
            whole = place if place.startswith(("/", "a-")) or not place else place + endings[kind]
            yield f"{kind} --out {place[:20]!r}", [*command[:-1], whole], sentence or "folder"
        for name in ("new.txt", "new", "new.pkl", "new.xlsx", "new.json"):
            if kind == "score" and name == "new":  # a folder is made
                continue
            yield f"{kind} --out {name}", [*command[:-1], name], f"{name} must end in"
        for name in ("good.csv", "link.csv", "./good.csv", "a-folder/../good.csv"):
            yield (
                f"{kind} over {name}",
                [*command[:-1], name],
                "good.csv" if kind == "score" else "",
            )
    yield (
        "score over parquet",
        replaced([*SCORE[:-1], "good.parquet"], "good.csv", "good.parquet"),
        "also",
    )
    yield "fit over its estimator", [*FIT[:-1], "plain.skops", "--estimator", "plain.skops"], "also"
    yield "report over its scores", [*REPORT, "--scores", "good.csv"], "also good.csv"
    into = ["report", "a-folder", "--target", "y", "--out", "a-folder/new.html"]
    yield "report into the folder it reads", into, "which is read: write it elsewhere"
    yield "report scores over link", [*REPORT, "--scores", "link.csv"], "also good.csv"
    for name in ("new.txt", "new.html", "a-folder", "missing/new.csv", "/dev/full"):
        yield f"report --scores {name}", [*REPORT, "--scores", name], ""


def options():
    yield from shared_options()
    yield from options_of_score()
    for kind, command in COMMANDS.items():
        for extra in (["--nonsense"], ["more.csv"], ["--out"]):
            yield f"{kind} {extra}", [*command, *extra], ""
    for command in (["fit"], ["score"], ["fit", "good.csv"], ["score", "good.skops"], ["nonsense"]):
        yield f"{command} alone", command, ""
    yield "report without a target", ["report", "good.csv", "--out", "new.html"], "--target"


def shared_options():
    for kind in ("fit", "report"):
        for option, (values, sentence) in SHARED_OPTIONS.items():
            for value in values:
                yield (
                    f"{kind} {option} {value!r}",
                    [*COMMANDS[kind], option.rstrip("="), value],
                    sentence,
                )
        for column, sentence in GROUPS.items():
            yield f"{kind} --groups {column}", [*COMMANDS[kind], "--groups", column], sentence


def options_of_score():
    for kind in ("report", "score"):
        for risk in ("0", "1", "-0.5", "7", "nan", "inf", "x", "", "5%"):
            yield f"{kind} --max-risk {risk!r}", [*COMMANDS[kind], "--max-risk", risk], "max-risk"
    for confidence in ("0", "1", "2", "-1", "nan", "inf", "x", "95%"):
        yield (
            f"score --confidence {confidence!r}",
            [*SCORE, "--confidence", confidence],
            "confidence",
        )
    for column in ("nothing", "X", ""):
        yield f"score --keep {column!r}", [*SCORE, "--keep", column], "column"


def models():
    named = {name: sentence for name, (_, sentence) in bad_models().items()}
    named |= {
        "missing.skops": "no such file",
        "a-folder/no.skops": "no such file",
        "no-schema.skops": "broken",
        "clusters.skops": "",
        "dict.skops": "holds a dict",
        "unfitted.skops": "",
    }
    for name, sentence in named.items():
        yield f"score with {name}", replaced(SCORE, "good.skops", name), sentence
        if name == "unfitted.skops":
            continue
        yield f"fit with {name}", [*FIT, "--estimator", name], sentence
        yield f"report on {name}", [*REPORT, "--estimator", name], sentence
    yield "score with a plain model", replaced(SCORE, "good.skops", "plain.skops"), "surefoot fit"
    for kind in ("fit", "report"):
        wrong = replaced(COMMANDS[kind], "y", "amount")
        yield f"{kind} classes on numbers", [*wrong, "--estimator", "plain.skops"], ""
        regression = [*COMMANDS[kind], "--estimator", "plain.skops", "--task", "regression"]
        yield f"{kind} with the wrong task", regression, "classification"


CASES = list(cases())


def test_there_are_enough_of_them_and_each_has_a_name():
    assert len({name for name, *_ in CASES}) == len(CASES) >= 300


@pytest.mark.parametrize(("command", "names"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_one_sentence_and_nothing_changed(command, names, folder, snapshot, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    extra = None
    if isinstance(command, tuple):
        kind, column, values, *more = command
        extra = folder / "extra.csv"
        table = good_table()
        (table.assign(**{column: values}) if len(values) else table).to_csv(extra, index=False)
        changed = replaced(replaced(COMMANDS[kind], "good.csv", "extra.csv"), "y", column)
        command = [*changed, *more]
    before = snapshot()
    with pytest.raises(SystemExit) as left:
        main(list(map(os.fspath, command)))
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    *remarks, sentence = err.strip().splitlines()
    assert "Traceback" not in err
    assert names in sentence
    assert snapshot() == before
    assert all(remark.endswith((".", "?")) for remark in remarks)
    if extra is not None:
        extra.unlink()
