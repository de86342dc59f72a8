"""A probed place: counts its hits, keeps what its expressions were, checks the claims made there, all inside the program."""

import os
import sys
import threading
import types
from operator import itemgetter

from . import sfr_code
from .sfr_find import holders, next_line
from .sfr_texts import UNTOLD, Texts
from .sfr_told import quoted

_SIMPLE = frozenset({int, float, str, bool, type(None), bytes})
_LOOKED = 2000  # hits whose larger values are compared by their text
_EVIDENCE = 40  # locals of one hit
_FRAMES = 12
_WIDTH = 26


class _Extent:
    """What one expression was."""

    def __init__(self, probe, index):
        self.probe = probe
        self.index = index
        self.least = self.most = None
        self.others = 0
        self.seen = set()
        self.full = False
        self.looked = 0
        told = probe.told
        blank = " " * _WIDTH
        line = '["extent",%d,%d,"%s","%s",%12d]' % (probe.place, index, blank, blank, 0)
        at = told.say(line)
        self.map = told.map if at >= 0 else bytearray(len(line))
        at = max(at, 0)
        self.at_least = at + line.index(blank)
        self.at_most = at + line.index(blank, line.index(blank) + _WIDTH)
        self.at_others = at + line.rindex(",") + 1

    def take(self, value):
        kind = type(value)
        if kind is int or kind is float:
            if self.least is None:
                self.least = self.most = value
                self._write(self.at_least, value)
                self._write(self.at_most, value)
            elif value < self.least:
                self.least = value
                self._write(self.at_least, value)
            elif value > self.most:
                self.most = value
                self._write(self.at_most, value)
        else:
            self.others += 1
            self.map[self.at_others : self.at_others + 12] = b"%12d" % self.others
        if not self.full and (kind not in _SIMPLE or (kind, value) not in self.seen):
            self._distinct(kind, value)

    def _distinct(self, kind, value):
        if kind in _SIMPLE:
            key = (kind, value)
        else:
            self.looked += 1
            if self.looked > _LOOKED:
                self._fill(str(self.probe.hits - 1))
                return
            key = (kind, self.probe.texts.text(value))
            if key in self.seen:
                return
        if len(self.seen) >= self.probe.most_distinct:
            self._fill()
            return
        self.seen.add(key)
        self._say(kind.__name__, self.probe.texts.text(value), "false")

    def _fill(self, looked=""):
        """Tell values apart no more: there are too many, or enough hits were looked at, of which the number is told."""
        self.full = True
        self.seen = set()
        self._say("", looked, "true")

    def _say(self, kind, text, more):
        probe = self.probe
        probe.told.say('["distinct",%d,%d,%s,%s,%s]' % (probe.place, self.index, quoted(kind), quoted(text), more))

    def failed(self):
        self.others += 1
        self.map[self.at_others : self.at_others + 12] = b"%12d" % self.others

    def _write(self, at, value):
        text = repr(value) if type(value) is float or -(10**24) < value < 10**24 else "%e" % value
        self.map[at : at + _WIDTH] = text.rjust(_WIDTH).encode("ascii")


class Probe:
    """One place that was asked for."""

    def __init__(self, ask, told, room):
        self.place = ask["place"]
        self.where = ask["where"]
        self.evals = tuple(ask.get("evals", ()))
        self.expects = tuple(ask.get("expects", ()))
        self.condition = ask.get("condition")
        self.samples = ask.get("samples", 500)
        self.most_distinct = ask.get("distinct", 256)
        self.evidence = ask.get("evidence", 1)
        self.told = told
        self.texts = Texts(room)
        self.arm = lambda probe, code, line, entries: None
        self.name_of = lambda code: code.co_name
        self.armed = {}
        self.lock = threading.Lock()
        self.acquire, self.release = self.lock.acquire, self.lock.release
        self.claims = slice(len(self.evals), len(self.evals) + len(self.expects))  # of the values of one hit
        self.begun = False
        self.fast = self.space = None
        told.on_fork.append(self._forked)

    def _forked(self):
        """A child of the program counts from nothing."""
        self.begun = False
        armed, self.armed = self.armed, {}
        for code, name, line in armed.values():
            self._tell_found(code, name, line)
            self.armed[id(code), line] = (code, name, line)

    # Finding

    def found(self, code, name):
        """A function by its name: its beginning is the place."""
        self._at(code, name, None)

    def in_module(self, code, inner, finder):
        if self.where.get("file") != sfr_code.real(code.co_filename) or self.where.get("line") is None:
            return
        asked = self.where["line"]
        line = next_line(code, inner, asked)
        if line is None:
            self._missing("%s holds no code from line %d on" % (os.path.basename(code.co_filename), asked))
            return
        here = holders(code, inner, line)
        for each, name in here:
            self._at(each, name, line)

    def _missing(self, reason):
        self.told.say('["missing",%d,%s]' % (self.place, quoted(reason)))

    def _at(self, code, name, line):
        if (id(code), line) in self.armed:
            return
        found = {None: None}
        if line is not None:
            statements = sfr_code.Statements(code)
            line = statements.first.get(line, line)
            found = sfr_code.entries(code, line, statements)
            if line in statements.whole_loops and sys.version_info >= (3, 12):
                self.told.note(
                    "line %d holds a whole loop, of which Python %d.%d tells once, not each turn: give its body a line of its own"
                    % (line, sys.version_info[0], sys.version_info[1])
                )
        self.armed[id(code), line] = (code, name, line)
        self._tell_found(code, name, line)
        for raw, entries in found.items():
            self.arm(self, code, raw, entries)

    def _tell_found(self, code, name, line):
        at = code.co_firstlineno if line is None else line
        where = quoted(sfr_code.real(code.co_filename))
        self.told.say('["found",%d,%s,%s,%d]' % (self.place, quoted(sfr_code.plain_name(name)), where, at))

    # Hits

    def _begin(self, frame):
        """At the first hit: the numbers that will change, and the expressions as one function of the names that they use."""
        claims = ",".join(["[%s,%s]"] * len(self.expects))
        count = 1 + 2 * len(self.expects)
        writers = self.told.number('["tally",%d,%%s,[%s]]' % (self.place, claims), count)
        self.write_hits, self.write_claims = writers[0], writers[1:]
        self.extents = [_Extent(self, index) for index in range(len(self.evals))]
        self.hits = 0
        self.violated = [0] * len(self.expects)
        self.errors = [0] * len(self.expects)
        self.complained = set()
        self.shown = set()
        self.stride, self.next_sample, self.sampled = 1, 1, 0
        self.begun = True

    def _prepare(self, frame):
        """The expressions as one function; names that are the frame's own become its parameters."""
        self.space = frame.f_globals
        code = frame.f_code
        parts = [*self.evals, *self.expects]
        body = "(" + "".join("(\n%s\n)," % each for each in parts) + "None,)"
        if self.condition:
            body = "(\n%s\n) and %s" % (self.condition, body)
        own = code.co_varnames + code.co_cellvars + code.co_freevars
        used = compile("lambda: " + body, "<probe>", "eval").co_consts[0]
        names = sorted(_names(used) & set(own)) if code.co_flags & sfr_code.FUNCTION else None
        self.names = names
        if names is None:  # a module's or a class's own level
            self.fast = None
            self.whole = compile(body, "<probe>", "eval")
            return
        made = compile("lambda %s: %s" % (", ".join(names), body), "<probe>", "eval")
        self.fast = types.FunctionType(made.co_consts[0], frame.f_globals)
        self.pick = itemgetter(*names) if len(names) > 1 else None

    def hit(self, frame):
        if self.space is not frame.f_globals:
            self._prepare(frame)
        try:
            if self.fast is None:
                values = eval(self.whole, frame.f_globals, frame.f_locals)
            elif self.pick is not None:
                values = self.fast(*self.pick(frame.f_locals))
            elif self.names:
                values = self.fast(frame.f_locals[self.names[0]])
            else:
                values = self.fast()
        except Exception:
            self._one_by_one(frame)
            return
        if values:
            self._count(frame, values)

    def _count(self, frame, values):
        self.acquire()  # by hand, here where most of the time goes: half the price of a `with`
        try:
            if not self.begun:
                self._begin(frame)
            self.hits = number = self.hits + 1
            self.write_hits(number)
            for each, value in zip(self.extents, values):
                each.take(value)
            if number == self.next_sample and self.extents:
                self._sample(frame, number, [("", value) for value in values[: len(self.extents)]])
        finally:
            self.release()
        if not all(values[self.claims]):
            for claim, held in enumerate(values[self.claims]):
                if not held:
                    self._violated(frame, number, claim)
        if number <= self.evidence:
            self._show(frame, number, -1)

    def _violated(self, frame, number, claim):
        with self.lock:
            self.violated[claim] += 1
            self.write_claims[2 * claim](self.violated[claim])
            first = self.violated[claim] == 1
        if first:
            self._show(frame, number, claim)

    def _one_by_one(self, frame):
        """Some expression raised: each by itself, so that the others count all the same."""
        space = dict(frame.f_locals)
        results = []
        for index, each in enumerate([self.condition, *self.evals, *self.expects]):
            if each is None:
                continue
            try:
                results.append((True, eval("(\n%s\n)" % each, dict(frame.f_globals, **space))))
            except Exception as error:
                results.append((False, error))
            if index == 0 and not (results[0][0] and results[0][1]):
                if not results[0][0]:
                    self._complain(-1, 0, results[0][1])
                return
        self._count_each(frame, results[1:] if self.condition else results)

    def _count_each(self, frame, results):
        with self.lock:
            if not self.begun:
                self._begin(frame)
            self.hits = number = self.hits + 1
            self.write_hits(number)
            for index, each in enumerate(self.extents):
                fine, value = results[index]
                if fine:
                    each.take(value)
                else:
                    each.failed()
                    self._complain(index, number, value)
            if number == self.next_sample and self.extents:
                found = [("" if fine else "!", value) for fine, value in results[: len(self.extents)]]
                self._sample(frame, number, found)
        for claim, (fine, value) in enumerate(results[len(self.evals) :]):
            if not fine:
                with self.lock:
                    self.errors[claim] += 1
                    self.write_claims[2 * claim + 1](self.errors[claim])
                    first = self.errors[claim] == 1
                self._complain(len(self.evals) + claim, number, value)
                if first:
                    self._show(frame, number, claim)
            elif not value:
                self._violated(frame, number, claim)
        if number <= self.evidence:
            self._show(frame, number, -1)

    def _complain(self, which, number, error):
        if not self.begun or which not in self.complained:
            if self.begun:
                self.complained.add(which)
            elif which in getattr(self, "early", ()):
                return
            else:
                self.early = {which}
            text = quoted(self.texts.exception(error))
            self.told.say('["failed",%d,%d,%d,%s]' % (self.place, which, number, text))

    def _sample(self, frame, number, values):
        """Tell these values; fewer and fewer hits are told as there are more of them."""
        self.sampled += 1
        if self.sampled >= self.samples:
            self.sampled //= 2
            self.stride *= 2
        self.next_sample = number + self.stride
        told = ",".join([self._one_sample(kind, value) for kind, value in values])
        name = sfr_code.plain_name(self.name_of(frame.f_code))
        self.told.say('["sample",%d,%d,[%s],%s,%s]' % (self.place, number, told, quoted(name), quoted(_thread())))

    def _one_sample(self, kind, value):
        if kind:
            return '["!",%s]' % quoted(self.texts.exception(value))
        return "[%s,%s]" % (quoted(type(value).__name__), self.texts.quoted(value))

    def _show(self, frame, number, claim):
        """One hit with everything: its locals and the calls that led there."""
        if (number, claim) in self.shown:
            return
        self.shown.add((number, claim))
        names = []
        own = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        for name, value in sorted(frame.f_locals.items(), key=lambda pair: pair[0] not in own):
            if name[:1] in "@." or name.startswith("__") or type(value) in UNTOLD:
                continue
            names.append("[%s,%s,%s]" % (quoted(name), quoted(type(value).__name__), self.texts.quoted(value)))
            if len(names) >= _EVIDENCE:
                break
        stack = []
        while frame is not None and len(stack) < _FRAMES:
            code = frame.f_code
            if sfr_code.is_users(code.co_filename):
                name = sfr_code.plain_name(self.name_of(code))
                stack.append("[%s,%s,%d]" % (quoted(name), quoted(sfr_code.real(code.co_filename)), frame.f_lineno))
            frame = frame.f_back
        self.told.say(
            '["evidence",%d,%d,%d,[%s],[%s],%s]'
            % (self.place, number, claim, ",".join(names), ",".join(stack), quoted(_thread()))
        )


def _names(code):
    """Every name that an expression may take from around it, lambdas and comprehensions in it included."""
    found = set(code.co_names)
    for each in code.co_consts:
        if hasattr(each, "co_names"):
            found |= _names(each)
    return found


def _thread():
    thread = threading.current_thread()
    return "" if thread is threading.main_thread() else thread.name
