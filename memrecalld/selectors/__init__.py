"""Asking a model which notes to deliver."""

from __future__ import annotations

from collections.abc import Mapping

from memrecalld.config import SelectorConfig
from memrecalld.selectors.base import Selector


def make_selector(config: SelectorConfig, environ: Mapping[str, str]) -> Selector | None:
    """Return the selector that the configuration names, or None where the daemon has none of its own.

    That is so for ``"none"``, and for ``"client"``, where the selector comes with a connection. Raises
    ``ConfigError`` when the key of an ``"openai"`` selector cannot be had.
    """
    if config.kind != "openai":
        return None
    # The HTTP client takes a quarter of a second to import and megabytes to hold: only who uses it pays, and
    # pays now, while nobody waits, rather than inside the first turn.
    from memrecalld.selectors.openai import OpenAISelector  # noqa: PLC0415

    return OpenAISelector(config, environ)
