"""What a selector's answer may look like, and that everything else is a failed selection."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.errors import SelectionError
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.selection import MAX_ANSWER_CHARS, MAX_SELECTED, parse_selection
from tests.ranking.notes import STEADY, numbered

DOCUMENTS = numbered(10)
MANIFEST = Manifest(DOCUMENTS)
GOOD = '{"selected": ["m3", "m7"]}'


def refused(answer: str) -> str:
    with pytest.raises(SelectionError) as caught:
        parse_selection(answer, MANIFEST)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None, "a decoder's error would carry the answer"
    return str(caught.value)


def test_the_documents_of_the_ids_come_in_the_answer_s_order():
    assert parse_selection('{"selected": ["m7", "m3"]}', MANIFEST) == [DOCUMENTS[6], DOCUMENTS[2]]


def test_an_empty_choice_is_valid():
    assert parse_selection('{"selected": []}', MANIFEST) == []


def test_a_repeated_id_counts_once():
    answer = json.dumps({"selected": ["m2"] * 9 + ["m1"]})
    assert parse_selection(answer, MANIFEST) == [DOCUMENTS[1], DOCUMENTS[0]]


@pytest.mark.parametrize(
    "answer",
    [
        f"  \n{GOOD}\n\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        '```json\n{\n "selected": ["m3", "m7"]\n}\n```',
        f"```JSON\r\n{GOOD}\r\n```",
        f"``` {GOOD} ```",
        f"<think>\nm1? No, m3 {{...}} and m7.\n</think>\n\n{GOOD}",
        f"<think></think>{GOOD}",
        f"<think>hm</think>\n```json\n{GOOD}\n```",
        '{"selected":["m3","\\u006d7"]}',
        '{\n  "selected" : [ "m3",\n "m7" ]\n}',
    ],
)
def test_what_small_models_wrap_around_the_object_is_taken_off(answer):
    assert parse_selection(answer, MANIFEST) == [DOCUMENTS[2], DOCUMENTS[6]]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "null",
        "[]",
        '["m3"]',
        '"m3"',
        "m3",
        "{}",
        '{"selected": null}',
        '{"selected": "m3"}',
        '{"selected": {"m3": true}}',
        '{"selected": [3]}',
        '{"selected": ["m3", null]}',
        '{"selected": [["m3"]]}',
        '{"selected": ["m3"], "reason": "it fits"}',
        '{"Selected": ["m3"]}',
        '{"selected": ["m3"], "selected": ["m4"]}',
        '{"selected": ["m3"]',
        '{"selected": ["m3"',
        '{"selected": ["m3"]}{"selected": ["m4"]}',
        "{'selected': ['m3']}",
        f"Here you are: {GOOD}",
        f"{GOOD} I hope this helps.",
        f"Here:\n```json\n{GOOD}\n```",
        f"```json\n{GOOD}\n```\nDone.",
        f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```",
        f"```python\n{GOOD}\n```",
        f"```json\n{GOOD}",
        f"<think>never closed {GOOD}",
        f"{GOOD}<think>late</think>",
        f"<think>a</think><think>b</think>{GOOD}",
        '{"selected": ["m3\ud800"]}',
        "\ufeff" + GOOD,
    ],
)
def test_any_other_shape_is_refused(answer):
    assert refused(answer) == "wrong-shape"


@pytest.mark.parametrize(
    "identifier", ["m0", "m11", "m03", "M3", " m3", "3", "", "../m3", "/etc/passwd", "m3\n", "m٣"]
)
def test_an_id_of_no_line_is_refused(identifier):
    assert refused(json.dumps({"selected": ["m1", identifier]})) == "unknown-id"


def test_an_id_of_a_line_that_did_not_fit_is_refused():
    manifest = Manifest(numbered(100, description="漢" * 512))
    with pytest.raises(SelectionError, match=r"^unknown-id$"):
        parse_selection('{"selected": ["m100"]}', manifest)


def test_up_to_five_distinct_ids_are_accepted_and_six_refused():
    assert len(parse_selection(json.dumps({"selected": [*MANIFEST.ids[:MAX_SELECTED]]}), MANIFEST)) == 5
    assert refused(json.dumps({"selected": [*MANIFEST.ids[: MAX_SELECTED + 1]]})) == "too-many"
    assert refused(json.dumps({"selected": [f"m{number}" for number in range(50)]})) == "too-many"


def test_a_megabyte_is_refused_unread():
    assert refused(GOOD + " " * 1_000_000) == "too-long"
    assert refused("<think>" + "m3 " * 350_000 + f"</think>{GOOD}") == "too-long"


@pytest.mark.parametrize(
    "pattern", ["[", '{"selected":', '{"selected":[', "```", "<think>", "}", "} ", "```{}", "{", '\\"']
)
def test_nesting_and_repetition_up_to_the_limit_are_refused(pattern):
    repeated = pattern * (MAX_ANSWER_CHARS // len(pattern) - 4)
    assert refused(repeated) == "wrong-shape"
    assert refused("```{" + repeated[: MAX_ANSWER_CHARS - 10]) == "wrong-shape"


@STEADY
@given(st.text(st.characters(exclude_categories=())) | st.text('{}[]":,` \nselectedm13'))
def test_any_text_gives_documents_of_the_manifest_or_a_reason_code(answer):
    try:
        chosen = parse_selection(answer, MANIFEST)
    except SelectionError as error:
        assert str(error) in {"too-long", "wrong-shape", "too-many", "unknown-id"}
    else:
        assert len(chosen) <= MAX_SELECTED
        assert all(document in DOCUMENTS for document in chosen)


@STEADY
@given(st.lists(st.sampled_from(MANIFEST.ids), max_size=8))
def test_a_well_formed_answer_chooses_exactly_its_ids(ids):
    distinct = list(dict.fromkeys(ids))
    answer = json.dumps({"selected": ids})
    if len(distinct) > MAX_SELECTED:
        assert refused(answer) == "too-many"
    else:
        assert parse_selection(answer, MANIFEST) == MANIFEST.resolve(distinct)
