"""Node programs that are only beginning, and those that may do only what they are permitted."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.node.running import inspector_of
from stillframe.errors import Unsupported


async def test_a_process_is_joined_in_the_first_moment_of_its_life() -> None:
    process = await asyncio.create_subprocess_exec(
        "node", "--inspect-port=0", "-e", "setInterval(() => {}, 1000)", stderr=asyncio.subprocess.DEVNULL
    )
    try:
        url, opened = await inspector_of(process.pid)
        assert url.startswith("ws://127.0.0.1:")
        assert opened, "it has none of its own"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.parametrize("flag", ["--permission", "--experimental-permission"])
async def test_a_program_that_is_forbidden_the_inspector_is_refused_with_the_reason(tmp_path: Path, flag: str) -> None:
    (tmp_path / "app.js").write_text("console.log(1);\n")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        with pytest.raises(Unsupported, match=f"node {flag} forbids the inspector"):
            await dbg.launch(command=["node", flag, "--allow-fs-read=*", "app.js"])
