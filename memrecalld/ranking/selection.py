"""What a model selector answered: ids of manifest lines, or nothing that may be used.

The answer is the JSON object ``{"selected": ["m3", "m7"]}``. Small local models wrap it in a code fence or
think aloud first, and both are taken off. Prose around the object is a failure: what it means by its ids is
guesswork.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

import msgspec

from memrecalld.errors import SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.manifest import Manifest

MAX_SELECTED: Final = 5
"""Documents that one selection may choose: five notes of 1,200 characters are two pages, beside which a
model still sees its task."""

MAX_ANSWER_CHARS: Final = 65_536
"""A longer answer is not read. What a model thinks aloud counts."""

_THINKING: Final = ("<think>", "</think>")
_FENCE: Final = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL | re.IGNORECASE)


class _Answer(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    selected: list[str]


_DECODER: Final = msgspec.json.Decoder(_Answer)


def parse_selection(answer: str, manifest: Manifest) -> list[Document]:
    """The documents that ``answer`` chooses from ``manifest``, in its order; a repeated id counts once.

    An empty choice is a choice: it gives ``[]``. Raises ``SelectionError``, whose text is one of these codes
    and holds nothing of the answer:

    - ``too-long``: more than ``MAX_ANSWER_CHARS``
    - ``wrong-shape``: anything but the agreed object
    - ``too-many``: more than ``MAX_SELECTED`` distinct ids
    - ``unknown-id``: an id that no line of the manifest has
    """
    if len(answer) > MAX_ANSWER_CHARS:
        raise SelectionError("too-long")
    text = _unwrapped(answer)
    selected: list[str] | None = None
    with suppress(msgspec.MsgspecError, UnicodeError):
        selected = _DECODER.decode(text).selected
    # Raised out here, since an exception raised above would carry the decoder's, and with it the answer. The
    # decoder takes the last of two equal keys; a model that gives two has not chosen.
    if selected is None or text.count('"selected"') != 1:
        raise SelectionError("wrong-shape")
    distinct = dict.fromkeys(selected)
    if len(distinct) > MAX_SELECTED:
        raise SelectionError("too-many")
    return manifest.resolve(distinct)


def _unwrapped(answer: str) -> str:
    """``answer`` without leading thoughts and without a code fence around all the rest."""
    text = answer.strip()
    opening, closing = _THINKING
    if text.startswith(opening):
        text = text.partition(closing)[2].strip()
    fenced = _FENCE.fullmatch(text)
    return text if fenced is None else fenced[1]
