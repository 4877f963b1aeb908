"""The commands load no file of a booster, neither its own kind nor a skops file that holds one."""

import pytest
from skops.io import dump

from surefoot.cli import main

OWN = {
    "lightgbm": (".txt", lambda model, path: model.booster_.save_model(path)),
    "xgboost": (".json", lambda model, path: model.save_model(path)),
    "catboost": (".cbm", lambda model, path: model.save_model(str(path))),
}


def refusal(capsys, data, model):
    """What the command says: one line, exit code 2."""
    with pytest.raises(SystemExit) as left:
        main(["report", str(data), "--target", "leaves", "--estimator", str(model)])
    out, err = capsys.readouterr()
    assert (left.value.code, out, err.count("\n")) == (2, "", 1)
    return err


@pytest.fixture
def fitted(booster, table, classes, tmp_path):
    data = tmp_path / "table.csv"
    X = booster.rows(table)
    X.assign(leaves=classes).to_csv(data, index=False)
    return booster.make("Classifier").fit(X, classes), data


def test_a_file_of_its_own_kind(booster, fitted, capsys, tmp_path):
    model, data = fitted
    ending, save = OWN[booster.library]
    path = tmp_path / f"model{ending}"
    save(model, path)
    assert "cannot check what the parser of" in refusal(capsys, data, path)


def test_a_skops_file_that_holds_one(booster, fitted, capsys, tmp_path):
    model, data = fitted
    path = tmp_path / "model.skops"
    dump(model, path)
    sentence = refusal(capsys, data, path)
    assert sentence.startswith(f"{path} is not loaded: it holds ")
    assert f"'{booster.library}." in sentence
    assert sentence.endswith("which surefoot does not trust.\n")
