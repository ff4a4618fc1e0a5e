"""``memrecall search``: ranked notes, outside any session; or why one note is found, or is not."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memrecalld.cli.command import connect, project_of
from memrecalld.cli.notes import note_lines
from memrecalld.cli.text import printable_json
from memrecalld.cli.verdict import verdict_lines

if TYPE_CHECKING:
    from memrecalld.client import Client
    from memrecalld.client.shapes import Verdict


def run(arguments: argparse.Namespace) -> None:
    """Search and print, best first."""
    project = project_of(arguments)
    with connect(arguments) as client:
        if arguments.why is not None:
            verdict = judge(client, arguments.query, arguments.why, project, arguments.session)
            print(printable_json(verdict) if arguments.json else "\n".join(verdict_lines(verdict)))
            return
        documents = client.search(arguments.query, project_root=project, limit=arguments.limit)
    if arguments.json:
        print(printable_json({"documents": documents}))
    elif not documents:
        print("No note matches.")
    else:
        print(
            "\n\n".join("\n".join(note_lines(each, number)) for number, each in enumerate(documents, start=1))
        )


def judge(client: Client, query: str, note: str, project: str, session: str | None) -> Verdict:
    """The daemon's verdict on a file that a person names, in whatever way."""
    path = os.path.normpath(Path(note).absolute())
    verdict = client.explain(query, path, project_root=project, session_id=session)
    real_path = os.path.realpath(path)
    if verdict["reason"] == "no_note" and real_path != path:
        verdict = client.explain(query, real_path, project_root=project, session_id=session)
    return verdict
