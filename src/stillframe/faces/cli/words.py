"""The words that agents and people guess, turned into the ones that exist, and near misses into whole corrected lines."""

from .usage import Usage, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from .shapes import Field, Verb

ALIASES = {
    "start": "launch", "run": "launch", "debug": "launch",
    "close": "stop", "end": "stop", "kill": "stop", "quit": "stop", "terminate": "stop",
    "rerun": "restart",
    "b": "break", "delete": "unbreak", "clear": "unbreak", "breakpoints": "breaks", "logpoint": "break",
    "c": "continue", "n": "next", "s": "step", "out": "finish", "run-to": "until", "goto": "jump",
    "context": "state", "info": "state", "bt": "stack", "backtrace": "stack", "where": "stack",
    "up": "frame", "down": "frame", "vars": "locals", "props": "expand", "inspect": "expand", "list": "source",
    "print": "eval", "p": "eval", "console": "output",
}  # fmt: skip
"""Verbs by another name. Some of them also bend the words behind them; see `resolve`."""

FLAGS = {"--condition": "--if", "-b": "--break", "-C": "--cwd", "--limit": "--budget"}
"""Flags by another name, for verbs that do not know the name themselves."""

OPPOSITES = {"--just-my-code": "--all-code", "--all-code": "--just-my-code"}
"""Two names of one switch: saying one of them says no to the other."""

MEANT = {
    "breakpoint": "break", "bp": "break", "set-breakpoint": "break", "tbreak": "break", "rm": "unbreak",
    "remove": "unbreak", "undo": "unbreak", "evaluate": "eval", "expr": "eval", "variables": "locals", "args": "locals",
    "step-over": "next", "stepover": "next", "step-into": "step", "stepinto": "step", "step-in": "step",
    "step-out": "finish", "stepout": "finish", "return": "finish", "cont": "continue", "resume": "continue", "go": "continue",
    "interrupt": "pause", "exit": "stop", "q": "stop", "ls": "sessions", "ps": "sessions", "stacktrace": "stack",
    "stack-trace": "stack", "code": "source", "exec": "eval", "assign": "set", "log": "output", "logs": "output",
    "stdin": "input", "send": "input", "traceback": "exception", "advance": "until", "tasks": "threads",
    "display": "eval", "whatis": "eval", "ptype": "eval", "examine": "memory",
}  # fmt: skip
"""Words of other debuggers: named in the error, not obeyed, where ours might do something else."""

_MEANT_FLAGS = {
    "--cond": "--if", "--when": "--if", "--breakpoint": "--break", "--bp": "--break", "--directory": "--cwd",
    "--dir": "--cwd", "--workdir": "--cwd", "--environment": "--env", "--interpreter": "--python", "--expr": "--eval",
    "--expression": "--eval", "--hits": "--hit", "--hit-count": "--hit", "--message": "--log", "--times": "--count",
    "--steps": "--count", "-n": "--count", "--wait": "--timeout", "--format": "--json", "--max": "--budget",
    "--brk": "--break", "--working-dir": "--cwd", "--working-directory": "--cwd", "--exception": "--catch",
    "--exceptions": "--catch", "--depth": "--count", "--frames": "--count", "--levels": "--count", "--seconds": "--timeout",
    "--last": "--count", "--tail": "--count", "--head": "--count", "--first": "--count", "--filter": "--where",
}  # fmt: skip

_UNLIKE = {"--all": "--allow", "--follow": "--allow"}
"""Flags that begin like one of ours and mean something else."""

LACKING = {
    "watch": "no variable can be watched here; `dbg break LOC --if 'EXPR'` stops where its value is wrong",
}
"""Words of other debuggers for what we have not: a near miss of theirs would be another thing altogether."""

_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")
_STEPS = {"over": "next", "into": "step", "in": "step", "out": "finish"}
_INFO = {
    "breakpoints": "breaks", "break": "breaks", "b": "breaks", "breaks": "breaks", "locals": "locals", "args": "locals",
    "threads": "threads", "stack": "stack", "frame": "stack", "source": "source", "sources": "modules",
}  # fmt: skip
_BREAKPOINT = {
    "set": "break", "add": "break", "list": "breaks", "ls": "breaks", "show": "breaks", "remove": "unbreak", "rm": "unbreak",
    "delete": "unbreak", "del": "unbreak", "clear": "unbreak", "enable": "enable", "disable": "disable",
}  # fmt: skip
"""What other debuggers have behind their word for breakpoints, as a verb of ours."""


def resolve(word: str, rest: "list[str]", verbs: "dict[str, Verb]") -> "tuple[str, list[str]]":
    """The verb that a word means, and the words behind it bent to fit; an unknown word comes back as it is."""
    verb = canonical(word, verbs)
    match word:
        case "up" | "down" if verb == "frame":
            return verb, [word, *rest]
        case "step" | "s" if rest and rest[0] in _STEPS:
            return _STEPS[rest[0]], _counted(_STEPS[rest[0]], rest[1:], verbs)
        case "info" if rest and rest[0] in _INFO:
            return _INFO[rest[0]], rest[1:]
        case "logpoint" if verb == "break":
            return verb, _log_text(rest)
        case _ if verb in ("break", "breaks") and (meant := _of_breakpoints(rest, verb)) is not None:
            return meant
    if verb == "launch" and [each for each in rest if each != "--json"] == ["--config"]:
        return "configs", [each for each in rest if each == "--json"]
    if verb == "break":
        return verb, _if_words(rest)
    if verb == "set" and rest[1:2] == ["="]:
        return verb, [rest[0], *rest[2:]]
    return verb, _counted(verb, rest, verbs)


def _of_breakpoints(rest: "list[str]", verb: str) -> "tuple[str, list[str]] | None":
    """`break set LOC` is `break LOC`; but `break set` alone stops in a function of that name, and `break set if x` too."""
    meant = _BREAKPOINT.get(rest[0]) if rest else None
    if meant is None:
        return None
    if len(rest) == 1:
        return (meant, []) if meant == "breaks" and verb == "breaks" else None
    if rest[1].startswith("-") or rest[1] == "if":
        return None
    return meant, _if_words(rest[1:]) if meant == "break" else rest[1:]


def canonical(word: str, verbs: "dict[str, Verb]") -> str:
    if word in verbs:
        return word
    for name, verb in verbs.items():
        if word in verb.get("aliases", ()):
            return name
    return ALIASES.get(word, word)


def _counted(verb: str, rest: "list[str]", verbs: "dict[str, Verb]") -> "list[str]":
    """`next 5` is `next --count 5`, for verbs that count and take no other words."""
    fields = verbs[verb]["fields"] if verb in verbs else []
    counts = any(field["name"] == "count" for field in fields)
    takes_words = any(field.get("positional") or field.get("rest") for field in fields)
    if counts and not takes_words and rest and rest[0].isascii() and rest[0].isdigit():
        return ["--count", *rest]
    return rest


def _log_text(rest: "list[str]") -> "list[str]":
    """`logpoint LOC TEXT` is `break LOC --log TEXT`."""
    for at, word in enumerate(rest[:-1]):
        if not word.startswith("-"):
            following = rest[at + 1]
            return rest if following.startswith("-") else [*rest[: at + 1], "--log", *rest[at + 1 :]]
    return rest


def _if_words(rest: "list[str]") -> "list[str]":
    """`break LOC if EXPR…`, as one types it to gdb, is `break LOC --if 'EXPR…'`."""
    if "if" in rest[1:]:
        at = rest.index("if", 1)
        words = rest[at + 1 :]
        flags = next((n for n, word in enumerate(words) if word.startswith("--")), len(words))
        if words[:flags]:
            return [*rest[:at], "--if", " ".join(words[:flags]), *words[flags:]]
    return rest


def unknown_verb(word: str, rest: "list[str]", leading: "list[str]", verbs: "dict[str, Verb]") -> Usage:
    """The error for a verb that does not exist, with the whole line as it was probably meant."""
    known = [*verbs, *[alias for alias in ALIASES if ALIASES[alias] in verbs], *BUILT_IN]
    if "launch" in verbs and (word.endswith(".py") or "/" in word):
        return Usage(f"unknown verb {word!r}", [*leading, "launch", word, *rest])
    if word in LACKING:
        return Usage(f"unknown verb {word!r}: {LACKING[word]}")
    guess = MEANT.get(word.lower().replace("_", "-"))
    if guess not in verbs:
        guess = nearest(word, known)
    if guess is None:
        return Usage(f"unknown verb {word!r}; `dbg help` lists them")
    if guess == "break" and rest[:1] and rest[0] in _BREAKPOINT:
        return Usage(f"unknown verb {word!r}", [*leading, _BREAKPOINT[rest[0]], *rest[1:]])
    if word == "tbreak":
        rest = [*rest, "--once"]
    return Usage(f"unknown verb {word!r}", [*leading, guess, *rest])


def guessed_flag(name: str, known: "list[str]") -> "str | None":
    """The flag that was probably meant by one that does not exist."""
    alike = [flag for flag in known if flag.startswith("--") == name.startswith("--") and flag != _UNLIKE.get(name)]
    near = nearest(name, alike) if len(name) > 2 else None
    meant = _MEANT_FLAGS.get(name)
    if meant == "--count" and meant not in known:
        meant = "--top"
    return near or (meant if meant in known else None)


def flag_of(word: str, flags: "Collection[str | None]") -> "str | None":
    """The flag that a word was probably the value of, where a verb takes no words: `locals f1`, `wait 5`, `stop shop`."""
    if word[1:].isdigit() and not word[:1].isdigit():
        flag = {"f": "--frame", "t": "--thread"}.get(word[0])
        return flag if flag in flags else None
    if word.isdigit():
        return "--timeout" if "--timeout" in flags else None
    named = word[:1].isalpha() and word != "all" and _NAME.issuperset(word)
    return "--session" if named else None


BUILT_IN = ("help", "version", "completion", "daemon", "mcp")
"""Verbs that the client answers itself."""


def example(verb: str) -> str:
    """A line that works, from the manual, which only an error or a question has to load."""
    from .manual import MANUAL

    page = MANUAL.get(verb)
    return page["example"].partition("\n")[0] if page else f"dbg help {verb}"


def spellings(field: "Field") -> "list[str]":
    """Every way to write a flag, dashes included."""
    flag = field.get("flag")
    short = field.get("short")
    return [*([flag] if flag else []), *([short] if short else []), *field.get("aliases", ())]
