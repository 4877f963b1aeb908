"""Random generators in a model: NumPy does not check where in their state they stand."""

from typing import Any

import numpy as np

from surefoot._model_files._refusal import require

# Length of the Mersenne twister's state, and of the buffer of Philox.
LENGTHS = {"pos": 624, "buffer_pos": 4}


def check_random(random: Any) -> None:
    """Refuse a generator that would read beside its state."""
    is_old = isinstance(random, np.random.RandomState)
    state = random.get_state(legacy=False) if is_old else random.bit_generator.state
    for values in (state, state.get("state", {})):
        for name, length in LENGTHS.items():
            position = values.get(name, 0) if isinstance(values, dict) else 0
            require(0 <= position <= length, "a random generator in it stands beside its state")
