"""
Bias and variance of a mode, by jackknife and bootstrap
=======================================================

The jackknife leaves out one value at a time. Here it estimates bias and variance of the mode, the most frequent
value, of two small sets: the example of Duda, Hart and Stork (2001), and a simpler one from slides on their chapter
9. If two values are equally frequent, their mean is the mode.
"""

# %%
# Two sets and their modes
# ------------------------

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from surefoot.resampling import bootstrap, jackknife


def mode(values):
    """Mean of the most frequent values."""
    distinct, counts = np.unique(values, return_counts=True)
    return distinct[counts == counts.max()].mean()


sets = {"slides": [0, 0, 0, 10, 10], "book": [0, 10, 10, 10, 20, 20]}
results = {name: jackknife(values, mode) for name, values in sets.items()}
for name, values in sets.items():
    found = results[name]
    print(f"{name}: {values}, mode {found.estimate:g}")
    print(
        f"  modes without one value   {found.replicates.tolist()}, mean {found.replicates.mean():g}"
    )
    print(f"  bias                      {found.bias:g}")
    print(f"  variance, standard error  {found.variance:g}, {found.standard_error:.2f}")

# %%
# The bias is 12 in one set and 12.5 in the other. The slides call 4.9 and 5.6 the variances: these are the standard
# errors, the roots of 24 and 31.25.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, (name, values) in zip(axes, sets.items(), strict=True):
    found = results[name]
    ax.bar(range(len(values)), found.replicates, color="tab:blue", label="without the value")
    ax.axhline(found.estimate, color="black", linestyle="--", label="all values")
    ax.axhline(found.replicates.mean(), color="tab:orange", label="mean without one")
    ax.set_xticks(range(len(values)), map(str, values))
    ax.set(title=f"{name}: bias {found.bias:g}, variance {found.variance:g}", xlabel="left out")
axes[0].set_ylabel("mode")
axes[0].legend(frameon=False, fontsize="small")
plt.show()

# %%
# The bootstrap, with more and more resamples
# -------------------------------------------
# The bootstrap draws as many values as there are, with replacement, T times. The slides say that its mean tends to
# the estimate itself for large T. It does not: with all 3,125 possible samples of the first set, the mean mode is
# about 3, and the mode is 0. The difference is the bootstrap's estimate of the bias; more resamples only make it more
# exact.

values = sets["slides"]
limit = np.mean([mode(sample) for sample in product(values, repeat=len(values))])
numbers = np.unique(np.logspace(1, 3.3, 12).astype(int))
found = bootstrap(values, mode, n_resamples=int(numbers[-1]), random_state=0)
means = [found.replicates[:number].mean() for number in numbers]

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.semilogx(numbers, means, "o-", label="mean of T resamples")
ax.axhline(limit, color="tab:orange", label=f"all possible samples: {limit:.2f}")
ax.axhline(found.estimate, color="black", linestyle="--", label="mode of the set: 0")
ax.set(xlabel="T", ylabel="mode", ylim=(-0.5, 6))
ax.legend(frameon=False, fontsize="small")
plt.show()
