"""Code that is not in a plain file: in an archive, compiled alone, made while the program runs, in another coding."""

from __future__ import annotations

import py_compile
import sys
import zipfile

import pytest

from ..interpreters import INTERPRETERS, SPREAD
from .conftest import User

MADE = 'names = {}\nexec("def made(a):\\n    b = a * 2\\n    return b\\n", names)\nprint(names["made"](3), names["made"](4))\n'


def test_a_function_that_was_made_by_exec_stops_by_its_name(user: User) -> None:
    user.file("app.py", MADE)
    told = user.json("launch", "app.py", "--break", "made if a == 4")
    assert (told["breakpoints"], told["frame"]["function"], told["locals"][0]["value"]) == (["b1"], "made", "4")
    assert "no source file" in user.ok("breaks")
    assert user.json("next")["frame"]["line"] == 2
    assert user.json("continue")["state"] == "exited"
    assert user.json("probe", "made", "--hits", "9", "--", "python3", "app.py")["places"][0]["count"] == 2


def test_a_module_without_its_source_stops_by_name_and_what_is_not_called_is_called_that(user: User) -> None:
    source = user.file("lone.py", "def f(a):\n    return a + 1\n")
    py_compile.compile(str(source), cfile=str(user.here / "lone.pyc"))
    source.unlink()
    user.file("app.py", "import lone\nprint(lone.f(4))\n")
    ours = ("--python", sys.executable)  # which compiled it
    told = user.json("launch", "app.py", "--break", "lone!f", "--break", "nobody", *ours)
    assert (told["frame"]["function"], told["frame"]["file"], told["breakpoints"]) == ("f", "lone.py", ["b1"])
    assert "b2 pending (no function nobody was found)" in user.ok("continue")


def test_a_member_of_an_archive_is_named_stopped_in_and_shown(user: User) -> None:
    with zipfile.ZipFile(user.here / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "import inner\nprint(inner.g(2))\n")
        archive.writestr("inner.py", "def g(a):\n    b = a + 1\n    return b\n")
    text = user.ok("launch", "app.pyz", "--break", "g", "--break", "app.pyz/inner.py:3")
    assert "b1 hit 1 at app.pyz/inner.py:2 in g\n" in text and "> 2      b = a + 1\n" in text
    assert user.json("continue")["breakpoints"] == ["b2"]
    assert "> 3      return b" in user.ok("source")
    assert user.json("continue")["output"] == "3\n"


@pytest.mark.parametrize("version", SPREAD)
def test_a_file_is_read_in_the_coding_that_it_declares_and_counted_as_the_interpreter_does(
    user: User, version: str
) -> None:
    text = '# -*- coding: latin-1 -*-\nx = "été"\n\x0c\ny = 2\nz = 3\n'
    (user.here / "latin.py").write_bytes(text.encode("latin-1"))
    python = ("--python", INTERPRETERS[version])
    assert '> 2  x = "été"' in user.ok(
        "launch", "latin.py", *python, "--break", 'latin.py@"été"', "--break", "latin.py:5"
    )
    assert "> 5  z = 3" in user.ok("continue")
    user.ok("stop")


def test_a_step_over_a_library_says_so_in_our_words(user: User) -> None:
    user.file("app.py", "import json\ntext = json.dumps({})\nprint(text)\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    notes = user.json("step")["notes"]
    assert notes == ["dumps was stepped over: it is not your code (dbg launch --all-code steps into such)"]
    user.ok("stop")
