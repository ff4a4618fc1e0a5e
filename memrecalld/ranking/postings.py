"""Sorted lists of numbers by key: the notes that hold a term."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

_PACKED: Final = struct.Struct("=I")


class Postings:
    """Keys, each with the numbers below 2**32 that are filed under it, in rising order.

    The order is what makes removal cheap: a number is found by bisection and taken out at once, so nothing is
    left to be swept up later. A single number is kept as it is, for most keys are rare; several are packed
    into a ``bytearray``. That is small and, unlike a list or an ``array``, no object of the garbage
    collector's: with tens of thousands of those, each full collection would be a pause that users notice.
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int | bytearray] = {}

    def add(self, filed: Iterable[tuple[str, int]], base: int = 0, *, highest: bool = False) -> None:
        """File pairs of a key and a number, each number plus ``base``; none of them may be there yet.

        ``highest`` says that all are above whatever was filed before, which saves looking.
        """
        known = self._numbers
        for key, offset in filed:
            number = base + offset
            numbers = known.get(key)
            if numbers is None:
                known[key] = number
                continue
            if isinstance(numbers, int):
                numbers = known[key] = bytearray(_PACKED.pack(numbers))
            if highest or _PACKED.unpack_from(numbers, len(numbers) - _PACKED.size)[0] < number:
                numbers += _PACKED.pack(number)
            else:
                at = _place(numbers, number)
                numbers[at:at] = _PACKED.pack(number)

    def remove(self, filed: Iterable[tuple[str, int]], base: int = 0) -> None:
        """Take out pairs of a key and a number, each number plus ``base``; all of them must be there."""
        for key, offset in filed:
            numbers = self._numbers[key]
            if isinstance(numbers, int):
                del self._numbers[key]
                continue
            at = _place(numbers, base + offset)
            del numbers[at : at + _PACKED.size]
            if len(numbers) == _PACKED.size:
                (self._numbers[key],) = _PACKED.unpack(numbers)

    def get(self, key: str) -> NDArray[np.uint32] | None:
        """The numbers filed under ``key``, in rising order; ``None`` if there are none."""
        numbers = self._numbers.get(key)
        if numbers is None:
            return None
        if isinstance(numbers, int):
            return np.array((numbers,), np.uint32)
        # Of a copy, since a ``bytearray`` that is looked at cannot change its size.
        return np.frombuffer(bytes(numbers), np.uint32)

    def find(self, keys: Iterable[str], first: int, end: int) -> dict[str, int]:
        """Of each of ``keys`` the smallest number that is at least ``first`` and below ``end``, where there
        is one."""
        known = self._numbers
        found: dict[str, int] = {}
        for key in keys:
            numbers = known.get(key)
            if numbers is None:
                continue
            if isinstance(numbers, bytearray):
                at = _place(numbers, first)
                if at == len(numbers):
                    continue
                (numbers,) = _PACKED.unpack_from(numbers, at)
            if first <= numbers < end:
                found[key] = numbers
        return found


def _place(numbers: bytearray, number: int) -> int:
    """Where in ``numbers`` the first that is not below ``number`` begins."""
    with memoryview(numbers).cast("I") as view:
        return bisect_left(view, number) * _PACKED.size
