"""`cargo test`: what the test programs print first, then a debugger where a test panics."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...errors import AdapterMissing
from ...model.outcomes import AnyOutcome, Running, SourceLine, Stop
from ...model.places import BreakSpec, SymbolPlace
from ...model.plans import Plan
from ...model.recorder import Where
from ...model.reports import ReportFrame
from ...model.tested import Counts, TestFailure, Told
from ...model.values import Value
from ..building import run
from ..cargo import understood
from ..interpreters import on_path
from . import Live, TestAsk
from .gotest import written
from .journal import MOST, Show
from .printing import newest
from .shown import last_lines, shown_from
from .signs import Signs
from .stacks import source_line

_PANICS = ("std::panicking::panic_with_hook", "rust_panic")
"""Where every panic comes through: by the name that gdb 13 to 18 resolves, and by the one of lldb 19."""
_EXAMPLE = re.compile(r"(\S+) - (?:\S.* )?\(line (\d+)\)\Z")
"""The name of an example of the documentation, which cargo tests, too: its file, and the line above it."""
_RAN = re.compile(
    r"^test (\S+(?: - (?:\S.* )?\(line \d+\))?)(?: - (?:should panic|compile|compile fail))? \.\.\. (ok|FAILED|ignored)",
    re.MULTILINE,
)
_RUNNING = re.compile(r"^test (\S+) \.\.\. $", re.MULTILINE)
_SECTION = re.compile(r"^---- (\S.*?) stdout ----\n(.*?)(?=^---- |^failures:$)", re.MULTILINE | re.DOTALL)
_PANICKED = re.compile(r"^thread '.*?'.*? panicked at (?:'((?s:.*?))', )?([^\s:]+):(\d+):(\d+):?$", re.MULTILINE)
"""As Rust 1.73 and later put it, place first; before, the message came first, in quotes, of as many lines as it had."""
_SIDES = re.compile(r"^\s*(left|right): (.*)$", re.MULTILINE)
_QUOTED_SIDES = re.compile(r"^\s*(left|right): `(.*?)`(?:,$|: |\Z)", re.MULTILINE | re.DOTALL)
"""As Rust put them until 1.72, what the assertion itself says behind the second."""
_LIBTEST = re.compile(r"/library/test/src/")
"""Where Rust 1.63, that of Debian 12, panics itself over a test that gave back an error."""
_FILTERED = re.compile(r"^test result: .*?(\d+) filtered out", re.MULTILINE)
_STACK = re.compile(r"^(stack backtrace:|note: run with `RUST_BACKTRACE)", re.MULTILINE)
_TEST = re.compile(r"#\[(?:tokio::|async_std::)?test[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub )?(?:async )?fn (\w+)")


class CargoTest:
    name = "cargo"
    stays = False
    alone = True
    by_id = True
    built_there = True
    recordable = False

    def signs(self, signs: Signs) -> int:
        return 2 if signs.has("Cargo.toml") else 0

    async def plan(self, ask: TestAsk, folder: Path) -> Plan:
        cargo = on_path("cargo", ask.env, ask.cwd)
        if cargo is None:
            raise AdapterMissing("no cargo on PATH: apt install cargo")
        own, args = _words(ask)
        await run((cargo, "test", "--no-run", *own), cwd=ask.root, env=ask.env)  # built outside of the time to run
        _, version = await run((cargo, "--version"), cwd=ask.root, env=ask.env)
        (folder / "who").write_text(version)
        fast = () if ask.first else ("--no-fail-fast",)
        words = (cargo, "test", *fast, *own, *(("--", *args) if args else ()))
        return written(words, folder, replace(ask, cwd=ask.root))

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        version = (folder / "who").read_text().split()[1:2]
        report = folder / "report"
        text = report.read_text("utf-8", errors="replace") if report.exists() else ""
        show = shown_from(ask.cwd)
        ran = _RAN.findall(text)
        if _EXAMPLE.match(ask.selector or ""):  # by its line alone, others may have run along
            ran = [each for each in ran if each[0] == ask.selector]
        sections = dict(_SECTION.findall(text))
        bad = [name for name, how in ran if how == "FAILED"]
        failures = [_failure(name, sections.get(name, ""), ask, show) for name in bad[:MOST]]
        failures.sort(key=lambda each: not each.frames)  # one that gave back an error has no place to look at
        unfinished = _RUNNING.findall(text)
        counts = Counts(
            total=len(ran), passed=sum(how == "ok" for _, how in ran), failed=len(bad),
            skipped=sum(how == "ignored" for _, how in ran),
            deselected=sum(map(int, _FILTERED.findall(text))),
        )  # fmt: skip
        begun = "running " in text
        told = Told(
            version="".join(version), counts=counts, failures=tuple(failures), begun=begun,
            finished=begun and "test result:" in text, running=unfinished[-1] if unfinished else None,
        )  # fmt: skip
        if isinstance(end, Stop | Running) or begun:
            return told
        return msgspec.structs.replace(told, problem=last_lines(end.stderr.strip() or text.strip()))

    async def live(self, ask: TestAsk, failed: TestFailure, folder: Path) -> Live | None:
        if not failed.frames or _EXAMPLE.match(failed.id):
            return None  # a test that gave back an error stopped nowhere, and an example is a program that is gone
        own, _ = _words(replace(ask, selector=None))
        asked = understood(("cargo", "test", *own))
        flags = asked.flags if asked else own  # without the name that chose the tests: cargo takes one
        words = ("cargo", "test", *flags, *_package(failed, flags, ask), failed.id, "--", "--exact", "--test-threads=1")
        plan = Plan(command=words, kind="command", cwd=ask.root, env=ask.env, umask=ask.umask)
        breaks = tuple(BreakSpec(SymbolPlace(each)) for each in _PANICS)
        # What `#[test]` makes of it, and the program that is made of all tests, which Rust 1.63 says is of the first line.
        around = re.compile(rf"(^|::){re.escape(failed.id)}::{{+closure[^:]*}}+\Z|\A\w+::main\Z")
        return Live(plan, breaks=breaks, catch=("off",), wraps=lambda each: bool(around.search(each.function)))

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        return None

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        signs = Signs(Path(ask.root))
        return tuple(match[1] for text in signs.test_texts(".rs") for match in _TEST.finditer(text))


def _words(ask: TestAsk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words for cargo itself, and for the test programs."""
    at = ask.args.index("--") if "--" in ask.args else len(ask.args)
    own, args = ask.args[:at], ask.args[at + 1 :]
    if ask.selector is None:
        return own, args
    if example := _EXAMPLE.match(ask.selector):
        return (*own, "--doc", f"{example[2]})"), args  # rustdoc takes every word of a name for one
    file, _, name = ask.selector.rpartition("::") if ".rs::" in ask.selector else (ask.selector, "", "")
    path = Path(os.path.normpath(Path(ask.cwd, file)))
    package = next((each for each in (path, *path.parents) if (each / "Cargo.toml").is_file()), None)
    if package is None or not (path.suffix == ".rs" or path.is_dir()):
        return (*own, ask.selector), args
    chosen = _targets(path.relative_to(package).parts, package, named=bool(name))
    if chosen is None:
        return (*own, ask.selector), args
    of = () if package == Path(os.path.normpath(ask.root)) else ("--manifest-path", str(package / "Cargo.toml"))
    return (*own, *of, *chosen, *((name,) if name else ())), args


def _package(failed: TestFailure, flags: Sequence[str], ask: TestAsk) -> tuple[str, ...]:
    """The flags for the package of a workspace that a test is of, as far as its failure tells: several may have a namesake."""
    if not failed.file or any(flag in ("-p", "--manifest-path") or flag.startswith("--package") for flag in flags):
        return ()
    file = Path(os.path.normpath(Path(ask.cwd, failed.file)))
    package = next((each for each in file.parents if (each / "Cargo.toml").is_file()), None)
    if package is None or package == Path(os.path.normpath(ask.root)):
        return ()
    name = failed.id.rpartition("::")[2]
    is_there = any(re.search(rf"\bfn {name}\b", each) for each in Signs(package).test_texts(".rs"))
    return ("--manifest-path", str(package / "Cargo.toml")) if is_there else ()


def _targets(inside: tuple[str, ...], package: Path, *, named: bool) -> tuple[str, ...] | None:
    """What of a package a file or directory of it is tested by; None for one that says nothing of it."""
    match inside:
        case ():
            return ()
        case ("tests",):
            return ("--test", "*")
        case ("tests", file) | ("tests", file, "main.rs"):
            return ("--test", Path(file).stem)
        case ("src", "bin", file) | ("src", "bin", file, "main.rs"):
            return ("--bin", Path(file).stem)
        case ("examples", file):
            return ("--example", Path(file).stem)
        case ("src", *modules):
            return (*_crates(package, inside), *(_module(modules) if modules and not named else ()))
        case _:
            return None


def _crates(package: Path, inside: tuple[str, ...]) -> tuple[str, ...]:
    """The crates that a source may be of: cargo refuses to test a library that the package has not got."""
    if inside == ("src", "main.rs"):
        return ("--bins",)
    text = (package / "Cargo.toml").read_text("utf-8", "replace")
    library = (package / "src" / "lib.rs").exists() or re.search(r"^\[lib\]", text, re.MULTILINE)
    return ("--lib", *(() if inside == ("src", "lib.rs") else ("--bins",))) if library else ("--bins",)


def _module(parts: Sequence[str]) -> tuple[str, ...]:
    """The names of the tests of a module begin with its own, which is that of its file or of its directory."""
    last = Path(parts[-1]).stem
    names = parts[:-1] if last in ("mod", "lib", "main") else (*parts[:-1], last)
    return (f"{'::'.join(names)}::",) if names else ()


def _failure(name: str, section: str, ask: TestAsk, show: Show) -> TestFailure:
    """What a test printed when it panicked, and where that was."""
    if example := _EXAMPLE.match(name):
        return _of_example(name, section, example, ask, show)
    panic = _PANICKED.search(section)
    if panic is None:
        said = section.strip()
        return TestFailure(id=name, message=said or "it failed")
    behind = _STACK.split(section[panic.end() :])[0].strip("\n")
    message = panic[1] or behind.strip()
    if _LIBTEST.search(panic[2]):
        return TestFailure(id=name, message=message.rpartition("`: ")[2])
    file, line = str(Path(ask.root, panic[2])), int(panic[3])
    here = SourceLine(line, source_line(file, line) or "", here=True)
    frames = (ReportFrame(function="", file=show(file), line=line, source=(here,)),)
    printed = section[: panic.start()].strip("\n")
    return TestFailure(
        id=name,
        type="panic",
        message=message,
        expression=here.text.strip(),
        operands=_sides(panic, behind),
        frames=frames,
        file=show(file),
        line=line,
        **newest(printed + "\n" if printed else ""),
    )


def _sides(panic: re.Match[str], behind: str) -> tuple[Value, ...]:
    """What an assertion compared: until Rust 1.72 in the quotes of its message, since then in the lines behind that."""
    found = _QUOTED_SIDES.findall(panic[1]) if panic[1] else _SIDES.findall(behind)
    return tuple(Value(name=side, value=text) for side, text in found)


def _of_example(name: str, section: str, example: re.Match[str], ask: TestAsk, show: Show) -> TestFailure:
    """An example that does not compile, or that panicked: in lines of a program that was made of it, so that only where the
    example begins is sure."""
    panic = _PANICKED.search(section)
    file, line = str(Path(ask.root, example[1])), int(example[2]) + 1
    here = SourceLine(line, source_line(file, line) or "", here=True)
    said = _STACK.split(section[panic.end() :])[0].strip() if panic else section.strip()
    return TestFailure(
        id=name,
        type="panic" if panic else "",
        message=(panic[1] if panic else "") or said or "it failed",
        operands=_sides(panic, said) if panic else (),
        frames=(ReportFrame(function="", file=show(file), line=line, source=(here,)),),
        file=show(file),
        line=line,
        notes=("the example begins there: which of its lines failed is not known",),
    )


CARGO_TEST = CargoTest()
