"""unittest as `python -m unittest` runs it, telling of each test as it ends, and of each failure with its living frames."""

import ast
import faulthandler
import functools
import importlib.util
import os
import sys
import unittest

import sf_evidence
from sf_journal import Journal
from sf_setups import SetUps

_JOURNAL = Journal.take()
_TARGET = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _writer():
    spec = importlib.util.spec_from_file_location("sf_plain", os.path.join(_TARGET, "sf_plain.py"))
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    return plain.values(_TARGET)


class Witness:
    """What the results of a run are told to, beside whoever else hears of them."""

    def __init__(self, journal):
        self.journal = journal
        self.told = 0
        self.unread = 0  # modules that unittest counts as a test each
        self.imports = {}
        self.failed = set()
        self.running = None
        self.setups = SetUps(sf_evidence.is_user)
        self.teller = sf_evidence.Teller(_writer())

    def started(self, test):
        self.running = test
        self.setups.begun(type(test), getattr(test, getattr(test, "_testMethodName", ""), None))
        self.journal.tell("running", id=test.id())

    def ended(self, test, outcome, reason=""):
        if test.id() not in self.failed:
            self.journal.tell("test", id=test.id(), when="call", outcome=outcome, reason=str(reason)[:200])

    def failure(self, test, raised, label=""):
        error, trace = raised[1], raised[2]
        name = getattr(test, "_testMethodName", "")
        if type(test).__name__ == "_FailedTest":  # what stands for a module that could not be imported
            cause = self.imports.get(name, error)
            self.journal.tell("uncollected", id=name, evidence=self.teller.evidence(cause))
            self.failed.add(test.id())
            self.unread += 1
            return
        self.told += 1
        self.failed.add(test.id())
        if self.told > self.journal.asked["most"]:
            evidence = self.teller.brief(error, trace)
        else:
            evidence = self.teller.evidence(error, trace)
            evidence["operands"] = self._operands(trace)
            evidence["given"] = self.setups.given(type(test), evidence["made"])
        when = "call" if name else "setup"
        self.journal.tell("test", id=test.id(), when=when, outcome="failed", evidence=evidence, label=label)
        if self.journal.asked["hold"] and self.told == 1:
            sf_evidence.hold(error, trace)

    def interrupted(self, error):
        """What no test may raise, as Ctrl-C does: it ends them all, and unittest reports none of it."""
        if self.running is not None:
            self.failure(self.running, (type(error), error, error.__traceback__))

    def subtest(self, test, subtest, raised):
        if raised is not None:
            self.failure(test, raised, subtest.id()[len(test.id()) :].strip())

    def unexpected(self, test):
        evidence = {"type": "", "message": "it passed, and was expected to fail", "frames": []}
        self.failed.add(test.id())
        self.journal.tell("test", id=test.id(), when="call", outcome="failed", evidence=evidence, label="")

    def _operands(self, trace):
        """What was given to the assertion: the arguments of the first call of unittest's own behind the user's frame."""
        steps = sf_evidence.walk(trace)
        at = next((i for i in range(len(steps) - 1, -1, -1) if "__unittest" not in steps[i][0].f_globals), -1)
        if at < 0 or at + 1 >= len(steps):
            return []
        (frame, line), code = steps[at], steps[at + 1][0].f_code
        if code.co_name == "__exit__":
            return []  # of `with self.assertRaises(…)`: what it is given is no operand of anybody's
        given = steps[at + 1][0].f_locals
        names = [name for name in code.co_varnames[1 : code.co_argcount] if name not in ("msg", "self", "standardMsg")]
        node = sf_evidence.statement(frame.f_code.co_filename, line)
        sources = _sources(frame.f_code.co_filename, node)
        rows = []
        for place, name in enumerate(names):
            source, written = sources[place] if place < len(sources) else (name, False)
            if name in given and not written:
                rows.append(self.teller.value(source, given[name]))
        return rows


def _sources(file, node):
    """(source, whether it is written out) of each argument of the assertion's call."""
    call = getattr(node, "value", None)
    if not isinstance(call, ast.Call):
        return []
    return [(sf_evidence.segment(file, each), sf_evidence.is_literal(each)) for each in call.args]


def _also(name, tell):
    """Have a method of every result tell the witness first: unittest 3.11 takes its own frames out of a traceback."""
    plain = getattr(unittest.TestResult, name)

    @functools.wraps(plain)
    def method(self, *arguments):
        tell(*arguments)
        plain(self, *arguments)

    setattr(unittest.TestResult, name, method)


def _install(witness):
    _also("startTest", witness.started)
    _also("addSuccess", lambda test: witness.ended(test, "passed"))
    _also("addSkip", lambda test, reason: witness.ended(test, "skipped", reason))
    _also("addExpectedFailure", lambda test, raised: witness.ended(test, "xfailed"))
    _also("addUnexpectedSuccess", witness.unexpected)
    _also("addFailure", witness.failure)
    _also("addError", witness.failure)
    _also("addSubTest", witness.subtest)
    made = unittest.loader._make_failed_import_test

    def make_failed_import_test(name, suite_class):
        witness.imports[name.rpartition(".")[2]] = sys.exc_info()[1]
        witness.imports[name] = sys.exc_info()[1]
        return made(name, suite_class)

    unittest.loader._make_failed_import_test = make_failed_import_test


def _tell_signals():
    """Have Python write where it is when a fatal signal ends it, as pytest does."""
    try:
        if not faulthandler.is_enabled():
            faulthandler.enable(all_threads=False)
    except (AttributeError, OSError, RuntimeError, ValueError):
        return  # it has no standard error


def _main():
    _JOURNAL.hello("unittest", ".".join(str(part) for part in sys.version_info[:3]))
    sys.argv[0] = "python -m unittest"
    witness = Witness(_JOURNAL) if _JOURNAL.asked is not None else None
    if witness is not None:
        _install(witness)
        _tell_signals()
    try:
        program = unittest.main(module=None, exit=False)
    except KeyboardInterrupt as error:
        if witness is not None:
            witness.interrupted(error)
        raise
    count = program.result.testsRun - (witness.unread if witness is not None else 0)
    _JOURNAL.tell("collected", count=count, names=[])
    _JOURNAL.tell("end", status=0 if program.result.wasSuccessful() else 1)
    sys.exit(not program.result.wasSuccessful())


if __name__ == "__main__":
    _main()
