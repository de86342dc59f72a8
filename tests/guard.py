"""The guard around every test: a private environment before it, and a search for whatever it left behind after it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Set
from pathlib import Path
from typing import TypeVar

import psutil

from stillframe.adapters.finding import tools_directory

from .interpreters import SWIFT

T = TypeVar("T")
COOKIE = "STILLFRAME_TEST"
PATIENT = 30.0
"""How long anything may take that is bound to come, on the busiest machine."""
_BETWEEN = 0.01
PATIENCE = 30.0
"""How long a process that is already dying may take to be gone."""
_PRIVATE = ("STILLFRAME_", "XDG_", "PYTHON", "PYDEVD_", "DEBUGPY_")
_KEPT_ON_PURPOSE = (".lock",)
"""The daemon's election lock is never deleted, by design."""


OURS = "stillframe-*"
"""What we make in the directory for temporary files is named so."""

_BIRTHS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec")
_births = 0


def notice_births() -> None:
    """From now on count the processes that this one starts, so that a test which starts none need not look for any."""

    def hook(event: str, _arguments: object) -> None:
        global _births
        if event in _BIRTHS:
            _births += 1

    sys.addaudithook(hook)


def _in_memory() -> str | None:
    """Where directories need no disk, which makes a test wait ten milliseconds to have them and be rid of them."""
    place, enough = "/dev/shm", 1 << 30
    try:
        found = os.statvfs(place)
    except OSError:
        return None
    is_fit = found.f_bavail * found.f_frsize > enough and not found.f_flag & os.ST_NOEXEC
    return place if is_fit and os.access(place, os.W_OK) else None


_MEMORY = _in_memory()


class Guard:
    """One test's own directories and cookie, and what is still there once it is over."""

    def __init__(self, cache: Path) -> None:
        self.id = uuid.uuid4().hex
        # Short, because the path of a Unix socket in it has to fit into 108 bytes.
        self.root = Path(tempfile.mkdtemp(prefix="sf-", dir=_MEMORY))
        self._cache = cache
        self._fds = _open_fds()
        self._births = _births

    @property
    def runtime(self) -> Path:
        return self.root / "run"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """The environment of the test: the machine's PATH and locale, nothing else of the user's."""
        env = {name: value for name, value in base.items() if not name.startswith(_PRIVATE)}
        for name in ("VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR"):
            env.pop(name, None)
        places = {"RUNTIME_DIR": "run", "STATE_HOME": "state", "DATA_HOME": "data", "CONFIG_HOME": "config"}
        for name, folder in places.items():
            path = self.root / folder
            path.mkdir(mode=0o700)
            env[f"XDG_{name}"] = str(path)
        # Compiled files are the same for every test, and making them anew costs a second for each interpreter.
        env["XDG_CACHE_HOME"] = str(self._cache)
        env["STILLFRAME_TOOLS"] = str(tools_directory(base))
        # Go keeps what it compiled of its own library in a cache; without it every first build takes half a minute.
        env.setdefault("GOCACHE", str(Path(base.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "go-build"))
        env["HOME"] = str(self.root)
        self.temporary.mkdir(mode=0o700)
        env["TMPDIR"] = str(self.temporary)
        # A toolchain of rustup's is found below the user's own home, which the test has not.
        for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
            env.setdefault(name, str(Path(base.get("HOME", "/"), folder)))
        # Our own plugins of pytest are not those of the projects in the stories, and take half of the time of its start.
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        if SWIFT is not None:
            env["PATH"] = f"{SWIFT}{os.pathsep}{env['PATH']}"
        env[COOKIE] = self.id
        return env

    def leftovers(self, kept: Set[int] = frozenset()) -> list[str]:
        """One line for each process, file descriptor that is not kept, runtime file or temporary folder that outlived the test;
        processes are ended."""
        found = self.left_elsewhere()
        found += [f"open fd {fd} -> {target}" for fd, target in (_open_fds() - self._fds) if fd not in kept]
        return found

    def left_elsewhere(self) -> list[str]:
        """What outlived the test outside of this process."""
        found = [f"process {_describe(each)}" for each in self._processes()] if _births > self._births else []
        found += [f"runtime file {path.relative_to(self.root)}" for path in _files(self.runtime)]
        return found + self.litter()

    def litter(self) -> list[str]:
        """What is there of the folders that we make for temporary files; those of the programs themselves are their own."""
        return [f"temporary {path.relative_to(self.root)}" for path in self.temporary.glob(OURS)]

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def _processes(self) -> list[psutil.Process]:
        _gone, alive = psutil.wait_procs(marked(COOKIE, self.id), timeout=PATIENCE)
        for each in alive:
            try:
                each.kill()
            except psutil.NoSuchProcess:
                continue
        return alive


def marked(name: str, value: str) -> list[psutil.Process]:
    """Every other process of this machine that carries `name=value` in its environment."""
    wanted = f"{name}={value}".encode()
    found = []
    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if wanted in environ.split(b"\0"):
            try:
                found.append(psutil.Process(pid))
            except psutil.NoSuchProcess:
                continue
    return [each for each in found if not gone(each)]


def gone(process: psutil.Process) -> bool:
    """Whether it has ended, waited for or not; asked at once, since it may end between two questions."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(look: Callable[[], T], what: str, seconds: float = PATIENT) -> T:
    """What a look finds as soon as it finds something; in between, the processor is left to those who are waited for."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, what
        time.sleep(_BETWEEN)
    return found


def free_port() -> int:
    """A port that nobody has, of those that the system gives to nobody by itself: it is still free when a program comes to it."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def command(process: psutil.Process) -> list[str]:
    """The words that it was started with, none where it has just ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def _describe(process: psutil.Process) -> str:
    return f"{process.pid}: {' '.join(command(process))}"


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir() and path.suffix not in _KEPT_ON_PURPOSE]


def _open_fds() -> set[tuple[int, str]]:
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if not target.startswith("/proc/"):
            found.add((int(link.name), target))
    return found
