"""Whatever notes come, change and go, in whatever order, the index goes on giving what the scorer gives."""

from __future__ import annotations

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memrecalld.ranking.terms import document_terms
from tests.ranking.folders import Folder, assert_equal_to_scorer, pool
from tests.ranking.notes import NOW_NS, STEADY, TYPES, note
from tests.ranking.scripts import TEXT

PLACES = st.integers(0, 1)
NAMES = st.sampled_from(("a", "b", "b/a", "é", "z"))
TIMES = st.integers(NOW_NS - 2, NOW_NS + 2)
FIELDS = st.fixed_dictionaries(
    {
        "title": TEXT,
        "description": TEXT,
        "body": TEXT,
        "type": st.sampled_from(TYPES),
        "modified_ns": TIMES,
    }
)


class IndexedFolders(RuleBasedStateMachine):
    """Two folders of at most five notes each, so that paths, words and numbers are used again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.folders = [Folder([]), Folder([])]

    @rule(place=PLACES, name=NAMES, fields=FIELDS)
    def save(self, place, name, fields):
        folder = self.folders[place]
        new = note(relative_path=name, **fields)
        if name in folder.documents:
            folder.replace(folder.documents[name], new)
        else:
            folder.insert(new)

    @rule(place=PLACES, name=NAMES, fields=FIELDS, field=st.sampled_from(("title", "description", "body")))
    def edit_one_field(self, place, name, fields, field):
        if old := self.folders[place].documents.get(name):
            self.folders[place].replace(old, msgspec.structs.replace(old, **{field: fields[field]}))

    @rule(place=PLACES, name=NAMES, modified_ns=TIMES)
    def touch(self, place, name, modified_ns):
        if old := self.folders[place].documents.get(name):
            self.folders[place].replace(old, msgspec.structs.replace(old, modified_ns=modified_ns))

    @rule(place=PLACES, name=NAMES, new_name=NAMES)
    def rename(self, place, name, new_name):
        documents = self.folders[place].documents
        if name in documents and new_name not in documents:
            old = documents[name]
            self.folders[place].replace(old, msgspec.structs.replace(old, relative_path=new_name))

    @rule(place=PLACES, name=NAMES)
    def delete(self, place, name):
        if old := self.folders[place].documents.get(name):
            self.folders[place].remove(old)

    @rule(query=TEXT, limit=st.integers(0, 11), data=st.data())
    def search(self, query, limit, data):
        documents = pool(self.folders)
        rejected = data.draw(st.sets(st.integers(0, len(documents))))
        unwanted = [document for number, document in enumerate(documents) if number in rejected]
        assert_equal_to_scorer(self.folders, query, limit=limit, rejected=unwanted)

    @invariant()
    def every_note_is_found_by_what_it_says(self):
        for document in pool(self.folders):
            for query in (document.title, document.description, document.body):
                assert_equal_to_scorer(self.folders, query, limit=11)

    def teardown(self):
        """Nothing of the notes is left when they are gone."""
        terms = {term for document in pool(self.folders) for term in document_terms(document)}
        for folder in self.folders:
            for document in list(folder.documents.values()):
                folder.remove(document)
            assert len(folder.index.occurrences(terms).ordinals) == 0


TestIndexedFolders = IndexedFolders.TestCase
TestIndexedFolders.settings = settings(STEADY, max_examples=40, stateful_step_count=20)
