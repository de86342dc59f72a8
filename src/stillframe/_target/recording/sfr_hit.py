"""What runs at each hit of a probe: one function, written for exactly the expressions and claims that were asked for there.

A hit is paid by the program, so nothing is looked up that could be known before: the names of the frame become its locals, what
it counts are variables of its closure, and a whole number that was told before costs no call. What is rare is left to the probe.
Its globals are the program's, so that expressions find there what they name; what is ours begins with `__sf_`.
"""

import types

from . import sfr_code

_SEES_ITSELF = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"})
"""What would see our variables among its own, were it called between them; it is called where there are the frame's alone."""


class Asked:
    """The expressions and claims of a probe, for code that has these names and globals."""

    def __init__(self, condition, evals, expects, frame):
        code = frame.f_code
        self.code, self.space = code, frame.f_globals
        self.condition, self.evals, self.expects = condition, evals, expects
        parts = ["(\n%s\n)" % each for each in evals] + ["not (\n%s\n)" % each for each in expects]
        self.body = "(" + "".join("%s," % each for each in parts) + "None,)"
        if condition:
            self.body = "(\n%s\n) and %s" % (condition, self.body)
        if not code.co_flags & sfr_code.FUNCTION:  # a module's or a class's own level
            self.names = self.call = self.scopes = None
            self.whole = compile(self.body, "<probe>", "eval")
            return
        own = code.co_varnames + code.co_cellvars + code.co_freevars
        used = _names(compile("lambda: " + self.body, "<probe>", "eval").co_consts[0])
        self.names = sorted(used & set(own))
        self.is_plain = not used & _SEES_ITSELF
        self.scopes = Scopes()
        self.call = self.scopes.function(self.body, self.names, self.space)

    def values(self, frame, own):
        """Those of the expressions, whether each claim is false, and one more; nothing where the condition does not hold."""
        if self.call is None:
            return eval(self.whole, frame.f_globals, own)
        if not self.is_plain:
            return self.scopes.value(self.body, frame, own)
        return self.call(*[own[each] for each in self.names])

    # As text

    def evaluation(self, indent):
        """Lines that leave the values in `__sf_v0` and so on, and in `__sf_c0` whether the claim is false."""
        if self.call is None or not self.is_plain:
            found = ["__sf_v%d" % at for at in range(len(self.evals))] + [
                "__sf_c%d" % at for at in range(len(self.expects))
            ]
            return _indented(indent, [
                "__sf_got = __sf_values(__sf_frame, __sf_own)",
                "if not __sf_got:",
                "    return",
                "%s, = __sf_got" % ", ".join([*found, "__sf_last"]),
            ])  # fmt: skip
        lines = ["%s = __sf_own[%r]" % (each, each) for each in self.names]
        if self.condition:
            lines += ["if not (\n%s\n):" % self.condition, "    return"]
        lines += ["__sf_v%d = (\n%s\n)" % pair for pair in enumerate(self.evals)]
        lines += ["__sf_c%d = not (\n%s\n)" % pair for pair in enumerate(self.expects)]
        return _indented(indent, lines or ["pass"])


class Scopes:
    """Expressions as functions whose locals are those of a frame: what asks for its locals is told these, and so are the lambdas
    and comprehensions in it. One is kept for each set of names that were bound."""

    def __init__(self):
        self.made = {}

    def value(self, text, frame, own):
        """That of an expression in a frame whose locals are given."""
        if not frame.f_code.co_flags & sfr_code.FUNCTION:  # a module's or a class's own level
            return eval("(\n%s\n)" % text, dict(frame.f_globals, **own))
        own = {each: value for each, value in own.items() if each.isidentifier()}
        return self.function(text, own, frame.f_globals)(*own.values())

    def function(self, text, names, space):
        key = (text, tuple(names))
        code = self.made.get(key)
        if code is None:
            made = compile("lambda %s: (\n%s\n)" % (", ".join(names), text), "<probe>", "eval")
            self.made[key] = code = next(each for each in made.co_consts if hasattr(each, "co_code"))
        return types.FunctionType(code, space)


_FRAME = """
def __sf_make(
    __sf_probe, __sf_values, __sf_space, __sf_code, __sf_acquire, __sf_release, __sf_evidence, __sf_type, __sf_int, __sf_Exception
):
    __sf_hits, __sf_next, __sf_room = 0, 1, None
    __sf_at = __sf_write = __sf_takes = None
    {ints}
    def __sf_count():
        nonlocal __sf_hits, __sf_room, __sf_at, __sf_write, __sf_takes
        if __sf_room is None:
            __sf_room, __sf_at, __sf_write, __sf_takes = __sf_probe.begin()
        __sf_hits += 1
        __sf_write(__sf_hits)
        return __sf_hits

    def __sf_counted(__sf_frame, {values}):
        nonlocal {shared}
{count}
    def __sf_hit(__sf_frame, __sf_own=None):
        nonlocal {shared}
        if __sf_frame.f_code is not __sf_code or __sf_frame.f_globals is not __sf_space:
            return __sf_probe.elsewhere(__sf_frame)
        try:
{evaluation}
        except __sf_Exception:
            return __sf_probe.one_by_one(__sf_frame)
{count}
    return __sf_hit, __sf_counted, __sf_count
"""
_COUNT = """
        __sf_acquire()
        try:
            if __sf_room is None:
                __sf_room, __sf_at, __sf_write, __sf_takes = __sf_probe.begin()
            __sf_hits = __sf_number = __sf_hits + 1
            __sf_digit = __sf_number % 10
            if __sf_digit:
                __sf_room[__sf_at] = 48 + __sf_digit
            else:
                __sf_write(__sf_number)
{takes}
        finally:
            __sf_release()
{claims}
        if __sf_number <= __sf_evidence:
            __sf_probe.show(__sf_frame, __sf_number, -1)
"""
_TAKE = """
            if __sf_type(__sf_v{0}) is not __sf_int:
                __sf_takes[{0}](__sf_v{0}, __sf_number)
            elif __sf_v{0} not in __sf_i{0}:
                __sf_i{0} = __sf_takes[{0}](__sf_v{0}, __sf_number)
"""
_SAMPLE = """
            if __sf_number >= __sf_next:
                __sf_next = __sf_probe.sample(__sf_frame, __sf_number, ({values}))
"""
_CLAIM = """
        if __sf_c{0}:
            __sf_probe.violated(__sf_frame, __sf_number, {0})
"""


def written(probe, asked, lock, given):
    """(hit, counted, count): a hit, one whose values are known, and one that is only counted, by who holds the lock.

    `given` says that whoever calls it has the frame's locals; else they are read here, if they are needed.
    """
    values = ["__sf_v%d" % at for at in range(len(asked.evals))]
    ints = ["__sf_i%d" % at for at in range(len(asked.evals))]
    takes = "".join(_TAKE.format(at) for at in range(len(values)))
    if values:
        takes += _SAMPLE.format(values=", ".join([*values, ""]))
    claims = "".join(_CLAIM.format(at) for at in range(len(asked.expects)))
    evaluation = asked.evaluation(12)
    if not given and (asked.names or asked.call is None or not asked.is_plain):
        evaluation = _indented(12, ["__sf_own = __sf_frame.f_locals"]) + evaluation
    text = _FRAME.format(
        ints="%s = %s" % (" = ".join(ints), "()") if ints else "",
        values=", ".join([*values, *["__sf_c%d" % at for at in range(len(asked.expects))], "__sf_last"]),
        shared=", ".join(["__sf_hits", "__sf_next", "__sf_room", "__sf_at", "__sf_write", "__sf_takes", *ints]),
        evaluation=evaluation,
        count=_COUNT.format(takes=takes, claims=claims),
    )
    made = next(each for each in compile(text, "<probe>", "exec").co_consts if hasattr(each, "co_code"))
    make = types.FunctionType(made, asked.space)
    rest = (lock.acquire, lock.release, probe.evidence, type, int, Exception)
    return make(probe, asked.values, asked.space, asked.code, *rest)


def _indented(width, lines):
    """Lines of text; what follows a line's end is inside of parentheses, and stays where it is."""
    return "".join(" " * width + each + "\n" for each in lines)


def _names(code):
    """Every name that an expression may take from around it, lambdas and comprehensions in it included."""
    found = set(code.co_names)
    for each in code.co_consts:
        if hasattr(each, "co_names"):
            found |= _names(each)
    return found
