"""A model in use: is it still as good as it was when it was fitted?"""

__all__ = ()
