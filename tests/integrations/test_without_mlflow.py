"""Without MLflow its module can be imported, and whoever calls it is told what to install."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

CALLS = ["save_model(None, 'model')", "log_model(None, 'model')", "load_model('models:/churn/1')"]


@pytest.mark.parametrize("package", ["mlflow", pytest.param("skops", marks=pytest.mark.slow)])
def test_every_call_names_the_package_and_the_extra(tmp_path, package):
    code = f"""
import sys
sys.modules[{package!r}] = None
from surefoot.integrations.mlflow import load_model, log_model, save_model
for call in {CALLS!r}:
    try:
        eval(call)
    except ModuleNotFoundError as error:
        print(error)
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    missed = package if find_spec("mlflow") else "mlflow"  # which is imported first
    sentence = f"A model for MLflow needs {missed}, which the extra 'mlflow' has: pip install "
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(sentence) and line.endswith("[mlflow]'.") for line in lines)
