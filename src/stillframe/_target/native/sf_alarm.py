"""Ends what takes too long inside gdb or lldb, as a printer of a broken container that never comes to its end."""

import threading
import time

LATE = 0.1
"""Seconds by which we are late ourselves where nobody of this process had a processor for a while."""


class TooLong(Exception):
    """A value took longer to read than it may."""


class Watchman(object):
    """One thread for all alarms, since a thread for each value costs more than reading it; sleeps while none is set."""

    def __init__(self, thread):
        self._make = thread  # gdb has a class of its own, whose threads take no signals
        self._change = threading.Condition()
        self._alarm = None
        self._until = None
        self._thread = None

    def watch(self, alarm):
        with self._change:
            self._alarm = alarm
            if self._thread is None:
                self._thread = self._make(target=self._run, daemon=True)
                self._thread.start()
            elif self._until is None or alarm.deadline < self._until:
                self._change.notify()

    def dismiss(self):
        """From here on nothing rings."""
        with self._change:
            self._alarm = None

    def _run(self):
        with self._change:
            while True:
                self._until = None if self._alarm is None else self._alarm.deadline
                if self._until is None:
                    self._change.wait()
                elif self._until > time.monotonic():
                    self._change.wait(self._until - time.monotonic())
                elif self._alarm.excuses(time.monotonic() - self._until):
                    continue
                elif not self._alarm.ring():
                    self._alarm = None


class Alarm(object):
    """What is done within is ended after a time, by TooLong. There is never one within another."""

    watchman = None  # each debugger's own

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.deadline = time.monotonic() + self.seconds
        self.excused = False
        self.watchman.watch(self)
        return self

    def excuses(self, late):
        """Whether what is done has its time once more, since it may have had none of it: for once."""
        if late < LATE or self.excused:
            return False
        self.excused = True
        self.deadline = time.monotonic() + self.seconds
        return True

    def __exit__(self, kind, error, trace):
        self.watchman.dismiss()
        return False

    def ring(self):
        """End it; true where this alarm is to ring again at its new deadline."""
        raise NotImplementedError
