# Everything runs in .venv, which the first command makes.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test test-all mlflow coverage boosters spark matrix check format docs docs-quick pictures bench build release-check clean
.DEFAULT_GOAL := demo

.venv/pip: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --quiet --constraint constraints.txt --upgrade pip
	touch $@

.venv/demo: .venv/pip pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --editable '.[cli,plots]'
	touch $@

.venv/dev: .venv/pip pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --editable '.[label,plots,dask]' --group dev
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

.venv/release: .venv/pip pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --group release
	touch $@

.venv-boosters/done: constraints.txt pyproject.toml
	test -x .venv-boosters/bin/python || $(PYTHON) -m venv .venv-boosters
	.venv-boosters/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	.venv-boosters/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[cli]' --group boosters
	touch $@

.venv-spark/done: constraints.txt pyproject.toml
	test -x .venv-spark/bin/python || $(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	.venv-spark/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[cli]' --group spark
	touch $@

demo: .venv/demo  ## the report on an example that comes with surefoot
	$(BIN)/surefoot report --out surefoot-report.html

test: .venv/dev  ## what a user relies on, docstring examples included
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m 'not slow'

test-all: .venv/dev  ## everything: experiments, kills and fuzzing too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

mlflow: .venv-mlflow/installed  ## the tests against a real MLflow, in an environment of their own
	OMP_NUM_THREADS=1 MLFLOW_DISABLE_TELEMETRY=true .venv-mlflow/bin/python -m pytest tests/integrations src/surefoot/integrations

coverage: .venv/coverage  ## the suite again, slower: which lines no test runs, in build/coverage
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal --cov --cov-report term --cov-report html

boosters: .venv-boosters/done  ## LightGBM, XGBoost and CatBoost, in an environment of their own
	OMP_NUM_THREADS=1 .venv-boosters/bin/python -m pytest tests/boosters

spark: .venv-spark/done  ## Spark with two local workers, in an environment of its own; needs Java 17 or newer
	OMP_NUM_THREADS=1 .venv-spark/bin/python -m pytest tests/spark

matrix: .venv/dev  ## a part of the suite with other versions and Pythons; all of it as on other processors; two hours
	.ci/matrix

check: .venv/dev  ## style, types, layers, public names; prints how large the library is, and the limits
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --quiet --capture=no tests/test_architecture.py tests/test_walk.py

format: .venv/dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: .venv/dev  ## the pages land in docs/_build/html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -j 2 -b html docs docs/_build/html

docs-quick: .venv/dev  ## the same without running the examples: do all pages and links build? in docs/_build/quick
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -j 2 -D plot_gallery=0 -b html docs docs/_build/quick

pictures: .venv/dev  ## draw the pictures of the guide again, from the code on its pages
	$(BIN)/python docs/pictures.py

bench: .venv/dev  ## ratios against the alternatives, a line a script; what they print is in build/bench
	$(BIN)/python -m benchmarks

build: .venv/release  ## a wheel and an sdist, in dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist

release-check: build  ## what was built, in empty environments: the README's example, the commands, the tests without data
	.ci/release-check

clean:
	rm -rf .venv .venv-boosters .venv-matrix .venv-mlflow .venv-spark .coverage docs/_build docs/gallery docs/api build dist
