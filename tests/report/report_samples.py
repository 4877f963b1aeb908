"""Held-out rows as the sections of a report take them."""

from surefoot.report._statistics import Sample


def sample_of(held_out):
    """Sample of held-out rows, with a confidence of 95 %."""
    return Sample(held_out, 0.95)
