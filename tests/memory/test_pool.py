"""The notes of several folders taken together."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.memory.document import Document, Scope
from memrecalld.memory.pool import CAP, capped, unique
from tests.memory.trees import scan


def document(number: int, modified_ns: int, scope: Scope = "project") -> Document:
    return Document(
        scope=scope,
        root="/notes",
        relative_path=f"{number}.md",
        type="note",
        type_label="",
        title=str(number),
        description="",
        body="",
        truncated=False,
        modified_ns=modified_ns,
        content_hash=b"",
    )


def test_file_that_two_roots_reach_belongs_to_the_first(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "one/two"
    two.mkdir(parents=True)
    (one / "a.md").write_text("# A")
    (two / "b.md").write_text("# B")
    (two / "link.md").symlink_to(one / "a.md")
    (tmp_path / "three").mkdir()
    os.link(two / "b.md", tmp_path / "three/c.md")
    (tmp_path / "three/d.md").write_text("# D")
    scans = [scan(one), scan(two, one, scope="user"), scan(tmp_path / "three", scope="user")]

    found = unique(scans)

    assert sum(len(each.entries) for each in scans) == 6
    assert [(each.root, each.relative_path) for each in found] == [
        (str(one), "a.md"),
        (str(one), "two/b.md"),
        (str(tmp_path / "three"), "d.md"),
    ]


def test_newest_of_each_scope_are_kept() -> None:
    pool = [document(number, number) for number in range(CAP + 50)]
    pool += [document(number, number, "user") for number in range(10)]

    kept = capped(pool, now_ns=1_000)

    assert [each.title for each in kept] == [
        *(str(number) for number in range(CAP + 49, 49, -1)),
        *(str(number) for number in range(9, -1, -1)),
    ]
    assert [each.scope for each in kept] == ["project"] * CAP + ["user"] * 10


def test_note_from_the_future_is_no_newer_than_one_from_now() -> None:
    pool = [document(0, 50), document(1, 100), document(2, 10**18), document(3, 100)]

    assert [each.title for each in capped(pool, now_ns=100)] == ["1", "2", "3", "0"]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["project", "user"])), max_size=40),
    st.integers(0, 8),
)
@settings(deadline=None)
def test_cap_keeps_the_newest_in_stable_order(notes: list[tuple[int, Scope]], limit: int) -> None:
    pool = [document(number, time, scope) for number, (time, scope) in enumerate(notes)]

    kept = capped(pool, now_ns=3, limit=limit)

    expected = []
    for scope in ("project", "user"):
        scoped = [each for each in pool if each.scope == scope]
        expected += sorted(scoped, key=lambda each: (-min(each.modified_ns, 3), int(each.title)))[:limit]
    assert kept == expected
