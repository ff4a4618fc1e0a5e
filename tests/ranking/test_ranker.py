"""The product's ranker: what is recalled, in which order, and when nothing is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.memory.document import Document
from memrecalld.ranking import ranker
from memrecalld.ranking.keys import document_keys, query_terms
from tests.ranking.notes import DAY_NS, NOW_NS, STEADY, note


def recalled(notes: list[Document], query: str) -> list[str]:
    """Titles, best first."""
    return [each.document.title for each in ranker.rank(notes, query_terms(query), NOW_NS)]


def titled(*titles: str) -> list[Document]:
    return [note(title, relative_path=f"{number}.md") for number, title in enumerate(titles)]


SMALL_STORE = titled(
    "CI runners", "DB choice: Postgres", "Go build flags", "k8s namespaces", "C++ style", "Lunch menu"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("CI", "CI runners"),
        ("ci failures", "CI runners"),
        ("which DB do we use", "DB choice: Postgres"),
        ("go build", "Go build flags"),
        ("k8s", "k8s namespaces"),
        ("C++", "C++ style"),
    ],
)
def test_short_and_signed_words_find_their_note_alone(query: str, expected: str) -> None:
    assert recalled(SMALL_STORE, query) == [expected]


def test_a_word_of_chat_is_no_name() -> None:
    assert recalled(SMALL_STORE, "is it ok to go on") == []


BACKOFF = [
    note("A", body="the client waits `retryBackoffMs`"),
    note("B", body="the connector waits `retry_backoff_ms`"),
    note("user retry policy"),
]


@pytest.mark.parametrize("query", ["retryBackoffMs", "retry-backoff-ms", "RetryBackoffMS"])
def test_an_identifier_in_any_style_is_ahead_of_a_part_of_it(query: str) -> None:
    assert set(recalled(BACKOFF, query)[:2]) == {"A", "B"}


def test_the_same_style_is_ahead_of_another() -> None:
    assert recalled(BACKOFF, "retryBackoffMs")[:2] == ["A", "B"]
    assert recalled(BACKOFF, "retry_backoff_ms")[:2] == ["B", "A"]


def test_parts_of_an_identifier_are_words() -> None:
    assert recalled(BACKOFF, "retry backoff")[:2] == ["A", "B"]


def test_an_exact_identifier_is_ahead_of_all_parts_and_those_ahead_of_some() -> None:
    notes = [
        note("some", body="the user may change it"),
        note("all", body="the config of the user"),
        note("exact", body="see `user_config`"),
        note("unrelated", body="nothing of the sort"),
    ]
    assert recalled(notes, "userConfig") == ["exact", "all", "some"]


def test_a_name_is_split_before_it_is_folded() -> None:
    assert recalled(titled("http server v2", "HTTPS"), "HTTPServerV2") == ["http server v2"]


FULL_OF_FUNCTION_WORDS = [
    note(
        f"Topic {number}",
        body=f"The one and the other: please go and do not wait, then do it, part {number}.",
    )
    for number in range(30)
]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "ok",
        "go on",
        "yes please do that",
        "👍",
        "???",
        "asdf qwer zxcv",
        "的 了 吗",
        "und dann weiter",
    ],
)
def test_small_talk_finds_nothing(query: str) -> None:
    assert recalled(FULL_OF_FUNCTION_WORDS, query) == []


@pytest.mark.parametrize("query", ["", "   ", "ok", "go on", "yes please do that", "👍", "???", "的 了 吗"])
def test_small_talk_asks_for_nothing(query: str) -> None:
    assert not query_terms(query).carries


INFLECTED = titled(
    "Bug triage", "Timestamps are UTC", "Serialization format", "News feed", "New hires", "Retention policy"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("bugs", "Bug triage"),
        ("timestamp", "Timestamps are UTC"),
        ("serialize", "Serialization format"),
        ("policies", "Retention policy"),
        ("news", "News feed"),
    ],
)
def test_another_form_of_a_word_finds_its_note_alone(query: str, expected: str) -> None:
    assert recalled(INFLECTED, query) == [expected]


def test_the_form_as_written_is_ahead_of_a_plural_and_that_of_other_forms() -> None:
    notes = titled("backfilling", "backfills", "backfill")
    assert recalled(notes, "backfill") == ["backfill", "backfills", "backfilling"]


CJK = titled(
    "部署流程", "数据库备份", "測試資料", "デプロイ手順", "배포 절차", "L0 ingest", "𠮷野家", "ระบบสำรอง"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("数据库怎么备份", ["数据库备份"]),
        ("部署deploy失败", ["部署流程"]),
        ("L0录入规则", ["L0 ingest"]),
        ("배포는 어떻게", ["배포 절차"]),
        ("デプロイ手順は", ["デプロイ手順"]),
        ("𠮷野家", ["𠮷野家"]),
        ("这个怎么办", []),  # every question has it
        ("库", []),  # one character is no word
        ("ระบบสำรอง", ["ระบบสำรอง"]),
        ("ระบบสำรองทำงานอย่างไร", []),  # Thai is not cut into words
    ],
)
def test_chinese_japanese_and_korean(query: str, expected: list[str]) -> None:
    assert recalled(CJK, query) == expected


def test_one_generic_pair_is_not_enough() -> None:
    notes = [note("发布检查", body="出现问题时先看日志"), note("数据库备份", body="每天一次")]
    assert recalled(notes, "这个问题怎么办") == []


PROJECTS = [
    note(f"Note {number}", body=f"{'project ' * 5} number {number}", relative_path=f"{number}.md")
    for number in range(40)
]
FLAMINGO = note("Logo", body="the project has one flamingo")


@pytest.mark.parametrize("query", ["project flamingo", "the flamingo project deadline"])
def test_the_rare_word_decides(query: str) -> None:
    assert recalled([*PROJECTS, FLAMINGO], query)[0] == "Logo"


def test_a_word_that_all_notes_hold_chooses_none() -> None:
    assert recalled([*PROJECTS, FLAMINGO], "project") == []


def test_the_only_note_of_a_store_is_found() -> None:
    assert recalled([FLAMINGO], "flamingo") == ["Logo"]
    assert recalled([FLAMINGO], "unicorn") == []


def test_repeating_a_word_counts_nothing() -> None:
    once, often = note("a", body="one heron"), note("b", body="heron heron heron heron")
    assert scores([once, often], "heron")["a"] == scores([once, often], "heron")["b"]


def scores(notes: list[Document], query: str) -> dict[str, int]:
    return {each.document.title: each.score for each in ranker.rank(notes, query_terms(query), NOW_NS)}


def test_a_match_in_the_head_is_ahead_of_the_same_match_in_the_body() -> None:
    notes = [
        note("in the body", "described", "heron"),
        note("in the description", "heron", "text"),
        note("heron", "described", "text"),
    ]
    assert recalled(notes, "heron") == ["heron", "in the description", "in the body"]


def test_a_further_field_adds_less_than_a_further_word() -> None:
    notes = [note("heron", "heron", "heron"), note("heron nest", "elsewhere", "elsewhere")]
    assert recalled(notes, "heron nest")[0] == "heron nest"


def test_keywords_and_usage_scenarios_are_searched() -> None:
    notes = [note("a", keywords=("heron",)), note("b", usage_scenarios=("a stork is seen",)), note("c")]
    assert recalled(notes, "heron") == ["a"]
    assert recalled(notes, "stork") == ["b"]


def test_an_inner_piece_of_a_word_is_no_match() -> None:
    assert recalled(titled("Transport", "Ownership"), "port owner") == []


def test_a_country_in_capitals_is_not_a_pronoun() -> None:
    notes = titled("Refunds EU", "Refunds US")
    assert recalled(notes, "refunds in the US")[0] == "Refunds US"
    assert (
        scores(notes, "give us the refunds")["Refunds US"]
        == scores(notes, "give us the refunds")["Refunds EU"]
    )
    assert recalled(notes, "CAN YOU TELL US") == []


def test_one_letter_is_a_name_where_it_is_a_capital() -> None:
    notes = titled("Board rev B", "Board rev C", "Board with a fan")
    assert recalled(notes, "which board is rev C")[0] == "Board rev C"
    assert recalled(notes, "rev b board")[0] == "Board rev B"


def test_words_for_a_type_prefer_its_notes_after_a_match() -> None:
    notes = [
        note("heron one", type="project"),
        note("heron two", type="feedback"),
        note("x", type="feedback"),
    ]
    assert recalled(notes, "heron rule") == ["heron two", "heron one"]
    plain = scores(notes, "heron")["heron two"]
    boosted = scores(notes, "heron rules style avoid")["heron two"]
    assert boosted - plain == ranker.MAX_TYPE_BOOSTS * ranker.TYPE_BOOST


def test_a_word_for_a_type_that_no_note_holds_is_not_missed() -> None:
    notes = [note("heron", type="feedback"), *titled(*(f"topic{number}" for number in range(20)))]
    assert recalled(notes, "feedback rules for the heron") == ["heron"]
    assert recalled(notes, "turbines pylons for the heron") == []
    assert recalled(notes, "feedback rules") == []


def test_a_word_spelt_by_its_sound_finds_an_english_note_beside_a_name() -> None:
    notes = titled("Addressables: catalog updates", *(f"topic{number}" for number in range(40)))
    assert recalled(notes, "Addressables 카탈로그 업데이트 다운로드") == ["Addressables: catalog updates"]
    assert recalled(notes, "Addressables カタログ アップデート ダウンロード") == [
        "Addressables: catalog updates"
    ]


def test_newer_first_then_input_order_on_ties_and_the_future_counts_as_now() -> None:
    notes = [
        note("old", body="heron", modified_ns=NOW_NS - 9 * DAY_NS, type="feedback"),
        note("first", body="heron", modified_ns=NOW_NS + DAY_NS, type="user"),
        note("second", body="heron", modified_ns=NOW_NS, type="feedback"),
        note("third", body="heron", modified_ns=NOW_NS + 2 * DAY_NS, type="project"),
    ]
    assert recalled(notes, "heron") == ["first", "second", "third", "old"]


def test_given_keys_must_be_as_many_as_the_documents() -> None:
    with pytest.raises(ValueError, match="zip"):
        ranker.rank(SMALL_STORE, query_terms("CI"), NOW_NS, [])


def explained(notes: list[Document], document: Document, query: str) -> ranker.Explanation:
    terms = query_terms(query)
    counts = ranker.frequencies(terms, map(document_keys, notes))
    return ranker.explain(document, terms, ranker.weigh(terms, counts, len(notes)))


def test_an_explanation_names_words_and_fields() -> None:
    document = note("Heron nests", "where the heron nests", "ask the ranger")
    why = explained([document], document, "rangers of the heron")
    assert [(match.term, match.field) for match in why.matches] == [
        ("rangers", "body"),
        ("heron", "title"),
        ("heron", "description"),
    ]
    assert why.recalled


def test_an_explanation_says_why_not() -> None:
    document = note("Tables", body="a table of herons")
    notes = [document, *PROJECTS]
    query = "a latex table with coloured rows and merged columns"
    why = explained(notes, document, query)
    assert recalled(notes, query) == []
    assert not why.recalled
    assert 0 < why.evidence < why.needed
    assert [match.term for match in why.matches] == ["table", "table"]


_WORDS = """
    heron herons nest nests nesting the and go C++ .NET rev B US us retryBackoffMs retry_backoff_ms parse-user
    数据库 备份 怎么办 性能 デプロイ 手順 書き込み 배포는 서버에서 어떻게 обучение обучения εφαρμογή ﬁx ＣＩ
    project rules 42 x
"""
WORDS = _WORDS.split()
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
documents = st.lists(
    st.builds(
        note,
        texts,
        texts,
        texts,
        type=st.sampled_from(["user", "feedback", "project", "note"]),
        modified_ns=st.integers(0, 3).map(lambda days: NOW_NS - days * DAY_NS),
    ),
    max_size=8,
)


def ranking(notes: list[Document], query: str, **more: Any) -> list[tuple[int, int]]:
    return [(each.position, each.score) for each in ranker.rank(notes, query_terms(query), NOW_NS, **more)]


@STEADY
@given(notes=documents, query=texts)
def test_what_is_found_is_explained_to_the_digit(notes: list[Document], query: str) -> None:
    found = dict(ranking(notes, query))
    for position, document in enumerate(notes):
        why = explained(notes, document, query)
        assert why.recalled == (position in found)
        if position in found:
            assert why.score == found[position] > 0
            boost = why.score - sum(match.weight for match in why.matches)
            assert boost == pytest.approx(round(boost), abs=1e-6)
            assert 0 <= round(boost) <= ranker.MAX_TYPE_BOOSTS * ranker.TYPE_BOOST


@STEADY
@given(notes=documents, query=texts, data=st.data())
def test_the_order_of_the_documents_changes_no_score(
    notes: list[Document], query: str, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(notes))))
    shuffled = [notes[place] for place in order]
    assert dict(ranking(notes, query)) == {order[place]: score for place, score in ranking(shuffled, query)}


@STEADY
@given(notes=documents, query=texts)
def test_keys_made_before_give_the_same(notes: list[Document], query: str) -> None:
    assert ranking(notes, query) == ranking(notes, query, keys=[document_keys(each) for each in notes])


@STEADY
@given(notes=documents, query=texts)
def test_function_words_change_nothing(notes: list[Document], query: str) -> None:
    assert ranking(notes, query) == ranking(notes, f"the {query} and then")


@STEADY
@given(notes=documents, query=texts)
def test_the_order_is_by_score_then_time_then_place(notes: list[Document], query: str) -> None:
    found = ranking(notes, query)
    assert found == sorted(found, key=lambda each: (-each[1], -notes[each[0]].modified_ns, each[0]))
