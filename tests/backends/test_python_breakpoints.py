"""Breakpoints in real Python programs: where they bind, when they stop, what they log."""

from __future__ import annotations

import sys

import pytest

from stillframe.model.backend import BreakpointChanged, CatchRule, Ended, Move, Output, Stopped, Wanted
from stillframe.model.places import parse_hit

from ..conftest import INTERPRETERS
from .driver import PROGRAM, at, mark, opened, plan, started, states, write

LOOP = """
def visit(n):
    return n * 2  # @body

total = 0
for i in range(10):
    total += visit(i)  # @loop
print(total)
"""


async def test_bound_moved_and_failed_lines_are_told_apart(tmp_path):
    program = write(tmp_path, "x = 1\n\n# a comment\ny = 2\nz = 3\n\n# the end\n")
    missing = tmp_path / "missing.py"
    async with opened(plan(program)) as run:
        wanted = [
            Wanted("b1", str(program), 1),
            Wanted("b2", str(program), 3),
            Wanted("b3", str(program), 99),
            Wanted("b4", str(missing), 1),
            Wanted("b5", str(program), 7),
        ]
        bindings = await run.backend.start(wanted, CatchRule())
        assert states(bindings) == ["bound", "bound", "failed", "failed", "failed"]
        assert [each.line for each in bindings[:2]] == [1, 4]
        assert bindings[2].message == "app.py has 7 lines"
        assert bindings[3].message == "no such file"
        assert [(await run.stop()).breakpoints, (await run.move()).breakpoints] == [("b1",), ("b2",)]


async def test_a_breakpoint_in_a_file_not_loaded_yet_is_pending_until_it_is(tmp_path):
    module = write(tmp_path, "def help():\n    return 5  # @inside\n", "helper.py")
    program = write(tmp_path, "x = 1  # @before\nimport helper\nhelper.help()\n")
    inside = at("inside", "b2", module)
    async with opened(plan(program)) as run:
        bindings = await run.backend.start([at("before", "b1", program), inside], CatchRule())
        assert states(bindings) == ["bound", "pending"]
        assert bindings[1].message == "helper.py is not loaded yet"
        await run.stop()
        assert (await run.move()).breakpoints == ("b2",)
        await run.look()
        changed = await run.next(BreakpointChanged)
        assert (changed.binding.id, changed.binding.state) == ("b2", "bound")


async def test_a_pending_breakpoint_of_a_file_that_was_loaded_but_not_reached_is_bound_at_the_end(tmp_path):
    module = write(tmp_path, "def help():\n    return 5  # @inside\n", "helper.py")
    never = write(tmp_path, "x = 1\n", "never.py")
    program = write(tmp_path, "import helper\n")
    async with started(plan(program), at("inside", "b1", module), Wanted("b2", str(never), 1)) as run:
        await run.ended()
        assert [(each.binding.id, each.binding.state) for each in run.events(BreakpointChanged)] == [("b1", "bound")]


@pytest.mark.parametrize("server", ["boot", "stock"])
@pytest.mark.parametrize(
    ("hit", "condition", "stops"),
    [
        ("3", None, [2]),
        (">=9", None, [8, 9]),
        ("%4", None, [3, 7]),
        ("3", "n % 2 == 1", [5]),
        (None, "n in (4, 6)  # even", [4, 6]),
    ],
)
async def test_hit_counts_count_the_times_that_the_condition_holds(
    tmp_path, monkeypatch, server, hit, condition, stops
):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", server)
    program = write(tmp_path, LOOP)
    wanted = at("body", program=program, condition=condition, hit=parse_hit(hit) if hit else None)
    async with started(plan(program), wanted) as run:
        seen = []
        while isinstance(await run.next(Stopped, Ended), Stopped):
            seen.append(int(await run.value("n")))
            await run.go()
        assert seen == stops


async def test_a_hit_count_goes_on_when_another_breakpoint_of_the_file_changes(tmp_path):
    program = write(tmp_path, LOOP)
    counted = at("body", "b1", program, hit=parse_hit("5"))
    other = at("loop", "b2", program, condition="i == 2")
    async with started(plan(program), counted, other) as run:
        assert (await run.stop()).breakpoints == ("b2",)
        await run.backend.set_breakpoints([counted])
        await run.move()
        assert await run.value("n") == "4"


async def test_a_condition_that_raises_stops_and_says_so(tmp_path):
    program = write(tmp_path, LOOP)
    async with started(plan(program), at("body", program=program, condition="nope > 1")) as run:
        await run.stop()
        assert run.printed("console") == "the condition of b1 raised NameError: name 'nope' is not defined\n"


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
async def test_log_points_never_stop_and_none_is_lost(tmp_path, version):
    program = write(tmp_path, "for i in range(3000):\n    x = i  # @log\n")
    wanted = at("log", program=program, log="i is {i}")
    async with started(plan(program, interpreter=INTERPRETERS[version]), wanted) as run:
        await run.ended()
        assert run.printed("log").splitlines() == [f"i is {n}" for n in range(3000)]
        assert run.printed() == ""


CLASSES = """
class Cart:
    def add(self, item):
        \"\"\"Docstring.\"\"\"
        return item  # @cart


class Other:
    def add(self, item):
        return item


def outer():
    def inner():
        return 1  # @inner
    return inner()


Other().add(1)
Cart().add(2)
outer()
"""


async def test_a_method_is_named_by_its_class_and_stops_in_its_body(tmp_path):
    program = write(tmp_path, CLASSES)
    async with opened(plan(program)) as run:
        wanted = [Wanted("b1", symbol="Cart.add"), Wanted("b2", symbol="inner")]
        bindings = await run.backend.start(wanted, CatchRule())
        assert [(each.state, each.line) for each in bindings] == [
            ("bound", mark("cart", program)),
            ("bound", mark("inner", program)),
        ]
        assert (await run.stop()).breakpoints == ("b1",)
        assert await run.value("item") == "2"
        assert (await run.move()).breakpoints == ("b2",)


async def test_a_function_that_does_not_exist_yet_is_pending_and_no_namesake_stops_for_it(tmp_path):
    write(tmp_path, CLASSES, "late.py")
    program = write(tmp_path, "x = 1  # @first\nimport late\n")
    async with opened(plan(program)) as run:
        bindings = await run.backend.start(
            [Wanted("b1", symbol="Cart.add"), Wanted("b2", symbol="nowhere")], CatchRule()
        )
        assert states(bindings) == ["pending", "pending"]
        assert (await run.stop()).breakpoints == ("b1",)
        look = await run.look()
        assert look.at.line == mark("cart", tmp_path / "late.py")
        assert {value.name: value.value for value in look.values.values}["item"] == "2"
        changed = run.events(BreakpointChanged)[0]
        assert (changed.binding.id, changed.binding.state) == ("b1", "bound")


async def test_two_breakpoints_on_one_line_are_both_told_or_refused_by_name(tmp_path):
    program = write(tmp_path, LOOP)
    async with opened(plan(program)) as run:
        wanted = [
            at("body", "b1", program, condition="n == 5"),
            at("body", "b2", program),
            at("body", "b3", program, log="x"),
        ]
        bindings = await run.backend.start(wanted, CatchRule())
        assert states(bindings) == ["bound", "bound", "failed"]
        assert "line" in (bindings[2].message or "")
        assert "b2" in (await run.stop()).breakpoints


async def test_breakpoints_are_changed_while_the_program_runs(tmp_path):
    program = write(tmp_path, "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)  # @loop\n")
    async with started(plan(program)) as run:
        await run.next(Output)
        bindings = await run.backend.set_breakpoints([at("loop", program=program)])
        assert states(bindings) == ["bound"]
        assert (await run.stop()).breakpoints == ("b1",)


async def test_stepping_goes_on_after_breakpoints_were_removed():
    async with started(plan(), at("entry")) as run:
        await run.stop()
        await run.backend.set_breakpoints(())
        await run.move(Move.NEXT)
        assert await run.line() == mark("entry") + 1


async def test_a_python_that_our_code_does_not_fit_gets_the_stock_server_which_confirms_nothing(tmp_path):
    unfit = write(
        tmp_path,
        f'#!/bin/sh\ncase "$*" in *selftest*) echo \'{{"ok": false}}\';; *) exec {sys.executable} "$@";; esac\n',
        "python3",
    )
    unfit.chmod(0o755)
    async with opened(plan(interpreter=str(unfit))) as run:
        bindings = await run.backend.start([Wanted("b1", str(PROGRAM), 999), at("loop", "b2")], CatchRule())
        assert states(bindings) == ["failed", "unconfirmed"]
