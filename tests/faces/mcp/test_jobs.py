"""The standard job over MCP, in both eras of the protocol and two languages, as an agent's client does it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from stillframe.faces.daemon.stack import JSON_SHARE

from ..conftest import CLIENT, SRC, call
from .conftest import COUNT, COUNT_JS, LEGACY, MODERN, Connect, text_of

JOB_CHARACTERS = 1500
RED = """\
import unittest
class Add(unittest.TestCase):
    def test_add(self):
        got = 1
        self.assertEqual(got, 2)
"""
WAITS = "import threading\nprint('up', flush=True)\nthreading.Event().wait()\n"


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
@pytest.mark.parametrize(("file", "text"), [("count.py", COUNT), ("count.js", COUNT_JS)])
async def test_the_standard_job_takes_four_calls_and_little_text(
    agent: Connect, tmp_path: Path, mode: str, file: str, text: str
) -> None:
    if file.endswith(".js") and shutil.which("node") is None:
        pytest.skip("no node here")
    (tmp_path / file).write_text(text)
    async with agent(mode=mode) as client:
        stop = await client.call_tool("launch", {"program": [file], "breaks": [f"{file}:3"]})
        assert stop.structured_content["result"]["frame"]["line"] == 3
        assert stop.structured_content["result"]["state"] == "stopped"
        looked = await client.call_tool("eval", {"expressions": ["word", "1 + 1"]})
        assert [each["value"] for each in looked.structured_content["result"]["values"]] == ["'a'", "2"]
        moved = await client.call_tool("go", {"how": "next", "count": 2})
        assert len(moved.structured_content["result"]["trail"]) == 2
        # What MCP launched is the command line's too.
        seen = json.loads(call("status", "--json", cwd=tmp_path).out)
        assert (seen["result"]["name"], seen["result"]["state"]) == ("count", "stopped")
        assert call("unbreak", "--all", cwd=tmp_path).code == 0
        ended = await client.call_tool("go", {})
        assert ended.structured_content["result"]["exit_code"] == 0
        told = [text_of(each) for each in (stop, looked, moved, ended)]
        assert sum(map(len, told)) <= JOB_CHARACTERS, told
        assert not any(each.is_error for each in (stop, looked, moved, ended))


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_answers_have_the_json_beside_the_text_whoever_asks_unless_the_text_alone_is_wanted(
    agent: Connect, mode: str
) -> None:
    for program, words, json_too in (
        ("mcp", (), True),
        ("claude-code", (), True),
        ("mcp", ("--answers", "both"), True),
        ("mcp", ("--answers", "text"), False),
    ):
        about = types.Implementation(name=program, version="1")
        async with agent(*words, mode=mode, client_info=about) as client:
            asked = ({"part": "sessions"}, {"part": "sessions"}, {"part": "stack"})  # the second takes the short way
            answers = [await client.call_tool("state", each) for each in asked]
            answers.append(await client.call_tool("state", {"at": "x" * 300_000}))  # and this one is never passed on
        assert [each.is_error for each in answers] == [False, False, True, True] and all(map(text_of, answers))
        assert [each.structured_content is not None for each in answers] == [json_too] * 4, (program, words)


async def test_what_the_command_line_started_is_there_over_mcp(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    assert call("launch", "count.py", "--break", "count.py:3", cwd=tmp_path).code == 0
    async with agent() as client, agent(mode=LEGACY) as other:
        here = await client.call_tool("state", {"part": "stack"})
        assert here.structured_content["session"] == "count"
        # The answer is the command line's own: its JSON, marked, and its text, between marks.
        assert here.structured_content == {**json.loads(call("stack", "--json", cwd=tmp_path).out), "untrusted": True}
        assert text_of(here).split("\n", 1)[1].rpartition("\n")[0] == call("stack", cwd=tmp_path).out.rstrip("\n")
        # Two clients on one session: what one does, the other sees.
        assert not (await other.call_tool("break", {"at": "count.py:7"})).is_error
        breaks = (await client.call_tool("state", {"part": "breaks"})).structured_content["result"]["breakpoints"]
        assert [each["id"] for each in breaks] == ["b1", "b2"]
        both = await client.call_tool("go", {"how": "step"})
        assert both.structured_content["result"]["state"] == "stopped"
        assert "count ended" in text_of(await other.call_tool("stop", {}))


@pytest.mark.long
async def test_sessions_help_and_shapes_are_resources_and_hunts_are_prompts(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    async with agent() as client:
        await client.call_tool("launch", {"program": "count.py", "breaks": "count.py:3", "name": "one"})
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert uris == ["dbg://sessions", "dbg://runs", "dbg://session/one"]
        status = json.loads((await client.read_resource("dbg://session/one")).contents[0].text)
        assert (status["result"]["state"], status["untrusted"]) == ("stopped", True)
        hits = json.loads((await client.read_resource("dbg://run/one/hits")).contents[0].text)
        assert len(hits["result"]["hits"]) == 1 and "count.py:3" in json.dumps(hits), hits
        told = await client.call_tool("record", {"part": "hits", "at": "count.py:3"})
        assert told.structured_content["result"]["hits"] == hits["result"]["hits"]
        assert json.loads((await client.read_resource("dbg://runs")).contents[0].text)["ok"] is True
        lines = (await client.read_resource("dbg://run/one/export")).contents[0].text.splitlines()
        assert json.loads(lines[0])["untrusted"] is True and any('"count.py"' in line for line in lines)
        with pytest.raises(MCPError, match="no run nope"):
            await client.read_resource("dbg://run/nope/export")
        assert (await client.read_resource("dbg://help/break")).contents[0].text == call("help", "break").out
        schema = json.loads((await client.read_resource("dbg://schema/continue")).contents[0].text)
        assert set(schema["$defs"]) >= {"Stop", "Running", "Exited", "Lost"}
        await client.call_tool("eval", {"expressions": ["print('seen so far')"]})
        printed = json.loads((await client.read_resource("dbg://session/one/output")).contents[0].text)
        assert (printed["result"]["stdout"], printed["untrusted"]) == ("seen so far\n", True)
        await client.call_tool("stop", {})
        traced = (await client.call_tool("trace", {"at": "add"})).structured_content["result"]
        assert (traced["verdict"], traced["assumed"]) == ("traced", True), "of what was launched here"
        beside = "exec sleep 600"  # what ends of itself is waited for a moment only
        well = await client.call_tool("crash", {"command": ["python3", "count.py"], "do": beside})
        assert well.structured_content["result"]["verdict"] == "ended well"
        assert well.structured_content["result"]["end"]["do"][0]["command"] == beside
        lone = await client.call_tool("crash", {"command": ["count.py"]})
        assert "the file of that name here is given as `program`" in text_of(lone)
        probed = await client.call_tool("probe", {"places": ["count.py:3"], "expect": ["len(word) < 2"], "budget": 240})
        assert "len(word) < 2: held 4 times" in text_of(probed)
        assert "(hold keeps it live)" in text_of(probed), "in the words of whoever asked"
        assert len(text_of(probed)) <= 240
        (tmp_path / "test_add.py").write_text(RED)
        red = await client.call_tool("test", {"selector": "test_add.py", "runner": "unittest", "once": True})
        told = red.structured_content["result"]
        assert (told["verdict"], told["failures"][0]["line"], told["counts"]["failed"]) == ("red", 5, 1)
        assert "self.assertEqual(got, 2)    got=1" in text_of(red)
        (tmp_path / "wait.py").write_text(WAITS)
        hung = await client.call_tool("hang", {"command": ["python3", "wait.py"], "ready": "up", "timeout": 0})
        (group,) = hung.structured_content["result"]["groups"]
        assert (group["names"], group["stack"]["frames"][0]["file"]) == (["MainThread"], "wait.py")
        tools = [each.name for each in (await client.list_tools()).tools]
        hunts = (await client.list_prompts()).prompts
        assert [each.name for each in hunts] == [
            "wrong-value", "crash", "red-test", "which-iteration", "request", "hang",
        ]  # fmt: skip
        for hunt in hunts:
            given = {each.name: f"my {{odd}} {each.name}" for each in hunt.arguments}
            told = (await client.get_prompt(hunt.name, given)).messages[0].content.text
            assert all(each in told for each in given.values()), told
            begins = re.search(r"^(?:1\. )?(\w+) with ", told, re.MULTILINE)
            assert begins and begins[1] in tools, "the one call to begin with"


MUCH = """\
globals().update((f"name{number}", number) for number in range(300))
def fail():
    raise ValueError("long " * 1000)
print("held")
"""


async def test_the_words_of_help_are_understood_over_mcp_listed_or_not(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "count.py").write_text(COUNT)
    async with agent("--tools", "launch,state,stop") as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["launch", "state", "stop"]
        wrong = await client.call_tool("launch", {"program": ["count.py"]})
        assert (wrong.is_error, wrong.structured_content["error"]["code"]) == (True, "launch_failed")
        held = await client.call_tool(
            "launch", {"program": ["count.py"], "stop_on_entry": True, "project": "deep", "budget": 300}
        )
        assert held.structured_content["result"]["frame"]["line"] == 1
        # The project is kept for the calls that follow.
        source = await client.call_tool("state", {"part": "source", "at": "count.py:6"})
        assert "add(word)" in text_of(source)


async def test_a_reply_has_no_more_than_its_budget_marks_and_failures_included(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "much.py").write_text(MUCH)
    (tmp_path / "stillframe.toml").write_text("budget = 400\n")
    async with agent() as client:
        await client.call_tool("launch", {"program": ["much.py"], "breaks": ["much.py:4"]})
        for budget in (150, 300, 500):
            held = await client.call_tool("state", {"budget": budget})
            assert budget - 28 < len(text_of(held)) <= budget and "much.py:4" in text_of(held)
            said = json.dumps(held.structured_content, separators=(",", ":"))
            assert len(said) <= JSON_SHARE * budget + len(',"untrusted":true'), "the JSON beside it, too"
            assert held.structured_content["result"]["frame"]["line"] == 4
            failed = await client.call_tool("eval", {"expressions": ["fail()"], "budget": budget})
            assert failed.is_error and "ValueError" in text_of(failed) and len(text_of(failed)) <= max(budget, 180)
            assert text_of(failed).startswith("error eval_failed: <data-") and "</data-" in text_of(failed)
        # What a next step would repeat is the caller's, and may be of any length.
        for word in ("x" * 50_000, "x" * 600):
            failed = await client.call_tool("crash", {"command": ["python3", "muhc.py", word], "budget": 300})
            assert failed.is_error and "there is much.py" in text_of(failed) and len(text_of(failed)) <= 300
            assert len(str(failed.structured_content)) < 2000
        unsaid = await client.call_tool("state", {})
        assert 372 < len(text_of(unsaid)) <= 400  # what the project's settings say


async def test_a_session_that_comes_up_is_told_as_a_change_of_the_resources_in_both_eras(
    agent: Connect, tmp_path: Path
) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    heard = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceListChangedNotification):
            heard.set()

    async with agent(mode=LEGACY, message_handler=hear) as client:
        capabilities = client.server_capabilities
        assert (capabilities.resources.list_changed, capabilities.tools.list_changed) == (True, False)
        await client.call_tool("launch", {"program": ["count.py"], "breaks": ["count.py:3"]})
        async with asyncio.timeout(60):
            await heard.wait()
        heard.clear()
        await client.call_tool("state", {})
        assert not heard.is_set()
    async with agent() as client, client.listen(resources_list_changed=True) as changes:
        await client.call_tool("state", {})
        async with asyncio.timeout(60):
            await anext(aiter(changes))


def _loaded_with(flag: str, module: str) -> set[str]:
    code = f"import sys; sys.path.insert(0, {str(SRC)!r}); import {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, flag, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.long
def test_the_command_loads_nothing_of_mcp_and_the_host_nothing_of_the_debugger() -> None:
    """Somebody waits for either to start."""
    loaded = _loaded_with("-IS", "stillframe.faces.cli.mcp_verb")
    assert not loaded & {"mcp", "os", "json", "socket", "re", "typing", "asyncio"}
    assert CLIENT[0] == sys.executable
    loaded = _loaded_with("-I", "stillframe.faces.mcp.serve")
    assert "mcp" in loaded
    theirs = ("ops", "session", "backends", "adapters", "record", "dispatch", "transport")
    assert not loaded & {"sqlite3", *(f"stillframe.{name}" for name in theirs)}
