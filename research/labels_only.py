"""Labels of a language model and 500 human labels: whether the promise is kept, and how well mistakes are ranked.

Run as `python research/labels_only.py`; it needs Reuters-21578 in $SUREFOOT_DATA. A naive Bayes classifier that
learned from 60 stories stands for the language model: it says a topic and no probability. Stories of one of the ten
largest topics are reduced to 100 numbers (TF-IDF, singular value decomposition). Thirty times, 500 stories
drawn at random have a human label. All other stories measure the risk of the accepted labels, and AUGRC. The rival is a
logistic regression fitted to the same human labels, which doubts a label by the probability of all other topics. With
`--labellers 10`, the draws are spread over ten such classifiers, of 60 other stories each.
"""

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.naive_bayes import MultinomialNB

from reproduction.texts import fetch_reuters21578
from surefoot import assess_predictions
from surefoot.abstention import Promise
from surefoot.metrics import augrc_loss

N_HUMAN, N_WEAK, MAX_RISK = 500, 60, 0.1

# As it is, and with the penalty that is best in cross-validation.
RIVALS = (
    LogisticRegression(max_iter=1000),
    LogisticRegressionCV(
        Cs=5, cv=3, max_iter=300, scoring="neg_log_loss", use_legacy_attributes=False
    ),
)


def stories(n_labellers):
    """Vectors of 100 numbers, true topics and topics of a weak classifier, for each of the weak classifiers."""
    whole = fetch_reuters21578("largest")
    texts = np.concatenate([whole.X_train, whole.X_test])
    topics = np.concatenate([whole.y_train, whole.y_test])
    single = topics.sum(axis=1) == 1
    texts, truth = texts[single], np.array(whole.target_names)[topics[single].argmax(axis=1)]
    weights = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english").fit_transform(
        texts
    )
    vectors = TruncatedSVD(100, random_state=0).fit_transform(weights)
    for seed in range(n_labellers):
        learned = np.random.RandomState(seed).permutation(len(truth))[:N_WEAK]
        weak = MultinomialNB(alpha=0.1).fit(weights[learned], truth[learned])
        rest = np.setdiff1d(np.arange(len(truth)), learned)
        yield vectors[rest], truth[rest], weak.predict(weights[rest])


def main(n_draws, n_labellers):
    """Print the risk of the accepted labels and the AUGRC of each draw."""
    ratios, broken, kept = [], 0, []
    for number, (X, truth, said) in enumerate(stories(n_labellers)):
        print(f"{len(truth):,} labels, {100 * np.mean(truth != said):.1f} % wrong.", flush=True)
        for draw in range(number, n_draws, n_labellers):
            order = np.random.RandomState(draw).permutation(len(truth))
            accepted, wrong, ratio = judge_draw(X, truth, said, order[:N_HUMAN], order[N_HUMAN:])
            risk = wrong[accepted].mean() if accepted.any() else 0.0
            ratios.append(ratio)
            broken += risk > MAX_RISK
            kept.append(accepted.mean())
            print(
                f"{draw:>3} kept {kept[-1]:.2f} risk {risk:.3f} AUGRC ratios {np.round(ratio, 3)}",
                flush=True,
            )
    print(
        f"Promise of {MAX_RISK:g} broken in {broken} of {n_draws}; kept {np.mean(kept):.0%} of the labels."
    )
    mean, worst = np.exp(np.mean(np.log(ratios), axis=0)), np.max(ratios, axis=0)
    for rival, *each in zip(RIVALS, mean, worst, strict=True):
        print(
            f"AUGRC over that of {type(rival).__name__}: geometric mean {each[0]:.3f}, worst {each[1]:.3f}."
        )


def judge_draw(X, truth, said, human, rest):
    """Accepted labels and wrong labels of the other stories, and AUGRC over that of each rival."""
    error_estimator = assess_predictions(X[human], truth[human], said[human], random_state=0)
    error = error_estimator.predict_error(X[rest], said[rest])
    promise = Promise.from_held_out(error_estimator.held_out_, MAX_RISK)
    wrong = (truth[rest] != said[rest]).astype(float)
    own = augrc_loss(wrong, error)
    rivals = [augrc_loss(wrong, doubts(each, X, truth, said, human, rest)) for each in RIVALS]
    return promise.accepted(error), wrong, [own / rival for rival in rivals]


def doubts(rival, X, truth, said, human, rest):
    """Probability of all other topics than the given ones, by a model of the human labels."""
    rival = clone(rival).fit(X[human], truth[human])
    known = {label: place for place, label in enumerate(rival.classes_)}
    places = np.array([known.get(label, -1) for label in said[rest]])
    sure = rival.predict_proba(X[rest])[np.arange(len(rest)), places] * (places >= 0)
    return 1 - sure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_draws", nargs="?", type=int, default=30)
    parser.add_argument("--labellers", type=int, default=1)
    options = parser.parse_args()
    main(options.n_draws, options.labellers)
