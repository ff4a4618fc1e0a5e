"""memrecalld: the right memory notes in front of a coding agent's model, in its first request."""

__version__ = "0.1.0"
