"""What a sanitizer (of memory, threads or undefined behaviour), an assertion of C or a panic of Rust wrote of the fault, as part
of a report."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ..model.outcomes import AnyOutcome
from ..model.reports import CrashReport, Failure
from ..session.session import Session

_READ = 256 * 1024
PANIC = "panic"
"""Of Rust's, whose message debuggers do not tell."""
_BEGIN = re.compile(r"(?:^=+\n)?^==\d+==\s*(?:ERROR|WARNING): (?P<tool>\w*Sanitizer): (?P<what>.+)$", re.MULTILINE)
_END = re.compile(r"^(==\d+==ABORTING|SUMMARY: \w*Sanitizer: .*)\n?", re.MULTILINE)
_WHERE = re.compile(r" (?:on|in) (?:unknown )?address 0x.*| \(pid=\d+\)| \(pc .*")
_ACCESS = re.compile(r"^\s*((?:READ|WRITE|Read|Write) of size \d+)", re.MULTILINE)
_CALL = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ in (?P<function>.+) (?P<file>/[^:\n]+):(?P<line>\d+)(?::\d+)?$")
_LABEL = re.compile(
    r"^\s*(?P<label>[Ff]reed by|[Pp]reviously allocated by|[Aa]llocated by|Previous (?:read|write)|.*\ballocated) .*:$"
)
_ASSERTED = re.compile(r"^[^\n]*\S:\d+: [^\n]*Assertion [`'](.+)' failed\.?$", re.MULTILINE)
"""As glibc 2.36 puts it: "shop: shop.c:12: total: Assertion `n > 0' failed."."""
_PANICKED = re.compile(
    r"^thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<old>(?s:.+?))', )?(?P<file>.+):(?P<line>\d+):\d+(?::\n(?P<new>.*))?$",
    re.MULTILINE,
)
"""As Rust 1.73 and later put it, place first; before, the message came first, in quotes."""
_WORDS = {"freed by": "freed", "previously allocated by": "allocated", "allocated by": "allocated"}


def with_own_words(session: Session, report: CrashReport) -> CrashReport:
    """The report told by what the program's own runtime wrote of the fault, where that says more than a signal does."""
    failure = report.failure
    if failure is None or (failure.kind == "exception" and failure.what != PANIC):
        return report
    text = "".join(piece.text for piece in session.output.tail(_READ, ("stderr",))[0])
    if failure.what == PANIC:
        first, *also = _with_messages((failure, *report.also), text)
        return msgspec.structs.replace(report, failure=first, also=tuple(also))
    if begin := _BEGIN.search(text):
        return _with_sanitizer(session, report, failure, text, begin)
    if failure.what.startswith("SIGABRT") and (claims := _ASSERTED.findall(text)):
        told = msgspec.structs.replace(failure, what=f"SIGABRT: assertion failed: {claims[-1]}")
        return msgspec.structs.replace(report, failure=told)
    return report


def _with_messages(failures: Sequence[Failure], text: str) -> Iterator[Failure]:
    """Panics with what each said; of several at one line they are told in the order in which they came."""
    left = Counter(each.place for each in failures)
    for each in failures:
        yield with_message(each, text, left[each.place]) if each.what == PANIC else each
        left[each.place] -= 1


def with_message(failure: Failure, text: str, back: int = 1) -> Failure:
    """A panic with what it said, if one was told of the line at which it is held: the last one, or so many back from the end,
    since those that the program itself caught there before were told as well."""
    top = failure.stack.frames[0] if failure.stack.frames else None
    here = (os.path.basename(top.file or ""), top.line) if top else None
    said = [
        each["new"] or (each["old"] or "").partition("\n")[0]
        for each in _PANICKED.finditer(text)
        if (os.path.basename(each["file"]), int(each["line"])) == here
    ][-back:]
    return msgspec.structs.replace(failure, what=f"{PANIC}: {said[0]}") if said and said[0] else failure


def _with_sanitizer(
    session: Session, report: CrashReport, failure: Failure, text: str, begin: re.Match[str]
) -> CrashReport:
    """What the fault is, and where its memory came from and went."""
    end = next((each.end() for each in reversed(list(_END.finditer(text, begin.end())))), len(text))
    said = text[begin.start() : end]
    access = _ACCESS.search(said)
    what = f"{begin['tool']}: {_WHERE.sub('', begin['what'])}" + (f", {access[1]}" if access else "")
    told = msgspec.structs.replace(
        failure, what=what, kind="sanitizer", notes=(*_stages(said, session.origin.base), *failure.notes)
    )
    lines = said.rstrip().count("\n") + 1
    rest = f"{text[: begin.start()]}(the sanitizer's own report, {lines} lines)\n{text[end:]}"
    return msgspec.structs.replace(report, failure=told, end=_without(report.end, rest))


def _without(end: AnyOutcome, stderr: str) -> AnyOutcome:
    """The end with only the other words of standard error; what was left out of it was of the sanitizer's."""
    return msgspec.structs.replace(end, stderr=stderr[-2000:], stderr_began="", dropped=0)


def _stages(said: str, base: str) -> Iterator[str]:
    """`freed at queue.c:23 in drop`: of each part of the report, the first call of the program's own."""
    label = ""
    for line in said.splitlines():
        if match := _LABEL.match(line):
            label = _WORDS.get(match["label"].lower(), match["label"].lower())
        elif label and (call := _CALL.match(line)) and os.path.exists(call["file"]):
            file = os.path.relpath(call["file"], base)
            yield f"{label} at {call['file'] if file.startswith('..') else file}:{call['line']} in {call['function']}"
            label = ""
