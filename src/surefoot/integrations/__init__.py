"""Other homes of models, one module each; none is imported before it is asked for."""

__all__ = []
