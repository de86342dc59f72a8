"""How a session stands, as an outcome: its phase, and what the program printed since the last reply."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec

from ..model import wording
from ..model.backend import Ended
from ..model.outcomes import AnyOutcome, Breakpoint, Exited, Lost, Running, Stop
from . import family
from .output import decode
from .phases import Phase

if TYPE_CHECKING:
    from .session import Session

NEWS = 2048
"""Bytes of new output of each stream that an outcome carries."""
BEGAN = 1024
"""Bytes of the beginning of stderr that the end of a program that failed carries as well, where what failed is mostly told."""
_LET_GO = "it was detached; the program runs on without a debugger"


def outcome(session: Session, *, after: float | None = None, news: bool = True) -> AnyOutcome:
    """What to answer now. News are told once; `news=False` leaves them for the next reply."""
    found = _bare(session, after)
    return with_news(session, found) if news else found


def _bare(session: Session, after: float | None) -> AnyOutcome:
    match session.phase:
        case Phase.STOPPED:
            return session.stop or Stop(
                reason=session.stopped_reason,
                notes=(f"its frame is still being read; `{wording.call('wait')}` has it then",),
            )
        case Phase.EXITED:
            return _exited(session)
        case Phase.DETACHED:
            return Lost(cause=_LET_GO)
        case Phase.LOST:
            return Lost(cause=(session.ended and session.ended.cause) or "the debugger went away")
        case _:
            return Running(after=after, notes=(suspended(session),) if session.suspended else ())


class Pulse:
    """What the kernel says of a process: stopped by a signal (SIGSTOP, Ctrl-Z), so that it answers nobody, or over, though its
    debugger has not been heard of it. The former is asked at every step.

    The file that tells stays open: to open it takes longer than all else that a step asks of us.
    """

    def __init__(self) -> None:
        self._of: int | None = None
        self._file: int | None = None

    def is_stopped(self, pid: int) -> bool:
        """False where nothing tells."""
        return self._state(pid) == b"T"  # a debugger's own hold is a small t

    def is_over(self, pid: int) -> bool:
        """False where nothing tells."""
        return self._state(pid) in (b"X", b"Z")

    def _state(self, pid: int) -> bytes:
        """The kernel's letter for it; X where there is no such process (any more), none where nothing tells, as on macOS."""
        try:
            if self._file is None or self._of != pid:
                self.close()
                self._of, self._file = pid, os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._file, 1024, 0).rpartition(b")")[2].split()[0]
        except OSError:
            self.close()
            return b"X" if os.path.exists("/proc/self/stat") and not os.path.exists(f"/proc/{pid}") else b""

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def suspended(session: Session) -> str:
    return f"its process {session.backend.pid} is stopped by a signal (kill -CONT {session.backend.pid} lets it go on)"


def _exited(session: Session) -> Exited:
    ended = session.ended or Ended()
    told = not session.stopping and session.parent is None
    never_hit = family.as_a_whole(session, session.breakpoints.never_hit()) if told else ()
    return Exited(
        exit_code=ended.exit_code,
        signal=ended.signal,
        cause=ended.cause,
        lost_error=ended.lost_error,
        after=round((session.ended_at or time.monotonic()) - session.started, 3) if session.origin.kept else None,
        notes=_children_left(session) + _children_unseen(session, never_hit),
        never_hit=never_hit,
    )


def _children_left(session: Session) -> tuple[str, ...]:
    living = ", ".join(each.name for each in family.heirs(session) if not each.over)
    what = "lived on, and are ended with it" if session.private else "live on"
    return (f"its children {what}: {living}",) if living else ()


def _children_unseen(session: Session, never_hit: tuple[Breakpoint, ...]) -> tuple[str, ...]:
    """A breakpoint that stopped nobody may have been come to by a process that nobody was to look at."""
    if session.origin.plan.children or not any(each.state != "failed" for each in never_hit):
        return ()
    return (f"child processes are not followed ({wording.option('children', False)}); what they ran is not counted",)


def with_news(session: Session, found: AnyOutcome) -> AnyOutcome:
    """The outcome with what is to be told once: printed text, notes, commands that ran beside. It is told now."""
    session.tell(runs=isinstance(found, Running))
    before = session.output.told
    pieces, dropped = session.output.news(NEWS, final=not session.root.live)
    texts = {piece.stream: piece.text for piece in pieces}
    cut = next((piece.dropped for piece in pieces if piece.stream == "stderr"), 0)
    began = session.output.beginning("stderr", before, min(cut, BEGAN)) if cut and _is_unexplained(found) else b""
    said = tuple(dict.fromkeys(line for line in texts.get("console", "").splitlines() if line.strip()))
    done = tuple(each.result() for each in session.beside)
    session.beside[:] = [each for each in session.beside if not each.ended]
    return msgspec.structs.replace(
        found,
        output=texts.get("stdout", ""),
        stderr=texts.get("stderr", ""),
        stderr_began=decode(began),
        log=texts.get("log", ""),
        dropped=dropped - len(began),
        notes=found.notes + session.take_notes() + said,
        do=done,
    )


def _is_unexplained(found: AnyOutcome) -> bool:
    """Whether its own words alone tell why the program failed: it ended otherwise than well, or is held at an error of which
    its debugger knows no message, such as a panic."""
    if isinstance(found, Stop):
        return found.exception is not None and found.exception.mode == "uncaught" and not found.exception.message
    return isinstance(found, Exited) and bool(found.exit_code or found.signal)
