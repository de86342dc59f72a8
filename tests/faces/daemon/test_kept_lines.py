"""Lines that are kept for the next call: used again, given up with their daemon, and no reason for it to stay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillframe.errors import Busy
from stillframe.faces import daemonline
from stillframe.faces.cli import rendezvous
from stillframe.faces.cli.catalogue import VERSION
from stillframe.faces.daemonline import KeptLines

from ..conftest import DEADLINE, call

REQUEST = {"op": "sessions", "args": {}, "json": True, "cwd": "/", "client": "test"}


@pytest.fixture
def daemon() -> Iterator[None]:
    yield
    call("daemon", "stop")


async def test_a_line_is_used_again_and_another_one_found_when_its_daemon_is_gone(daemon: None) -> None:
    lines = KeptLines()
    for _ in range(3):
        assert json.loads((await lines.ask(REQUEST)).reply)["ok"] is True
    assert len(lines._idle) == 1
    both = await asyncio.gather(lines.ask(REQUEST), lines.ask(REQUEST))
    assert all(json.loads(each.reply)["ok"] for each in both)
    wrong = await lines.ask({**REQUEST, "op": "nothing"})
    assert json.loads(wrong.reply)["error"]["code"] == "usage"
    await asyncio.to_thread(call, "daemon", "stop")
    assert json.loads((await lines.ask(REQUEST)).reply)["ok"] is True
    # A call that is given up takes its line with it, and no other one.
    waiting = asyncio.create_task(lines.ask({**REQUEST, "op": "output", "args": {"wait": True}, "session": None}))
    await asyncio.wait({waiting}, timeout=DEADLINE)
    assert json.loads(waiting.result().reply)["error"]["code"] == "no_session"
    for _, writer in lines._idle:
        writer.close()
        await writer.wait_closed()


async def test_a_kept_line_does_not_keep_an_idle_daemon(daemon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILLFRAME_IDLE_SECONDS", "2")
    lines = KeptLines()
    await lines.ask(REQUEST)
    ((reader, writer),) = lines._idle
    async with asyncio.timeout(DEADLINE):
        assert await reader.read() == b"n0\n"  # it takes no more, has left, and its end of the line with it
    writer.close()
    await writer.wait_closed()


async def test_a_process_that_began_before_an_upgrade_says_so_and_is_met_by_no_newer_client(
    daemon: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older = daemonline._ASKER.replace(f'"version":"{VERSION}"'.encode(), b'"version":"0.0.1"')
    monkeypatch.setattr(daemonline, "_ASKER", older)
    with pytest.raises(
        Busy, match=f"stillframe {VERSION} was installed since this process of .* began: start it again"
    ):
        await KeptLines().ask(REQUEST)
    (tmp_path / "app.py").write_text("x = 1\n")
    await asyncio.to_thread(call, "launch", "app.py", "--break", "app.py:1", cwd=tmp_path)
    error = json.loads((await daemonline.ask(REQUEST)).reply)["error"]
    assert (error["code"], "start it again if it is older" in error["message"]) == ("busy", True)
    assert rendezvous.mcp_post("0.0.1", "same").socket != rendezvous.mcp_post(VERSION, "same").socket
