"""One call's life, as the program lives it: which call it is, its lines with what they changed, the calls that it made, its end.

Knows nothing of how Python tells of these events: `sfr_monitoring` and `sfr_settrace` call it, each in its own way.
"""

import gc
import os
import threading

from . import sf_compare, sfr_code
from .sf_compare import GONE, IN_PART, changed_parts, held, is_same
from .sfr_find import innermost
from .sfr_hit import Scopes
from .sfr_texts import UNTOLD, Texts
from .sfr_told import begun, quoted

_FOLDED = 40  # library frames between two of the user's
_FORBIDDEN = ("__builtins__", "__name__", "__doc__", "__file__", "__loader__", "__spec__", "__package__", "__cached__")
_NOTHING = ((), ())
_LONG = 1 << 63  # whole numbers from here on are told by their first digits
_CUT = quoted("…")[1:-1]  # as it is written down
_PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # of a statement, though with frames of their own


class Body:
    """What is known of a function beforehand."""

    def __init__(self, code, name):
        self.code = code
        self.name = sfr_code.plain_name(name)
        self.statements = sfr_code.Statements(code)
        self.first = self.statements.first
        self.of_several = frozenset(self.first.values())  # statements of several lines, by their first
        self.changers = {
            line: (tuple([(name, begun(name)) for name in bound]), tuple([(name, begun(name)) for name in used]))
            for line, (bound, used) in sfr_code.changers(code, self.statements).items()
        }
        self.pauses = bool(code.co_flags & sfr_code.PAUSES)
        self.thrown = sfr_code.thrown_at(code)
        self.awaits = bool(code.co_flags & (0x80 | 0x200))  # CO_COROUTINE, CO_ASYNC_GENERATOR
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        self.arguments = code.co_varnames[:count]
        self.told = False

    def given(self, value):
        """Whether it gave something as it paused, and what. Where it waits, with what is the event loop's business; what an
        asynchronous generator gives is wrapped by Python, and the one thing that the wrapping holds."""
        if not self.awaits:
            return True, value
        if type(value).__name__ != "async_generator_wrapped_value":
            return False, None
        inside = gc.get_referents(value)
        return (True, inside[0]) if len(inside) == 1 else (True, value)


class Life:
    """One call that is being written down."""

    __slots__ = ("id", "head", "depth", "body", "lined", "statement", "known", "texts", "raised", "code")

    def __init__(self, id, depth, body, lined, code):
        self.id = id
        self.head = '["l",%d,' % id
        self.depth = depth
        self.body = body
        self.lined = lined
        self.statement = 0
        self.known = {}
        self.texts = {}  # what was told of each name last, where it is more than a number
        self.raised = None
        self.code = code


class Trace:
    """Chooses the call and writes it down. `listen` and `unlisten` are the way to hear more or less, of whoever calls this."""

    def __init__(self, ask, told, all_code):
        self.where = ask["where"]
        self.number = ask.get("call")
        self.depth = ask.get("depth", 0)
        self.with_lines = ask.get("lines", True)
        self.lines_left = ask.get("most_lines", 1000000)
        self.calls_left = ask.get("most_calls", 20000)
        self.told = told
        self.all_code = all_code
        self.texts = Texts(ask.get("text", 100))
        self.condition = ask.get("condition")
        self.scopes = Scopes()
        self.bodies = {}
        self.targets = {}
        self.live = {}
        self.ids = 0
        self.calls = self.raised = 0
        self.numbers = {}  # a frame that lives has its id to itself
        self.count = self.count_raised = None
        self.root = None
        self.done = False
        self.complained = False
        self.knows_part = False
        self.listen = self.unlisten = lambda: None
        self.lock = threading.Lock()
        told.on_fork.append(self._forked)
        sf_compare.is_own = lambda kind: sfr_code.is_users_class(kind, all_code)

    # Finding

    def found(self, code, name):
        if id(code) in self.targets:
            return
        body = self.body(code, name)
        self.targets[id(code)] = body
        self._tell(body, -1)
        if self.count is None:
            self.count, self.count_raised = self.told.number('["calls",%s,%s]', 2)

    def _tell(self, body, place):
        """Which function it is, and where its loops are."""
        body.told = True
        code, statements = body.code, body.statements
        loops = "[" + ",".join("[%d,%d]" % each for each in statements.loops) + "]"
        where = quoted(sfr_code.real(code.co_filename))
        told = (place, quoted(body.name), where, code.co_firstlineno, statements.last, loops)
        self.told.say('["found",%d,%s,%s,%d,%d,%s]' % told)

    def in_module(self, code, inner, finder):
        """A line was asked for: it means the function that holds it."""
        if self.where.get("file") != sfr_code.real(code.co_filename) or self.where.get("line") is None:
            return
        found, name = innermost(code, inner, self.where["line"])
        last = max(sfr_code.lines_of(code) | {line for each, _ in inner for line in sfr_code.lines_of(each)} or {0})
        if self.where["line"] > last:
            reason = "the last line of %s that holds code is %d" % (os.path.basename(code.co_filename), last)
            self.told.say('["missing",-1,%s]' % quoted(reason))
            return
        self.found(found, name)

    def body(self, code, name):
        found = self.bodies.get(id(code))
        if found is None:
            found = self.bodies[id(code)] = Body(code, name)
        return found

    def _forked(self):
        """A child of the program writes a file of its own, and counts from nothing; the call at hand was its parent's."""
        self.live.clear()
        self.calls = self.raised = 0
        self.count = None
        targets, self.targets = self.targets, {}
        for body in targets.values():
            self.found(body.code, body.name)

    # Calls

    def entered(self, frame, code):
        """A function of the user's begins. True where its lines are to be heard."""
        target = self.targets.get(id(code))
        if self.root is not None and not self.done:
            parent = self._parent(frame)
            if parent is not None:
                if target is not None:
                    self.numbers[id(frame)] = self._counted()
                return self._callee(frame, code, parent)
        if target is None:
            return False
        number = self._counted()
        self.numbers[id(frame)] = number
        if self.root is not None or not self._is_chosen(frame, number):
            return False
        with self.lock:
            if self.root is not None:
                return False
            self.root = life = self._life(target, 0, code)
        self.live[id(frame)] = life
        self._begin(frame, life, 0, number)
        self.listen()
        return self.with_lines

    def _counted(self):
        with self.lock:
            self.calls += 1
            self.count(self.calls)
            return self.calls

    def _is_chosen(self, frame, number):
        if self.number is not None:
            return number == self.number
        if self.condition is None:
            return True
        try:
            return bool(self.scopes.value(self.condition, frame, frame.f_locals))
        except Exception as error:
            if not self.complained:
                self.complained = True
                self.told.note("--if failed at call %d: %s" % (number, self.texts.exception(error)))
            return False

    def _parent(self, frame):
        """The call being written down that made this one, with only library code between."""
        frame = frame.f_back
        for _ in range(_FOLDED):
            if frame is None:
                return None
            life = self.live.get(id(frame))
            if life is not None and life.code is frame.f_code:
                return life if life.depth <= self.depth else None
            code = frame.f_code
            if sfr_code.is_users_call(frame, self.all_code) and code.co_name not in _PARTS:
                return None
            frame = frame.f_back
        return None

    def _callee(self, frame, code, parent):
        if code.co_name in _PARTS or not code.co_flags & sfr_code.FUNCTION:
            return False  # nor is a class that is being made a call
        if self.calls_left <= 0:
            return False
        self.calls_left -= 1
        depth = parent.depth + 1
        lined = self.with_lines and depth <= self.depth
        life = self._life(self.body(code, self.name_of(code)), depth, code)
        life.lined = lined
        if lined and not life.body.told:
            self._tell(life.body, -2)
        self.live[id(frame)] = life
        self._begin(frame, life, parent.id, 0)
        if self.calls_left == 0:
            self.told.say('["cut",%d,"calls"]' % self.root.id)
        return lined

    name_of = staticmethod(lambda code: code.co_name)

    def _life(self, body, depth, code):
        self.ids += 1
        return Life(self.ids, depth, body, self.with_lines, code)

    def _begin(self, frame, life, parent, number):
        names, body = frame.f_locals, life.body
        texts = {each: self.texts.quoted(names[each], True) for each in body.arguments if each in names}
        given = ",".join([begun(each) + text + "]" for each, text in texts.items()])
        if life.lined:
            life.texts = texts
            life.known = {name: held(names[name]) for name in names if name not in _FORBIDDEN}
        back = frame.f_back
        while back is not None and not sfr_code.is_users_call(back, self.all_code):
            back = back.f_back
        caller = "null"
        if back is not None:
            code = back.f_code
            name = sfr_code.plain_name(self.name_of(code))
            caller = "[%s,%s,%d]" % (quoted(name), quoted(sfr_code.real(code.co_filename)), back.f_lineno)
        thread = threading.current_thread()
        thread = "" if thread is threading.main_thread() else thread.name
        self.told.say(
            '["call",%d,%d,%s,%s,%d,[%s],%d,%s,%s,%s]'
            % (
                life.id, parent, quoted(body.name), quoted(sfr_code.real(body.code.co_filename)), body.code.co_firstlineno,
                given, number, caller, quoted(thread), "true" if life.lined else "false",
            )
        )  # fmt: skip

    # Lines

    def line(self, frame, line):
        """A line is about to run. False where no more of this call's are wanted."""
        life = self.live.get(id(frame))
        if life is None or not life.lined:
            return True
        body = life.body
        if line in body.first:
            line = body.first[line]
        if line == life.statement and (line in body.of_several or frame.f_lasti in body.thrown):
            return True  # it goes to and fro between its lines, or takes an error
        if self.lines_left <= 0:
            self.told.say('["cut",%d,"lines"]' % life.id)
            life.lined = False
            return False
        self.lines_left -= 1
        changes = self._changes(frame, life) if life.statement else "[]"
        life.statement = line
        life.raised = None
        self.told.say(f"{life.head}{line},{changes}]")
        return True

    def _changes(self, frame, life):
        """What the statement that has just run changed, as JSON."""
        bound, used = life.body.changers.get(life.statement, _NOTHING)
        if not bound and not used:
            return "[]"
        names, known = frame.f_locals, life.known
        told = ""
        for name, head in bound:
            value = names.get(name, GONE)
            before = known.get(name, GONE)
            if value is before:  # what is no atom is known by a print, and never found here
                continue
            kind = type(value)
            if kind is int or kind is float:  # most are: as below, without a call
                if type(before) is kind and before == value:
                    continue
                known[name] = value
                if kind is float or -_LONG < value < _LONG:
                    told = f'{told},{head}"{value!r}"]' if told else f'{head}"{value!r}"]'
                    continue
            elif value is GONE:
                del known[name]
                told = _joined(told, head + '"(unbound)"]')
                continue
            else:
                now = held(value)
                if is_same(before, now):
                    continue
                known[name] = now
                if kind in UNTOLD:
                    continue
            told = _joined(told, self._told(life, name, head, value, before))
        if used:
            told = self._held_changes(names, life, used, told)
        return "[" + told + "]"

    def _told(self, life, name, head, value, before, again=False):
        """A value that is not what it was; where its text may not show by what, with the parts of it that are others now."""
        text = self.texts.quoted(value, True, again)
        parts = ()
        if text == life.texts.get(name) or _CUT in text:
            try:
                parts = changed_parts(before, life.known[name], value)
            except (IndexError, RuntimeError):  # another thread has changed it meanwhile: the line is told all the same
                parts = ()
        life.texts[name] = text
        if not parts:
            return head + text + "]"
        told = ["[%s,%s]" % (quoted(path), self._part(part, came)) for path, part, came in parts]
        return "%s%s,[%s]]" % (head, text, ",".join(told))

    def _part(self, value, came):
        """What a part holds now. Words of ours are in brackets: no text of a value is."""
        if value is GONE:
            return '"(gone)"'
        text = self.texts.quoted(value)
        return text[:-1] + ' (inserted)"' if came else text

    def _held_changes(self, names, life, used, told):
        """What it changed without binding it: told once it is known, as when it is seen for the first time it is no news."""
        known = life.known
        for name, head in used:
            value = names.get(name, GONE)
            before = known.get(name, GONE)
            if value is before or value is GONE:
                continue
            now = held(value)
            if is_same(before, now):
                if IN_PART and not self.knows_part:
                    self.knows_part = True
                    self.told.note(
                        "of values with more than 4,096 items some alone are compared: a change may not be seen"
                    )
                continue
            known[name] = now
            if before is not GONE and type(value) not in UNTOLD:
                told = _joined(told, self._told(life, name, head, value, before, True))
        return told

    # Ends

    def threw(self, frame, error):
        """An exception came up in this frame, its own or out of a call."""
        life = self.live.get(id(frame))
        if life is not None and life.raised is not error and not _is_end(error, life):
            life.raised = error
            if life.lined:
                self.told.say('["raised",%d,%s]' % (life.id, quoted(self.texts.exception(error))))

    def yielded(self, frame, value):
        life = self.live.get(id(frame))
        if life is not None:
            changes = self._changes(frame, life) if life.lined else "[]"
            gives, value = life.body.given(value)
            given = self.texts.quoted(value, True) if gives else '""'
            self.told.say('["yield",%d,%s,%s]' % (life.id, given, changes))

    def resumed(self, frame):
        life = self.live.get(id(frame))
        if life is not None:
            self.told.say('["resume",%d]' % life.id)

    def returned(self, frame, value):
        life = self.live.pop(id(frame), None)
        if life is not None:
            changes = self._changes(frame, life) if life.lined else "[]"
            self.told.say('["ret",%d,%s,%s]' % (life.id, self.texts.quoted(value, True), changes))
            self._over(life)

    def unwound(self, frame, code, error):
        """The call ended by an exception."""
        life = self.live.pop(id(frame), None)
        closed = bool(code.co_flags & sfr_code.PAUSES) and type(error) is GeneratorExit
        if life is not None and closed:
            self.told.say('["closed",%d]' % life.id)
        elif life is not None:
            changes = self._changes(frame, life) if life.lined else "[]"
            self.told.say('["exc",%d,%s,%s]' % (life.id, quoted(self.texts.exception(error)), changes))
        if id(code) in self.targets and not closed:
            with self.lock:
                self.raised += 1
                self.count_raised(self.raised)
                if self.raised == 1:
                    self.told.say(
                        '["raising",%d,%s]'
                        % (self.numbers.get(id(frame), self.calls), quoted(self.texts.exception(error)))
                    )
        if life is not None:
            self._over(life)

    def _over(self, life):
        if life is self.root:
            self.done = True
            self.live.clear()
            self.unlisten()


def _joined(told, one):
    return told + "," + one if told else one


def _is_end(error, life):
    """What a generator or coroutine ends or waits by is no error of its."""
    return life.body.pauses and isinstance(error, (StopIteration, StopAsyncIteration, GeneratorExit))
