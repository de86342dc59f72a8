"""One request tells everything of a stop: frames, locals, what was returned, the exception; and evaluates in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import PYTHONS
from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

SHOP = """
import json
RATE = 2
class Cart:
    def price(self, amount, *rest, cap=None, **options):
        half = amount / 2
        text = json.dumps({"half": half}, default=self.never)
        return half * RATE  # @here

    def never(self, value):
        return value

def main():
    cart = Cart()
    def inner(n):
        return [cart.price(n + i, 1, tax=3) for i in range(2)]
    result = inner(10)
    print(result)
    return result

main()
"""


def functions(stop: dict[str, Any]) -> list[str]:
    return [frame["function"].rpartition(".")[2] for frame in stop["frames"]]


def names(stop: dict[str, Any]) -> list[str]:
    return [row["name"] for row in stop["locals"]]


def test_a_stop_tells_frames_and_locals_in_order_on_every_version(run_to: RunTo, python: str, tmp_path: Path) -> None:
    _, peer, thread = run_to(python, SHOP)
    stop = peer.stop(thread, watch=[str(tmp_path / "program.py"), str(tmp_path / "other.py")])
    top = stop["frames"][0]
    assert (top["file"], top["line"], top["module"], top["user"]) == (str(tmp_path / "program.py"), 8, "__main__", True)
    assert [name for name in functions(stop) if name != "<listcomp>"] == ["price", "inner", "main", "<module>"]
    assert stop["total"] == len(stop["frames"]) and stop["at"] == 0
    assert names(stop) == ["self", "amount", "cap", "rest", "options", "half", "text"]
    assert stop["loaded"] == [str(tmp_path / "program.py")]
    assert (stop["returned"], stop["exception"]) == ([], None)
    listed = peer.request("stackTrace", threadId=thread)["stackFrames"]
    assert [frame["id"] for frame in listed] == [frame["id"] for frame in stop["frames"]]


NOTIONS = """
from __future__ import annotations
import functools
from typing import TYPE_CHECKING, Any, List, Optional, TypeVar
T = TypeVar("T")
Row = List[int]
upper = str.upper
@functools.lru_cache(None)
def twice(n):
    return 2 * n
count = twice(2)
def check(hint):
    kind = Optional[int]
    return hint  # @here
check(Row)
"""


def test_what_a_module_has_for_its_annotations_is_not_told_and_what_a_function_has_is(
    run_to: RunTo, python: str
) -> None:
    _, peer, thread = run_to(python, NOTIONS)
    stop = peer.stop(thread)
    assert names(stop) == ["hint", "kind"]
    rows = peer.call("locals", frameId=stop["frames"][1]["id"])["values"]
    assert [row["name"] for row in rows] == ["count"]


def test_qualified_names_are_told_where_the_version_has_them(run_to: RunTo) -> None:
    _, peer, thread = run_to(sys.executable, SHOP)
    assert peer.stop(thread)["frames"][0]["function"] == "Cart.price"


def test_what_a_function_gave_back_is_told_once(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, SHOP)
    peer.request("setBreakpoints", source={"path": peer.stop(thread)["frames"][0]["file"]}, breakpoints=[])
    peer.resume("stepOut", thread)
    peer.stopped()
    stop = peer.stop(thread)
    returned = stop["returned"][-1]
    assert (returned["name"].rpartition(".")[2], returned["value"]) == ("price", "10.0")
    assert [each["value"] for each in peer.stop(thread)["returned"]] == [each["value"] for each in stop["returned"]]
    peer.resume("stepOut", thread)
    peer.stopped()
    assert peer.stop(thread)["returned"][-1]["value"] in ("[10.0, 11.0]", "11.0")


ERRORS = """
import json
class Broken(Exception): pass
def inner(x):
    try:
        return {}[x]
    except KeyError as error:
        raise Broken("no " + x) from error
def outer():
    json.loads("[1]", object_hook=None)
    return inner("key")
try:
    outer()
except Broken:
    pass
outer()
"""


def caught(start: Callable[..., Target], python: str, folder: Path, catch: str, text: str = ERRORS) -> tuple[Peer, int]:
    (folder / "program.py").write_text(text)
    peer = start(python, folder / "program.py").accept()
    peer.configure(catch=[catch])
    peer.go()
    return peer, peer.stopped(reason="exception")


def test_an_uncaught_exception_tells_type_cause_and_path(
    start: Callable[..., Target], python: str, tmp_path: Path
) -> None:
    peer, thread = caught(start, python, tmp_path, "uncaught")
    stop = peer.stop(thread)
    told = stop["exception"]
    assert (told["type"], told["message"], told["mode"]) == ("Broken", "no key", "uncaught")
    assert told["cause"] == "KeyError: 'key'"
    assert [(frame["function"], frame["line"]) for frame in told["frames"]] == [
        ("inner", 8),
        ("outer", 11),
        ("<module>", 16),
    ]
    assert (stop["frames"][0]["function"], stop["frames"][0]["line"]) == ("inner", 8)
    assert "x" in names(stop)
    peer.resume("continue", thread)
    peer.rest()


def test_a_raised_exception_tells_its_mode(start: Callable[..., Target], deep_python: str, tmp_path: Path) -> None:
    peer, thread = caught(start, deep_python, tmp_path, "raised")
    told = peer.stop(thread)["exception"]
    assert (told["type"], told["mode"]) == ("KeyError", "raised")


def test_a_user_unhandled_exception_tells_its_mode(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    text = "import json\ndef hook(d):\n    return 1 / 0\n"
    text += "try:\n    json.JSONDecoder(object_hook=hook).decode('{}')\nexcept ZeroDivisionError:\n    pass\n"
    peer, thread = caught(start, deep_python, tmp_path, "userUnhandled", text)
    told = peer.stop(thread)["exception"]
    assert (told["type"], told["mode"]) == ("ZeroDivisionError", "user")


def evaluated(peer: Peer, frame: int, *words: str) -> list[Any]:
    rows = peer.call("eval", frameId=frame, expressions=list(words))["results"]
    return [row["value"]["value"] if "value" in row else row["error"] for row in rows]


def test_expressions_see_the_frame_and_change_it_on_every_version(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, SHOP)
    frame = peer.stop(thread)["frames"][0]["id"]
    assert evaluated(
        peer, frame, "amount", "[amount + i for i in range(2)]", "(lambda: half)()", "len(rest)", "RATE"
    ) == [
        "10",
        "[10, 11]",
        "5.0",
        "1",
        "2",
    ]
    assert evaluated(peer, frame, "nope", "1 /", "1 / 0", "exit(3)") == [
        "NameError: name 'nope' is not defined",
        "SyntaxError: invalid syntax",
        "ZeroDivisionError: division by zero",
        "SystemExit: 3",
    ]
    assert evaluated(peer, frame, "half = 100", "half", "extra = 1; extra + 1", "extra", "RATE = 3") == [
        "",
        "100",
        "2",
        "1",
        "",
    ]
    peer.request("setBreakpoints", source={"path": peer.stop(thread)["frames"][0]["file"]}, breakpoints=[])
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "[300, 16.5]\n", "")


def test_names_items_and_attributes_can_be_assigned(run_to: RunTo, deep_python: str) -> None:
    target, peer, thread = run_to(deep_python, SHOP)
    frame = peer.stop(thread)["frames"][0]["id"]

    def assign(name: str, value: str) -> Any:
        body = peer.call("assign", frameId=frame, target=name, value=value)
        return body["value"]["value"] if "value" in body else body["error"]

    assert assign("half", "amount * 4") == "40"
    assert assign("options['tax']", "[1, 2]") == "[1, 2]"
    assert assign("self.note", "'n'") == "'n'"
    assert assign("nope.x", "1") == "NameError: name 'nope' is not defined"
    assert assign("1", "2").startswith("SyntaxError")
    assert assign("x = y", "2").startswith("SyntaxError")
    outer = next(f["id"] for f in peer.stop(thread)["frames"] if f["function"] == "<module>")
    assert peer.call("assign", frameId=outer, target="RATE", value="5")["value"]["value"] == "5"
    peer.request("setBreakpoints", source={"path": peer.stop(thread)["frames"][0]["file"]}, breakpoints=[])
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "[200, 27.5]\n", "")


def test_other_frames_and_globals_are_listed_in_pages(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, SHOP)
    frames = peer.stop(thread)["frames"]
    module = peer.call("locals", frameId=frames[-1]["id"])
    assert [row["name"] for row in module["values"]] == ["RATE"]
    page = peer.call("locals", frameId=frames[0]["id"], start=1, count=2)
    assert ([row["name"] for row in page["values"]], page["total"]) == (["amount", "cap"], 7)
    everything = peer.call("locals", frameId=frames[0]["id"], scope="globals", all=True)
    assert {"json", "Cart", "RATE", "__name__"} <= {row["name"] for row in everything["values"]}


def test_a_call_about_what_is_not_there_is_refused_with_a_word(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, "import time\nx = 1  # @here\nwhile True: time.sleep(0.001)\n")
    frame = peer.stop(thread)["frames"][0]["id"]
    peer.resume("continue", thread)
    words = [
        peer.refusal("stop", threadId=thread),
        peer.refusal("stop", threadId=4711),
        peer.refusal("eval", frameId=frame, expressions=["1"]),
        peer.refusal("locals", frameId=4711),
        peer.refusal("stop"),
        peer.refusal("dance"),
        peer.refusal("loaded"),
    ]
    expected = ["running", "unknown", "stale", "stale", "usage", "unknown", "usage"]
    assert [word.partition(": ")[0] for word in words] == expected


@pytest.mark.parametrize("command", ["continue", "next", "stepIn", "stepOut"])
def test_a_call_right_behind_a_move_is_always_answered(run_to: RunTo, deep_python: str, command: str) -> None:
    text = "import time\nx = 1  # @here\ndef f():\n    while True: time.sleep(0.001)\nf()\n"
    _, peer, thread = run_to(deep_python, text)
    frame = peer.stop(thread)["frames"][0]["id"]
    for _ in range(3):
        peer.send(command, threadId=thread)
    late = [peer.send("stillframe", call="stop", threadId=thread) for _ in range(3)]
    late.append(peer.send("stillframe", call="eval", frameId=frame, expressions=["x"]))
    answers = [peer.answer(seq) for seq in late]
    refusals = {answer["message"].partition(": ")[0] for answer in answers if not answer["success"]}
    assert refusals <= {"running", "stale"}


DEEP = """
import sys
sys.setrecursionlimit(20000)
def down(n):
    if n == 0:
        return 0  # @here
    return down(n - 1) + 1
print(down(9998))
"""


def test_ten_thousand_frames_are_told_by_the_first_twenty(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, DEEP)
    stop = peer.stop(thread, levels=20)
    assert (len(stop["frames"]), stop["total"]) == (20, 10000)
    assert [row["value"] for row in stop["locals"]] == ["0"]


THREADS = """
import threading
ready, over = threading.Barrier(1001), threading.Event()
def wait(n):
    ready.wait()
    over.wait()
threads = [threading.Thread(target=wait, args=(i,)) for i in range(1000)]
for thread in threads: thread.start()
ready.wait()
x = 1  # @here
over.set()
for thread in threads: thread.join()
print("over")
"""


@pytest.mark.long
def test_a_thousand_threads_do_not_slow_a_stop_to_a_halt(run_to: RunTo, new_python: str) -> None:
    target, peer, thread = run_to(new_python, THREADS)
    assert peer.stop(thread)["frames"][0]["line"] == 10
    assert len(peer.request("threads")["threads"]) == 1001
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "over\n", "")


KINDS = """
import asyncio
async def waits(a):
    await asyncio.sleep(0)
    b = a
def yields(a):
    b = a
    yield b
asyncio.run(waits(1))
list(yields(1))
class Body:
    a = 1
    b = a
"""


def test_frames_of_coroutines_generators_and_classes_are_told(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(KINDS)
    peer = start(deep_python, program).accept()
    peer.configure({str(program): [1 + i for i, row in enumerate(KINDS.splitlines()) if row == "    b = a"]})
    peer.go()
    for name in ("waits", "yields", "Body"):
        thread = peer.stopped(reason="breakpoint")
        stop = peer.stop(thread)
        assert functions(stop)[0] == name
        assert names(stop) == ["a"] and stop["locals"][0]["value"] == "1"
        assert evaluated(peer, stop["frames"][0]["id"], "[a for _ in range(2)]") == ["[1, 1]"]
        assert (functions(stop)[-1], stop["frames"][-1]["user"]) == ("<module>", True)
        peer.resume("continue", thread)


def test_a_condition_that_raises_is_told_as_an_event(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("x = 1\ny = 2\n")
    peer = start(deep_python, program).accept()
    peer.configure({str(program): [{"line": 2, "condition": "nope > 1"}]})
    peer.go()
    told = peer.event("stillframe", kind="condition_error")
    assert told["message"] == "NameError: name 'nope' is not defined"
    assert isinstance(told["id"], int)
    peer.stopped(reason="breakpoint")


SETTRACE = """
import sys
sys.settrace({function})
x = 1  # @here
sys.settrace({function})
def f():
    return 1  # @later
print(f())
"""


@pytest.mark.parametrize("function", ["lambda *words: None", "None"])
@pytest.mark.skipif("3.11" not in PYTHONS, reason="only until 3.11 a program's own trace function takes our place")
def test_a_program_that_sets_its_own_trace_function_is_told_of_once_and_not_to_its_users(
    start: Callable[..., Target], tmp_path: Path, function: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SETTRACE.format(function=function))
    target = start(PYTHONS["3.11"], program)
    peer = target.accept()
    peer.configure({str(program): [7]})
    peer.go()
    told = [event["body"] for event in peer.rest() if event["event"] == "stillframe"]
    what = "turned tracing off" if function == "None" else "set its own trace function"
    message = f"the program {what} at {program}:3; breakpoints do not stop it from there on"
    assert told[:-1] == [{"kind": "untraced", "message": message}]
    assert target.end() == (0, "1\n", "")


UNBOUND = """
def f(total):
    extra = 2
    def g(): return extra
    here = 1  # @here
    return "total" in locals(), "extra" in locals()
print(f(1))
"""


def test_a_variable_is_deleted_or_it_is_said_that_it_stays(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, UNBOUND)
    frame = peer.stop(thread)["frames"][0]["id"]
    deleted, value, _ = evaluated(peer, frame, "del total", "total", "del extra")
    peer.resume("continue", thread)
    peer.rest()
    _, out, err = target.end()
    told = (deleted, value, out, err)
    if python in map(PYTHONS.get, ("3.12", "3.13", "3.14")):
        stays = "not deleted: a function's variable stays from Python 3.12 on (total)"
        assert told == (stays, "1", "(True, True)\n", "")
    else:
        assert told == ("", "NameError: name 'total' is not defined", "(False, False)\n", "")
