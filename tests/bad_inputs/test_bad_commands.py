"""More than 250 bad uses of the commands: each gets one sentence, exit code 2, and changes nothing on disk."""

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
    "--estimator": (("tree", "Boosting", "", "model.h5"), "--estimator"),
    "--estimator=": (("model.pkl", "model.joblib"), "is a pickle"),
    "--estimator==": (("m.txt", "m.json", "m.cbm", "m.UBJ", "m.onnx"), "m."),
}
GROUPS = {"nothing": "has no column", "y": "both --target and --groups", "kind": "at least 5"}


def replaced(command, old, new):
    return [new if argument == old else argument for argument in command]


def tables():
    named = {name: sentence for name, (_, sentence) in bad_tables(good_table()).items()}
    named |= {"missing.csv": "no such file", "a-folder": "is a folder", "\0.csv": "embedded null"}
    for name, sentence in named.items():
        for kind, command in COMMANDS.items():
            yield f"{kind} {name!r}", replaced(command, "good.csv", name), sentence


def targets():
    """Columns that cannot be predicted; tests/cli/test_target.py has all of them, without the command."""
    columns = {
        "nothing": ("", "has no column"),
        "Y": ("", "is it 'y'?"),
        "constant": (["a"] * 60, "is a in every row"),
        "names": ([f"n{i}" for i in range(60)], "id or free text"),
        "few": (["a", "b"] * 5 + [None] * 50, "20 are needed"),
        "below": ([float("-inf"), 2.0, 3.0] * 20, "infinite"),
        "huge": ([i * 1e39 for i in range(60)], "no numbers above"),
        "larger": ([(-1) ** i * i * 1e300 for i in range(60)], "no numbers above"),
        "rare": (["a"] * 58 + ["b"] * 2, "Fewer than two classes", "--task", "classification"),
        "tenths": ([i % 25 / 10 for i in range(60)], "25 different", "--task", "classification"),
        "mixed": (["1", "x", "2"] * 20, "not a number", "--task", "regression"),
    }
    for name, (values, sentence, *extra) in columns.items():
        for kind in ("fit", "report"):
            yield f"{kind} target {name}", (kind, name, values, *extra), sentence


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
            words = "good.csv" if kind == "score" else ""
            yield f"{kind} over {name}", [*command[:-1], name], words
    over = replaced([*SCORE[:-1], "good.parquet"], "good.csv", "good.parquet")
    yield "score over parquet", over, "which is read: name another"
    yield (
        "fit over its estimator",
        [*FIT[:-1], "plain.skops", "--estimator", "plain.skops"],
        "would overwrite",
    )
    into = ["report", "a-folder", "--target", "y", "--out", "a-folder/new.html"]
    yield "report into the folder it reads", into, "which is read: write it elsewhere"
    for name, sentence in dict.fromkeys(
        ("good.csv", "link.csv"), "would overwrite good.csv"
    ).items():
        yield f"report scores over {name}", [*REPORT, "--scores", name], sentence
    for name in ("new.txt", "new.html", "a-folder", "missing/new.csv", "/dev/full"):
        yield f"report --scores {name}", [*REPORT, "--scores", name], ""


def values():
    for kind in ("fit", "report"):
        for option, (values, sentence) in SHARED_OPTIONS.items():
            for value in values:
                command = [*COMMANDS[kind], option.rstrip("="), value]
                yield f"{kind} {option} {value!r}", command, sentence
        for column, sentence in GROUPS.items():
            yield f"{kind} --groups {column}", [*COMMANDS[kind], "--groups", column], sentence
    for kind in ("report", "score"):
        for risk in ("0", "1", "-0.5", "7", "nan", "inf", "x", "", "5%"):
            yield f"{kind} --max-risk {risk!r}", [*COMMANDS[kind], "--max-risk", risk], "max-risk"
    for value in ("0", "1", "2", "-1", "nan", "inf", "x", "95%"):
        yield f"score --confidence {value!r}", [*SCORE, "--confidence", value], "confidence"
    for column in ("nothing", "X", ""):
        yield f"score --keep {column!r}", [*SCORE, "--keep", column], f"lacks {column!r}"


def misuse():
    for kind, command in COMMANDS.items():
        for extra in (["--nonsense"], ["more.csv"], ["--out"]):
            yield f"{kind} {extra}", [*command, *extra], ""
    for command in (["fit"], ["score"], ["fit", "good.csv"], ["score", "good.skops"], ["nonsense"]):
        yield f"{command} alone", command, ""
    yield "report without a target", ["report", "good.csv", "--out", "new.html"], "--target"


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


CASES = [*tables(), *targets(), *outputs(), *values(), *misuse(), *models()]


def test_there_are_enough_of_them_and_each_has_a_name():
    assert len({name for name, *_ in CASES}) == len(CASES) >= 250


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
