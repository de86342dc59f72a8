"""A program started by our script sees what a plain run shows it."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .wireclient import Target

PROBE = """
import gc, json, os, re, signal, sys, threading, warnings
def plain(value):
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
main = sys.modules["__main__"]
brought = [name for name in ("http", "http.server", "xmlrpc", "xmlrpc.client", "ssl", "email") if name in sys.modules]
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "cwd": os.getcwd(), "stdin": sys.stdin.read(), "stdin type": plain(type(sys.stdin)),
    "stdout type": plain(type(sys.stdout)), "flags": plain(sys.flags), "active": threading.active_count(),
    "threads": [t.name for t in threading.enumerate()], "main thread": threading.current_thread().name,
    "orig_argv": getattr(sys, "orig_argv", None), "xoptions": sys._xoptions, "warnoptions": sys.warnoptions,
    "main": {k: plain(v) for k, v in sorted(vars(main).items()) if k.startswith("__") and k != "__annotations__"},
    "annotations": plain(getattr(main, "__annotations__", None)), "is main": vars(main) is globals(),
    "environment": sorted(os.environ.items()), "excepthook": plain(sys.excepthook), "thread hook": plain(threading.excepthook),
    "signals": [plain(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGURG, signal.SIGTERM)],
    "prefix": sys.pycache_prefix, "bytecode": sys.dont_write_bytecode, "gc": gc.isenabled(),
    "brought": brought, "recursion": sys.getrecursionlimit(), "meta_path": plain(sys.meta_path), "executable": sys.executable,
}, sort_keys=True))
"""
KINDS = ("file", "file without suffix", "module", "package", "code", "folder", "zip")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(PROBE)
    (tmp_path / "app").write_text(PROBE)
    for folder in ("pkg", "folder"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__main__.py").write_text(PROBE)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as bundle:
        bundle.writestr("__main__.py", PROBE)
    (tmp_path / "input").write_text("one line\n")
    return tmp_path


def words(kind: str) -> tuple[list[str], dict[str, Any]]:
    """What comes after the interpreter in a plain run, and what our script is told."""
    return {
        "file": (["app.py"], {}),
        "file without suffix": (["./app"], {}),
        "module": (["app"], {"module": True}),
        "package": (["pkg"], {"module": True}),
        "code": (["-c", PROBE], {}),
        "folder": (["folder"], {}),
        "zip": (["bundle.zip"], {}),
    }[kind]


def seen_plainly(python: str, folder: Path, kind: str, flags: list[str]) -> dict[str, Any]:
    command, options = words(kind)
    lead = ["-m"] if options.get("module") else []
    with (folder / "input").open() as stdin:
        done = subprocess.run(
            [python, *flags, *lead, *command, "a", "--port", "-x"],
            cwd=folder,
            env=dict(os.environ),  # readline in this process may have set more in C than os.environ knows
            stdin=stdin,
            capture_output=True,
            check=True,
        )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def seen_under_us(
    start: Callable[..., Target], python: str, folder: Path, kind: str, flags: list[str]
) -> dict[str, Any]:
    command, options = words(kind)
    with (folder / "input").open() as stdin:
        target = start(python, *command, "a", "--port", "-x", cwd=folder, stdin=stdin, flags=flags, **options)
    peer = target.accept()
    peer.configure()
    peer.go()
    peer.rest()
    code, out, err = target.end()
    assert (code, err) == (0, "")
    told: dict[str, Any] = json.loads(out)
    return told


def assert_same(start: Callable[..., Target], python: str, folder: Path, kind: str, flags: list[str]) -> None:
    ours, plain = seen_under_us(start, python, folder, kind, flags), seen_plainly(python, folder, kind, flags)
    assert {key: (ours[key], plain[key]) for key in plain if ours[key] != plain[key]} == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_sees_what_a_plain_run_shows_it(
    start: Callable[..., Target], new_python: str, programs: Path, kind: str
) -> None:
    assert_same(start, new_python, programs, kind, [])


def test_so_it_does_on_every_version(start: Callable[..., Target], other_python: str, programs: Path) -> None:
    assert_same(start, other_python, programs, "file", [])


def test_so_does_a_package_on_the_oldest_version_and_the_usual_one(
    start: Callable[..., Target], settrace_python: str, programs: Path
) -> None:
    assert_same(start, settrace_python, programs, "package", [])


@pytest.mark.parametrize("flags", [["-I"], ["-X", "dev", "-O"], ["-W", "ignore", "-B"]], ids=" ".join)
def test_the_interpreters_own_flags_stay(
    start: Callable[..., Target], new_python: str, programs: Path, flags: list[str]
) -> None:
    assert_same(start, new_python, programs, "file", flags)
