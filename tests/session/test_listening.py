"""Who listens on a port: all who hold its socket, whichever of them is the newest."""

from __future__ import annotations

import socket
import subprocess
import sys

from stillframe.adapters.listening import commands_of, owners_of
from stillframe.adapters.resting import rests, work_of

HOLDS = "import sys; print('up', flush=True); sys.stdin.read()"


def test_a_socket_that_a_child_has_too_is_its_parents_as_well() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        alone = list(commands_of(port))
        assert len(alone) == 1
        with subprocess.Popen(
            [sys.executable, "-c", HOLDS], pass_fds=[door.fileno()], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"up\n"
            assert len(list(owners_of(port))) == 2
            both = list(commands_of(port))
            assert alone[0] in both
            assert any(HOLDS in each for each in both)
            child.kill()
    assert list(owners_of(port)) == []


def test_a_program_that_waits_rests_and_one_that_computes_works() -> None:
    waits = [sys.executable, "-c", HOLDS]
    works = [sys.executable, "-c", "print('up', flush=True)\nwhile True: pass"]
    with (
        subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as still,
        subprocess.Popen(works, stdout=subprocess.PIPE) as busy,
    ):
        for each in (still, busy):
            assert each.stdout is not None
            assert each.stdout.readline() == b"up\n"
        before = work_of(busy.pid)
        while work_of(busy.pid) < before + 0.05:
            assert not rests(busy.pid)
        while not rests(still.pid):  # it has said that it is up a moment before it waits
            assert still.poll() is None
        busy.kill()
        still.kill()
    assert rests(still.pid), "nobody works who is gone"
