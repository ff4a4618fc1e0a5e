"""A note's terms: a token occurs in a field exactly where it occurs in one of the field's terms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.scorer import search_text
from memrecalld.ranking.terms import BODY, DESCRIPTION, MIN_WORD_CHARS, TITLE, document_terms
from memrecalld.ranking.text import tokens
from tests.ranking.notes import STEADY, note
from tests.ranking.scripts import TEXT


@STEADY
@given(TEXT, TEXT, TEXT, TEXT, st.data())
def test_a_token_is_in_a_field_exactly_when_it_is_in_one_of_its_terms(title, description, body, query, data):
    document = note(title, description, body)
    text = search_text(document)
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    terms = document_terms(document)
    for token in (*tokens(query), *tokens(body[start:end]), *tokens(title + description)):
        for field, value in ((TITLE, text.title), (DESCRIPTION, text.description), (BODY, text.body)):
            held = [term for term, mask in terms.items() if mask & field]
            found = any(token in term for term in held) if len(token) >= MIN_WORD_CHARS else token in held
            assert found == (token in value)


@STEADY
@given(TEXT)
def test_every_token_of_a_text_is_a_term_or_part_of_one(text):
    terms = document_terms(note(body=text))
    assert all(any(token in term for term in terms) for token in tokens(note(body=text).body))


def test_a_term_names_all_fields_that_hold_it():
    document = note("Deploy", "deploy the API", "how we deploy: the API, the_docs")
    assert document_terms(document) == {
        "deploy": TITLE | DESCRIPTION | BODY,
        "the": DESCRIPTION | BODY,
        "api": DESCRIPTION | BODY,
        "how": BODY,
        "docs": BODY,
    }


def test_chinese_japanese_and_korean_runs_are_filed_by_pairs_and_end_words():
    document = note("abc部署流程def", "デプロイー", "배포 한")
    assert document_terms(document) == {
        **dict.fromkeys(("abc", "部署", "署流", "流程", "def"), TITLE),
        **dict.fromkeys(("デプ", "プロ", "ロイ", "イー"), DESCRIPTION),
        "배포": BODY,
    }


def test_a_run_that_begins_with_a_mark_is_filed_whole():
    assert document_terms(note("\u0301abc")) == {"\u0301abc": TITLE}
