"""Threads of `_thread.start_new_thread` itself: their errors are reported, and held, as those of a program alone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from .wireclient import PATIENCE, Target

PROGRAM = """
import _thread, functools, sys, threading
def work(key):
    return {}[key]
class Odd:
    def __call__(self):
        raise ValueError("odd")
    def __repr__(self):
        raise OSError("no text")
def leave():
    try:
        sys.exit(3)
    finally:
        reported.release()
def report(told):
    print(told.err_msg, told.object is tried, file=sys.stderr)
    print_report(told)
    reported.release()
def refused(*arguments):
    try:
        _thread.start_new_thread(*arguments)
    except TypeError as error:
        print(error, file=sys.stderr)
print_report, sys.unraisablehook = sys.unraisablehook, report
reported = _thread.allocate_lock()
reported.acquire()
part = functools.partial(work, 4)
for tried, arguments in [(work, (3,)), (part, ()), (Odd(), ()), (int, ("x",)), (work, (1, 2)), (leave, ())]:
    _thread.start_new_thread(tried, arguments)
    reported.acquire()
refused(3, ())
refused(work, [1])
refused(work, (), 3)
print(threading.Thread().name, file=sys.stderr)
def named():
    mine = threading.current_thread()
    print(mine.name, type(mine) is threading._DummyThread, file=sys.stderr)
    mine.name = "clerk"
    print(mine.name, file=sys.stderr)
    reported.release()
_thread.start_new_thread(named, ())
reported.acquire()
print(threading.Thread().name, file=sys.stderr)
"""


def test_their_errors_are_reported_as_in_a_plain_run(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)

    words = [spread_python, str(tmp_path / "program.py")]
    plain = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=PATIENCE)
    target = start(*words, cwd=tmp_path)
    peer = target.accept()
    peer.configure()
    peer.go()
    peer.rest()
    code, _printed, said = target.end()
    assert (code, _without_addresses(said)) == (0, _without_addresses(plain.stderr))
    assert "KeyError: 3" in said
    assert said.endswith("\nThread-1\nDummy-2 True\nclerk\nThread-3\n"), "only the one that asked took a number"


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


ENDS = """
import _thread, sys, threading
def inner(key):
    return {}[key]
def work(key):
    inner(key)
_thread.start_new_thread(work, (3,))
sys.stdin.read()
print(threading.Thread().name)
"""


def test_they_are_held_once_where_they_were_raised(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(ENDS)
    for codes in ([], [1]):  # with some, whoever debugs wants to know why the program fails, and hears of reports
        target = start(spread_python, "program.py", cwd=tmp_path, stdin=subprocess.PIPE)
        peer = target.accept()
        peer.configure(catch=["uncaught"], breakOnSystemExit=codes)
        peer.go()
        thread = peer.stopped(reason="exception")
        told = peer.stop(thread)
        assert [each["function"] for each in told["frames"]] == ["inner", "work"], told
        names = {each["id"]: each["name"] for each in peer.request("threads")["threads"]}
        assert names[thread] == "Dummy", "it has no number, since the program did not ask for one"
        peer.resume("continue", thread)
        assert target.process.stderr is not None
        while target.process.stderr.readline() not in (b"KeyError: 3\n", b""):
            pass
        assert target.process.stdin is not None
        target.process.stdin.close()
        assert "stopped" not in [each["event"] for each in peer.rest()]
        assert target.process.wait(PATIENCE) == 0
        assert target.process.stdout is not None
        assert target.process.stdout.read() == b"Thread-1\n", "no look of ours took a number"
