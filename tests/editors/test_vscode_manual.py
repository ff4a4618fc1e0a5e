"""What the extension says of itself is what it has."""

from __future__ import annotations

import json
import re

import memrecalld
from tests.editors.vscode import SOURCE

MANIFEST = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
README = (SOURCE / "README.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the README."""
    section = README.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]


def test_the_readme_lists_exactly_the_commands():
    commands = [f"{each['category']}: {each['title']}" for each in MANIFEST["contributes"]["commands"]]
    assert [row[0] for row in rows("Commands")] == commands


def test_the_readme_lists_exactly_the_settings_with_their_defaults():
    settings = MANIFEST["contributes"]["configuration"]["properties"]
    assert [row[:2] for row in rows("Settings")] == [
        [name, json.dumps(setting["default"])] for name, setting in settings.items()
    ]
    assert all(setting["markdownDescription"] for setting in settings.values())


def test_the_readme_names_only_scripts_that_exist():
    for script in re.findall(r"npm (?:run )?([a-z:]+)", README.partition("## Build and test")[2]):
        assert script in {"ci", "test"} or script in MANIFEST["scripts"], script


def test_the_extension_has_the_daemons_version():
    assert MANIFEST["version"] == memrecalld.__version__


def test_the_lock_file_names_no_place_to_download_from():
    lock = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


def test_pictures_of_the_readme_are_packaged():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    assert all((SOURCE / picture).is_file() for picture in pictures)
    assert "!images/*.png" in (SOURCE / ".vscodeignore").read_text(encoding="utf-8")
