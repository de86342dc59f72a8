"""Changing what runs, and seeing what really runs: where the debugger can, and the named error where it cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stillframe.dispatch import Dispatched, Dispatcher
from stillframe.errors import LaunchFailed
from stillframe.faces.host import open_plan
from stillframe.faces.library import caller_here
from stillframe.model.backend import Backend
from stillframe.model.outcomes import Stop
from stillframe.model.plans import AttachPlan, Plan
from stillframe.registry import Call
from stillframe.render.replies import json, text
from stillframe.session.evidence import SourceCache
from stillframe.session.sessions import Sessions
from stillframe.settings import PerProject

from ..backends.nodes import is_18
from ..fakes.powers import SHIFT, powered
from .conftest import User

APP = """\
def price(n):
    result = n * 2  # @begin
    return result


print(price(3))
print(price(4))
"""


class Host:
    """Calls to a host of the test's own, whose debugger was lent some powers."""

    def __init__(self, dispatcher: Dispatcher, here: Path) -> None:
        self._dispatcher = dispatcher
        self._here = here

    async def run(self, op: str, session: str | None = None, **args: Any) -> Dispatched:
        return await self._dispatcher.run(Call(op, args, session, caller_here(str(self._here))))

    async def result(self, op: str, **args: Any) -> Any:
        done = await self.run(op, **args)
        assert done.reply.ok, done.reply
        return done.reply.result

    async def text(self, op: str, **args: Any) -> str:
        out, err = text(await self.run(op, **args), 4000)
        return out + err

    async def error(self, op: str, **args: Any) -> tuple[str, str]:
        done = await self.run(op, **args)
        assert done.reply.error is not None, done.reply
        return done.reply.error.code, done.reply.error.message


async def _powered(plan: Plan | AttachPlan) -> Backend:
    return powered(await open_plan(plan))


@asynccontextmanager
async def hosted(here: Path) -> AsyncIterator[Host]:
    async with Sessions(_powered, PerProject(None), here / "scratch", None) as sessions:
        yield Host(Dispatcher(sessions), here)


async def test_a_call_that_is_begun_again_stops_at_its_beginning_and_tells_why(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:3"])
        old = (await dbg.result("stack")).frames[0]
        stop = await dbg.result("restart-frame", which="f0")
        assert isinstance(stop, Stop)
        assert (stop.reason, stop.frame and stop.frame.line, old.line) == ("restart", 2, 3)
        assert (await dbg.result("next")).frame.line == 3, "and it goes on from there"


async def test_a_call_that_cannot_be_begun_again_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:3"])
        assert (await dbg.error("restart-frame", which="f1"))[0] == "eval_failed"
        assert (await dbg.error("restart-frame", which="f9"))[0] == "not_found"
        assert (await dbg.error("restart-frame", which="top"))[0] == "usage"
        assert (await dbg.result("state")).frame.line == 3
        assert (await dbg.result("eval", expressions=["result"])).values[0].value == "6"


async def test_another_value_is_returned_and_told(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:3"])
        assert await dbg.text("set-return", value="41 + 1") == "returned = 42\n"
        assert (await dbg.error("set-return", value=" "))[0] == "usage"
        assert (await dbg.result("continue")).output == "42\n"


async def test_safe_evaluation_refuses_what_has_a_side_effect_and_runs_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:3"])
        told = await dbg.result("eval", expressions=["result", "globals().clear()"], safe=True)
        assert [(each.value, each.error) for each in told.values] == [("6", False), ("Possible side-effect", True)]
        assert await dbg.error("eval", expressions=["print(1)"], safe=True) == ("eval_failed", "Possible side-effect")
        assert (await dbg.result("continue")).output == "6\n"


async def test_new_source_runs_without_a_restart_and_is_what_is_shown(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(APP)
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:6"])
        app.write_text(APP.replace("n * 2 ", "n * 9 "))
        doubt = "changed after the program started"
        assert doubt in await dbg.text("source", at="app.py:2")
        assert "app.py would patch\nnote: calls that" in await dbg.text("hotpatch", file="app.py", dry_run=True)
        assert doubt in await dbg.text("source", at="app.py:2"), "nothing was patched yet"
        assert await dbg.text("hotpatch", file="app.py") == (
            "app.py patched\nnote: calls that are under way go on with the old text\n"
        )
        shown = await dbg.text("source", at="app.py:2")
        assert "result = n * 9" in shown and doubt not in shown
        await dbg.result("break", at="app.py:3")
        stop = await dbg.result("continue")
        assert (stop.notes, stop.local("result")) == ((), "27")
        assert "n * 9" in stop.source[1].text


async def test_new_source_may_come_from_another_file_and_what_is_held_keeps_its_old_lines(tmp_path: Path) -> None:
    app, other = tmp_path / "app.py", tmp_path / "other.py"
    app.write_text(APP)
    other.write_text(APP.replace("print(price(3))", "print(price(3), 'new')"))
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:6"])
        done = await dbg.run("hotpatch", file="app.py", from_="other.py")
        assert '"result":{"file":"app.py","notes":["calls that are under way' in json(done, 64_000)
        assert "print(price(3), 'new')" in await dbg.text("source")
        held = await dbg.text("state")
        assert "> 6  print(price(3))\n" in held, "the call that is under way runs the old text"
        assert "note: app.py was patched while the program is held in it" in held
        assert app.read_text() == APP, "files are left as they are"


async def test_source_that_cannot_be_read_or_does_not_compile_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "bad.py").write_text("def f(:\n")
    (tmp_path / "raw.py").write_bytes(b"x = '\xff'\n")
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["app.py"], breaks=["app.py:6"])
        code, message = await dbg.error("hotpatch", file="app.py", from_="bad.py")
        assert (code, "line 1" in message) == ("eval_failed", True)
        assert (await dbg.error("hotpatch", file="nowhere.py"))[0] == "not_found"
        assert (await dbg.error("hotpatch", file="app.py", from_="raw.py"))[0] == "usage"
        assert "print(price(3))" in await dbg.text("source")


MADE = """\
def inner():
    return 1

def later():
    return inner()

later()
"""


async def test_what_really_runs_stands_beside_each_frame_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MADE)
    (tmp_path / "made.tpl").write_text("\n" * SHIFT + MADE.upper())
    async with hosted(tmp_path) as dbg:
        await dbg.result("launch", program=["made.py"], breaks=["made.py:2"])
        plain = "f0 inner made.tpl:102\n  -- setTimeout --\nf1 later made.tpl:105\nf2 <module> made.tpl:107\n"
        assert await dbg.text("stack") == plain
        both = await dbg.text("stack", generated=True)
        assert both.startswith(
            "f0 inner made.tpl:102 [made.py:2:5]\n  -- setTimeout --\nf1 later made.tpl:105 [made.py:5:5]\n"
        )
        line = "stack: f0 inner made.tpl:102 <~ f1 later made.tpl:105 < f2 <module> made.tpl:107\n"
        assert line in await dbg.text("state")
        assert "f0 inner made.tpl:102 [made.py:2:5] <~ f1 later" in await dbg.text("state", generated=True)
        assert "> 102      RETURN 1" in await dbg.text("source")
        assert "made.py, 7 lines" in await dbg.text("source", generated=True)
        assert "> 2      return 1" in await dbg.text("source", generated=True)
        for op in ("state", "stack", "frame"):
            assert '"generated":"made.py:2:5"' in json(await dbg.run(op), 64_000), op
        assert '"awaited":"setTimeout"' in json(await dbg.run("stack"), 64_000)
        assert (await dbg.error("source", at="made.py:2", generated=True))[0] == "usage"


FORK = """\
import os

def price(n):
    return n * 2


pid = os.fork()
if pid:
    os.waitpid(pid, 0)
print(price(3))
"""


async def test_what_is_patched_in_one_process_is_not_shown_as_what_another_runs(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(FORK)
    async with hosted(tmp_path) as dbg:
        stop = await dbg.run("launch", program=["app.py"], breaks=["app.py:10"])
        assert stop.reply.session == "app.1"
        app.write_text(FORK.replace("n * 2", "n * 9"))
        await dbg.result("hotpatch", file="app.py")
        doubt = "changed after the program started"
        assert doubt not in await dbg.text("source", at="app.py:4")
        assert doubt in await dbg.text("source", at="app.py:4", session="app")


def test_of_a_line_too_long_to_show_the_part_that_runs_is_shown() -> None:
    cache = SourceCache()
    cache.lend("made.js", "a = 1;\n" + "x" * 5000 + "HERE" + "y" * 5000 + "\n" + "z" * 300)
    _, here, after = cache.around("made.js", 2, 8, 8, column=5000)
    assert (here.text[0], here.text[51:55], here.text[-1], len(here.text)) == ("…", "HERE", "…", 202)
    assert after.text == "z" * 200 + "…"
    (first,) = cache.around("made.js", 2, 0, 0)
    assert first.text == "x" * 200 + "…"
    (last,) = cache.around("made.js", 2, 0, 0, column=10_004)
    assert last.text == "…" + "y" * 50


@pytest.mark.parametrize(
    ("words", "message", "other"),
    [
        (["restart-frame"], "debugpy cannot begin a call again", "dbg jump"),
        (["restart-frame", "f0"], "debugpy cannot begin a call again", "dbg jump"),
        (["set-return", "1"], "debugpy cannot replace what a function returns", "dbg set"),
        (["hotpatch", "app.py"], "debugpy cannot replace the source of a running program", "dbg restart"),
        (["hotpatch", "app.py", "--dry-run"], "debugpy cannot replace the source", "dbg restart"),
        (["eval", "--safe", "n"], "debugpy cannot keep an expression from changing the program", "dbg locals"),
    ],
    ids=" ".join,
)
def test_a_debugger_that_cannot_do_it_says_so_and_what_can_be_done(
    user: User, words: list[str], message: str, other: str
) -> None:
    user.file("app.py", APP)
    user.ok("launch", "app.py", "--break", "app.py:3")
    said = user.fails(*words, code=1, error="unsupported")
    assert message in said
    assert f"(try: {other})" in said
    assert user.json("state")["frame"]["line"] == 3, "and nothing moved"


def test_a_file_that_runs_as_it_is_written_has_no_other_side(user: User) -> None:
    user.file("app.py", APP)
    user.ok("launch", "app.py", "--break", "app.py:3")
    assert "runs as it is written" in user.fails("source", "--generated", code=1, error="not_found")
    assert user.ok("stack", "--generated") == user.ok("stack")
    assert user.ok("state", "--generated") == user.ok("state")


async def test_addresses_of_every_kind_become_plans(tmp_path: Path) -> None:
    asked: list[tuple[int | None, str | None, int | None, str | None]] = []

    async def remember(plan: Plan | AttachPlan) -> Backend:
        assert isinstance(plan, AttachPlan)
        asked.append((plan.pid, plan.host, plan.port, plan.url))
        raise LaunchFailed("nothing listens there")

    addresses = [
        "127.0.0.1:9229",
        ":9229",
        "[::1]:9229",
        "ws://localhost:9229/a-b",
        "wss://far.example/x",
        "WS://h:1/p",
    ]
    async with Sessions(remember, PerProject(None), tmp_path / "scratch", None) as sessions:
        dbg = Host(Dispatcher(sessions), tmp_path)
        for address in addresses:
            assert (await dbg.error("attach", address=address))[0] == "launch_failed"
        for wrong in ("http://localhost:9229", "ws://", "ws://h:99999/x", "ws://h:port/x", "ws:9229:x", "://x:1"):
            assert (await dbg.error("attach", address=wrong))[0] == "usage", wrong
    assert asked == [
        (None, "127.0.0.1", 9229, None),
        (None, "127.0.0.1", 9229, None),
        (None, "::1", 9229, None),
        (None, "localhost", 9229, "ws://localhost:9229/a-b"),
        (None, "far.example", 443, "wss://far.example/x"),
        (None, "h", 1, "WS://h:1/p"),
    ]


CART = """\
function price(n) {
  const result = n * 2;
  return result;
}

function later() {
  const total = price(3);
  console.log(total);
}

setTimeout(later, 1);
setTimeout(later, 50);
"""


@pytest.fixture
def held_in_price(user: User) -> User:
    user.file("cart.js", CART)
    user.ok("launch", "cart.js", "--break", "cart.js:3")
    return user


def test_a_node_program_looks_safely_begins_a_call_again_and_returns_something_else(held_in_price: User) -> None:
    user = held_in_price
    assert "setTimeout" in user.ok("stack") and " <~ " in user.ok("state")
    assert user.json("eval", "--safe", "result + 1")["values"][0]["value"] == "7"
    user.fails("eval", "--safe", "globalThis.spoilt = 1", code=1, error="eval_failed")
    if is_18():
        said = user.fails("restart-frame", code=1, error="unsupported")
        assert "this Node can begin no call again, as Node 20 and later can" in said
    else:
        again = user.json("restart-frame")
        assert (again["reason"], again["frame"]["line"]) == ("restart", 2)
        assert user.json("next")["frame"]["line"] == 3
    assert user.ok("set-return", "40 + 2") == "returned = 42  (number)\n"
    assert user.json("state")["frame"]["line"] == 3
    assert user.json("next")["returned"]["value"] == "42"
    assert user.json("eval", "typeof spoilt")["values"][0]["value"] == "'undefined'"
    assert user.json("continue")["output"] == "42\n"


def test_new_source_of_a_node_program_keeps_its_breakpoints(held_in_price: User) -> None:
    user = held_in_price
    assert user.json("next")["frame"]["function"] == "later"
    user.file("cart.js", CART.replace("n * 2", "n * 9"))
    assert user.ok("hotpatch", "cart.js", "--dry-run") == "cart.js would patch\n"
    assert user.ok("hotpatch", "cart.js") == "cart.js patched\n"
    stop = user.json("continue")
    assert (stop["output"], stop["breakpoints"], "notes" in stop) == ("6\n", ["b1"], False)
    assert (stop["source"][1]["text"], user.json("eval", "result")["values"][0]["value"]) == (
        "  const result = n * 9;",
        "27",
    )


@pytest.mark.parametrize("how", ["set back", "never changed"])
def test_what_a_patched_node_program_uses_is_told_also_when_its_file_has_the_old_text(user: User, how: str) -> None:
    """V8 goes on telling the hash of the text that it began with, which is the file's then: what runs is another."""
    patched = CART.replace("n * 2", "n * arguments.length")
    user.file("cart.js", CART)
    user.ok("launch", "cart.js", "--break", 'cart.js@"return result;"')
    assert user.json("next")["frame"]["function"] == "later"
    user.file("cart.js" if how == "set back" else "other.js", patched)
    given = [] if how == "set back" else ["--from", "other.js"]
    assert user.ok("hotpatch", "cart.js", *given).startswith("cart.js patched\n")
    user.file("cart.js", CART)
    stop = user.json("continue")
    assert [line["text"] for line in stop["source"] if "result =" in line["text"]] == [
        "  const result = n * arguments.length;"
    ]
    told = {each["name"]: each["value"] for each in stop["locals"]}
    assert told["result"] == "3" and "arguments" in told


def test_the_held_function_of_a_node_program_begins_again_with_its_new_source(held_in_price: User) -> None:
    user = held_in_price
    user.file("cart.js", CART.replace("n * 2", "n * 9"))
    if is_18():
        said = user.fails("hotpatch", "cart.js", code=1, error="eval_failed")
        assert "a changed function is under way, the held one: this Node can begin no call again" in said
        assert user.json("state")["frame"]["line"] == 3, "and nothing moved"
        return
    assert "is held at its beginning now" in user.ok("hotpatch", "cart.js")
    stop = user.json("state")
    assert (stop["reason"], stop["frame"]["line"], "notes" in stop) == ("restart", 2, False)
    assert stop["source"][-1]["text"] == "  const result = n * 9;"
    assert user.json("next")["frame"]["line"] == 3


def test_lines_that_moved_under_a_held_call_are_said_to_be_the_old_ones(held_in_price: User) -> None:
    user = held_in_price
    user.file("cart.js", "// one line more\n" + CART)
    assert user.ok("hotpatch", "cart.js") == "cart.js patched\n"
    held = user.ok("state")
    assert "> 3    return result;\n" in held
    assert "the lines shown are those of its old text" in held
    user.file("other.js", CART.replace("console.log", "console.error"))
    assert "under way" in user.fails("hotpatch", "cart.js", "--from", "other.js", code=1, error="eval_failed")


def test_no_call_of_a_node_program_begins_again_while_an_error_leaves_it_since_that_would_abort_it(user: User) -> None:
    thrower = "function price(n) {\n  return n.x.y;\n}\nfunction other() {}\nprice({});\n"
    user.file("cart.js", thrower)
    user.ok("launch", "cart.js")
    assert "V8 aborts" in user.fails("restart-frame", code=3, error="wrong_state")
    user.file("cart.js", thrower.replace("n.x.y", "n.x"))
    why, code, error = "the held function has changed", 3, "wrong_state"
    if is_18():
        why, code, error = "the held one: this Node can begin no call again", 1, "eval_failed"
    for words in (("hotpatch", "cart.js"), ("hotpatch", "cart.js", "--dry-run")):
        assert why in user.fails(*words, code=code, error=error)
    user.file("cart.js", thrower.replace("other() {}", "other() { return 1; }"))
    if is_18():
        assert "V8 of this Node aborts" in user.fails("hotpatch", "cart.js", code=3, error="wrong_state")
    else:
        assert user.ok("hotpatch", "cart.js") == "cart.js patched\n"
    assert user.json("continue")["exit_code"] == 1
