"""The index gives what the ranker gives: the same documents, the same scores, the same order."""

from __future__ import annotations

import gc
import random
import tracemalloc
from itertools import accumulate

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.memory.document import Document
from memrecalld.ranking.keys import BODY, DESCRIPTION, TITLE, document_keys, query_terms
from memrecalld.ranking.occurrences import FIELD_BITS
from memrecalld.ranking.retrieval import RankerIndex
from memrecalld.ranking.search import recent
from tests.ranking.folders import Folder, assert_equal_to_ranker, everything, found, pool
from tests.ranking.notes import DAY_NS, NOW_NS, STEADY, TYPES, note, numbered
from tests.ranking.scripts import TEXT

TIMES = st.integers(NOW_NS - 2, NOW_NS + 2) | st.sampled_from((0, -DAY_NS, NOW_NS + 900 * DAY_NS))
PATHS = st.sampled_from(
    [f"{place}{name}.md" for place in ("", "b/", "é/") for name in ("a", "b", "a-b", "Z")]
)
NOTES = st.builds(note, TEXT, TEXT, TEXT, type=st.sampled_from(TYPES), modified_ns=TIMES, relative_path=PATHS)
FOLDERS = st.lists(
    st.lists(NOTES, max_size=8, unique_by=lambda document: document.relative_path).map(Folder), max_size=3
)


@STEADY
@given(FOLDERS, TEXT, st.integers(0, 12), st.data())
def test_the_index_finds_what_the_ranker_finds(folders, query, limit, data):
    documents = pool(folders)
    if documents:
        # A part of a note: what it finds is not left to chance.
        source = data.draw(st.sampled_from(documents))
        text = f"{source.title} {source.body}"
        start = data.draw(st.integers(0, len(text)))
        query += f" {text[start : data.draw(st.integers(start, len(text)))]}"
    rejected = data.draw(st.sets(st.sampled_from(range(len(documents))))) if documents else ()
    assert_equal_to_ranker(folders, query, limit=limit, rejected=[documents[each] for each in rejected])


def test_a_large_pool_is_found_as_the_ranker_finds_it():
    source = random.Random(11)
    words = ["".join(source.choices("etaoinshr部署流程", k=source.randint(1, 7))) for _ in range(400)]
    weights = list(accumulate(1 / (place + 1) for place in range(len(words))))

    def text(count):
        return " ".join(source.choices(words, cum_weights=weights, k=count))

    folders = [
        Folder(
            note(
                text(3),
                text(8),
                text(40),
                relative_path=f"{source.random()}.md",
                type=source.choice(TYPES),
                modified_ns=NOW_NS + source.randint(-20, 4),
            )
            for _ in range(size)
        )
        for size in (900, 1, 0, 300)
    ]
    documents = pool(folders)
    for count in (1, 2, 6, 64):
        rejected = source.sample(documents, 600)
        assert_equal_to_ranker(folders, text(count), limit=source.choice((5, 180)), rejected=rejected)
        assert_equal_to_ranker(folders, text(count), limit=len(documents), rejected=())


def test_equal_scores_of_one_time_are_ordered_by_folder_then_by_path():
    folders = [Folder(note("Deploy", relative_path=path) for path in paths) for paths in ("ZaöB", "zA")]
    assert [document.relative_path for document in found(folders, "deploy")] == [*"BZaö", *"Az"]


def test_without_indexes_or_documents_or_tokens_nothing_is_found():
    assert found([], "deploy") == []
    assert found([Folder([])], "deploy") == []
    assert found([Folder([note("Deploy")])], "") == []
    assert recent([], limit=3, now_ns=NOW_NS, keep=everything) == []
    assert recent([Folder([]).index], limit=3, now_ns=NOW_NS, keep=everything) == []


@pytest.mark.parametrize("rejected", [0, 7, 1_000, 1_995])
def test_keep_is_asked_about_the_best_only_in_their_order(rejected):
    documents = numbered(2_000)
    others = [note("Lunch", relative_path=f"other/{number}.md", modified_ns=0) for number in range(1_500)]
    folder = Folder([*documents, *others])
    asked: list[Document] = []

    def keep(document):
        asked.append(document)
        return len(asked) > rejected

    assert found([folder], "note", limit=5, keep=keep) == documents[rejected : rejected + 5]
    assert asked == documents[: rejected + 5]
    asked.clear()
    assert recent([folder.index], limit=5, now_ns=NOW_NS, keep=keep) == documents[rejected : rejected + 5]
    assert asked == documents[: rejected + 5]


def test_times_beyond_64_bits_are_as_old_or_new_as_times_can_be():
    documents = [
        note(f"Deploy {number}", modified_ns=time)
        for number, time in enumerate((2**80, NOW_NS - 1, -(2**62), -(2**80)))
    ]
    folder = Folder(reversed(documents))
    assert found([folder], "deploy") == documents
    assert recent([folder.index], limit=4, now_ns=NOW_NS, keep=everything) == documents
    assert recent([folder.index], limit=4, now_ns=2**80, keep=everything) == documents


def test_an_edited_note_is_found_by_its_new_words_only():
    old, new = (
        note("Deploy", "staging", "rules", relative_path="a"),
        note("Lunch", "rules", relative_path="a"),
    )
    folder = Folder([old, note("Other", "deployment of staging", relative_path="b")])
    folder.replace(old, new)
    assert_equal_to_ranker([folder], "deploy staging rules lunch", limit=5)
    assert found([folder], "lunch") == [new]
    assert new not in found([folder], "deploy staging")
    newer = msgspec.structs.replace(new, body="dinner")
    folder.replace(new, newer)
    assert found([folder], "dinner") == [newer]


def test_a_touched_note_changes_its_place_and_a_renamed_note_its_path():
    first, second = numbered(2)
    folder = Folder([first, second])
    touched = msgspec.structs.replace(second, modified_ns=NOW_NS)
    folder.replace(second, touched)
    assert found([folder], "note") == [touched, first]
    renamed = msgspec.structs.replace(touched, relative_path="elsewhere.md")
    folder.replace(touched, renamed)
    assert found([folder], "note") == [renamed, first]
    assert found([folder], "note")[0] is renamed


def test_a_second_note_of_a_path_is_refused_and_changes_nothing():
    first, second = note("Deploy", relative_path="a"), note("Lunch", relative_path="b")
    folder = Folder([first, second])
    intruder = note("Intruder", relative_path="a")
    with pytest.raises(ValueError, match="holds a document"):
        folder.index.insert(intruder)
    with pytest.raises(ValueError, match="holds a document"):
        folder.index.replace(second, intruder)
    assert found([folder], "intruder") == []
    assert list(folder.index) == [first, second]


def test_a_note_that_is_not_there_cannot_be_changed():
    folder = Folder([note("Deploy", relative_path="b")])
    for path in "ac":
        missing = note("Missing", relative_path=path)
        with pytest.raises(ValueError, match="holds no document"):
            folder.index.remove(missing)
        with pytest.raises(ValueError, match="holds no document"):
            folder.index.replace(missing, note("Missing", relative_path="d"))
    assert len(folder.index) == 1
    assert found([folder], "missing") == []


@pytest.mark.parametrize("others", [0, 200])
def test_occurrences_tell_for_each_group_of_keys_which_fields_hold_one(others):
    notes = [note("deploy", "", "deploy"), note("", "retry"), note("lunch"), note("backoff", "", "retry")]
    filler = [note(f"other{number}") for number in range(others)]
    index = Folder([*notes, *filler]).index
    second, third = FIELD_BITS, 2 * FIELD_BITS

    def masks(*groups):
        held = index.occurrences(groups)
        sums = np.zeros(index.capacity, np.int64)
        held.add(np.arange(1 << third + FIELD_BITS), sums)
        assert held.frequency == np.count_nonzero(sums)
        return {index.document(ordinal): sums[ordinal] for ordinal in np.flatnonzero(sums)}

    assert masks(("deploy", "retry"), ("absent",), ("backoff", "retry")) == {
        notes[0]: TITLE | BODY,
        notes[1]: DESCRIPTION | DESCRIPTION << third,
        notes[3]: BODY | (TITLE | BODY) << third,
    }
    assert masks(("absent",), ("backoff",)) == {notes[3]: TITLE << second}
    assert masks(("absent",)) == {}
    assert masks() == {}


@STEADY
@given(FOLDERS, TEXT)
def test_the_index_explains_a_note_as_the_note_itself_does(folders, query):
    terms = query_terms(query)
    asked = [key for term in terms.terms for _, keys in term.forms for key in keys]
    for folder in folders:
        for document in folder.documents.values():
            held = document_keys(document)
            assert folder.index.masks(document, asked) == {key: held[key] for key in asked if key in held}


def test_an_index_says_nothing_of_a_note_that_it_does_not_hold():
    index = Folder([note("Deploy", relative_path="b")]).index
    assert index.masks(note("Deploy", relative_path="a"), ["deploy"]) is None
    assert index.masks(note("Deploy now", relative_path="b"), ["deploy"]) is None
    assert index.masks(note("Deploy", relative_path="b"), ["deploy", "now"]) == {"deploy": TITLE}


def test_notes_that_come_and_go_leave_nothing_behind():
    index = RankerIndex()

    def come_and_go(times):
        for number in range(times):
            passing = note(f"passing{number % 100}", "", "部署 and words", relative_path=f"{number % 7}.md")
            index.insert(passing)
            index.remove(passing)

    def traced() -> int:
        gc.collect()  # which gives back what the interpreter has put by, too
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        come_and_go(300)
        before = traced()
        come_and_go(1_000)
        after = traced()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
    assert len(index) == 0
    assert index.capacity == 1
    assert index.occurrences([("部署", "words")]).frequency == 0


def test_notes_are_no_work_for_the_garbage_collector():
    index = RankerIndex()
    index.insert(note("Deploy", relative_path="first"))
    gc.collect()
    before = len(gc.get_objects())
    for number in range(300):
        index.insert(
            note(f"note{number % 3}", f"word{number % 50}", f"own{number}", relative_path=str(number))
        )
    gc.collect()
    assert len(gc.get_objects()) - before < 30
