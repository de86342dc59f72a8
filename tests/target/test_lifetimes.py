"""What a program holds in its frames lives as long as without a debugger: not until a run of the garbage collector."""

from __future__ import annotations

from collections.abc import Callable

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
    run_to: Callable[..., tuple[Target, Peer, int]], python: str
) -> None:
    target, peer, thread = run_to(python, PROGRAM, stopAllThreadsOnSuspend=True)
    peer.stop(thread)
    peer.request("setBreakpoints", source={"path": "/elsewhere.py"}, breakpoints=[{"line": 1}])
    peer.resume("next", thread)
    peer.stopped(reason="step")
    peer.request("setBreakpoints", source={"path": "/elsewhere.py"}, breakpoints=[])
    peer.resume("continue", thread)
    assert target.end() == (0, "[None, None]\n", "")
