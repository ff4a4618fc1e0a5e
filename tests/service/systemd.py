"""A real ``systemd --user`` without booting a machine: in namespaces of its own, with a private home.

Needs root and the Debian package ``systemd``. What it runs is root's too, or an ordinary user's.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.daemon import REPOSITORY
from tests.support.polling import poll

ORDINARY_USER = 4321
"""Any number that is nobody's here."""

CALL_S = 60.0
_UNSHARE = ("unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc")
_CGROUPS = Path("/sys/fs/cgroup")
_NUMBERS = itertools.count(1)

# systemd --user refuses to run on a machine that was not booted by systemd, where /run is a mount.
_INIT = """
set -eu
for group in $CGROUPS; do echo 0 >$group/cgroup.procs; done
for covered in $COVERED; do
    mkdir -p $BASE/kept$covered
    mount --bind $covered $BASE/kept$covered
    mount -t tmpfs -o mode=755 tmpfs $covered
done
for shown in $SHOWN; do
    mkdir -p $shown
    mount --bind $BASE/kept$shown $shown
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system $XDG_RUNTIME_DIR
mount --bind $BASE/run $XDG_RUNTIME_DIR
$AS_USER /lib/systemd/systemd --user --log-target=console >$BASE/systemd.log 2>&1 &
read -r _ || true
$AS_USER systemctl --user exit
wait
"""


class UserSystemd:
    """The service manager of one user. ``close`` ends it and all that it runs."""

    def __init__(self, uid: int = 0) -> None:
        assert os.geteuid() == 0, "this needs root, as a container has it"
        assert Path("/lib/systemd/systemd").exists(), "this needs systemd: apt-get install systemd"
        # pytest's own folders are too deep for a socket's path.
        self.base = Path(tempfile.mkdtemp(prefix="memrecalld-systemd-", dir="/tmp"))
        self.base.chmod(0o755)
        self.home = self.base / "home"
        self.runtime = self.base / "run"
        self.socket = self.runtime / "memrecalld" / "memrecalld.sock"
        """As it is reached from outside; inside, the folder is where it is on any machine."""
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": f"/run/user/{uid}",
        }
        self.units = self.home / ".config" / "systemd" / "user"
        self.log = self.home / "daemon.log"
        for folder in (self.home, self.runtime):
            folder.mkdir(mode=0o700)
            os.chown(folder, uid, uid)
        self._as_user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
        self._cgroups = _make_cgroups(f"memrecalld-test-{os.getpid()}-{next(_NUMBERS)}", uid)
        covered, shown = _hidden_from_others() if uid else ([], [])
        init = {
            "BASE": str(self.base),
            "CGROUPS": " ".join(map(str, self._cgroups)),
            "COVERED": " ".join(covered),
            "SHOWN": " ".join(shown),
            "AS_USER": " ".join(self._as_user),
        }
        self._init = subprocess.Popen(
            [*_UNSHARE, "bash", "-c", _INIT],
            env=self.environment | init,
            stdin=subprocess.PIPE,
        )
        try:
            poll((self.runtime / "systemd" / "private").is_socket, "systemd answers")
            self.systemctl("is-system-running", "--wait")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the manager and what it runs, and leave nothing behind."""
        try:
            self._init.communicate(b"\n", timeout=CALL_S)
        except subprocess.TimeoutExpired:
            self._init.kill()
            self._init.wait()
        for group in self._cgroups:
            folders = sorted(group.rglob("*/"), key=lambda each: len(each.parts), reverse=True)
            for folder in (*folders, group):
                if folder.is_dir():
                    poll(lambda folder=folder: _removed(folder), f"{folder} is empty")
        shutil.rmtree(self.base, ignore_errors=True)

    def run(
        self, *command: str, check: bool = True, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as the user, where the manager is."""
        inside = ["nsenter", f"--target={self._pid}", "--mount", "--pid"]
        done = subprocess.run(
            [*inside, *self._as_user, *command],
            env=self.environment | (environment or {}),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}{self.told()}"
        return done

    def systemctl(self, *arguments: str, check: bool = True) -> str:
        """Standard output of ``systemctl --user``."""
        return self.run("systemctl", "--user", *arguments, check=check).stdout.strip()

    def show(self, unit: str, name: str) -> str:
        """One property of a unit."""
        return self.systemctl("show", unit, f"--property={name}", "--value")

    def memrecall(
        self, *arguments: str, check: bool = True, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command as the user."""
        command = [sys.executable, "-m", "memrecalld.cli", *arguments]
        return self.run(*command, check=check, environment=environment)

    def status(self) -> dict[str, Any]:
        """What the daemon says; a connection to it starts it."""
        answer: dict[str, Any] = json.loads(self.memrecall("status", "--json").stdout)
        return answer

    def drop_in(self, unit: str, name: str, text: str) -> None:
        """Add a user's own settings to a unit."""
        folder = self.units / f"{unit}.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.conf").write_text(text, encoding="utf-8")
        self.systemctl("daemon-reload")

    def told(self) -> str:
        """What systemd and the daemon have said."""
        files = (self.base / "systemd.log", self.log)
        return "".join(each.read_text(errors="replace") for each in files if each.exists())

    @property
    def _pid(self) -> int:
        """The first process in the namespaces."""
        children = Path(f"/proc/{self._init.pid}/task/{self._init.pid}/children")
        return int(children.read_text().split()[0])


def _make_cgroups(name: str, uid: int) -> list[Path]:
    """A group to delegate, in the unified hierarchy and in systemd's own where both are mounted."""
    roots = [each for each in (_CGROUPS / "systemd", _CGROUPS / "unified") if each.is_dir()] or [_CGROUPS]
    groups = [root / name for root in roots]
    for group in groups:
        group.mkdir()
        for path in (group, *group.iterdir()):
            os.chown(path, uid, uid)
    return groups


def _removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _hidden_from_others() -> tuple[Sequence[str], Sequence[str]]:
    """Folders that an ordinary user may not enter, and what of the interpreter and packages is in them."""
    covered: dict[str, None] = {}
    shown: dict[str, None] = {}
    for path in (sys.base_prefix, sys.prefix, str(REPOSITORY)):
        real = Path(path).resolve()
        closed = [each for each in reversed(real.parents) if not each.stat().st_mode & 0o001]
        if closed:
            covered[str(closed[0])] = None
            shown[str(real)] = None
    return list(covered), list(shown)
