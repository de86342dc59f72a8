"""Every code of an error, provoked for real over one connection: a tool error that says what to do next, and everything else
goes on."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp.client import Client

from stillframe.errors import BY_CODE
from stillframe.ops.next_steps import SAYS_IT_ITSELF
from stillframe.settings import directory

from ...guard import eventually, gone
from ..conftest import DEADLINE, call
from .conftest import COUNT, Connect, text_of

FAKE = Path(__file__).parents[2] / "fakes" / "adapter.py"
FOREVER = """\
#include <stdio.h>
int forever(void) { puts("in"); fflush(stdout); for (;;) ; return 1; }
int main(int argc, char **argv) { int kept = argc; if (kept > 5) forever(); return 0; }
"""


class Walk:
    """Wrong calls over one connection, and the codes that were met."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.met: set[str] = set()

    async def fails(self, code: str, step: str, tool: str, **arguments: Any) -> str:
        """Make a call that fails with this code; its text, which ends with this next step (none: without one)."""
        told = await asyncio.wait_for(self.client.call_tool(tool, arguments), DEADLINE)
        return self.heard(told, code, step)

    def heard(self, told: Any, code: str, step: str) -> str:
        text = text_of(told)
        assert told.is_error and told.structured_content["error"]["code"] == code, text
        assert text.startswith(f"error {code}: "), text
        assert text.partition("\ntry: ")[2] == step, text
        assert ("hint" in told.structured_content["error"]) == bool(step), told.structured_content
        self.met.add(code)
        return text

    async def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told = await asyncio.wait_for(self.client.call_tool(tool, arguments), DEADLINE)
        assert not told.is_error, text_of(told)
        found: dict[str, Any] = told.structured_content["result"]
        return found

    async def others_go_on(self) -> None:
        """The connection answers, and so does the session beside the one that failed."""
        found = await self.does("eval", expressions=["word"], session="other")
        assert [each["value"] for each in found["values"]] == ["'a'"]


def declare(**scripts: dict[str, Any] | None) -> None:
    """Debug adapters of the user's own, each for files that end in its name; without a script one that is not installed."""
    tables = []
    for name, script in scripts.items():
        words = ["no-such-debugger"] if script is None else [sys.executable, "-S", str(FAKE), json.dumps(script)]
        tables.append(f"[adapters.{name}]\ncommand = {json.dumps(words)}\ntransport = 'stdio'\nclaims = ['*.{name}']\n")
    file = directory("config") / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(tables))


@pytest.mark.long
@pytest.mark.own_daemon
async def test_every_code_is_a_tool_error_with_its_next_step_and_the_connection_and_other_sessions_go_on(
    agent: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    monkeypatch.setenv("STILLFRAME_REQUEST_TIMEOUT", "3")
    declare(junk={"evaluate": [{"raw": "Content-Length: -1\r\n\r\n{"}]}, absent=None)
    (tmp_path / "sub").mkdir()
    for name in ("count.py", "sub/deep.py"):
        (tmp_path / name).write_text(COUNT)
    for name in ("a.junk", "a.absent"):
        (tmp_path / name).write_text("1\n2\n3\n")
    (tmp_path / "forever.c").write_text(FOREVER)
    async with agent("--tools", "core,disasm,save") as client:
        walk = Walk(client)
        await walk.does("launch", program=["count.py"], breaks=["count.py:3"], name="other")
        await wrong_words(walk)
        await wrong_moments(walk)
        await debuggers_that_fail(walk, tmp_path)
        await a_disk_that_takes_nothing(walk)
        async with agent("--allow", "read") as reader:
            said = await Walk(reader).fails("denied", "", "launch", program=["count.py"])
            assert "grants it by dbg mcp --allow exec" in said
        walk.met.add("denied")
        await a_daemon_that_dies(walk)
    assert walk.met == set(BY_CODE)


async def wrong_words(walk: Walk) -> None:
    """What is not there is told with what is: the same call with that."""
    assert set(SAYS_IT_ITSELF) == {"usage", "denied"}
    await walk.fails("usage", "", "go", how="backwards")
    deep = 'launch {"program": ["sub/deep.py"], "breaks": ["count.py:3"]}'
    await walk.fails("launch_failed", deep, "launch", program=["deep.py"], breaks=["count.py:3"])
    near = 'crash {"command": ["python3", "count.py"]}'
    await walk.fails("launch_failed", near, "crash", command=["python3", "cuont.py"])
    mended = "once what is amiss there is put right"
    await walk.fails(
        "launch_failed", f"crash again, {mended}", "crash", command=["python3", "neither/here/nor_there.py"]
    )
    await walk.fails("launch_failed", f"attach again, {mended}", "attach", address="127.0.0.1:1")
    await walk.fails("not_found", f"attach again, {mended}", "attach", pid=2**30)
    await walk.fails("adapter_missing", "dbg doctor (on the command line)", "launch", program=["a.absent"])
    await walk.fails("no_session", 'state {"part": "sessions"}', "state", session="nobody")
    await walk.fails("busy", 'stop {"session": "other"}', "launch", program=["count.py"], name="other")
    await walk.others_go_on()


async def wrong_moments(walk: Walk) -> None:
    """In the session that was named, though another may be the one that calls without a name mean."""
    there = {"session": "other"}
    await walk.does("launch", program=["count.py"], breaks=["count.py:4"], name="second")
    await walk.fails("eval_failed", 'state {"part": "locals"}', "eval", expressions=["nope"])
    outer = 'state {"part": "locals", "frame": "f1", "session": "other"}'
    await walk.fails("eval_failed", outer, "eval", expressions=["nope"], frame="f1", **there)
    longer = 'eval {"expressions": ["[1 for _ in iter(int, 1)]"], "timeout": 30}'
    await walk.fails("eval_failed", longer, "eval", expressions=["[1 for _ in iter(int, 1)]"], timeout=0.5)
    await walk.fails("not_found", 'state {"part": "stack"}', "state", part="locals", frame="f77")
    await walk.fails("not_found", 'state {"part": "locals", "hit": "h1"}', "state", part="expand", value="h1.v99")
    named = 'state {"part": "expand", "value": "word", "hit": "h1"}'
    await walk.fails("not_found", named, "state", part="expand", value="h1.word")
    assert (await walk.does("state", part="locals", hit="h1"))["values"][0]["name"] == "word"
    await walk.does("eval", expressions=["list(range(1000))"])
    await walk.does("go", how="next")
    await walk.fails("stale_handle", "state", "state", part="expand", value="v1")
    await walk.does("stop", session="second")
    again = 'stop {"how": "restart", "session": "second"}'
    await walk.fails("wrong_state", again, "go", how="next", session="second")
    await walk.fails("unsupported", 'raw {"session": "other"}', "disasm", **there)
    await walk.others_go_on()


async def debuggers_that_fail(walk: Walk, here: Path) -> None:
    """One that talks junk; gdb that is killed in the middle of a call, and gdb that is stopped in one."""
    await walk.does("launch", program=["a.junk"], name="junk")
    await walk.fails("protocol_error", 'stop {"how": "restart"}', "eval", expressions=["x"])
    await walk.others_go_on()
    for how, code, step in (
        (signal.SIGKILL, "adapter_died", 'stop {"how": "restart"}'),
        (signal.SIGSTOP, "adapter_unresponsive", "stop"),
    ):
        name = f"native-{how.name.lower()}"
        await walk.does("launch", program=["forever.c"], breaks=["main"], adapter="gdb", name=name)
        pid = json.loads(call("status", "--json", "--session", name, cwd=here).out)["result"]["pid"]
        debugger = psutil.Process(pid).parent()
        asking = asyncio.create_task(walk.client.call_tool("eval", {"expressions": ["forever()"], "timeout": 1}))
        said = await walk.does("state", part="output", since="0.0.0.0", kind="stdout", wait=True, session=name)
        assert said["stdout"] == "in\n", "it is at work"
        debugger.send_signal(how)
        walk.heard(await asyncio.wait_for(asking, DEADLINE), code, step)
        await walk.others_go_on()
        await walk.does("stop", session=name)
        eventually(lambda gdb=debugger: gone(gdb), "the debugger is still there")
    await walk.others_go_on()


async def a_disk_that_takes_nothing(walk: Walk) -> None:
    pid = int((Path(os.environ["XDG_RUNTIME_DIR"]) / "stillframe" / "daemon.pid").read_text().split()[0])
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    await walk.fails("store_full", "save again, once that is put right", "save", name="kept", run="r1")
    await walk.others_go_on()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    await walk.does("save", name="kept", run="r1")


async def a_daemon_that_dies(walk: Walk) -> None:
    pid = int((Path(os.environ["XDG_RUNTIME_DIR"]) / "stillframe" / "daemon.pid").read_text().split()[0])
    endless = {"expressions": ["print('at it', flush=True) or [1 for _ in iter(int, 1)]"], "session": "other"}
    asking = asyncio.create_task(walk.client.call_tool("eval", endless))
    said = await walk.does("state", part="output", since="0.0.0.0", kind="stdout", wait=True, session="other")
    assert said["stdout"] == "at it\n"
    os.kill(pid, signal.SIGKILL)
    walk.heard(await asyncio.wait_for(asking, DEADLINE), "internal", 'state {"part": "sessions"}')
    listed = {each["name"]: each["state"] for each in (await walk.does("state", part="sessions"))["sessions"]}
    assert listed["other"] == "lost", listed
    await walk.fails("no_session", 'stop {"how": "restart", "session": "other"}', "eval", expressions=["1"])
