"""Bytes of a file become one note, whatever they are."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.memory.document import BODY_WINDOW_CHARS, Document, normalize
from memrecalld.memory.parse import content_hash, parse

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def parsed(text: str | bytes, path: str = "sub/deploy-steps.md", *, shortened: bool = False) -> Document:
    data = text.encode() if isinstance(text, str) else text
    return parse(data, scope="project", root="/notes", relative_path=path, modified_ns=7, shortened=shortened)


def test_note_is_read_whole() -> None:
    head = "name: Deploys\ndescription: how\ntype: Feedback\nkeywords: [a]\nusage_scenarios: [b]"
    document = parsed(f"---\n{head}\n---\n\n Text \n")

    assert document == Document(
        scope="project",
        root="/notes",
        relative_path="sub/deploy-steps.md",
        type="feedback",
        type_label="Feedback",
        title="Deploys",
        description="how",
        body="Text",
        truncated=False,
        modified_ns=7,
        content_hash=document.content_hash,
        keywords=("a",),
        usage_scenarios=("b",),
    )
    assert document.path == "/notes/sub/deploy-steps.md"


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Feedback", "feedback"),
        ("' USER '", "user"),
        ("Reference", "reference"),
        ("project", "project"),
        ("note", "note"),
        ("decision", "note"),
        ("[project, user]", "note"),
        ("null", "note"),
        ("", "note"),
    ],
)
def test_type_is_folded_and_an_unknown_one_is_a_note(label: str, kind: str) -> None:
    document = parsed(f"---\nname: A\ntype: {label}\n---\nbody word")

    assert document.type == kind
    assert document.body == "body word"


def test_type_as_written_is_kept() -> None:
    assert parsed("---\ntype: Decision\n---\n").type_label == "Decision"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\nname: N\n---\n# Heading\ntext", "N"),
        ("# Heading of it ##  \ntext", "Heading of it"),
        ("# C#", "C#"),
        ("# #", "deploy-steps"),
        ("---\ntype: user\n---\n\n## Heading\ntext", "Heading"),
        ("text\n# Heading\n", "deploy-steps"),
        ("#no heading", "deploy-steps"),
        ("#\n", "deploy-steps"),
        ("", "deploy-steps"),
        ("---\nname: ' '\n---\n", "deploy-steps"),
        ("---\nname: |\n  two\n  lines\n---\n", "two lines"),
        ('---\nname: "a\\u0007b\\u202ec"\n---\n', "a b c"),
    ],
)
def test_title_is_the_name_or_the_heading_or_the_file_name(text: str, title: str) -> None:
    assert parsed(text).title == title


def test_file_name_as_title_is_one_clean_line() -> None:
    assert parsed("", "a\nb\x1bc.MD").title == "a b c"


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ("# Heading\n\n---\n***\n```sh\nrun it\n```\n", "run it"),
        ("<!-- hidden -->\n- a list item\n", "- a list item"),
        ("| a | b |\n|---|---|\n", "| a | b |"),
        ("# only\n## headings\n", ""),
        ("", ""),
        ("_No entries yet._", ""),
        ("a\x00b\tc", "a b c"),
        ("w" * 5_000, "w" * 200),
    ],
)
def test_missing_description_is_the_first_line_of_prose(body: str, description: str) -> None:
    assert parsed(f"---\nname: A\n---\n{body}").description == description
    assert parsed(f"---\nname: A\ndescription: given\n---\n{body}").description == "given"


def test_fence_or_key_is_never_shown_as_description() -> None:
    for text in ("---\nname: A\ntype: user\n\ntext", "---\n", "---\n---\n", "\ufeff---\r\n---\r\n"):
        assert parsed(text).description == ""


def test_unclosed_frontmatter_is_body_and_noted() -> None:
    document = parsed("---\nname: Lost\n\ntext")

    assert document.problem == "frontmatter-unclosed"
    assert document.body == "---\nname: Lost\n\ntext"
    assert document.title == "deploy-steps"


@pytest.mark.parametrize("body", ["_No entries yet._", "  _No entries yet._\n\n"])
def test_placeholder_is_an_empty_body(body: str) -> None:
    document = parsed(f"---\nname: A\n---\n{body}")

    assert (document.body, document.truncated) == ("", False)
    assert parsed("---\nname: A\n---\n_No entries yet._ x").body == "_No entries yet._ x"


def test_body_window_is_the_start_of_the_stripped_body() -> None:
    exact, longer = parsed("\n\n " + "x" * 1_200 + " \n"), parsed("x" * 1_201)

    assert (exact.body, exact.truncated) == ("x" * 1_200, False)
    assert (longer.body, longer.truncated) == ("x" * 1_200, True)
    assert parsed("short", shortened=True).truncated


def test_emoji_at_the_cut_are_whole() -> None:
    assert parsed("😀" * 5_000).body == "😀" * BODY_WINDOW_CHARS
    assert parsed("x" * 1_195 + FAMILY + "after").body == "x" * 1_195
    assert parsed("x" * 1_193 + FAMILY + "after").body == "x" * 1_193 + FAMILY


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_windows_are_read(encoding: str) -> None:
    document = parsed("---\r\nname: Übung 漢字\r\n---\r\nText 😀\r\n".encode(encoding))

    assert (document.title, document.body) == ("Übung 漢字", "Text 😀")


def test_big_endian_is_read_by_its_mark() -> None:
    assert parsed(b"\xfe\xff" + "# Ü".encode("utf-16-be")).title == "Ü"


def test_bytes_that_are_no_text_are_replaced() -> None:
    document = parsed(b"---\nname: caf\xe9\n---\nbody \xff\xfe \xed\xa0\x80 end")

    assert document.title == "caf�"
    assert document.body.startswith("body �")
    assert document.body.endswith("end")


def test_hash_is_of_the_bytes() -> None:
    assert parsed("a\n").content_hash == content_hash(b"a\n") != parsed("a\r\n").content_hash
    assert len(content_hash(b"")) == 16


def test_usage_text_is_the_normal_form_of_all_of_a_usage_note() -> None:
    filler = "x" * 3_000
    document = parsed(f"---\nname: Edit\ndescription: ＡＢＣ\n---\n{filler} Ｔｏｏｌ Usage")

    assert document.usage_text == f"edit\nabc\n{filler} tool usage"
    assert parsed(f"---\nname: Edit\n---\n{filler} tool usage, but a known issue").usage_text == ""
    assert parsed("---\nname: Edit\n---\nnothing").usage_text == ""
    assert parsed("---\nname: Edit tool usage\n---\n_No entries yet._").usage_text == "edit tool usage\n\n"


def test_normal_form_folds_width_and_case() -> None:
    assert normalize("ＤＢ ﬁle ℡ ÄÖ ①") == "db file tel äö 1"
    assert normalize("Plain ASCII") == "plain ascii"


COMBINING = st.lists(
    st.sampled_from(
        [
            *"aΣ ~1漢かﾊ가ㅎ\n",
            "\u1100",
            "\u1161",
            "\u11a8",
            "\uff9e",
            "\u3099",
            "\u0301",
            "\u0327",
            "①",
            "℡",
            "ﬁ",
        ]
    ),
    max_size=120,
).map("".join)


@given(COMBINING, st.sampled_from(["", "é" * 700, "漢" * 1_500, "x" * 2_500]), COMBINING)
@settings(max_examples=300, deadline=None)
def test_long_text_has_the_normal_form_of_a_short_one(start: str, middle: str, end: str) -> None:
    text = start + middle + end + "é" + "-" * 2_500

    assert normalize(text) == unicodedata.normalize("NFKC", text).lower()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("a" + "\u0301" * 60_000 + "\u0327" * 60_000, id="marks to be sorted"),
        pytest.param("a\u0301\u0327" * 40_000, id="marks everywhere"),
        pytest.param("# a" + " " * 200_000 + "b", id="blanks in a heading"),
        pytest.param("# " + "# " * 100_000 + "b", id="hashes in a heading"),
        pytest.param("Σ'" * 100_000, id="sigmas"),
    ],
)
def test_hostile_body_costs_in_proportion(body: str) -> None:
    started = time.process_time()
    assert parsed(body).body
    assert time.process_time() - started < 2


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(deadline=None)
def test_no_bytes_make_it_fail(data: bytes) -> None:
    document = parsed(data)

    assert document.title
    assert len(document.body) <= BODY_WINDOW_CHARS
    for text in (document.title, document.description, document.body, document.usage_text):
        text.encode()


def test_large_body_costs_in_proportion() -> None:
    started = time.process_time()
    document = parsed("---\nname: Log\n---\n" + "line of a log 😀\n" * 60_000)
    assert document.truncated
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("body", "unfilled"),
    [("_No entries yet._", True), ("\n _No entries yet._ \n", True), ("", False), ("text", False)],
)
def test_placeholder_makes_a_note_unfilled(body: str, unfilled: bool) -> None:
    assert parsed(f"---\nname: T\ndescription: D\n---\n{body}").unfilled is unfilled
