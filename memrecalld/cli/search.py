"""``memrecall search``: ranked notes, outside any session."""

from __future__ import annotations

import argparse

from memrecalld.cli.command import connect, project_of
from memrecalld.cli.notes import note_lines
from memrecalld.cli.text import printable_json


def run(arguments: argparse.Namespace) -> None:
    """Search and print, best first."""
    project = project_of(arguments)
    with connect(arguments) as client:
        documents = client.search(arguments.query, project_root=project, limit=arguments.limit)
    if arguments.json:
        print(printable_json({"documents": documents}))
    elif not documents:
        print("No note matches.")
    else:
        print(
            "\n\n".join("\n".join(note_lines(each, number)) for number, each in enumerate(documents, start=1))
        )
