"""How a person runs the programs of this installation, and adds to it.

Whoever reads a next step pastes it. Of an environment that is not activated, the names alone are not found.
Like ``memrecalld.paths``, this module loads nothing that the interpreter has not loaded already.
"""

import os
import sys

_MODULES = {"memrecalld": "memrecalld.server.main", "memrecall": "memrecalld.cli"}


def program(name: str) -> list[str]:
    """The command line of ``memrecalld`` or ``memrecall``: the script beside the running interpreter, or that
    interpreter with the module where the package was not installed with its scripts."""
    beside = os.path.join(os.path.dirname(sys.executable), name)  # noqa: PTH118, PTH120
    return [beside] if os.path.isfile(beside) else [sys.executable, "-m", _MODULES[name]]  # noqa: PTH113


def shown(line: str) -> str:
    """A command line that begins with the name of a program of ours, in a form that works in any folder.

    It is the line itself where the shell that started this process finds this installation by the name.
    """
    name, _, arguments = line.partition(" ")
    words = program(name)
    if _finds(name, words[0]):
        return line
    import shlex  # noqa: PLC0415 - seldom

    return f"{shlex.join(words)} {arguments}".rstrip()


def install(package: str) -> str:
    """The command that gives the running interpreter a package which this one, or an extra of it, needs."""
    import shlex  # noqa: PLC0415 - seldom
    from importlib import metadata  # noqa: PLC0415 - seldom

    try:
        requirements = [each.partition(";")[0].strip() for each in metadata.requires("memrecalld") or ()]
    except metadata.PackageNotFoundError:
        requirements = []
    wanted = next((each for each in requirements if _name(each) == _name(package)), package)
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(wanted)}"


def _finds(name: str, script: str) -> bool:
    """The name leads to ``script``, or to what stands beside the program that runs."""
    running = os.path.abspath(sys.argv[0]) if sys.argv else ""  # noqa: PTH100
    beside = os.path.dirname(running) if os.path.basename(running) in _MODULES else None  # noqa: PTH119, PTH120
    for folder in os.get_exec_path():
        found = os.path.join(folder, name)  # noqa: PTH118
        if os.access(found, os.X_OK) and os.path.isfile(found):  # noqa: PTH113
            return folder == beside or (os.path.exists(script) and os.path.samefile(found, script))  # noqa: PTH110, PTH121
    return False


def _name(requirement: str) -> str:
    """A requirement's package, as indexes spell it (PEP 503 and PEP 508)."""
    name = requirement
    for end in "<>=!~[ ;":
        name = name.partition(end)[0]
    return name.lower().replace("_", "-")
