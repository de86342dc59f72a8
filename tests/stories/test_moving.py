"""Moving on: steps over every kind of line, jumps, pauses that land and pauses that cannot, the words agents guess."""

from __future__ import annotations

import pytest

from ..conftest import INTERPRETERS
from .conftest import User, eventually

STEPS = """\
import contextlib

def numbers():
    yield 1
    yield 2

@contextlib.contextmanager
def held():
    yield "held"

def work(base):
    total = base
    for number in numbers():
        total += number
    squares = [n * n for n in (1, 2)]
    with held() as word:
        total += len(word)
    double = lambda n: n * 2
    return double(total) + sum(squares)

result = work(10)
print(result)
"""


def test_steps_stay_in_the_function_whatever_the_line_is(user: User) -> None:
    user.file("steps.py", STEPS)
    user.ok("launch", "steps.py", "--break", "steps.py:12")
    lines: list[int] = []
    told = user.json("state")
    while told["state"] == "stopped" and told["frame"]["function"] == "work" and len(lines) < 30:
        lines.append(told["frame"]["line"])
        told = user.json("next")
    assert [line for at, line in enumerate(lines) if line not in lines[:at]] == [12, 13, 14, 15, 16, 17, 18, 19]
    assert told["frame"]["function"] == "<module>"
    assert told["returned"]["value"] == "39"
    end = user.json("next", "--count", "50")
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "39\n")


def test_a_program_is_let_go_on_several_times_and_every_place_on_the_way_told(user: User) -> None:
    user.file("sums.py", "total = 0\nfor i in range(6):\n    total += i\n    print(i)\nprint('end', total)\n")
    user.ok("launch", "sums.py", "--break", "sums.py:3")
    passed, last = user.ok("continue", "--count", "3").split("sums stopped: ")
    assert passed.splitlines() == [
        "sums.py:3 i 0 -> 1", "sums.py:3 total 0 -> 1, i 1 -> 2", "sums.py:3 total 1 -> 3, i 2 -> 3",
    ]  # fmt: skip
    assert last.startswith("b1 hit 4 at sums.py:3 ") and 'output: "0\\n1\\n2\\n"' in last
    told = user.json("continue", "1")
    assert (told["hit"], told.get("trail")) == (5, None), "one alone is told as ever"
    user.fails("continue", "0", code=2, error="usage")
    rest = user.json("continue", "9")
    assert (rest["state"], rest["exit_code"], len(rest["trail"])) == ("exited", 0, 1)


def test_every_line_passed_is_told_with_what_it_changed(user: User) -> None:
    user.file("steps.py", STEPS)
    user.ok("launch", "steps.py", "--break", "steps.py:12")
    text = user.ok("next", "--count", "5")
    assert text.splitlines()[:5] == [
        "steps.py:12 total = 10",
        "steps.py:13 number = 1",
        "steps.py:14 total 10 -> 11",
        "steps.py:13 number 1 -> 2",
        "steps.py:14 total 11 -> 13",
    ]
    user.ok("stop")


def test_step_goes_into_a_generator_and_finish_comes_back(user: User) -> None:
    user.file("steps.py", STEPS)
    user.ok("launch", "steps.py", "--break", "steps.py:13")
    inside = user.json("step")
    assert (inside["frame"]["function"], inside["frame"]["line"]) == ("numbers", 4)
    out = user.json("finish")
    assert out["frame"]["function"] == "work"
    user.ok("stop")


def test_what_changed_in_a_caller_meanwhile_is_not_said_of_a_line_of_what_it_called(user: User) -> None:
    user.file(
        "nest.py",
        "def half(n):\n    h = n / 2\n    return h\n\ndef run():\n    total = 0\n    for n in range(4):\n"
        "        total += half(n)\n        n += 0\n    return total\n\nprint(run())\n",
    )
    user.ok("launch", "nest.py", "--break", "nest.py:9", "--break", "nest.py:3")
    told = user.ok("continue", "--count", "3")
    assert told.startswith(
        "nest.py:3 in half\nnest.py:9 in run\nnest.py:3 in half\n"
        "since held in run before: n 0 -> 1, total 0.0 -> 0.5\nnest stopped: b1 "
    ), told
    user.ok("stop")


def test_a_stop_that_is_told_again_says_what_returned_there_and_what_did_not(user: User) -> None:
    user.file(
        "due.py",
        "def rate(n):\n    r = n / 10\n    return r\n\ndef due(n):\n    part = rate(n)\n    return n - part\n\n"
        "total = sum(map(due, [10]))\n",
    )
    user.ok("launch", "due.py", "--break", "due.py:6")
    assert "due stopped: step at due.py:7 in due (rate returned 1.0)\n" in user.ok("next")
    again = user.ok("state")
    assert again.startswith("due stopped: step at due.py:7 in due (rate returned 1.0)\n"), "it returned to line 6"
    assert "\nlocals: n=10, part=1.0\n" in again, "with everything, as ever"
    user.ok("stop")
    user.ok("launch", "due.py", "--break", "due.py:3")
    assert "due stopped: returned 1.0 to due.py:6 in due\n" in user.ok("finish")
    assert user.ok("state").startswith("due stopped: returned 1.0 to due.py:6 in due\n")
    user.ok("stop")


def test_several_calls_are_finished_and_the_debugger_is_named_when_it_is_spoken_to(user: User) -> None:
    user.file("down.py", "def down(n):\n    if n:\n        return down(n - 1) + 1\n    return 0\n\nprint(down(3))\n")
    user.ok("launch", "down.py", "--break", "down.py:4")
    told = user.ok("finish", "--count", "2")
    head = "down.py:4 in down\ndown.py:3 in down\ndown stopped: returned 1 to down.py:3 in down\n"
    assert told.startswith(head), "of each call its last line"
    assert (user.ok("eval", "n"), user.ok("raw", "n").split("] ")[1]) == ("n = 2\n", "2\n")
    assert user.ok("raw", "n").startswith("[via debugpy ")
    user.file("stillframe.toml", "always_via = true\n")
    assert user.ok("eval", "n").startswith("[via debugpy ") and user.ok("finish").startswith("[via debugpy ")
    assert "exited 0" in user.ok("continue")


@pytest.mark.long
def test_the_words_that_agents_guess_do_the_same(user: User) -> None:
    user.file("steps.py", STEPS)
    user.ok("run", "steps.py", "-b", "steps.py:12")
    assert "numbers" in user.ok("step", "over") + user.ok("step", "into")
    assert "work" in user.ok("step", "out")
    user.ok("rerun")
    assert user.ok("n", "2").endswith("> 14          total += number\n")
    assert user.ok("p", "base", "total").startswith("base = 10\n")
    assert user.ok("bt") == user.ok("where") == user.ok("backtrace")
    assert user.ok("up").startswith("f1 ")
    assert user.ok("down").startswith("f0 ")
    assert user.ok("info").startswith("steps stopped")
    assert user.ok("b", "steps.py:19", "--condition", "total > 0").startswith("b2 bound")
    assert 'log "t={total}"' in user.ok("logpoint", "steps.py:17", "t={total}")
    assert "b2" not in user.ok("delete", "b2")
    assert "b3" in user.ok("breakpoints")
    user.ok("clear", "--all")
    assert user.ok("console").endswith("cursor 0.0.0.0.1\n")  # of the second run
    assert "exited 0" in user.ok("c")
    assert "exited 0" in user.ok("rerun")
    user.ok("end")


def test_a_near_miss_names_the_right_word(user: User) -> None:
    said = user.says("contineu")
    assert (said.code, said.out) == (2, "")
    assert "continue" in said.err
    said = user.says("launch", "--brake", "x.py:1", "x.py")
    assert said.code == 2
    assert "--break" in said.err


def test_until_and_jump_go_where_they_are_told(user: User) -> None:
    user.file("steps.py", STEPS)
    user.ok("launch", "steps.py", "--break", "steps.py:12")
    there = user.json("until", "steps.py:15")
    assert (there["reason"], there["frame"]["line"]) == ("until", 15)
    assert user.json("until", 'steps.py@"with held"')["frame"]["line"] == 16
    back = user.json("jump", "steps.py:12")
    assert (back["state"], back["frame"]["line"]) == ("stopped", 12)
    assert user.json("eval", "total")["values"][0]["value"] == "13", "nothing in between was run"
    assert user.json("next")["frame"]["line"] == 13
    user.fails("jump", "steps.py:4", code=1, error="not_found")
    assert user.json("state")["frame"]["line"] == 13
    user.file("other.py", STEPS)
    for elsewhere in ("other.py:12", "nowhere.py:12"):
        said = user.fails("jump", elsewhere, code=1, error="not_found")
        assert "in steps.py" in said and f"(try: dbg until {elsewhere})" in said, "a line of the held file is not meant"
    assert user.json("state")["frame"]["line"] == 13
    user.ok("unbreak", "--all")
    user.ok("finish")
    assert "(try: dbg next)" in user.fails("jump", "steps.py:22", code=1, error="not_found")
    assert "note: steps.py:12 was not reached" in user.ok("until", "steps.py:12"), "which it has passed by then"


def test_a_pause_of_a_thread_that_is_blocked_is_running_with_its_place(user: User) -> None:
    user.file(
        "wait.py",
        "import threading\n\ndef block():\n    threading.Event().wait()\n\nprint('in', flush=True)\nblock()\n",
    )
    user.ok("launch", "wait.py", "--ready", "in")
    told = user.json("pause", "--timeout", "0.5")
    if told["state"] == "running":
        assert "block" in [each["function"] for each in told["blocked"]]
        assert "block" in [each["function"] for each in user.json("stack")["frames"]], "and it can be looked at again"
    else:
        assert "block" in [each["function"] for each in told["stack"]]
    assert user.json("stop")["action"] == "terminated"


def test_a_timeout_is_an_answer_not_an_error(user: User) -> None:
    user.file("spin.py", "n = 0\nwhile True:\n    n += 1\n")
    said = user.ok("launch", "spin.py", "--timeout", "0.3")
    assert "spin running after " in said
    assert user.ok("wait", "--timeout", "0.2").startswith("spin running after ")
    assert user.json("wait", "--timeout", "0")["state"] == "running"
    assert "pause at spin.py:" in user.ok("pause", "--timeout", "30")
    user.ok("stop")


def test_a_step_over_a_call_that_takes_long_is_running_and_lands_later(user: User) -> None:
    user.file("slow.py", "import sys\nx = 1\nsys.stdin.readline()\ny = 2\n")
    user.ok("launch", "slow.py", "--stdin", "-", "--break", "slow.py:3")
    assert user.json("next", "--timeout", "0.2")["state"] == "running"
    user.ok("input", "go")
    told = user.json("wait")
    assert (told["state"], told["reason"], told["frame"]["line"]) == ("stopped", "step", 4)
    user.ok("stop")


def test_a_change_is_told_however_many_locals_there_are(user: User) -> None:
    user.file("many.py", "\n".join(f"v{number} = {number}" for number in range(100)) + "\nv7 = 'new'\nend = 1\n")
    user.ok("launch", "many.py", "--break", "many.py:90")
    assert "v89 = 89" in user.ok("next")
    user.ok("until", "many.py:101")
    assert "v7 7 -> 'new'" in user.ok("next")
    user.ok("stop")


def test_another_call_of_the_function_is_another_frame(user: User) -> None:
    user.file("key.py", "def key(x):\n    y = x * 2\n    return y\n\nprint(sorted([3, 1, 2], key=key))\n")
    user.ok("launch", "key.py", "--break", "key.py:2")
    told = user.json("next", "--count", "2")
    while told["frame"]["function"] == "key" and told["frame"]["line"] == 3:
        told = user.json("next")
    if told["frame"]["function"] == "key":  # the next call of it: nobody changed x, it is another x
        assert not told.get("same_frame", False)
        assert "changes" not in told["trail"][-1]
        assert not any(each.get("changed") for each in told["locals"])
    user.ok("stop")


def test_another_hit_in_the_same_frame_tells_what_changed(user: User) -> None:
    user.file(
        "loop.py",
        "def f(rows):\n    seen = []\n    for row in rows:\n        seen.append(row)\n    return seen\n\nf('ab')\n",
    )
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    text = user.ok("continue")
    assert "loop stopped: b1 hit 2 at loop.py:4 in f" in text
    assert "row" in text and "'b'" in text
    assert "['a']" in text
    user.ok("stop")


AWAITED = """import asyncio

async def numbers():
    for n in range(2):
        yield n

async def main():
    async for x in numbers():
        total = x

asyncio.run(main())
"""


SERVES = """\
import socket, socketserver, threading

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        text = self.rfile.readline()
        answer = text.upper()
        self.wfile.write(answer)

with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever).start()
    with socket.create_connection(server.server_address) as client:
        client.sendall(b"x\\n")
        print(client.recv(9))
        print(client.recv(9))
    server.shutdown()
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
def test_steps_through_a_servers_handler_end_where_it_returns(user: User, version: str) -> None:
    user.file("serves.py", SERVES)
    user.ok("launch", "serves.py", "--break", "serves.py:6", "--python", INTERPRETERS[version])
    told = user.json("next", "9")
    assert (told["state"], told["reason"], told["frame"]["line"]) == ("stopped", "return", 7)
    whole = user.ok("state")
    assert "stopped: returned None at serves.py:7 in " in whole
    assert "\n  7          self.wfile.write(answer)\n" in whole, "a line that has run is not marked"
    assert user.json("continue")["exit_code"] == 0
    assert user.json("output", "--since", "0.0.0.0")["stdout"] == "b'X\\n'\nb''\n"


@pytest.mark.parametrize("version", [each for each in ("3.11", "3.13") if each in INTERPRETERS])
def test_what_changed_in_the_caller_is_told_of_the_line_of_the_call(user: User, version: str) -> None:
    python = ("--python", INTERPRETERS[version])
    user.file(
        "call.py", "def f(n):\n    return n * 2\n\ndef main():\n    x = 0\n    x = f(1)\n    return x\n\nmain()\n"
    )
    user.ok("launch", "call.py", *python, "--break", "call.py:6")
    trail = user.json("step", "--count", "3")["trail"]
    assert [each["line"] for each in trail if each.get("changes")] == [6]
    user.ok("stop")
    user.file("each.py", AWAITED)
    user.ok("launch", "each.py", *python, "--break", "each.py:8")
    seen = [user.json("step") for _ in range(7)]
    rows = [
        (row["line"], change["name"])
        for each in seen
        for row in each.get("trail", [])
        for change in row.get("changes", [])
    ]
    assert {line for line, name in rows if name == "x"} == {8}
    assert not any("wrapped_value" in str(each) or "_asyncgen" in str(each) for each in seen)
    user.ok("stop")


TURNS = """def f(n):
    return n * 2

def main():
    x = 0
    for n in (5, 6):
        x += 1
        f(n)
    y = 3
    return x

main()
"""


def test_no_line_is_said_to_have_changed_what_others_may_have_changed(user: User) -> None:
    user.file("turns.py", TURNS)
    user.ok("launch", "turns.py", "--break", "turns.py:8", "--break", "turns.py:2")
    user.ok("continue")  # held in f, main having been held at line 8
    user.ok("disable", "b1")
    user.ok("continue")  # in f again: main has run lines 8, 6 and 7 since
    told = user.ok("next", "--count", "1")
    assert told.startswith("turns.py:2 in f\nsince held in main before: n 5 -> 6, x 1 -> 2\n"), told
    assert user.ok("next").startswith("turns.py:8\n"), "and from here on its lines are known again"
    user.ok("break", "turns.py:10")
    told = user.json("finish")
    assert told["trail"] == [{"function": "main", "changes": [{"name": "y", "new": "3"}]}], "not what line 6 did"
    user.ok("stop")


SLOW = """class Slow:
    def __repr__(self):
        open("asked", "w").close()
        while True:
            pass

def f(slow):
    return slow

f(Slow())
"""


def test_a_stop_is_told_whole_however_short_the_wait_for_it_was(user: User) -> None:
    user.file("slow.py", SLOW)
    user.ok("launch", "slow.py", "--break", "slow.py:8", "--no-wait")
    eventually((user.here / "asked").exists, "the stop is being read")
    told = user.json("wait", "--timeout", "0")
    assert (told["state"], told["frame"]["line"], told["breakpoints"]) == ("stopped", 8, ["b1"])
    user.ok("stop")


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_stop_that_nobody_was_told_of_is_told_before_the_program_goes_on(user: User, language: str) -> None:
    """A wait that was over said `running`: whoever says `continue` then has not seen where the program has come since."""
    if language == "python":
        user.file(
            "gate.py",
            "import os, time\nwhile not os.path.exists('open'):\n    time.sleep(0.01)\nfor turn in range(3):\n    print(turn)\n",
        )
        place = "gate.py:5"
    else:
        text = "const fs = require('fs');\nconst wait = () => fs.existsSync('open') ? work() : setTimeout(wait, 10);\n"
        user.file(
            "gate.js",
            text + "function work() {\n  for (let turn = 0; turn < 3; turn++)\n    console.log(turn);\n}\nwait();\n",
        )
        place = "gate.js:5"
    assert user.json("launch", place.partition(":")[0], "--break", place, "--timeout", "0")["state"] == "running"
    user.file("open", "")

    def is_held() -> bool:
        return [each["state"] for each in user.json("sessions")["sessions"]] == ["stopped"]

    eventually(is_held, "it is held")
    told = user.json("continue")
    assert (told["hit"], told.get("output", "")) == (1, "")
    assert "nobody had been told" in told["notes"][0]
    again = user.json("continue")
    assert (again["hit"], again.get("notes")) == (2, None), "told once"
    assert user.json("continue", "--timeout", "0")["state"] in ("running", "stopped")
    eventually(is_held, "it is held")
    assert user.ok("eval", "turn").startswith("turn = 2")
    assert user.json("continue")["state"] == "exited", "who has looked at it knows of it"
