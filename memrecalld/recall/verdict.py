"""Why a note is recalled for a query, or why it is not: the ranker's own account, and what else stands in the
way."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from typing import Final, Literal

import msgspec

from memrecalld.errors import MemrecallError, NoSuchNote
from memrecalld.memory.document import Document
from memrecalld.memory.layouts import TEAM_FOLDER
from memrecalld.memory.parse import decode
from memrecalld.memory.reader import Refused, followed, followed_file, opened_root, read
from memrecalld.ranking.candidates import LEXICAL_CANDIDATES
from memrecalld.ranking.keys import Query, query_terms
from memrecalld.ranking.noise import is_tool_noise, tool_aliases
from memrecalld.ranking.ranker import Missed
from memrecalld.ranking.scorer import Match
from memrecalld.ranking.text import strip_recalled
from memrecalld.recall.delivery import DocumentSummary, summarize
from memrecalld.recall.library import Library, ProjectMemory
from memrecalld.recall.pool import Pool
from memrecalld.recall.prompt import displayable
from memrecalld.recall.session import Session

Reason = Literal[
    "recalled",
    "same_text",
    "already_delivered",
    "tool_in_use",
    "beyond_window",
    "too_little",
    "no_match",
    "nothing_asked",
    "unfilled",
    "skipped",
    "untrusted",
    "no_note",
]
"""What decides. Where several apply it is the one that would be left if the others after it were mended."""

MAX_PLACE: Final = LEXICAL_CANDIDATES
"""Matches beyond that no model is shown have no place."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The reason, and the numbers behind it, which are those of the ranker, in thousandths."""

    reason: Reason
    document: DocumentSummary | None = None
    """The note, if there is one."""
    truncated: bool = False
    """The note goes on beyond the characters that are looked at."""
    place: int | None = None
    """Its place among the matches, from 1, of a note that is recalled."""
    score: int = 0
    evidence: int = 0
    """What the note answers to of what the query asks."""
    needed: int = 0
    """Evidence without which no note is recalled for this query."""
    matched: tuple[Match, ...] = ()
    missed: tuple[Missed, ...] = ()
    """Terms that a note may be found for, and that this one lacks."""
    skip_reason: str | None = None
    """Why the file is not read."""


Ready = Callable[[Verdict | MemrecallError], None]


def explain(
    library: Library,
    query: str,
    project_root: str | None,
    path: str,
    *,
    session: Session | None,
    now_ns: int,
    ready: Ready,
) -> None:
    """Judge the note whose path is shown as ``path``; with a ``session``, for a turn of it.

    No session is touched. ``ready`` gets an error where the notes cannot be read.
    """
    terms = query_terms(strip_recalled(query))

    def judged(document: Document, pool: Pool | MemrecallError) -> None:
        if isinstance(pool, MemrecallError):
            ready(pool)
            return
        verdict = judge(document, terms, pool, session, now_ns)
        if not verdict.truncated or verdict.reason not in {"too_little", "no_match"}:
            ready(verdict)
            return

        def seen_whole(text: str) -> None:
            whole = msgspec.structs.replace(document, body=text)
            is_beyond = pool.explain(whole, terms).recalled
            ready(msgspec.structs.replace(verdict, reason="beyond_window") if is_beyond else verdict)

        _read_whole(document, seen_whole)

    def found(document: Document | MemrecallError) -> None:
        if isinstance(document, NoSuchNote):
            library.describe(
                project_root,
                lambda memory: ready(memory if isinstance(memory, MemrecallError) else missing(path, memory)),
            )
        elif isinstance(document, MemrecallError):
            ready(document)
        else:
            library.pool(project_root, frozenset(), lambda pool: judged(document, pool), whole=True)

    library.note(project_root, path, found)


def judge(document: Document, query: Query, pool: Pool, session: Session | None, now_ns: int) -> Verdict:
    """What becomes of a note of ``pool``."""
    aliases = tool_aliases(session.tools) if session is not None else frozenset()

    def is_delivered(each: Document) -> bool:
        return session is not None and each in session.delivered

    ranked = pool.search(
        query,
        limit=MAX_PLACE,
        now_ns=now_ns,
        keep=lambda each: not is_delivered(each) and not is_tool_noise(each, aliases),
    )
    why = pool.explain(document, query)
    ahead = list(takewhile(lambda each: each.path != document.path, (each.document for each in ranked)))
    reason: Reason
    if document.unfilled:
        reason = "unfilled"
    elif not query.carries:
        reason = "nothing_asked"
    elif not why.evidence:
        reason = "no_match"
    elif not why.recalled:
        reason = "too_little"
    elif is_tool_noise(document, aliases):
        reason = "tool_in_use"
    elif is_delivered(document):
        reason = "already_delivered"
    elif any(each.content_hash == document.content_hash for each in ahead):
        reason = "same_text"
    else:
        reason = "recalled"
    has_place = reason == "recalled" and len(ahead) < len(ranked)
    return Verdict(
        reason=reason,
        document=summarize(document, now_ns),
        truncated=document.truncated,
        place=len(ahead) + 1 if has_place else None,
        score=why.score,
        evidence=why.evidence,
        needed=why.needed,
        matched=why.matches,
        # Nothing is looked for in a note that was only announced.
        missed=() if document.unfilled else why.missed,
    )


def _read_whole(document: Document, ready: Callable[[str], None]) -> None:
    """The text of the note's file, as far as files are read; empty where it cannot be had.

    In a thread of its own, as any file system may take its time.
    """
    loop = asyncio.get_running_loop()

    def run() -> None:
        text = ""
        with suppress(OSError, Refused):
            text = _text(document)
        with suppress(RuntimeError):  # the daemon has stopped meanwhile
            loop.call_soon_threadsafe(ready, text)

    threading.Thread(target=run, name="memrecalld-note", daemon=True).start()


def _text(document: Document) -> str:
    with (
        opened_root(document.root) as root,
        followed(root, document.relative_path, [document.root]) as (reference, status),
    ):
        return decode(read(followed_file(document.relative_path, reference, status), time.time_ns()).data)


def missing(path: str, memory: ProjectMemory) -> Verdict:
    """Why there is no note at ``path``."""
    for skipped, reason in memory.skipped:
        shown = displayable(skipped)
        if path == shown or path.startswith(f"{shown}/"):
            return Verdict(reason="skipped", skip_reason=reason)
    is_trusted = any(root.layout == "team" for root in memory.roots)
    if memory.root is not None and not is_trusted:
        team = f"{displayable(memory.root)}/{TEAM_FOLDER}/"
        if path.startswith(team):
            return Verdict(reason="untrusted")
    return Verdict(reason="no_note")
