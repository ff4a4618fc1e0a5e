"""What ``systemctl show`` prints, as properties by unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from memrecalld.service.manager import Manager, ManagerError

UNITS = "Id=b.socket\nActiveState=active\nListen=/run/a=b (Stream)\n\nId=a.service\nActiveState=failed\n"


def manager(folder: Path, script: str) -> Manager:
    """A manager whose ``systemctl --user --no-pager`` is this script."""
    program = folder / "systemctl"
    program.write_text(f"#!/bin/sh\nshift 2\n{script}\n", encoding="ascii")
    program.chmod(0o755)
    return Manager({"PATH": f"{folder}:/usr/bin:/bin"})


def test_properties_are_told_by_unit_whatever_their_order(tmp_path: Path) -> None:
    told = manager(tmp_path, f"cat <<'END'\n{UNITS}END")
    found = told.show(["a.service", "b.socket"], "ActiveState", "Listen")
    assert found == {
        "a.service": {"ActiveState": "failed", "Listen": ""},
        "b.socket": {"ActiveState": "active", "Listen": "/run/a=b (Stream)"},
    }


def test_one_question_is_put_for_all_units(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    manager(tmp_path, f'echo "$@" >>"{asked}"').show(["a.service", "b.socket"], "ActiveState", "Result")
    first, *others = asked.read_text(encoding="ascii").splitlines()
    assert first == "show --property=Version"
    assert others == ["show --property=Id,ActiveState,Result a.service b.socket"]


def test_a_unit_that_systemd_says_nothing_of_has_nothing(tmp_path: Path) -> None:
    found = manager(tmp_path, "echo Version=252").show(["a.service"], "ActiveState")
    assert found == {"a.service": {"ActiveState": ""}}


def test_a_manager_that_does_not_answer_is_an_error_with_its_reason(tmp_path: Path) -> None:
    answers_once = 'case "$*" in *Version*) exit 0;; esac\necho "Failed to connect to bus" >&2\nexit 1'
    with pytest.raises(ManagerError, match="Failed to connect to bus"):
        manager(tmp_path, answers_once).show(["a.service"], "ActiveState")
