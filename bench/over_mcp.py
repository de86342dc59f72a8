"""The standard job over MCP, by hand over the pump's pipes, so that no client's own time is in it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .bare import STEPS
from .subjects import Subject

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class OverMcp:
    """`dbg mcp` as an agent starts it, on the daemon that the command line uses, too."""

    def __init__(self, folder: Path) -> None:
        self._env = {
            **os.environ,
            "STILLFRAME_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self._pump = self._start()
        self._number = 0

    def _start(self) -> subprocess.Popen[bytes]:
        words = [str(Path(sys.executable).with_name("dbg")), "mcp", "--project", str(Path(__file__).parent)]
        return subprocess.Popen(words, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, pump: subprocess.Popen[bytes], method: str, **params: Any) -> dict[str, Any]:
        assert pump.stdin is not None and pump.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": META}}
        pump.stdin.write(json.dumps(message).encode() + b"\n")
        pump.stdin.flush()
        found: dict[str, Any] = json.loads(pump.stdout.readline())["result"]
        return found

    def _call(self, tool: str, **arguments: Any) -> tuple[float, str, dict[str, Any]]:
        began = time.perf_counter()
        found = self._ask(self._pump, "tools/call", name=tool, arguments=arguments)
        took = (time.perf_counter() - began) * 1000
        assert not found.get("isError"), found
        return took, found["content"][0]["text"], found["structuredContent"]["result"]

    def job(self, subject: Subject) -> dict[str, float]:
        """The standard job in four calls; then its steps one by one, in a second run."""
        start = {"program": [str(subject.program)], "breaks": [f"{subject.source}:{subject.line}"]}
        if subject.python:
            start["python"] = subject.python  # type: ignore[assignment]
        told = [
            self._call("launch", **start)[1],
            self._call("eval", expressions=[subject.look])[1],
            self._call("go", how="next", count=STEPS)[1],
            self._call("go")[1],
        ]
        self._call("launch", **start)
        steps = [self._call("go", how="next")[0] for _ in range(STEPS)]
        self._call("stop")
        return {"step": statistics.median(steps), "characters": float(sum(map(len, told)))}

    def first_list(self) -> float:
        """From the start of the command to its list of tools."""
        began = time.perf_counter()
        pump = self._start()
        self._ask(pump, "tools/list")
        took = (time.perf_counter() - began) * 1000
        pump.communicate()
        return took

    def close(self) -> None:
        self._pump.communicate()
