"""Retrieval from indexes gives what the ranker gives: the same notes, the same scores, the same order."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from memrecalld.memory.document import Document
from memrecalld.ranking.keys import query_terms
from memrecalld.ranking.ranker import rank
from memrecalld.ranking.retrieval import RankerIndex, Retrieval
from tests.ranking.notes import NOW_NS, STEADY, TYPES, note
from tests.ranking.scripts import TEXT

WORDS = [
    *("deploy", "deployed", "deploys", "retryBackoffMs", "retry_backoff_ms", "retry", "backoff", "CI", "ci"),
    *("C++", "k8s", "process", "policy", "policies", "the", "and", "project", "user", "preference", "naïve"),
    *("部署流程", "部署", "数据库备份", "デプロイ手順", "배포", "절차", "развёртывание", "σύνδεσης"),
]
MIXED = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | TEXT
TIMES = st.integers(NOW_NS - 2, NOW_NS + 2)
NOTES = st.builds(note, MIXED, MIXED, MIXED, type=st.sampled_from(TYPES), modified_ns=TIMES)


def filed(documents: list[Document], sizes: list[int]) -> list[dict[str, Document]]:
    """The documents in folders of these sizes, each under a path of its own."""
    chance = random.Random(len(documents))
    paths = chance.sample(range(10_000), len(documents))
    folders: list[dict[str, Document]] = []
    rest = list(zip(paths, documents, strict=True))
    for size in [*sizes, len(documents)]:
        part, rest = rest[:size], rest[size:]
        named = (note_at(document, f"{path:05}.md") for path, document in part)
        folders.append({document.relative_path: document for document in named})
    return folders


def note_at(document: Document, path: str) -> Document:
    fields = {
        name: getattr(document, name) for name in ("title", "description", "body", "type", "modified_ns")
    }
    return note(**fields, relative_path=path)


def indexed(folder: dict[str, Document]) -> RankerIndex:
    index = RankerIndex()
    for document in folder.values():
        index.insert(document)
    return index


def assert_same(
    folders: list[dict[str, Document]], indexes: list[RankerIndex], text: str, rejected: int
) -> None:
    documents = [folder[path] for folder in folders for path in sorted(folder)]
    unwanted = {id(document) for document in documents[:rejected]}
    query = query_terms(text)
    expected = [each for each in rank(documents, query, NOW_NS) if id(each.document) not in unwanted][:5]
    found = Retrieval(indexes, query).best(
        limit=5, now_ns=NOW_NS, keep=lambda document: id(document) not in unwanted
    )
    assert [(each.document.relative_path, each.score, each.position) for each in found] == [
        (each.document.relative_path, each.score, each.position) for each in expected
    ]


@STEADY
@given(st.lists(NOTES, max_size=12), st.lists(st.integers(0, 5), max_size=3), MIXED, st.integers(0, 3))
def test_retrieval_finds_what_the_ranker_finds(
    documents: list[Document], sizes: list[int], text: str, rejected: int
) -> None:
    folders = filed(documents, sizes)
    assert_same(folders, [indexed(folder) for folder in folders], text, rejected)


class Changes(RuleBasedStateMachine):
    """Two folders through inserts, edits and deletes."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: list[dict[str, Document]] = [{}, {}]
        self.indexes = [RankerIndex(), RankerIndex()]

    @rule(which=st.integers(0, 1), path=st.sampled_from(["a.md", "b.md", "sub/a.md", "é.md"]), new=NOTES)
    def write(self, which: int, path: str, new: Document) -> None:
        new = note_at(new, path)
        old = self.folders[which].get(path)
        if old is None:
            self.indexes[which].insert(new)
        else:
            self.indexes[which].replace(old, new)
        self.folders[which][path] = new

    @precondition(lambda self: any(self.folders))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        which, path = data.draw(
            st.sampled_from([(n, path) for n in (0, 1) for path in sorted(self.folders[n])])
        )
        self.indexes[which].remove(self.folders[which].pop(path))

    @rule(text=MIXED, rejected=st.integers(0, 2))
    def ask(self, text: str, rejected: int) -> None:
        assert_same(self.folders, self.indexes, text, rejected)


TestChanges = Changes.TestCase
TestChanges.settings = STEADY
