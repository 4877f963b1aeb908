"""Predictions beside embeddings of 768 numbers: time and memory at 100,000 rows; cost of a sample of reference rows.

Run as `python research/embeddings.py time` (`texts` for 20,000 texts) and `python research/embeddings.py sample`.
Embeddings are generated: topics are points of 12 dimensions, rows lie around them, and a random matrix turns rows into
768 numbers, to which noise is added. Each topic has one of ten classes, and a rate at which a labeller that lives
elsewhere names another class. The more topics there are, the more of them overlap, and the fewer rows of each are among
the reference rows: 15 neighbours of 5,000 rows find the class of 94 % of the rows with 50 topics, of 68 % with 500 and
of 34 % with 2,000. The estimate learns from embedding, label and truth, and knows nothing else.
"""

import argparse
import os
import resource
import time

import numpy as np
import pandas as pd

from surefoot import assess_predictions
from surefoot.metrics import augrc_loss

N_NUMBERS, N_LATENT, N_CLASSES, MOST_WRONG, N_WORDS = 768, 12, 10, 0.7, 20_000
# Standard deviations of rows around a topic, and of the noise of each of the 768 numbers.
WIDTH, NOISE = 0.6, 1.0


def labelled_embeddings(n_rows, n_topics, seed):
    """Embeddings in single precision, true classes, given labels, and the rate of wrong labels of each row's topic."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_topics, N_LATENT))
    classes = rng.integers(0, N_CLASSES, n_topics)
    rates = MOST_WRONG * rng.random(n_topics) ** 2
    others = (classes + rng.integers(1, N_CLASSES, n_topics)) % N_CLASSES
    turn = rng.normal(size=(N_LATENT, N_NUMBERS)).astype(np.float32)
    topic = rng.integers(0, n_topics, n_rows)
    latent = (centers[topic] + WIDTH * rng.normal(size=(n_rows, N_LATENT))).astype(np.float32)
    X = latent @ turn
    X += NOISE * rng.standard_normal(X.shape, dtype=np.float32)
    labels = np.where(rng.random(n_rows) < rates[topic], others[topic], classes[topic])
    return X, classes[topic], labels, rates[topic]


def labelled_texts(n_rows, n_topics, seed):
    """Texts of 30 to 60 words, as a frame, with classes and labels as above: one word in three is one of its topic."""
    rng = np.random.default_rng(seed)
    _, truth, labels, rates = labelled_embeddings(n_rows, n_topics, seed)
    words = np.array([f"word{number}" for number in range(N_WORDS)])
    own = rng.choice(words, size=(n_topics, 40))
    topic = np.unique(rates, return_inverse=True)[1]
    texts = []
    for place in topic:
        n_words = rng.integers(10, 21)
        common = words[np.minimum(rng.zipf(1.3, 2 * n_words), N_WORDS) - 1]
        texts.append(" ".join([*rng.choice(own[place], n_words), *common]))
    return pd.DataFrame({"text": texts}), truth, labels


def peak_gib():
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure_time(n_rows, n_new, make_rows):
    """Print the seconds of `fit`, by the clock and of the processor, the memory, and microseconds to judge a row."""
    X, truth, labels, *_ = make_rows(n_rows + n_new, 200, seed=0)
    print(
        f"{n_rows:,} rows; {peak_gib():.2f} GiB before `fit`; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    clock, processor = time.perf_counter(), time.process_time()
    error_estimator = assess_predictions(
        X[:n_rows], truth[:n_rows], labels[:n_rows], random_state=0
    )
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(
        f"fit: {clock:.0f} s by the clock, {processor:.0f} s of processors; largest memory {peak_gib():.2f} GiB",
        flush=True,
    )
    start = time.perf_counter()
    error = error_estimator.judge(X[n_rows:], labels[n_rows:]).error
    seconds = time.perf_counter() - start
    wrong = (labels != truth)[n_rows:]
    print(
        f"judge: {1e6 * seconds / n_new:.0f} µs a row; largest memory {peak_gib():.2f} GiB; "
        f"AUGRC {augrc_loss(wrong, error):.4f}, load {os.getloadavg()[0]:.1f}"
    )


def measure_sample(n_rows, n_new, topics, sizes, seeds):
    """Print AUGRC by number of reference rows over that with all rows, beside those of the true rates and of chance."""
    for n_topics in topics:
        losses = []
        for seed in range(seeds):
            X, truth, labels, rates = labelled_embeddings(n_rows + n_new, n_topics, seed)
            wrong = (labels != truth)[n_rows:]
            row = []
            for size in (*sizes, n_rows):
                error_estimator = assess_predictions(
                    X[:n_rows],
                    truth[:n_rows],
                    labels[:n_rows],
                    random_state=0,
                    max_reference_rows=size,
                )
                row.append(
                    augrc_loss(wrong, error_estimator.predict_error(X[n_rows:], labels[n_rows:]))
                )
            best, worst = augrc_loss(wrong, rates[n_rows:]), wrong.mean() / 2
            losses.append([*row, best, worst])
            print(f"{n_topics} topics, seed {seed}: {np.round(losses[-1], 4)}", flush=True)
        means = np.exp(np.mean(np.log(losses), axis=0))
        names = [f"{size:,}" for size in (*sizes, n_rows)] + ["true rates", "chance"]
        over = means / means[len(sizes)]
        print(
            f"{n_rows:,} rows, {n_topics} topics, AUGRC over all reference rows: "
            + ", ".join(f"{name}: {ratio:.3f}" for name, ratio in zip(names, over, strict=True)),
            flush=True,
        )


def main():
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("time", "texts", "sample"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--topics", nargs="*", type=int, default=(50, 500, 2000))
    parser.add_argument("--sizes", nargs="*", type=int, default=(5_000,))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "time":
        measure_time(options.rows or 100_000, options.new, labelled_embeddings)
    elif options.what == "texts":
        measure_time(options.rows or 20_000, options.new, labelled_texts)
    else:
        rows = options.rows or 20_000
        measure_sample(rows, options.new, options.topics, options.sizes, options.seeds)


if __name__ == "__main__":
    main()
