"""Sorted lists of numbers by key: the notes that hold a term, the words that hold three letters."""

from __future__ import annotations

import struct
from array import array
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

    def add(self, key: str, number: int) -> bool:
        """File ``number``, which must not be there yet; tells whether ``key`` is new."""
        numbers = self._numbers.get(key)
        if numbers is None:
            self._numbers[key] = number
            return True
        if isinstance(numbers, int):
            numbers = self._numbers[key] = bytearray(_PACKED.pack(numbers))
        if _PACKED.unpack_from(numbers, len(numbers) - _PACKED.size)[0] < number:
            numbers += _PACKED.pack(number)
        else:
            at = _place(numbers, number)
            numbers[at:at] = _PACKED.pack(number)
        return False

    def remove(self, key: str, number: int) -> bool:
        """Take out ``number``, which must be there; tells whether ``key`` has none left and is gone."""
        numbers = self._numbers[key]
        if isinstance(numbers, int):
            del self._numbers[key]
            return True
        at = _place(numbers, number)
        del numbers[at : at + _PACKED.size]
        if len(numbers) == _PACKED.size:
            (self._numbers[key],) = _PACKED.unpack(numbers)
        return False

    def count(self, key: str) -> int:
        """How many numbers are filed under ``key``."""
        numbers = self._numbers.get(key, b"")
        return 1 if isinstance(numbers, int) else len(numbers) // _PACKED.size

    def gather(self, keys: Iterable[str]) -> NDArray[np.uint32]:
        """The numbers of all ``keys``, in no particular order; an unknown key has none."""
        single: list[int] = []
        several: list[bytearray] = []
        for key in keys:
            numbers = self._numbers.get(key)
            if isinstance(numbers, int):
                single.append(numbers)
            elif numbers is not None:
                several.append(numbers)
        return np.frombuffer(b"".join((array("I", single), *several)), np.uint32)


def _place(numbers: bytearray, number: int) -> int:
    """Where in ``numbers`` the first that is not below ``number`` begins."""
    with memoryview(numbers).cast("I") as view:
        return bisect_left(view, number) * _PACKED.size
