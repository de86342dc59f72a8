"""Makes a running Python process connect to our debugger: `python attach.py PID`, with gdb, in a process of its own.

Settings by environment: STILLFRAME_ADDRESS (host:port to connect to), STILLFRAME_PYDEVD, STILLFRAME_TOKENS,
STILLFRAME_PYCACHE, STILLFRAME_ATTACH_SECONDS, STILLFRAME_GDB (else the one on PATH). Exit codes: 0 done, 2 wrong use, 3 no
such process, 4 not a Python process, 5 no gdb, 6 not permitted, 7 anything else, 8 stopped by a signal, 9 in the hands of
another debugger, 10 it does not run our code; each failure is one line on stderr.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from inject import BEGUN, JOINED, injection  # noqa: E402

del sys.path[0]

GDB = os.environ.get("STILLFRAME_GDB", "gdb")
PLAIN = os.path.join(HERE, "plain_x86_64.xml")
USAGE, NO_PROCESS, NOT_PYTHON, NO_GDB, NOT_PERMITTED, FAILED, STOPPED, TAKEN, DEAF = 2, 3, 4, 5, 6, 7, 8, 9, 10
STARTED, NOWHERE, NOT_UP, NARROW = (
    "stillframe: started",
    "stillframe: nowhere safe",
    "stillframe: not up",
    "stillframe: narrow",
)  # as in_gdb.py says it
COMES_UP = 10.0  # seconds in which the interpreter of a process that has just begun is up
LET_GO = 10.0  # seconds for gdb to leave a process that it is in
TURN = 5.0  # seconds in which a thread gets its turn in any interpreter that is not kept by another one
_DENIED = re.compile(r"ptrace: Operation not permitted|Could not attach|Permission denied", re.IGNORECASE)


def fail(code, sentence):
    sys.stderr.write(sentence + "\n")
    raise SystemExit(code)


def library(vendored):
    """The native library of debugpy that has the threads of a running interpreter traced."""
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


def status(folder):
    """What the kernel says of a process: name of the field to its words."""
    with open(folder + "/status", encoding="utf-8", errors="replace") as file:
        return {key: value.split() for key, _, value in (line.partition(":") for line in file)}


def refusal(folder):
    """Why the kernel does not let us look at a process, as far as it says."""
    owner = status(folder).get("Uid", ["?"])[0]
    return "the system does not let it be traced" if owner == str(os.geteuid()) else "it belongs to uid %s" % owner


def is_elsewhere(folder, files):
    """Whether the process lives in a container or chroot: it would not see these files, or not reach our address."""
    unseen = [file for file in files if not os.path.exists(folder + "/root" + file)]
    return bool(unseen) or os.readlink(folder + "/ns/net") != os.readlink("/proc/self/ns/net")


def check(pid, files):
    """Fail with the reason why this process cannot be attached to, as far as that can be seen from outside."""
    folder = "/proc/%d" % pid
    if not os.path.isdir(folder):
        fail(NO_PROCESS, "there is no process %d" % pid)
    try:
        with open(folder + "/maps", encoding="utf-8", errors="replace") as file:
            maps = file.read()
        program = os.readlink(folder + "/exe")
        state, tracer = status(folder)["State"][0], status(folder)["TracerPid"][0]
        elsewhere = is_elsewhere(folder, files)
    except PermissionError:
        fail(NOT_PERMITTED, "process %d (%s) may not be attached to: %s" % (pid, name(folder), refusal(folder)))
    except OSError:
        fail(NO_PROCESS, "process %d has no program any more" % pid)
    if not os.path.basename(program).startswith("python") and "libpython" not in maps:
        fail(NOT_PYTHON, "process %d runs %s, which is neither Python nor Node" % (pid, os.path.basename(program)))
    if tracer != "0":
        fail(TAKEN, "process %d is traced by process %s (%s) already" % (pid, tracer, name("/proc/" + tracer)))
    if state == "T":
        fail(STOPPED, "process %d is stopped by a signal and runs no code: kill -CONT %d lets it go on" % (pid, pid))
    if elsewhere:
        fail(NOT_PERMITTED, "process %d lives in a container or chroot of its own: attach to it from inside" % pid)
    if shutil.which(GDB) is None:
        fail(NO_GDB, "gdb is needed to attach to a process and is not on PATH")


def gdb(pid, environment, seconds, narrow):
    """What gdb says while it runs our script on the process, and whether it was done in time."""
    fewer = ["-iex", "set tdesc filename " + PLAIN] if narrow else []
    words = [GDB, "--nw", "--nh", "--nx", *fewer, "--pid", str(pid), "--batch", "-x", os.path.join(HERE, "in_gdb.py")]
    environment = dict(environment, STILLFRAME_NARROW="1") if narrow else environment
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


def inject(pid, code, deadline):
    """Start a thread in the process; where none of its own can be used for that at the moment, or not yet, look again."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(STILLFRAME_CODE=code)
    up_by = min(deadline, time.monotonic() + COMES_UP)
    narrow = nowhere = False
    while True:
        text, in_time = gdb(pid, environment, max(deadline - time.monotonic(), 0.1), narrow)
        if STARTED in text:
            return
        nowhere = nowhere or NOWHERE in text
        if nowhere and time.monotonic() > deadline:
            why = "; one that computes needs a newer gdb here (dbg setup gdb)" if narrow else ""
            fail(FAILED, "no thread of process %d could be interrupted safely in time%s" % (pid, why))
        if not in_time:
            fail(FAILED, "gdb did not get into process %d in time; it was let go again" % pid)
        if NOT_UP in text and time.monotonic() > up_by:
            fail(FAILED, "the interpreter of process %d is not up, or at its end" % pid)
        if NARROW in text and not narrow:
            narrow = True
        elif NOWHERE not in text and NOT_UP not in text:
            break
    if not os.path.isdir("/proc/%d" % pid):
        fail(NO_PROCESS, "process %d ended while it was attached to" % pid)
    if _DENIED.search(text):
        fail(NOT_PERMITTED, "process %d may not be attached to: ptrace is not permitted" % pid)
    lines = [line for line in text.splitlines() if line.strip()]
    fail(FAILED, "gdb could not run code in process %d: %s" % (pid, lines[-1] if lines else "it said nothing"))


def work(pid):
    """The processor time that the process has taken, in the kernel's ticks; None where it has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[11]) + int(fields[12])


def wishes(pid):
    """Thread to the seconds in which it ran or stood in line for a processor, as far as the kernel counts them."""
    found = {}
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task), encoding="ascii") as file:
            ran, stood, _turns = file.read().split()
        found[task] = (int(ran) + int(stood)) / 1e9
    return found


def is_at_rest(pid, before):
    """Whether its threads wanted to run for less than half of the last turn: whoever keeps the interpreter waits for something.

    All of them together, since those that take turns at it want to run for a part of the time each. Our own thread wants to,
    too, 200 times a second for a moment.
    """
    try:
        now = wishes(pid)
        wanted = sum(seconds - before.get(task, 0.0) for task, seconds in now.items())
        before.update(now)
    except (OSError, ValueError):
        return False
    return wanted < TURN / 2


def first_word(pid, line, deadline):
    """What our code in the process says first; a process that is starved by others gets more time for that."""
    line.settimeout(TURN)
    enough = TURN / 5 * os.sysconf("SC_CLK_TCK")
    begun, wished = work(pid), {}
    is_at_rest(pid, wished)
    while True:
        try:
            return line.recv(1000)
        except socket.timeout:
            now = work(pid)
            # Who took plenty of the time has had the turns of many threads.
            if now is None or is_at_rest(pid, wished) or now - begun > enough or time.monotonic() > deadline:
                raise


def watch(pid, line, deadline):
    """Wait until our code in the process says that it has joined us."""
    told = None
    try:
        told = first_word(pid, line, deadline)
        line.settimeout(max(deadline - time.monotonic(), TURN))
        told = line.recv(1000) if told == BEGUN else told
    except socket.timeout:
        if not os.path.isdir("/proc/%d" % pid):
            fail(NO_PROCESS, "process %d ended while it was attached to" % pid)
        if told == BEGUN:
            fail(
                FAILED, "the debugger did not come up in process %d in time: its threads run our code too rarely" % pid
            )
        fail(DEAF, "process %d does not run our code: a thread of it keeps the interpreter (the GIL) to itself, as "
             "native code may; it was let go unharmed" % pid)  # fmt: skip
    if told != JOINED:
        fail(FAILED, "the debugger cannot run in process %d: %s" % (pid, told.decode("utf-8", "replace")))


def main(words):
    if len(words) != 1 or not words[0].isdigit():
        fail(USAGE, "one process id is needed")
    pid = int(words[0])
    settings = os.environ
    host, _, port = settings.get("STILLFRAME_ADDRESS", "").rpartition(":")
    if not port.isdigit():
        fail(USAGE, "STILLFRAME_ADDRESS must be host:port")
    vendored = settings.get("STILLFRAME_PYDEVD", "")
    check(pid, (library(vendored), os.path.join(HERE, "join.py")))
    server, _, client = settings.get("STILLFRAME_TOKENS", "").partition(":")
    deadline = time.monotonic() + float(settings.get("STILLFRAME_ATTACH_SECONDS", "30"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        report = b"\0stillframe-" + secrets.token_hex(16).encode()
        line.bind(report)
        code = injection(report, host, port, server, client, vendored, settings.get("STILLFRAME_PYCACHE", ""))
        inject(pid, code, deadline)
        watch(pid, line, deadline)


if __name__ == "__main__":
    main(sys.argv[1:])
