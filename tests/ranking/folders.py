"""Folders of notes, indexed, and what the scorer says of the same notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.index import Index
from memrecalld.ranking.scorer import rank
from memrecalld.ranking.search import recent, search
from memrecalld.ranking.text import query_tokens
from tests.ranking.notes import NOW_NS


class Folder:
    """The notes of a folder, and their index, which is told of every change."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.index = Index()
        self.documents: dict[str, Document] = {}
        for document in documents:
            self.insert(document)

    def __repr__(self) -> str:
        return f"Folder({list(self.documents.values())!r})"

    def insert(self, document: Document) -> None:
        self.index.insert(document)
        self.documents[document.relative_path] = document

    def replace(self, old: Document, new: Document) -> None:
        self.index.replace(old, new)
        del self.documents[old.relative_path]
        self.documents[new.relative_path] = new

    def remove(self, document: Document) -> None:
        self.index.remove(document)
        del self.documents[document.relative_path]


def everything(_document: Document) -> bool:
    return True


def pool(folders: Iterable[Folder]) -> list[Document]:
    """The documents of ``folders`` as the scorer is given them."""
    return [folder.documents[path] for folder in folders for path in sorted(folder.documents)]


def assert_equal_to_scorer(
    folders: Sequence[Folder], query: str, *, limit: int, rejected: Collection[Document] = ()
) -> None:
    """``search`` and ``recent`` give the very documents, scores and order that scoring them all gives."""
    documents = pool(folders)
    indexes = [folder.index for folder in folders]
    unwanted = {id(document) for document in rejected}
    tokens = query_tokens(query)

    def keep(document: Document) -> bool:
        return id(document) not in unwanted

    expected = [each for each in rank(documents, tokens, NOW_NS) if keep(each.document)][:limit]
    ranked = search(indexes, tokens, limit=limit, now_ns=NOW_NS, keep=keep)
    assert [(each.position, each.score) for each in ranked] == [
        (each.position, each.score) for each in expected
    ]
    assert all(each.document is documents[each.position] for each in ranked)
    newest = recent(indexes, limit=limit, now_ns=NOW_NS, keep=keep)
    assert list(map(id, newest)) == list(map(id, most_recent(filter(keep, documents), limit, NOW_NS)))
    assert [len(index) for index in indexes] == [len(folder.documents) for folder in folders]
