"""What the program prints: all of it counted, read by a cursor, escaped in text and exact in JSON."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import User


def pages(user: User, kind: str = "stdout", size: int = 3000) -> tuple[str, int]:
    """Everything from the beginning on, page by page, and the bytes said to be gone."""
    text, dropped, cursor = "", 0, "0.0.0.0"
    while True:
        page: dict[str, Any] = user.json("output", "--since", cursor, "--bytes", str(size))
        text += page.get(kind, "")
        dropped += page.get("dropped", 0)
        if page["cursor"] == cursor:
            return text, dropped
        cursor = page["cursor"]


def test_pages_add_up_to_exactly_what_was_printed(user: User) -> None:
    user.file("say.py", "for n in range(2000):\n    print(f'{n} é€🐙 {n*n}')\n")
    told = user.json("launch", "say.py")
    assert told["state"] == "exited"
    whole = "".join(f"{n} é€🐙 {n * n}\n" for n in range(2000))
    assert whole.endswith(told["output"])
    assert len(told["output"].encode()) + told["dropped"] == len(whole.encode())
    text, dropped = pages(user, size=4999)
    assert (text == whole, dropped) == (True, 0)
    assert user.json("output")["total"] == len(whole.encode())


def test_a_hundred_megabytes_without_a_newline_are_bounded_and_counted(user: User) -> None:
    user.file(
        "flood.py",
        "import sys\nchunk = b'0123456789' * 100_000\nfor _ in range(100):\n    sys.stdout.buffer.write(chunk)\nx = 1\n",
    )
    told = user.json("launch", "flood.py", "--timeout", "100")
    assert (told["state"], told["exit_code"]) == ("exited", 0)
    assert len(told["output"]) + told["dropped"] == 100_000_000
    text = user.ok("output")
    assert len(text) <= 4000
    page = user.json("output", "--since", "0.0.0.0", "--bytes", "1000")
    assert page["total"] == 100_000_000
    status = user.json("status")
    assert status["output_bytes"] == 100_000_000 > status["output_lost"] > 50_000_000
    assert page["dropped"] > 0
    assert page["dropped"] + len(page["stdout"]) == int(page["cursor"].split(".")[0])
    assert page["stdout"].startswith(("0123456789" * 2)[page["dropped"] % 10 :][:10])


def test_bytes_that_are_no_text_and_controls_are_shown_not_sent(user: User) -> None:
    odd = r"b'ok\xff\xfe \x1b[2J\0\xe2\x80\xaeend\x7f\xc2\x9b2J\n'"
    user.file("raw.py", f"import sys\nsys.stdout.buffer.write({odd})\n")
    text = user.ok("launch", "raw.py")
    assert 'output: "ok\\\\xff\\\\xfe \\x1b[2J\\x00\\u202eend\\x7f\\x9b2J\\n"' in text
    assert user.json("state")["state"] == "exited"
    exact = user.json("output", "--since", "0.0.0.0")
    assert exact["stdout"] == "ok\\xff\\xfe \x1b[2J\0\u202eend\x7f\x9b2J\n"
    assert "\\x1b[2J\\x00\\u202eend" in user.ok("output")


def test_a_character_split_over_two_writes_is_told_whole(user: User) -> None:
    user.file(
        "split.py",
        "import sys\nout = sys.stdout.buffer\nout.write(b'a\\xe2\\x82'); out.flush()\nx = 1\nout.write(b'\\xacb\\n')\n"
        "out.flush()\ny = 2\n",
    )
    first = user.json("launch", "split.py", "--break", "split.py:4", "--break", "split.py:7")
    second = user.json("continue")
    assert first.get("output", "") + second["output"] == "a€b\n"
    assert "\\x" not in first.get("output", "")
    user.ok("stop")


def test_stdout_and_stderr_and_log_points_are_told_apart(user: User) -> None:
    user.file("both.py", "import sys\nfor n in range(3):\n    print('out', n)\n    print('err', n, file=sys.stderr)\n")
    user.ok("launch", "both.py", "--stop-on-entry")
    user.ok("break", "both.py:4", "--log", "n is {n}")
    end = user.json("continue")
    assert end["output"] == "out 0\nout 1\nout 2\n"
    assert end["stderr"] == "err 0\nerr 1\nerr 2\n"
    assert end["log"] == "n is 0\nn is 1\nn is 2\n"
    assert user.json("output", "--kind", "stderr", "--since", "0.0.0.0")["stderr"] == end["stderr"]
    assert user.json("output", "--kind", "log")["log"] == end["log"]
    user.fails("output", "--since", "abc", code=2, error="usage")


def test_waiting_for_output_returns_with_it(user: User) -> None:
    user.file(
        "echo.py",
        "import sys\nprint('first', flush=True)\nfor line in sys.stdin:\n    print('got', line, end='', flush=True)\n",
    )
    user.ok("launch", "echo.py", "--stdin", "-", "--ready", "first")
    cursor = user.json("output")["cursor"]
    waiting = user.start("output", "--since", cursor, "--wait", "--json")
    user.ok("input", "hello")
    from .conftest import ended, result

    assert result(ended(waiting))["stdout"] == "got hello\n"
    user.ok("input", "--eof")
    assert user.json("wait")["exit_code"] == 0
    user.fails("input", "x", code=3, error="wrong_state")


def test_a_cursor_of_an_earlier_run_loses_nothing_of_the_present_one(user: User) -> None:
    user.file("say.py", "print('twelve bytes')\nx = 1\nprint('end')\n")
    user.ok("launch", "say.py", "--break", "say.py:2")
    before = user.json("output")["cursor"]
    assert "is past what this run has printed" in user.fails("output", "--since", f"9{before}", code=2, error="usage")
    user.ok("restart")
    page = user.json("output", "--since", before)
    assert (page["stdout"], page["notes"][0][:31]) == ("twelve bytes\n", "the cursor is of an earlier run")
    user.ok("continue")
    rest = user.json("output", "--since", page["cursor"])
    assert (rest["stdout"], rest.get("notes")) == ("end\n", None)
    user.fails("wait", "--do", "touch done", code=3, error="wrong_state")
    assert not (user.here / "done").exists(), "there is nothing that it could make the program do"
    assert "pid" not in user.json("tool")


WORDY = """
import os, sys

print("error: bad json in orders.json", file=sys.stderr)
for depth in range(200):
    print(f"  {depth}: somewhere in a library", file=sys.stderr)
sys.stderr.flush()
os._exit(int(sys.argv[1]))
"""


def test_how_the_words_of_a_program_began_is_told_where_it_fails_and_nothing_else_says_why(user: User) -> None:
    user.file("wordy.py", WORDY)
    for words in (("crash", "--"), ("launch", "--")):
        rows = user.ok(*words, "python3", "wordy.py", "1").splitlines()
        began = rows.index("stderr began:")
        assert rows[began + 1] == "  error: bad json in orders.json"
        assert "    199: somewhere in a library" in rows[rows.index("stderr:", began) :]
        assert "stderr began:" not in user.ok(*words, "python3", "wordy.py", "0")
    end = user.json("crash", "--", "python3", "wordy.py", "1")["end"]
    whole = 31 + sum(len(f"  {depth}: somewhere in a library\n") for depth in range(200))
    assert end["stderr_began"].startswith("error: bad json in orders.json\n  0: ")
    assert len(end["stderr_began"]) + end["dropped"] + len(end["stderr"]) == whole


ASKS = """\
import sys, time
def f(n): return n + 1
f(1)
sys.stderr.write("password? ")
sys.stderr.flush()
time.sleep(60)
"""


@pytest.mark.parametrize("verb", [("trace", "f"), ("probe", "ask.py:2", "--expect", "n > 0")])
def test_a_line_that_has_not_ended_is_told_of_a_recorded_run_that_is_out_of_time(
    user: User, verb: tuple[str, ...]
) -> None:
    user.file("ask.py", ASKS)
    assert user.json(*verb, "--timeout", "2", "--", "python3", "ask.py")["end"]["stderr"] == "password? "
