"""Threads of `_thread.start_new_thread` itself: what goes wrong in one, or in starting it, is told as without a debugger.

pydevd 1.8.22 starts something of its own in the program's stead, which Python then names as what the thread was started by.
"""

import functools
import sys
import types

from _pydev_bundle import pydev_monkey
from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle import sf_reported
from _pydevd_bundle.pydevd_constants import get_global_debugger

WORDS = "Exception ignored in thread started by"
OURS = "_bootstrap"  # of threading.Thread, which reports errors by itself, and by which pydevd knows the thread
DUMMY = "Dummy-%d"  # how Python names the object of one, once somebody asks for it
DEBUGGERS = ("pydevd", "_pydevd_bundle", "_pydev_bundle")  # what our own modules are imported from, too


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


class Threading:
    """The threading module, for pydevd's start of such a thread. Python has no object for one before the program asks for it,
    and pydevd asks at once: what it gets has a number only when the program wants to know its name, so that those of the
    program's other threads are not shifted."""

    def __getattr__(self, name):
        return getattr(threading, name)

    def current_thread(self):
        if thread.get_ident() in threading._active:
            return threading.current_thread()
        return _unnumbered(threading._DummyThread)()


@functools.lru_cache(maxsize=None)
def _unnumbered(plain):
    """Python's class of such objects, which it becomes as soon as it has its number."""
    module = plain.__init__.__globals__

    class Unnumbered(plain):
        def __init__(self):
            begin = types.FunctionType(plain.__init__.__code__, dict(module, _newname=_no_name))
            begin(self)

        def _become_plain(self, name=None):
            numbered = module["_newname"](DUMMY)
            self.__class__ = plain
            self._name = numbered if name is None else name

        @property
        def _name(self):
            if _asks_for_itself(sys._getframe(1), module):
                return DUMMY.partition("-")[0]
            self._become_plain()
            return self._name

        @_name.setter
        def _name(self, name):
            if name != DUMMY:
                self._become_plain(name)

    Unnumbered.__name__ = Unnumbered.__qualname__ = plain.__name__
    return Unnumbered


def _no_name(template):
    return template


def _asks_for_itself(frame, module):
    """Whether it is the debugger that looks, and not the program by way of the threading module."""
    while frame is not None and frame.f_globals is module:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in DEBUGGERS


def patch():
    Report.learn()
    pydev_monkey.threading = Threading()
    startup = pydev_monkey._NewThreadStartupWithTrace
    startup.__init__ = _made(startup.__init__)
