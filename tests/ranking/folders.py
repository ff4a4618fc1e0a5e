"""Folders of notes, indexed, and what the ranker says of the same notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.keys import query_terms
from memrecalld.ranking.ranker import rank
from memrecalld.ranking.retrieval import RankerIndex, Retrieval
from memrecalld.ranking.search import Keep, recent
from tests.ranking.notes import NOW_NS


class Folder:
    """The notes of a folder, and their index, which is told of every change."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.index = RankerIndex()
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
    """The documents of ``folders`` as the ranker is given them."""
    return [folder.documents[path] for folder in folders for path in sorted(folder.documents)]


def found(
    folders: Sequence[Folder], query: str, *, limit: int = 10, keep: Keep = everything
) -> list[Document]:
    """The notes that are recalled for ``query``, best first."""
    retrieval = Retrieval([folder.index for folder in folders], query_terms(query))
    return [each.document for each in retrieval.best(limit=limit, now_ns=NOW_NS, keep=keep)]


def assert_equal_to_ranker(
    folders: Sequence[Folder], query: str, *, limit: int, rejected: Collection[Document] = ()
) -> None:
    """``Retrieval`` and ``recent`` give the very documents, scores and order that ranking them all gives."""
    documents = pool(folders)
    indexes = [folder.index for folder in folders]
    unwanted = {id(document) for document in rejected}
    terms = query_terms(query)

    def keep(document: Document) -> bool:
        return id(document) not in unwanted

    expected = [each for each in rank(documents, terms, NOW_NS) if keep(each.document)][:limit]
    ranked = Retrieval(indexes, terms).best(limit=limit, now_ns=NOW_NS, keep=keep)
    assert [(each.position, each.score) for each in ranked] == [
        (each.position, each.score) for each in expected
    ]
    assert all(each.document is documents[each.position] for each in ranked)
    newest = recent(indexes, limit=limit, now_ns=NOW_NS, keep=keep)
    assert list(map(id, newest)) == list(map(id, most_recent(filter(keep, documents), limit, NOW_NS)))
    assert [len(index) for index in indexes] == [len(folder.documents) for folder in folders]
