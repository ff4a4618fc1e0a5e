"""Where words and identifiers begin and end, and what an identifier is made of.

An identifier is written in one style here and in another there: ``retryBackoffMs``, ``retry_backoff_ms``,
``retry-backoff-ms``. All have the same parts, and all are the same when they are squashed into one lower-case
word.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import regex

from memrecalld.ranking.text import _CJK, _WORD

# A single letter beside an apostrophe is what elision or contraction has left of a word: l'heure, don't.
_ELIDED: Final = rf"(?!{_WORD}['’]{_WORD})(?!(?<={_WORD}['’]){_WORD}(?!{_WORD}))"
_RUN: Final = regex.compile(
    rf"({_CJK}+)|({_ELIDED}(?:(?<![{_WORD}.])\.)?{_WORD}+(?:(?:[-_.]|::){_WORD}+)*(?:\+\+|\#(?!{_WORD}))?)",
    regex.V1,
)

# The pattern above costs much. These two find the runs of its first group in nearly all text: its common
# letters, and whatever might be a rarer one.
_COMMON_CJK: Final = re.compile("([々ぁ-ゖゝ-ゟァ-ヺー-ヿ㐀-䶵一-鿯가-힣]+)")
_PERHAPS_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fff\u3004-\u3007\u3020-\u309f\u30a1-\u30fa\u30fc-\ud7ff\uf900-\ufaff\uff66-\uffff\U00016fe0-\U0003ffff]"
)

# What ends a name in ASCII: all but letters, digits, and what names are made of. In UTF-8 the bytes below 128
# are ASCII only, so that this cuts text of any script.
_BLANKED: Final = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) in "-_.:+#'" else ord(" ")
    for code in range(0x100)
)

_JOINT: Final = regex.compile(r"[^\p{L}\p{M}\p{N}]+")

# HTTP-Server-V2, retry-Backoff-Ms. A digit belongs to what stands before it.
_HUMP: Final = regex.compile(
    r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}\p{N}]+|[\p{Lu}\p{M}\p{N}]+|[^\p{Lu}\p{Ll}]+", regex.V1
)

_MAX_WORD_CHARS: Final = 64
"""Longer words are encoded data, and no part of a name."""

_MAX_SIGNED_CHARS: Final = 2
"""The word before ``++`` or ``#`` is no word of its own when it is this short: ``C``, ``F``."""


class Name(NamedTuple):
    """A name, taken apart."""

    signed: str
    """In lower case with its sign (``c++``); empty without one."""
    whole: str
    """As written, without the sign; empty if it has one part only."""
    squashed: str
    """``whole`` in lower case without joints."""
    parts: tuple[str, ...]
    """As written. A short word with its sign has none."""


def chunks(text: str) -> list[str]:
    """``text`` cut at blanks and wherever else no name goes on."""
    blanked = text.encode("utf-8", "surrogatepass").translate(_BLANKED)
    return blanked.decode("utf-8", "surrogatepass").split()


def runs(text: str) -> list[tuple[str, str]]:
    """The runs of ``text`` in their order, each as one of two: Chinese, Japanese and Korean letters, or a
    name.

    A name is words held together by ``-``, ``_``, ``.`` or ``::``, maybe with the signs that belong to it
    (``.NET``, ``C++``, ``C#``). ``text`` is in NFKC, and not in lower case yet.
    """
    parts = _COMMON_CJK.split(text)
    found: list[tuple[str, str]] = []
    if any(map(_PERHAPS_CJK.search, parts[::2])):
        found = _RUN.findall(text)
    else:
        for number, part in enumerate(parts):
            found += [(part, "")] if number % 2 else _RUN.findall(part)
    return found


def separate(text: str) -> tuple[list[str], str]:
    """The runs of Chinese, Japanese and Korean letters in ``text``, and a text that holds its names."""
    parts = _COMMON_CJK.split(text)
    others = " ".join(parts[::2])
    if _PERHAPS_CJK.search(others) is None:
        return parts[1::2], others
    found: list[tuple[str, str]] = _RUN.findall(text)
    return [run for run, _ in found if run], " ".join(name for _, name in found)


def take_apart(name: str) -> Name:
    """Split ``name``, as ``runs`` gives it, at its joints and its humps."""
    core = name.lstrip(".").rstrip("+#")
    signed = "" if core == name else name.lower()
    words = [word for word in _JOINT.split(core) if 0 < len(word) <= _MAX_WORD_CHARS]
    parts = [part for word in words for part in _humps(word)]
    if signed and len(core) <= _MAX_SIGNED_CHARS:
        parts = []
    if len(parts) <= 1:
        return Name(signed, "", "", tuple(parts))
    return Name(signed, core, "".join(words).lower(), tuple(parts))


def _humps(word: str) -> list[str]:
    """The parts of a word in camel case. ``iOS`` and ``gRPC`` are one, and ``URLs`` are several ``URL``."""
    if word.islower() or word.isupper():
        return [word]
    if word.endswith("s") and word[:-1].isupper():
        return [word[:-1]]
    humps = _HUMP.findall(word)
    return [word] if len(humps[0]) == 1 else humps
