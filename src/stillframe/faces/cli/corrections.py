"""What is wrong with a flag or a word that has no place in a line, and the line that was probably meant. Loaded only then."""

from . import words
from .parser import GLOBALS, is_flag, takes_many
from .usage import Usage, quote
from .words import spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .parser import Reader
    from .shapes import Field

_NAMES = (
    "NAME", "RUN", "RUN_A", "RUN_B", "HIT", "ID", "FILE", "LANG", "AGENT", "WHAT", "F", "F|up|down", "T", "V",
)  # fmt: skip
"""Words that name something: none of them begins with a dash, as a text of the program may (`-x`)."""
_CONDITIONS = ("--if", "--condition", "--cond", "--when")
_RUN_BY = {"py": ["python"], "js": ["node"], "mjs": ["node"], "cjs": ["node"], "rb": ["ruby"], "go": ["go", "run"]}


def foreign(reader: "Reader", token: str) -> Usage:
    """The error for a flag that is not ours, with the line that works."""
    name, equals, value = token.partition("=")
    known = [*reader.flags, *[spelling for field in GLOBALS for spelling in spellings(field)]]
    if as_word := _as_word(reader, name, equals, value):
        return reader.wrong(f"{name!r} is no flag of {reader.line.verb}: it is given as a word", as_word)
    meant = words.guessed_flag(name, known)
    if meant is not None:
        corrected = [*reader.before(), meant + equals + value, *reader.after()]
        return reader.wrong(f"unknown flag {name!r} of {reader.line.verb}", corrected)
    if name in _CONDITIONS and (
        places := next((each for each in reader.verb["fields"] if each["kind"] == "break"), None)
    ):
        return reader.wrong(f"{name!r} is no flag of {reader.line.verb}: {_conditional(reader, places, value)}")
    owner = _owner(reader)
    if owner == "runner" or (owner and (reader.words or reader.opened)):
        return reader.wrong(
            f"{name!r} is no flag of {reader.line.verb}; the {owner}'s own stand behind `--`", _behind(reader)
        )
    if as_verb := _as_verb(reader, name, equals, value):
        return reader.wrong(f"{name!r} is no flag of {reader.line.verb} but a verb", as_verb)
    if not reader.verb.get("starts") and _takes_text(reader, token):
        return reader.wrong(
            f"unknown flag {name!r} of {reader.line.verb}", [*reader.before(), "--", token, *reader.after()]
        )
    return reader.wrong(f"unknown flag {name!r} of {reader.line.verb}; `dbg help {reader.line.verb}` lists them")


def _as_word(reader: "Reader", name: str, equals: str, value: str) -> "list[str] | None":
    """The line for a flag that is called as a word of this verb is: `eval --expr n`, `save --name before`."""
    given = [value] if equals else reader.after()[:1]
    if not given or not given[0] or is_flag(given[0]) or not name.startswith("--"):
        return None
    for field in reader.verb["fields"]:
        called = {field["name"], field["name"].rstrip("s"), field.get("metavar", "").lower()}
        if field.get("positional") and name[2:].replace("-", "_") in called:
            return [*reader.before(), *given, *reader.after()[0 if equals else 1 :]]
    return None


def _owner(reader: "Reader") -> "str | None":
    """Whose flags those may be that are not ours: the program's, or those of the runner of tests."""
    first = next((field.get("metavar") for field in reader.verb["fields"] if field.get("positional")), None)
    return {"PROGRAM": "program", "TEST": "runner"}.get(first or "")


def _as_verb(reader: "Reader", name: str, equals: str, value: str) -> "list[str] | None":
    """The line for a flag that is called as a verb is which takes one word: `continue --until 5`."""
    verb = words.canonical(name[2:], reader.verbs)
    given = [value] if equals else [*reader.after()[:1]]
    if reader.verb.get("starts") or verb not in reader.verbs or not given or is_flag(given[0]):
        return None
    takes = [field for field in reader.verbs[verb]["fields"] if field.get("positional")]
    return [verb, *given] if len(takes) == 1 else None


def _conditional(reader: "Reader", places: "Field", value: str) -> str:
    """How a condition is written where places are words or values of another flag."""
    given = [*reader.words] if places.get("positional") else reader.line.args.get(places["name"])
    place = given[-1] if isinstance(given, list) and given else "LOC"
    whole = quote(f"{place} if {value or next(iter(reader.after()), '') or 'EXPR'}")
    flag = "" if places.get("positional") else f"{places['flag']} "
    return f"a condition stands with its place, as in: {flag}{whole}"


def _behind(reader: "Reader") -> "list[str]":
    """The same line with every foreign flag, and all words after the first of them, moved behind `--`."""
    ours, theirs = reader.before(), [reader.tokens[reader.at - 1]]
    while reader.at < len(reader.tokens):
        token = reader.tokens[reader.at]
        reader.at += 1
        field = reader.lookup(token.partition("=")[0])[0] if is_flag(token) else None
        if token == "--":
            return [*ours, "--", *theirs, *reader.after()]
        if field is None:
            theirs.append(token)
            continue
        ours.append(token)
        if field["kind"] != "bool" and "=" not in token and reader.at < len(reader.tokens):
            ours.append(reader.tokens[reader.at])
            reader.at += 1
    return [*ours, "--", *theirs]


def _takes_text(reader: "Reader", token: str) -> bool:
    """Whether there is room for this word, as a text that looks like a flag, and for all that follow it."""
    for field in reader.verb["fields"]:
        if takes_many(field):
            return field.get("metavar") not in (_NAMES if token[:2] != "--" else (*_NAMES, "EXPR"))
    coming = sum(not is_flag(token) for token in reader.after())
    room = reader.positionals()[len(reader.words) :]
    return coming < len(room) and room[0]["kind"] == "str" and room[0].get("metavar") not in _NAMES


def too_many(reader: "Reader", queue: "list[str]") -> Usage:
    """The error for words that there is no room for."""
    taken = len(reader.words) - len(queue)
    if not taken:
        rest = [word for word in reader.typed[1:] if word not in queue and word != "--"]
        flag = words.flag_of(queue[0], reader.flags) if len(queue) == 1 and not reader.line.session else None
        meant = [reader.line.verb, flag, queue[0], *rest] if flag else None
        return reader.wrong(f"{reader.line.verb} takes no words, not {queue[0]!r}", meant)
    few = f"{reader.line.verb} takes {taken} word{'s' if taken > 1 else ''}, not {len(reader.words)}"
    if reader.tail is None and any(field.get("last") for field in reader.verb["fields"]):
        kept = [word for word in reader.typed[1:] if word not in queue]
        runs = any(field["name"] == "module" for field in reader.verb["fields"])  # else it is for a runner of tests
        by = _RUN_BY.get(queue[0].rpartition(".")[2], []) if runs and "." in queue[0] else []
        why = "what to run stands" if runs else "further ones stand"
        return reader.wrong(f"{few}: {why} behind --", [reader.line.verb, *kept, "--", *by, *queue])
    if reader.positionals()[-1]["kind"] != "str":
        return reader.wrong(few)
    if meant := _of_run(reader):
        return reader.wrong(few, meant)
    kept = reader.words[: taken - 1]
    joined = " ".join(reader.words[taken - 1 :])
    flags = [word for word in reader.typed[1:] if word not in reader.words and word != "--"]
    return reader.wrong(few, [reader.line.verb, *kept, joined, *flags])


def _of_run(reader: "Reader") -> "list[str] | None":
    """`export before page.html` is `export page.html --run before`: of two words the one that is no file."""
    names = [word for word in reader.words if word.replace("-", "").isalnum()]
    if len(reader.words) != 2 or len(names) != 1 or "--run" not in reader.flags or "run" in reader.line.args:
        return None
    files = [word for word in reader.words if word not in names]
    flags = [word for word in reader.typed[1:] if word not in reader.words and word != "--"]
    return [reader.line.verb, *files, "--run", *names, *flags]
