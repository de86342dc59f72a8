"""`go test`: its events in JSON first, then Delve at the line where a test says that it failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...errors import AdapterMissing, Try
from ...model.outcomes import AnyOutcome, Running, SourceLine, Stop
from ...model.places import BreakSpec, SymbolPlace
from ...model.plans import Plan
from ...model.recorder import Where
from ...model.reports import ReportFrame
from ...model.tested import Counts, TestFailure, Told
from ...model.values import Value
from ..building import run
from ..finding import located
from ..recorders import PLAIN
from . import Live, TestAsk
from .journal import MOST, Show
from .printing import newest
from .shown import last_lines, shown_from
from .signs import Signs
from .stacks import source_line

_FAILED = "testing.(*common).Fail"
"""Where everything that fails a test comes through, panics too: their frames are still there when it is called."""
_SAID = re.compile(r"^\s+([\w./-]+\.go):(\d+): (.*)$")
_PANIC = re.compile(r"^panic: (.*?)(?: \[recovered.*)?$")
_CALL = re.compile(r"^\s+(/\S+\.go):(\d+)")
_FURTHER = " " * 8
_TESTIFY_PLACE = re.compile(r"(?:Error Trace|Test): |\S+\.go:\d+$")
_TESTIFY_SIDE = re.compile(r"(expected|actual) ?: (.*)$")
_NOISE = re.compile(r"^\s*(===|---|PASS$|FAIL\b|exit status)")
_PART = re.compile(r"(?:Test|Example|Fuzz)\w*/")
"""A part of a test, as Go names it; packages are mostly in lower case."""
_TEST = re.compile(r"^func ((?:Test|Example|Fuzz)\w*)\(", re.MULTILINE)


class GoTest:
    name = "go"
    stays = False
    alone = True
    by_id = True
    built_there = True
    recordable = False

    def signs(self, signs: Signs) -> int:
        if signs.has("go.mod"):
            return 2 if signs.test_files(".go") else 1
        return 1 if signs.has("*_test.go") else 0

    async def plan(self, ask: TestAsk, folder: Path) -> Plan:
        go = located("go", ask.env, ask.cwd)
        if go is None:
            raise AdapterMissing("go is not installed: apt install golang-go", hint=Try("setup", {"": "go"}))
        packages, pattern = _selected(ask)
        chosen = ("-run", pattern) if pattern else ()
        await run((go, "test", "-run", "^$", *packages), cwd=ask.cwd, env=ask.env)  # built outside of the time to run
        _, version = await run((go, "env", "GOVERSION"), cwd=ask.cwd, env=ask.env)
        _, module = await run((go, "list", "-m", "-f", "{{.Path}} {{.Dir}}"), cwd=ask.cwd, env=ask.env)
        (folder / "who").write_text(
            json.dumps({"version": version.strip().removeprefix("go"), "module": module, "go": go})
        )
        count = () if any(word.startswith("-count") for word in ask.args) else ("-count=1",)
        fast = ("-failfast",) if ask.first else ()
        words = (go, "test", "-json", *count, *fast, *chosen, *ask.args, *packages)
        return written(words, folder, ask)

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        who = json.loads((folder / "who").read_text())
        show = shown_from(ask.cwd)
        tests: dict[tuple[str, str], str] = {}
        said: dict[tuple[str, str], list[str]] = {}
        running: tuple[str, str] | None = None
        ended: set[str] = set()
        built: list[str] = end.stderr.splitlines(keepends=True)  # before Go 1.24 the compiler speaks there
        for event in events(folder / "report"):
            key = (event.get("Package", ""), event.get("Test", ""))
            match event.get("Action"):
                case "build-output":
                    built.append(event.get("Output", ""))
                case "output":
                    said.setdefault(key, []).append(event.get("Output", ""))
                case "run":
                    running = key
                case "pass" | "fail" | "skip" as how:
                    tests[key] = how
                    running = None if running == key else running
                    ended.add(key[0]) if not key[1] else None
        unread = [key for key, how in tests.items() if how == "fail" and not key[1] and _is_build(said.get(key, []))]
        deep = _depth(ask)
        leaves = {key: how for key, how in tests.items() if key[1] and not _has_parts(key, tests)}
        leaves = {key: how for key, how in leaves.items() if how != "pass" or key[1].count("/") >= deep}
        bad = [key for key, how in leaves.items() if how == "fail"]
        folders = _folders(who["module"], ask)
        failures = [_unread(key[0], built) for key in unread]
        failures += [_failure(key, said.get(key, []), folders, show) for key in bad[:MOST]]
        counts = Counts(
            total=len(leaves), passed=list(leaves.values()).count("pass"), failed=len(bad), uncollected=len(unread),
            skipped=list(leaves.values()).count("skip"),
        )  # fmt: skip
        told = Told(
            version=who["version"], runtime=f"Go {who['version']}", interpreter="", counts=counts,
            failures=tuple(failures[:MOST]), begun=bool(tests or said), finished=bool(ended),
            running=f"{running[0]}::{running[1]}" if running else None,
            notes=tuple(_ended_by(each) for each in failures if each.message.startswith("panic: ")),
        )  # fmt: skip
        if isinstance(end, Stop | Running) or tests:
            return told
        return msgspec.structs.replace(told, problem=last_lines(end.stderr.strip() or end.output.strip()))

    async def live(self, ask: TestAsk, failed: TestFailure, folder: Path) -> Live | None:
        if failed.when == "collection" or failed.id.rpartition("::")[2].startswith("Example"):
            return None  # an example fails when it is over
        packages, pattern = _selected(replace(ask, selector=failed.id))
        words = ("go", "test", "-run", pattern or ".", *(word for word in ask.args if word != "-json"), *packages)
        plan = Plan(command=words, kind="command", cwd=ask.cwd, env=ask.env, umask=ask.umask, adapter="go")
        own = lambda value: value.type.startswith("*testing.") or value.value.startswith("*testing.")  # noqa: E731
        return Live(plan, breaks=(BreakSpec(SymbolPlace(_FAILED)),), catch=("uncaught",), hidden=own)

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        return None

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        signs, show = Signs(Path(ask.root)), shown_from(ask.cwd)
        found = [(each, signs.text(str(each.relative_to(ask.root)))) for each in signs.test_files(".go")]
        return tuple(f"{show(str(file))}::{match[1]}" for file, text in found for match in _TEST.finditer(text))


def written(words: tuple[str, ...], folder: Path, ask: TestAsk) -> Plan:
    """A plain run whose standard output is the report."""
    shell = ("/bin/sh", "-c", 'report=$1; shift; exec "$@" > "$report"', "sh", str(folder / "report"))
    return Plan(command=(*shell, *words), kind="command", cwd=ask.cwd, env=ask.env, umask=ask.umask, adapter=PLAIN)


def events(file: Path) -> Iterator[dict[str, Any]]:
    try:
        text = file.read_bytes()
    except OSError:
        return
    for line in text.splitlines():
        if line.startswith(b"{"):
            try:
                yield json.loads(line)
            except ValueError:  # the end of a report that was cut off
                return


def _selected(ask: TestAsk) -> tuple[tuple[str, ...], str | None]:
    """The packages, and the pattern of names: each part anchored where a test is named whole."""
    if ask.selector is None:
        return ("./...",), None
    place, colons, name = ask.selector.partition("::")
    path = Path(ask.cwd, place)
    if not colons and not path.exists() and _PART.match(place):
        return ("./...",), "/".join(f"^{re.escape(part)}$" for part in place.replace(" ", "_").split("/"))
    pattern = "/".join(f"^{re.escape(part)}$" for part in name.split("/")) if colons else None
    if path.is_file():
        if pattern is None:
            names = _TEST.findall(path.read_text("utf-8", errors="replace"))
            pattern = f"^({'|'.join(names)})$" if names else None
        path = path.parent
    if path.is_dir():
        inside = path.resolve().relative_to(Path(ask.cwd).resolve()) if _below(path, ask.cwd) else path.resolve()
        return (f"./{inside}" if not inside.is_absolute() else str(inside),), pattern
    if place.endswith("...") or "/" in place:
        return (place,), pattern
    return ("./...",), pattern or place


def _depth(ask: TestAsk) -> int:
    """How many parts inside of a test the selector names; Go runs the test around them, and passes it, where there are none."""
    _, pattern = _selected(ask)
    return pattern.count("/") if pattern else 0


def _below(path: Path, cwd: str) -> bool:
    return path.resolve().is_relative_to(Path(cwd).resolve())


def _has_parts(key: tuple[str, str], tests: dict[tuple[str, str], str]) -> bool:
    return any(other[0] == key[0] and other[1].startswith(key[1] + "/") for other in tests)


def _is_build(said: list[str]) -> bool:
    return any("[build failed]" in each or "[setup failed]" in each for each in said)


def _folders(module: str, ask: TestAsk) -> tuple[str, str]:
    """The module's import path and its directory."""
    path, _, folder = module.strip().splitlines()[0].partition(" ") if module.strip() else ("", "", "")
    return path, folder or ask.root


def _folder_of(package: str, folders: tuple[str, str]) -> Path:
    return Path(folders[1], package.removeprefix(folders[0]).lstrip("/"))


def _failure(key: tuple[str, str], said: list[str], folders: tuple[str, str], show: Show) -> TestFailure:
    """What a test said when it failed, and where it says that was."""
    folder = _folder_of(key[0], folders)
    lines = [line for text in said for line in text.splitlines()]
    told, others = _messages(lines)
    panic = next((match[1] for line in lines if (match := _PANIC.match(line))), None)
    calls = [match for line in lines if (match := _CALL.match(line)) and str(folder) in match[1]]
    last = next((each for each in told if _sides(each.text)), told[-1]) if told else None  # others may be t.Log's
    spot = (str(folder / last.file), last.line) if last else None
    if panic is not None and calls:
        spot = (calls[0][1], int(calls[0][2]))
    file = _declaring(folder, key[1].partition("/")[0]) or (spot[0] if spot else str(folder))
    message = f"panic: {panic}" if panic is not None else "\n".join(line for each in told for line in each.text)
    printed = [line for line in others if not _NOISE.match(line)] if panic is None else []
    if not message and key[1].startswith("Example"):  # what it printed, and should have
        message, printed = "\n".join(printed), []
    frames: tuple[ReportFrame, ...] = ()
    if spot is not None:
        text = source_line(*spot) or ""
        here = SourceLine(spot[1], text, here=True)
        frames = (ReportFrame(function="", file=show(spot[0]), line=spot[1], source=(here,)),)
    return TestFailure(
        id=f"{show(file)}::{key[1]}",
        message=message,
        expression=frames[0].source[0].text.strip() if frames else "",
        operands=_sides(last.text) if last and panic is None else (),
        frames=frames,
        file=frames[0].file if frames else None,
        line=frames[0].line if frames else None,
        **newest("\n".join(printed) + "\n" if printed else ""),
    )


class _Message(msgspec.Struct):
    """What `t.Error` or `t.Log` said, and where."""

    file: str
    line: int
    text: list[str]


def _messages(lines: Iterable[str]) -> tuple[list[_Message], list[str]]:
    """The messages, each with its further lines, which Go indents; and all other lines."""
    told: list[_Message] = []
    others: list[str] = []
    within = False
    for line in lines:
        if match := _SAID.match(line):
            told.append(_Message(match[1], int(match[2]), [match[3]] if match[3].strip() else []))
        elif within and line.startswith(_FURTHER):
            further = line[len(_FURTHER) :].rstrip()
            if further.startswith("\t"):  # testify's table
                further = " ".join(further.split())
            told[-1].text += [further] if further and not _TESTIFY_PLACE.match(further) else []
        else:
            others.append(line)
        within = bool(match) or (within and line.startswith(_FURTHER))
    return told, others


def _sides(text: list[str]) -> tuple[Value, ...]:
    """What testify compared, as it says it."""
    found = {match[1]: match[2] for line in text if (match := _TESTIFY_SIDE.match(line))}
    return tuple(Value(name=name, value=found[name]) for name in ("actual", "expected")) if len(found) == 2 else ()


def _ended_by(failure: TestFailure) -> str:
    return f"the panic in {failure.id} ended the tests of its package: what comes behind it was not run"


def _declaring(folder: Path, test: str) -> str | None:
    for file in sorted(folder.glob("*_test.go")):
        if re.search(rf"^func {re.escape(test)}\(", file.read_text("utf-8", errors="replace"), re.MULTILINE):
            return str(file)
    return None


def _unread(package: str, built: list[str]) -> TestFailure:
    said = [line.rstrip() for line in built if line.strip() and not line.startswith("#")]
    return TestFailure(id=package, when="collection", message="\n".join(said[:20]) or "it does not build")


GO_TEST = GoTest()
