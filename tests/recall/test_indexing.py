"""A folder's index is filled slice by slice, while the folder changes and is asked."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from memrecalld.memory.document import Document
from memrecalld.memory.layouts import Root
from memrecalld.ranking.keys import query_terms
from memrecalld.recall import indexing
from memrecalld.recall.indexing import INLINE_NOTES, FolderIndex
from memrecalld.recall.pool import IndexedPool
from tests.ranking.notes import NOW_NS, note

NOTES = 2_000


class Folder:
    """Notes in memory, as a folder of the catalog would tell of them."""

    root = Root(scope="project", layout="native", path="/memory", real_path="/memory", required=True)

    def __init__(self, documents: list[Document]) -> None:
        self.documents = documents
        self.observer: FolderIndex | None = None


class Later:
    """Calls that are due when the test says so."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], object]] = []

    def __call__(self, delay: float, callback: Callable[[], object]) -> None:
        self._calls.append(callback)

    def run_one(self) -> bool:
        if self._calls:
            self._calls.pop(0)()
            return True
        return False


@pytest.fixture
def later() -> Later:
    return Later()


def numbered(count: int) -> list[Document]:
    return [
        note(f"Deploy {number}", "how to", "words " * 50, relative_path=f"{number}.md")
        for number in range(count)
    ]


def index_of(documents: list[Document], later: Later) -> FolderIndex:
    return FolderIndex(Folder(documents), later)  # type: ignore[arg-type]


def test_a_slice_holds_the_loop_for_a_few_notes_only(later: Later, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(n * indexing.SLICE_S / 4 for n in range(10 * NOTES))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    index = index_of(numbered(100), later)
    filed = []
    while later.run_one():
        filed.append(len(index.index))
    assert max(b - a for a, b in zip([0, *filed], filed, strict=False)) <= 4
    assert filed[-1] == 100


def test_who_waits_for_the_whole_index_is_called_once_when_all_is_filed(later: Later) -> None:
    index = index_of(numbered(NOTES), later)
    called: list[int] = []
    index.when_current(lambda: called.append(len(index.index)))
    assert called == []
    assert later.run_one()
    late = note("Late", relative_path="late.md")
    index.changed(None, late)
    while later.run_one():
        pass
    assert called == [NOTES + 1]
    index.when_current(lambda: called.append(-1))
    assert called == [NOTES + 1, -1]


def test_a_note_is_found_whether_it_is_filed_or_on_its_way(later: Later) -> None:
    documents = numbered(40)
    rare = note("Rollback window", "when to roll back", relative_path="rare.md")
    index = index_of([*documents, rare], later)
    query = query_terms("rollback window")

    def found() -> list[str]:
        pool = IndexedPool([index], partial=False)
        assert pool.size == 41
        ranked = pool.search(query, limit=5, now_ns=NOW_NS, keep=lambda _: True)
        assert not pool.partial
        return [each.document.title for each in ranked]

    assert index.behind
    assert found() == ["Rollback window"]
    while later.run_one():
        pass
    assert not index.behind
    assert found() == ["Rollback window"]
    changed = note("Lunch", relative_path="rare.md")
    index.changed(rare, changed)
    assert found() == []
    index.changed(changed, None)
    assert len(index) == 40


def test_few_changes_are_filed_before_a_search(later: Later) -> None:
    index = index_of(numbered(INLINE_NOTES), later)
    index.catch_up()
    assert not index.behind
    more = index_of(numbered(INLINE_NOTES + 1), later)
    more.catch_up()
    assert more.behind
