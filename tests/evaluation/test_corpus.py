"""The evaluation corpus keeps the promises its README makes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parent / "corpus"
NOTES = CORPUS / "notes"

LEAST_QUERIES = {
    "english": 90,
    "chinese": 40,
    "japanese": 28,
    "korean": 28,
    "mixed": 40,
    "nfkc": 15,
    "other-alphabets": 50,
    "body-only": 30,
    "semantic-no-lexical": 20,
    "short-terms": 20,
    "identifiers": 30,
    "inflection": 20,
    "rare-and-frequent": 15,
    "long-paste": 12,
    "small-talk": 40,
    "no-result": 40,
}
NOTHING_TO_RECALL = {"small-talk", "no-result"}
BARE_NOTES = {
    "project/lunch-menu.md",
    "project/meeting-2026-07-08.md",
    "project/scratch.md",
    "project/todo.md",
    "user/bookmarks.md",
    "user/scratch-zh.md",
}
PLACEHOLDER = "_No entries yet._"
DELIVERED_BODY_CHARS = 1_200


def _read_note(path: Path) -> str:
    text = path.read_bytes().decode("utf-8")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _body(text: str) -> str:
    return text.split("\n---\n", 1)[1].strip() if text.startswith("---\n") else text.strip()


@pytest.fixture(scope="module")
def notes() -> dict[str, str]:
    return {path.relative_to(NOTES).as_posix(): _read_note(path) for path in sorted(NOTES.rglob("*.md"))}


@pytest.fixture(scope="module")
def queries() -> list[dict[str, Any]]:
    with (CORPUS / "queries.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_category_has_enough_queries(queries: list[dict[str, Any]]) -> None:
    counts = Counter(query["category"] for query in queries)
    assert set(counts) == set(LEAST_QUERIES)
    short = {name: counts[name] for name, least in LEAST_QUERIES.items() if counts[name] < least}
    assert not short
    assert len(queries) >= 440


def test_there_are_enough_notes(notes: dict[str, str]) -> None:
    assert len(notes) >= 220


def test_every_query_has_exactly_the_documented_fields(queries: list[dict[str, Any]]) -> None:
    fields = {"id", "category", "query", "relevant", "best", "split", "language"}
    assert [query["id"] for query in queries if set(query) != fields] == []
    assert [query["id"] for query in queries if not query["query"].strip()] == []


def test_every_label_names_a_note(queries: list[dict[str, Any]], notes: dict[str, str]) -> None:
    missing = {path for query in queries for path in query["relevant"] if path not in notes}
    assert not missing


def test_best_is_one_of_the_relevant_notes(queries: list[dict[str, Any]]) -> None:
    wrong = [
        query["id"]
        for query in queries
        if (query["best"] not in query["relevant"] if query["relevant"] else query["best"] is not None)
    ]
    assert not wrong


def test_no_query_lists_a_note_twice(queries: list[dict[str, Any]]) -> None:
    assert [q["id"] for q in queries if len(set(q["relevant"])) != len(q["relevant"])] == []


def test_only_small_talk_and_no_result_have_nothing_relevant(queries: list[dict[str, Any]]) -> None:
    wrong = [q["id"] for q in queries if bool(q["relevant"]) == (q["category"] in NOTHING_TO_RECALL)]
    assert not wrong


def test_ids_are_unique(queries: list[dict[str, Any]]) -> None:
    counts = Counter(query["id"] for query in queries)
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_query_is_asked_twice(queries: list[dict[str, Any]]) -> None:
    counts = Counter(
        " ".join(unicodedata.normalize("NFKC", query["query"]).casefold().split()) for query in queries
    )
    assert [text for text, count in counts.items() if count > 1] == []


def test_every_third_query_of_a_category_is_held_out(queries: list[dict[str, Any]]) -> None:
    seen: Counter[str] = Counter()
    for query in queries:
        position = seen[query["category"]]
        seen[query["category"]] += 1
        assert query["split"] == ("held-out" if position % 3 == 2 else "tune"), query["id"]


def test_all_query_languages_are_present(queries: list[dict[str, Any]]) -> None:
    languages = {part for query in queries for part in query["language"].split("-")}
    assert languages == {"en", "zh", "ja", "ko", "ru", "el", "de", "fr", "es"}


def test_both_scopes_are_present_and_nothing_else(notes: dict[str, str]) -> None:
    assert {path.split("/", 1)[0] for path in notes} == {"project", "user"}


def test_all_four_types_are_present(notes: dict[str, str]) -> None:
    types = {
        match[1].lower() for text in notes.values() for match in re.finditer(r"(?m)^ *type: *(\w+)$", text)
    }
    assert {"user", "feedback", "project", "reference"} <= types


def test_every_note_has_a_frontmatter_unless_it_is_bare_on_purpose(notes: dict[str, str]) -> None:
    without = {path for path, text in notes.items() if not re.match(r"---\n(?:.*\n)*?---\n", text)}
    assert without == BARE_NOTES


def test_every_frontmatter_names_and_describes_its_note(notes: dict[str, str]) -> None:
    for path in notes.keys() - BARE_NOTES:
        head = notes[path].split("\n---\n", 1)[0]
        assert re.search(r"(?m)^(?:name|title): \S", head), path
        assert re.search(r"(?m)^description: \S", head), path


@pytest.mark.parametrize(
    "letters",
    [
        pytest.param("[\u4e00-\u9fff]", id="han"),
        pytest.param("[\u3041-\u309f]", id="hiragana"),
        pytest.param("[\uac00-\ud7a3]", id="hangul"),
        pytest.param("[а-я]", id="cyrillic"),
        pytest.param("[α-ω]", id="greek"),
        pytest.param("ß", id="german"),
        pytest.param("[çœ]", id="french"),
        pytest.param("ñ", id="spanish"),
    ],
)
def test_notes_of_every_language_are_present(notes: dict[str, str], letters: str) -> None:
    assert sum(bool(re.search(letters, text)) for text in notes.values()) >= 2


def test_every_note_has_an_age(notes: dict[str, str]) -> None:
    ages = json.loads((CORPUS / "modified.json").read_text(encoding="utf-8"))
    assert set(ages) == set(notes)
    assert all(isinstance(days, int) and 0 <= days <= 700 for days in ages.values())
    assert min(ages.values()) < 30
    assert max(ages.values()) > 365


def test_placeholders_are_present_and_never_relevant(
    notes: dict[str, str], queries: list[dict[str, Any]]
) -> None:
    placeholders = {path for path, text in notes.items() if _body(text) == PLACEHOLDER}
    assert len(placeholders) >= 3
    assert not placeholders & {path for query in queries for path in query["relevant"]}


def test_some_notes_are_longer_than_what_is_delivered(notes: dict[str, str]) -> None:
    assert sum(len(_body(text)) > DELIVERED_BODY_CHARS for text in notes.values()) >= 8


def test_long_pastes_are_long(queries: list[dict[str, Any]]) -> None:
    lengths = [len(query["query"]) for query in queries if query["category"] == "long-paste"]
    assert min(lengths) >= 2_000
    assert max(lengths) >= 5_000


def test_the_awkward_byte_forms_survived_version_control() -> None:
    raw = [path.read_bytes() for path in NOTES.rglob("*.md")]
    assert any(b"\r\n" in data for data in raw)
    assert any(data.startswith(b"\xef\xbb\xbf") for data in raw)
