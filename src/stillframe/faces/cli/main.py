"""The thin client's way through a call: understand the line, answer what needs no daemon, send the rest.

Nothing here may import `os`, `re`, `json`, `socket` or any other package that costs milliseconds; a test keeps it so.
"""

import _signal  # type: ignore[import-not-found]
import posix
import sys

from . import parser, rendezvous
from .catalogue import HASH, VERBS, VERSION
from .jsonline import encode
from .usage import Usage, line, printable
from .words import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .shapes import Json

EXIT_USAGE, EXIT_DENIED, EXIT_INTERNAL, EXIT_CANCELLED = 2, 7, 70, 130
LONGEST_ERROR = 4000
ANSWER_SECONDS = 300.0
"""How long somebody at a terminal may think about a question."""


def entry() -> "NoReturn":
    """The console script: never returns, and leaves without the interpreter's clean-up, which costs 2 ms."""
    code = EXIT_INTERNAL
    try:
        keep_standard_streams()
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)  # `dbg output | head -1` ends silently with 141
        code = run([as_utf8(word) for word in sys.argv[1:]])
    except KeyboardInterrupt:
        code = EXIT_CANCELLED
    except Exception as error:  # ours to explain: a traceback would tell an agent nothing
        say(f"error internal: {type(error).__name__}: {error}\n")
    posix._exit(code)


def keep_standard_streams() -> None:
    """Fill closed ones with /dev/null, or the daemon's socket would become somebody's stdout."""
    handle = posix.open("/dev/null", posix.O_RDWR)
    while handle <= 2:
        handle = posix.dup(handle)
    posix.close(handle)


def as_utf8(word: str) -> str:
    """The same bytes as the shell gave, read as UTF-8, whatever the locale says; odd ones as lone surrogates."""
    encoding = sys.getfilesystemencoding()
    return word if encoding == "utf-8" else word.encode(encoding, "surrogateescape").decode("utf-8", "surrogateescape")


def run(argv: "list[str]") -> int:
    wants_json = "--json" in (argv[: argv.index("--")] if "--" in argv else argv)
    try:
        built_in = answer_here(argv)
        if built_in is not None:
            return built_in
        understood = parser.parse(argv, VERBS)
        if understood is None:
            return show_help([], wants_json)
        if understood.help:
            return show_help([understood.verb], wants_json)
        if understood.no_daemon or VERBS[understood.verb].get("here"):
            return run_here(understood, argv)
        return ask_daemon(understood, argv)
    except Usage as wrong:
        hint: Json = {"op": verb_in(wrong.meant), "line": line(wrong.meant)} if wrong.meant else None
        message = wrong.message if wants_json else wrong.text()
        return fail("usage", message, EXIT_USAGE, wants_json, wrong.op, hint)
    except rendezvous.Unsafe as unsafe:
        return fail("denied", str(unsafe), EXIT_DENIED, wants_json)


def verb_in(words: "list[str]") -> "str | None":
    return next((word for word in words if word in VERBS), None)


def answer_here(argv: "list[str]") -> "int | None":
    """What the client knows by itself: help, its version, completion, and the daemon's own life."""
    as_json, words = "--json" in argv, [word for word in argv if word != "--json"]
    if {"--help", "-h"} & set(words) and words[0] in BUILT_IN:
        named = [word for word in words if word not in ("--help", "-h")]
        return show_help(named[1:2] if named[0] == "help" else named[:1], as_json)
    match words[:1]:
        case ["--version"] | ["-V"] | ["version"]:
            return tell("version", {"version": VERSION}, f"stillframe {VERSION}\n", as_json)
        case ["help"]:
            return show_help(words[1:], as_json)
        case ["completion"]:
            from . import completion

            return completion.run(words[1:], as_json)
        case ["daemon"]:
            from . import daemon_verbs

            return daemon_verbs.run(words[1:], as_json)
        case ["mcp"]:
            from . import mcp_verb

            return mcp_verb.run(words[1:])
        case _:
            return None


def show_help(words: "list[str]", as_json: bool) -> int:
    from .help import page

    text = page(words)
    return tell("help", {"text": text}, text, as_json)


def run_here(understood: parser.Line, argv: "list[str]") -> int:
    if not (VERBS[understood.verb].get("owned") or VERBS[understood.verb].get("here")):
        able = ", ".join(name for name, verb in VERBS.items() if verb.get("owned"))
        message = f"--no-daemon is for calls that end with their program ({able}), not for {understood.verb}"
        raise Usage(message, op=understood.verb)
    from . import inprocess

    return inprocess.run(request_for(understood, argv))


def ask_daemon(understood: parser.Line, argv: "list[str]") -> int:
    from . import link

    request = request_for(understood, argv)
    try:
        try:
            return send(request)
        except link.Question as question:
            if not agreed(f"{line(argv)} needs {question.needs}, which is asked about here. Let it? [y/N] "):
                needs = f"it needs {question.needs}, which `ask` in the settings has asked about"
                message = f"{understood.verb} was not agreed to: {needs}"
                return fail("denied", message, EXIT_DENIED, understood.json, understood.verb)
            return send({**request, "agreed": True})
    except link.Gone as gone:
        return fail(
            "internal", str(gone) + way_around(understood.verb), EXIT_INTERNAL, understood.json, understood.verb
        )
    except rendezvous.Unsafe as unsafe:
        return fail("denied", str(unsafe) + way_around(understood.verb), EXIT_DENIED, understood.json, understood.verb)


def send(request: "dict[str, Json]") -> int:
    from . import link

    return link.converse((encode(request) + "\n").encode("ascii"), write)


def agreed(question: str) -> bool:
    """Ask whoever types at the terminal; only a yes is one."""
    from . import link

    typed: list[bytes] = []
    say(question)
    try:
        link.with_deadline(ANSWER_SECONDS, lambda: typed.append(posix.read(0, 1024)))
    except TimeoutError:
        say(f"\nnobody answered within {ANSWER_SECONDS:.0f} s\n")
    return b"".join(typed).strip().lower() in (b"y", b"yes")


def way_around(verb: str) -> str:
    """What works where a sandbox forbids a background process."""
    return f"; `dbg {verb} --no-daemon …` runs it in this process" if VERBS[verb].get("owned") else ""


def request_for(understood: parser.Line, argv: "list[str]") -> "dict[str, Json]":
    """The one line that a call is, as it travels."""
    from . import link

    verb = VERBS[understood.verb]
    request: dict[str, Json] = {
        "v": 1,
        "catalogue": HASH,
        "version": VERSION,
        "op": understood.verb,
        "args": understood.args,
        "session": rendezvous.variable("STILLFRAME_SESSION") or None
        if understood.session is None
        else understood.session,
        "json": understood.json,
        "budget": understood.budget,
        "allow": understood.allow,
        "reveal": understood.reveal,
        "client": rendezvous.variable("STILLFRAME_CLIENT") or f"sid:{posix.getsid(0)}",
        "cwd": current_directory(understood.verb),
        "umask": current_umask(),
        "argv": [*argv],
        "asks": posix.isatty(0) and posix.isatty(2),
    }
    if link.needs_environment(verb, understood.args):
        request["env"] = {
            name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
            for name, value in posix.environ.items()
        }
    return request


def current_directory(verb: str) -> str:
    try:
        return posix.getcwdb().decode("utf-8", "surrogateescape")
    except OSError as error:
        if VERBS[verb].get("starts"):
            raise Usage(f"the current directory cannot be used: {error.strerror}", op=verb) from None
        return "/"


def current_umask() -> int:
    mask = posix.umask(0o077)
    posix.umask(mask)
    return mask


# what the caller sees


def write(stream: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[posix.write(stream, view) :]
        except BlockingIOError:  # a terminal or pipe that somebody else has made non-blocking
            import select

            select.select([], [stream], [], 60)


def out(text: str) -> None:
    write(1, text.encode("utf-8", "backslashreplace"))


def say(text: str) -> None:
    write(2, printable(text).encode("utf-8", "backslashreplace"))


def as_line(reply: "dict[str, Json]") -> str:
    """A reply as a line of JSON; of ASCII, DEL is the one character that JSON leaves as it is and a terminal does not."""
    return encode(reply).replace("\x7f", "\\u007f") + "\n"


def tell(op: str, result: "dict[str, Json]", text: str, as_json: bool) -> int:
    """An answer of our own, in the shape that every reply has."""
    out(as_line({"ok": True, "op": op, "result": result}) if as_json else text)
    return 0


def fail(code: str, message: str, exit_code: int, as_json: bool, op: str = "", hint: "Json" = None) -> int:
    """An error of our own, in the shape that every reply has."""
    if len(message) > LONGEST_ERROR:
        message = message[: LONGEST_ERROR - 1] + "…"
    if as_json:
        error: dict[str, Json] = {"code": code, "message": message}
        if hint:
            error["hint"] = hint
        out(as_line({"ok": False, "op": op or None, "error": error}))
    else:
        say(f"error {code}: {message}\n")
    return exit_code
