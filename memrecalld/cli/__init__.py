"""The ``memrecall`` command. Importing this, and dispatching, costs next to nothing."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` (by default ``sys.argv[1:]``) asks for, and return its exit status.

    The statuses are those of ``memrecalld.cli.command.Status``.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments and arguments[0] == "hook":
        from memrecalld.hooks.process import main as hook  # noqa: PLC0415 - and this one runs at every prompt

        return hook(arguments[1:])
    from memrecalld.cli.command import run  # noqa: PLC0415 - argparse is not for every command

    return run(arguments)
