"""What CPython itself wrote of errors on standard error: found there, so that what is told already is not told twice.

Only the reports of those errors are taken out: another one, that the program logged, and what it wrote behind them stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from ..model.reports import Failure
from ..model.values import ExceptionInfo

_BEGIN = "Traceback (most recent call last):"
_REMOTE = '"""'
"""What a report from another process stands between."""
_GROUP = "Exception Group Traceback (most recent call last):"
_NEXT_GROUP = f"  + {_GROUP}"
_RAISED = re.compile(r"  \| \S.*: ")  # what a group says, in its frame
_WITHIN = "  +-+----"  # before the first of its errors; a group that `except*` made at a module's level has no line before that
_MEMBER_ROW = re.compile(r" +\| ")
_MEMBER_SAYS = re.compile(r" +\| (\S.*)")
_MEMBER_CALL = re.compile(r" +(?:\|  |\+-)")
_BELOW = re.compile(r" +\+-\+-")
"""What stands below a group's own line; not below that of an error in it."""
_HEAD = re.compile(
    r'Exception in thread |Exception ignored (?:in|on|while)|Error in atexit|Process \S+:$|[\w.]*RemoteTraceback: $|"""$'
)
_CALL = re.compile(r'^ +(?:\| +)?File "(.+)", line (\d+), in ', re.MULTILINE)
_OTHERS = re.compile(r"/(?:site|dist)-packages/|/lib/python\d[\d.]*/|^<frozen ")
"""Files of libraries, whose calls behind the last one of the user's tell nothing of a program's fault."""
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


def without(text: str, told: Sequence[Failure], *, cut: bool, in_line: bool = False) -> tuple[str, int]:
    """The text without the reports of these failures, and how many lines those are. `cut`: it may begin within one;
    `in_line`: of a failure only the line of the user's that it came up in is told, and not what it came from."""
    rows = text.split("\n")
    gone: set[int] = set()
    begun = 0

    def take(report: Report) -> None:
        within = rows[report.begin : report.end]
        mine = [each for each in told if _is_of(report.says, each) and _holds_the_same(within, each)]
        if any(not in_line or _came_up_at(within, each) for each in mine) or (
            not in_line and _holds_only(within, told)
        ):
            gone.update(range(report.begin, report.end))

    if cut and _MEMBER_ROW.match("".join(rows[1:2])):
        ends = (n for n, row in enumerate(rows) if n and (not row.startswith(" ") or row.startswith(_NEXT_GROUP)))
        begun = next(ends, len(rows))
        take(Report(0, begun, ""))
    elif cut and not _begins(rows, 0):
        begun, says = _through(rows, 0, told)
        take(Report(0, begun, says))
    begun = begun if gone else 0
    for report in _reports(rows, begun, told):
        take(report)
    return "\n".join(row for number, row in enumerate(rows) if number not in gone), len(gone)


def _errors_in(report: Sequence[str]) -> list[str]:
    """What the errors in a group say, each behind its calls, or right below the line that parts it from the one before."""
    return [
        match[1]
        for before, row, after in zip(("", *report), report, (*report[1:], ""), strict=False)
        if (match := _MEMBER_SAYS.match(row)) and _MEMBER_CALL.match(before) and not _BELOW.match(after)
        if not match[1].startswith((_BEGIN, _GROUP))
    ]


def _holds_only(report: Sequence[str], told: Sequence[Failure]) -> bool:
    """Whether it is of a group, as a library caught it, in which there is no error but those that are told."""
    said = _errors_in(report)
    return bool(said) and all(any(_is_of(each, one) for one in told) for each in said)


def _holds_the_same(report: Sequence[str], failure: Failure) -> bool:
    """Whether an error in it is one of this group's, whose own line may be the same for another; of no group all is well."""
    if failure.exception is None or not failure.exception.members:
        return True
    parts, said = list(_parts(failure.exception)), _errors_in(report)
    return not said or any(_says(each, *part) for each in said for part in parts)


def _parts(error: ExceptionInfo) -> Iterator[tuple[str, str]]:
    """What is in a group, and what it all came from, each by its type and message."""
    for each in (*error.members, *error.causes):
        yield each.type.rpartition(".")[2], each.message
        yield from _parts(each)


def _came_up_at(report: Sequence[str], failure: Failure) -> bool:
    """Whether the line told is the innermost one of the user's in a report, and the report is of nothing else."""
    top = failure.stack.frames[0] if failure.stack.frames else None
    if _REMOTE in report:  # behind that it is said how it came from the process that it came up in
        report = report[: len(report) - 1 - report[::-1].index(_REMOTE)]
        if not _is_of(report[-1], failure):
            return False
    if top is None or not top.file or any(row in _LINKS or _GROUP in row for row in report):
        return False
    places = [match.groups() for match in map(_CALL.match, report) if match]
    mine = next((each for each in reversed(places) if not _OTHERS.search(each[0])), None)
    return mine is not None and f"/{mine[0]}".endswith(f"/{top.file.lstrip('/')}") and mine[1] == str(top.line)


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
        while at < len(rows) and rows[at].startswith(" ") and not rows[at].startswith(_NEXT_GROUP):
            at += 1
        says = next((row[4:] for row in rows[begun:at] if _RAISED.match(row)), "") if group else ""
        if not group and at < len(rows):
            says = rows[at]
            at += 1 + _further_lines(says, told)
        if rows[at : at + 1] == [_REMOTE]:
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
