"""Programs that trace themselves: what they see is what a plain run shows them, and what ran is known to have been loaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .wireclient import TARGET, VENDORED, Target

PROGRAM = """
import subprocess, threading
def double(x):
    return 2 * x
thread = threading.Thread(target=double, args=(1,))
thread.start()
thread.join()
subprocess.run(["true"])
print(double(4))
"""


def test_the_library_that_counts_lines_counts_none_of_ours(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    words = ("trace", "--count", "--coverdir", tmp_path / "cover", program)
    target = start(spread_python, *words, module=True, children=True)
    peer = target.accept()
    peer.configure()
    peer.call("resolve", files={str(program): [4]})
    peer.go()
    events = peer.rest()
    last = [each["body"] for each in events if each["event"] == "stillframe" and each["body"]["kind"] == "ending"]
    assert last and last[-1]["loaded"] == [str(program)]
    assert target.end()[:2] == (0, "8\n")
    counted = {path.name.rpartition(".")[0] for path in (tmp_path / "cover").iterdir()}
    own = {Path(name).stem for folder in (TARGET, VENDORED) for name in os.listdir(folder) if name.endswith(".py")}
    assert "program" in counted
    assert not [
        name for name in counted if name in own or name.rpartition(".")[2].startswith(("pydev", "_pydev", "sf_"))
    ]


ASKS = """
import sys
def own(frame, event, arg):
    seen.append(frame.f_code.co_name)
seen = []
sys.settrace(own)
assert sys.gettrace() is own
(lambda: None)()
sys.settrace(None)
assert sys.gettrace() is None
print(seen)
"""


def test_a_program_that_sets_a_trace_function_is_given_it_back(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(ASKS)
    target = start(spread_python, program)
    peer = target.accept()
    peer.configure()
    peer.go()
    assert target.end() == (0, "['<lambda>']\n", "")
