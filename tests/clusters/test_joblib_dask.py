"""Fits, resampling, simulations and experiments through joblib's backend for Dask: the results of one process."""

import os

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from reproduction import duda_figure_9_4
from surefoot import IndividualErrorClassifier
from surefoot.active_learning import simulate
from surefoot.resampling import bias_variance, bootstrap

X, y = load_breast_cancer(return_X_y=True)


def fit(_):
    sure = IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0)
    return sure.fit(X[:100], y[:100]).judge(X[200:300]).error


def resample(_):
    return bootstrap(X[:, 0], lambda sample: sample.mean(), random_state=0).replicates


def decompose(_):
    return bias_variance(Ridge(), X[:200], y[:200], X[200:], y[200:], random_state=0).error


def ask(_):
    options = {"n_labels": 14, "batch_size": 2, "n_repeats": 2, "random_state": 0}
    return simulate(GaussianNB(), X, y, ["confidence"], **options).accuracy["confidence"]


def experiment(folder):
    duda_figure_9_4.run(folder, quick=True)
    return pd.concat([pd.read_csv(table) for table in folder.glob("*.csv")]).select_dtypes("number")


@pytest.mark.parametrize(
    "work", [fit, resample, decompose, ask, pytest.param(experiment, marks=pytest.mark.slow)]
)
def test_a_cluster_gives_the_results_of_one_process(client, work, tmp_path):
    def n_steps():
        return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)

    expected, before = work(tmp_path), n_steps()
    assert expected.size > 0
    with joblib.parallel_config("dask"):
        results = work(tmp_path)
    np.testing.assert_allclose(results, expected, rtol=1e-10)
    assert n_steps() > before


def test_the_statistic_of_a_bootstrap_is_called_by_the_workers(client):
    def process(_):
        return float(os.getpid())

    with joblib.parallel_config("dask"):
        result = bootstrap(X[:50, 0], process, n_resamples=200, random_state=0)
    workers = set(client.run(os.getpid).values())
    assert set(result.replicates) <= workers
    assert result.estimate not in workers
