"""Programs under gevent stop like others, greenlets that wait can be looked into, and having gevent installed changes nothing."""

from __future__ import annotations

from collections.abc import Callable

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]
Guests = tuple[str, dict[str, str]]

PATCHED = """
from gevent import monkey; monkey.patch_all()
import os, threading, time
import gevent
def slow(depth):
    inner = depth + 1
    time.sleep(3600)
def work(n):
    time.sleep(0.001)
    double = n * 2  # @here
    return double
waiting = gevent.spawn(slow, 1)
jobs = [gevent.spawn(work, i) for i in range(2)]
gevent.joinall(jobs)
thread = threading.Thread(target=work, args=(7,))
thread.start()
thread.join()
print([job.value for job in jobs], threading.active_count(), "GEVENT_SUPPORT" in os.environ)
"""


def test_every_greenlet_of_a_patched_program_stops_and_the_program_ends(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    target, peer, thread = run_to(python, PATCHED, env=env)
    seen = []
    for _ in range(3):
        stop = peer.stop(thread)
        seen.append((stop["frames"][0]["function"], stop["locals"][0]["value"]))
        peer.resume("next", thread)
        peer.stopped(reason="step")
        assert peer.stop(thread)["locals"][1]["name"] == "double"
        peer.resume("continue", thread)
        if len(seen) < 3:
            peer.stopped(reason="breakpoint")
    peer.rest()
    assert seen == [("work", "0"), ("work", "1"), ("work", "7")]
    assert target.end() == (0, "[0, 2] 1 False\n", "")  # one thread, and the environment of a plain run


def test_a_greenlet_that_waits_stands_among_the_threads_and_is_looked_into(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    _, peer, thread = run_to(python, PATCHED, env=env)
    rows = {row["name"]: row for row in peer.call("crowd")["threads"]}
    assert rows["MainThread"]["held"] and rows["MainThread"]["threadId"] == thread
    assert {"greenlet slow", "greenlet work", "greenlet <module>"} <= set(rows)
    slow = rows["greenlet slow"]["threadId"]
    stop = peer.stop(slow)
    assert stop["frames"][stop["at"]]["function"] == "slow"
    assert [(row["name"], row["value"]) for row in stop["locals"]] == [("depth", "1"), ("inner", "2")]
    frame = stop["frames"][stop["at"]]["id"]
    assert peer.call("locals", frameId=frame)["total"] == 2
    assert peer.refusal("eval", frameId=frame, expressions=["depth"]).startswith("blocked: ")


THREADS = """
import sys, threading
go, here = threading.Event(), threading.Event()
def work(n):
    here.set()
    go.wait()
    double = n * 2  # @here
thread = threading.Thread(target=work, args=(7,))
thread.start()
here.wait()
go.set()
thread.join()
print(threading.enumerate() == [threading.main_thread()], thread.name, "gevent" in sys.modules)
"""


def test_threads_are_seen_where_gevent_is_installed_and_not_used(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    target, peer, thread = run_to(python, THREADS, env=env)
    assert {row["name"].partition(" ")[0] for row in peer.call("crowd")["threads"]} == {"MainThread", "Thread-1"}
    assert peer.stop(thread)["frames"][0]["function"] == "work"
    peer.resume("continue", thread)
    peer.rest()
    code, out, err = target.end()
    assert (code, err) == (0, "") and out.startswith("True Thread-1 (work) False")


ASKING = """
import http.client, selectors, socket, socketserver, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
import threading
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def log_message(self, *told): pass
server = HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.handle_request)
thread.start()
print(urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_port).status)  # @here
thread.join()
print([m.__name__ for m in (http.client, socketserver) if m.socket is not socket], selectors.select.select.__name__)
"""


def test_modules_of_the_library_know_the_real_socket_where_gevent_is_installed_and_not_used(
    run_to: RunTo, guests: Guests
) -> None:
    python, env = guests
    target, peer, thread = run_to(python, ASKING, env=env)
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "204\n[] select\n", "")


SWITCHING = """
import greenlet
def inner(n):
    double = n * 2  # @here
    return double
print(greenlet.greenlet(inner).switch(4))
"""


def test_a_bare_greenlet_is_stopped_in(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    target, peer, thread = run_to(python, SWITCHING, env=env)
    assert peer.stop(thread)["frames"][0]["function"] == "inner"
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "8\n", "")


SPAWNED = """
from gevent import monkey; monkey.patch_all()
import gevent, greenlet
def work(n):
    return n * 2  # @here
def plain(n):
    return n * 3
job = gevent.spawn(work, 2)
job.join()
print(job.value, greenlet.greenlet(plain).switch(4))
"""


def test_a_step_off_the_end_of_a_greenlet_of_gevent_is_held_there(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    target, peer, thread = run_to(python, SPAWNED, env=env)
    peer.resume("next", thread)
    peer.stopped(reason="return")
    stop = peer.stop(thread)
    assert (stop["frames"][0]["function"], [one["value"] for one in stop["returned"]]) == ("work", ["4"])
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "4 12\n", "")


LOOPS = """
from gevent import monkey; monkey.patch_all()
import gevent
def loops():
    for turn in range(2):
        gevent.sleep(0)
        assert turn < 2  # @inside
loop = gevent.spawn(loops)
gevent.sleep(0)
began = True  # @here
loop.join()
print("over")
"""


def test_a_breakpoint_that_is_set_later_stops_a_greenlet_that_waits(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    target, peer, thread = run_to(python, LOOPS, env=env)
    path, line = peer.stop(thread)["frames"][0]["file"], 1 + LOOPS[: LOOPS.index("@inside")].count("\n")
    peer.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}])
    for turn in ("0", "1"):
        peer.resume("continue", thread)
        peer.stopped(reason="breakpoint")
        assert [(row["name"], row["value"]) for row in peer.stop(thread)["locals"]] == [("turn", turn)]
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "over\n", "")
