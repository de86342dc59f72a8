"""Processes that the program starts dial the same debugger, see no trace of it, and never hang for it."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .wireclient import PATIENCE, TOKENS, LineEnded, Peer, Target

KID = """
import os, sys
def work(n):
    y = n + 1
    return y
if __name__ == "__main__":
    theirs = ("STILLFRAME_TEST", "STILLFRAME_TOOLS")
    ours = [name for name in os.environ if name.startswith(("STILLFRAME_", "PYDEVD")) and name not in theirs]
    print("kid", work(int(sys.argv[1])), ours, sys.argv, flush=True)
"""
PARENT = """
import multiprocessing as mp, os, subprocess, sys
import kid
def forked(n):
    print("forked", kid.work(n), flush=True)
def fork():
    pid = os.fork()
    if pid == 0:
        forked(1)
        os._exit(5)
    print(os.waitpid(pid, 0)[1] >> 8)
def process(kind):
    child = mp.get_context(kind).Process(target=forked, args=(1,))
    child.start()
    child.join()
    print(child.exitcode)
if __name__ == "__main__":
    {what}
    print("parent over", flush=True)
"""
WAYS = {
    "Popen a file": "print(subprocess.call([sys.executable, 'kid.py', '1']))",
    "Popen -m": "print(subprocess.call([sys.executable, '-Bm', 'kid', '1']))",
    "Popen -c": "print(subprocess.call([sys.executable, '-c', 'import kid; print(kid.work(1))']))",
    "Popen isolated": "print(subprocess.call([sys.executable, '-I', '-X', 'utf8', 'kid.py', '1'], env={}))",
    "os.fork": "fork()",
    "fork": "process('fork')",
    "spawn": "process('spawn')",
    "forkserver": "process('forkserver')",
    "posix_spawn": "os.waitpid(os.posix_spawn(sys.executable, [sys.executable, 'kid.py', '1'], os.environ), 0)",
    "exec": "os.execv(sys.executable, [sys.executable, 'kid.py', '1'])",
    "a shell": "print(subprocess.call(sys.executable + ' kid.py 1', shell=True, env={}))",
    "os.system": "print(os.system(sys.executable + ' kid.py 1'))",
    "os.popen": "print(os.popen(sys.executable + ' kid.py 1').read())",
    "exec of a shell": "os.execl('/bin/sh', 'sh', '-c', sys.executable + ' kid.py 1')",
    "spawnv": "print(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, 'kid.py', '1']))",
}
LEFT_ALONE = (  # only asked for its version, fed by stdin, not Python
    "subprocess.call([sys.executable, '--version'])",
    "subprocess.run([sys.executable, '-'], input=b'print(1)').returncode",
    "subprocess.call(['true'])",
)


class Family:
    """A parent and whoever dials in while it lives."""

    def __init__(
        self,
        start: Callable[..., Target],
        python: str,
        folder: Path,
        what: str,
        children: bool = True,
        pause: bool = False,
    ) -> None:
        (folder / "kid.py").write_text(KID)
        (folder / "parent.py").write_text(PARENT.format(what=what))
        self.kid = str(folder / "kid.py")
        self.target = start(python, "parent.py", cwd=folder, children=children)
        self.root = self.target.accept()
        self.root.configure({self.kid: [4]} if pause or not children else {})
        self.root.go()

    def each(self, meet: Callable[[Peer], Any]) -> list[Any]:
        """What meeting each child gave, until the parent is over."""
        met: list[Any] = []
        deadline = time.monotonic() + PATIENCE
        while self.target.process.poll() is None:
            assert time.monotonic() < deadline, met
            if select.select([self.target.listener], [], [], 0.02)[0]:
                peer = Peer(self.target.listener.accept()[0])
                self.target.peers.append(peer)
                met.append(meet(peer))
        return met

    def debug(self, peer: Peer) -> Any:
        peer.configure({self.kid: [4]})
        pid = peer.call("hello")["pid"]
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert not any(token.encode() in words for token in TOKENS)
        peer.go()
        try:
            thread = peer.stopped(reason="breakpoint")
        except LineEnded:
            return None
        stop = peer.stop(thread)
        peer.resume("continue", thread)
        peer.rest()
        return (stop["frames"][0]["function"], stop["locals"][0]["value"], pid == self.target.process.pid)


@pytest.mark.parametrize("way", WAYS)
def test_a_child_is_debugged_however_it_is_started(
    start: Callable[..., Target], new_python: str, tmp_path: Path, way: str
) -> None:
    family = Family(start, new_python, tmp_path, WAYS[way])
    met = family.each(family.debug)
    assert [one for one in met if one is not None] == [("work", "1", way == "exec")]
    code, out, err = family.target.end()
    assert (code, err) == (0, "")
    assert "kid 2 [] [" in out or "forked 2" in out or "2\n" in out
    assert ("parent over" in out) == (not way.startswith("exec"))


def test_a_forked_child_is_debugged_on_every_version(start: Callable[..., Target], python: str, tmp_path: Path) -> None:
    family = Family(start, python, tmp_path, WAYS["os.fork"])
    assert family.each(family.debug) == [("work", "1", False)]


@pytest.mark.parametrize("way", ["Popen a file", "spawn"])
def test_a_started_one_is_on_the_oldest(
    start: Callable[..., Target], old_python: str, tmp_path: Path, way: str
) -> None:
    family = Family(start, old_python, tmp_path, WAYS[way])
    assert family.each(family.debug) == [("work", "1", False)]


@pytest.mark.parametrize("way", ["Popen a file", "fork", "spawn"])
def test_a_child_whose_line_is_dropped_runs_on_undebugged(
    start: Callable[..., Target], deep_python: str, tmp_path: Path, way: str
) -> None:
    family = Family(start, deep_python, tmp_path, WAYS[way])
    assert family.each(lambda peer: peer.close()) == [None]
    code, out, err = family.target.end()
    assert (code, err) == (0, "") and out.endswith("parent over\n") and len(out.splitlines()) == 3


@pytest.mark.parametrize("way", ["Popen a file", "os.fork"])
def test_a_child_that_finds_no_debugger_runs_on(
    start: Callable[..., Target], deep_python: str, tmp_path: Path, way: str
) -> None:
    family = Family(start, deep_python, tmp_path, "kid.work(0)  # @here\n    " + WAYS[way], pause=True)
    thread = family.root.stopped(reason="breakpoint")
    family.target.listener.close()
    family.root.request("setBreakpoints", source={"path": family.kid}, breakpoints=[])
    family.root.resume("continue", thread)
    family.root.rest()
    code, out, err = family.target.end()
    assert (code, err) == (0, "") and out.endswith("parent over\n") and len(out.splitlines()) == 3


def test_what_cannot_be_debugged_is_left_alone(start: Callable[..., Target], new_python: str, tmp_path: Path) -> None:
    family = Family(start, new_python, tmp_path, f"print([{', '.join(LEFT_ALONE)}])")
    assert family.each(family.debug) == []
    assert family.target.end()[1].endswith("[0, 0, 0]\nparent over\n")


def test_a_forked_child_passes_breakpoints_when_children_are_not_followed(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    family = Family(start, deep_python, tmp_path, WAYS["os.fork"], children=False)
    assert family.each(family.debug) == []
    assert family.target.end() == (0, "forked 2\n5\nparent over\n", "")


def test_the_parents_line_ends_with_the_parent_though_a_fork_lives_on(
    start: Callable[..., Target], new_python: str, tmp_path: Path
) -> None:
    what = "r, w = os.pipe()\n    if os.fork() == 0:\n        os.close(w)\n        os.read(r, 1)\n        os._exit(0)"
    family = Family(start, new_python, tmp_path, what, children=False)
    assert family.root.rest()[-1]["event"] == "terminated"
