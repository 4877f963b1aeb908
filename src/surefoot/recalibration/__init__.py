"""Better probabilities from out-of-fold outputs and indicators."""
