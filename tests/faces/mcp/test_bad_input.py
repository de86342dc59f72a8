"""What no client should send, and clients that go away: every failure is an answer, and nothing else is disturbed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from stillframe.faces.mcp.orders import understand
from stillframe.faces.mcp.toolset import toolset

from ...guard import COOKIE, command, eventually, gone, marked
from ..conftest import call
from .conftest import COUNT, META, Connect, Pipe, text_of

CLIENT_SECONDS = 60
"""After which clients give up a call."""
SPIN = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


@pytest.mark.long
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
        (
            "launch",
            {"program": "count.py", "session": "mine"},
            "usage",
            "makes a new session and takes none; name='mine'",
        ),
        (
            "crash",
            {"command": "python count.py", "session": "mine"},
            "usage",
            "a program of its own and takes no session",
        ),
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
        ("go", {"how": "next", "count": "9" * 5000}, "usage", "count takes a whole number"),
        ("state", {"part": "source", "at": "count.py:" + "9" * 5000}, "usage", "no file has a line 999"),
    ]
    async with agent("--tools", "core,input,disasm") as client:
        for tool, arguments, code, words in wrong:
            told = await client.call_tool(tool, arguments)
            text = text_of(told)
            assert told.is_error, (tool, text)
            assert text.startswith(f"error {code}: "), (tool, text)
            assert (told.structured_content["ok"], told.structured_content["error"]["code"]) == (False, code), tool
            assert words in text and len(text) < 2500, (tool, text)
            assert len(str(told.structured_content)) < 5000, (tool, text)
        line = await client.call_tool("crash", {"command": "python -c 'a = 1; a > 2'"})  # as one text, too
        assert "ended well: exit 0" in text_of(line)
        held = await client.call_tool("launch", {"program": "count.py", "breaks": "count.py:3"})
        assert not held.is_error
        for tool, arguments, code, step in (
            ("launch", {"program": "count.py", "name": "count"}, "busy", "try: stop"),
            ("state", {"part": "expand", "value": "v99"}, "not_found", 'try: state {"part": "locals"}'),
            ("state", {"part": "exception"}, "not_found", "try: state"),
            ("state", {"part": "stack", "session": "two"}, "no_session", 'try: state {"part": "sessions"}'),
            ("break", {"how": "unbreak", "ids": ["b99"]}, "not_found", 'try: state {"part": "breaks"}'),
            ("record", {"part": "hits", "run": "nope"}, "not_found", 'try: record {"part": "history"}'),
            ("record", {"part": "hit-diff", "first": "h1", "second": "h99"}, "not_found", "try: record"),
            ("input", {"text": "x"}, "unsupported", 'start it with: launch {"stdin": "-"}'),
            ("disasm", {}, "unsupported", "try: raw"),
        ):
            told = await client.call_tool(tool, arguments)
            assert told.is_error and told.structured_content["error"]["code"] == code, (tool, told)
            assert step in text_of(told), (tool, text_of(told))
        ended = await client.call_tool("stop", {})
        assert not ended.is_error
        late = await client.call_tool("eval", {"expressions": ["1"]})
        assert "wrong_state" in text_of(late) and 'try: stop {"how": "restart"}' in text_of(late)


def test_no_wait_for_a_stop_is_longer_than_clients_bear() -> None:
    """The one place that bounds it: however long was asked for, and where nothing was said. A report may take its time."""
    tools = toolset("core")
    always = {"launch", "continue", "next", "step", "finish", "until", "wait"}
    bounded = set()
    for tool in tools:
        for verb in always & set(tool.verbs):
            needed = {name: "x" for name, field in tool.fields[verb].items() if field.get("required")}
            given = {**needed, **({tool.by: verb} if tool.by else {})}
            for asked, most in ((600, 25), (3.5, 3.5), (None, 25)):
                assert understand(tools, tool, {**given, "timeout": asked}).args["timeout"] == most, verb
            bounded.add(verb)
    assert bounded == always
    for more in ({"breaks": "a.py:1"}, {"do": "true"}, {"wait_for": "name"}):
        assert understand(tools, tools.find("attach"), more).args["timeout"] == 25, more
    assert understand(tools, tools.find("crash"), {"command": "x", "timeout": 600}).args["timeout"] == 600


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
        (b'{"jsonrpc": "2.0", "id": "u", "method": "tools/call", "params": {"name": "\\ud800"}}\n', -32600, ["u"]),
        (
            b'{"jsonrpc": "2.0", "id": "n", "method": "tools/call", "params": {"x": ' + b"9" * 5000 + b"}}\n",
            -32700,
            ["n"],
        ),
        (b'{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": ' + b"[" * 100_000 + b"\n", -32700, [6]),
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
        (("--project", "/nowhere\x1b[2J\x9b"), "--project /nowhere\\x1b[2J\\u009b: No such"),
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


@pytest.mark.long
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
    told: dict[str, list[dict[str, Any]]] = {"long": [], "short": []}
    said: dict[str, Any] = {}
    while not said or len(told["long"]) < 2:  # which goes on to tell it
        heard = line.hear()
        if heard.get("method") == "notifications/progress":
            told[heard["params"]["progressToken"]].append(heard["params"])
        else:
            said = heard
    assert said["id"] == "short"
    assert said["result"]["structuredContent"]["result"]["state"] == "running" and not said["result"]["isError"]
    for name, most in (("long", 25), ("short", 3.5)):  # however long was asked for
        assert {each["total"] for each in told[name]} == {most}
        gone_by = [0, *(each["progress"] for each in told[name])]
        assert gone_by == sorted(set(gone_by)) and len(gone_by) > 1, "ever more, as the protocol wants it"
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}
    line.send(json.dumps(cancel).encode() + b"\n")
    after = line.call("state")
    assert "the call of wait was cancelled; the program was left as it was" in after["content"][0]["text"]
    assert after["structuredContent"]["result"]["state"] == "running"
    assert "cancelled" not in line.call("state")["content"][0]["text"]
    # The SDK's server saw to the first call alone; what it put around that answer is around every other one.
    assert (after.keys(), after["_meta"]) == (started.keys(), started["_meta"])


@pytest.mark.long
async def test_a_wait_that_says_nothing_of_its_time_tells_that_it_goes_on_and_returns_before_clients_give_up(
    agent: Connect, tmp_path: Path
) -> None:
    """The default, waited out: the client's own limit is the only clock here."""
    (tmp_path / "spin.py").write_text(SPIN)
    heard: list[tuple[float, float | None] | str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async with agent() as client:
        await client.call_tool("launch", {"program": ["spin.py"], "timeout": 0})
        told = await client.call_tool(
            "go", {"how": "wait"}, read_timeout_seconds=CLIENT_SECONDS, progress_callback=progress
        )
        heard.append(told.structured_content["result"]["state"])
        assert not told.is_error
        assert heard[-1] == "running" and len(heard) > 2, "progress, more than once, and then the answer"
        times = [each[0] for each in heard[:-1] if not isinstance(each, str)]
        assert times == sorted(set(times)) and {each[1] for each in heard[:-1]} == {25}
        assert (await client.call_tool("state", {})).structured_content["result"]["state"] == "running"


def test_a_wait_is_cancelled_in_the_older_protocol_as_well(pipe: Any, tmp_path: Path) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    line: Pipe = pipe()

    def say(method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        line.send(json.dumps(message).encode() + b"\n")

    about = {"name": "hand", "version": "1"}
    say("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
    assert line.answer(1)["result"]["protocolVersion"] == "2025-11-25"
    say("notifications/initialized")
    say("tools/call", 2, name="launch", arguments={"program": ["spin.py"], "timeout": 0})
    assert line.answer(2)["result"]["structuredContent"]["result"]["state"] == "running"
    say("tools/call", 3, name="go", arguments={"how": "wait"}, _meta={"progressToken": "w"})
    while line.hear().get("method") != "notifications/progress":  # it is at it then
        pass
    say("notifications/cancelled", requestId=3)
    say("tools/call", 4, name="state", arguments={})
    after = line.answer(4)["result"]
    assert "the call of wait was cancelled; the program was left as it was" in after["content"][0]["text"]
    assert after["structuredContent"]["result"]["state"] == "running"


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
    odd = "\x9b2J\x7f\u202e"  # which steer a terminal: in no line that is sent, and exact in what it says
    assert two.call("eval", expressions=[f"print({odd!r})"])["structuredContent"]["result"]["output"] == odd + "\n"
    looking = [each.request("tools/call", name="state", arguments={}) for each in (one, two)]
    both = [each.answer(number)["result"] for each, number in zip((one, two), looking, strict=True)]
    assert [each["structuredContent"]["result"]["frame"]["line"] for each in both] == [told["frame"]["line"]] * 2
    assert one.call("go", how="continue", timeout=0)["structuredContent"]["result"]["state"] == "running"
    two.request("tools/call", name="go", arguments={"how": "wait"})
    two.process.kill()
    two.process.wait()
    assert one.call("state")["structuredContent"]["result"]["state"] == "running", "the one that is left goes on"
    assert "spin ended" in one.call("stop")["content"][0]["text"]


def test_an_evaluation_that_never_ends_goes_with_whoever_asked_for_it(pipe: Any, tmp_path: Path) -> None:
    """However long it was given: neither one that runs nor one that waits for its turn keeps the next client waiting."""
    (tmp_path / "count.py").write_text(COUNT)
    stays: Pipe = pipe()
    goes: Pipe = pipe()
    stays.call("launch", program=["count.py"], breaks=["count.py:3"])
    endless = {"expressions": ["print('at it', flush=True) or [1 for _ in iter(int, 1)]", "2"], "timeout": 600}
    since = {"part": "output", "since": "0.0.0.0", "kind": "stdout", "wait": True}
    silent = {"expressions": ["[1 for _ in iter(int, 1)]"], "timeout": 600}
    for each in (endless, silent):
        goes.request("tools/call", name="eval", arguments=each)
    told = goes.call("state", **since)["structuredContent"]["result"]
    assert told["stdout"] == "at it\n"
    goes.process.kill()
    goes.process.wait()
    assert stays.call("eval", expressions=["word"])["structuredContent"]["result"]["values"][0]["value"] == "'a'"
    # The same where it is cancelled.
    asked = stays.request("tools/call", name="eval", arguments=endless)
    other: Pipe = pipe()
    again = other.call("state", **{**since, "since": told["cursor"]})["structuredContent"]["result"]
    assert again["stdout"] == "at it\n"
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}}
    stays.send(json.dumps(cancel).encode() + b"\n")
    after = stays.call("eval", expressions=["word"])
    note = "note: the call of eval was cancelled; what it had begun in the program may be done all the same\n"
    assert after["content"][0]["text"].startswith(note)
    assert after["structuredContent"]["result"]["values"][0]["value"] == "'a'"
    assert "count ended" in stays.call("stop")["content"][0]["text"]


def test_a_start_that_is_cancelled_claims_no_program_and_leaves_no_build(pipe: Any, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    line: Pipe = pipe()
    asked = line.request("tools/call", name="launch", arguments={"program": ["count.py"], "build": "exec sleep 600"})
    building = eventually(lambda: _running("sleep", "600"), "it never came to that")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}}
    line.send(json.dumps(cancel).encode() + b"\n")
    after = line.call("state", part="sessions")
    note = "note: the call of launch was cancelled; a program that it had started by then was left as it was\n"
    assert after["content"][0]["text"].startswith(note) and after["structuredContent"]["result"]["sessions"] == []
    eventually(lambda: all(map(gone, building)), "the build went on for nobody")


def _running(*words: str) -> list[psutil.Process]:
    """Those of this test, not of another one like it."""
    return [each for each in marked(COOKIE, os.environ[COOKIE]) if set(words) <= set(command(each))]
