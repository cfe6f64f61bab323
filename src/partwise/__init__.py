"""partwise learns the parts of data: nonnegative, binary and Boolean matrix factorization."""

from partwise._version import __version__

__all__ = ["__version__"]
