"""What the daemon says of itself."""

from __future__ import annotations

import os
import time

import memrecalld
from memrecalld import database
from memrecalld.memory.document import BODY_WINDOW_CHARS
from memrecalld.memory.layouts import LAYOUTS
from memrecalld.recall.deliverer import INITIAL_WAIT_S
from memrecalld.recall.delivery import FAST_DOCUMENTS, REFINED_DOCUMENTS
from memrecalld.recall.library import ProjectMemory
from memrecalld.recall.prompt import displayable
from memrecalld.server.framing import MAX_MESSAGE_BYTES
from memrecalld.server.host import Host
from memrecalld.server.messages import PROTOCOL_VERSION
from memrecalld.server.messages.status import (
    Capabilities,
    Health,
    Limits,
    ProjectStatus,
    RootStatus,
    SelectorStatus,
    SkippedFile,
    StatusResult,
)


def capabilities(host: Host) -> Capabilities:
    """What a client may count on."""
    return Capabilities(
        protocol_version=PROTOCOL_VERSION,
        selector=host.selector_kind,
        layouts=list(LAYOUTS),
        limits=Limits(
            initial_wait_ms=round(INITIAL_WAIT_S * 1000),
            fast_documents=FAST_DOCUMENTS,
            refined_documents=REFINED_DOCUMENTS,
            body_characters=BODY_WINDOW_CHARS,
            message_bytes=MAX_MESSAGE_BYTES,
        ),
    )


def status(host: Host, project: ProjectMemory | None = None) -> StatusResult:
    """The daemon's state now, and that of one project's memory."""
    catalog = host.catalog
    telemetry = host.engine.telemetry
    return StatusResult(
        version=memrecalld.__version__,
        protocol_version=PROTOCOL_VERSION,
        pid=os.getpid(),
        uptime_s=round(time.monotonic() - host.started, 3),
        connections=host.connection_count,
        sessions=host.engine.session_count,
        open_turns=host.engine.open_turns,
        topics=catalog.topics,
        skipped=dict(catalog.skipped),
        health=_health(host),
        capabilities=capabilities(host),
        selector=SelectorStatus(kind=host.selector_kind),
        config_error=host.config_error,
        counters=dict(telemetry.counters),
        latency=telemetry.latency(),
        project=None if project is None else _project_status(project),
    )


def _health(host: Host) -> Health:
    catalog = host.catalog
    reasons = [
        *host.engine.telemetry.troubles,
        *(f"{name}-set-aside" for name in sorted(database.damaged)),
    ]
    if host.config_error is not None:
        reasons.append("configuration-not-in-effect")
    if not catalog.caching:
        reasons.append("cache-off")
    if not catalog.watching:
        reasons.append("events-off")
    return Health(state="degraded" if reasons else "ok", reasons=reasons)


def _project_status(project: ProjectMemory) -> ProjectStatus:
    return ProjectStatus(
        root=None if project.root is None else displayable(project.root),
        reason=project.reason,
        roots=[
            RootStatus(
                scope=root.scope,
                layout=root.layout,
                path=displayable(root.path),
                topics=root.topics,
                exists=root.exists,
            )
            for root in project.roots
        ],
        skipped=[SkippedFile(path=displayable(path), reason=reason) for path, reason in project.skipped],
    )
