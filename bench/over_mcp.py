"""The standard job over MCP: by hand over the pump's pipes, and by the SDK's client. The own time of either is what it takes,
beside the server's time, with one that answers the same after as long a time without doing anything for it, in the same run."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from .bare import STEPS
from .subjects import Subject

ERA = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": ERA, "io.modelcontextprotocol/clientCapabilities": {}}


class OverMcp:
    """`dbg mcp` as an agent starts it, on the daemon that the command line uses, too."""

    def __init__(self, folder: Path) -> None:
        self._env = {
            **os.environ,
            "STILLFRAME_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self._words = [str(Path(sys.executable).with_name("dbg")), "mcp", "--project", str(Path(__file__).parent)]
        self._pump = self._start()
        self._number = 0

    def _start(self, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._words, env=env or self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, pump: subprocess.Popen[bytes], method: str, **params: Any) -> dict[str, Any]:
        assert pump.stdin is not None and pump.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": META}}
        pump.stdin.write(json.dumps(message).encode() + b"\n")
        pump.stdin.flush()
        found: dict[str, Any] = json.loads(pump.stdout.readline())["result"]
        return found

    def _call(self, tool: str, **arguments: Any) -> str:
        found = self._ask(self._pump, "tools/call", name=tool, arguments=arguments)
        assert not found.get("isError"), found
        text: str = found["content"][0]["text"]
        return text

    def _steps(self, server: subprocess.Popen[bytes]) -> tuple[float, dict[str, Any]]:
        """Steps one by one: the middle of what they took, and what the last one was answered."""
        taken = []
        for _ in range(STEPS):
            began = time.perf_counter()
            found = self._ask(server, "tools/call", name="go", arguments={"how": "next"})
            taken.append((time.perf_counter() - began) * 1000 - found["_meta"].get("took", 0.0))
            assert not found.get("isError"), found
        return statistics.median(taken), found

    def _own(self, answer: dict[str, Any], moment: float) -> float:
        words = canned(moment, json.dumps({name: part for name, part in answer.items() if name != "_meta"}), "{}")
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            self._ask(server, "tools/list")  # it is up then
            own, _ = self._steps(server)
            server.communicate()
        return own

    def job(self, subject: Subject) -> dict[str, float]:
        """The standard job in four calls; then its steps one by one, in a second run."""
        start = {"program": [str(subject.program)], "breaks": [f"{subject.source}:{subject.line}"]}
        if subject.python:
            start["python"] = subject.python  # type: ignore[assignment]
        told = [
            self._call("launch", **start),
            self._call("eval", expressions=[subject.look]),
            self._call("go", how="next", count=STEPS),
            self._call("go"),
        ]
        self._call("launch", **start)
        step, answer = self._steps(self._pump)
        self._call("stop")
        by_sdk, sdk_own = asyncio.run(self._by_sdk(start, step / 1000))
        return {
            "step": step,
            "own": self._own(answer, step / 1000),
            "characters": float(sum(map(len, told))),
            "sdk step": by_sdk,
            "sdk own": sdk_own,
        }

    async def _by_sdk(self, start: dict[str, Any], moment: float) -> tuple[float, float]:
        """Milliseconds of a step by the SDK's client, and what of it that client takes for itself."""
        server = StdioServerParameters(command=self._words[0], args=self._words[1:], env=self._env)
        async with Client(server, mode=ERA) as client:
            await client.call_tool("launch", start)
            tools = await client.list_tools()
            steps, last = await _timed(client)
            await client.call_tool("stop", {})
        said = [each.model_dump_json(by_alias=True, exclude_none=True, exclude={"meta"}) for each in (last, tools)]
        command, *words = canned(moment, *said)
        async with Client(StdioServerParameters(command=command, args=words), mode=ERA) as client:
            own, _ = await _timed(client)
        return steps, own

    def first_list(self) -> float:
        """From the start of the command to its list of tools."""
        began = time.perf_counter()
        pump = self._start()
        self._ask(pump, "tools/list")
        took = (time.perf_counter() - began) * 1000
        pump.communicate()
        return took

    def first_list_from_nothing(self) -> float:
        """The same where neither the host of MCP nor the daemon runs: in a place of its own, which is left as it was found."""
        with tempfile.TemporaryDirectory(prefix="stillframe-") as folder:
            env = {**self._env, "STILLFRAME_RUNTIME_DIR": f"{folder}/run", "XDG_STATE_HOME": f"{folder}/state"}
            began = time.perf_counter()
            pump = self._start(env)
            self._ask(pump, "tools/list")
            took = (time.perf_counter() - began) * 1000
            pump.communicate()
            subprocess.run([self._words[0], "daemon", "stop"], env=env, check=True, stdout=subprocess.DEVNULL)
        return took

    def close(self) -> None:
        self._pump.communicate()


def canned(moment: float, answer: str, tools: str) -> list[str]:
    """The command of a server that says these after so many seconds."""
    return [sys.executable, "-IS", str(Path(__file__).with_name("canned_mcp.py")), str(moment), answer, tools]


async def _timed(client: Client) -> tuple[float, CallToolResult]:
    """Steps one by one: the middle of what they took, and what the last one was answered."""
    taken = []
    for _ in range(STEPS):
        began = time.perf_counter()
        last = await client.call_tool("go", {"how": "next"})
        taken.append((time.perf_counter() - began) * 1000 - (last.meta or {}).get("took", 0.0))
        assert not last.is_error, last
    return statistics.median(taken), last
