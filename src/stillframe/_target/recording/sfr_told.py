"""What the recorder writes: lines of JSON in a mapped file, so that nothing is lost at a hard exit or a kill, and nothing blocks.

The file is mapped once, with room set aside on disk as it is needed; the descriptor is never used again, so that a program that
closes every file it finds does no harm. A forked child begins a file of its own.
"""

import _thread
import mmap
import os
from json.encoder import encode_basestring_ascii

ROOM = 256 << 20  # bytes of one process, at the most
STEP = 1 << 20  # bytes set aside at a time
WIDTH = 12  # characters of a number that is rewritten in its place


def quoted(text):
    """A string of JSON; halves of surrogate pairs, which no JSON may hold, are replaced."""
    made = encode_basestring_ascii(text)
    if "\\ud" in made:
        made = encode_basestring_ascii(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return made


_begun = {}  # a name of the program's code, up to where its value follows


def begun(name):
    """A name with a value, as JSON, up to where the value follows."""
    found = _begun.get(name)
    if found is None:
        found = _begun[name] = "[" + quoted(name) + ","
    return found


class Told:
    """The file of this process."""

    def __init__(self, folder, hello):
        self.folder = folder
        self.hello = hello
        self.dropped = 0
        self.on_fork = []
        self.on_end = []
        self._open()
        os.register_at_fork(after_in_child=self._after_fork)

    def _open(self):
        lock = _thread.allocate_lock()
        self.acquire, self.release = lock.acquire, lock.release  # half the price of a `with`
        self.pid = os.getpid()
        self.at = self.ready = 0
        number = 0
        while True:
            self.path = os.path.join(self.folder, "%d-%d.told" % (self.pid, number))
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                break
            except FileExistsError:  # the same process before an exec, or one before it with its number
                number += 1
        try:
            os.ftruncate(file, ROOM)
            self.map = mmap.mmap(file, ROOM)
        finally:
            os.close(file)
        self.say(self.hello())

    def _after_fork(self):
        if not os.path.isdir(self.folder):  # the run is over, this is a daemon that outlives it
            return
        self._open()
        for each in self.on_fork:
            each()

    def say(self, line):
        """Write one line; where it begins, or -1 where there is no more room."""
        data = (line + "\n").encode()
        self.acquire()
        try:
            at = self.at
            end = at + len(data)
            if end > self.ready and not self._set_aside(end):
                self.dropped += 1
                return -1
            self.map[at:end] = data
            self.at = end
        finally:
            self.release()
        return at

    def _set_aside(self, end):
        """Have the disk's word for the next bytes: writing to a map that the disk has no room for kills the program."""
        ready = -(-end // STEP) * STEP
        if ready > ROOM:
            return False
        try:
            file = os.open(self.path, os.O_RDWR)
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file, self.ready, ready - self.ready)
            finally:
                os.close(file)
        except OSError:  # full, or the folder is gone
            return False
        self.ready = ready
        return True

    def ending(self):
        """The process is about to end without a word of Python's."""
        for each in self.on_end:
            each()

    def note(self, text):
        self.say('["note",%s]' % quoted(text))

    def lost(self, text):
        """Why nothing is heard of the program any more."""
        self.say('["note",%s,true]' % quoted(text))

    def beside(self, command):
        """A program that is no Python was started: what it starts in its turn may come up without us."""
        self.say('["beside",%s]' % quoted(command))

    def number(self, line, count=1):
        """Write a line with `%s` for each number that will change; how to rewrite them: functions of a count."""
        room, places = self.numbers(line, count)
        return [writer(room, place) for place in places]

    def numbers(self, line, count):
        """Such a line, as what it is in, and where each of its numbers begins there. Where there is no more room, in nothing."""
        blank = line % ((" " * (WIDTH - 1) + "0",) * count)
        at = self.say(blank)
        found, places = 0, []
        for _ in range(count):
            found = blank.index(" " * (WIDTH - 1) + "0", found)
            places.append(max(at, 0) + found)
            found += WIDTH
        return self.map if at >= 0 else bytearray(len(blank)), places


def writer(room, place):
    """A function of the count so far. It only ever grows by one, so that nine times of ten its last digit is all."""
    end = place + WIDTH
    last = end - 1

    def write(value):
        digit = value % 10
        if digit:
            room[last] = 48 + digit
        else:
            room[place:end] = b"%12d" % value

    return write
