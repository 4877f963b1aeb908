"""The names that users may type, and nothing heavier than they need."""

import subprocess
import sys
from importlib import import_module

import pytest

import surefoot

PUBLIC = {
    "surefoot": {
        "AbstainingClassifier",
        "Confidence",
        "DeferringClassifier",
        "IndividualErrorClassifier",
        "IndividualErrorRegressor",
        "KNeighborsDTWClassifier",
        "KernelKNeighborsClassifier",
        "LocalKNeighborsDTWClassifier",
        "LocalSelectionClassifier",
        "LocalSelectionRegressor",
        "LocalSensitivity",
        "LocallyRecalibratedClassifier",
        "RecalibratedClassifier",
        "ReliabilityReport",
        "StriveClassifier",
        "TrustWeightedClassifier",
        "__version__",
        "assess",
    },
    "surefoot.active_learning": {"ActiveLearner", "SimulationResult", "query", "simulate"},
    "surefoot.datasets": {
        "fetch_churn",
        "fetch_communities",
        "fetch_parkinsons",
        "fetch_reuters21578",
        "fetch_tabular",
        "fetch_ucr",
        "fetch_wine_quality",
        "informative_tfidf",
        "list_tabular",
        "list_ucr",
        "make_cylinder_bell_funnel",
        "make_friedman_problem",
        "make_subscriptions",
        "make_synthetic_control",
        "term_information",
    },
    "surefoot.error_estimation": {
        "ErrorRegion",
        "HeldOutErrors",
        "IndividualErrorClassifier",
        "IndividualErrorRegressor",
        "JudgedEnsemble",
        "ShrunkLogisticRegression",
        "ask_chosen",
        "assess",
        "check_same_rows",
        "common_classes",
        "conformal_quantile",
        "find_error_regions",
        "learner_folds",
        "smoothed_targets",
    },
    "surefoot.abstention": {
        "AbstainingClassifier",
        "DeferringClassifier",
        "Threshold",
        "threshold_for_risk",
    },
    "surefoot.ensemble": {
        "BoostingClassifier",
        "FilterBoostingClassifier",
        "HeldOutColumns",
        "SelectionStep",
        "StriveClassifier",
        "TrustWeightedClassifier",
        "learn_threshold",
    },
    "surefoot.selection": {"LocalSelectionClassifier", "LocalSelectionRegressor"},
    "surefoot.experiments": {"EXPERIMENTS", "run_experiment"},
    "surefoot.indicators": {
        "Confidence",
        "CrossFit",
        "CrossFitter",
        "Indicator",
        "LocalSensitivity",
        "NeighborDisagreement",
        "NeighborDistance",
        "NeighborError",
        "Panel",
        "ResamplingSpread",
        "VoteDisagreement",
        "SecondOpinion",
        "TopicCrossFitter",
        "TopicPanel",
        "TrustScore",
        "check_model",
        "check_rows",
        "check_training_rows",
        "cross_fit",
        "fit_model",
        "known_classes",
        "resolve_cv",
        "with_fixed_seed",
    },
    "surefoot.metrics": {
        "SignTestResult",
        "TTestResult",
        "augrc_loss",
        "aurc_loss",
        "brier_decomposition",
        "error_auroc_score",
        "excess_aurc_loss",
        "interval_coverage_score",
        "interval_width",
        "macro_sign_test",
        "macro_t_test",
        "micro_sign_test",
        "risk_coverage_curve",
        "smooth_calibration_error",
        "winkler_loss",
    },
    "surefoot.neighborhoods": {
        "DTWNeighbors",
        "KernelKNeighborsClassifier",
        "MixedInput",
        "Neighborhood",
        "NeighborhoodIndex",
        "SAMPLINGS",
        "SharedNeighborhood",
        "as_table",
        "canonical_metric",
        "default_vectorizer",
        "hubness",
        "index_for",
        "infect_hubs",
        "log_n_neighbors",
        "margin",
        "may_share",
        "relabelled",
        "resolve_n_neighbors",
        "split_model",
        "top_class",
        "voronoi_samples",
        "voronoi_steps",
    },
    "surefoot.plots": {
        "BiasVarianceDisplay",
        "BoostingDisplay",
        "ErrorMatrixDisplay",
        "LearningCurveDisplay",
        "RiskCoverageDisplay",
        "VoronoiCellDisplay",
    },
    "surefoot.recalibration": {
        "LocallyRecalibratedClassifier",
        "RecalibratedClassifier",
        "recalibrated_probabilities",
    },
    "surefoot.report": {"ReliabilityReport"},
    "surefoot.resampling": {
        "BiasVarianceResult",
        "HoldoutSplit",
        "bias_variance",
        "bootstrap",
        "bootstrap_models",
        "boundary_bias",
        "exact_leave_one_out",
        "infinitesimal_jackknife",
        "jackknife",
        "jackknife_variance",
        "leave_one_out_predict",
        "tree_answers",
    },
    "surefoot.time_series": {
        "KNeighborsDTWClassifier",
        "LocalKNeighborsDTWClassifier",
        "dtw_distance",
    },
}


@pytest.mark.parametrize("package", PUBLIC)
def test_all_is_pinned_and_resolves(package):
    module = import_module(package)
    assert set(module.__all__) == PUBLIC[package]
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_every_top_level_name_has_its_home_in_a_package():
    assert set(dir(surefoot)) == PUBLIC["surefoot"]
    assert surefoot.LocalSensitivity is import_module("surefoot.indicators").LocalSensitivity


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'surefoot' has no attribute 'Sensitivity'"):
        surefoot.Sensitivity  # noqa: B018


def test_importing_surefoot_imports_none_of_its_dependencies():
    code = "import sys, surefoot; sys.exit(bool({'numpy', 'sklearn', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
