"""Our hooks go into any settings and out again, and nothing else in them changes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memrecalld.hooks.agents import hooks_of
from memrecalld.hooks.jsonc import SyntaxFault
from memrecalld.hooks.process import EVENTS
from memrecalld.hooks.settings import hooked_events, new_settings, with_hooks, without_hooks
from tests.hooks.layouts import settings_texts

HOOKS = hooks_of("qwen", "/opt/venv/bin/python")
many_examples = settings(deadline=None)
few_examples = settings(max_examples=40, deadline=None)
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)


def value_of(text: str) -> dict:
    """What a host makes of the text: comments out, then strict JSON."""
    return json.loads(COMMENT.sub(lambda match: match[1] or " ", text))


def installed(text: str) -> str:
    return with_hooks(text, HOOKS, comments=True)


@many_examples
@given(settings_texts(comments=True))
@example("{}")
@example('{\n  "hooks": {\n  }\n}')
@example('{"hooks": {"Stop": []}}')
@example('{\r\n\t"hooks": { // none\r\n\t}\r\n}\r\n')
def test_taking_the_hooks_out_restores_every_byte(text: str):
    assert without_hooks(installed(text), comments=True) == text


@few_examples
@given(settings_texts(comments=True))
def test_putting_them_in_twice_is_putting_them_in_once(text: str):
    assert installed(installed(text)) == installed(text)


@few_examples
@given(settings_texts(comments=True))
def test_only_something_is_added_and_in_its_place(text: str):
    after = installed(text)
    rest = iter(after)
    assert all(character in rest for character in text), "the old text is not in the new one, in order"
    before_value, value = value_of(text), value_of(after)
    assert {**value, "hooks": None} == {**before_value, "hooks": None}
    hooks = before_value.get("hooks", {})
    assert list(value["hooks"]) == [*hooks, *(event for event in EVENTS if event not in hooks)]
    for hook in HOOKS:
        assert value["hooks"][hook.event] == [*hooks.get(hook.event, []), hook.group]
    assert {name: value["hooks"][name] for name in hooks if name not in EVENTS} == {
        name: groups for name, groups in hooks.items() if name not in EVENTS
    }


@few_examples
@given(settings_texts(comments=False))
def test_what_was_strict_json_stays_it(text: str):
    json.loads(with_hooks(text, HOOKS, comments=False))


@few_examples
@given(settings_texts(comments=True), st.integers(0))
def test_hooks_that_others_added_later_survive_ours(text: str, where: int):
    value = value_of(installed(text))
    value["hooks"]["Stop"].insert(
        where % (len(value["hooks"]["Stop"]) + 1), {"hooks": [{"command": "later.sh"}]}
    )
    value["later"] = True
    left = without_hooks(json.dumps(value, indent=2), comments=True)
    expected = value_of(text)
    expected["hooks"] = {**expected.get("hooks", {}), "Stop": json.loads(left)["hooks"]["Stop"]}
    assert [each for each in value["hooks"]["Stop"] if each != HOOKS[2].group] == expected["hooks"]["Stop"]
    kept = json.loads(left)
    # What our hooks alone held may go with them once a program has written the file anew.
    assert {**kept, "hooks": {name: each for name, each in kept["hooks"].items() if each}} == {
        **expected,
        "later": True,
        "hooks": {name: each for name, each in expected["hooks"].items() if each},
    }


@few_examples
@given(settings_texts(comments=True))
def test_where_there_are_none_none_are_taken_out(text: str):
    assert without_hooks(text, comments=True) == text
    assert hooked_events(text, comments=True) == []


def test_new_settings_are_removed_whole():
    text = new_settings(HOOKS)
    assert hooked_events(text, comments=False) == list(EVENTS)
    assert without_hooks(text, comments=False) is None


def test_settings_that_the_user_emptied_are_not_removed():
    assert (
        without_hooks(
            new_settings(HOOKS).replace('{\n  "hooks"', '{\n  // mine\n  "hooks"', 1), comments=True
        )
        == "{\n}\n"
    )


def test_the_layout_around_is_followed():
    text = '{\n\t"model": "m",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n'
    after = installed(text)
    assert (
        after
        == json.dumps(value_of(after), indent="\t").replace(
            '{\n\t\t\t\t"hooks": []\n\t\t\t}', '{"hooks": []}'
        )
        + "\n"
    )


def test_the_hooks_of_another_installation_are_brought_up_to_date_in_place():
    text = '{"a": 1, "hooks": {"Stop": [{"hooks": [{"x": 1}]}]}}'
    old = with_hooks(text, hooks_of("qwen", "/old/python"), comments=True)
    after = installed(old)
    assert after == old.replace("/old/python", "/opt/venv/bin/python")
    assert without_hooks(after, comments=True) == text


def test_a_hook_that_the_user_changed_is_left_so():
    changed = installed("{}").replace('"timeout": 5000', '"timeout": 9000')
    assert installed(changed) == changed


def test_our_handler_goes_and_those_that_the_user_put_beside_it_stay():
    ours = json.dumps(HOOKS[0].handler)
    for text, left in (
        ('[{"command": "a"}, OURS, {"command": "b"}]', '[{"command": "a"}, {"command": "b"}]'),
        ('[OURS, {"command": "b"}]', '[{"command": "b"}]'),
        ('[OURS /* ours */, {"command": "b"}]', '[ /* ours */ {"command": "b"}]'),
        ('[{"command": "a"}, /* ours */ OURS]', '[{"command": "a"} /* ours */ ]'),
    ):
        whole = '{"hooks": {"UserPromptSubmit": [{"hooks": HERE}]}}'
        assert without_hooks(
            whole.replace("HERE", text.replace("OURS", ours)), comments=True
        ) == whole.replace("HERE", left)


def test_the_memrecall_command_in_a_hook_is_ours_too():
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "/opt/bin/memrecall hook Stop --host qwen"}]}]}}'
    assert without_hooks(text, comments=True) == "{}"


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}"'),
        ('{"a": 1,}', 1, 9, "expected a name in double quotes"),
        ('{"a": [1, 2}', 1, 12, 'expected "," or "]"'),
        ("", 1, 1, "expected a value, found the end of the file"),
        ('{"a": tru}', 1, 7, "expected a value"),
        ('{"a": 01}', 1, 7, "expected a value"),
        ("{'a': 1}", 1, 2, "expected a name in double quotes"),
        ('{"a": "x\ny"}', 1, 9, "Invalid control character at"),
        ('{"a": "x', 1, 7, "Unterminated string starting at"),
        ('{"a": 1} }', 1, 10, "expected the end of the file"),
        ('{"a": /* x', 1, 7, "the comment has no end"),
        ("[]", 1, 1, "expected an object, {…}"),
        ('{"hooks": []}', 1, 11, '"hooks" must be an object, {…}'),
        ('{\r\n "hooks": {"Stop": {}}}', 2, 20, 'the hooks of "Stop" must be a list, […]'),
        ("[" * 100_000, 1, 1, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, line: int, column: int, problem: str):
    with pytest.raises(SyntaxFault) as caught:
        installed(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value) == f"line {line}, column {column}: {problem}"


def test_comments_are_a_fault_where_the_agent_reads_none():
    with pytest.raises(SyntaxFault, match="line 1, column 2: comments are not allowed here"):
        with_hooks('{// x\n"a": 1}', HOOKS, comments=False)
