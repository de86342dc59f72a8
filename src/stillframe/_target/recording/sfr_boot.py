"""Arms the recorder in this process: reads what is asked, says hello, and listens by the best way that this Python has."""

import json
import os
import re
import sys

from . import sfr_find, sfr_probe, sfr_trace
from .sfr_started import Started
from .sfr_told import Told, quoted

_PLUMBING = re.compile(r"multiprocessing[./](resource_tracker|semaphore_tracker)")


def begin(folder):
    words = list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", None) or [])
    if any(_PLUMBING.search(each) for each in words):
        return
    with open(os.path.join(folder, "ask.json"), "rb") as file:
        ask = json.loads(file.read().decode("utf-8"))
    monitors = hasattr(sys, "monitoring")

    def hello():
        return '["hello",%d,%d,%s,%s,[%s]]' % (
            os.getpid(), os.getppid(), quoted(sfr_find.version()), quoted("sys.monitoring" if monitors else "sys.settrace"),
            ",".join(quoted(each) for each in words[:8]),
        )  # fmt: skip

    told = Told(folder, hello)
    all_code = ask.get("all_code", False)
    if ask.get("trace"):
        _trace(dict(ask["trace"], text=ask.get("text", 100)), told, all_code, monitors)
    elif ask.get("probes"):
        _probe(ask, told, all_code, monitors)
    Started(told).install()


def _trace(ask, told, all_code, monitors):
    trace = sfr_trace.Trace(ask, told, all_code)
    finder = sfr_find.Finder(told, [trace], all_code)
    trace.name_of = finder.name_of
    _listening(told, monitors, "Trace", trace, finder)


def _probe(ask, told, all_code, monitors):
    probes = [sfr_probe.Probe(each, told, ask.get("text", 100)) for each in ask["probes"]]
    finder = sfr_find.Finder(told, probes, all_code)
    for each in probes:
        each.name_of = finder.name_of
    _listening(told, monitors, "Probe", probes, finder)


def _listening(told, monitors, kind, what, finder):
    if not monitors:
        from . import sfr_settrace

        if sys.gettrace() is not None:
            told.lost("a tracer was here before the recorder, so nothing is recorded")
            return
        getattr(sfr_settrace, kind + "Tracer")(told, what, finder)
        return
    from . import sfr_monitoring

    try:
        getattr(sfr_monitoring, kind + "Ears")(told, what, finder)
    except sfr_monitoring.NoTool as error:
        told.lost("nothing is recorded: %s" % error)
