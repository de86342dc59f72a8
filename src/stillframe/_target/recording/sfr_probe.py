"""A probed place: counts its hits, keeps what its expressions were, checks the claims made there, all inside the program."""

import os
import sys
import threading

from . import sfr_code
from .sfr_find import holders, next_line
from .sfr_hit import Asked, Scopes, written
from .sfr_texts import UNTOLD, Texts
from .sfr_told import WIDTH, quoted, writer

_SIMPLE = frozenset({int, float, str, bool, type(None), bytes})
_LOOKED = 2000  # hits whose larger values are compared by their text
_EVIDENCE = 40  # locals of one hit
_FRAMES = 12
_OTHERS = 64  # functions of one name for which what is asked is kept ready
_WIDTH = 26
_LONG = 10**24  # whole numbers from here on are told as others are


class _Extent:
    """What one expression was."""

    def __init__(self, probe, index):
        self.probe = probe
        self.index = index
        self.least = self.most = None
        self.others = 0
        self.seen = {kind: set() for kind in _SIMPLE}
        self.ints = self.seen[int]
        self.distinct = 0
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
        self.write_others = writer(self.map, at + line.rindex(",") + 1)

    def take(self, value, number):
        """Take in the value of a hit. Answers whole numbers of which none would be news, as something to look them up in."""
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
            self.failed()
        if not self.full:
            known = self.seen.get(kind)
            if known is None or value not in known:
                self._distinct(kind, value, known, number)
        elif kind is int:
            self._see_range()
        return self.ints

    def _distinct(self, kind, value, known, number):
        key = value
        if known is None:
            self.looked += 1
            if self.looked > _LOOKED:
                self._fill(str(number - 1))
                return
            known = self.seen.setdefault(None, set())
            key = (kind, self.probe.texts.text(value))
            if key in known:
                return
        if self.distinct >= self.probe.most_distinct:
            self._fill()
            return
        self.distinct += 1
        known.add(key)
        self._say(kind.__name__, self.probe.texts.text(value, True), "false")

    def _fill(self, looked=""):
        """Tell values apart no more: there are too many, or enough hits were looked at, of which the number is told."""
        self.full = True
        self.seen = {}
        self.ints = ()
        self._see_range()
        self._say("", looked, "true")

    def _see_range(self):
        """Where values are told apart no more, all numbers between the least and the greatest are old."""
        if type(self.least) is int and type(self.most) is int:
            self.ints = range(self.least, self.most + 1)

    def _say(self, kind, text, more):
        probe = self.probe
        probe.told.say('["distinct",%d,%d,%s,%s,%s]' % (probe.place, self.index, quoted(kind), quoted(text), more))

    def failed(self):
        """One that is no number, or that could not be had."""
        self.others += 1
        self.write_others(self.others)

    def _write(self, at, value):
        if type(value) is int and -_LONG < value < _LONG:
            self.map[at : at + _WIDTH] = b"%26d" % value
        else:
            text = repr(value) if type(value) is float else "%e" % value
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
        self.making = threading.Lock()
        self._unmake()
        told.on_fork.append(self._forked)

    def _unmake(self):
        self.lock = threading.Lock()
        self.begun = False
        self.complained = set()
        self.others = {}
        self.scopes = Scopes()
        self.hit = self._first

    def _forked(self):
        """A child of the program counts from nothing."""
        self.making = threading.Lock()
        self._unmake()
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
        line = next_line(code, asked)
        if line is None:
            self._missing("%s holds no code from line %d on" % (os.path.basename(code.co_filename), asked))
            return
        for each, name in holders(code, line):
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

    def _first(self, frame, own=None):
        """The first hit: from now on it is a function for just what is asked here."""
        with self.making:
            if self.hit == self._first:
                self.asked = Asked(self.condition, self.evals, self.expects, frame)
                self.hit, self.counted, self.count = written(self, self.asked, self.lock, sfr_code.FILLS_LOCALS)
        self.hit(frame, own)

    def begin(self):
        """At the first hit that counts: the numbers that will change. Answers where and how that of the hits is written, and
        what takes the values in."""
        claims = ",".join(["[%s,%s]"] * len(self.expects))
        count = 1 + 2 * len(self.expects)
        room, places = self.told.numbers('["tally",%d,%%s,[%s]]' % (self.place, claims), count)
        write, *self.write_claims = [writer(room, place) for place in places]
        self.extents = [_Extent(self, index) for index in range(len(self.evals))]
        self.wrong = [0] * len(self.expects)
        self.errors = [0] * len(self.expects)
        self.complained = set()
        self.shown = set()
        self.stride, self.next_sample, self.sampled = 1, 1, 0
        self.begun = True
        return room, places[0] + WIDTH - 1, write, [each.take for each in self.extents]

    def elsewhere(self, frame):
        """A hit in other code than that of the first, or in the same with other globals: what names mean there is its own."""
        try:
            key = id(frame.f_code), id(frame.f_globals)
            asked = self.others.get(key)
            if asked is None:  # it holds on to both, so that their ids stay theirs
                if len(self.others) >= _OTHERS:
                    self.others.clear()
                asked = self.others[key] = Asked(self.condition, self.evals, self.expects, frame)
            values = asked.values(frame, frame.f_locals)
        except Exception:
            self.one_by_one(frame)
            return
        if values:
            self.counted(frame, *values)

    def violated(self, frame, number, claim):
        with self.lock:
            self.wrong[claim] += 1
            self.write_claims[2 * claim](self.wrong[claim])
            first = self.wrong[claim] == 1
        if first:
            self.show(frame, number, claim)

    def one_by_one(self, frame):
        """Some expression raised: each by itself, so that the others count all the same."""
        results = []
        for index, each in enumerate([self.condition, *self.evals, *self.expects]):
            if each is None:
                continue
            try:
                value = self.scopes.value(each, frame, frame.f_locals)
                is_claim = index == 0 or index > len(self.evals)
                results.append((True, bool(value) if is_claim else value))  # an array may be neither true nor false
            except Exception as error:
                results.append((False, error))
            if index == 0 and not (results[0][0] and results[0][1]):
                if not results[0][0]:
                    self._complain(-1, 0, results[0][1])
                return
        self._count_each(frame, results[1:] if self.condition else results)

    def _count_each(self, frame, results):
        with self.lock:
            number = self.count()
            for index, each in enumerate(self.extents):
                fine, value = results[index]
                if fine:
                    each.take(value, number)
                else:
                    each.failed()
                    self._complain(index, number, value)
            if self.extents:
                self._sample_each(
                    frame, number, [("" if fine else "!", value) for fine, value in results[: len(self.extents)]]
                )
        for claim, (fine, value) in enumerate(results[len(self.evals) :]):
            if not fine:
                with self.lock:
                    self.errors[claim] += 1
                    self.write_claims[2 * claim + 1](self.errors[claim])
                    first = self.errors[claim] == 1
                self._complain(len(self.evals) + claim, number, value)
                if first:
                    self.show(frame, number, claim)
            elif not value:
                self.violated(frame, number, claim)
        if number <= self.evidence:
            self.show(frame, number, -1)

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

    def sample(self, frame, number, values):
        """Tell these values, if it is their turn; which hit is the next."""
        self._sample_each(frame, number, [("", value) for value in values])
        return self.next_sample

    def _sample_each(self, frame, number, values):
        """Tell values, or what kept them from being had; fewer and fewer hits are told as there are more of them."""
        if number != self.next_sample:
            return
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
        return "[%s,%s]" % (quoted(type(value).__name__), self.texts.quoted(value, True))

    def show(self, frame, number, claim):
        """One hit with everything: its locals and the calls that led there."""
        if (number, claim) in self.shown:
            return
        self.shown.add((number, claim))
        names = []
        own = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        for name, value in sorted(frame.f_locals.items(), key=lambda pair: pair[0] not in own):
            if name[:1] in "@." or name.startswith("__") or type(value) in UNTOLD:
                continue
            names.append("[%s,%s,%s]" % (quoted(name), quoted(type(value).__name__), self.texts.quoted(value, True)))
            if len(names) >= _EVIDENCE:
                break
        stack = []
        while frame is not None and len(stack) < _FRAMES:
            code = frame.f_code
            if sfr_code.is_users_call(frame):
                name = sfr_code.plain_name(self.name_of(code))
                stack.append("[%s,%s,%d]" % (quoted(name), quoted(sfr_code.real(code.co_filename)), frame.f_lineno))
            frame = frame.f_back
        self.told.say(
            '["evidence",%d,%d,%d,[%s],[%s],%s]'
            % (self.place, number, claim, ",".join(names), ",".join(stack), quoted(_thread()))
        )


def _thread():
    thread = threading.current_thread()
    return "" if thread is threading.main_thread() else thread.name
