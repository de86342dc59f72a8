"""Modules of the program that are named like the library's: they neither break the debugger, nor does it break them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from .wireclient import Target

HOSTILE = ("json", "socket", "queue", "threading", "select", "time", "code", "inspect", "dis", "tokenize", "xmlrpc")


def run(target: Target, program: Path, line: int) -> tuple[int, str, str]:
    """Stop at a line, look, and go on to the end."""
    peer = target.accept()
    peer.configure({str(program): [line]})
    peer.go()
    thread = peer.stopped(reason="breakpoint")
    stop = peer.stop(thread)
    assert stop["frames"][0]["line"] == line
    assert (
        peer.call("eval", frameId=stop["frames"][0]["id"], expressions=["1 + 1"])["results"][0]["value"]["value"] == "2"
    )
    peer.resume("continue", thread)
    peer.rest()
    return target.end()


def test_a_program_beside_such_modules_is_debugged(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the {name} of the program')\n")
    program = tmp_path / "program.py"
    program.write_text("value = 1\nprint(value)\n")
    assert run(start(spread_python, program, cwd=tmp_path), program, 2) == (0, "1\n", "")


def test_what_the_debugger_does_without_is_the_librarys_own_to_the_program(
    start: Callable[..., Target], edge_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import http.server, xmlrpc.client\nprint(http.server.HTTPServer.__name__, xmlrpc.client.Server)\n"
    )
    told = "HTTPServer <class 'xmlrpc.client.ServerProxy'>\n"
    assert run(start(edge_python, program, cwd=tmp_path), program, 2) == (0, told, "")


def test_so_it_is_with_them_on_the_path_and_the_programs_own_are_imported(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "queue.py").write_text("NAME = 'mine'\n")
    (tmp_path / "own" / "http").mkdir()
    (tmp_path / "own" / "http" / "__init__.py").write_text("NAME = 'mine, too'\n")
    program = tmp_path / "program.py"
    program.write_text("import queue, http, json\nprint(queue.NAME, http.NAME, json.dumps([]))\n")
    target = start(spread_python, program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "own")})
    assert run(target, program, 2) == (0, "mine mine, too []\n", "")


def test_a_module_that_the_debugger_has_is_run_as_main_without_a_warning(
    start: Callable[..., Target], edge_python: str, tmp_path: Path
) -> None:
    target = start(edge_python, "urllib.parse", module=True, flags=["-W", "error"], cwd=tmp_path)
    peer = target.accept()
    peer.configure()
    peer.go()
    peer.rest()
    assert target.end() == (0, "", "")


def test_a_module_that_the_debugger_would_have_is_run_as_main_without_a_warning(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    target = start(spread_python, "http.server", "--help", module=True, flags=["-W", "error"], cwd=tmp_path)
    peer = target.accept()
    peer.configure()
    peer.go()
    peer.rest()
    code, out, err = target.end()
    assert (code, err) == (0, "") and re.match(r"usage: (server\.py|python[\d.]* -m http\.server)", out)
