"""What a program holds in frames and names lives as long as without a debugger: not until the garbage is collected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .wireclient import Peer, Target

PROGRAM = """
import gc, threading, weakref
gc.disable()
class Thing: pass
def kept(go):
    thing = Thing()
    things.append(weakref.ref(thing))
    here.set()
    go()
things, here, over = [], threading.Event(), threading.Event()
thread = threading.Thread(target=kept, args=(over.wait,))
thread.start()
here.wait()
def stop():
    return 1  # @here
kept(stop)
over.set()
thread.join()
print([one() for one in things])
"""


def test_what_frames_hold_at_a_stop_is_gone_with_them(
    run_to: Callable[..., tuple[Target, Peer, int]], spread_python: str
) -> None:
    target, peer, thread = run_to(spread_python, PROGRAM, stopAllThreadsOnSuspend=True)
    peer.stop(thread)
    peer.request("setBreakpoints", source={"path": "/elsewhere.py"}, breakpoints=[{"line": 1}])
    peer.resume("next", thread)
    peer.stopped(reason="step")
    peer.request("setBreakpoints", source={"path": "/elsewhere.py"}, breakpoints=[])
    peer.resume("continue", thread)
    assert target.end() == (0, "[None, None]\n", "")


THREADS = """
import threading, weakref
class Thing: pass
def work():
    threading.current_thread().thing = thing = Thing()
    things.append(weakref.ref(thing))
def begin():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
things = []
for _ in range(3):
    begin()
end = 1  # @here
import gc
gc.collect()
print([one() for one in things])
"""


def test_a_thread_that_is_over_goes_with_what_it_holds(
    run_to: Callable[..., tuple[Target, Peer, int]], spread_python: str
) -> None:
    target, peer, thread = run_to(spread_python, THREADS, catch=["uncaught"])
    peer.stop(thread)
    peer.resume("continue", thread)
    assert target.end() == (0, "[None, None, None]\n", "")


LAST = """
import logging  # which the interpreter itself holds, by what it is to do at a fork, and by that all of threading
class Last:
    def __del__(self):
        print("gone")
last = Last()
try:
    {}["k"]
except KeyError:
    print("caught")
"""


def test_what_names_hold_goes_at_the_end_of_the_program(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(LAST)
    target = start(spread_python, "program.py", cwd=tmp_path)
    peer = target.accept()
    peer.configure(catch=["uncaught"])
    peer.go()
    peer.rest()
    assert target.end() == (0, "caught\ngone\n", "")
