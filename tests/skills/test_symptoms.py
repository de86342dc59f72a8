"""Every call of the skill's table, typed as it stands there in a project that has the symptom, shows what the table promises."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..guard import free_port
from .test_skill import TEXT

TABLE = dict(re.findall(r"^\| ([a-z][^|]+) \| `(dbg [^`]+)`", TEXT, re.MULTILINE))
"""Symptom to call."""
CART = f"""\
def total(items):
    out = 0
    for price in items:
        out += price
    return out
{chr(10) * 20}
def checkout(items):
    a, b = items[0], items[-1]
    total = 0
    for price in items:
        total += price
    return total, a, b
"""
VIEWS = f"{chr(10) * 38}def cart(prices):\n    return 1 / len(prices)\n"
OTHER = 'note = "text of a line"\n'
APP = """\
import cart, other
cart.total([1, 2])
cart.total([1, 2, 3, 4])
cart.checkout([5, -9, 1, 2])
raise ValueError("no such cart")
"""
SERVER = """\
from http.server import BaseHTTPRequestHandler, HTTPServer
import views
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        views.cart([])
HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
"""
WAITS = "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()\n"
SELDOM = """import pathlib
    count = pathlib.Path("count")
    count.write_text("." + (count.read_text() if count.exists() else ""))
    out = 1 if len(count.read_text()) % 3 == 0 else 0"""
"""Instead of `out = 0`: every third run begins with 1."""
TESTS = "import cart\ndef test_total():\n    got = cart.total([1, 2])\n    assert got == 3\n"


class Project:
    def __init__(self, here: Path) -> None:
        self.here = here
        self._env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self.file("cart.py", CART)
        self.file("other.py", OTHER)
        self.file("views.py", VIEWS)
        self.file("tests/test_cart.py", TESTS)
        self.file("conftest.py", "")
        assert CART.splitlines()[30] == "        total += price"

    def file(self, name: str, text: str) -> None:
        path = self.here / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def says(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.here, env=self._env, capture_output=True, text=True, timeout=150, check=False
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def commit(self, number: int) -> None:
        who = "-c user.name=t -c user.email=t@example.org -c commit.gpgsign=false"
        self.says(f"git init -q; git add -A; git {who} commit -q --allow-empty -m {number}")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.says("dbg daemon stop")


@pytest.mark.long
def test_a_crash_a_wrong_value_and_one_iteration(project: Project) -> None:
    project.file("app.py", APP)
    assert "ValueError: no such cart at app.py:5" in project.says(TABLE["a crash, a failing exit code"])
    traced = project.says(TABLE["a wrong value"])
    assert traced.startswith("total(items=[1, 2, 3, 4]) cart.py:1") and "= 10\n" in traced
    claimed = project.says(TABLE["when does it go wrong"])
    assert "cart.py:31 reached 4 times" in claimed and "total >= 0: violated 2 of 4, first at hit 3" in claimed
    reached = project.says(TABLE["is this line reached at all"])
    assert "cart.py:31 reached" in reached and "other.py@" in reached and "not reached" not in reached
    held = project.says(TABLE["which iteration, which call"])
    assert "b1 hit 1 at cart.py:31 in checkout" in held and "total=-4" in held
    assert project.says("dbg eval 'a' 'b'") == "a = 5\nb = 2\n"
    assert "cart.py:31 total -4 -> -3" in project.says("dbg next 5")
    assert "ValueError: no such cart, uncaught, at app.py:5" in project.says("dbg finish")
    for line in ("dbg state", "dbg continue"):
        assert project.says(line)
    runs = re.findall(r"^(r\d+) ", project.says("dbg history"), re.MULTILINE)
    assert runs and project.says(f"dbg diff {runs[-1]} {runs[0]}")


@pytest.mark.long
def test_a_server_and_a_hang(project: Project) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    port = str(free_port())
    project.file("app.py", SERVER.replace("PORT", port))
    failed = project.says(TABLE["a server that answers 500"].replace("8000", port))
    assert "ZeroDivisionError" in failed and "views.py:40" in failed and "prices=[]" in failed
    asked = project.says(TABLE["a server's request"].replace("8000", port))
    assert "views.py:40 reached" in asked and "prices=[]" in asked
    project.file("app.py", WAITS)
    hung = project.says(TABLE["a hang, a deadlock"])
    assert "still running after 5 s" in hung and "app.py:4" in hung
    stuck = subprocess.Popen([sys.executable, "app.py"], cwd=project.here)
    try:
        assert "`dbg hang --pid N`" in TEXT
        assert "app.py:4" in project.says(f"dbg hang --pid {stuck.pid}")
        assert stuck.poll() is None
    finally:
        stuck.kill()
        stuck.wait()


@pytest.mark.long
def test_a_red_test_what_worked_before_and_a_flake(project: Project) -> None:
    for number in range(4):
        project.commit(number)
    project.file("cart.py", CART.replace("out = 0", "out = 1", 1))
    red = project.says(TABLE["a red test"])
    assert "got=4" in red and "total(items=[1, 2]) = 4" in red
    since = project.says(TABLE["it worked before"])
    assert "HEAD~3" in since and "4" in since
    project.file("cart.py", CART.replace("out = 0", SELDOM, 1))
    flaky = project.says(TABLE["a flake"])
    assert "got=4" in flaky and "total" in flaky and "first difference" in flaky, flaky
