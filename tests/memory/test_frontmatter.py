"""What an agent writes at the head of a note is read as it was meant, and a note is never lost for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.memory.frontmatter import (
    MAX_DESCRIPTION_CHARS,
    MAX_FRONTMATTER_CHARS,
    Head,
    Parts,
    take_apart,
)

PLAIN = "---\nname: Deploys\ndescription: how we deploy\ntype: project\n---\n\nUse the script.\n"


def head_of(*lines: str) -> Head:
    return take_apart("\n".join(["---", *lines, "---", "body"])).head


def parts_of(*lines: str) -> Parts:
    return take_apart("\n".join(["---", *lines, "---", "body"]))


# --- byte forms of one note


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param("\ufeff" + PLAIN, id="byte-order mark"),
        pytest.param(PLAIN.replace("\n", "\r\n"), id="CRLF"),
        pytest.param("\ufeff" + PLAIN.replace("\n", "\r\n"), id="byte-order mark and CRLF"),
        pytest.param(PLAIN.replace("\n", "\r"), id="lone CR"),
        pytest.param(PLAIN.replace("---\n", "---  \n"), id="blanks after the fences"),
        pytest.param(PLAIN.replace("---\n", "--- \t\n"), id="tab after the fences"),
        pytest.param("\n" + PLAIN, id="blank line before the fence"),
        pytest.param("\ufeff\r\n \r\n" + PLAIN.replace("\n", "\r\n"), id="blank lines of Windows"),
    ],
)
def test_every_byte_form_gives_the_same_head_and_body(text: str) -> None:
    parts = take_apart(text)

    assert parts == take_apart(PLAIN)
    assert parts.head == Head(title="Deploys", description="how we deploy", type_label="project")
    assert parts.body.strip() == "Use the script."


def test_closing_fence_may_end_the_file() -> None:
    parts = take_apart("---\nname: Deploys\n---")

    assert parts == Parts(head=Head(title="Deploys"), body="")


def test_only_one_byte_order_mark_is_dropped() -> None:
    assert take_apart("\ufeff\ufeffx").body == "\ufeffx"


# --- where the frontmatter ends


def test_indented_fence_inside_a_block_does_not_close() -> None:
    parts = parts_of("description: |", "  before", "  ---", "  after", "type: user")

    assert parts.head.description == "before --- after"
    assert parts.head.type_label == "user"
    assert parts.body == "body"


def test_dashes_with_text_after_them_do_not_close() -> None:
    parts = take_apart("---\nname: A\n---- \n--- x\n---\nbody")

    assert parts.body == "body"
    assert parts.head.title.startswith("A")


def test_empty_frontmatter_is_no_part_of_the_body() -> None:
    assert take_apart("---\n---\nbody") == Parts(head=Head(), body="body")
    assert take_apart("---\n# only a comment\n\n---\nbody") == Parts(head=Head(), body="body")


@pytest.mark.parametrize("text", ["", "---", "---\n", "text\n---\nname: x\n---\n", "----\nname: x\n----\n"])
def test_text_without_frontmatter_is_all_body(text: str) -> None:
    assert take_apart(text) == Parts(head=Head(), body=text)


@pytest.mark.parametrize("between", ["Some prose.", "- a list\n- of things", '"quoted prose', "[ ] a box"])
def test_text_between_two_thematic_breaks_stays_in_the_body(between: str) -> None:
    text = f"---\n{between}\n---\nmore"

    assert take_apart(text) == Parts(head=Head(), body=text)


def test_frontmatter_without_end_is_body_and_is_reported() -> None:
    text = "---\nname: Lost\ndescription: never closed\n\nText.\n"

    assert take_apart(text) == Parts(head=Head(), body=text, problem="frontmatter-unclosed")


def test_thematic_break_without_a_second_is_no_problem() -> None:
    assert take_apart("---\nJust prose.\n").problem is None


def test_closing_fence_counts_within_the_bound_only() -> None:
    near = "---\nname: A\nnotes: " + "x" * (MAX_FRONTMATTER_CHARS - 100) + "\n---\nbody"
    far = "---\nname: A\nnotes: " + "x" * 200_000 + "\n---\nbody"

    assert take_apart(near).head.title == "A"
    assert take_apart(far) == Parts(head=Head(), body=far, problem="frontmatter-unclosed")


# --- values that YAML rejects, cuts or changes


@pytest.mark.parametrize(
    ("written", "meant", "problem"),
    [
        ("fixed in PR #456 today", "fixed in PR #456 today", "frontmatter-repaired"),
        ("#1 priority", "#1 priority", "frontmatter-repaired"),
        ("Note: use spaces", "Note: use spaces", "frontmatter-yaml"),
        ("ends with a colon:", "ends with a colon:", "frontmatter-yaml"),
        ("*important* rule", "*important* rule", "frontmatter-yaml"),
        ("@alice owns this", "@alice owns this", "frontmatter-yaml"),
        ("`make test` first", "`make test` first", "frontmatter-yaml"),
        ("!important read this", "!important read this", "frontmatter-repaired"),
        ("! read this", "! read this", "frontmatter-repaired"),
        ("%TAG is odd", "%TAG is odd", "frontmatter-yaml"),
        ("&anchor of it", "&anchor of it", "frontmatter-yaml"),
        ("[a] b", "[a] b", "frontmatter-yaml"),
        ("[WIP]", "[WIP]", "frontmatter-repaired"),
        ("[WIP] # later", "[WIP] # later", "frontmatter-repaired"),
        ("{x} marks the spot", "{x} marks the spot", "frontmatter-yaml"),
        ("{placeholder}", "{placeholder}", "frontmatter-repaired"),
        ("- a dash", "- a dash", "frontmatter-yaml"),
        ("? a question", "? a question", "frontmatter-yaml"),
        ("a\tb and\t: c", "a b and : c", "frontmatter-yaml"),
        ('"say "hi" now"', 'say "hi" now', "frontmatter-yaml"),
        ("'it's fine'", "it's fine", "frontmatter-yaml"),
        ('"a" and "b"', '"a" and "b"', "frontmatter-yaml"),
        ("'a' and 'b'", "'a' and 'b'", "frontmatter-yaml"),
        ('"never closed', '"never closed', "frontmatter-yaml"),
        ('"', '"', "frontmatter-yaml"),
        (r'"C:\new\table"', r"C:\new\table", "frontmatter-repaired"),
        (r'"\d+ matches"', r"\d+ matches", "frontmatter-yaml"),
        (r'"C:\\new\\table"', r"C:\new\table", None),
        (r'"a \"quoted\" word"', 'a "quoted" word', None),
        (r'"caf\u00e9 \ud83d\ude00"', "café 😀", "frontmatter-yaml"),
        (r'"lone \ud83d half"', "lone � half", "frontmatter-yaml"),
        ("'it''s fine'", "it's fine", None),
        ('"quoted" # a comment', "quoted", None),
        ("'quoted' # a comment", "quoted", None),
        ("yes", "yes", None),
        ("2024-01-05", "2024-01-05", None),
        ("1_000", "1_000", None),
        ("!!str yes", "yes", None),
        ("a -- b, c's [d] {e} f#g", "a -- b, c's [d] {e} f#g", None),
        ("http://host/path?x#y", "http://host/path?x#y", None),
    ],
)
def test_description_is_whole(written: str, meant: str, problem: str | None) -> None:
    parts = parts_of("name: Title", f"description: {written}", "type: user")

    assert parts.head == Head(title="Title", description=meant, type_label="user")
    assert parts.problem == problem
    assert parts.body == "body"


def test_title_is_whole_too() -> None:
    assert head_of("name: C# and F# #2").title == "C# and F# #2"
    assert head_of("title: Deploy: the steps").title == "Deploy: the steps"


def test_last_value_of_a_repeated_key_wins_and_is_reported() -> None:
    parts = parts_of("name: A", "description: first", "description: second")

    assert parts.head.description == "second"
    assert parts.problem == "frontmatter-duplicate"
    assert head_of("description: kept", "description:").description == "kept"
    assert head_of("description: kept", "bad: a: b", "description: ''").description == "kept"


def test_one_bad_line_costs_no_other_field() -> None:
    head = head_of(
        "name: 'Quoted' # comment",
        "description: use: colons",
        "type: feedback # as they say",
        "keywords: [alpha, 'beta gamma', \"delta\"]",
        "usage_scenarios:",
        "  - when: deploying",
        '  - "when building"',
    )

    assert head == Head(
        title="Quoted",
        description="use: colons",
        type_label="feedback",
        keywords=("alpha", "beta gamma", "delta"),
        usage_scenarios=("when: deploying", "when building"),
    )


def test_key_without_a_blank_after_its_colon_is_read() -> None:
    assert head_of("name:Deploys", "type:user") == Head(title="Deploys", type_label="user")


def test_keys_are_read_in_any_case_and_quoted() -> None:
    assert head_of("Name: A", "TYPE: user", '"description": d') == Head(
        title="A", type_label="user", description="d"
    )
    assert head_of("Name: A", "bad: a: b", "'Description': d") == Head(title="A", description="d")


def test_frontmatter_in_json_is_read() -> None:
    head = head_of('{"name": "A", "description": "d: e", "type": "user", "keywords": ["x"]}')

    assert head == Head(title="A", description="d: e", type_label="user", keywords=("x",))


# --- values over several lines, comments


@pytest.mark.parametrize(
    "lines",
    [
        ["description: >", "  first part", "  last word"],
        ["description: >-", "  first part", "  last word"],
        ["description: |", "  first part", "  last word"],
        ["description: |+", "  first part", "  last word", ""],
        ["description: |2-", "  first part", "  last word"],
        ["description: > # folded", "  first part", "", "  last word"],
        ["description: first part", "  last word"],
        ["description:", "  first part", "  last word"],
        ["description: first", "  part", "  # a comment", "description: first part last word"],
        ["description: 'first part", "  last word'"],
        ['description: "first part', '  last word"'],
        ['description: "first \\', '  part last word"'],
        ["# a comment", "description: first part last word", "", "# another"],
    ],
)
@pytest.mark.parametrize("broken", [False, True], ids=["YAML", "no YAML"])
def test_value_over_several_lines_becomes_one(lines: list[str], broken: bool) -> None:
    head = head_of(*lines, "# a comment", "type: user", *(["x: y: z"] if broken else []))

    assert head == Head(description="first part last word", type_label="user")


def test_quotes_doubled_across_lines_are_one_quote() -> None:
    assert head_of("description: 'it''s", "  the user''s'").description == "it's the user's"


def test_line_at_column_0_that_is_no_key_belongs_to_the_value_above() -> None:
    head = head_of("description: a long text", "wrapped without indent", "type: user")

    assert head == Head(description="a long text wrapped without indent", type_label="user")


def test_what_looks_like_a_key_inside_a_block_is_text() -> None:
    for broken in ([], ["x: y: z"]):
        head = head_of("description: |", "  type: project", "  name: other", "name: A", *broken)
        assert head == Head(title="A", description="type: project name: other")


def test_hash_in_a_literal_block_is_text() -> None:
    for broken in ([], ["x: y: z"]):
        assert head_of("description: |", "  # Heading", "  text", *broken).description == "# Heading text"


def test_list_as_description_keeps_its_words() -> None:
    assert head_of("description:", "  - one thing", "  - another").description == "- one thing - another"


# --- precedence and type


def test_name_goes_before_title() -> None:
    assert head_of("title: T", "name: N").title == "N"
    assert head_of("name:", "title: T").title == "T"
    assert head_of("name: null", "title: T").title == "T"
    assert head_of("name: 'null'").title == "null"


@pytest.mark.parametrize(
    ("lines", "label"),
    [
        ([], ""),
        (["type: null"], ""),
        (["type: ~"], ""),
        (["type:"], ""),
        (["type: ''"], ""),
        (["type: Feedback"], "Feedback"),
        (["type: ' user '"], "user"),
        (["type: [project, user]"], "project, user"),
        (["type: [feedback]"], "feedback"),
        (["type:", "  - project", "  - user"], "project, user"),
        (["type: decision"], "decision"),
        (["type: decision # really"], "decision"),
        (["metadata: {type: reference}"], "reference"),
        (["metadata:", "  node_type: memory", "  type: reference"], "reference"),
        (
            ["metadata:", "  node_type: memory", "  Type: 'reference'", "  nested:", "    type: x"],
            "reference",
        ),
        (["metadata.type: reference"], "reference"),
        (["metadata: text"], ""),
        (["type: feedback", "metadata: {type: reference}"], "feedback"),
        (["metadata: {type: reference}", "type: feedback"], "feedback"),
        (["type:", "metadata:", "  type: reference"], "reference"),
        (["type: {a: b}"], ""),
    ],
)
def test_type_is_read_wherever_it_stands(lines: list[str], label: str) -> None:
    assert head_of("name: A", *lines).type_label == label


@pytest.mark.parametrize(
    ("lines", "label"),
    [
        (["type: null"], ""),
        (["type: Feedback # c"], "Feedback"),
        (["type: [project, user]"], "project, user"),
        (["metadata: {node_type: memory, type: reference}"], "reference"),
        (["metadata:", "  node_type: memory", "  type: 'reference'"], "reference"),
        (["metadata:", "  node_type: memory"], ""),
        (["metadata:", "  type: reference", "type: feedback"], "feedback"),
    ],
)
def test_type_is_read_where_yaml_is_refused(lines: list[str], label: str) -> None:
    parts = parts_of("bad: a: b", *lines)

    assert (parts.head.type_label, parts.problem) == (label, "frontmatter-yaml")


@pytest.mark.parametrize("broken", [[], ["bad: a: b"]], ids=["YAML", "no YAML"])
@pytest.mark.parametrize(
    "lines",
    [
        ["keywords: [alpha, beta gamma]"],
        ['keywords: ["alpha", "beta gamma"]'],
        ["keywords: ['alpha', 'beta gamma']"],
        ["keywords: alpha, beta gamma"],
        ["keywords: alpha，beta gamma"],
        ["keywords:", "  - alpha", "  - beta gamma"],
        ["keywords:", "- alpha", "- 'beta gamma'", "- "],
    ],
)
def test_keywords_are_read_in_every_form_of_list(lines: list[str], broken: list[str]) -> None:
    assert head_of(*lines, *broken).keywords == ("alpha", "beta gamma")


def test_usage_scenario_written_as_text_is_one_sentence() -> None:
    for broken in ([], ["bad: a: b"]):
        assert head_of("usage_scenarios: before a, or after b", *broken).usage_scenarios == (
            "before a, or after b",
        )
        assert head_of("usage_scenarios: [one, two]", *broken).usage_scenarios == ("one", "two")


# --- hostile


BOMB = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"] + [
    f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(9))}]"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([*BOMB, "description: *i"], id="alias bomb"),
        pytest.param(["x: " + "[" * 5_000], id="nested brackets"),
        pytest.param(["x: " + "[" * 5_000 + "]" * 5_000], id="closed nested brackets"),
        pytest.param(["x: " + "{a: " * 5_000], id="nested braces"),
        pytest.param(["- " * 5_000], id="nested lists"),
        pytest.param(["x: [" + "a," * 20_000 + "]"], id="long list"),
        pytest.param(["x: &a " + "\\" * 9_000], id="backslashes"),
        pytest.param(["x: '" + "''" * 9_000], id="quotes"),
        pytest.param(['x: y: "' + '\\"' * 9_000 + " #"], id="escaped quotes"),
        pytest.param(["x: \x00 \x07"], id="control characters"),
        pytest.param(["name: \udcff"], id="surrogate"),
        pytest.param(["x: y: z", "type: a" + " " * 60_000 + "b"], id="blanks in a type"),
        pytest.param(["keywords: [a" + " " * 60_000 + "!"], id="blanks in a list"),
        pytest.param(["keywords: [" + "a , " * 15_000 + "!"], id="commas in a list"),
        pytest.param(["x: y: z", "metadata: " + "{ ," * 20_000], id="braces in metadata"),
        pytest.param(["x: y: z", "description: '" + "a' " * 20_000 + "b'"], id="closing quotes"),
        pytest.param(["%YAML 9.9"], id="directive"),
        pytest.param(["--- !!python/object:os.system x"], id="constructor"),
    ],
)
def test_hostile_frontmatter_costs_little_and_loses_no_note(lines: list[str]) -> None:
    started = time.process_time()
    parts = parts_of(*lines, "title: Still here", "type: user")

    assert parts.head.title == "Still here"
    assert parts.head.type_label == "user"
    assert parts.body == "body"
    assert time.process_time() - started < 1


def test_alias_stays_the_text_it_is() -> None:
    assert parts_of(*BOMB, "description: *i").head.description == "*i"


def test_fields_are_bounded() -> None:
    head = head_of(
        "name: " + "n" * 5_000,
        "description: " + "d " * 5_000,
        "type: " + "[" * 5_000,
        "keywords: " + "k, " * 500,
    )

    assert len(head.title) == 200
    assert len(head.description) == MAX_DESCRIPTION_CHARS
    assert len(head.type_label) <= 100
    assert len(head.keywords) == 64


MARKUP = st.text(st.sampled_from("ab-:#'\"[]{}|>&*!%@`~,. \t\n\r\\é漢😀\ufeff\u2028"), max_size=60)


@given(
    st.one_of(
        st.text(max_size=200),
        st.builds("---\n{}\n---\n{}".format, st.text(max_size=80), st.text(max_size=40)),
        st.builds("---\nname: {}\ndescription: {}\n---\n{}".format, MARKUP, MARKUP, MARKUP),
    )
)
@settings(deadline=None)
def test_no_text_makes_it_fail_and_fields_are_single_lines(text: str) -> None:
    head = take_apart(text).head

    for field in (head.title, head.description, head.type_label, *head.keywords, *head.usage_scenarios):
        assert field == field.strip()
        assert len(field.splitlines()) <= 1
        field.encode()


@given(MARKUP.filter(lambda text: not set(text) & set("\n\r\u2028\ufeff")))
@settings(deadline=None)
def test_words_of_a_description_are_never_lost(text: str) -> None:
    """Whatever punctuation stands around them, letters of a description on one line come through."""
    description = head_of(f"description: x {text} ab", "type: user").description

    letters = [character for character in f"x {text} ab" if character.isalpha()]
    assert [character for character in description if character.isalpha()] == letters
