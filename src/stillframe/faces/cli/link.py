"""The line to the daemon: connect, start one if there is none, send one request, copy its frames out.

A request is one line of JSON. The reply is a row of frames, each a letter, a length and as many bytes: `a` the request
was taken, `n` it was not, `h` still at it, `o` for stdout, `e` for stderr, `x` the exit code (in place of a length),
`v` another version, `q` the class of a call that was not made because somebody must be asked first, and which may be sent
again as agreed to. Until `a` has come nothing was done, so the call may be repeated; after it never.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys

from . import rendezvous
from .rendezvous import DAEMON, Unsafe
from .usage import USAGE, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .rendezvous import Post

ANSWER_SECONDS = 15.0
"""How long a daemon may take to take a request, unless STILLFRAME_ANSWER_SECONDS says otherwise."""
SILENCE_SECONDS = 6.0
"""How long at the least a daemon may be silent during a call; it gives a sign of life every 2 s."""
START_SECONDS = 25.0
TRIES = 5
LONGEST_NUMBER = 12
"""Digits of a length, or of an exit code."""
STRANGER = "what answers at the daemon's socket does not speak as a daemon does"

_ORDINARY = [_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGCHLD, _signal.SIGTSTP]
"""A shell's background job has some of these ignored; neither the daemon nor its targets shall inherit that."""
_NO_SIGPIPE: int = getattr(_socket, "MSG_NOSIGNAL", 0)
_KEPT = (b"PATH", b"HOME", b"USER", b"LOGNAME", b"LANG", b"TZ", b"TMPDIR", b"LD_LIBRARY_PATH")
_KEPT_BEGINNINGS = (b"LC_", b"XDG_", b"STILLFRAME_")
_OF_THE_CALL = (b"STILLFRAME_SESSION", b"STILLFRAME_CLIENT")


class Gone(Exception):
    """The daemon could not be reached or went away; the text says what is known."""


class NoDaemon(Exception):
    """Nobody answers, and the caller did not want one started."""


class Question(Exception):
    """The call was not made: it needs this access, and somebody must agree to it first."""

    def __init__(self, needs: str) -> None:
        super().__init__(needs)
        self.needs = needs


class Line:
    """A connection to the daemon, and the frames that come over it."""

    def __init__(self, sock: "_socket.socket") -> None:
        self.sock = sock
        self.buffer = bytearray()

    def send(self, payload: bytes) -> None:
        view = memoryview(payload)
        while view:
            view = view[self.sock.send(view, _NO_SIGPIPE) :]

    def offer(self, payload: bytes) -> None:
        """Send a request; a daemon that refuses it unread has closed its side by now, and its words are still to come."""
        try:  # noqa: SIM105 (contextlib costs milliseconds)
            self.send(payload)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def frames(self) -> "Iterator[tuple[str, bytes]]":
        """Every frame until the exit code; ends early where the daemon went away."""
        while True:
            header = self._until(b"\n")
            if header is None:
                return
            kind, number = chr(header[0]) if header else "", header[1:].strip()
            if not number.isdigit() or len(number) > LONGEST_NUMBER:
                raise Gone(STRANGER)
            if kind == "x":
                yield kind, number
                return
            body = self._exactly(int(number))
            if body is None:
                return
            yield kind, body

    def first_line(self) -> "bytes | None":
        """One line without its end; None where the other side has closed instead."""
        return self._until(b"\n")

    def wait_for_end(self) -> None:
        """Until the other side has closed, which a stopping daemon does last."""
        while self._more():
            self.buffer.clear()

    def _more(self) -> bool:
        try:
            chunk = self.sock.recv(65536)
        except ConnectionResetError:
            return False
        self.buffer += chunk
        return bool(chunk)

    def _until(self, mark: bytes) -> "bytes | None":
        while (at := self.buffer.find(mark)) < 0:
            if not self._more():
                return None
        found = bytes(self.buffer[:at])
        del self.buffer[: at + 1]
        return found

    def _exactly(self, size: int) -> "bytes | None":
        while len(self.buffer) < size:
            if not self._more():
                return None
        found = bytes(self.buffer[:size])
        del self.buffer[:size]
        return found


def needs_environment(verb: "Mapping[str, object]", args: "Mapping[str, object]") -> bool:
    """Whether a call starts something, which is then to have its caller's environment: other requests go without it."""
    return bool(verb.get("starts") or verb.get("here") or "do" in args)


def connect(directory: str, post: "Post" = DAEMON) -> "Line | None":
    """A line to the daemon of this directory, or to a server of another kind; None where nobody listens."""
    if not rendezvous.secure(directory, create=False):
        return None
    try:
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except PermissionError:
        raise rendezvous.Forbidden(directory) from None
    patience = answer_seconds()
    sock.settimeout(patience)
    try:
        try:
            _connect(sock, directory, post.socket)
        except BlockingIOError:  # Linux, where too many wait to be accepted: only a blocking connect waits its turn
            sock.settimeout(None)
            with_deadline(patience, lambda: _connect(sock, directory, post.socket))
            sock.settimeout(patience)
    except (FileNotFoundError, ConnectionRefusedError):
        sock.close()
        return None
    except TimeoutError:
        raise Gone(
            f"the {post.package} takes no calls{known_pid(directory, post)}; `dbg daemon stop` ends it"
        ) from None
    except PermissionError:
        sock.close()
        raise rendezvous.Forbidden(directory) from None
    except OSError as error:
        raise Gone(f"cannot reach the {post.package} in {directory}: {error.strerror}") from None
    _check_peer(sock)
    return Line(sock)


def answer_seconds() -> float:
    try:
        return max(0.1, float(rendezvous.variable("STILLFRAME_ANSWER_SECONDS") or ANSWER_SECONDS))
    except ValueError:
        return ANSWER_SECONDS


def _connect(sock: "_socket.socket", directory: str, name: str) -> None:
    path = f"{directory}/{name}"
    if len(path.encode("utf-8", "surrogateescape")) <= rendezvous.LONGEST_SOCKET_PATH:
        sock.connect(path)
        return
    here = posix.open(".", posix.O_RDONLY)
    try:
        posix.chdir(directory)
        sock.connect(name)
    finally:
        posix.fchdir(here)
        posix.close(here)


def _check_peer(sock: "_socket.socket") -> None:
    """Whoever listens must be us: a request carries our whole environment."""
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:  # macOS: the directory's owner and mode are the guard on this side
        return
    raw = sock.getsockopt(_socket.SOL_SOCKET, option, 12)
    uid = int.from_bytes(raw[4:8], sys.byteorder)
    if uid != posix.geteuid():
        raise Unsafe(f"the daemon's socket is held by uid {uid}, not by you")


def converse(
    request: bytes, write: "Callable[[int, bytes], None]", *, start: bool = True, to_the_end: bool = False
) -> int:
    """One call: the reply's bytes go to `write(1 or 2, bytes)`, its exit code comes back."""
    directory = rendezvous.runtime_directory()
    for _ in range(TRIES):
        line = connect(directory)
        if line is None:
            if not start:
                raise NoDaemon
            line = start_daemon(directory)
        code = _one_try(line, request, write, directory)
        if code is not None:
            if to_the_end:
                line.wait_for_end()
            return code
    raise Gone(f"the daemon went away {TRIES} times before it took the call; its log is in {log_place()}")


def _one_try(line: Line, request: bytes, write: "Callable[[int, bytes], None]", directory: str) -> "int | None":
    """The exit code, or None where the daemon left before it took the request."""
    taken = False
    try:
        line.offer(request)
        for kind, body in line.frames():
            if kind == "a":
                taken = True
                line.sock.settimeout(max(SILENCE_SECONDS, 3 * answer_seconds()))
            elif kind == "o":
                write(1, body)
            elif kind == "e":
                write(2, body)
            elif kind == "q":
                raise Question(body.decode())
            elif kind == "x":
                return int(body)
            elif kind == "v":
                return None
    except TimeoutError:
        raise Gone(f"the daemon does not answer{known_pid(directory)}; `dbg daemon stop` ends it") from None
    except KeyboardInterrupt:
        _cancel(line)
        raise
    if taken:
        raise Gone(f"the daemon went away in the middle of the call; its log is in {log_place()}")
    return None


def _cancel(line: Line) -> None:
    try:  # noqa: SIM105 (contextlib costs milliseconds)
        line.send(b'{"cancel":true}\n')
    except OSError:
        pass  # it is gone, and with it what was to be cancelled


def known_pid(directory: str, post: "Post" = DAEMON) -> str:
    pid = read_pid(directory, post)
    return f" (pid {pid})" if pid else ""


def read_pid(directory: str, post: "Post" = DAEMON) -> int:
    """The daemon's pid, only where the process that has it now started when the daemon did; else 0."""
    try:
        handle = posix.open(f"{directory}/{post.pid}", posix.O_RDONLY | posix.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        parts = posix.read(handle, 200).decode().split()
    finally:
        posix.close(handle)
    if len(parts) < 2 or not parts[0].isdigit() or rendezvous.started_at(int(parts[0])) != parts[1]:
        return 0
    return int(parts[0])


def log_place() -> str:
    return rendezvous.state_directory() + "/daemon.log"


# starting a daemon


def start_daemon(directory: str, post: "Post" = DAEMON) -> Line:
    """Start a daemon and wait until it serves. Of many clients that find none, one starts it and the others wait."""
    import fcntl

    rendezvous.secure(directory, create=True)
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        lock = posix.open(f"{directory}/{post.start_lock}", flags, 0o600)
    except OSError as error:
        raise Gone(f"cannot use {directory}/{post.start_lock}: {error.strerror}") from None
    try:
        with_deadline(START_SECONDS, lambda: fcntl.flock(lock, fcntl.LOCK_EX))
        line = connect(directory, post)
        if line is None:
            said = _spawn_and_wait(post)
            line = connect(directory, post)
            if line is None and said.startswith(USAGE):
                raise Usage(said[len(USAGE) :])
            if line is None:
                raise Gone(said or f"the daemon died as it started; its log is in {log_place()}")
        return line
    except TimeoutError:
        raise Gone(f"no daemon came up within {START_SECONDS:.0f} s; its log is in {log_place()}") from None
    finally:
        posix.close(lock)


def with_deadline(seconds: float, wait: "Callable[[], object]") -> None:
    """Run a system call that has no deadline of its own under an alarm, which raises TimeoutError out of it."""

    def ring(*_: object) -> None:
        raise TimeoutError

    before = _signal.signal(_signal.SIGALRM, ring)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)
    try:
        wait()
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, before)


def _spawn_and_wait(post: "Post") -> str:
    """Spawn the daemon in its own session, and read what it says about its start: nothing where it serves."""
    reading, writing = posix.pipe()
    null = posix.open("/dev/null", posix.O_RDWR)
    streams = [(posix.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    words = sys.executable, daemon_command(post), daemon_environment()
    actions = [*streams, (posix.POSIX_SPAWN_DUP2, writing, 3)]
    try:
        try:
            posix.posix_spawn(*words, file_actions=actions, setsid=True, setsigmask=[], setsigdef=_ORDINARY)
        except NotImplementedError:  # of Pythons made for older C libraries, as uv's are: the daemon makes its own
            posix.posix_spawn(*words, file_actions=actions, setsigmask=[], setsigdef=_ORDINARY)
    except OSError as error:
        raise Gone(f"cannot start the daemon with {sys.executable}: {error.strerror}") from None
    finally:
        posix.close(null)
        posix.close(writing)
    said: list[bytes] = []

    def read() -> None:
        while chunk := posix.read(reading, 4096):
            said.append(chunk)

    try:
        with_deadline(START_SECONDS, read)
    finally:
        posix.close(reading)
    heard = b"".join(said).decode("utf-8", "replace").strip()
    return "" if heard == "ready" else heard


def daemon_command(post: "Post" = DAEMON) -> "list[str]":
    """The daemon's command: isolated from the caller's directory and Python variables, but with its own packages."""
    script = __file__.rpartition("/cli/")[0] + f"/{post.package}/__main__.py"
    return [sys.executable, "-I", "-X", "utf8", script, "--ready-fd=3"]


def daemon_environment() -> "dict[bytes, bytes]":
    """Little of the caller's environment: a target gets its own caller's, never the daemon's."""
    return {
        name: value
        for name, value in posix.environ.items()
        if (name in _KEPT or name.startswith(_KEPT_BEGINNINGS)) and name not in _OF_THE_CALL
    }
