"""Twenty planted columns: ten of entities that raise the held-out error, and ten innocent ones.

Each table is drawn from its kind and a seed. For entities, boosting on all columns is cross-validated with rows held
out at random and with entities held out together, as a user would with `--groups`: the difference is printed as the
effect. Then `check_table` is asked, and is right if it names the planted column first, or no column at all where there
is no entity:

    OMP_NUM_THREADS=1 python research/planted_checks.py --draws 5
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from surefoot.checks import check_table

OTHERS = ["leak", "duplicate", "order", "identifier", "equal"]


def frame(values, **columns):
    """Table of numbered measurements and named columns."""
    return pd.DataFrame(values).add_prefix("m").assign(**columns)


# Entities: name of the column, table and target


def speakers(draw):
    """15 speakers, 11 vowels: the length of a voice's tract scales its formants."""
    who, vowel = np.repeat(np.arange(15), 66), np.tile(np.arange(11), 90)
    formants = draw.uniform(0.5, 1.5, size=(11, 6))
    tract = np.exp(0.35 * draw.normal(size=(15, 1)) + 0.25 * draw.normal(size=(15, 6)))
    X = formants[vowel] * tract[who] * np.exp(0.06 * draw.normal(size=(990, 6)))
    return "voice", frame(X, voice=np.array(list("abcdefghijklmno"))[who]), vowel.astype(str)


def machines(draw):
    """5 machines: the gain of each sensor differs, and a fault is a shift of two of them."""
    who, fault = np.repeat(np.arange(5), 240), draw.random(1200) < 0.4
    signal = draw.normal(size=(1200, 5)) + 1.8 * fault[:, None] * np.array([1, -1, 0, 0, 0])
    X = signal * draw.uniform(0.4, 2.5, size=(5, 5))[who] + 2.5 * draw.normal(size=(5, 5))[who]
    return (
        "machine",
        frame(X, machine=np.array(["M1", "M2", "M3", "M4", "M5"])[who]),
        fault.astype(int),
    )


def patients(draw):
    """40 patients with 4 to 30 visits: the diagnosis is the patient's, and so is most of a reading."""
    who = np.repeat(np.arange(40), draw.integers(4, 31, 40))
    X = draw.gamma(3, size=(40, 7))[who] * np.exp(0.1 * draw.normal(size=(len(who), 7)))
    return (
        "case",
        frame(X, case=draw.permutation(900)[:40][who] + 100),
        (draw.random(40) < 0.4)[who].astype(int),
    )


def fields(draw):
    """8 fields: soil is nearly constant in a field, and so is a part of the yield that no column explains."""
    who = np.repeat(np.arange(8), 60)
    soil = draw.normal(size=(8, 4))[who] + 0.15 * draw.normal(size=(480, 4))
    rain = draw.normal(size=480)
    y = 2 * draw.normal(size=8)[who] + rain + 0.5 * draw.normal(size=480)
    names = np.array(["Acker", "Brache", "Au", "Hang", "Lehen", "Moos", "Rain", "Tal"])
    return "field", frame(soil, rain=rain, field=names[who]), y


def cameras(draw):
    """6 cameras: colours of four objects with the cast of the camera."""
    who, thing = draw.integers(0, 6, 900), draw.integers(0, 4, 900)
    cast = 1.5 * draw.normal(size=(6, 3))
    X = draw.normal(size=(4, 3))[thing] * 1.2 + cast[who] + 0.4 * draw.normal(size=(900, 3))
    return "camera", frame(X, camera=who + 1), thing


def users(draw):
    """500 users with six rows each, who click more or less; nothing else depends on the user."""
    who = np.repeat(np.arange(500), 6)
    X = draw.normal(size=(3000, 4))
    y = draw.random(3000) < expit(4 * draw.normal(size=500)[who] + X[:, 0])
    return "user_id", frame(X, user_id=draw.permutation(10**6)[:500][who]), y.astype(int)


def wells(draw):
    """60 wells: logs of a tool that is calibrated anew in each, and porosity."""
    who = np.repeat(np.arange(60), 25)
    rock = draw.normal(size=(1500, 4))
    X = rock + 1.2 * draw.normal(size=(60, 4))[who]
    y = rock @ [1.0, -0.7, 0.5, 0.3] + 0.2 * draw.normal(size=1500)
    return "well", frame(X, well=np.array([f"W-{i:03}" for i in draw.permutation(60)])[who]), y


def batches(draw):
    """25 numbered batches that drift: a sample passes if it is above the mean of its batch."""
    who = np.repeat(np.arange(25), 40)
    quality = draw.normal(size=1000)
    level = np.cumsum(draw.normal(size=(25, 3)), axis=0)
    X = quality[:, None] * [1, 0.8, 0.6] + level[who] + 0.3 * draw.normal(size=(1000, 3))
    return "batch", frame(X, batch=who + 1), np.where(quality > 0, "pass", "fail")


def schools(draw):
    """120 schools with 8 to 30 pupils: two columns describe the school, and scores have a school's part."""
    who = np.repeat(np.arange(120), draw.integers(8, 31, 120))
    of_school = draw.normal(size=(120, 2)).round(2)
    pupil = draw.normal(size=(len(who), 3))
    y = pupil[:, 0] + 1.2 * draw.normal(size=120)[who] + 0.7 * draw.normal(size=len(who))
    return "school", frame(np.column_stack([of_school[who], pupil]), school=1000 + 3 * who), y


def stores(draw):
    """200 stores with 12 weeks each: a store's habits are in its columns with some noise."""
    who = np.repeat(np.arange(200), 12)
    habits = draw.normal(size=(200, 5))
    X = habits[who] + 0.25 * draw.normal(size=(2400, 5))
    y = draw.random(2400) < expit(3 * draw.normal(size=200)[who] + 0.5 * X[:, 0])
    return "store", frame(X, store=np.array([f"S{i}" for i in range(200)])[who]), y.astype(int)


# Innocent columns


def lengths(draw):
    """Length in whole centimetres, with weight and a ratio that depend on it; the kind depends on all."""
    length = (40 * np.exp(0.4 * draw.normal(size=1500))).round()
    weight = length**3 * np.exp(0.2 * draw.normal(size=1500)) / 1000
    X = pd.DataFrame({"length": length, "weight": weight, "ratio": weight / length})
    return X, np.digitize(length + 0.02 * weight + 4 * draw.normal(size=1500), [35, 50])


def materials(draw):
    """7 materials that decide most of the strength, each row made on its own."""
    kind, X = draw.integers(0, 7, 800), draw.normal(size=(800, 4))
    y = 3 * draw.normal(size=7)[kind] + X[:, 0] - X[:, 1] + 0.5 * draw.normal(size=800)
    return frame(X, material=np.array(["oak", "ash", "elm", "fir", "yew", "fig", "bay"])[kind]), y


def regions(draw):
    """48 regions of very different size, each with its own rate."""
    kind = draw.choice(48, 3000, p=draw.dirichlet(np.full(48, 1.0)))
    X = draw.normal(size=(3000, 4))
    y = draw.random(3000) < expit(1.5 * draw.normal(size=48)[kind] + X[:, 0])
    names = np.array([a + b for a in "abcdefgh" for b in "uvwxyz"])
    return frame(X, region=names[kind]), y.astype(int)


def dates(draw):
    """90 dates with 12 rows each: the weather of a day is alike, which is a matter of time."""
    day = np.repeat(np.arange(90), 12)
    X = draw.normal(size=(90, 3))[day] + 0.1 * draw.normal(size=(1080, 3))
    y = 2 * draw.normal(size=90)[day] + 0.3 * draw.normal(size=1080)
    return frame(X, sold_on=pd.date_range("2026-03-01", periods=90)[day].strftime("%d.%m.%Y")), y


def claims(draw):
    """Number of claims, with a premium that follows it."""
    n_claims = draw.negative_binomial(2, 0.4, 2000)
    premium = 100 + 40 * n_claims + 30 * draw.normal(size=2000)
    X = frame(draw.normal(size=(2000, 3)), claims=n_claims, premium=premium)
    return X, 0.5 * n_claims + X["m0"].to_numpy() + premium / 100 + 0.5 * draw.normal(size=2000)


def postcodes(draw):
    """300 postcodes without any effect."""
    X = draw.normal(size=(2400, 5))
    codes = draw.permutation(90_000)[:300] + 10_000
    y = draw.random(2400) < expit(2 * X[:, 0] - X[:, 1])
    return frame(X, postcode=codes[draw.integers(0, 300, 2400)]), y.astype(int)


def coded(draw):
    """12 kinds of cover, coded as numbers, that decide much of the class."""
    kind, X = draw.choice(12, 1200, p=draw.dirichlet(np.full(12, 3.0))), draw.normal(size=(1200, 5))
    return frame(X, cover=kind), np.digitize(1.5 * draw.normal(size=12)[kind] + X[:, 0], [-1, 1])


def calendar(draw):
    """Year, month and day in three columns; each month has its level."""
    day = np.sort(draw.integers(0, 1000, 1500))
    when = pd.Timestamp("2023-01-01") + pd.to_timedelta(day, "D")
    warmth = 3 * np.sin(2 * np.pi * when.day_of_year / 365) + draw.normal(size=1500)
    X = frame(
        draw.normal(size=(1500, 2)), warmth=warmth, year=when.year, month=when.month, day=when.day
    )
    return X, warmth + 2 * draw.normal(size=12)[when.month - 1] + draw.normal(size=1500)


def marks(draw):
    """Marks from 0 to 20 in four subjects of each pupil, and whether the next exam is passed."""
    talent = draw.normal(size=1000)
    X = np.clip((11 + 3 * talent[:, None] + 2 * draw.normal(size=(1000, 4))).round(), 0, 20)
    return frame(X.astype(int)), (talent + 0.5 * draw.normal(size=1000) > 0.3).astype(int)


def operators(draw):
    """30 operators, who get rows at random and do nothing to them."""
    X = draw.normal(size=(1500, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * draw.normal(size=1500)
    names = np.array([f"op{i:02}" for i in range(30)])
    return frame(X, operator_id=names[draw.integers(0, 30, 1500)]), y


ENTITIES = (speakers, machines, patients, fields, cameras, users, wells, batches, schools, stores)
INNOCENT = (
    lengths,
    materials,
    regions,
    dates,
    claims,
    postcodes,
    coded,
    calendar,
    marks,
    operators,
)


def effect(X, y, column):
    """Error of boosting with rows, and with entities, held out; of regression, as a share of the median's error."""
    groups = X[column].factorize()[0]
    coded_table = X.assign(
        **{column: X[column].rank() if X[column].dtype.kind in "iuf" else groups}
    )
    is_number = y.dtype.kind == "f"
    model = HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    errors = []
    for splits in (
        KFold(5, shuffle=True, random_state=0).split(X),
        GroupKFold(5, shuffle=True, random_state=0).split(X, groups=groups),
    ):
        predicted = cross_val_predict(model(random_state=0), coded_table, y, cv=[*splits])
        errors.append(np.abs(predicted - y).mean() if is_number else (predicted != y).mean())
    return np.array(errors) / (np.abs(y - np.median(y)).mean() if is_number else 1)


def ask(X, y):
    """Columns that the check names, and its seconds of processor time."""
    started = time.process_time()
    findings = check_table(X, y, ignore=OTHERS)
    return [name for finding in findings for name in finding.columns], time.process_time() - started


def main():
    """Print every decision, and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    for kinds, what in ((ENTITIES, "entities"), (INNOCENT, "innocent")):
        right = np.zeros(options.draws, dtype=int)
        for number, kind in enumerate(kinds):
            for seed in range(options.draws):
                draw = np.random.default_rng([options.seed, seed, number, len(what)])
                *column, X, y = kind(draw)
                order = draw.permutation(len(y))
                X, y = X.iloc[order].reset_index(drop=True), np.asarray(y)[order]
                errors = effect(X, y, *column) if column else np.zeros(2)
                named, seconds = ask(X, y)
                is_right = named[:1] == column
                right[seed] += is_right
                change = f"{errors[0]:.3f} to {errors[1]:.3f}, " if column else ""
                print(
                    f"  {what}, {kind.__name__}, draw {seed}, {X.shape}: {change}named {named or '-'}, {seconds:.1f} s"
                    f"{'' if is_right else ', WRONG'}",
                    flush=True,
                )
        print(f"{what}: right in {right.tolist()} of {len(kinds)}", flush=True)


if __name__ == "__main__":
    main()
