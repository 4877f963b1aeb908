# Everything runs in .venv, which the first command makes.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test mlflow coverage check format docs bench clean
.DEFAULT_GOAL := demo

.venv/pip: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --quiet --constraint constraints.txt --upgrade pip
	touch $@

.venv/demo: .venv/pip pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --editable '.[cli,plots]'
	touch $@

.venv/dev: .venv/pip pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --editable '.[cli,plots]' --group dev
	touch $@ .venv/demo

.venv/coverage: .venv/dev
	$(PIP) install --quiet --constraint constraints.txt --group coverage
	touch $@

# Without the constraints: MLflow caps packages below the versions there.
.venv-mlflow/installed: pyproject.toml
	test -x .venv-mlflow/bin/python || $(PYTHON) -m venv .venv-mlflow
	.venv-mlflow/bin/python -m pip --disable-pip-version-check install --quiet --upgrade 'pip>=25.1'
	.venv-mlflow/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[mlflow]' --group mlflow
	touch $@

demo: .venv/demo  ## the report on an example that comes with surefoot
	$(BIN)/surefoot report --out surefoot-report.html

test: .venv/dev  ## the whole suite, docstring examples included
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2

mlflow: .venv-mlflow/installed  ## the tests against a real MLflow, in an environment of their own
	OMP_NUM_THREADS=1 MLFLOW_DISABLE_TELEMETRY=true .venv-mlflow/bin/python -m pytest tests/integrations src/surefoot/integrations docs/guide/mlflow.rst

coverage: .venv/coverage  ## the suite again, slower: which lines no test runs, in build/coverage
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --cov --cov-report term --cov-report html

check: .venv/dev  ## style, types, layers, public names, lengths
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --quiet tests/test_architecture.py

format: .venv/dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: .venv/dev  ## the pages land in docs/_build/html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -j 2 -b html docs docs/_build/html

bench: .venv/dev  ## ratios against the alternatives, in one run
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv .venv-mlflow .coverage docs/_build docs/gallery docs/api build dist
