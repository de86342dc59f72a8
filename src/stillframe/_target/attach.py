"""Makes a running Python process connect to our debugger: `python attach.py PID`, with gdb, in a process of its own.

Settings by environment: STILLFRAME_ADDRESS (host:port to connect to), STILLFRAME_PYDEVD, STILLFRAME_TOKENS,
STILLFRAME_PYCACHE, STILLFRAME_ATTACH_SECONDS. Exit codes: 0 done, 2 wrong use, 3 no such process, 4 not a Python process,
5 no gdb, 6 not permitted, 7 anything else; each failure is one line on stderr.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from inject import injection  # noqa: E402

del sys.path[0]

USAGE, NO_PROCESS, NOT_PYTHON, NO_GDB, NOT_PERMITTED, FAILED = 2, 3, 4, 5, 6, 7
NOWHERE = "stillframe: nowhere safe"  # as in_gdb.py says it
LET_GO = 10.0  # seconds for gdb to leave a process that it is in
_DENIED = re.compile(r"ptrace: Operation not permitted|Could not attach|Permission denied", re.IGNORECASE)


def fail(code, sentence):
    sys.stderr.write(sentence + "\n")
    raise SystemExit(code)


def library(vendored):
    """The native library of debugpy that runs text in another interpreter."""
    sys.path.insert(0, os.path.join(vendored, "pydevd_attach_to_process"))
    try:
        from add_code_to_python_process import get_target_filename
    finally:
        del sys.path[0]
    found = get_target_filename()
    if not found:
        fail(FAILED, "debugpy has no library to attach with for this machine")
    return found


def name(folder):
    try:
        with open(folder + "/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "its name is not told"


def refusal(folder):
    """Why the kernel does not let us look at a process, as far as it says."""
    with open(folder + "/status", encoding="utf-8", errors="replace") as file:
        owner = re.search(r"^Uid:\s+(\d+)", file.read(), re.MULTILINE)
    if owner and int(owner.group(1)) != os.geteuid():
        return "it belongs to uid %s" % owner.group(1)
    return "the system does not let it be traced"


def check(pid):
    """Fail with the reason why this process cannot be attached to, as far as that can be seen from outside."""
    folder = "/proc/%d" % pid
    if not os.path.isdir(folder):
        fail(NO_PROCESS, "there is no process %d" % pid)
    try:
        with open(folder + "/maps", encoding="utf-8", errors="replace") as file:
            maps = file.read()
        program = os.readlink(folder + "/exe")
    except PermissionError:
        fail(NOT_PERMITTED, "process %d (%s) may not be attached to: %s" % (pid, name(folder), refusal(folder)))
    except OSError:
        fail(NO_PROCESS, "process %d has no program any more" % pid)
    if not os.path.basename(program).startswith("python") and "libpython" not in maps:
        fail(NOT_PYTHON, "process %d runs %s, which is neither Python nor Node" % (pid, os.path.basename(program)))
    if shutil.which("gdb") is None:
        fail(NO_GDB, "gdb is needed to attach to a process and is not on PATH")


def gdb(pid, environment, seconds):
    """What gdb says while it runs our script on the process, and whether it was done in time."""
    words = ["gdb", "--nw", "--nh", "--nx", "--pid", str(pid), "--batch", "-x", os.path.join(HERE, "in_gdb.py")]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT)
    try:
        return process.communicate(timeout=seconds)[0].decode("utf-8", "replace"), True
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # killed in a call, it would leave the thread in the middle of it
    try:
        return process.communicate(timeout=LET_GO)[0].decode("utf-8", "replace"), False
    except subprocess.TimeoutExpired:
        process.kill()
        fail(FAILED, "gdb did not get into process %d, nor out of it again: it may be damaged" % pid)


def inject(pid, code, native, seconds):
    """Run an expression in the process; where no thread can do that at the moment, look again until the time is over."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(STILLFRAME_NATIVE=native, STILLFRAME_CODE=code)
    deadline = time.monotonic() + seconds
    while True:
        text, in_time = gdb(pid, environment, max(deadline - time.monotonic(), 0.1))
        if not in_time:
            fail(FAILED, "gdb did not get into process %d within %g s; it was let go again" % (pid, seconds))
        if NOWHERE not in text:
            break
        if time.monotonic() > deadline:
            fail(FAILED, "no thread of process %d could be interrupted safely within %g s" % (pid, seconds))
    answers = re.findall(r"^\$\d+ = (-?\d+)", text, re.MULTILINE)
    if answers and answers[-1] == "0":
        return
    if _DENIED.search(text):
        fail(NOT_PERMITTED, "process %d may not be attached to: ptrace is not permitted" % pid)
    if not os.path.isdir("/proc/%d" % pid):
        fail(NO_PROCESS, "process %d ended while it was attached to" % pid)
    lines = [line for line in text.splitlines() if line.strip()]
    fail(FAILED, "gdb could not run code in process %d: %s" % (pid, lines[-1] if lines else "it said nothing"))


def main(words):
    if len(words) != 1 or not words[0].isdigit():
        fail(USAGE, "one process id is needed")
    pid = int(words[0])
    settings = os.environ
    host, _, port = settings.get("STILLFRAME_ADDRESS", "").rpartition(":")
    if not port.isdigit():
        fail(USAGE, "STILLFRAME_ADDRESS must be host:port")
    check(pid)
    server, _, client = settings.get("STILLFRAME_TOKENS", "").partition(":")
    vendored = settings.get("STILLFRAME_PYDEVD", "")
    code = injection(host, port, server, client, vendored, settings.get("STILLFRAME_PYCACHE", ""))
    inject(pid, code, library(vendored), float(settings.get("STILLFRAME_ATTACH_SECONDS", "30")))


if __name__ == "__main__":
    main(sys.argv[1:])
