"""The grammar of the command line: `dbg [flags] VERB [flags] [words] [-- …]`, driven by the catalogue alone.

Before `--` every flag is ours and may stand anywhere; `--json`, `--session`, `--budget`, `--allow` and `--reveal` belong to
every verb. A starting verb takes the target's command behind `--`; or a program and its plain words, whose further arguments
stand behind `--`; or `-m MODULE` and `-c CODE`, after which plain words are the program's. A flag that is not ours is an error
that shows the line with it behind `--`: taken for the program's own, a mistyped one of ours would silently do nothing.
Values stay text: their meaning is checked where the operation is declared.
"""

from . import words
from .usage import Usage, nearest
from .words import spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Field, Json, Verb

GLOBALS: "list[Field]" = [
    {"name": "json", "kind": "bool", "flag": "--json"},
    {"name": "session", "kind": "str", "flag": "--session", "short": "-s", "metavar": "NAME"},
    {"name": "budget", "kind": "int", "flag": "--budget", "metavar": "CHARS"},
    {
        "name": "allow",
        "kind": "choice",
        "flag": "--allow",
        "metavar": "CLASS",
        "choices": ["read", "inspect", "control", "exec"],
    },
    {"name": "reveal", "kind": "bool", "flag": "--reveal"},
    {"name": "no_daemon", "kind": "bool", "flag": "--no-daemon"},
    {"name": "help", "kind": "bool", "flag": "--help", "short": "-h"},
]


class Line:
    """A command line, understood."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        self.args: dict[str, Json] = {}
        self.session: str | None = None
        self.json = False
        self.budget: int | None = None
        self.allow: str | None = None
        self.reveal = False
        self.no_daemon = False
        self.help = False


def is_flag(token: str) -> bool:
    """`-x` and `--word` are flags; `-1`, `-`, `->` and anything with a blank in it are words."""
    letter = token[1:2] if token[:2] != "--" else token[2:3]
    return token[:1] == "-" and letter.isalpha() and " " not in token.partition("=")[0]


def parse(argv: "list[str]", verbs: "dict[str, Verb]") -> "Line | None":
    """Understand a whole line; None where there is no verb in it (and nothing wrong with it)."""
    try:
        return _understood(argv, verbs)
    except Usage as wrong:
        wrong.correct_further(lambda words: _understood(words, verbs))
        raise


def _understood(argv: "list[str]", verbs: "dict[str, Verb]") -> "Line | None":
    leading, rest = split_verb(argv, verbs)
    if not rest:
        if "--help" in leading or "-h" in leading or not leading:
            return None
        raise Usage("no verb given; `dbg help` lists them")
    verb, tokens = words.resolve(rest[0], rest[1:], verbs)
    if verb not in verbs:
        raise words.unknown_verb(rest[0], rest[1:], leading, verbs)
    return Reader(verb, verbs, leading, tokens).read()


def split_verb(argv: "list[str]", verbs: "dict[str, Verb]") -> "tuple[list[str], list[str]]":
    """The flags before the verb, and the rest from the verb on. A flag with a value is only taken there if every verb
    has it; another one would swallow the verb."""
    at = 0
    while at < len(argv):
        token = argv[at]
        if token == "--":
            raise Usage("no verb before `--`", ["launch", *argv[at:]] if argv[at + 1 :] else None)
        if not is_flag(token):
            return argv[:at], argv[at:]
        name, has_value, _ = token.partition("=")
        field = find_global(name)
        if field is not None and field["kind"] != "bool" and not has_value:
            at += 1
            if at >= len(argv):
                raise Usage(f"{name} needs a value")
        elif field is None:
            known = _known(name, verbs)
            if not known:
                raise _unknown_leading(argv, at, verbs)
            if not has_value and any(each["kind"] != "bool" for each in known):
                raise _swallows(argv, at, verbs)
        at += 1
    return argv, []


def find_global(name: str) -> "Field | None":
    name = words.FLAGS.get(name, name)
    return next((field for field in GLOBALS if name in (field.get("flag"), field.get("short"))), None)


def _known(name: str, verbs: "dict[str, Verb]") -> "list[Field]":
    """Every field of any verb that this flag belongs to."""
    plain = "--" + name[5:] if name.startswith("--no-") else name
    fields = [field for verb in verbs.values() for field in verb["fields"]]
    return [
        field for field in fields if name in spellings(field) or (plain in spellings(field) and field["kind"] == "bool")
    ]


def _unknown_leading(argv: "list[str]", at: int, verbs: "dict[str, Verb]") -> Usage:
    name, equals, value = argv[at].partition("=")
    known = [spelling for field in GLOBALS for spelling in spellings(field)]
    meant = nearest(name, [flag for flag in [*known, "--version"] if flag.startswith("--")])
    return Usage(f"unknown flag {name!r}", [*argv[:at], meant + equals + value, *argv[at + 1 :]] if meant else None)


def _swallows(argv: "list[str]", at: int, verbs: "dict[str, Verb]") -> Usage:
    meant = None
    if len(argv) > at + 2 and words.resolve(argv[at + 2], [], verbs)[0] in verbs:
        meant = [*argv[:at], argv[at + 2], *argv[at : at + 2], *argv[at + 3 :]]
    return Usage(f"{argv[at]} takes a value and stands behind the verb", meant)


class Reader:
    """Reads one line from left to right, against one verb of the catalogue."""

    def __init__(self, name: str, verbs: "dict[str, Verb]", leading: "list[str]", tokens: "list[str]") -> None:
        self.verbs = verbs
        self.verb = verbs[name]
        self.leading = leading
        self.tokens = [*leading, *tokens]
        self.typed = [name, *leading, *tokens]
        self.at = 0
        self.line = Line(name)
        self.flags: dict[str, Field] = {}
        for field in self.verb["fields"]:
            for spelling in spellings(field):
                self.flags[spelling] = field
        self.words: list[str] = []
        self.further: list[str] = []
        """The program's own words behind `-m` and `-c`."""
        self.tail: list[str] | None = None
        self.opened = ""
        """`-m` or `-c` once one was read: from there on, plain words belong to the program."""

    def read(self) -> Line:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == "--":
                self.tail = self.tokens[self.at :]
                break
            if is_flag(token):
                self._flag(token)
            else:
                (self.further if self.opened else self.words).append(token)
        if not self.line.help:
            self._place_words()
            self._check_required()
        return self.line

    # flags

    def _flag(self, token: str) -> None:
        name, has_value, value = token.partition("=")
        field, says = self.lookup(name)
        if field is None and token[1] != "-" and len(token) > 2:
            field, says = self.lookup(token[:2])
            if field is not None and field["kind"] != "bool":
                self._store(field, token[:2], token[2:])
                return
            field = None
        if field is None:
            from .corrections import foreign

            raise foreign(self, token)
        if field["kind"] == "bool":
            if has_value:
                raise self.wrong(f"{name} takes no value", [*self.before(), name, *self.after()])
            self._put(field, name, says)
        else:
            self._store(field, name, value if has_value else self._next_value(field, name))
            if self.verb.get("starts") and name in ("-m", "-c"):
                self._open(name)

    def lookup(self, name: str) -> "tuple[Field | None, bool]":
        """The field behind a flag, and what a boolean one says: `--no-x` says no to `--x`."""
        plain = words.FLAGS.get(name, name)
        for spelling in (name, plain):
            field = self.flags.get(spelling) or find_global(spelling)
            if field is not None:
                return field, True
        if name.startswith("--no-"):
            field = self.flags.get("--" + name[5:])
            if field is not None and field["kind"] == "bool":
                return field, False
        opposite = words.OPPOSITES.get(name)
        if opposite in self.flags:
            return self.flags[opposite], False
        return None, True

    def _next_value(self, field: "Field", name: str) -> str:
        following = self.tokens[self.at] if self.at < len(self.tokens) else "--"
        known = is_flag(following) and self.lookup(following.partition("=")[0])[0] is not None
        if following == "--" or known:
            raise self.wrong(f"{name} needs a value: {field.get('metavar') or field['name'].upper()}")
        self.at += 1
        return following

    def _open(self, name: str) -> None:
        if self.words and any(field["kind"] == "str" and field.get("positional") for field in self.verb["fields"]):
            moved = [word for word in self.typed[1:] if word not in self.words]
            raise self.wrong(f"{name} and a program are two programs", [self.line.verb, *moved, *self.words])
        self.opened = name

    def _store(self, field: "Field", name: str, value: str) -> None:
        choices = field.get("choices")
        if not value.strip() and not choices and field["name"] not in _MAY_BE_EMPTY:
            raise self.wrong(f"{name} needs a value; it is empty, as an unset variable is")
        if choices and field["name"] == "allow" and all(word in choices for word in value.split(",")):
            value = max(value.split(","), key=choices.index)  # `read,inspect`: each class holds those below it
        if choices and value not in choices:
            meant = nearest(value, choices)
            corrected = [meant if word == value else word for word in self.typed] if meant else None
            raise self.wrong(f"{name} is one of {', '.join(choices)}, not {value!r}", corrected)
        self._put(field, name, value)

    def _refuse_session(self, name: str) -> None:
        """What starts a program makes a session, which may be given a name; it is about no other one."""
        if not self.verb.get("starts") or self.verb.get("session"):
            return
        if "--name" not in self.flags:
            raise self.wrong(f"{self.line.verb} runs a program of its own and takes no {name}")
        at = next(at for at, word in enumerate(self.typed) if word.partition("=")[0] == name)
        meant = [*self.typed[:at], "--name" + self.typed[at][len(name) :], *self.typed[at + 1 :]]
        raise self.wrong(f"{self.line.verb} makes a new session; --name gives it its name", meant)

    def _put(self, field: "Field", name: str, value: "str | bool") -> None:
        where: dict[str, Json] = self.line.__dict__ if field in GLOBALS else self.line.args
        key = field["name"]
        if field in GLOBALS and key == "session":
            self._refuse_session(name)
        if field in GLOBALS:
            if field["kind"] == "int":
                where[key] = self._count(name, str(value))
            else:
                where[key] = value
        elif field.get("many"):
            many = where.setdefault(key, [])
            assert isinstance(many, list)
            many.append(value)
        elif where.get(key, value) != value:
            raise self.wrong(f"{name} is given twice")
        else:
            where[key] = value

    def _count(self, name: str, value: str) -> int:
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise self.wrong(f"{name} takes a number of characters, not {value!r}")
        return int(value)

    def before(self) -> "list[str]":
        return [self.line.verb, *self.tokens[: self.at - 1]]

    def after(self) -> "list[str]":
        return self.tokens[self.at :]

    def wrong(self, message: str, meant: "list[str] | None" = None) -> Usage:
        return Usage(message, meant, self.line.verb)

    # words

    def positionals(self) -> "list[Field]":
        return [field for field in self.verb["fields"] if field.get("positional") and not takes_many(field)]

    def _place_words(self) -> None:
        """Give the plain words to the fields that take words, and what stands behind `--` to where it belongs."""
        fields = self.verb["fields"]
        last = next((field for field in fields if field.get("last")), None)
        rest = next((field for field in fields if takes_many(field)), None)
        tail = [*self.further, *(self.tail or [])]
        if not self.verb.get("starts") and last is None:
            self.words, tail = [*self.words, *tail], []
        queue = list(self.words)
        for field in self.positionals():
            if queue:
                self._store(field, field["name"], queue.pop(0))
        if rest is not None and queue:
            self.line.args[rest["name"]] = [*queue]
            queue = []
        if tail:
            target = last or rest
            if target is None:
                raise self.wrong(f"{self.line.verb} takes nothing behind `--`")
            had = self.line.args.get(target["name"], [])
            assert isinstance(had, list)
            self.line.args[target["name"]] = [*had, *tail]
        if queue:
            from .corrections import too_many

            raise too_many(self, queue)

    def _check_required(self) -> None:
        for field in self.verb["fields"]:
            if field.get("required") and field["name"] not in self.line.args:
                name = field.get("metavar") or field["name"].upper()
                raise self.wrong(f"{self.line.verb} needs {name}; as in: {words.example(self.line.verb)}")


_MAY_BE_EMPTY = ("code", "session")
"""`python -c ''` is a program; an empty session is told by whoever looks for it, as that of the environment is."""


def takes_many(field: "Field") -> bool:
    return bool(field.get("rest") or (field.get("positional") and field.get("many")))
