"""What no client should send, and clients that go away: every failure is an answer, and nothing else is disturbed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from ...guard import COOKIE, command, eventually, gone, marked
from ..conftest import call
from .conftest import COUNT, META, Connect, Pipe, text_of

SPIN = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


async def test_wrong_calls_are_tool_errors_with_a_code_and_a_next_step(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    wrong: list[tuple[str, dict[str, Any], str, str]] = [
        ("lunch", {}, "usage", "did you mean launch?"),
        ("x" * 100_000, {}, "usage", "there is no tool"),
        ("launch", {"programm": "x"}, "usage", "did you mean program?"),
        ("launch", {"y" * 100_000: 1}, "usage", "launch has no parameter"),
        ("state", {"session": "s" * 100_000}, "usage", "is no session name"),
        ("launch", {"program": [["a"]]}, "usage", "program takes text"),
        ("launch", {"program": {"a": 1}}, "usage", "program takes text"),
        ("launch", {"program": "count.py", "stop_on_entry": "yes"}, "usage", "true or false"),
        ("launch", {"program": "count.py", "timeout": "soon"}, "usage", "a number"),
        ("launch", {"program": "count.py", "project": "/nowhere"}, "usage", "project is no directory"),
        ("state", {"project": "x/" * 50_000}, "usage", "project is no directory"),
        ("launch", {"program": "count.py", "budget": 0}, "usage", "budget"),
        ("launch", {"program": "gone.py"}, "launch_failed", ""),
        ("launch", {}, "usage", "launch what?"),
        ("crash", {"command": ""}, "usage", "is empty"),
        ("crash", {"command": "python count.py && true"}, "usage", '["sh", "-c", "python count.py && true"]'),
        ("crash", {"command": "python 'count.py"}, "usage", "No closing quotation"),
        ("crash", {"command": ["python count.py"]}, "usage", '["python", "count.py"]'),
        ("probe", {}, "usage", "probe needs places"),
        ("eval", {"expressions": 5, "session": 7}, "usage", "session takes text"),
        ("eval", {"expressions": ["1"]}, "no_session", "try: launch"),
        ("eval", {"expressions": ["1"], "session": "../../etc"}, "usage", ""),
        ("go", {"how": "backwards"}, "usage", "how is one of continue"),
        ("go", {"how": 3}, "usage", "how is one of continue"),
        ("go", {"how": "wait", "count": 3}, "usage", "only continue, next, step, finish"),
        ("go", {"how": "next", "count": -1}, "usage", "from 0 up"),
        ("state", {"part": "source", "at": ["count.py:1"]}, "usage", "at takes text"),
        ("attach", {"pid": True}, "usage", "a whole number"),
        ("attach", {"pid": "x" * 100_000}, "usage", "a whole number"),
        ("launch", {"program": "x" * 300_000}, "usage", "are the most"),
        ("launch", {"program": ["x"] * 100_000}, "usage", "are the most"),
        *(("launch", {name: "a\0b"}, "usage", "a NUL character") for name in ("program", "module", "code", "build")),
        ("hang", {"module": "a\0b"}, "usage", "a NUL character"),
        ("attach", {"core": "a\0b"}, "usage", "a NUL character"),
        (
            "record",
            {"part": "history", "count": 2**64},
            "usage",
            "count takes a number up to 9,223,372,036,854,775,807",
        ),
        ("record", {"part": "hits", "start": 10**28}, "usage", "start takes a number up to 9,223,372,036,854,775,807"),
        ("go", {"how": "next", "count": 10**28}, "usage", "count takes a number up to"),
    ]
    async with agent() as client:
        for tool, arguments, code, words in wrong:
            told = await client.call_tool(tool, arguments)
            text = text_of(told)
            assert told.is_error, (tool, text)
            assert text.startswith(f"error {code}: "), (tool, text)
            assert words in text and len(text) < 2500, (tool, text)
            assert len(str(told.structured_content)) < 5000, (tool, text)
        line = await client.call_tool("crash", {"command": "python -c 'a = 1; a > 2'"})  # as one text, too
        assert "ended well: exit 0" in text_of(line)
        held = await client.call_tool("launch", {"program": "count.py", "breaks": "count.py:3"})
        assert not held.is_error
        ended = await client.call_tool("stop", {})
        assert not ended.is_error
        late = await client.call_tool("eval", {"expressions": ["1"]})
        assert "wrong_state" in text_of(late) and 'try: stop {"how": "restart"}' in text_of(late)


def test_messages_that_are_none_are_answered_as_such_and_the_next_one_is_heard(pipe: Any) -> None:
    line: Pipe = pipe()
    long = b"x" * 3_000_000
    for data, code, numbers in (
        (b"hello\n", -32700, [None]),
        (b"[]\n", -32600, [None]),
        (b'{"jsonrpc": "1.0"}\n', -32600, [None]),
        (b"\xff\xfe\n", -32700, [None]),
        (b"[" * 100_000 + b"\n", -32700, [None]),
        (long + b"\n", -32600, [None]),
        # Nobody waits for an answer to a call that can be seen to be one.
        (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": []}\n', -32600, ["a"]),
        (b'[{"id": 1, "method": "ping"}, {"method": "x"}, {"id": 2, "method": "ping"}]\n', -32600, [1, 2]),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"id":7,"x":"' + long + b'"}}\n', -32600, [3]),
        (b'{"method":"tools/call","params":{"x":"' + long + b'"},"jsonrpc":"2.0","id":4}\n', -32600, [4]),
        (b'{"method":"tools/call","params":{"x":"' + long + b'","id":5}}\n', -32600, [None]),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}\n', -32600, [None]),
        (b'{"jsonrpc": "2.0", "id": 2.5, "method": "tools/list"}\n', -32600, [None]),
    ):
        line.send(data)
        for number in numbers:
            said = line.hear()
            assert (said["error"]["code"], said["id"]) == (code, number), data[:100]
    for much in (float("nan"), float("inf"), 10**400):  # as Python's own JSON spells them
        told = line.call("go", how="wait", timeout=much)["structuredContent"]["error"]
        assert (told["code"], told["message"].partition(",")[0]) == ("usage", "timeout takes a number")
    assert line.ask("tools/list")["result"]["tools"]
    assert line.ask("tools/list", cursor="x" * 1000)["result"]["tools"]
    assert line.ask("no/method")["error"]["code"] == -32601
    assert "error" in line.ask("resources/read", uri="dbg://session/../../etc/passwd")
    assert "error" in line.ask("resources/read", uri="file:///etc/passwd")
    assert "error" in line.ask("prompts/get", name="nope")
    assert "error" in line.ask("prompts/get", name="crash", arguments={})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tools", "lunch"), "there is no tool 'lunch'; did you mean launch?"),
        (("--tools", "state,launch", "--allow", "read"), "launch needs exec, and only read is allowed here"),
        (("--tools", ""), "--tools takes core, all, or names"),
        (("--allow", "everything"), "--allow takes read, inspect, control, exec"),
        (("--project", "/nowhere"), "--project /nowhere"),
        (("--port", "80"), "--port goes with --http"),
        (("--http", "--port", "99999"), "--port takes a number"),
        (("--tolls", "all"), "did you mean: dbg mcp --tools"),
    ],
)
def test_flags_that_are_wrong_are_said_to_be_on_standard_error(pipe: Any, words: tuple[str, ...], said: str) -> None:
    line: Pipe = pipe(*words)
    code, err = line.end()
    assert (code, err.count("\n")) == (2, 1)
    assert said in err


def test_a_wait_tells_that_it_goes_on_and_then_that_it_runs_and_a_cancelled_one_leaves_the_program_as_it_is(
    pipe: Any, tmp_path: Path
) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    line: Pipe = pipe()
    started = line.call("launch", program=["spin.py"], timeout=0)
    assert started["structuredContent"]["result"]["state"] == "running"
    for name, seconds in (("long", 600), ("short", 3.5)):
        meta = {**META, "progressToken": name}
        params = {"name": "go", "arguments": {"how": "wait", "timeout": seconds}, "_meta": meta}
        line.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}).encode() + b"\n")
    told: dict[str, Any] = {}
    said: dict[str, Any] = {}
    while not said or "long" not in told:  # which goes on to tell it
        heard = line.hear()
        if heard.get("method") == "notifications/progress":
            told.setdefault(heard["params"]["progressToken"], heard["params"])
        else:
            said = heard
    assert said["id"] == "short"
    assert said["result"]["structuredContent"]["result"]["state"] == "running" and not said["result"]["isError"]
    assert {name: each["total"] for name, each in told.items()} == {
        "long": 25,
        "short": 3.5,
    }  # however long was asked for
    assert all(0 < each["progress"] < each["total"] for each in told.values())
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}
    line.send(json.dumps(cancel).encode() + b"\n")
    after = line.call("state")
    assert "the call of wait was cancelled; the program was left as it was" in after["content"][0]["text"]
    assert after["structuredContent"]["result"]["state"] == "running"
    assert "cancelled" not in line.call("state")["content"][0]["text"]
    # The SDK's server saw to the first call alone; what it put around that answer is around every other one.
    assert (after.keys(), after["_meta"]) == (started.keys(), started["_meta"])


def test_a_client_that_vanishes_takes_its_probe_with_it_and_no_session(pipe: Any, tmp_path: Path) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    line: Pipe = pipe()
    started = line.call("launch", program=["spin.py"], timeout=0)["structuredContent"]
    pid = json.loads(call("status", "--json", cwd=tmp_path).out)["result"]["pid"]
    line.request(
        "tools/call", name="probe", arguments={"places": ["spin.py:9"], "command": ["python", "spin.py", "own"]}
    )
    own = eventually(lambda: [each for each in _running("spin.py", "own") if each.pid != pid], "it never came to that")
    line.request("tools/call", name="go", arguments={"how": "wait"})
    line.process.send_signal(signal.SIGKILL)
    line.process.wait()
    eventually(lambda: all(map(gone, own)), "it never came to that")
    assert json.loads(call("status", "--json", cwd=tmp_path).out)["result"]["state"] == "running"
    assert started["session"] == "spin"


def test_of_two_clients_on_one_session_one_waits_while_the_other_looks_and_moves_and_may_vanish(
    pipe: Any, tmp_path: Path
) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    one: Pipe = pipe()
    two: Pipe = pipe()
    one.call("launch", program=["spin.py"], ready="up")  # before its first line Python tells none
    waiting = one.request("tools/call", name="go", arguments={"how": "wait", "timeout": 20})
    assert two.call("state")["structuredContent"]["result"]["state"] == "running", "nobody queues behind a wait"
    paused = two.call("go", how="pause", timeout=20)["structuredContent"]["result"]
    told = one.answer(waiting)["result"]["structuredContent"]["result"]
    assert (told["state"], told["frame"]["file"]) == (paused["state"], "spin.py") == ("stopped", "spin.py")
    looking = [each.request("tools/call", name="state", arguments={}) for each in (one, two)]
    both = [each.answer(number)["result"] for each, number in zip((one, two), looking, strict=True)]
    assert [each["structuredContent"]["result"]["frame"]["line"] for each in both] == [told["frame"]["line"]] * 2
    assert one.call("go", how="continue", timeout=0)["structuredContent"]["result"]["state"] == "running"
    two.request("tools/call", name="go", arguments={"how": "wait"})
    two.process.kill()
    two.process.wait()
    assert one.call("state")["structuredContent"]["result"]["state"] == "running", "the one that is left goes on"
    assert "spin ended" in one.call("stop")["content"][0]["text"]


def _running(*words: str) -> list[psutil.Process]:
    """Those of this test, not of another one like it."""
    return [each for each in marked(COOKIE, os.environ[COOKIE]) if set(words) <= set(command(each))]
