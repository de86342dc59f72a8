"""Where client and daemon meet: a directory of the user's own, checked before anything in it is believed.

Both sides use this module, so it imports nothing that costs time. The order of places: `STILLFRAME_RUNTIME_DIR`,
`$XDG_RUNTIME_DIR/stillframe` (without the variable: in `/run/user/<uid>`) where that directory is the user's own, else
`stillframe-<uid>` in the temporary directory.
"""

import posix

SOCKET = "daemon.sock"
START_LOCK = "start.lock"
"""Held by a client while it starts a daemon, so that the others wait for that one instead of starting their own."""
LIFE_LOCK = "daemon.lock"
"""Held by the daemon for its whole life; the lock, not the file, says that a daemon lives. Never deleted."""
PID = "daemon.pid"
LONGEST_SOCKET_PATH = 100
"""`sun_path` holds 108 bytes on Linux and 104 on macOS; a longer path is reached from inside its directory."""

_TYPE_MASK, _DIRECTORY, _LINK = 0o170000, 0o040000, 0o120000


class Post:
    """The names of one kind of server in the directory; every kind is elected, found and ended in the same way."""

    def __init__(self, package: str, socket: str, start_lock: str, life_lock: str, pid: str) -> None:
        self.package = package
        """The folder of `faces` whose `__main__.py` is this server."""
        self.socket = socket
        self.start_lock = start_lock
        self.life_lock = life_lock
        self.pid = pid


DAEMON = Post("daemon", SOCKET, START_LOCK, LIFE_LOCK, PID)


def mcp_post(version: str, catalogue: str) -> Post:
    """The host of MCP's own library, one for each version and vocabulary: no client ever meets the wrong one."""
    name = f"mcp-{version}-{catalogue}"
    return Post("mcp", f"{name}.sock", f"{name}-start.lock", f"{name}.lock", f"{name}.pid")


class Unsafe(Exception):
    """The directory is not ours alone; talking through it could hand our rights to somebody else."""


class Forbidden(Unsafe):
    """A sandbox lets this process have no sockets, as those of agents do for the commands that they run."""

    def __init__(self, directory: str) -> None:
        super().__init__(
            f"the sandbox that this runs in forbids sockets, so that the daemon in {directory} cannot be reached: "
            "run it outside, or let the sandbox have the network; MCP servers (dbg install) run outside anyway"
        )


def variable(name: str) -> str:
    """An environment variable, or nothing where it is unset or empty."""
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def runtime_directory() -> str:
    """The directory of the socket, by name only; `secure` makes and checks it."""
    named = variable("STILLFRAME_RUNTIME_DIR")
    if named:
        return named if named.startswith("/") else posix.getcwd() + "/" + named
    # Agents start their MCP servers with few variables; they shall find the daemon of the user's shell all the same.
    session = variable("XDG_RUNTIME_DIR") or f"/run/user/{posix.geteuid()}"
    if session.startswith("/") and _is_own(session):
        return session.rstrip("/") + "/stillframe"
    temporary = variable("TMPDIR")
    base = temporary if temporary.startswith("/") else "/tmp"
    return f"{base.rstrip('/')}/stillframe-{posix.geteuid()}"


def _is_own(path: str) -> bool:
    try:
        found = posix.stat(path)
    except OSError:
        return False
    is_directory = found.st_mode & _TYPE_MASK == _DIRECTORY
    # After `su` or `sudo` the variable still names the other user's directory: that one is not for us.
    return is_directory and found.st_uid == posix.geteuid() and posix.access(path, posix.W_OK)


def secure(path: str, *, create: bool) -> bool:
    """Check that the directory is ours alone, making it if asked; False where it does not exist."""
    if create:
        try:
            posix.mkdir(path, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            why = error.strerror
            if isinstance(error, FileNotFoundError):  # /proc says so, too, to whoever wants to make something there
                there = posix.access(path.rstrip("/").rpartition("/")[0] or "/", posix.F_OK)
                why = "nothing can be made there" if there else "its parent directory does not exist"
            raise Unsafe(f"cannot make {path}: {why}; set STILLFRAME_RUNTIME_DIR to one of yours") from None
    try:
        found = posix.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unsafe(f"cannot look at {path}: {error.strerror}") from None
    if found.st_mode & _TYPE_MASK == _LINK:
        raise Unsafe(f"{path} is a symbolic link; remove it or set STILLFRAME_RUNTIME_DIR")
    if found.st_mode & _TYPE_MASK != _DIRECTORY:
        raise Unsafe(f"{path} is not a directory; remove it or set STILLFRAME_RUNTIME_DIR")
    if found.st_uid != posix.geteuid():
        raise Unsafe(f"{path} belongs to uid {found.st_uid}, not to you; set STILLFRAME_RUNTIME_DIR")
    if found.st_mode & 0o077:
        raise Unsafe(
            f"{path} is open to others (mode {found.st_mode & 0o777:o}); chmod 700 it when its content is yours"
        )
    return True


def state_directory() -> str:
    """Where logs live, by name only: XDG's state directory, else that of the home directory, else the runtime one."""
    named, home = variable("XDG_STATE_HOME"), variable("HOME")
    if named.startswith("/"):
        return named.rstrip("/") + "/stillframe"
    if home.startswith("/"):
        return home.rstrip("/") + "/.local/state/stillframe"
    return runtime_directory()


def started_at(pid: int) -> str:
    """When a process started, in the kernel's own ticks: a pid alone may by now be somebody else's. Empty: not known."""
    try:
        handle = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY)
    except OSError:
        return ""
    try:
        text = posix.read(handle, 4096)
    except OSError:
        return ""
    finally:
        posix.close(handle)
    # The command's name may hold spaces and brackets; the fields are counted from behind its last bracket.
    return text.rpartition(b")")[2].split()[19].decode()
