"""Messages in which the daemon speaks of itself: ``daemon/status``, and what it can do."""

from __future__ import annotations

from typing import Literal

from memrecalld.server.messages.base import Message
from memrecalld.telemetry import Latency


class StatusParams(Message, frozen=True, kw_only=True):
    """``daemon/status``"""

    project_root: str | None = None


class RootStatus(Message, frozen=True, kw_only=True):
    """One memory folder."""

    scope: Literal["project", "user"]
    layout: str
    path: str
    topics: int
    exists: bool


class SkippedFile(Message, frozen=True, kw_only=True):
    """A file that is no topic, and why."""

    path: str
    reason: str


class ProjectStatus(Message, frozen=True, kw_only=True):
    """The memory of one project, with the user's."""

    root: str | None
    """The folder that stands for the project; null when the path given is none (``reason`` says why)."""
    reason: str | None = None
    roots: list[RootStatus]
    skipped: list[SkippedFile]


class SelectorStatus(Message, frozen=True, kw_only=True):
    """The model selector in use."""

    kind: Literal["none", "openai", "client"]


class Limits(Message, frozen=True, kw_only=True):
    """Numbers that are no setting, for clients that show or observe them."""

    initial_wait_ms: int
    fast_documents: int
    refined_documents: int
    body_characters: int
    message_bytes: int


class Capabilities(Message, frozen=True, kw_only=True):
    """What this daemon can do; ``capabilities.experimental.memrecall`` of ``initialize``, too."""

    protocol_version: int
    selector: Literal["none", "openai", "client"]
    layouts: list[str]
    limits: Limits


class Health(Message, frozen=True, kw_only=True):
    """Whether anything is less good than it should be; recall goes on either way."""

    state: Literal["ok", "degraded"]
    reasons: list[str]


class StatusResult(Message, frozen=True, kw_only=True):
    """``daemon/status``"""

    version: str
    protocol_version: int
    pid: int
    uptime_s: float
    connections: int
    sessions: int
    open_turns: int
    topics: int
    """Notes held in memory."""
    skipped: dict[str, int]
    """Files passed over in the folders held, by reason."""
    health: Health
    capabilities: Capabilities
    selector: SelectorStatus
    config_error: str | None = None
    """Why the configuration file as it was read last is not in effect, and the one before is."""
    counters: dict[str, int]
    latency: Latency
    project: ProjectStatus | None = None
