"""Alarms inside lldb: the toolchain's formatters are Python, and some of them never come to an end."""

import ctypes
import threading
import time

import sf_alarm
from sf_alarm import TooLong


class Alarm(sf_alarm.Alarm):
    """Rings again after as long where somebody has caught it: Rust 1.95's formatter of an `Option` of an enum with a `String`."""

    watchman = sf_alarm.Watchman(threading.Thread)

    def __init__(self, seconds, before):
        sf_alarm.Alarm.__init__(self, seconds)
        self._before = before  # called first, to note what was at work
        self._thread = threading.get_ident()

    def ring(self):
        self.deadline = time.monotonic() + self.seconds
        self._before()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(TooLong))
        return True
