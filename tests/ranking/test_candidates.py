"""Candidates for the selector: the best matches and the newest notes, alternating."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.candidates import (
    LEXICAL_CANDIDATES,
    MAX_CANDIDATES,
    RECENT_FILL,
    candidates,
    interleave,
    most_recent,
)
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.scorer import rank
from tests.ranking.notes import DAY_NS, NOW_NS, STEADY, note, numbered


def choose(documents, tokens=("deploy",)):
    return candidates(rank(documents, tokens, NOW_NS), documents, NOW_NS)


def test_a_small_pool_is_taken_whole_with_matches_first():
    documents = [*numbered(5), note("Deploy", modified_ns=0)]
    assert choose(documents) == [documents[5], *documents[:5]]


def test_matches_and_newest_alternate():
    others = numbered(3)
    matching = [
        note("Deploy", relative_path=f"match{number}.md", modified_ns=-number * DAY_NS) for number in range(3)
    ]
    assert choose([*others, *matching]) == [
        matching[0],
        others[0],
        matching[1],
        others[1],
        matching[2],
        others[2],
    ]


def test_at_most_180_matches_and_at_least_20_newest_of_the_rest():
    matching = numbered(300, body="deploy", modified_ns=0)
    others = [
        note(f"Other {number}", relative_path=f"o{number}.md", modified_ns=NOW_NS - number)
        for number in range(50)
    ]
    chosen = choose(matching + others)
    assert len(chosen) == MAX_CANDIDATES
    assert chosen[1:40:2] == others[:20]
    assert chosen[0:40:2] + chosen[40:] == matching[:LEXICAL_CANDIDATES]


def test_the_newest_of_the_rest_may_be_matches_beyond_the_180():
    documents = [*numbered(200, body="deploy"), note("Lunch", modified_ns=0)]
    documents += [note(body="deploy deploy", relative_path="late.md", modified_ns=NOW_NS - 300 * DAY_NS)]
    chosen = choose(documents)
    assert {document.path for document in chosen} == {document.path for document in documents[:200]}


def test_without_a_match_the_newest_200_are_taken():
    documents = numbered(251)
    assert choose(documents) == documents[:MAX_CANDIDATES]


def test_the_oldest_of_251_documents_is_first_in_the_manifest_when_it_alone_matches():
    documents = numbered(250, description="An ordinary note of the team, about this and that")
    documents.append(note("Deploy runbook", relative_path="old.md", modified_ns=0))
    manifest = Manifest(choose(documents))
    assert len(manifest) == MAX_CANDIDATES
    assert manifest.text.startswith("m1 reference 1970-01-01 Deploy runbook\n")
    assert manifest.resolve(["m1"]) == [documents[250]]


def test_both_kinds_survive_a_cut_by_size():
    matching = numbered(180, body="deploy", description="d" * 500, modified_ns=0)
    others = [
        note(f"Other {number}", "d" * 500, relative_path=f"o{number}.md", modified_ns=NOW_NS - number)
        for number in range(60)
    ]
    manifest = Manifest(choose(matching + others))
    shown = manifest.resolve(manifest.ids)
    assert len(shown) < 60
    assert [document for document in shown if document in matching] == matching[: len(shown) - 20]
    assert [document for document in shown if document in others] == others[:20]


def test_the_newest_are_ordered_by_time_then_by_input_order_and_a_future_time_counts_as_now():
    documents = [
        note(f"{number}", modified_ns=NOW_NS + offset * DAY_NS)
        for number, offset in enumerate([-1, 5, -2, 0, -1, 9])
    ]
    assert most_recent(documents, 5, NOW_NS) == [documents[index] for index in (1, 3, 5, 0, 4)]


def test_looking_at_the_newest_200_is_enough_to_fill_every_place():
    documents = numbered(500)
    lexical = documents[: LEXICAL_CANDIDATES + 30]
    assert len(interleave(lexical, documents[:RECENT_FILL])) == MAX_CANDIDATES


@STEADY
@given(
    st.lists(st.tuples(st.booleans(), st.integers(NOW_NS - 5, NOW_NS + 5)), max_size=260),
    st.booleans(),
)
def test_candidates_are_distinct_bounded_and_complete_for_any_pool(kinds, reverse):
    documents = [
        note("Deploy" if matching else "Other", relative_path=f"{number}.md", modified_ns=time)
        for number, (matching, time) in enumerate(kinds)
    ]
    if reverse:
        documents.reverse()
    ranked = rank(documents, ["deploy"], NOW_NS)
    chosen = candidates(ranked, documents, NOW_NS)
    paths = [document.path for document in chosen]
    assert len(paths) == len(set(paths)) == min(MAX_CANDIDATES, len(documents))
    lexical = [each.document.path for each in ranked[:LEXICAL_CANDIDATES]]
    assert [path for path in paths if path in set(lexical)] == lexical
    assert chosen == candidates(ranked, documents, NOW_NS)
