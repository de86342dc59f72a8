"""`dbg help`: every page made from the manual and the catalogue, with an example first; no daemon is asked."""

from . import words
from .catalogue import VERBS
from .manual import MANUAL
from .parser import GLOBALS
from .usage import Usage, nearest
from .words import spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Field

OPENING = """\
dbg: one debugger vocabulary over real debuggers. The program is held still; every call answers with evidence.

  dbg crash -- python shop.py                             one call: why does it fail? the line, its values, the causes
  dbg test tests/test_shop.py                             why is this test red? what was compared, and which calls made it
  dbg probe shop.py:22 --expect 'out >= 0'                is what I believe true, every time that this line runs?
  dbg launch shop.py --break 'shop.py:14 if price < 0'    or step by step: run to the first stop and show it
  dbg eval 'type(price)' 'len(items)'                     ask several things at once
  dbg next 5                                              five lines, and what each one changed
"""

_BUILT_IN = {
    "help": ("This page, or that of a verb.", "dbg help break", "dbg help [VERB]"),
    "version": ("The version of this client.", "dbg --version", "dbg version"),
    "completion": (
        "Print the completion script of a shell.",
        'eval "$(dbg completion bash)"',
        "dbg completion bash|zsh|fish",
    ),
    "daemon": (
        "Look at the background process that holds the sessions, or end it and them.",
        "dbg daemon status",
        "dbg daemon status|stop",
    ),
    "mcp": (
        "Serve MCP on standard input and output, for agents; or on loopback by HTTP, behind a token.\n"
        "--tools core,NAME,…|all which tools; --allow CLASS the highest access (read, inspect, control, exec); --ask CLASS\n"
        "ask the user from that class on; --project DIR what paths are relative to; --schemas list the shapes of answers, too;\n"
        "--answers text the text alone, without the JSON beside it, for agents that show their model the JSON in its place.",
        "dbg mcp --allow inspect",
        "dbg mcp [--tools …] [--allow CLASS] [--ask CLASS] [--answers both|text] [--project DIR] [--schemas] [--http [--port N]]",
    ),
}

_GROUPS = {
    "crash": "one question, one report",
    "testing": "one question, one report",
    "trace": "one question, one report",
    "investigate": "one question, one report",
    "hang": "one question, one report",
    "launch": "start",
    "control": "move",
    "breakpoints": "stop at",
    "inspect": "look",
    "evaluate": "ask and change",
    "patch": "change what runs",
    "record": "ask the record, also when the program is gone",
    "crossing": "ask the record, also when the program is gone",
    "keeping": "keep what was seen",
    "projects": "what a project brings",
    "health": "is everything there",
    "agents": "for agents",
    "admin": "sessions",
    "machine": "below the source",
    "lowlevel": "the debugger underneath",
}
"""The modules that verbs are declared in, in the order and by the names that a reader wants."""

_GLOBAL_TEXTS = {
    "json": "answer with one JSON object",
    "session": "the session that is meant; else STILLFRAME_SESSION, else the one that lives here",
    "budget": "how much text the answer may have (default 4000, at least 100)",
    "allow": "the highest access that this call may use: read, inspect, control or exec",
    "reveal": "tell passwords, keys and other secrets, too; eval does so for what it names",
    "no_daemon": "run the call in this process, for verbs that end with their program",
    "help": "this page",
}


def page(asked: "list[str]") -> str:
    """The page of a verb, or the overview."""
    if not asked:
        return overview()
    name = words.resolve(asked[0], asked[1:], VERBS)[0]
    if name in _BUILT_IN:
        text, example, usage = _BUILT_IN[name]
        return f"{usage}\n{text}\n\nexample:\n  {example}\n"
    if name not in VERBS:
        meant = nearest(asked[0], [*VERBS, *words.ALIASES, *_BUILT_IN])
        raise Usage(f"there is no verb {asked[0]!r}", ["help", meant] if meant else None, "help")
    return verb_page(name)


def overview() -> str:
    """Every verb in a line, in the groups that they are declared in."""
    groups: dict[str, list[str]] = {title: [] for title in _GROUPS.values()}
    for group, title in _GROUPS.items():
        groups[title] += [name for name, each in MANUAL.items() if each["group"] == group]
    width = max([len(_title(name)) for name in MANUAL] or [0])
    lines = [OPENING]
    for title, names in groups.items():
        lines.append(f"{title}:")
        lines += [f"  {_title(name):{width}}  {_first_sentence(MANUAL[name]['doc'])}" for name in names]
    lines.append("dbg itself:")
    lines += [f"  {name:{width}}  {text.partition(chr(10))[0]}" for name, (text, _, _) in _BUILT_IN.items()]
    lines.append(
        "\nEvery verb takes --json, --budget N and --allow CLASS, those about a session --session NAME; "
        "`dbg help VERB` tells the rest."
    )
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    short = [alias for alias in VERBS[name].get("aliases", ()) if len(alias) <= 2]
    return ", ".join([name, *short[:1]])


def _first_sentence(text: str) -> str:
    sentence = " ".join(text.split()).partition(". ")[0]
    return sentence if sentence.endswith(".") else sentence + "."


def verb_page(name: str) -> str:
    """Usage, what it does, an example, and every flag."""
    verb, manual = VERBS[name], MANUAL[name]
    lines = [usage_line(name), manual["doc"], "", "example:"]
    lines += ["  " + line for line in manual["example"].split("\n")]
    taken = [field for field in verb["fields"] if not spellings(field)]
    flags = [field for field in verb["fields"] if spellings(field)]
    if taken:
        lines += ["", "words:", *_table([(_word(field), _text(name, field)) for field in taken])]
    rows = [(_flag(field), _text(name, field)) for field in flags]
    rows += [(_flag(field), _GLOBAL_TEXTS[field["name"]]) for field in GLOBALS if _applies(name, field)]
    lines += ["", "flags:", *_table(rows)]
    known = {alias for alias, meant in words.ALIASES.items() if meant == name} | set(verb.get("aliases", ()))
    lines += [""] + (["also: " + ", ".join(sorted(known))] if known else []) + [f"access: {verb['access']}"]
    return "\n".join(lines) + "\n"


def usage_line(name: str) -> str:
    verb = VERBS[name]
    parts = ["dbg", name]
    taken = [field for field in verb["fields"] if field.get("positional") or field.get("rest")]
    parts += [_word(field) if field.get("required") else f"[{_word(field)}]" for field in taken]
    if any(spellings(field) for field in verb["fields"]):
        parts.append("[flags]")
    if verb.get("starts") and any(field.get("last") for field in verb["fields"]):
        parts.append("[-- COMMAND…]")
    return " ".join(parts)


def _word(field: "Field") -> str:
    many = field.get("rest") or field.get("many") or field.get("last")
    return (
        ("-- " if field.get("last") else "") + (field.get("metavar") or field["name"].upper()) + ("…" if many else "")
    )


def _flag(field: "Field") -> str:
    names = ", ".join(sorted(spellings(field), key=lambda name: (name.startswith("--"), name != field.get("flag"))))
    if field["kind"] == "bool":
        return names if not field.get("on") else names.replace("--", "--[no-]", 1)
    choices = field.get("choices")
    return f"{names} {'|'.join(choices) if choices else field.get('metavar') or field['name'].upper()}"


def _text(name: str, field: "Field") -> str:
    text = MANUAL[name]["fields"][field["name"]]
    again = field.get("many") and spellings(field) and "repeated" not in text
    return text + ("; may be repeated" if again else "")


def _applies(name: str, field: "Field") -> bool:
    match field["name"]:
        case "no_daemon":
            return bool(VERBS[name].get("owned"))
        case "session":
            return bool(VERBS[name].get("session"))
        case _:
            return True


def _table(rows: "list[tuple[str, str]]") -> "list[str]":
    width = min(max(len(left) for left, _ in rows), 34)
    return [f"  {left:{width}}  {right}" for left, right in rows]
