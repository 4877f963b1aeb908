"""Generators, and fetchers with a local data home."""
