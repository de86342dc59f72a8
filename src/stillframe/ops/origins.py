"""Where an error that nobody handled was thrown first, with the values that were seen there.

A debugger tells it where it left the last call that could have handled it. By then the calls that threw it may be gone: it was
caught and thrown again, or a promise was rejected with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..model.reports import Failure, ReportFrame, Witnessed, spot
from ..model.values import ExceptionInfo, Frame

SENT = 6
"""Values that are told of an error in another process."""


def with_origin(found: Failure, raised: Sequence[Failure], *, live: bool) -> Failure:
    """A failure with the calls that threw it, where `raised` has them; else with the place, where its own calls do not tell.

    What is held `live` is to be asked further, so that its own calls stay what is told.
    """
    found = _with_sent(found, raised)
    top = found.stack.frames[0] if found.stack.frames else None
    if found.exception is not None and not found.exception.frames and (top is None or top.library):
        return _placed(found, raised)
    if top is not None and top.note is not None:
        return _unwound(found, raised)
    if top is not None and not top.library and not top.values and not live:
        found = _refilled(found, raised)
    made = _made(found.exception)
    if made is None or top is None or any(_place(each) == _place(made) for each in found.stack.frames):
        return found
    alike = _first_throws([each for each in raised if _is_of(each, found.exception)], made)
    if not alike or live or _line(alike[-1]) == _place(top):
        note = f"the error was made at {made.file}:{made.line} in {made.function}"
        return msgspec.structs.replace(found, notes=(*found.notes, note))
    passed_on = f"caught, and passed on at {top.file}:{top.line} in {top.function}"
    notes = (*found.notes, passed_on, *_several(alike))
    return msgspec.structs.replace(found, stack=alike[-1].stack, notes=notes)


def _with_sent(found: Failure, raised: Sequence[Failure]) -> Failure:
    """A failure with the values of the error in another process that it was made from, which itself came as text alone."""
    if found.exception is None or not any(not each.frames for each in found.exception.causes):
        return found
    causes, notes = list[ExceptionInfo](), list[str]()
    for each in found.exception.causes:
        alike = [one for one in raised if not each.frames and one.process is not None and _is_sent(one, each)]
        causes.append(msgspec.structs.replace(each, locals=alike[-1].stack.frames[0].values[:SENT]) if alike else each)
        notes += _several(alike)
    exception = msgspec.structs.replace(found.exception, causes=tuple(causes))
    return msgspec.structs.replace(found, exception=exception, notes=(*found.notes, *notes))


def _is_sent(thrown: Failure, cause: ExceptionInfo) -> bool:
    """Whether it says the same as this text, and was raised in the line that this names."""
    top = next(iter(thrown.stack.frames), None)
    if top is None or not cause.message.endswith(thrown.what):
        return False
    return f":{top.line} in {top.function.rpartition('.')[2]}: " in cause.message


def _placed(found: Failure, raised: Sequence[Failure]) -> Failure:
    """What was thrown is no error and knows no place: that of an equal one that was thrown last."""
    same = [each for each in raised if each.what == found.what and each.stack.frames]
    return msgspec.structs.replace(found, stack=same[-1].stack, notes=_several(same)) if same else found


def _first_throws(alike: Sequence[Failure], made: Frame) -> list[Failure]:
    """Those of equal errors that were thrown where they were made; or, where another function makes them, where one was first."""
    return [each for each in alike if _line(each) == _place(made)] or [
        each for each in alike if _line(each) == _line(alike[0])
    ]


def _unwound(found: Failure, raised: Sequence[Failure]) -> Failure:
    """A failure whose calls are gone, with those of the same error when it was thrown."""
    made = _made(found.exception)
    same = [each for each in raised if each.what == found.what and each.stack.frames and _line(each) == _line(found)]
    if not same and made is not None:
        same = _first_throws([each for each in raised if _is_of(each, found.exception)], made)
    if not same:
        return found
    return msgspec.structs.replace(found, stack=_joined(same[-1].stack, found.stack), notes=_several(same))


def _refilled(found: Failure, raised: Sequence[Failure]) -> Failure:
    """A failure whose calls hold nothing any more, since somebody who kept the error cleared them, with what they held when the
    same error was reported before."""
    same = [each for each in raised if each.what == found.what and _line(each) == _line(found)]
    same = [each for each in same if each.stack.frames[0].values]
    if not same:
        return found
    held = {spot(each): each for each in reversed(same[-1].stack.frames)}
    frames = tuple(_with_values_of(held.get(spot(each)), each) for each in found.stack.frames)
    notes = (*found.notes, "its calls were cleared since it was caught: the values are those of then", *_several(same))
    return msgspec.structs.replace(found, stack=msgspec.structs.replace(found.stack, frames=frames), notes=notes)


def _with_values_of(before: ReportFrame | None, now: ReportFrame) -> ReportFrame:
    if before is None or now.values:
        return now
    return msgspec.structs.replace(now, values=before.values, values_total=before.values_total, used=before.used)


def _several(alike: Sequence[Failure]) -> tuple[str, ...]:
    return (f"seen at the last of {len(alike)} such errors that were thrown there",) if len(alike) > 1 else ()


def _made(info: ExceptionInfo | None) -> Frame | None:
    """The innermost call of the user's own that an error names as the place where it was made."""
    return next((each for each in info.frames if each.kind == "user" and each.line), None) if info else None


def _is_of(thrown: Failure, info: ExceptionInfo | None) -> bool:
    """Whether it is the same error, as far as that can be told: its message may have been changed meanwhile."""
    return info is not None and thrown.exception is not None and thrown.exception.frames == info.frames


def _place(frame: Frame | ReportFrame) -> tuple[str | None, int | None]:
    return frame.file, frame.line


def _line(failure: Failure) -> tuple[str | None, int | None]:
    return _place(failure.stack.frames[0]) if failure.stack.frames else (None, None)


def _joined(thrown: Witnessed, gone: Witnessed) -> Witnessed:
    """The calls as they were, and behind them those that only the error itself still knew of."""
    known = {spot(each) for each in thrown.frames}
    first = next((number for number, each in enumerate(gone.frames) if spot(each) in known), 0)
    behind = (each for each in gone.frames[first:] if spot(each) not in known)
    further = tuple(msgspec.structs.replace(each, note=None) for each in behind)
    return Witnessed(frames=(*thrown.frames, *further), total=thrown.total, goes_on=thrown.goes_on)
