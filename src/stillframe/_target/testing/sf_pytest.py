"""A plugin of pytest's that tells of each test as it ends, and of each failure with the evidence of its living frames.

Loaded by `-p sf_pytest`. It changes nothing but one thing: pytest-xdist runs the tests in this process, where their frames are.
"""

import importlib.util
import os
import re
import sys

import pytest
import sf_evidence
from sf_journal import Journal
from sf_setups import SetUps, place

OUTPUT = 4000  # characters of what a test printed, the newest
_JOURNAL = Journal.take()
_TARGET = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _writer():
    spec = importlib.util.spec_from_file_location("sf_plain", os.path.join(_TARGET, "sf_plain.py"))
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    return plain.values(_TARGET)


class Witness:
    """The hooks, and what they know of the test that runs."""

    def __init__(self, journal):
        self.journal = journal
        self.most = journal.asked["most"]
        self.told = 0
        self.comparison = None
        self.pending = {}
        self.teller = sf_evidence.Teller(_writer())
        self._here = self._root = os.getcwd()
        self.running = None
        self.interrupted = False
        self.fixtures = {}  # how often each fixture of the user's was set up
        self.given = {}  # what a fixture last gave, by its name
        self.setups = SetUps(sf_evidence.is_user)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        if getattr(config.option, "numprocesses", None):
            config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []

    def pytest_sessionstart(self, session):
        config = session.config
        self._root = str(config.rootpath if hasattr(config, "rootpath") else config.rootdir)

    def name(self, nodeid):
        """pytest names tests from its root directory; a user who is elsewhere has to give a path from there."""
        file, colons, rest = nodeid.partition("::")
        path = os.path.join(self._root, file)
        return (os.path.relpath(path, self._here) if file and os.path.exists(path) else file) + colons + rest

    def pytest_collection_finish(self, session):
        names = [self.name(item.nodeid) for item in session.items[:2000]] if self.journal.asked["names"] else []
        self.journal.tell("collected", count=len(session.items), names=names)

    def pytest_deselected(self, items):
        self.journal.tell("deselected", count=len(items))

    def pytest_runtest_logstart(self, nodeid, location):
        self.running = self.name(nodeid)
        self.journal.tell("running", id=self.running)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        yield
        code = getattr(fixturedef.func, "__code__", None)
        result = getattr(fixturedef, "cached_result", None)
        if code is None or result is None or not sf_evidence.is_user(code):
            return
        self.fixtures[code] = number = self.fixtures.get(code, 0) + 1
        self.given[fixturedef.argname] = (id(result[0]), place(fixturedef.argname, code, number))

    def pytest_runtest_setup(self, item):
        if not _is_case(item):
            self.setups.begun(getattr(item, "cls", None), item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        if _is_case(item):  # unittest prepares its own tests, as they are called
            self.setups.begun(item.cls, getattr(item.cls, item.name, None))

    def pytest_assertrepr_compare(self, config, op, left, right):
        self.comparison = (left, right)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        comparison, self.comparison = self.comparison, None
        if report.outcome != "failed" or getattr(report, "wasxfail", None) is not None:
            return
        self.told += 1
        if call.excinfo is None:
            self.pending[item.nodeid] = {
                "type": "",
                "message": str(report.longrepr)[: sf_evidence.MESSAGE],
                "frames": [],
            }
            return
        error, trace = call.excinfo.value, call.excinfo.value.__traceback__
        row = dict(self._evidence(error, trace, comparison), **_unknown(report.longrepr))
        self.pending[item.nodeid] = dict(row, given=self._given(item, row))
        if self.journal.asked["hold"] and self.told == 1:
            self._tell(report)
            sf_evidence.hold(error, trace)

    def _evidence(self, error, trace, comparison):
        if self.told > self.most:
            return self.teller.brief(error, trace)
        row = self.teller.evidence(error, trace)
        at = sf_evidence.innermost(sf_evidence.walk(trace))
        if comparison is not None and at is not None and isinstance(error, AssertionError):
            file = at[0].f_code.co_filename
            node = sf_evidence.statement(file, at[1])
            row["operands"] = sf_evidence.compared(self.teller, file, node, *comparison)
        return row

    def _given(self, item, row):
        """The fixture that gave what the failing statement uses, where nothing in the test itself made that."""
        made = row.get("made") or {}
        values = getattr(item, "funcargs", {})
        for name in made.get("uses", ()) if made and not made["lines"] else ():
            known, giver = self.given.get(name, (None, None))
            if name in values and known == id(values[name]):
                return giver
        return self.setups.given(getattr(item, "cls", None), made)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self._tell(report)

    def _tell(self, report):
        outcome = report.outcome
        if getattr(report, "wasxfail", None) is not None:
            outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
        row = {
            "id": self.name(report.nodeid),
            "when": report.when,
            "outcome": outcome,
            "seconds": getattr(report, "duration", 0.0),
        }
        if outcome == "failed":
            evidence = self.pending.pop(report.nodeid, None)
            if evidence is None and self.journal.asked["hold"]:
                return  # told before it was held
            row["evidence"] = evidence or {
                "type": "",
                "message": report.longreprtext[: sf_evidence.MESSAGE],
                "frames": [],
            }
            row["label"] = _label(getattr(report, "context", None))
            row["printed"], row["printed_total"] = _printed(report.sections)
        elif outcome in ("skipped", "xfailed"):
            row["reason"] = _reason(report)
        self.journal.tell("test", **row)

    def pytest_exception_interact(self, node, call, report):
        if type(report).__name__ != "CollectReport":  # public from pytest 7 on
            return
        error = call.excinfo.value
        if error.__cause__ is not None and type(error).__name__ == "CollectError":
            error = error.__cause__  # pytest wraps what importing a test file raised
        evidence = self.teller.evidence(error)
        self.journal.tell("uncollected", id=self.name(report.nodeid), evidence=evidence)

    @pytest.hookimpl(optionalhook=True)
    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        """An error that ended a thread fails no test: pytest 6 and later warn of it, and it may be why one failed."""
        text = str(warning_message.message)
        thread = re.match(r"Exception in thread (.+)", text)
        places = [
            each
            for each in re.findall(r'  File "(.+)", line (\d+), in (\S+)', text)
            if sf_evidence.is_file_users(each[0])
        ]
        said = re.findall(r"^\w[\w.]*(?:Error|Exception|Exit|Interrupt)\b.*", text, re.MULTILINE)
        if thread and said:
            at = " at %s:%s in %s" % ((os.path.relpath(places[-1][0], self._here),) + places[-1][1:]) if places else ""
            where = "in %s, " % self.name(nodeid) if nodeid else ""
            self.journal.tell("aside", text="%sthread %s ended by %s%s" % (where, thread[1], said[-1][:200], at))

    def pytest_keyboard_interrupt(self, excinfo):
        """What no test may raise, as pytest.exit() does, too: it ends them all, and pytest reports none of it."""
        if self.running is None:
            return
        self.interrupted = True
        self.told += 1
        evidence = self._evidence(excinfo.value, excinfo.value.__traceback__, None)
        self.journal.tell("test", id=self.running, when="call", outcome="failed", seconds=0.0, evidence=evidence)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if not self.interrupted:
            self.journal.tell("end", status=int(exitstatus))


def _unknown(shown):
    """Of a fixture that there is none of, what pytest itself says: the exception has only its name."""
    said = getattr(shown, "errorstring", None)
    if type(said) is not str:
        return {}
    lines = [line.strip("> ") for line in said.strip().splitlines()]
    file, line = getattr(shown, "filename", None), getattr(shown, "firstlineno", None)
    place = {"file": os.path.abspath(str(file)), "line": line + 1} if file and type(line) is int else {}
    return dict(place, message="\n".join(lines[:2])[: sf_evidence.MESSAGE])


def _is_case(item):
    """Whether unittest runs it."""
    return any(kind.__module__ == "unittest.case" for kind in getattr(getattr(item, "cls", None), "__mro__", ()))


def _label(context):
    """What tells a subtest from its siblings."""
    if context is None:
        return ""
    words = [str(context.msg)] if getattr(context, "msg", None) else []
    words += ["%s=%.40r" % pair for pair in dict(getattr(context, "kwargs", None) or {}).items()]
    return ", ".join(words)


def _printed(sections):
    """What a test printed, by stream: the newest part; and how much it was in all, where that is not all."""
    rows, total = {}, 0
    for title, text in sections:
        stream = next((each for each in ("stdout", "stderr", "log") if each in title), None)
        if stream is not None:
            total += len(text)
            rows[stream] = (rows.get(stream, "") + text)[-OUTPUT:]
    return rows, total if total > sum(map(len, rows.values())) else 0


def _reason(report):
    why = getattr(report, "wasxfail", "")
    if not why and isinstance(report.longrepr, tuple):
        why = str(report.longrepr[2])
    return why[:200]


@pytest.hookimpl(hookwrapper=True)  # which is called before those that want to be first
def pytest_load_initial_conftests(early_config):
    """Until Python 3.11 there is one tracer: where the recorder is that, in a further run of the tests, pytest-cov measures
    nothing, as by `--no-cov`."""
    if "_stillframe_recording.sfr_settrace" in sys.modules:
        early_config.known_args_namespace.no_cov = True
    yield


def pytest_configure(config):
    if _JOURNAL.asked is not None and not config.pluginmanager.has_plugin("stillframe"):
        _JOURNAL.hello("pytest", pytest.__version__)


def pytest_addhooks(pluginmanager):
    if _JOURNAL.asked is not None:
        pluginmanager.register(Witness(_JOURNAL), "stillframe-witness")
