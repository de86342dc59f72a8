"""What CPython itself wrote of errors on standard error: found there, so that what is told already is not told twice.

Only the reports of those errors are taken out: another one, that the program logged, and what it wrote behind them stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from ..model.reports import Failure

_BEGIN = "Traceback (most recent call last):"
_GROUP = "Exception Group Traceback (most recent call last):"
_RAISED = re.compile(r"  \| \S.*: ")  # what a group says, in its frame
_WITHIN = "  +-+----"  # before the first of its errors; a group that `except*` made at a module's level has no line before that
_HEAD = re.compile(
    r'Exception in thread |Exception ignored (?:in|on|while)|Error in atexit|Process \S+:$|[\w.]*RemoteTraceback: $|"""$'
)
_CALL = re.compile(r'^ +(?:\| +)?File ".+", line \d+, in ', re.MULTILINE)
_LINKS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


class Report(msgspec.Struct, frozen=True):
    """One report, with those of its causes: the lines from `begin` to before `end`, and the line that says what was raised."""

    begin: int
    end: int
    says: str


def are_in(text: str, *, cut: bool) -> bool:
    """Whether there are such reports; of one that the text begins within, where it was `cut`, only calls need be there."""
    return _BEGIN in text or _GROUP in text or (cut and _CALL.search(text) is not None)


def _is_group(rows: Sequence[str], at: int) -> bool:
    """Whether the report of a group begins here."""
    return _GROUP in rows[at] or (bool(_RAISED.match(rows[at])) and "".join(rows[at + 1 : at + 2]).startswith(_WITHIN))


def _begins(rows: Sequence[str], at: int) -> bool:
    return _BEGIN in rows[at] or _is_group(rows, at)


def without(text: str, told: Sequence[Failure], *, cut: bool) -> tuple[str, int]:
    """The text without the reports of these failures, and how many lines those are. `cut`: it may begin within one."""
    rows = text.split("\n")
    gone: set[int] = set()
    begun = 0
    if cut and not _begins(rows, 0):
        end, says = _through(rows, 0, told)
        if any(_is_of(says, each) for each in told):
            gone.update(range(end))
            begun = end
    for report in _reports(rows, begun, told):
        if any(_is_of(report.says, each) for each in told):
            gone.update(range(report.begin, report.end))
    return "\n".join(row for number, row in enumerate(rows) if number not in gone), len(gone)


def _reports(rows: Sequence[str], at: int, told: Sequence[Failure]) -> Iterator[Report]:
    while at < len(rows):
        if _begins(rows, at):
            begin = at
            while begin and _HEAD.match(rows[begin - 1]):
                begin -= 1
            at, says = _through(rows, at, told)
            yield Report(begin, at, says)
        else:
            at += 1


def _through(rows: Sequence[str], at: int, told: Sequence[Failure]) -> tuple[int, str]:
    """Where the report ends that begins here, its chain included, and the last line of it that says what was raised."""
    while True:
        group = _is_group(rows, at)
        begun, at = at, at + 1
        while at < len(rows) and rows[at].startswith(" "):
            at += 1
        says = next((row[4:] for row in rows[begun:at] if _RAISED.match(row)), "") if group else ""
        if not group and at < len(rows):
            says = rows[at]
            at += 1 + _further_lines(says, told)
        if rows[at : at + 1] == ['"""']:
            at += 1
        following = _next_in_chain(rows, at)
        if following is None:
            return at, says
        at = following


def _next_in_chain(rows: Sequence[str], at: int) -> int | None:
    """Where the next report of a chain begins, though what the one before says may go on for some lines."""
    for number in range(at, len(rows) - 2):
        if rows[number] in _LINKS:
            return number + 2
        if _begins(rows, number):
            return None
    return None


def _further_lines(says: str, told: Sequence[Failure]) -> int:
    """Lines that what an error says goes on for, with what was added to it, as far as that is known."""
    found = next((each for each in told if _is_of(says, each)), None)
    if found is None:
        return 0
    notes = found.exception.notes if found.exception else ()
    return found.what.count("\n") + sum(note.count("\n") + 1 for note in notes)


def _is_of(says: str, failure: Failure) -> bool:
    kind, _, message = failure.what.partition(": ")
    return _says(says, kind, message)


def _says(line: str, kind: str, message: str) -> bool:
    """Whether a report's line is about such an error; it may name the module, too, and neither need be whole."""
    named, _, said = line.partition(": ")
    first = message.partition("\n")[0]
    alike = not first or said.startswith(first) or first.startswith(said)
    return named.rpartition(".")[2] == kind and alike
