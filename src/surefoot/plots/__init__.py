"""Display objects."""
