"""The MCP Inspector's command line, a client that is not of the SDK's family, runs the standard job."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ...backends import npm
from ..conftest import CLIENT, DEADLINE
from .conftest import COUNT, COUNT_JS

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")


class Inspector:
    def __init__(self, here: Path) -> None:
        self._here = here
        folder = npm.inspector()
        self._command = str(folder / ".bin" / "mcp-inspector")
        script = here / "dbg"
        script.write_text(f'#!/bin/sh\nexec \'{CLIENT[0]}\' -IS -c "{CLIENT[3]}" "$@"\n')
        script.chmod(0o755)

    def ask(self, method: str, *words: str) -> dict[str, Any]:
        names = [name for name in os.environ if name.startswith(("XDG_", "STILLFRAME_")) or name == "HOME"]
        variables = [word for name in names for word in ("-e", f"{name}={os.environ[name]}")]
        line = [self._command, "--cli", *variables, str(self._here / "dbg"), "mcp", "--method", method, *words]
        done = subprocess.run(line, cwd=self._here, capture_output=True, text=True, timeout=DEADLINE, check=False)
        assert done.stdout, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        given = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={_word(value)}")]
        return self.ask("tools/call", "--tool-name", tool, *given)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.fixture
def inspector(hosts: None, tmp_path: Path) -> Inspector:
    return Inspector(tmp_path)


@pytest.mark.long
def test_the_inspector_runs_the_job_for_both_languages(inspector: Inspector, tmp_path: Path) -> None:
    assert {"launch", "go", "state"} <= {tool["name"] for tool in inspector.ask("tools/list")["tools"]}
    for runs, file, text in ((sys.executable, "count.py", COUNT), ("node", "count.js", COUNT_JS)):
        (tmp_path / file).write_text(text)
        stop = inspector.call("launch", command=[runs, file], breaks=[f"{file}:3"])["structuredContent"]
        assert stop["result"]["frame"]["line"] == 3
        moved = inspector.call("go", how="next", count=1)
        assert moved["structuredContent"]["result"]["trail"]
        looked = inspector.call("eval", expressions=["word", "1 + 1"])["structuredContent"]["result"]["values"]
        assert [each["value"] for each in looked] == ["'a'", "2"]
        ended = inspector.call("stop")
        assert not ended.get("isError") and "count ended" in ended["content"][0]["text"]
    failed = inspector.call("eval", expressions=["1"])
    assert failed["isError"] and "wrong_state" in failed["content"][0]["text"]
