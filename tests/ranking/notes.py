"""Notes for the tests of ranking, made without files, and the measured examples."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hypothesis import settings

from memrecalld.memory.document import BODY_WINDOW_CHARS, PLACEHOLDER_BODY, Document, normalize
from memrecalld.memory.excerpt import cut
from memrecalld.memory.usage import is_usage_note

STEADY = settings(deadline=None, derandomize=True)
"""For property tests: the same examples in every run, and none that fails because the machine is busy."""

GOLDEN: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("golden.json").read_text(encoding="utf-8")
)

DAY_NS = 86_400 * 10**9
NOW_NS = 20_000 * DAY_NS

TYPES = ("user", "feedback", "project", "reference", "note")


def note(title: str = "", description: str = "", body: str = "", **fields: Any) -> Document:
    """A note as the memory room would hand it over; one day old unless ``modified_ns`` is given."""
    body = body.strip()
    if body == PLACEHOLDER_BODY:
        body = ""
    text = normalize(f"{title}\n{description}\n{body}")
    defaults: dict[str, Any] = {
        "scope": "project",
        "root": "/memory",
        "relative_path": f"{blake2b(text.encode(errors='surrogatepass'), digest_size=8).hexdigest()}.md",
        "type": "reference",
        "type_label": "reference",
        "modified_ns": NOW_NS - DAY_NS,
        "content_hash": bytes(16),
    }
    return Document(
        title=title,
        description=description,
        body=(window := cut(body, BODY_WINDOW_CHARS)),
        truncated=len(window) < len(body),
        usage_text=text if is_usage_note(text) else "",
        **(defaults | fields),
    )


def numbered(count: int, **fields: Any) -> list[Document]:
    """``count`` notes of different paths, each a day older than the one before."""
    return [
        note(
            f"Note {number}",
            relative_path=f"{number}.md",
            **({"modified_ns": NOW_NS - (number + 1) * DAY_NS} | fields),
        )
        for number in range(count)
    ]
