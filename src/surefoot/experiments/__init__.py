"""The tables and figures of the sources, reproduced through the public API."""
