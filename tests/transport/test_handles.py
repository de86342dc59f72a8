"""Processes are waited for and ended also in a Python that has no word for the kernel's handles of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from stillframe.transport import guardian_program, trees
from stillframe.transport.handles import open_handle

SLEEPS = (sys.executable, "-IS", "-c", "import time; time.sleep(600)")


def sleeping() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SLEEPS, start_new_session=True)


@pytest.mark.parametrize("how", ["by the kernel's number", "by looks"])
async def test_the_end_of_a_process_is_heard(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    if how == "by looks":
        monkeypatch.setattr(sys, "platform", "darwin")
    with sleeping() as running:
        waits = asyncio.create_task(trees.wait_pid(running.pid))
        assert guardian_program._outliving({running.pid}, 0.05) == {running.pid}
        await trees.end_tree(running.pid, group=True)
        await waits
        assert running.wait() == -signal.SIGTERM
    await trees.wait_pid(running.pid)  # there is none any more
    assert guardian_program._outliving({running.pid}, 60) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such handles")
def test_a_handle_is_the_kernels_and_nobody_inherits_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    handle = open_handle(os.getpid())
    try:
        assert os.readlink(f"/proc/self/fd/{handle}") == "anon_inode:[pidfd]"
        assert not os.get_inheritable(handle)
    finally:
        os.close(handle)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    with pytest.raises(ProcessLookupError):
        open_handle(gone.pid)
