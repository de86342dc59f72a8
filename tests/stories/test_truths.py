"""What a hostile newcomer found untrue once, each as the smallest story that would show it again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from ..conftest import INTERPRETERS
from .conftest import User, eventually

LOOP = "total = 0\nfor i in range(5):\n    total += i\n    print(total)\n"


def test_what_every_step_of_a_count_printed_is_told(user: User) -> None:
    user.file("loop.py", LOOP)
    user.ok("launch", "loop.py", "--break", "loop.py:3 if i == 0")
    assert user.json("next", "--count", "6")["output"] == "0\n1\n"
    assert user.json("continue")["output"] == "3\n6\n10\n"


def test_what_the_user_wrote_is_no_change_of_the_next_line(user: User) -> None:
    user.file("loop.py", LOOP)
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    user.ok("set", "total", "100")
    user.ok("eval", "extra = 3")
    text = user.ok("next")
    assert "100" not in text.partition("output")[0] and "extra" not in text
    assert user.json("eval", "total")["values"][0]["value"] == "100"
    user.ok("stop")


def test_what_an_expression_printed_is_in_its_reply_and_in_no_later_one(user: User) -> None:
    user.file("loop.py", LOOP)
    user.ok("launch", "loop.py", "--break", "loop.py:3")
    assert user.json("eval", "print('said', i)")["output"] == "said 0\n"
    assert "said" not in user.json("next").get("output", "")
    user.ok("stop")


def test_a_line_is_passed_once_however_many_generators_share_it(user: User) -> None:
    user.file("gen.py", "def f(xs, n):\n    return sum(x * n for x in xs)\n\nprint(f([1, 2, 3], 2))\n")
    places = user.json("probe", "gen.py:2", "gen.py:2 if n == 3", "--hits", "9")["places"]
    assert [(each["state"], each.get("count", 0)) for each in places] == [("reached", 1), ("not_reached", 0)]


def test_a_breakpoint_on_a_function_stops_once_a_call(user: User) -> None:
    user.file("fun.py", "def f(n):\n    for _ in range(n):\n        pass\n\nf(3)\nf(2)\n")
    assert user.json("probe", "f", "--hits", "9", "--", "python3", "fun.py")["places"][0]["count"] == 2


def test_a_file_that_was_loaded_meanwhile_is_no_longer_called_pending(user: User) -> None:
    user.file("late.py", "def go():\n    return 4\n")
    user.file("app.py", "import late\nprint('loaded', flush=True)\nwhile True:\n    pass\n")
    told = user.json("launch", "app.py", "--break", "late.py:2", "--ready", "loaded")
    assert told["breakpoints"][0]["state"] == "bound"
    assert user.json("breaks")["breakpoints"][0]["state"] == "bound"
    user.ok("stop")


def test_steps_that_run_out_of_time_tell_how_far_they_came(user: User) -> None:
    user.file("long.py", "t = 0\nfor i in range(10**7):\n    t += i\n")
    user.ok("launch", "long.py", "--stop-on-entry")
    told = user.json("next", "--count", "100000", "--timeout", "1")
    assert told["state"] == "stopped"
    (note,) = [each for each in told["notes"] if "of 100,000 steps in 1 s" in each]
    assert min(int(note.split()[0].replace(",", "")), 500) == len(told["trail"]) > 0, "the newest are told"
    user.ok("stop")


def test_a_port_of_somebody_else_makes_no_program_ready(user: User) -> None:
    user.file("app.py", "while True:\n    pass\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        user.fails("launch", "app.py", "--ready", f":{port}", code=3, error="busy")
    told = user.json("launch", "app.py", "--ready", f":{port}", "--timeout", "1")
    assert told["state"] == "running" and "ready" not in told
    assert any("not ready yet" in note for note in told["notes"])
    user.ok("stop")


def test_a_session_named_for_one_call_is_not_the_one_that_the_next_call_means(user: User) -> None:
    user.file("loop.py", LOOP)
    for name in ("one", "two"):
        user.ok("launch", "loop.py", "--name", name, "--break", "loop.py:3")
    user.ok("use", "one")
    assert "two stopped" in user.ok("next", "--session", "two")
    assert "one stopped" in user.ok("next")
    user.ok("stop", "--all")


def test_what_can_be_no_place_is_refused_before_anything_moves(user: User) -> None:
    user.file("loop.py", LOOP)
    user.ok("launch", "loop.py", "--break", "loop.py:3")
    user.fails("break", "loop.py", code=2, error="usage")
    user.fails("until", "nowhere", code=1, error="not_found")
    assert user.json("state")["frame"]["line"] == 3
    user.ok("stop")


def test_every_pass_of_every_thread_is_told_once(user: User) -> None:
    user.file(
        "pool.py",
        "from concurrent.futures import ThreadPoolExecutor\n\ndef work(n):\n    return n * n\n\n"
        "with ThreadPoolExecutor(4) as pool:\n    print(sum(pool.map(work, range(12))))\n",
    )
    place = user.json("probe", "pool.py:4", "--eval", "n", "--hits", "99")["places"][0]
    assert sorted(int(hit[0]["value"]) for hit in place["values"]) == list(range(12))


def test_siblings_that_are_held_are_told_one_after_the_other(user: User) -> None:
    user.file(
        "pool.py",
        "import multiprocessing as mp\n\ndef work(n):\n    return n * n\n\nif __name__ == '__main__':\n"
        "    with mp.get_context('fork').Pool(2) as pool:\n        print(sum(pool.map(work, range(4), 1)))\n",
    )
    told = [user.json("launch", "pool.py", "--break", "pool.py:4")]
    while told[-1]["state"] == "stopped":
        told.append(user.json("continue"))
    values = [value["value"] for stop in told[:-1] for value in stop["locals"] if value["name"] == "n"]
    assert sorted(values) == ["0", "1", "2", "3"]
    assert (told[-1]["state"], told[-1]["output"]) == ("exited", "14\n")


def test_a_breakpoint_in_a_library_stops_there_when_it_was_asked_for(user: User) -> None:
    user.file("app.py", "import json\n\nprint(json.dumps({}))\n")
    assert user.json("launch", "app.py", "--break", "json!dumps")["frame"]["function"] == "dumps"
    user.ok("stop")


def test_a_function_on_one_line_stops_in_its_body(user: User) -> None:
    user.file("one.py", "def r(n): return 0 if n == 0 else 1 + r(n - 1)\n\nr(2)\n")
    place = user.json("probe", "r", "--hits", "9", "--eval", "n", "--", "python3", "one.py")["places"][0]
    assert [hit[0]["value"] for hit in place["values"]] == ["2", "1", "0"]


def test_a_step_off_the_end_tells_the_value_of_the_function_that_was_left(user: User) -> None:
    user.file("rv.py", "import json\n\ndef price(x):\n    return x\n\nout = json.dumps({'k': price(1)})\nprint(out)\n")
    user.ok("launch", "rv.py", "--break", "rv.py:4")
    told = user.json("next")
    assert told.get("returned", {"value": "1"})["value"] == "1"
    user.ok("stop")


def test_a_function_is_found_by_its_modules_name_and_by_its_classs(user: User) -> None:
    user.file("app.py", "import json\n\nprint(json.dumps({}))\n")
    places = user.json("probe", "json.dumps", "JSONEncoder.encode", "--", "python3", "app.py")["places"]
    assert [each["state"] for each in places] == ["reached", "reached"]


LAYOUT = """\
import contextlib
def f(*a): return 1
def g():
    x = f(  # @call
        1,
        2,
    )
    with contextlib.nullcontext():  # @with
        z = 1
    for i in range(3):  # @for
        f(  # @inner
            i,
            i,
        )
    k = 2
    while k:  # @while
        k -= 1
    try:
        pass
    finally:
        f(3,  # @finally
          4)
    return f(  # @return
        x,
        z,
    )
@contextlib.contextmanager  # @decorator
def cm():
    yield
g()
g()
"""
PASSES = {"call": 2, "with": 2, "for": 8, "inner": 6, "while": 6, "finally": 2, "return": 2, "decorator": 1}


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
def test_a_statement_of_several_lines_is_passed_once_each_time(user: User, version: str) -> None:
    user.file("layout.py", LAYOUT)
    lines = {mark: LAYOUT[: LAYOUT.index(f"# @{mark}")].count("\n") + 1 for mark in PASSES}
    words = [f"layout.py:{line}" for line in lines.values()]
    report = user.json("probe", *words, "--hits", "50", "--python", INTERPRETERS[version], "--budget", "10000000")
    assert {mark: each["count"] for mark, each in zip(lines, report["places"], strict=True)} == PASSES


def test_the_program_finds_itself_in_argv_as_in_a_plain_run(user: User) -> None:
    user.file("av.py", "import sys\nprint(sys.argv)\n")
    assert user.json("launch", "av.py", "x")["output"] == "['av.py', 'x']\n"


def test_a_process_that_a_signal_stopped_is_said_to_be_that_at_once(user: User) -> None:
    user.file("loop.py", "import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.01)\n")
    user.ok("launch", "loop.py", "--timeout", "0")
    process = user.pid()
    process.suspend()
    eventually(lambda: process.status() == psutil.STATUS_STOPPED, "the program is stopped")
    for words in (("pause",), ("break", "loop.py:4"), ("threads",)):
        assert f"kill -CONT {process.pid}" in user.fails(*words, code=3, error="wrong_state")
    assert any(f"kill -CONT {process.pid}" in note for note in user.json("wait", "--timeout", "0")["notes"])
    assert user.json("sessions")["sessions"][0]["state"] == "running"
    process.resume()
    user.ok("break", "loop.py:4")
    assert user.json("wait")["breakpoints"] == ["b1"]
    user.ok("stop")


def test_a_line_number_by_itself_is_a_line_of_the_file_that_is_held(user: User) -> None:
    user.file("lib/job.py", "def work(n):\n    n += 1\n    n += 2\n    n += 3\n    return n\n")
    user.file("app.py", "from lib.job import work\n\nwork(1)\nprint('end')\n")
    for words in (("launch", "app.py", "--break", "4"), ("probe", "4"), ("source", "4")):
        assert "name the file" in user.fails(*words, code=2, error="usage")
    user.ok("launch", "app.py", "--break", "work")
    assert user.json("until", "3")["frame"]["line"] == 3
    assert user.json("jump", "2")["frame"]["line"] == 2
    assert user.json("break", "5 if n > 0")["actual"] == {"file": "lib/job.py", "line": 5}
    assert user.json("source", "4")["file"] == "lib/job.py"
    user.ok("frame", "up")
    assert user.json("break", "4")["actual"] == {"file": "app.py", "line": 4}
    user.ok("stop")


def test_a_column_that_the_debugger_cannot_use_is_said_not_to_be_used(user: User) -> None:
    user.file("loop.py", LOOP)
    assert "column 9 is not used" in user.ok("launch", "loop.py", "--break", "loop.py:3:9")
    assert "column 5 is not used" in user.json("break", "loop.py:4:5")["message"]
    assert "columns" in user.json("capabilities")["cannot"]
    user.ok("stop")


def test_lines_of_a_file_that_was_edited_meanwhile_are_shown_with_their_doubt(user: User) -> None:
    path = user.file("ed.py", "def f(a):\n    x = 1\n    b = a + 1\n    return b\n\nfor i in range(3):\n    f(i)\n")
    user.ok("launch", "ed.py", "--break", "ed.py:3")
    path.write_text("# one\n# two\n" + path.read_text())
    assert "ed.py changed after the program started" in user.json("break", 'ed.py@"return b"')["message"]
    for words in (("frame",), ("source",), ("source", "ed.py:2"), ("next",), ("state",)):
        notes = user.json(*words)["notes"]
        assert [note for note in notes if "changed after the program started" in note], words
        assert "note: ed.py changed" in user.ok(*words) or words == ("next",)
    user.ok("stop")


def test_a_session_whose_end_is_its_debuggers_affair_hints_at_what_can_be_done(user: User) -> None:
    user.file("loop.py", "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    program = subprocess.Popen([sys.executable, "loop.py"], cwd=user.here, stdout=subprocess.PIPE)
    assert program.stdout is not None and program.stdout.readline()
    user.ok("attach", "--pid", str(program.pid))
    program.kill()
    program.communicate()
    user.ok("wait")
    assert "dbg attach" in user.fails("next", code=3, error="wrong_state")


def test_moving_a_program_that_runs_hints_at_waiting_for_it(user: User) -> None:
    user.file("loop.py", "while True:\n    pass\n")
    user.ok("launch", "loop.py", "--timeout", "0")
    assert "dbg wait" in user.fails("continue", code=3, error="wrong_state")
    user.ok("stop")


@pytest.mark.own_daemon
def test_what_a_killed_daemon_lost_is_named_by_every_verb(user: User) -> None:
    user.file("loop.py", "while True:\n    pass\n")
    user.ok("launch", "loop.py", "--timeout", "0")
    os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
    for verb in ("state", "status", "continue"):
        said = user.fails(verb, code=3, error="no_session")
        assert "loop was lost with its daemon" in said and "dbg restart" in said


@pytest.mark.skipif(
    "3.11" not in INTERPRETERS, reason="only until 3.11 a measuring coverage takes the debugger's place"
)
def test_what_every_process_of_a_family_has_to_say_is_said_once(user: User) -> None:
    user.file("coverage.py", "")
    user.file("app.py", "import coverage, os\nif not os.fork():\n    os._exit(0)\nos.wait()\n")
    [note] = user.json("launch", "app.py", "--python", INTERPRETERS["3.11"])["notes"]
    assert note.count("coverage is loaded") == 1


COUNTED = """xs = [1, 2, 3]
a = [x * 2 for x in xs]
b = [
    x * 2
    for x in xs
]

def f(n):
    while n:
        n -= 1

f(3)
f(2)
"""


@pytest.mark.parametrize("version", sorted(INTERPRETERS))
def test_a_comprehension_and_a_function_that_begins_with_a_loop_count_once_on_every_version(
    user: User, version: str
) -> None:
    user.file("counted.py", COUNTED)
    python = INTERPRETERS[version]
    report = user.json("probe", "counted.py:2", "counted.py:3", "f", "--hits", "9", "--", python, "counted.py")
    assert [each["count"] for each in report["places"]] == [1, 1, 2]


TURNED = """\
def number(text):
    return int(text)

def read(rows):
    try:
        return {name: [number(one) for one in row if one] for name, row in rows.items()}
    finally:
        rows.clear()

def other(rows):
    try:
        return [row[9] for row in rows]
    except IndexError:
        return rows[len(rows)]

try:
    other(["no"])
except IndexError:
    pass
read({"a": ["1"], "b": ["2", "x", "3"]})
"""


@pytest.mark.parametrize("version", sorted(INTERPRETERS))
def test_the_turn_of_a_comprehension_that_failed_is_told_on_every_version_and_its_line_counted_once(
    user: User, version: str
) -> None:
    user.file("turned.py", TURNED)
    user.file("test_turned.py", "from turned import other\n\ndef test_other():\n    other(['ann'])\n")
    python = INTERPRETERS[version]
    frames = user.json("crash", "--", python, "turned.py")["failure"]["stack"]["frames"]
    told = {value["name"]: value["value"] for frame in frames for value in frame.get("values", ())}
    assert (told["one"], told["name"], told["row"]) == ("'x'", "'b'", "['2', 'x', '3']")
    place = user.json("probe", "turned.py:6", "--eval", "len(rows)", "--", python, "turned.py")["places"][0]
    assert place["count"] == 1, "unbinding its variables is no second hit"
    user.ok("launch", "--python", python, "turned.py", "--catch", "off", "--break", "turned.py:14")
    assert "row=" not in user.ok("locals"), "the error was caught, and the comprehension is over"
    user.ok("stop")


CANCELLED = """\
import asyncio

async def waits():
    await asyncio.sleep(1000)

async def main():
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])

asyncio.run(main())
"""


@pytest.mark.parametrize("version", sorted(INTERPRETERS))
def test_an_await_that_is_cancelled_is_reached_once_on_every_version(user: User, version: str) -> None:
    user.file("cancelled.py", CANCELLED)
    python = INTERPRETERS[version]
    stopped = user.json("probe", "cancelled.py:4", "--hits", "9", "--", python, "cancelled.py")
    counted = user.json("probe", "cancelled.py:4", "--expect", "True", "--", python, "cancelled.py")
    assert [report["places"][0]["count"] for report in (stopped, counted)] == [1, 1]


def test_the_stack_of_a_running_program_is_not_called_empty(user: User) -> None:
    user.file("idle.py", "import select\nselect.select([], [], [])\n")
    user.ok("launch", "idle.py", "--timeout", "0")
    said = user.says("stack")
    assert said.out != "nothing\n"
    assert (said.code, "is running" in said.err) == (3, True) or "idle.py:2" in said.out
    user.ok("stop")


def test_all_is_a_word_for_every_breakpoint(user: User) -> None:
    user.file("app.py", "a = 1\nb = 2\nc = 3\n")
    user.ok("launch", "app.py", "--break", "app.py:2", "--break", "app.py:3")
    assert not any(each.get("enabled", True) for each in user.json("disable", "all")["breakpoints"])
    assert user.json("unbreak", "all")["breakpoints"] == []
    user.ok("stop")


def test_stop_all_tells_what_it_ended_and_not_what_had_ended_before(user: User) -> None:
    user.file("loop.py", "while True:\n    pass\n")
    user.file("short.py", "pass\n")
    user.ok("launch", "loop.py", "--timeout", "0")
    user.ok("launch", "short.py")
    assert user.ok("stop", "--all").startswith("loop ended")


def test_an_empty_name_is_no_program(user: User) -> None:
    for words in (("launch", ""), ("launch", "--", ""), ("probe", "app.py:1", "--", "")):
        assert "is empty" in user.fails(*words, code=2, error="usage")


def test_a_python_2_is_called_by_its_version(user: User) -> None:
    old = user.file(
        "python2", '#!/bin/sh\n[ "$1" = -V ] && echo Python 2.7.18 >&2 && exit\necho "Unknown option: -I" >&2\nexit 2\n'
    )
    old.chmod(0o755)
    user.file("app.py", "a = 1\n")
    said = user.fails("launch", "app.py", "--python", str(old), code=1, error="launch_failed")
    assert "is Python 2.7.18; 3.8 to 3.14 can be debugged" in said


def test_a_thread_that_has_ended_is_said_to_have(user: User) -> None:
    user.file(
        "app.py",
        "import threading\nevent = threading.Event()\nt = threading.Thread(target=event.wait)\nt.start()\n"
        "a = 1\nevent.set()\nt.join()\nb = 2\n",
    )
    user.ok("launch", "app.py", "--break", "app.py:5", "--break", "app.py:8")
    assert "t2" in user.ok("threads")
    user.ok("continue")
    assert "thread t2 has ended" in user.fails("thread", "t2", code=1, error="not_found")
    user.ok("stop")


def test_what_the_debugger_warns_of_is_not_counted_as_printed(user: User) -> None:
    user.file("app.py", "import sys\nsys.settrace(None)\na = 1\nb = 2\n")
    user.ok("launch", "app.py", "--break", "app.py:4")
    assert "printed" not in user.ok("sessions")


RAISES = """
def f(x):
    return 1 / x
def g():
    try:
        f(0)
    except ZeroDivisionError:
        z = 1
    try:
        raise KeyError("k")
    except KeyError:
        z = 2
    return z
g()
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
def test_a_step_that_an_exception_led_says_so(user: User, version: str) -> None:
    user.file("raises.py", RAISES)
    user.ok("launch", "raises.py", "--break", "raises.py:3", "--python", INTERPRETERS[version])
    steps = [user.json("next") for _ in range(5)]
    assert [(step["frame"]["line"], step.get("notes", [])) for step in steps] == [
        (7, ["f raised ZeroDivisionError: division by zero"]),
        (8, []),
        (9, []),
        (10, []),
        (11, ["g raised KeyError: 'k'"]),
    ]
    user.ok("stop")


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
def test_a_step_out_tells_what_this_function_returned_and_not_its_neighbour(user: User, version: str) -> None:
    text = "import re\ndef price(q):\n    return {'a': 1}[q]\ndef main():\n"
    user.file("two.py", text + "    return str(price('a')) == re.sub('a', 'b', str(price('a')))\nmain()\n")
    user.ok("launch", "two.py", "--break", "two.py:3", "--python", INTERPRETERS[version])
    told = []
    for _ in range(2):
        returned = user.json("next")["returned"]
        told.append((returned["name"], returned["value"]))
        user.ok("continue")
    assert told == [("price", "1"), ("price", "1")]
