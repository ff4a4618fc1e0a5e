"""Hooks in the text of an agent's settings: put in and taken out, with every other byte left as it is.

What is put in follows the layout around it, and shows by itself what was there before, so that taking it out
restores the text exactly without a record of any kind: an object or an array that was there and empty gets
blanks behind its bracket before anything else, one that was not there begins with a line break or with its
first part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from memrecalld.hooks.jsonc import Part, SyntaxFault, Value, comma_after, parse

_OURS: Final = re.compile(r"memrecalld/hooks/run\.py|\bmemrecall['\"]? hook\b")
"""The commands of our hooks, however they were written."""

_INDENT: Final = "  "

_CLOSING_ADDED, _CLOSING_KEPT = " ", "  "
"""What is put behind the bracket of a container that was empty: whether its closing line is put in as well.
"""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One hook as the settings hold it."""

    event: str
    handler: dict[str, Any]
    """With the ``command``."""

    @property
    def group(self) -> dict[str, Any]:
        """An element of its event's list; without a matcher it is for every kind of the event."""
        return {"hooks": [self.handler]}


def new_settings(hooks: Sequence[Hook]) -> str:
    """Settings with nothing but these hooks."""
    return json.dumps({"hooks": _by_event(hooks)}, ensure_ascii=False, indent=_INDENT) + "\n"


def with_hooks(text: str, hooks: Sequence[Hook], *, comments: bool) -> str:
    """``text`` with these hooks, those of ours that it has brought up to date. Raises ``SyntaxFault``."""
    root = _parse(text, comments=comments)
    if "hooks" not in root.members:
        return _Insertion(text, root).of(_by_event(hooks), "hooks")
    for hook in hooks:
        text = _with_hook(text, hook, comments=comments)
    return text


def without_hooks(text: str, *, comments: bool) -> str | None:
    """``text`` without our hooks; None if it is what ``new_settings`` made. Raises ``SyntaxFault``."""
    while (path := _find_ours(text, _parse(text, comments=comments))) is not None:
        # What holds nothing else was put in with it, unless its brackets tell that it was there before.
        while len(path) > 1 and len(path[-2].value.parts) == 1 and not _was_empty(text, path[-2].value):
            path.pop()
        if len(path) == 1:
            root = path[0].value
            if _is_new(text):
                return None
            return text[: root.start + 1] + text[root.parts[0].end :]
        text = _without_part(text, path[-2].value, path[-1])
    return text


def hooked_events(text: str, *, comments: bool) -> list[str]:
    """The events that have a hook of ours. Raises ``SyntaxFault``."""
    return [
        event.name
        for event, _, handler in _handlers(text, _parse(text, comments=comments))
        if _is_ours(handler)
    ]


# Finding
# ------------------------------------------------------------------------------------------------------------


def _parse(text: str, *, comments: bool) -> Value:
    root = parse(text, comments=comments)
    if root.kind != "object":
        raise SyntaxFault(text, root.start, "expected an object, {…}")
    return root


def _by_event(hooks: Sequence[Hook]) -> dict[str, list[dict[str, Any]]]:
    return {hook.event: [hook.group] for hook in hooks}


def _events(text: str, root: Value) -> Value:
    """The value of ``hooks``."""
    events = root.members["hooks"].value
    if events.kind != "object":
        raise SyntaxFault(text, events.start, '"hooks" must be an object, {…}')
    return events


def _groups(text: str, event: Part) -> Value:
    if event.value.kind != "array":
        raise SyntaxFault(text, event.value.start, f'the hooks of "{event.name}" must be a list, […]')
    return event.value


def _handlers(text: str, root: Value) -> list[tuple[Part, Part, Part]]:
    """Every handler, with its event and its group."""
    if "hooks" not in root.members:
        return []
    found = []
    for event in _events(text, root).members.values():
        # Qwen Code keeps a few settings beside the events.
        for group in event.value.parts if event.value.kind == "array" else ():
            handlers = group.value.members.get("hooks")
            if handlers is not None and handlers.value.kind == "array":
                found += [(event, group, handler) for handler in handlers.value.parts]
    return found


def _is_ours(handler: Part) -> bool:
    command = handler.value.members.get("command")
    return command is not None and _OURS.search(command.value.content) is not None


def _find_ours(text: str, root: Value) -> list[Part] | None:
    """The way from the whole text to a hook of ours, or to its group where that has no other."""
    for event, group, handler in _handlers(text, root):
        if _is_ours(handler):
            handlers = group.value.members["hooks"]
            path = [Part("", root.start, root), root.members["hooks"], event, group]
            return path if len(handlers.value.parts) == 1 else [*path, handlers, handler]
    return None


# Putting in
# ---------------------------------------------------------------------------------------------------------


def _with_hook(text: str, hook: Hook, *, comments: bool) -> str:
    root = _parse(text, comments=comments)
    events = _events(text, root)
    if (event := events.members.get(hook.event)) is None:
        return _Insertion(text, root, events).of([hook.group], hook.event)
    groups = _groups(text, event)
    for its_event, _, handler in _handlers(text, root):
        if its_event is event and _is_ours(handler):
            command = handler.value.members["command"].value
            return text[: command.start] + _dumps(hook.handler["command"]) + text[command.end :]
    return _Insertion(text, root, groups).of(hook.group)


class _Insertion:
    """A new last part of a container in the text."""

    def __init__(self, text: str, root: Value, container: Value | None = None) -> None:
        self._text = text
        self._container = container or root
        self._newline = "\r\n" if "\r\n" in text else "\n"
        first = _blanks_before(text, root.parts[0].start) if root.parts else self._newline
        self._one_line = "\n" not in first
        self._indent = first.rpartition("\n")[2] if not self._one_line else ""
        self._indent = self._indent or _INDENT

    def of(self, value: object, name: str | None = None) -> str:
        """The text with ``value`` added, as a member where it has a name."""
        container = self._container
        if not container.parts:
            return self._into_empty(value, name)
        last = container.parts[-1]
        before = _blanks_before(self._text, last.start)
        if "\n" not in before:
            return self._at(last.end, f", {self._render(value, name, None)}")
        indent = before.rpartition("\n")[2]
        return self._at(last.end, f",{self._newline}{indent}{self._render(value, name, indent)}")

    def _into_empty(self, value: object, name: str | None) -> str:
        inside = self._text[self._container.start + 1 : self._container.end - 1]
        at = self._container.start + 1
        if self._one_line:
            return self._at(at, f"{_CLOSING_ADDED}{self._render(value, name, None)}")
        outer = _indent_of_line(self._text, self._container.start)
        indent = outer + self._indent
        mark, closing = (_CLOSING_KEPT, "") if "\n" in inside else (_CLOSING_ADDED, self._newline + outer)
        return self._at(at, f"{mark}{self._newline}{indent}{self._render(value, name, indent)}{closing}")

    def _render(self, value: object, name: str | None, indent: str | None) -> str:
        rendered = _dumps(value, None if indent is None else self._indent)
        if indent is not None:
            rendered = rendered.replace("\n", self._newline + indent)
        return rendered if name is None else f"{_dumps(name)}: {rendered}"

    def _at(self, position: int, addition: str) -> str:
        return self._text[:position] + addition + self._text[position:]


# Taking out
# ---------------------------------------------------------------------------------------------------------


def _without_part(text: str, container: Value, part: Part) -> str:
    parts = container.parts
    if len(parts) == 1:
        return _emptied(text, container)
    number = parts.index(part)
    before, after = (parts[number - 1].end, part.start) if number else (part.end, parts[1].start)
    comma = comma_after(text, before)
    if text[before:comma].strip() or text[comma + 1 : after].strip():  # a comment, which stays
        (start, end), (second, last) = sorted([(part.start, part.end), (comma, comma + 1)])
        return text[:start] + text[end:second] + text[last:]
    start, end = (before, part.end) if number else (part.start, after)
    return text[:start] + text[end:]


def _was_empty(text: str, container: Value) -> bool:
    opening = _opening(text, container)
    return opening == _CLOSING_ADDED or (opening.startswith(" ") and "\n" in opening)


def _emptied(text: str, container: Value) -> str:
    """The text with an object or array as it was before ``_Insertion`` put the first part into it."""
    end = container.parts[0].end
    opening = _opening(text, container)
    if "\n" in opening and not opening.startswith(_CLOSING_KEPT):
        newline = "\r\n" if "\r\n" in text else "\n"
        closing = newline + _indent_of_line(text, container.start)
        end += len(closing) if text.startswith(closing, end) else 0
    return text[: container.start + 1] + text[end:]


# Layout -----------------------------------------------------------------------------------------------------
# --------


def _opening(text: str, container: Value) -> str:
    return text[container.start + 1 : container.parts[0].start]


def _blanks_before(text: str, position: int) -> str:
    return text[len(text[:position].rstrip(" \t\r\n")) : position]


def _indent_of_line(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_new(text: str) -> bool:
    try:
        return text == json.dumps(json.loads(text), ensure_ascii=False, indent=_INDENT) + "\n"
    except ValueError:  # with comments
        return False


def _dumps(value: object, indent: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
