"""Whether a text looks as if it held a key, a token or a password.

A guess, and on the safe side of useful: what has the shape of a vendor's token, or stands where a password
stands and looks as random as one. All that is ever told is the name of a rule, never the text that it found.

It takes time in proportion to the text, whatever is in it, and little where nothing is: everything that is
looked for begins with a few fixed characters, which are quickly found, and from there on each repetition is
bounded, or possessive and tried from one place only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, product
from typing import Final

from memrecalld.memory.secret_rules import RULES, TOKEN_PATTERNS, Rule

_PLACEHOLDERS: Final = (
    *("xxx", "***", "...", "…", "____", "example", "sample", "dummy", "fake", "placeholder", "changeme"),
    *(
        "change-me",
        "change_me",
        "redacted",
        "removed",
        "hidden",
        "insert",
        "replace",
        "your",
        "mysecret",
        "my-secret",
    ),
    *(
        "my_secret",
        "mypassword",
        "my-password",
        "my_password",
        "todo",
        "undefined",
        "secret-here",
        "01234567",
    ),
    *("12345678", "abcdefg"),
)
"""What people write where a secret would be."""

_COMMON: Final = frozenset(
    {
        "admin",
        "guest",
        "pass",
        "passwd",
        "password",
        "postgres",
        "pwd",
        "root",
        "secret",
        "test",
        "token",
        "user",
    }
)
"""Passwords in URLs that stand for one, or that keep out nobody."""

_TOKEN_KINDS: Final = 6
"""Different characters that a token has at least; one of fewer was typed to show a shape."""

_PRIVATE_KEY: Final = re.compile(
    r"""(?x)-----BEGIN\ (?:[A-Z0-9]{1,20}\ ){0,3}PRIVATE\ KEY(?:\ BLOCK)?-----
    [^\S\n]{0,80} (?:\n|\\r?\\?n) [\s>|]{0,80}
    (?: [A-Za-z0-9+/=]{8,}+ (?=[^\S\n]*+(?:\n|\Z)|\\|["']) | [A-Z][A-Za-z-]{3,20}:\ )"""
)
# With a line of the block, so that a text about such blocks is none. RFC 7468 has base64 there, older formats
# and OpenPGP (RFC 9580, 6.2) headers.

_URL: Final = re.compile(r"://([^\s/:@\"'<>`]*+):([^\s/@\"'<>`]++)@[A-Za-z0-9\[]")

_NAMES: Final = tuple(
    name.encode()
    for name in (
        *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "token", "bearer"),
        *("密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль"),
        *map(
            "".join,
            product(
                ("access", "account", "api", "private", "secret", "signing"), ("", "-", "_", " "), ("key",)
            ),
        ),
    )
)
"""How names end to which secrets are assigned."""

_ASSIGNED: Final = re.compile(
    rb"""(?x) s? [*_`"']{0,3} \s{0,3} (?: :=? | =>? | \xef\xbc\x9a ) \s{0,3} [*_`"']{0,3}
    (?P<value>[^\s"'`,;<>|\\]{8,256})"""
)
# The three bytes are a full-width colon in UTF-8.

_MAX_ASSIGNED: Final = 2_000
"""Values looked at, 10 µs each; no note has as many, unless to keep us busy."""

_REFERENCE: Final = re.compile(
    r"[$%{(\[/~.!&#]|\w{0,12}://|\w{0,64}[(\[{]|\w{1,64}(?:\.[A-Za-z_]\w{0,64})+\Z"
)
"""How a value begins that names the place of a secret, or code that fetches it."""

_WORD: Final = re.compile(r"[^\W\d_]*\d{0,3}\Z|\d{0,8}\Z")
"""A part of a value that a person would speak: letters with a small number, or a number."""

_LEAST_CHARS: Final = 8

_SIGNS: Final = "!#$%^&*+?@~"
"""Signs that stand in passwords and not in the names and versions that short parts of a value may be."""

_LEAST_BITS: Final = 2.5
"""Entropy of a value's characters, bits for each. Eight different characters have 3; words repeat theirs."""

_LEAST_KINDS: Final = 6
"""Fewer different characters cannot have that entropy."""

_LONG_CHARS: Final = 20
"""From this length on letters alone can be a key, if they change case as words do not."""


def secrets_in(text: str) -> tuple[Rule, ...]:
    """The rules by which a text seems to hold a secret, each once, in the order of ``RULES``.

    Linear in the length of the text: 0.1 µs a character of prose, and a few times that at worst.
    """
    found = set(_found(text))
    return tuple(rule for rule in RULES if rule in found)


def _found(text: str) -> Iterator[Rule]:
    if _PRIVATE_KEY.search(text):
        yield "secret-private-key"
    for rule, prefix, pattern in TOKEN_PATTERNS:
        if prefix in text and any(_looks_made(token[0]) for token in pattern.finditer(text)):
            yield rule
    if any(_is_password(*url.groups()) for url in _URL.finditer(text)):
        yield "secret-url-password"
    if any(map(_is_random, islice(_assigned(text), _MAX_ASSIGNED))):
        yield "secret-assignment"


def _assigned(text: str) -> Iterable[str]:
    """The values that are assigned to names of secrets.

    In bytes, whose lower case has the same length.
    """
    data = text.encode("utf-8", "surrogatepass")
    lower = data.lower()
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            at += len(name)
            if (assigned := _ASSIGNED.match(data, at)) is not None:
                yield assigned["value"].decode("utf-8", "replace")
                at = assigned.end()
            at = lower.find(name, at)


def _looks_made(token: str) -> bool:
    """Not typed to show what such a token looks like."""
    return len(set(token[-16:])) >= _TOKEN_KINDS and not _is_placeholder(token)


def _is_placeholder(value: str) -> bool:
    value = value.lower()
    return any(word in value for word in _PLACEHOLDERS)


def _is_password(user: str, password: str) -> bool:
    return (
        len(password) >= 3
        and password.lower() not in _COMMON | {user.lower()}
        and not _REFERENCE.match(password)
        and not _is_placeholder(password)
    )


def _is_random(value: str) -> bool:
    """Whether an assigned value looks as if a machine, or a careful person, had made it up."""
    value = value.rstrip(".,:!?)]}*_")
    if len(value) < _LEAST_CHARS or len(set(value)) < _LEAST_KINDS or _bits(value) < _LEAST_BITS:
        return False
    if _REFERENCE.match(value) or _is_placeholder(value):
        return False
    mixed = [part for part in re.split(r"[\W_]+", value) if not _WORD.match(part)]
    if mixed:
        return max(map(len, mixed)) >= _LEAST_CHARS or any(sign in value for sign in _SIGNS)
    return len(value) >= _LONG_CHARS and value.isascii() and value.isalnum() and _changes_case_often(value)


def _bits(value: str) -> float:
    """Shannon's entropy of the characters of a value, bits for each."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _changes_case_often(value: str) -> bool:
    """More often than in every third place, where words that are run together change twice a word."""
    changes = sum(left.isupper() != right.isupper() for left, right in pairwise(value))
    return changes * 3 > len(value)
