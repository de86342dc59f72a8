"""The library's line to the daemon obeys the rules of the command line's: it starts one, shares it, and trusts nobody else."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

import stillframe
from stillframe.errors import Denied, Internal, NoSession
from stillframe.registry import OPERATIONS

from ...guard import Guard
from ..conftest import Dbg, Tiny, call


@pytest.mark.own_daemon
async def test_the_library_starts_the_daemon_and_shares_its_sessions_with_the_command_line(
    dbg: Dbg, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text("x = 1\nprint(x)\n")
    async with stillframe.connect(cwd=str(tmp_path)) as debugger:
        with pytest.raises(NoSession):
            await debugger.locals()
        stop = await debugger.launch("app.py", breaks=["app.py:2"])
        assert isinstance(stop, stillframe.Stop)
        assert dbg("eval", "x", cwd=tmp_path).out == "x = 1\n"
        assert isinstance(await debugger.continue_(), stillframe.Exited)


@pytest.mark.own_daemon
async def test_a_connection_keeps_its_line_from_call_to_call_and_leaves_none_behind(dbg: Dbg, tmp_path: Path) -> None:
    def lines() -> set[str]:
        here = {os.readlink(each.path) for each in os.scandir("/proc/self/fd") if os.path.lexists(each.path)}
        return {each for each in here if each.startswith("socket:")}

    assert dbg("sessions").code == 0
    before = lines()
    async with stillframe.connect(cwd=str(tmp_path)) as debugger:
        await debugger.sessions()
        kept = lines() - before
        assert len(kept) == 1
        await debugger.sessions()
        assert lines() - before == kept
        await asyncio.gather(debugger.sessions(), debugger.sessions(), debugger.sessions())
    assert lines() == before


@pytest.mark.parametrize("op", OPERATIONS)
def test_what_an_operation_may_answer_is_told_apart_on_the_other_side(op: str) -> None:
    """A union of structs without tags cannot be read back, as `memory`'s once was."""
    assert msgspec.json.Decoder(OPERATIONS[op].result, strict=False)


async def test_the_library_refuses_a_directory_that_is_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose").chmod(0o777)
    monkeypatch.setenv("STILLFRAME_RUNTIME_DIR", str(tmp_path / "loose"))
    with pytest.raises((Denied, Internal), match="open to others"):
        await stillframe.connect().sessions()


async def test_a_call_that_was_taken_is_never_repeated(tiny: Tiny) -> None:
    """A daemon that dies with a call under way: nobody knows whether it was done, so the library says so."""
    waiting = asyncio.ensure_future(stillframe.connect().wait())
    for _ in range(2000):
        if '"waiting": 1' in (await asyncio.to_thread(call, "tool")).out:
            break
    tiny.process.kill()
    tiny.process.wait()
    with pytest.raises(Internal, match="middle of the call"):
        await waiting
    for name in ("daemon.sock", "daemon.pid"):
        (Path(os.environ["XDG_RUNTIME_DIR"]) / "stillframe" / name).unlink()


@pytest.mark.parametrize(
    "words", [b"\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"a0\no-5\nhello", b"a0\nx\n", b"a0\nxzero\n"]
)
async def test_whoever_answers_otherwise_than_a_daemon_is_said_to(words: bytes, guard: Guard) -> None:
    directory = guard.runtime / "stillframe"
    directory.mkdir(mode=0o700)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(words)
        writer.close()

    async with await asyncio.start_unix_server(answer, directory / "daemon.sock"):
        with pytest.raises(Internal, match="does not speak as a daemon"):
            await stillframe.connect().sessions()
        said = await asyncio.to_thread(call, "sessions")
        assert (said.code, said.err.count("\n")) == (70, 1), said
        assert "does not speak as a daemon" in said.err
    (directory / "daemon.sock").unlink(missing_ok=True)
