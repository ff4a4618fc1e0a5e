"""The baseline scorer: weights, type boost, order, and the reasons it gives."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.memory.document import BODY_WINDOW_CHARS
from memrecalld.ranking.scorer import TYPE_KEYWORDS, Match, matches, rank, score, search_text
from memrecalld.ranking.text import query_tokens
from tests.ranking.notes import DAY_NS, GOLDEN, NOW_NS, STEADY, TYPES, note

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
VOCABULARY = ["deploy", "Deployment", "rule", "user", "部署流程", "ﾃﾞﾌﾟﾛｲ", "ΟΔΟΣ", "docs", "release", "ok"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join)
NOTES = st.builds(
    note,
    WORDS | ANY_TEXT,
    WORDS | ANY_TEXT,
    WORDS | ANY_TEXT,
    type=st.sampled_from(TYPES),
    modified_ns=st.integers(NOW_NS - 3, NOW_NS + 3),
)


@pytest.mark.parametrize("entry", GOLDEN["score"], ids=lambda entry: entry["name"])
def test_scores_of_measured_examples(entry):
    fields = entry["doc"]
    note_type = fields["type"] if fields["type"] in TYPES else "note"
    document = note(fields["title"], fields["description"], fields["body"], type=note_type)
    tokens = query_tokens(entry["query"])
    assert list(tokens) == entry["tokens"]
    assert score(document, tokens) == entry["score"]


def test_only_the_body_window_is_scored():
    inside = note(body="x" * (BODY_WINDOW_CHARS - 6) + "deploy")
    across = note(body="x" * (BODY_WINDOW_CHARS - 5) + "deploy")
    assert score(inside, ["deploy"]) == 1
    assert score(across, ["deploy"]) == 0


def test_type_words_match_nothing_by_themselves_for_any_type():
    for note_type, keywords in TYPE_KEYWORDS.items():
        assert score(note("Cadence", type=note_type), sorted(keywords)) == 0


def test_the_type_boost_is_at_most_two_for_every_type():
    for note_type, keywords in TYPE_KEYWORDS.items():
        boost = score(note("Cadence", type=note_type), ["cadence", *sorted(keywords)]) - 4
        assert boost == min(2, len(keywords))


def test_documents_without_a_match_are_not_ranked():
    assert rank([note("Lunch"), note("Deploy")], ["deploy"], NOW_NS)[0].position == 1
    assert len(rank([note("Lunch"), note("Deploy")], ["deploy"], NOW_NS)) == 1


def test_a_query_without_tokens_finds_nothing():
    assert rank([note("Deploy")], [], NOW_NS) == []


def test_equal_scores_are_ordered_by_recency_then_by_input_order_and_never_by_type():
    documents = [
        note("Deploy", type=note_type, modified_ns=NOW_NS - age * DAY_NS)
        for age in (3, 1, 2)
        for note_type in ("user", "feedback", "reference", "project")
    ]
    assert [each.position for each in rank(documents, ["deploy"], NOW_NS)] == [
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        0,
        1,
        2,
        3,
    ]


def test_a_time_in_the_future_counts_as_now():
    documents = [note("Deploy", modified_ns=NOW_NS), note("Deploy", modified_ns=NOW_NS + 900 * DAY_NS)]
    assert [each.position for each in rank(documents, ["deploy"], NOW_NS)] == [0, 1]
    assert [each.position for each in rank(documents[::-1], ["deploy"], NOW_NS)] == [0, 1]


def test_a_higher_score_goes_before_a_newer_note():
    documents = [note(body="deploy", modified_ns=NOW_NS), note("Deploy", modified_ns=0)]
    assert [(each.position, each.score) for each in rank(documents, ["deploy"], NOW_NS)] == [(1, 4), (0, 1)]


def test_held_search_texts_change_nothing_and_share_what_normalising_leaves_alone():
    document = note("deploy", "Notes on ＡＰＩ", "plain body")
    text = search_text(document)
    assert text.title is document.title
    assert text.body is document.body
    assert text.description == "notes on api"
    assert rank([document], ["api"], NOW_NS, [text]) == rank([document], ["api"], NOW_NS)


def test_search_texts_that_are_not_as_many_as_the_documents_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        rank([note("Deploy"), note("Deploy")], ["deploy"], NOW_NS, [search_text(note("Deploy"))])


def test_matches_name_each_token_and_field_with_its_weight():
    document = note("Deploy notes", "how to deploy", "Deploy with care; notes follow", type="project")
    assert matches(document, ["deploy", "notes", "absent"]) == (
        Match("deploy", "title", 4.0),
        Match("deploy", "description", 3.0),
        Match("deploy", "body", 1.0),
        Match("notes", "title", 4.0),
        Match("notes", "body", 1.0),
    )


@STEADY
@given(NOTES, WORDS | ANY_TEXT)
def test_matches_add_up_to_the_score_without_the_type_boost(document, query):
    tokens = query_tokens(query)
    weights = sum(match.weight for match in matches(document, tokens))
    points = score(document, tokens)
    assert (points == 0) == (weights == 0)
    assert 0 <= points - weights <= 2


@STEADY
@given(st.lists(NOTES, max_size=12), WORDS | ANY_TEXT)
def test_ranking_is_the_stated_order_of_exactly_the_matching_documents(documents, query):
    tokens = query_tokens(query)
    ranked = rank(documents, tokens, NOW_NS, map(search_text, documents))
    expected = [index for index, document in enumerate(documents) if score(document, tokens)]
    expected.sort(
        key=lambda index: (
            -score(documents[index], tokens),
            -min(documents[index].modified_ns, NOW_NS),
            index,
        )
    )
    assert [each.position for each in ranked] == expected
    for each in ranked:
        assert each.document is documents[each.position]
        assert each.score == score(each.document, tokens)


@STEADY
@given(NOTES, st.sampled_from(["deploy", "部署", "デプ", "rule"]), st.sampled_from(TYPES))
def test_a_match_in_the_title_is_above_the_same_match_in_the_body(other, token, note_type):
    rest = other.description
    titled = note(token, rest, "unrelated", type=note_type, modified_ns=0)
    mentioned = note("unrelated", rest, token, type=note_type, modified_ns=NOW_NS)
    assert [each.position for each in rank([mentioned, titled], [token], NOW_NS)] == [1, 0]


@STEADY
@given(NOTES, WORDS, WORDS)
def test_more_tokens_never_lower_a_score(document, query, more):
    assert score(document, query_tokens(query)) <= score(document, query_tokens(f"{query} {more}"))


def test_the_order_does_not_depend_on_where_higher_scores_stand():
    source = random.Random(7)
    documents = [
        note("Deploy" if number % 3 else "", "", "deploy", modified_ns=number) for number in range(60)
    ]
    expected = [each.document for each in rank(documents, ["deploy"], NOW_NS)]
    for _ in range(5):
        source.shuffle(documents)
        assert [each.document for each in rank(documents, ["deploy"], NOW_NS)] == expected
