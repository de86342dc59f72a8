"""Where an exception that is told beside another one was raised, and with which values: a cause, a member of a group."""

import dis
import itertools

from _pydev_bundle._pydev_saved_modules import time

EACH, ALL = 6, 48  # values told of one exception, and of all that a stop tells of
TEXT, ITEMS = 80, 4
SECONDS = 2.0  # for all of them: their reprs are code of the program
# What a call is at that an exception leaves: the line of the exception, or what raises it, or another one, again.
_RAISES = frozenset(dis.opmap[name] for name in ("RERAISE", "RAISE_VARARGS", "END_FINALLY") if name in dis.opmap)


class Left:
    """The calls that exceptions have left, as they were then.

    A frame lives as long as the exception that passed it, and nothing changes in it once it is left. One that caught the
    exception and went on is another matter, be it told as a call of this stop: what it has now need not have led there.
    """

    def __init__(self, is_own, told):
        self._is_own = is_own
        self._told = {id(frame) for frame in told}
        self._until = time.monotonic() + SECONDS
        self._room = ALL

    def call_of(self, error):
        """(frame, line) of the innermost call of the user's that the exception has left, or None."""
        passed, trace = [], error.__traceback__
        while trace is not None:
            passed.append(trace)
            trace = trace.tb_next
        inner = next((each for each in reversed(passed) if self._is_own(each.tb_frame)), None)
        if inner is None or id(inner.tb_frame) in self._told or not _was_left(inner.tb_frame, inner.tb_lasti):
            return None
        return inner.tb_frame, inner.tb_lineno

    def share(self, rows):
        """As many of these as there is room for, one after the other, while there is time."""
        for row in itertools.islice(rows, EACH):
            if self._room <= 0 or time.monotonic() > self._until:
                return
            self._room -= 1
            yield row


def _was_left(frame, raised_at):
    return frame.f_lasti == raised_at or frame.f_code.co_code[frame.f_lasti] in _RAISES
