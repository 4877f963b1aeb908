"""Compiled loops: contiguous arrays in, arrays out; no validation and no randomness."""
