"""Threads of `_thread.start_new_thread` itself: what goes wrong in one, or in starting it, is told as without a debugger.

pydevd 1.8.22 starts something of its own in the program's stead, which Python then names as what the thread was started by.
"""

import sys

from _pydev_bundle import pydev_monkey
from _pydev_bundle._pydev_saved_modules import thread
from _pydevd_bundle import sf_reported
from _pydevd_bundle.pydevd_constants import get_global_debugger

WORDS = "Exception ignored in thread started by"
OURS = "_bootstrap"  # of threading.Thread, which reports errors by itself, and by which pydevd knows the thread


class Report:
    """Python has no name for what it gives to `sys.unraisablehook`, and its own hook takes nothing else."""

    kind = None

    class Wanted(Exception):
        pass

    class Goes:
        def __del__(self):
            raise Report.Wanted

    @classmethod
    def learn(cls):
        before = sys.unraisablehook

        def taken(told):
            if told.exc_type is cls.Wanted:
                cls.kind = type(told)
            else:
                before(told)

        sys.unraisablehook = taken
        try:
            cls.Goes()
        finally:
            sys.unraisablehook = before


class Bare:
    """What such a thread runs, for pydevd: an error that leaves it is reported here, before it comes to pydevd's own call."""

    def __init__(self, function):
        self._function = function

    def __call__(self, *arguments, **options):
        try:
            self._function(*arguments, **options)
        except SystemExit:
            raise  # which ends the thread, and is nobody's news
        except BaseException as error:
            error.__traceback__ = error.__traceback__.tb_next
            db = get_global_debugger()
            if db is not None and not db.pydb_disposed:
                sf_reported.hold(db, error, error.__traceback__)  # as pydevd does with what leaves its own call
            sys.unraisablehook(_report(error, self._function))


def _report(error, function):
    """As Python's own: from 3.13 on the whole line is in words, before that Python adds what it is about to them."""
    words, about = WORDS, function
    if sys.version_info >= (3, 13):
        words, about = _line(function), None
    return Report.kind((type(error), error, error.__traceback__, words, about))


def _line(function):
    try:
        return "%s %r" % (WORDS, function)
    except Exception:
        return None  # then Python has no such line either


def _made(init):
    def made(self, original_func, args, kwargs):
        if not (callable(original_func) and isinstance(args, tuple) and isinstance(kwargs, dict)):
            # Python's own, for its own words of what is wrong with these
            pydev_monkey.get_original_start_new_thread(thread)(original_func, args, kwargs)
        plain = getattr(original_func, "__name__", None) != OURS
        init(self, Bare(original_func) if plain else original_func, args, kwargs)

    return made


def patch():
    Report.learn()
    startup = pydev_monkey._NewThreadStartupWithTrace
    startup.__init__ = _made(startup.__init__)
