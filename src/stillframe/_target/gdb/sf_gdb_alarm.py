"""Ends what takes too long inside gdb: a printer of a broken container may never come to its end. Runs inside gdb."""

import threading
import time

import gdb


class TooLong(Exception):
    """A value took longer to read than it may."""


class Watchman(object):
    """One thread for all alarms, since a thread for each value costs more than reading it; sleeps while none is set."""

    def __init__(self):
        self._change = threading.Condition()
        self._alarm = None
        self._until = None
        self._thread = None

    def watch(self, alarm):
        with self._change:
            self._alarm = alarm
            if self._thread is None:
                self._thread = gdb.Thread(target=self._run, daemon=True)
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
                else:
                    self._alarm.rang, self._alarm = True, None
                    gdb.interrupt()


_WATCHMAN = Watchman()


class Alarm(object):
    """What is done within is ended after a time, by TooLong; there is never one within another."""

    def __init__(self, seconds):
        self._seconds = seconds
        self.rang = False

    def __enter__(self):
        self.deadline = time.monotonic() + self._seconds
        if hasattr(gdb, "interrupt"):
            _WATCHMAN.watch(self)
        return self

    def __exit__(self, kind, error, trace):
        _WATCHMAN.dismiss()
        if not self.rang:
            return False
        if kind is None:
            _forget_interrupt()
        raise TooLong()  # whatever came of it: printers take the interrupt for an error of theirs


def _forget_interrupt():
    """It came when all was done: whatever is next must not be what it ends."""
    try:
        gdb.execute("help echo", to_string=True)
    except (KeyboardInterrupt, gdb.error):
        pass
