"""Which lines hold code, where a symbol begins, and what is loaded, is told by the target's own interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .wireclient import Peer, Target

SHOP = '''"""Text."""

import os


class Cart:
    """Text."""

    rate = 2

    @staticmethod
    def add(a,
            b):
        """Text."""
        # a remark

        total = (
            a
            + b
        )
        return total

    async def send(self):
        return 1


def outer():
    def inner():
        return 1
    return inner


def empty(): pass


def told():
    """Only text."""
# the last line
'''


@pytest.fixture
def peer(start: Callable[..., Target], python: str, tmp_path: Path) -> Peer:
    """A target held before configurationDone: everything here is answered without running it."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "broken.py").write_text("x = 1\n\ndef (:\n")
    (tmp_path / "latin.py").write_bytes("# coding: latin-1\ns = '\xe9'\n".encode("latin-1"))
    (tmp_path / "blank.py").write_text("")
    (tmp_path / "unread.py").write_bytes(b"s = '\xff'\n")
    peer = start(python, tmp_path / "shop.py").accept()
    peer.configure()
    return peer


def lines(peer: Peer, path: Path, *asked: int) -> list[Any]:
    rows = peer.call("resolve", files={str(path): list(asked)})["files"][str(path)]["lines"]
    assert [row["asked"] for row in rows] == list(asked)
    return [row["actual"] if row["actual"] is not None else row["reason"] for row in rows]


def test_lines_and_symbols_are_told_as_the_interpreter_compiles_them(peer: Peer, tmp_path: Path) -> None:
    assert_lines(peer, tmp_path)
    assert_symbols_begin_at_the_first_code_of_their_body(peer, tmp_path)


def assert_lines(peer: Peer, tmp_path: Path) -> None:
    shop = tmp_path / "shop.py"
    assert lines(peer, shop, 1, 2, 3, 9, 14, 15, 21, 28) == [1, 3, 3, 9, 17, 17, 21, 28]
    assert lines(peer, shop, 900) == ["shop.py has 38 lines"]
    assert lines(peer, shop, 38) == ["no code at or after line 38"]
    assert lines(peer, tmp_path / "none.py", 1) == ["no such file"]
    assert lines(peer, tmp_path, 1)[0].startswith(tmp_path.name)
    broken = lines(peer, tmp_path / "broken.py", 1)[0]
    assert broken.startswith("broken.py does not compile: ") and broken.endswith(", line 3")
    assert lines(peer, tmp_path / "latin.py", 1) == [2]
    assert lines(peer, tmp_path / "blank.py", 1) == ["blank.py has 0 lines"]
    assert "unread.py" in lines(peer, tmp_path / "unread.py", 1)[0]


def assert_symbols_begin_at_the_first_code_of_their_body(peer: Peer, tmp_path: Path) -> None:
    words: list[tuple[str, str | None]] = [
        ("Cart.add", None),
        ("add", "shop"),
        ("send", "__main__"),
        ("inner", None),
        ("outer.inner", None),
        ("outer.<locals>.inner", None),
        ("outer", None),
        ("empty", None),
        ("nothing", None),
        ("add", "other"),
        ("rate", None),
    ]
    asked = [{"name": name, "module": module} for name, module in words]
    told = peer.call("resolve", symbols=asked)["symbols"]
    assert all(row is None or row["file"] == str(tmp_path / "shop.py") for row in told)
    assert [row and (row["line"], row["function"]) for row in told] == [
        (17, "Cart.add"),
        (17, "Cart.add"),
        (24, "Cart.send"),
        (29, "outer.<locals>.inner"),
        (29, "outer.<locals>.inner"),
        (29, "outer.<locals>.inner"),
        (28, "outer"),
        (33, "empty"),
        None,
        None,
        None,
    ]


def test_a_stop_at_a_symbols_place_shows_its_arguments(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(SHOP + "Cart.add(1, 2)\n")
    peer = start(deep_python, program).accept()
    place = peer_symbol(peer, "Cart.add")
    peer.request("setBreakpoints", source={"path": place["file"]}, breakpoints=[{"line": place["line"]}])
    peer.go()
    told = peer.stop(peer.stopped())
    assert [(row["name"], row["value"]) for row in told["locals"]] == [("a", "1"), ("b", "2")]


def peer_symbol(peer: Peer, name: str) -> dict[str, Any]:
    peer.configure()
    found: dict[str, Any] = peer.call("resolve", symbols=[{"name": name}])["symbols"][0]
    return found


def test_a_changed_file_is_compiled_anew(start: Callable[..., Target], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("\n\nx = 1\n")
    peer = start(sys.executable, program).accept()
    peer.configure()
    assert lines(peer, program, 1) == [3]
    program.write_text("y = 22\n\nx = 1\n")
    assert lines(peer, program, 1) == [1]


LOADING = """
import sys, runpy, importlib.util
sys.path.insert(0, {folder!r})
import used
runpy.run_path({ran!r})
spec = importlib.util.spec_from_file_location("hidden", {hidden!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
x = 1  # @here
"""


def test_what_is_loaded_is_told_by_its_real_path(
    run_to: Callable[..., tuple[Target, Peer, int]], deep_python: str, tmp_path: Path
) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    for name in ("used", "ran", "hidden", "unused"):
        # Not the same text twice: pydevd 1.8.22 keys by code object, and those of equal text are equal.
        (real / f"{name}.py").write_text(f"def f():\n    return {name!r}\nf()\n")
    text = LOADING.format(folder=str(link), ran=str(real / "ran.py"), hidden=str(real / "hidden.py"))
    _, peer, thread = run_to(deep_python, text)
    asked = [str(folder / f"{name}.py") for folder in (real, link) for name in ("used", "ran", "hidden", "unused")]
    loaded = peer.call("loaded", files=asked)["loaded"]
    assert loaded == [path for path in asked if "unused" not in path]
    assert peer.stop(thread, watch=asked)["loaded"] == loaded
    assert peer.call("resolve", symbols=[{"name": "f", "module": "used"}])["symbols"][0]["line"] == 2


def test_modules_are_listed_with_the_users_first(
    run_to: Callable[..., tuple[Target, Peer, int]], deep_python: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("__version__ = '1.2'\n")
    _, peer, _ = run_to(deep_python, "import json, mine\nx = 1  # @here\n")
    told = peer.call("modules", start=0, count=3)
    assert [row["name"] for row in told["modules"][:2]] == ["__main__", "mine"]
    assert (told["modules"][1]["user"], told["modules"][1]["version"]) == (True, "1.2")
    assert (told["modules"][2]["user"], len(told["modules"])) == (False, 3)
    everything = peer.call("modules", start=0, count=1000)["modules"]
    assert len(everything) == told["total"] and "json" in {row["name"] for row in everything}
    assert not any("pydev" in row["name"] for row in everything)


@pytest.mark.parametrize("words", [["-c", "def f(a):\n    return a\nf(1)"], ["pkg"]], ids=["code", "package"])
def test_code_and_packages_have_places_before_they_run(
    start: Callable[..., Target], deep_python: str, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("import os\nlate = 1\n")
    (tmp_path / "pkg" / "__main__.py").write_text("def f(a):\n    return a\nf(1)\n")
    target = start(deep_python, *words, cwd=tmp_path, module=words == ["pkg"])
    peer = target.accept()
    peer.configure()
    main = peer.call("hello")["program"]
    assert main == ("<string>" if words[0] == "-c" else str(tmp_path / "pkg" / "__main__.py"))
    assert peer.call("resolve", symbols=[{"name": "f"}])["symbols"] == [{"file": main, "line": 2, "function": "f"}]
    assert peer.call("resolve", files={main: [1, 9]})["files"][main]["loaded"] is True
    early = str(tmp_path / "pkg" / "__init__.py")
    peer.request("setBreakpoints", source={"path": main}, breakpoints=[{"line": 2}])
    peer.request("setBreakpoints", source={"path": early}, breakpoints=[{"line": 2}])
    peer.go()
    if words == ["pkg"]:
        thread = peer.stopped()
        assert peer.stop(thread)["frames"][0]["file"] == early
        peer.resume("continue", thread)
    stop = peer.stop(peer.stopped())
    assert [(frame["function"], frame["file"]) for frame in stop["frames"]] == [("f", main), ("<module>", main)]


COUNTING = """
import sys
compiled = []
sys.addaudithook(lambda event, words: compiled.append(words[1]) if event == "compile" else None)
x = 1  # @here
"""


def test_a_file_is_compiled_once_however_many_breakpoints_it_has(
    run_to: Callable[..., tuple[Target, Peer, int]], deep_python: str, tmp_path: Path
) -> None:
    _, peer, thread = run_to(deep_python, COUNTING)
    many = tmp_path / "many.py"
    many.write_text("x = 1\n\n" * 40)
    asked = [{"line": 1 + i} for i in range(80)]
    for count in (1, 40, 80):
        told = peer.request("setBreakpoints", source={"path": str(many)}, breakpoints=asked[:count])["breakpoints"]
        assert [row["line"] for row in told] == [1 + i // 2 * 2 for i in range(count)]
        assert lines(peer, many, 1, 2) == [1, 3]
    frame = peer.stop(thread)["frames"][0]["id"]
    often = peer.call("eval", frameId=frame, expressions=[f"compiled.count({str(many)!r})"])["results"][0]
    assert often["value"]["value"] == "1"
