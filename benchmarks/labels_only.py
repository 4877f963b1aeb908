"""Labels of a language model and 500 human labels: whether the promise is kept, and how well mistakes are ranked.

Run as `python benchmarks/labels_only.py`; it needs Reuters-21578 in $SUREFOOT_DATA. A naive Bayes classifier that
learned from 60 stories stands for the language model: it says a topic and no probability. Stories of one of the ten
largest topics are reduced to 100 numbers (TF-IDF, singular value decomposition). Thirty times, 500 stories
drawn at random have a human label. All other stories measure the risk of the accepted labels, and AUGRC. The rival is a
logistic regression fitted to the same human labels, which doubts a label by the probability of all other topics.
"""

import sys

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


def stories():
    """Vectors of 100 numbers, true topics, and topics of the weak classifier."""
    whole = fetch_reuters21578("largest")
    texts = np.concatenate([whole.X_train, whole.X_test])
    topics = np.concatenate([whole.y_train, whole.y_test])
    single = topics.sum(axis=1) == 1
    texts, truth = texts[single], np.array(whole.target_names)[topics[single].argmax(axis=1)]
    weights = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english").fit_transform(
        texts
    )
    learned = np.random.RandomState(0).permutation(len(truth))[:N_WEAK]
    weak = MultinomialNB(alpha=0.1).fit(weights[learned], truth[learned])
    vectors = TruncatedSVD(100, random_state=0).fit_transform(weights)
    rest = np.setdiff1d(np.arange(len(truth)), learned)
    return vectors[rest], truth[rest], weak.predict(weights[rest])


def main(n_draws):
    """Print the risk of the accepted labels and the AUGRC of each draw."""
    X, truth, said = stories()
    print(f"{len(truth):,} labels, {100 * np.mean(truth != said):.1f} % wrong.", flush=True)
    ratios, broken, kept = [], 0, []
    for draw in range(n_draws):
        order = np.random.RandomState(draw).permutation(len(truth))
        human, rest = order[:N_HUMAN], order[N_HUMAN:]
        error_estimator = assess_predictions(X[human], truth[human], said[human], random_state=0)
        error = error_estimator.predict_error(X[rest], said[rest])
        promise = Promise.from_held_out(error_estimator.held_out_, MAX_RISK)
        accepted = promise.accepted(error)
        wrong = (truth[rest] != said[rest]).astype(float)
        risk = wrong[accepted].mean() if accepted.any() else 0.0
        own = augrc_loss(wrong, error)
        ratios.append(
            [
                own / augrc_loss(wrong, doubts(rival, X, truth, said, human, rest))
                for rival in RIVALS
            ]
        )
        broken += risk > MAX_RISK
        kept.append(accepted.mean())
        print(
            f"{draw:>3} kept {kept[-1]:.2f} risk {risk:.3f} AUGRC ratios {np.round(ratios[-1], 3)}",
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


def doubts(rival, X, truth, said, human, rest):
    """Probability of all other topics than the given ones, by a model of the human labels."""
    rival = clone(rival).fit(X[human], truth[human])
    known = {label: place for place, label in enumerate(rival.classes_)}
    places = np.array([known.get(label, -1) for label in said[rest]])
    sure = rival.predict_proba(X[rest])[np.arange(len(rest)), places] * (places >= 0)
    return 1 - sure


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
