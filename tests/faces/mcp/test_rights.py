"""What a client may do over MCP: tools of one class each, hints that are true, refusals by the daemon, questions, the log."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from stillframe.faces.mcp.toolset import CLASSES, toolset
from stillframe.model.host import in_question
from stillframe.ops import load_all
from stillframe.registry import OPERATIONS, Access

from ..conftest import call
from .conftest import COUNT, LEGACY, META, MODERN, Connect, Pipe, text_of

LIST_CHARACTERS = 6000

load_all()


TABLE = {
    Access.READ: """sessions status use capabilities tool breaks output events hits hit-diff hit-trend diff history replay
        doctor adapters config configs""",
    Access.INSPECT: """state wait stack frame locals scopes expand threads thread source modules sources exception disasm
        memory registers cross""",
    Access.CONTROL: """break unbreak enable disable catch watch break-insn continue next step finish until jump step-back
        reverse-continue restart-frame pause cancel detach stop restart save export import prune""",
    Access.EXEC: """launch attach eval set set-return hotpatch input raw request probe crash test trace hang setup install
        uninstall trust""",
}
"""What was agreed on: a verb that is new, or declared otherwise, has to be thought of here."""
RUNS_CODE = {"do", "condition", "log", "write"}


def test_every_verb_has_the_class_that_was_agreed_on_and_what_runs_code_is_exec() -> None:
    agreed = {verb: access for access, verbs in TABLE.items() for verb in verbs.split()}
    assert {verb: operation.access for verb, operation in OPERATIONS.items()} == agreed
    for verb, operation in OPERATIONS.items():
        for field in operation.fields:
            if field.name in RUNS_CODE:
                assert max(operation.access, field.param.access or Access.READ) is Access.EXEC, (verb, field.name)


@pytest.mark.parametrize("asked", ["core", "all"])
@pytest.mark.parametrize("allow", CLASSES)
def test_every_tool_has_one_class_and_hints_that_are_true_of_all_that_it_takes(asked: str, allow: str) -> None:
    for tool in toolset(asked, allow):
        assert CLASSES.index(tool.access) <= CLASSES.index(allow)
        for verb in tool.verbs:
            operation = OPERATIONS[verb]
            for name in tool.fields[verb]:
                field = operation.field(name)
                assert field is not None
                needed = max(operation.access, field.param.access or Access.READ)
                assert needed <= Access[tool.access.upper()], (tool.name, verb, name)
            if tool.read_only:
                assert operation.access <= Access.INSPECT
            if operation.access is Access.EXEC:
                assert tool.destructive


async def test_a_tool_whose_usual_verb_is_not_allowed_does_nothing_else_in_its_place(
    agent: Connect, tmp_path: Path
) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    async with agent() as owner, agent("--allow", "inspect") as looker, agent("--allow", "read") as reader:
        await owner.call_tool("launch", {"program": "count.py", "stop_on_entry": True})
        (go,) = [each for each in (await looker.list_tools()).tools if each.name == "go"]
        assert (
            go.input_schema["required"] == ["how"]
            and go.description == "Return at the next stop or at the end, or say that it is running."
        )
        for arguments in ({}, {"how": "continue"}, {"how": "cont"}):
            told = await looker.call_tool("go", arguments)
            assert (
                told.is_error
                and "go how=continue needs control, and only inspect is allowed here (how may be wait)" in text_of(told)
            )
        assert "count stopped" in text_of(await looker.call_tool("go", {"how": "wait"}))
        told = await reader.call_tool("state", {})
        assert (
            told.is_error
            and "state part=state needs inspect, and only read is allowed here (part may be output or " in text_of(told)
        )
        await owner.call_tool("stop", {})


def test_every_verb_is_in_a_tool_and_every_parameter_too() -> None:
    tools = list(toolset("all"))
    for verb, operation in OPERATIONS.items():
        mine = [tool for tool in tools if verb in tool.verbs]
        taken = {name for tool in mine for name in tool.fields[verb]}
        assert taken == {field.name for field in operation.fields}, verb


def test_the_default_set_can_be_had_with_some_more_tools() -> None:
    core = [tool.name for tool in toolset("core")]
    assert [tool.name for tool in toolset("core,export, eval")] == [*core, "export"]


async def test_the_list_is_short_and_says_nothing_of_shapes_unless_asked(agent: Connect) -> None:
    for mode in (LEGACY, MODERN):
        async with agent(mode=mode) as client:
            tools = await client.list_tools()
            assert "session" in tools.tools[-1].input_schema["properties"]
            assert len(tools.model_dump_json(by_alias=True, exclude_none=True)) <= LIST_CHARACTERS
            assert all(tool.output_schema is None for tool in tools.tools)
            hints = {tool.name: tool.annotations for tool in tools.tools}
            assert hints["state"].read_only_hint is True
            assert (hints["go"].read_only_hint, hints["go"].destructive_hint) == (None, False)
            assert all(hints[name].destructive_hint for name in ("launch", "eval", "break_if", "go_do", "raw", "stop"))
    async with agent("--schemas") as client:
        found = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert set(found["go"]["$defs"]) >= {"Stop", "Exited"}
        # An answer that fails fits its schema as well; the SDK's client checks it.
        assert (await client.call_tool("go", {})).is_error


async def test_a_reading_client_reaches_no_code_that_runs(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    assert call("launch", "count.py", "--break", "count.py:3", cwd=tmp_path).code == 0
    async with agent("--allow", "read,inspect", "--tools", "all") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"state", "locals", "wait", "memory"} <= names
        assert not names & {"launch", "eval", "continue", "break", "stop", "memory_write", "wait_do", "set", "raw"}
        assert "word" in text_of(await client.call_tool("locals", {}))
        for name, arguments in (
            ("eval", {"expressions": ["1"]}),
            ("wait", {"do": "true"}),
            ("memory", {"where": "0", "write": "00"}),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error and "dbg mcp --allow exec" in text_of(refused), text_of(refused)
        refused = await client.call_tool("eval", {"expressions": ["1"]})
        assert refused.structured_content["error"]["code"] == "denied"
        assert text_of(refused).startswith("error denied: eval needs exec, and only inspect is allowed here")
        assert "there is no tool" in text_of(await client.call_tool("evil", {}))
    async with agent("--allow", "control") as client:
        for name, arguments, way in (
            ("break", {"at": "count.py:3 if 1"}, "dbg mcp --allow exec"),
            (
                "break",
                {"at": "count.py:3", "condition": "1"},
                "error denied: break how=break has no parameter condition here: it needs exec",
            ),
            ("go", {"do": "true"}, "has no parameter do here: it needs exec, which dbg mcp --allow exec grants"),
            ("launch", {"program": ["count.py"]}, "launch needs exec, and only control is allowed here"),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error and way in text_of(refused), text_of(refused)
    async with agent() as client:
        other = await client.call_tool("break", {"at": "count.py:3 if 1"})
        assert (other.is_error, other.structured_content["error"]["code"]) == (True, "denied")
        assert "break_if" in text_of(other)
        assert "break_if" in text_of(await client.call_tool("break", {"at": "count.py:3", "condition": "1"}))
        assert not (await client.call_tool("break_if", {"at": "count.py:4", "condition": "word == 'b'"})).is_error


@pytest.mark.long
@pytest.mark.own_daemon
async def test_what_runs_code_is_written_down_made_or_refused(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    async with agent() as client:
        await client.call_tool("launch", {"program": ["count.py"], "breaks": ["count.py:3"], "env": ["TOKEN=hush"]})
        await client.call_tool("state", {})
        await client.call_tool("eval", {"expressions": ["word", "login(password='hush')"]})
        await client.call_tool("break_if", {"at": "count.py:4", "log": "{word}"})
        await client.call_tool("break", {"at": "count.py:4"})  # which runs no code of the caller's
    assert call("install", "claude", "--dry-run", cwd=tmp_path).code == 0  # in its own process
    assert call("eval", "1", "--allow", "control", cwd=tmp_path).code == 7
    async with agent("--ask", "exec") as client:  # which nobody can be
        assert "cannot ask" in text_of(await client.call_tool("eval", {"expressions": ["2"]}))
    async with agent("--allow", "control") as client:
        for name, arguments in (
            ("eval", {"expressions": ["3"]}),
            ("break", {"at": "count.py:3", "condition": "4"}),
            ("go", {"how": "next", "do": "true"}),
            ("break", {"at": "count.py:3 if 5"}),
            ("break", {"nothing": "that there is"}),
        ):
            assert (await client.call_tool(name, arguments)).is_error
    check_log(Path(os.environ["XDG_STATE_HOME"], "stillframe", "audit.log"))


def check_log(log: Path) -> None:
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["op"], each.get("refused", False)) for each in entries] == [
        ("launch", False), ("eval", False), ("break", False), ("install", False), ("eval", True), ("eval", True),
        ("eval", True), ("break", True), ("next", True), ("break", True),
    ]  # fmt: skip
    assert entries[0]["client"].startswith("mcp:")
    assert (entries[0]["args"]["env"], entries[1]["args"]["expressions"]) == (
        ["TOKEN"],
        ["word", "login(password='[redacted: named password]')"],
    )
    assert "hush" not in log.read_text()


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
@pytest.mark.parametrize("answer", ["accept", "decline"])
async def test_a_client_that_wants_to_be_asked_is_asked_before_code_runs(
    agent: Connect, tmp_path: Path, mode: str, answer: Any
) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    asked: list[str] = []

    async def ask(context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        asked.append(params.message)
        if answer is None:
            return types.ErrorData(code=-32000, message="no screen")
        return types.ElicitResult(action=answer, content={} if answer == "accept" else None)

    # The wish is that of whoever started the server, or of the project's settings, which the daemon keeps.
    wish = ("--ask", "exec") if (mode == MODERN) == (answer == "accept") else ()
    (tmp_path / "stillframe.toml").write_text("" if wish else 'ask = "exec"\n')
    async with agent(*wish, mode=mode, elicitation_callback=ask) as client:
        assert not (await client.call_tool("state", {"part": "sessions"})).is_error
        assert asked == []
        told = await client.call_tool("launch", {"program": ["count.py"], "breaks": ["count.py:3"]})
        assert len(asked) == 1 and "launch" in asked[0] and "count.py" in asked[0]
        if answer == "accept":
            assert told.structured_content["result"]["state"] == "stopped"
            return
        assert told.is_error and "error denied: launch was not agreed to: it needs exec, which is asked" in text_of(
            told
        )
        if mode == LEGACY:
            answer = None  # the client fails at asking, which is no failure of the protocol
            told = await client.call_tool("launch", {"program": ["count.py"]})
            assert told.is_error and "the client could not ask (no screen)" in text_of(told)


def test_a_question_shows_what_stands_at_the_end_of_a_long_call() -> None:
    assert in_question("x" * 800) == "x" * 800
    shown = in_question("eval " + "0, " * 5000 + "danger()")
    assert shown.startswith("eval 0, ") and shown.endswith("danger()") and len(shown) < 900
    assert "[… 14,213 characters are not shown here …]" in shown


def test_a_client_that_cannot_ask_is_refused_with_the_way_out(pipe: Any) -> None:
    line: Pipe = pipe("--ask", "control")
    refused = line.call("stop")
    said = refused["content"][0]["text"]
    assert refused["isError"] and "stop needs control, which is asked about first, and this client cannot ask; " in said


async def test_what_is_asked_about_is_not_to_be_had_by_reading_a_resource(agent: Connect, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    assert call("launch", "count.py", "--name", "one", "--break", "count.py:3", cwd=tmp_path).code == 0
    async with agent("--ask", "control") as client:
        assert json.loads((await client.read_resource("dbg://session/one")).contents[0].text)["ok"] is True
        with pytest.raises(MCPError, match="export needs control, which is asked about here"):
            await client.read_resource("dbg://run/one/export")
    async with agent("--ask", "read") as client:
        assert [str(each.uri) for each in (await client.list_resources()).resources] == ["dbg://sessions", "dbg://runs"]
        with pytest.raises(MCPError, match="sessions needs read, which is asked about here"):
            await client.read_resource("dbg://sessions")


def test_a_client_that_only_opens_pages_cannot_ask_by_a_form(pipe: Any) -> None:
    line: Pipe = pipe("--ask", "control")
    for can, told in (({"url": {}}, "cannot ask"), ({"url": {}, "form": {}}, ""), ({}, "")):
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": can}}
        params = {"name": "stop", "arguments": {}, "_meta": meta}
        line.send(json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params}).encode() + b"\n")
        said = line.answer("x")["result"]
        assert (told in said["content"][0]["text"]) if told else "inputRequests" in said, said


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_to_go_to_another_project_lifts_nothing(agent: Connect, tmp_path: Path, mode: str) -> None:
    """What the settings refuse or want asked where a client was started, or where a session runs, holds elsewhere, too."""
    for folder in (tmp_path, tmp_path / "other"):
        folder.mkdir(exist_ok=True)
        (folder / "pyproject.toml").write_text("")
        (folder / "count.py").write_text(COUNT)
    asked: list[str] = []

    async def agree(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={})

    away = {"program": ["count.py"], "breaks": ["count.py:3"], "project": "other", "name": "away"}
    (tmp_path / "stillframe.toml").write_text('allow = "inspect"\n')
    async with agent(mode=mode, elicitation_callback=agree) as client:
        refused = await client.call_tool("launch", away)
        assert f"`allow` in the settings of {tmp_path}, now inspect, grants it" in text_of(refused)
        (tmp_path / "stillframe.toml").write_text('ask = "exec"\n')
        assert not (await client.call_tool("launch", away)).is_error
        assert len(asked) == 1
        (tmp_path / "stillframe.toml").write_text("")
        (tmp_path / "other" / "stillframe.toml").write_text('ask = "exec"\n')
        word = {"expressions": ["word"], "session": "away", "project": str(tmp_path)}
        assert "word = 'a'" in text_of(await client.call_tool("eval", word)), "known to the daemon alone"
        assert len(asked) == 2 and "eval" in asked[1]
