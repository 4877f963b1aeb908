"""Are promises about single classes, and about costs, kept? Simulated against the generators' true risks.

Run `python research/class_promises.py`; `--draws 100` for a quick look.
"""

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefoot.abstention import Promise

CONFIDENCE = 0.95
GRID = (np.arange(100_000) + 0.5) / 100_000
COSTS = {"rare": (0.0, 10.0), "common": (0.0, 1.0)}
SEVERAL_COSTS = {"rare": (0.0, 2.0, 10.0), "common": (0.0, 1.0)}


def flat(risk):
    """An estimate that says nothing of the class."""
    return lambda rank: np.full_like(rank, risk)


def jump(low, high):
    """An informative estimate: few errors below a rank of 0.6, many above it."""
    return lambda rank: np.where(rank < 0.6, low, high)


def rising(high):
    """An informative estimate without a jump."""
    return lambda rank: high * rank


def falling(high):
    """Errors of the class where the estimate is least: rows that are taken for the other class with confidence."""
    return lambda rank: high * (1 - rank)


class Generator(NamedTuple):
    """Rows of a rare and of a common class, each with its own probability of error at each rank of the estimate.

    A share `rare` of the rows is of the rare class, a smaller one at low ranks if `rare_above`. `limits` are the
    promised risks, None for all rows. With `costs` a mistake has one of the costs of its true class, each as often as
    the others, and risks are mean costs. With `in_group` rows come in groups that share their luck.
    """

    rare_error: Callable
    common_error: Callable
    limits: dict
    rare: float = 0.12
    rare_above: bool = False
    costs: dict | None = None
    in_group: int = 1

    def share_of_rare(self, rank):
        """Probability of the rare class at a rank."""
        return 2 * self.rare * rank if self.rare_above else np.full_like(rank, self.rare)

    def draw(self, rng, n_rows):
        """Estimated errors, losses, classes and groups."""
        rank = rng.random(n_rows)
        is_rare = rng.random(n_rows) < self.share_of_rare(rank)
        labels = np.where(is_rare, "rare", "common")
        groups = np.arange(n_rows) // self.in_group
        luck = rng.random(n_rows)[groups]
        wrong = luck < np.where(is_rare, self.rare_error(rank), self.common_error(rank))
        if self.costs is None:
            return rank, wrong.astype(float), labels, None if self.in_group == 1 else groups
        prices = {label: np.array(values[1:]) for label, values in self.costs.items()}
        price = np.where(
            is_rare, rng.choice(prices["rare"], n_rows), rng.choice(prices["common"], n_rows)
        )
        return rank, wrong * price, labels, None if self.in_group == 1 else groups

    def true_risks(self, share):
        """Mean loss of the rows that are answered, by the limit that is about them."""
        n_points = max(round(share * len(GRID)), 1)
        rank = GRID[:n_points]
        part = self.share_of_rare(rank)
        price = {name: np.mean(values[1:]) for name, values in (self.costs or ONES).items()}
        lost = {
            "rare": part * self.rare_error(rank) * price["rare"],
            "common": (1 - part) * self.common_error(rank) * price["common"],
        }
        return {
            "rare": lost["rare"].sum() / part.sum(),
            "common": lost["common"].sum() / (1 - part).sum(),
            None: (lost["rare"] + lost["common"]).mean(),
        }

    def promise(self, draw):
        """Promise of the limits from drawn rows."""
        estimates, losses, labels, groups = draw
        return Promise.from_losses(
            estimates,
            losses,
            self.limits,
            CONFIDENCE,
            groups=groups,
            labels=labels,
            loss_values=self.costs,
        )

    def is_kept(self, promise):
        """Whether the true risk of every limit is as promised."""
        share = promise.threshold if promise.coverage < 1 else 1.0
        risks = self.true_risks(share) if promise.kept else {}
        return all(risks[label] <= self.limits[label] for label in self.limits if risks)


ONES = {"rare": (0.0, 1.0), "common": (0.0, 1.0)}
LOW = flat(0.02)

GENERATORS = {
    "rare class just above its limit": Generator(flat(0.201), LOW, {"rare": 0.2}),
    "both classes just above": Generator(flat(0.201), flat(0.051), {"rare": 0.2, "common": 0.05}),
    "rare class and all rows just above": Generator(
        flat(0.201), flat(0.0294), {"rare": 0.2, None: 0.05}
    ),
    "rare class below its limit": Generator(flat(0.1), LOW, {"rare": 0.2}),
    "rare class, informative jump": Generator(jump(0.05, 0.8), LOW, {"rare": 0.2}),
    "rare class, informative, rising": Generator(rising(0.8), LOW, {"rare": 0.2}),
    "rare class, and all rows": Generator(rising(0.8), rising(0.1), {"rare": 0.2, None: 0.05}),
    "rare at high estimates": Generator(rising(0.6), LOW, {"rare": 0.2}, rare_above=True),
    "rare class wrong with confidence": Generator(falling(0.41), LOW, {"rare": 0.2}),
    "groups of 5, just above": Generator(flat(0.201), LOW, {"rare": 0.2}, in_group=5),
    "groups of 5, rising": Generator(rising(0.8), LOW, {"rare": 0.2}, in_group=5),
    "costs, all rows just above": Generator(flat(0.201), flat(0.068), {None: 0.3}, costs=COSTS),
    "costs, rising": Generator(rising(0.4), rising(0.1), {None: 0.2}, costs=COSTS),
    "costs, rare class just above": Generator(flat(0.101), LOW, {"rare": 1.0}, costs=COSTS),
    "several costs, all rows just above": Generator(
        flat(0.334), flat(0.0683), {None: 0.3}, costs=SEVERAL_COSTS
    ),
    "several costs, rare class just above": Generator(
        flat(0.1675), LOW, {"rare": 1.0}, costs=SEVERAL_COSTS
    ),
    "several costs, groups of 5": Generator(
        flat(0.334), flat(0.0683), {None: 0.3}, costs=SEVERAL_COSTS, in_group=5
    ),
}


def main():
    """Print the table, and fail if the promises of a line are kept in fewer than 94 % of its draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    print(f"confidence {CONFIDENCE}, {draws} draws")
    print(f"{'rows':40}{'rows':>7}{'kept':>8}{'answered':>10}{'promised':>10}")
    shares = []
    for name, generator in GENERATORS.items():
        for n_rows in (500, 2000, 8000):
            rng = np.random.default_rng(0)
            promises = [generator.promise(generator.draw(rng, n_rows)) for _ in range(draws)]
            shares.append(np.mean([generator.is_kept(promise) for promise in promises]))
            answered = np.mean([promise.coverage for promise in promises])
            made = np.mean([promise.kept for promise in promises])
            print(f"{name:40}{n_rows:7}{shares[-1]:8.3f}{answered:10.3f}{made:10.3f}", flush=True)
    print(f"least share of promises kept: {min(shares):.3f} (asked: 0.94)")
    sys.exit(int(min(shares) < 0.94))


if __name__ == "__main__":
    main()
