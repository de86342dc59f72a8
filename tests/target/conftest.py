"""Which interpreters the tests of the code inside the target run with, and how a test starts one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ..interpreters import INTERPRETERS as PYTHONS
from ..interpreters import NEWEST, SPREAD, VERSIONS
from .wireclient import Peer, Target, started

DEEP = ("3.11", "3.13")
"""Where everything is tried: the last version traced by sys.settrace, the newest by sys.monitoring."""

OTHERS = ("3.8", "3.9", "3.10", "3.12")
"""The versions besides: for what is tried deeply on those two anyway."""

EDGES = ("3.8", NEWEST)
"""The oldest and the newest: for what is the interpreter's own way and changes slowly."""


def _interpreters(versions: tuple[str, ...]) -> list[Any]:
    return [pytest.param(PYTHONS[version], id=version) for version in versions if version in PYTHONS]


@pytest.fixture(params=_interpreters(VERSIONS))
def python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(DEEP))
def deep_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(tuple(SPREAD)))
def spread_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(OTHERS))
def other_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(EDGES))
def edge_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters((EDGES[0], DEEP[0])))
def settrace_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(EDGES[:1]))
def old_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=_interpreters(DEEP[-1:]))
def new_python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _with_guests() -> list[Any]:
    """Interpreters for which `./dev test` put the libraries of debugged programs into a folder, and that folder."""
    pairs = ((version, PYTHONS.get(version), Path(sys.prefix, "guests", version, "site-packages")) for version in DEEP)
    found = [pytest.param((path, str(folder)), id=id) for id, path, folder in pairs if path and folder.is_dir()]
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="no guests installed: ./dev test does it"))]


@pytest.fixture(params=_with_guests())
def guests(request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    """An interpreter, and the environment in which it finds gevent and numpy."""
    python, folder = request.param
    return python, {"PYTHONPATH": folder}


@pytest.fixture
def start() -> Iterator[Callable[..., Target]]:
    """Start a program through our script; it is ended after the test."""
    with ExitStack() as stack:
        yield lambda python, *words, **options: stack.enter_context(started(python, *map(str, words), **options))


@pytest.fixture
def run_to(start: Callable[..., Target], tmp_path: Path) -> Callable[..., tuple[Target, Peer, int]]:
    """Write a program, run it to its line marked `# @here`, and give target, connection and thread."""

    def go(python: str, text: str, mark: str = "# @here", **options: Any) -> tuple[Target, Peer, int]:
        program = tmp_path / "program.py"
        program.write_text(text, encoding="utf-8", errors="surrogatepass")
        line = 1 + next(i for i, row in enumerate(text.splitlines()) if mark in row)
        target = start(python, program, cwd=tmp_path, env={**os.environ, **options.pop("env", {})})
        peer = target.accept()
        peer.configure({str(program): [line]}, **options)
        peer.go()
        return target, peer, peer.stopped()

    return go
