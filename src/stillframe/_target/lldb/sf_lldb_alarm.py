"""Ends reading what takes too long inside lldb: the toolchain's formatters are Python, and some never come to an end."""

import ctypes
import threading
import time


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
                self._thread = threading.Thread(target=self._run, daemon=True)
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
                    self._alarm.ring()


_WATCHMAN = Watchman()


class Alarm(object):
    """What is done within is ended after a time, by TooLong, and again after as long where somebody has caught that (Rust 1.95's
    formatter of an `Option` of an enum with a `String`). There is never one within another."""

    def __init__(self, seconds, before):
        self._seconds = seconds
        self._before = before  # called first, to note what was at work
        self._thread = threading.get_ident()

    def __enter__(self):
        self.deadline = time.monotonic() + self._seconds
        _WATCHMAN.watch(self)
        return self

    def __exit__(self, *_error):
        _WATCHMAN.dismiss()
        return False

    def ring(self):
        self.deadline = time.monotonic() + self._seconds
        self._before()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(TooLong))
