"""Breakpoints as they are asked for in real projects: any form of place, any directory, before or after a file is loaded."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ..interpreters import INTERPRETERS, SPREAD
from .conftest import User

APP = """\
import late

class Shop:
    tax = 0.2

    def total(self, items):
        return sum(
            item * 2
            for item in items
        )


def main():
    shop = Shop()
    result = shop.total([1, 2])
    late.help(result)


main()
"""


@pytest.fixture
def project(user: User) -> User:
    user.file("app.py", APP)
    user.file("late.py", "def help(n):\n    text = f'n is {n}'\n    print(text)\n")
    return user


def local(stop: dict[str, Any], name: str) -> str | None:
    return next((each["value"] for each in stop["locals"] if each["name"] == name), None)


@pytest.mark.long
def test_every_form_of_a_place_stops_there(project: User) -> None:
    forms = {
        "late.py:3": ("late.py", 3, "help"),
        'late.py@"print(text)"': ("late.py", 3, "help"),
        "late.py@'text = f'": ("late.py", 2, "help"),
        "late!help": ("late.py", 2, "help"),
        "help": ("late.py", 2, "help"),
        "Shop.total": ("app.py", 7, "total"),
        "app!Shop.total": ("app.py", 7, "total"),
        f"{project.here}/late.py:3": ("late.py", 3, "help"),
        "./late.py:3": ("late.py", 3, "help"),
    }
    wrong = {}
    for form, expected in forms.items():
        report = project.json("probe", form, "--", "python3", "app.py")
        (place,) = report["places"]
        frame = place["hits"][0]["frame"] if place["state"] == "reached" else {}
        found = (frame.get("file"), frame.get("line"), str(frame.get("function")).rpartition(".")[2])
        if found != expected:
            wrong[form] = (place["state"], place.get("message"), found)
    assert wrong == {}


def test_a_breakpoint_in_a_file_that_is_loaded_later_becomes_bound(project: User) -> None:
    project.ok("launch", "app.py", "--stop-on-entry")
    made = project.json("break", "late.py:3")
    assert made["state"] in ("pending", "bound")
    (listed,) = project.json("breaks")["breakpoints"]
    assert listed["state"] == made["state"]
    assert project.json("continue")["breakpoints"] == ["b1"]
    (listed,) = project.json("breaks")["breakpoints"]
    assert (listed["state"], listed["actual"], listed["hits"]) == ("bound", {"file": "late.py", "line": 3}, 1)
    project.ok("stop")


def test_lines_without_code_move_on_and_say_so(project: User) -> None:
    project.ok("launch", "app.py", "--break", "app.py:15")
    assert project.ok("break", "app.py:11") == "b2 bound at app.py:13 (asked for 11, which holds no code)\n"
    assert project.ok("break", "app.py:900") == "b3 failed: app.py has 19 lines\n"
    same = project.json("break", "app.py:15")
    assert same["id"] == "b1", "the same place again is the same breakpoint"
    project.ok("stop")


def test_relative_paths_are_of_the_callers_directory(project: User) -> None:
    project.file("pyproject.toml", "")
    (project.here / "sub").mkdir()
    below = User(project.here / "sub")
    told = below.json("launch", "../app.py", "--break", "../late.py:3")
    assert told["frame"]["file"] == "../late.py"
    assert below.json("break", "../app.py:16")["state"] == "bound"
    assert project.json("status")["state"] == "stopped", "a session of the project is found from anywhere in it"
    below.ok("stop")


def test_a_project_behind_a_symbolic_link_and_with_odd_names(user: User) -> None:
    real = user.here / "the real, ünï 'place'"
    real.mkdir()
    (real / "my app.py").write_text("x = 1\ny = 2\n")
    os.symlink(real, user.here / "link")
    through = User(user.here / "link")
    told = through.json("launch", "my app.py", "--break", "my app.py:2")
    assert (told["state"], told["frame"]["line"]) == ("stopped", 2)
    assert told["frame"]["file"] == "my app.py"
    through.ok("stop")
    direct = User(real)
    told = direct.json("launch", "my app.py", "--break", f"{user.here}/link/my app.py:2")
    assert (told["state"], told["frame"]["line"]) == ("stopped", 2)
    direct.ok("stop")


def test_a_file_whose_name_is_no_text_has_breakpoints_as_any_other(user: User) -> None:
    user.file("odd\udcff.py", "x = 1\ny = 2\nz = 3\n")
    assert "odd\\udcff.py:2 in <module>" in user.ok(
        "launch", "odd\udcff.py", "--break", "odd\udcff.py:2", "--name", "odd"
    )
    assert "bound at odd\\udcff.py:3" in user.ok("break", "odd\udcff.py:3")
    assert "odd\\udcff.py has 3 lines" in user.ok("break", "odd\udcff.py:9")
    assert user.json("continue")["breakpoints"] == ["b2"]
    user.ok("stop")


def test_a_breakpoint_set_while_it_runs_works_and_one_removed_is_gone(user: User) -> None:
    user.file("spin.py", "import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.001)\n")
    user.ok("launch", "spin.py", "--no-wait")
    assert user.json("break", "spin.py:4")["state"] == "bound"
    assert user.json("wait")["frame"]["line"] == 4
    assert user.json("unbreak", "spin.py:4") == {"breakpoints": []}
    assert user.json("continue", "--timeout", "0.2")["state"] == "running"
    user.ok("break", "spin.py:5", "--if", "n % 1000 == 0")
    assert str(local(user.json("wait"), "n")).endswith("000")
    user.ok("stop")


def test_a_file_that_was_edited_since_is_pointed_out(project: User) -> None:
    project.ok("launch", "app.py", "--break", "late.py:2")
    path = project.here / "late.py"
    path.write_text("# new first line\n" + path.read_text())
    told = project.ok("next")
    assert "late.py changed after the program started" in told
    project.ok("stop")


def test_once_and_hits_count_what_they_say(user: User) -> None:
    user.file("loop.py", "for n in range(10):\n    x = n\nprint('end')\n")
    user.ok("launch", "loop.py", "--stop-on-entry")
    assert user.ok("break", "loop.py:2", "--hit", ">=9") == "b1 bound at loop.py:2, hit >=9\n"
    assert user.ok("break", "loop.py:1", "--hit", "4", "--once") == "b2 bound at loop.py:1, hit 4, once\n"
    first = user.json("continue")
    assert (first["breakpoints"], local(first, "n")) == (["b2"], "3")
    assert [each["id"] for each in user.json("breaks")["breakpoints"]] == ["b1"]
    seen = [local(user.json("continue"), "n") for _ in range(2)]
    assert seen == ["8", "9"]
    assert user.json("continue")["output"] == "end\n"


def test_several_breakpoints_on_one_line_are_all_named(user: User) -> None:
    user.file("loop.py", "def f(n):\n    return n\n\nf(1)\n")
    told = user.json("launch", "loop.py", "--break", "loop.py:2", "--break", "f", "--break", "loop.py:2 if n == 1")
    assert set(told["breakpoints"]) == {"b1", "b2", "b3"}
    assert user.json("continue")["state"] == "exited"


def test_a_log_text_works_as_an_f_string_would_or_is_refused_at_once(user: User) -> None:
    user.file("loop.py", "for n in range(2):\n    x = str(n)\n    y = n\nprint('end')\n")
    user.ok("launch", "loop.py", "--stop-on-entry")
    made = {text: user.json("break", "loop.py:3", "--log", text) for text in ("{x!r}|{n:>3}",)}
    made["{x"] = user.json("break", "loop.py:4", "--log", "{x")
    user.ok("break", "other.py:3", "--log", "{x}")
    end = user.json("continue")
    log = end.get("log", "")
    never = {each["id"]: each["state"] for each in end["never_hit"]}
    assert never == {"b2": "failed", "b3": "failed"}, "those that never wrote because they were never set"
    for text, good in (("{x!r}|{n:>3}", "'0'|  0\n'1'|  1\n"), ("{x", None)):
        refused = made[text]["state"] == "failed" and made[text]["message"]
        assert refused or (good is not None and good in log), (text, made[text], log)


@pytest.mark.parametrize("version", SPREAD)
def test_a_log_text_keeps_its_good_parts_is_counted_and_is_not_what_the_program_printed(
    user: User, version: str
) -> None:
    user.file(
        "loop.py",
        "def f(n, least):\n    xs = [1, 2, 3]\n    return n\nfor n in range(300):\n    f(n, 2)\n"
        "for n in range(9):\n    n += 1\nprint('end')\n",
    )
    user.ok("launch", "loop.py", "--stop-on-entry", "--python", INTERPRETERS[version])
    text = "100%s {{}} n={n} bad={nosuch} {[x for x in xs if x > least]}"
    user.ok("break", "loop.py:3 if n == 7", "--log", text)
    user.ok("break", "loop.py:5", "--log", "turn {n:04}")
    user.ok("break", "loop.py:7 if nosuch", "--log", "never said")
    end = user.json("continue")
    rows = end["log"].splitlines()
    assert rows[-1] == "turn 0299" and {len(row) for row in rows} == {len(rows[0])}, "no half of a line"
    assert end["notes"] == ["the condition of b3 raised NameError: name 'nosuch' is not defined"]
    whole = user.json("output", "--kind", "log", "--bytes", "9999")["log"].splitlines()
    assert whole[8] == "100%s {} n=7 bad=<NameError: name 'nosuch' is not defined> [3]"
    assert [len(whole), whole[0], whole[-1]] == [301, "turn 0000", "turn 0299"]
    page = user.json("output", "--kind", "log", "--since", "0.0.0.0", "--bytes", "25")
    assert page["log"] == "turn 0000\nturn 0001\n"
    assert [each.get("hits", 0) for each in user.json("breaks")["breakpoints"]] == [1, 300, 0]
    assert user.json("status")["output_bytes"] == len("end\n")


def test_a_condition_that_raises_stops_says_so_and_is_no_hit(user: User) -> None:
    user.file("cond.py", 'def f(row):\n    return row\n\nfor row in [{}, {"q": 3}, {}, {"q": 3}]:\n    f(row)\n')
    user.ok("launch", "cond.py", "--stop-on-entry")
    user.ok("break", 'cond.py:2 if row["q"] == 3', "--once")
    raised = user.json("continue")
    assert raised["breakpoints"] == ["b1"] and "hit" not in raised
    assert raised["notes"] == ["the condition of b1 raised KeyError: 'q'"]
    assert "hits" not in user.json("breaks")["breakpoints"][0]
    held = user.json("continue")
    assert (held["breakpoints"], held["hit"], held["locals"][0]["value"]) == (["b1"], 1, "{'q': 3}")
    assert user.json("continue")["state"] == "exited"
    assert user.json("probe", 'cond.py:2 if row["q"] == 3', "--hits", "9")["places"][0]["count"] == 2


def test_a_condition_about_a_function_on_one_line_is_not_asked_where_it_is_made(user: User) -> None:
    user.file("one.py", "def r(n): return n and r(n - 1)\nf = lambda q: q\nprint(r(2), f(1))\n")
    report = user.json("probe", "r if n == 1", "one.py:2 if q == 1", "--hits", "9", "--", "python3", "one.py")
    assert [each["count"] for each in report["places"]] == [1, 1]
    assert "notes" not in report["end"]


def test_breakpoints_keep_their_ids_when_the_program_is_run_again(user: User) -> None:
    user.file("app.py", "a = 1\nb = 2\nc = 3\nd = 4\n")
    user.ok("launch", "app.py", *(f"--break=app.py:{line}" for line in (1, 2, 3)))
    user.ok("break", "app.py:4")
    user.ok("unbreak", "b2", "b4")
    user.ok("restart")
    assert [(each["id"], each["actual"]["line"]) for each in user.json("breaks")["breakpoints"]] == [
        ("b1", 1),
        ("b3", 3),
    ]
    assert user.json("break", "app.py:2")["id"] == "b5", "an id is never given twice"
    user.ok("stop")


def test_a_place_in_no_file_names_the_file_that_may_be_meant(user: User) -> None:
    user.file("src/shop/core/calc.py", "def mean(xs):\n    return sum(xs) / len(xs)\n")
    user.file("src/shop/other/rate.py", "")
    user.file("app.py", "import sys\nsys.path.insert(0, 'src')\nfrom shop.core.calc import mean\nprint(mean([1, 2]))\n")
    meant = "no such file; there is src/shop/core/calc.py"
    for place in ("calc.py:2", "core/calc.py:2", "src/shop/core/clac.py:2"):
        assert f"never hit: b1 failed ({meant})\n" in user.ok("launch", "app.py", "--break", place)
        assert user.ok("probe", place, "--eval", "xs", "--", "python", "app.py").startswith(
            f"{place} unbound: {meant}\n"
        )
        told = user.ok("trace", place, "--", "python", "app.py").splitlines()[0]
        assert told.startswith(f"{place}: no such place") and told.endswith("; nearest: src/shop/core/calc.py")
        text = place.replace(":2", '@"return"')
        said = user.fails("launch", "app.py", "--break", text, code=1, error="not_found")
        assert "cannot be read: No such file or directory; there is src/shop/core/calc.py" in said
    assert "never hit: b1 failed (no such file)\n" in user.ok("launch", "app.py", "--break", "none.py:2")


@pytest.mark.parametrize("version", SPREAD)
def test_a_function_is_the_one_of_its_class_and_module_and_no_namesake(user: User, version: str) -> None:
    """The debugger underneath matches bare names, in any class: where the class is not there, that is no hit."""
    user.file("pkg/__init__.py", "")
    user.file("pkg/cart.py", "class Cart:\n    def total(self):\n        return 1\n\ndef total():\n    return 2\n")
    user.file("run.py", "from pkg.cart import Cart, total\n\nprint(total() + Cart().total())\n")

    def place(name: str) -> str:
        told = user.json("launch", "run.py", "--python", INTERPRETERS[version], "--break", name)
        frame = told.get("frame") or {}
        user.ok("stop")
        return f"{frame['function']} {frame['line']}" if frame else told["never_hit"][0]["message"]

    assert place("Nope.total").startswith("no function Nope.total ")
    assert place("nope.Cart.total").startswith("no function nope.Cart.total ")
    assert place("cart.total") == place("pkg.cart.total") == place("cart!total") == "total 6"
    assert place("Cart.total") == place("cart.Cart.total") == "Cart.total 3"


def test_a_function_of_a_file_as_others_write_it_is_shown_as_it_is_written_here(user: User) -> None:
    user.file("app.py", "def total():\n    return 2\n\ntotal()\n")
    assert "module!function, as in app!total" in user.fails(
        "launch", "app.py", "--break", "src/app.py:total", code=2, error="usage"
    )
