"""``memrecall list``: the newest notes."""

from __future__ import annotations

import argparse

from memrecalld.cli.command import connect, project_of
from memrecalld.cli.text import printable_json, table


def run(arguments: argparse.Namespace) -> None:
    """List and print: the project's notes, then the user's, newest first."""
    project = project_of(arguments)
    with connect(arguments) as client:
        documents = client.list(project_root=project)
    if arguments.json:
        print(printable_json({"documents": documents}))
    elif not documents:
        print("There are no notes yet.")
    else:
        rows = [
            (
                each["age"].removeprefix("saved "),
                each["scope"],
                each["type"],
                each["title"],
                each["relativePath"],
            )
            for each in documents
        ]
        print("\n".join(table([("SAVED", "SCOPE", "TYPE", "TITLE", "FILE"), *rows])))
