"""`dbg daemon status | stop`: the daemon's own life, asked without starting one."""

import _signal  # type: ignore[import-not-found]
import posix

from . import link, rendezvous
from .catalogue import HASH, VERSION
from .jsonline import encode
from .usage import Usage, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Json

ACTIONS = ("status", "stop")


def run(words: "list[str]", as_json: bool) -> int:
    from .main import EXIT_INTERNAL, fail, tell, write

    action = words[0] if words else "status"
    if action not in ACTIONS:
        meant = nearest(action, ACTIONS)
        raise Usage(f"unknown action {action!r} of daemon", ["daemon", meant or "status"], "daemon")
    if len(words) > 1:
        raise Usage(f"daemon {action} takes no words, not {words[1]!r}", ["daemon", action], "daemon")
    request: dict[str, Json] = {
        "v": 1,
        "catalogue": HASH,
        "version": VERSION,
        "op": "daemon",
        "args": {"action": action},
        "json": as_json,
    }
    if action == "stop":
        from . import mcp_verb

        mcp_verb.leave()
    try:
        data = (encode(request) + "\n").encode("ascii")
        return link.converse(data, write, start=False, to_the_end=action == "stop")
    except link.NoDaemon:
        return tell("daemon", {"running": False}, "no daemon runs\n", as_json)
    except link.Gone as gone:
        if action == "stop" and end_by_pid():
            text = "the daemon did not answer and was ended\n"
            return tell("daemon", {"running": False, "answered": False}, text, as_json)
        return fail("internal", str(gone), EXIT_INTERNAL, as_json, "daemon")


def end_by_pid() -> bool:
    """End a daemon that no longer answers, once its start time proves that the pid is still its own."""
    pid = link.read_pid(rendezvous.runtime_directory())
    if not pid:
        return False
    # SIGKILL, since a daemon that is stopped or wedged does not hear anything else; its guardian ends what it launched.
    posix.kill(pid, _signal.SIGKILL)
    return True
