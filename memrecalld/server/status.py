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
from memrecalld.server import messages
from memrecalld.server.host import Host


def capabilities(host: Host) -> messages.Capabilities:
    """What a client may count on."""
    return messages.Capabilities(
        protocol_version=messages.PROTOCOL_VERSION,
        selector=host.selector_kind,
        layouts=list(LAYOUTS),
        limits=messages.Limits(
            initial_wait_ms=round(INITIAL_WAIT_S * 1000),
            fast_documents=FAST_DOCUMENTS,
            refined_documents=REFINED_DOCUMENTS,
            body_characters=BODY_WINDOW_CHARS,
            message_bytes=messages.MAX_MESSAGE_BYTES,
        ),
    )


def status(host: Host, project: ProjectMemory | None = None) -> messages.StatusResult:
    """The daemon's state now, and that of one project's memory."""
    catalog = host.catalog
    telemetry = host.engine.telemetry
    return messages.StatusResult(
        version=memrecalld.__version__,
        protocol_version=messages.PROTOCOL_VERSION,
        pid=os.getpid(),
        uptime_s=round(time.monotonic() - host.started, 3),
        connections=host.connection_count,
        sessions=host.engine.session_count,
        open_turns=host.engine.open_turns,
        topics=catalog.topics,
        skipped=dict(catalog.skipped),
        health=_health(host),
        capabilities=capabilities(host),
        selector=messages.SelectorStatus(kind=host.selector_kind),
        config_error=host.config_error,
        counters=dict(telemetry.counters),
        latency=telemetry.latency(),
        project=None if project is None else _project_status(project),
    )


def _health(host: Host) -> messages.Health:
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
    return messages.Health(state="degraded" if reasons else "ok", reasons=reasons)


def _project_status(project: ProjectMemory) -> messages.ProjectStatus:
    return messages.ProjectStatus(
        root=None if project.root is None else displayable(project.root),
        reason=project.reason,
        roots=[
            messages.RootStatus(
                scope=root.scope,
                layout=root.layout,
                path=displayable(root.path),
                topics=root.topics,
                exists=root.exists,
            )
            for root in project.roots
        ],
        skipped=[
            messages.SkippedFile(path=displayable(path), reason=reason) for path, reason in project.skipped
        ],
    )
