"""What a JavaScript runner tells of a failure, made into evidence: the user's frames out of an error's stack, and their lines."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import msgspec

from ...model.outcomes import SourceLine
from ...model.reports import ReportFrame
from ...model.tested import TestFailure
from ...model.values import Value
from .journal import Show

_CALL = re.compile(
    r"^\s*(?:at |❯ )(?:async )?(?:(?P<name>[^(\n]+?) \()?(?P<place>(?:file://)?/?[^()\s][^()\n]*?):(?P<line>\d+):(?P<column>\d+)\)?$",
    re.MULTILINE,
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LIBRARY = re.compile(r"^node:|(?:^|/)node_modules/|^internal/|/_target/node/")
_WORD = re.compile(r"(?<![.\w$'\"`])[A-Za-z_$][\w$]*")
_CALLS = re.compile(r"[\w$\])]\s*\(")
_UNNAMED = re.compile(r"^(?:\w+\.)?<anonymous>$|^(?:TestContext|Suite|Context|Proxy|Object)\.")
_LOADS = re.compile(r"\brequire\(|^\s*import\b|\bimport\(")
TITLE = re.compile(r"""\b(?:it|test)(?:\.\w+)*\(\s*(["'`])(.+?)\1""")
_THROWS = re.compile(r"\s*throw\b")
_CONDITION = re.compile(r"\s*(?:\}\s*)?(?:else\s+)?if\s*\(")
_LITERAL = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`$\n]*`|(?<![.\w$])(?:true|false|null|undefined)(?![\w$])")
"""What is written out; of a text with parts in it, these come from elsewhere."""
_REACH = 60
"""Lines above a failing one in which what it uses may have been made."""


class Raw(msgspec.Struct, frozen=True):
    """One failed test as its runner told it."""

    file: str
    titles: tuple[str, ...]
    type: str = ""
    message: str = ""
    stack: str = ""
    actual: str | None = None
    expected: str | None = None
    when: str = "call"


def failure(raw: Raw, root: str, show: Show) -> TestFailure:
    stack = ANSI.sub("", raw.stack)
    frames = tuple(frames_of(stack, root, show))
    top = frames[0] if frames else None
    type_, message = _said(raw, stack)
    lines, names = makers(Path(root, _path(stack, root) or "")) if top else ((), ())
    if top is None and raw.when == "call" and raw.titles:
        lines = body_of(str(Path(root, raw.file)), raw.titles[-1])
    operands = [("actual", raw.actual), ("expected", raw.expected)]
    return TestFailure(
        id=test_id(raw.file, raw.titles, show),
        when=raw.when,
        type=type_,
        message=message,
        expression=top.source[0].text.strip() if top and top.source else "",
        operands=tuple(Value(name=name, value=ANSI.sub("", text)) for name, text in operands if text is not None),
        frames=frames,
        file=top.file if top else show(raw.file),
        line=top.line if top else next(iter(lines), None),
        makers=lines,
        names=names,
    )


def test_id(file: str, titles: tuple[str, ...], show: Show) -> str:
    """`test/shop.test.js::shop::adds up`, which can be given back as a selector."""
    return "::".join([show(file) or file, *titles])


def _said(raw: Raw, stack: str) -> tuple[str, str]:
    """The class and message of an error; where only its stack is told, they are what stands before the calls."""
    message = ANSI.sub("", raw.message)
    if raw.type or not stack:
        return raw.type, message
    head = _CALL.split(stack, maxsplit=1)[0].strip() if _CALL.search(stack) else stack.strip()
    kind, colon, rest = head.partition(": ")
    if colon and re.fullmatch(r"\w*(Error|Exception)(?: \[\w+\])?", kind):
        return kind.partition(" [")[0], rest
    return "", head


def _user_calls(stack: str, root: str) -> list[re.Match[str]]:
    return [each for each in _CALL.finditer(stack) if not _LIBRARY.search(each["place"])]


def _path(stack: str, root: str) -> str | None:
    calls = _user_calls(stack, root)
    return f"{_file(calls[0], root)}:{calls[0]['line']}" if calls else None


def _file(call: re.Match[str], root: str) -> str:
    return str(Path(root, unquote(call["place"].removeprefix("file://"))))


def frames_of(stack: str, root: str, show: Show) -> list[ReportFrame]:
    """The user's own calls of an error's stack, innermost first, with the lines that they stand in."""
    frames = []
    for call in _user_calls(stack, root)[:12]:
        file, line = _file(call, root), int(call["line"])
        name = (call["name"] or "").strip()
        text = source_line(file, line)
        if text is None:
            continue
        frames.append(
            ReportFrame(
                function="<anonymous>" if not name or _UNNAMED.match(name) else name,
                file=show(file),
                line=line,
                source=(SourceLine(line, text, here=True),),
            )
        )
    return frames


def source_lines(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def source_line(file: str, line: int) -> str | None:
    lines = source_lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else None


def makers(spot: Path) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The lines that made what a failing line uses, by the names that are given values above it; none where nobody is called."""
    file, _, number = str(spot).rpartition(":")
    text, failing = source_lines(file), int(number or 0)
    if not 0 < failing <= len(text):
        return (), ()
    failing = _guard(text, failing)
    wanted, lines = set(_WORD.findall(text[failing - 1])), {failing}
    named: list[str] = []
    declared: set[str] = set()
    """What stands above its declaration is another test's."""
    given: dict[str, int] = {}
    parts: dict[int, str] = {}
    for at in range(failing - 1, max(0, failing - _REACH), -1):
        row = text[at - 1]
        made = [name for name in wanted if _gives(name, row)] if not _LOADS.search(row) else []
        if part := next((name for name in wanted if _gives_part(name, row)), None):
            parts[at] = part
            wanted.update(_WORD.findall(row))
        if made:
            lines.add(at)
            given |= dict.fromkeys(made, at)
            named += [name for name in made if name not in declared and _derives(name, row)]
            declared |= {name for name in made if _declares(name, row)}
            wanted.update(_WORD.findall(row))
    first = set(_WORD.findall(text[failing - 1]))
    names = tuple(name for name in dict.fromkeys(reversed(named)) if name in first)
    changed = {at for name, made in given.items() for at in range(made + 1, failing) if _changes(name, text[at - 1])}
    changed |= {at for at, name in parts.items() if at > given.get(name, at)}
    others = lines - {failing}
    needed = 0 if _CONDITION.match(text[failing - 1]) else 1  # an assertion is a call itself
    calls = (
        bool(changed)
        or any(_CALLS.search(text[at - 1].partition("=")[2]) for at in others)
        or len(_CALLS.findall(text[failing - 1].replace("if (", "if", 1))) > needed
    )
    return (tuple(sorted(lines | changed)) if calls else (), names)


def body_of(file: str, title: str) -> tuple[int, ...]:
    """The lines of the test that has this title, written out and once in its file: for an error that tells no call of the user's,
    as one does that a library throws when a promise has settled (`await expect(…).resolves`)."""
    text = source_lines(file)
    begins = [at for at, row in enumerate(text, 1) if any(each[2] == title for each in TITLE.finditer(row))]
    if len(begins) != 1:
        return ()
    (first,) = begins
    depth = len(text[first - 1]) - len(text[first - 1].lstrip())
    for at in range(first + 1, min(len(text), first + _REACH) + 1):
        row = text[at - 1]
        if row.strip() and len(row) - len(row.lstrip()) <= depth:
            return tuple(range(first, at + row.lstrip().startswith("}")))
    return (first,)


def _guard(text: list[str], failing: int) -> int:
    """The line whose condition lets an error be thrown, where that stands right around it: what it looked at was made by calls
    that say more than those that made the message."""
    row = text[failing - 1]
    if not _THROWS.match(row):
        return failing
    depth = len(row) - len(row.lstrip())
    for at in range(failing - 1, max(0, failing - _REACH), -1):
        above = text[at - 1]
        if above.strip() and len(above) - len(above.lstrip()) < depth:
            return at if _CONDITION.match(above) else failing
    return failing


def _changes(name: str, row: str) -> bool:
    """Whether a line calls a method of what has this name, for what that does to it."""
    return re.match(rf"\s*(?:await\s+)?{re.escape(name)}(?:\??\.[\w$]+)+\(", row) is not None


def _gives_part(name: str, row: str) -> bool:
    """Whether a line gives a value to a part of what has this name, or takes one out."""
    part = rf"(?<![.\w$]){re.escape(name)}(?:\??\.[\w$#]+|\[[^=]*?\])+"
    return re.search(rf"{part}\s*(?:[-+*/%&|^?<>]{{0,3}}=(?![=>])|\+\+|--)|\bdelete\s+{part}", row) is not None


def _derives(name: str, row: str) -> bool:
    """Whether the value that a line gives a name comes from elsewhere, and is not written out there."""
    given = _given(name, row)
    return given is not None and _WORD.search(_LITERAL.sub("", row[given.end() - 1 :].partition(";")[0])) is not None


def _declares(name: str, row: str) -> bool:
    return re.search(rf"\b(?:const|let|var)\b[^=;]*(?<![\w$]){re.escape(name)}(?![\w$])", row) is not None


def _gives(name: str, row: str) -> bool:
    """Whether a line gives a name its value."""
    return _given(name, row) is not None


def _given(name: str, row: str) -> re.Match[str] | None:
    """Where a line gives a name its value: plainly, with a type before it as in TypeScript, or out of what it takes apart."""
    word = re.escape(name)
    plain = rf"(?<![.\w$]){word}\s*(?:[-+*/%&|^?]{{0,3}}=)(?![=>])"
    typed = rf"\b(?:const|let|var)\s+{word}\s*!?:.*[^=!<>]=(?![=>])"
    apart = rf"[{{\[,:]\s*{word}\s*[,}}\]].*=[^=>]"
    return re.search(f"{plain}|{typed}|{apart}", row)
