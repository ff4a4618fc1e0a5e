"""JSON, with comments where they are allowed, as a tree that knows where each of its parts stands in the
text.

Editors and people lay out settings as they like; who knows the places can change one part and leave the rest
as it is. The grammar is that of RFC 8259, and comments are ``//`` to the end of the line and ``/* */``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # the standard library's own strings
from types import MappingProxyType
from typing import Final, Literal

import msgspec

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_BLANKS_AND_COMMENTS: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR: Final = re.compile(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)\b")


class SyntaxFault(Exception):
    """The text is not what it should be at one place, given by line and column, both from 1."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        super().__init__(f"line {line}, column {column}: {problem}")
        self.line = line
        self.column = column


class Value(msgspec.Struct, frozen=True):
    """A value at ``text[start:end]``."""

    kind: Literal["object", "array", "string", "scalar"]
    start: int
    end: int
    content: str = ""
    """What a string says."""
    parts: tuple[Part, ...] = ()
    """What an object or an array holds, in order."""

    @property
    def members(self) -> Mapping[str, Part]:
        """An object's members by name; of several with one name the last, which is what programs see."""
        if self.kind != "object":
            return MappingProxyType({})
        return {part.name: part for part in self.parts}


class Part(msgspec.Struct, frozen=True):
    """A member of an object, or an element of an array, at ``text[start:end]``."""

    name: str
    """Empty in an array."""
    start: int
    value: Value

    @property
    def end(self) -> int:
        return self.value.end


def parse(text: str, *, comments: bool) -> Value:
    """The value that the whole text is. Raises ``SyntaxFault``."""
    try:
        return _Parser(text, comments=comments).parse()
    except RecursionError:
        raise SyntaxFault(text, 0, "nested too deeply") from None


def comma_after(text: str, position: int) -> int:
    """Where the comma stands after the part that ends at ``position``, past blanks and comments."""
    blank = _BLANKS_AND_COMMENTS.match(text, position)
    return position if blank is None else blank.end()


class _Parser:
    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._between = _BLANKS_AND_COMMENTS if comments else _BLANKS
        self._position = 0

    def parse(self) -> Value:
        self._skip()
        value = self._value()
        self._skip()
        if self._position < len(self._text):
            raise self._fault("expected the end of the file")
        return value

    def _value(self) -> Value:
        match self._text[self._position : self._position + 1]:
            case "{":
                return self._container("object", "}")
            case "[":
                return self._container("array", "]")
            case '"':
                start = self._position
                content = self._string()
                return Value("string", start, self._position, content)
        scalar = _SCALAR.match(self._text, self._position)
        if scalar is None:
            raise self._fault("expected a value")
        self._position = scalar.end()
        return Value("scalar", scalar.start(), scalar.end())

    def _container(self, kind: Literal["object", "array"], closing: str) -> Value:
        start = self._position
        self._position += 1
        parts: list[Part] = []
        self._skip()
        if not self._take(closing):
            while True:
                parts.append(self._part(kind))
                self._skip()
                if self._take(closing):
                    break
                if not self._take(","):
                    raise self._fault(f'expected "," or "{closing}"')
                self._skip()
        return Value(kind, start, self._position, parts=tuple(parts))

    def _part(self, kind: Literal["object", "array"]) -> Part:
        start = self._position
        name = ""
        if kind == "object":
            if self._text[start : start + 1] != '"':
                raise self._fault("expected a name in double quotes")
            name = self._string()
            self._skip()
            if not self._take(":"):
                raise self._fault('expected ":"')
            self._skip()
        return Part(name, start, self._value())

    def _string(self) -> str:
        try:
            content, self._position = scanstring(self._text, self._position + 1, True)
        except json.JSONDecodeError as error:
            raise SyntaxFault(self._text, error.pos, error.msg) from None
        return str(content)

    def _skip(self) -> None:
        blank = self._between.match(self._text, self._position)
        self._position = blank.end() if blank is not None else self._position

    def _take(self, character: str) -> bool:
        if self._text.startswith(character, self._position):
            self._position += 1
            return True
        return False

    def _fault(self, problem: str) -> SyntaxFault:
        text = self._text
        if text.startswith(("//", "/*"), self._position):
            problem = (
                "the comment has no end"
                if self._between is _BLANKS_AND_COMMENTS
                else "comments are not allowed here"
            )
        elif self._position >= len(text):
            problem += ", found the end of the file"
        return SyntaxFault(text, self._position, problem)
