"""Small numbers for things, given out again when a thing is gone."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

FIRST_CAPACITY: Final = 64

_Item = TypeVar("_Item")
_Number = TypeVar("_Number", bound=np.generic)


class Slots(Generic[_Item]):
    """Items, each in a numbered slot that it keeps until it is taken out; slots are used again."""

    __slots__ = ("_free", "count", "items")

    items: NDArray[np.object_]
    """The items by number; ``None`` in a slot that is free. NumPy's and not a list, in which a full garbage
    collection would visit every item."""
    count: int
    """All numbers given out so far are below."""

    def __init__(self) -> None:
        self.items = np.empty(FIRST_CAPACITY, object)
        self.count = 0
        self._free: list[int] = []

    def add(self, item: _Item) -> int:
        """Put ``item`` in a slot and return its number."""
        if self._free:
            number = self._free.pop()
        else:
            number = self.count
            self.count += 1
            if number == len(self.items):
                self.items = doubled(self.items)
        self.items[number] = item
        return number

    def remove(self, number: int) -> None:
        """Free the slot of this number, which must be in use."""
        self.items[number] = None
        self._free.append(number)

    def __getitem__(self, number: int) -> _Item:
        """The item in the slot of this number, which must be in use."""
        item: _Item = self.items[number]
        return item

    def __setitem__(self, number: int, item: _Item) -> None:
        """Exchange the item in the slot of this number, which must be in use."""
        self.items[number] = item


def doubled(array: NDArray[_Number]) -> NDArray[_Number]:
    """``array`` with as much room again behind it: growing one by one copies an item once or twice."""
    return np.concatenate((array, np.empty_like(array)))
