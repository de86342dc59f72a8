"""Pipes that threads of the program wait at, and who is at their other ends, by the kernel's word: Linux tells, others do not.

A pipe that is full holds its writer until somebody reads; a process that is waited for may be such a writer, and we its reader.
"""

import os

MOST = 64  # processes below this one that are looked at
_CALLS = {  # numbers of read, readv; of write, writev
    "x86_64": ((0, 19), (1, 20)),
    "aarch64": ((63, 65), (64, 66)),
    "riscv64": ((63, 65), (64, 66)),
}


def waited_at(native_id):
    """What a thread of this process waits for at a pipe, in words; None where it does something else."""
    found = _blocked(os.getpid(), native_id)
    if found is None:
        return None
    number, pipe, writes = found
    others = [pid for pid in _family() if any(each == (pipe, not writes) for each in _pipes(pid).values())]
    end = _named(others, "reads" if writes else "could write to")
    return "%s a pipe (fd %d)%s" % ("room in" if writes else "data from", number, end)


def held_up(pid):
    """What holds up a child of ours that does not end: it, or one that it started, writes to a pipe that we are to read."""
    mine = {pipe: number for number, (pipe, writes) in _pipes(os.getpid()).items() if not writes}
    for one in [pid] + _below(pid):
        for thread in _listed("/proc/%d/task" % one):
            found = _blocked(one, int(thread))
            if found is not None and found[2] and found[1] in mine:
                who = "which" if one == pid else "%s (pid %d)" % (_name(one), one)
                return "%s waits for room in a pipe that this process is to read (fd %d)" % (who, mine[found[1]])
    return None


def _blocked(pid, thread):
    """(number of the file, the pipe, whether it writes) of a thread that waits at a pipe."""
    reads, writes = _CALLS.get(os.uname()[4], ((), ()))
    words = _text("/proc/%d/task/%d/syscall" % (pid, thread)).split()
    if len(words) < 2 or not words[0].isdigit() or int(words[0]) not in reads + writes:
        return None
    number = int(words[1], 16)
    pipe = _link(pid, number)
    return (number, pipe, int(words[0]) in writes) if pipe is not None else None


def _pipes(pid):
    """{number: (the pipe, whether it is open for writing)} of a process."""
    found = {int(number): _link(pid, number) for number in _listed("/proc/%d/fd" % pid)}
    return {number: (pipe, _writes(pid, number)) for number, pipe in found.items() if pipe is not None}


def _link(pid, number):
    try:
        target = os.readlink("/proc/%d/fd/%s" % (pid, number))
    except OSError:
        return None
    return target if target.startswith("pipe:") else None


def _writes(pid, number):
    flags = [
        row.split()[1] for row in _text("/proc/%d/fdinfo/%d" % (pid, number)).splitlines() if row.startswith("flags:")
    ]
    return bool(flags) and int(flags[0], 8) & 3 == os.O_WRONLY


def _family():
    """This process, those below it, and its parent."""
    return [os.getpid()] + _below(os.getpid()) + [os.getppid()]


def _below(pid):
    found, left = [], [pid]
    while left and len(found) < MOST:
        parent = left.pop()
        tasks = _listed("/proc/%d/task" % parent)
        children = [int(each) for task in tasks for each in _text("/proc/%d/task/%s/children" % (parent, task)).split()]
        found += children
        left += children
    return found


def _named(pids, does):
    if not pids:
        return ""
    if pids == [os.getpid()]:
        return " that this process alone %s" % does
    names = ["this process" if pid == os.getpid() else "%s (pid %d)" % (_name(pid), pid) for pid in pids[:3]]
    return " that %s %s" % (", ".join(names), does)


def _name(pid):
    return _text("/proc/%d/comm" % pid).strip() or "process"


def _listed(folder):
    try:
        return os.listdir(folder)
    except OSError:  # it is gone, or not ours to look into
        return []


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
