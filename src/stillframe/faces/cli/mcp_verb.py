"""`dbg mcp`: a pump between an agent's pipes and the host that speaks MCP, or with `--http` a server in this very process.

MCP's own library takes a second to load, so it lives in a host that all pumps share; this side only moves bytes, or hands its
pipes over and waits.
"""

import _socket
import posix
import select
import sys

from . import link, rendezvous
from .catalogue import HASH, VERSION
from .jsonline import encode
from .usage import Usage, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Json

CLASSES = ("read", "inspect", "control", "exec")
VALUED = ("--tools", "--allow", "--ask", "--answers", "--project", "--port")
ANSWERS = ("both", "text")
SWITCHES = ("--http", "--schemas")
CHUNK = 65536
MISSING = "MCP's own library is not installed here; it comes with: pip install 'stillframe[mcp]'"
EXIT_MISSING = 5
_PIPES = {0o010000, 0o140000}
"""S_IFIFO and S_IFSOCK; `stat` would have to be imported for them."""
GOODBYE_SECONDS = 10
"""How long the host may take to end its calls once the agent has closed its side."""


def run(words: "list[str]") -> int:
    given = flags(words)
    hello: dict[str, Json] = {
        "v": 1,
        "tools": given.get("--tools", "core"),
        "allow": highest(given.get("--allow", "exec"), "--allow"),
        "ask": highest(given["--ask"], "--ask") if "--ask" in given else "",
        "schemas": "--schemas" in given,
        "answers": answers(given),
        "cwd": directory(given.get("--project", ".")),
        "umask": umask(),
    }
    if "--http" in given:
        return serve_http(hello, given.get("--port", "0"))
    if "--port" in given:
        raise Usage("--port goes with --http", ["mcp", "--http", "--port", given["--port"]], "mcp")
    return pump(hello)


def flags(words: "list[str]") -> "dict[str, str]":
    given: dict[str, str] = {}
    queue = list(words)
    while queue:
        word, equals, value = queue.pop(0).partition("=")
        if word in SWITCHES and not equals:
            given[word] = ""
        elif word in VALUED:
            if not equals and not queue:
                raise Usage(f"{word} needs a value", None, "mcp")
            given[word] = value if equals else queue.pop(0)
        else:
            meant = nearest(word, (*VALUED, *SWITCHES))
            raise Usage(f"mcp has no {word!r}", ["mcp", meant] if meant else ["help", "mcp"], "mcp")
    return given


def highest(text: str, flag: str) -> str:
    """The highest class of `read,inspect`; each one holds those below it."""
    names = [name.strip() for name in text.split(",")]
    wrong = [name for name in names if name not in CLASSES]
    if wrong:
        raise Usage(f"{flag} takes {', '.join(CLASSES)}, not {wrong[0]!r}", None, "mcp")
    return max(names, key=CLASSES.index)


def answers(given: "dict[str, str]") -> str:
    """What every answer holds."""
    word = given.get("--answers", ANSWERS[0])
    if word not in ANSWERS:
        raise Usage(f"--answers takes {' or '.join(ANSWERS)}, not {word!r}", None, "mcp")
    if word == "text" and "--schemas" in given:
        raise Usage("--schemas lists the shapes of what --answers text leaves out", ["mcp", "--schemas"], "mcp")
    return word


def directory(word: str) -> str:
    """The directory as an absolute path; it must be one, for everything is relative to it."""
    here = posix.getcwd()
    try:
        posix.chdir(word)
        found = posix.getcwdb().decode("utf-8", "surrogateescape")
        posix.chdir(here)
    except OSError as error:
        raise Usage(f"--project {word}: {error.strerror}", None, "mcp") from None
    return found


def umask() -> int:
    from .main import current_umask

    return current_umask()


def serve_http(hello: "dict[str, Json]", port: str) -> int:
    """Become the server: this process has nothing else to do, and whoever started it ends it by a signal."""
    if not (port.isascii() and port.isdigit() and len(port) <= 5) or int(port) > 65535:
        raise Usage(f"--port takes a number up to 65535, not {port!r}", None, "mcp")
    script = link.daemon_command(rendezvous.mcp_post(VERSION, HASH))[:-1]
    posix.execv(sys.executable, [*script, "--http", f"--port={port}", encode(hello)])


def pump(hello: "dict[str, Json]") -> int:
    """Move bytes until either side has ended."""
    from .main import EXIT_DENIED, EXIT_INTERNAL, fail

    hello["env"] = {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in posix.environ.items()
    }
    hello["pipes"] = has_pipes()
    place, post = rendezvous.runtime_directory(), rendezvous.mcp_post(VERSION, HASH)
    try:
        line = link.connect(place, post) or link.start_daemon(place, post)
        line.send(encode(hello).encode("ascii") + b"\n")
        said = line.first_line()
    except link.Gone as gone:
        if str(gone) == MISSING:
            return fail("adapter_missing", MISSING, EXIT_MISSING, False, "mcp")
        return fail("internal", str(gone), EXIT_INTERNAL, False, "mcp")
    except rendezvous.Unsafe as unsafe:
        return fail("denied", str(unsafe), EXIT_DENIED, False, "mcp")
    except (OSError, TimeoutError) as error:
        return fail("internal", f"the host of MCP does not answer: {error}", EXIT_INTERNAL, False, "mcp")
    if said is None:
        return fail("internal", f"the host of MCP went away; its log is {log_place()}", EXIT_INTERNAL, False, "mcp")
    if said == b"=":
        return hand_over(line)
    if said != b"+":
        from .main import say

        say(said[1:].decode("utf-8", "replace") + "\n")
        return 2
    return move(line)


def has_pipes() -> bool:
    """Whether standard input and output are two pipes or sockets: those the host can wait for as we do."""
    try:
        coming, going = posix.fstat(0), posix.fstat(1)
    except OSError:  # closed
        return False
    return {each.st_mode & 0o170000 for each in (coming, going)} <= _PIPES and coming.st_ino != going.st_ino


def hand_over(line: "link.Line") -> int:
    """Let the host have our pipes, and stay until it is done: whoever started us waits for us, or ends us."""
    from .main import EXIT_INTERNAL, say

    handles = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1))
    line.sock.sendmsg([b"="], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    line.sock.settimeout(None)
    watched = select.poll()
    watched.register(1, 0)  # nothing but that nobody reads it any more is told then
    watched.register(line.sock.fileno(), select.POLLIN)
    ready = watched.poll()
    if all(handle == 1 for handle, _ in ready):
        watched.unregister(1)
        if not watched.poll(GOODBYE_SECONDS * 1000):
            return 0
    if line.first_line() is None:
        say(f"error internal: the host of MCP went away; its log is {log_place()}\n")
        return EXIT_INTERNAL
    return 0


def move(line: "link.Line") -> int:
    """Both ways at once; the end of the agent's side is passed on, and the host's last words are waited for."""
    from .main import EXIT_INTERNAL, say, write

    sock = line.sock
    sock.settimeout(None)
    write(1, bytes(line.buffer))
    watched = select.poll()
    watched.register(0, select.POLLIN)
    watched.register(sock.fileno(), select.POLLIN)
    open_ended = True
    while True:
        ready = watched.poll(None if open_ended else GOODBYE_SECONDS * 1000)
        if not ready:
            return 0
        for handle, _ in ready:
            if handle == 0:
                data = posix.read(0, CHUNK)
                if data:
                    line.offer(data)
                else:
                    watched.unregister(0)
                    open_ended = False
                    sock.shutdown(1)  # SHUT_WR
                continue
            try:
                data = sock.recv(CHUNK)
            except ConnectionResetError:
                data = b""
            if not data:
                if open_ended:
                    say(f"error internal: the host of MCP went away; its log is {log_place()}\n")
                return EXIT_INTERNAL if open_ended else 0
            write(1, data)


def log_place() -> str:
    return rendezvous.state_directory() + "/mcp.log"


def leave() -> None:
    """Tell the host to go, unless it serves somebody; part of `dbg daemon stop`."""
    place, post = rendezvous.runtime_directory(), rendezvous.mcp_post(VERSION, HASH)
    try:
        line = link.connect(place, post)
        if line is not None:
            line.send(b'{"v":1,"leave":true}\n')
            line.wait_for_end()
    except (link.Gone, OSError, TimeoutError):
        pass  # it is gone, or goes by itself when it has been idle
