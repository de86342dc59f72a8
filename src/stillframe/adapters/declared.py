"""Any debugger that speaks DAP, as data: what settings or the catalogue say of it, and how it is started from that."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from ..backends.dap.launch import (
    PORT,
    SOCKET,
    STDERR,
    STDIN,
    STDOUT,
    Address,
    Calls,
    DapLaunch,
    Listens,
    ListensUnix,
    PrintedAddress,
    Quirk,
    Reach,
    Stdio,
)
from ..errors import AdapterMissing, Unsupported, UsageError
from ..model.backend import CatchMode, Tool
from ..model.plans import AttachPlan, Plan
from . import matches
from .absent import no_such_file
from .finding import Needs, tools_directory
from .interpreters import on_path
from .placeholders import filled, names_in
from .trust import Brought

_LAUNCH: dict[str, Any] = {"program": "${program}", "args": "${args}", "cwd": "${cwd}", "stopOnEntry": "${stopOnEntry}"}

_EVERYWHERE = {"cwd", "env", "dir", "tools", "home", "stdin", "stdout", "stderr"}
_AT_LAUNCH = {"program", "args", "stopOnEntry", "justMyCode", "name"}
_AT_ATTACH = {"pid", "host", "port", "core", "program", "justMyCode"}
_WAYS: Mapping[str, tuple[str, ...]] = {
    "stdio": (), "tcp": ("port",), "tcp-printed": (), "unix": ("socket",), "dials-back": ("port",)
}  # fmt: skip


class Origin(msgspec.Struct, frozen=True):
    """Where a declaration comes from."""

    where: str
    """The file, as people call it."""
    folder: str
    """What `${dir}` and relative commands are below."""
    how: str = "declared"
    brought: Brought | None = None
    """The project's file, where it must be trusted first."""


_TERMINAL = {"console", "terminal", "runInTerminal"}
"""Words by which debuggers are told to have the program run by us, whose input then is ours to give."""


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """One `[adapters.NAME]` table. Texts may hold `${…}`; see the names above."""

    command: tuple[str, ...]
    """The debugger's command line. Its first word is looked for on PATH, below `dbg setup`'s tools, or beside the file."""
    transport: Literal["stdio", "tcp", "tcp-printed", "unix", "dials-back"] = "stdio"
    """`tcp` listens on `${port}`, `tcp-printed` prints where, `unix` listens at `${socket}`, `dials-back` calls `${port}`."""
    pattern: str = ""
    """For `tcp-printed`: a regular expression whose first group is `host:port` or a port."""
    languages: tuple[str, ...] = ()
    """What it debugs, as people call it."""
    claims: tuple[str, ...] = ()
    """File names that it runs, as shell patterns."""
    roots: tuple[str, ...] = ()
    """Files that mark its projects: a directory with one of them, or below one, is a program of its kind; so is a binary below
    one, for an adapter of the user's own."""
    runs: tuple[str, ...] = ()
    """Commands that run its programs, as `php` in `dbg launch -- php page.php`."""
    types: tuple[str, ...] = ()
    """Further names of it in launch.json."""
    launch: dict[str, Any] = msgspec.field(default_factory=lambda: dict(_LAUNCH))
    """The arguments of its `launch`; program, args, cwd and stopOnEntry if left out."""
    attach: dict[str, Any] | None = None
    """The arguments of its `attach`; without it nothing can be joined."""
    request: Literal["launch", "attach"] = "launch"
    """What is sent to start: some debuggers run the program by themselves and are attached to."""
    owns_program: bool = False
    """The command is the program itself, so that what it prints and its exit are the program's."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Variables that it gets beside the caller's."""
    catches: dict[CatchMode, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Its exception filters for `uncaught`, `raised` and `user`; a word that is missing is refused."""
    evaluates_as: Literal["repl", "watch", "hover"] = "repl"
    """The context of `eval`, for debuggers whose `repl` takes commands of their own."""
    local_scopes: tuple[str, ...] = ("locals", "local", "arguments")
    """The scopes that hold a frame's own variables."""
    quirks: tuple[str, ...] = ()
    """Oddities of it, by name; a wrong one lists them."""
    install: str = ""
    """How it is had, said where it is missing."""
    version: str = ""
    """Its version, where somebody knows it."""

    def check(self) -> None:
        """What a type cannot say; ValueError names the field."""
        if not self.command or not self.command[0]:
            raise ValueError("`command` is empty")
        if (self.transport == "tcp-printed") != bool(self.pattern):
            raise ValueError("`pattern` and the transport tcp-printed go together")
        try:
            if self.pattern and re.compile(self.pattern).groups < 1:
                raise ValueError("`pattern` has no group for the address")
        except re.error as error:
            raise ValueError(f"`pattern` is no regular expression: {error}") from None
        words = {*_EVERYWHERE, *_AT_LAUNCH, *_WAYS[self.transport], "pid", "host", "core"}
        for field, value, known in (
            ("command", self.command, words),
            ("env", self.env, words),
            ("launch", self.launch, _EVERYWHERE | _AT_LAUNCH),
            ("attach", self.attach or {}, _EVERYWHERE | _AT_ATTACH),
        ):
            unknown = [each for each in names_in(value) if each not in known and not each.startswith("env:")]
            if unknown:
                raise ValueError(f"`{field}` has ${{{unknown[0]}}}, which stands for nothing there")
        for way in _WAYS[self.transport]:
            if way not in {*names_in(self.command), *names_in(self.env)}:
                raise ValueError(f"`command` does not tell it ${{{way}}}, which transport {self.transport} needs")
        known_quirks = {each.name.lower().replace("_", "-") for each in Quirk}
        for each in self.quirks:
            if each not in known_quirks:
                raise ValueError(f"`quirks` has {each!r}; there are: {', '.join(sorted(known_quirks))}")


class DeclaredAdapter:
    """A debugger that somebody declared, as an adapter like any other."""

    def __init__(self, name: str, declaration: Declaration, origin: Origin) -> None:
        self.name = name
        self.declaration = declaration
        self.origin = origin
        self.languages, self.claims, self.roots = declaration.languages, declaration.claims, declaration.roots
        self.first_words: re.Pattern[str] | None = None  # it is asked before all of ours, or after them
        self.needs: tuple[Needs, ...] = ()  # its command says what it needs, and `install` how that is had
        self.install = declaration.install

    def tool(self) -> Tool:
        return Tool(self.name, self.declaration.version, self.origin.how)

    def understands(self, plan: Plan) -> bool:
        if plan.kind == "command":
            return self._taken_apart(plan) is not None
        if plan.kind != "file":
            return False
        return matches(plan.program or "", self.claims) or self.is_signed(Path(plan.cwd, plan.program or ""))

    def is_signed(self, folder: Path) -> bool:
        """Whether a directory has one of the files by which its programs are known."""
        return any((folder / sign).exists() for sign in self.roots)

    def understood(self, plan: Plan) -> Plan:
        return (self._taken_apart(plan) or plan) if plan.kind == "command" else plan

    def _taken_apart(self, plan: Plan) -> Plan | None:
        """`php page.php x` as the program page.php; a command with flags of the runtime's own is more than we can tell it."""
        word, *rest = plan.command
        if Path(word).name not in self.declaration.runs or not rest or not matches(rest[0], self.claims):
            return None
        return replace(plan, kind="file", program=rest[0], args=tuple(rest[1:]))

    async def launch(self, plan: Plan) -> DapLaunch:
        plan = self.understood(plan)
        given = self.declaration
        self._check(plan)
        program = str(Path(plan.cwd, plan.program)) if plan.program else None
        known = {
            **self._known(plan.env, plan.cwd),
            "program": program,
            "args": list(plan.args),
            "stopOnEntry": plan.stop_on_entry,
            "justMyCode": plan.just_my_code,
            "name": Path(program or self.name).name,
            "pid": None, "host": None, "core": None,
        }  # fmt: skip
        return self._made(
            known, given.launch, plan.arguments, plan.env, cwd=plan.cwd,
            umask=plan.umask, stdin=plan.stdin, request=given.request, children=plan.children, owns_target=given.owns_program,
        )  # fmt: skip

    def _check(self, plan: Plan) -> None:
        """What can be known to fail fails here, with its reason."""
        if "program" not in plan.arguments and (plan.program or not plan.arguments):
            if plan.kind != "file" or not plan.program:
                raise UsageError(f"{self.name} runs a file, as in: dbg launch PROGRAM --adapter {self.name}")
            path = Path(plan.cwd, plan.program)
            if not path.exists():
                raise no_such_file(path, plan.cwd)
        if plan.stop_on_entry and "stopOnEntry" not in {*names_in(self.declaration.launch), *plan.arguments}:
            raise UsageError(f"{self.name} is not declared to stop at the entry: use --break with its first line")
        given = self.declaration
        reads = given.transport != "stdio" or "stdin" in {*names_in(given.launch), *names_in(given.command)}
        if plan.stdin is not None and not reads and not _TERMINAL & {*given.launch, *plan.arguments}:
            raise UsageError(
                f"{self.name} is not declared to give its program an input: nothing in it names ${{stdin}}"
            )

    def joins(self, plan: AttachPlan) -> bool:
        return False  # only by name: nothing tells what runs there

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        table, env = self.declaration.attach, plan.env or os.environ
        asked = {name for name in ("pid", "port", "core") if getattr(plan, name) is not None}
        told = set(names_in(table or {}))
        if table is None or not (asked & told or "port" in asked or plan.arguments):
            way = next(iter(sorted(asked)), "pid")
            raise Unsupported(
                f"{self.name} is not declared to attach by {way}: its `attach` in {self.origin.where} names no ${{{way}}}"
            )
        known = {
            **self._known(env, plan.cwd),
            "pid": plan.pid, "host": plan.host, "port": plan.port, "core": plan.core, "program": plan.program,
            "justMyCode": plan.just_my_code,
        }  # fmt: skip
        changes: dict[str, Any] = {
            "launched": False,
            "target_pid": plan.pid,
            "request": "attach",
            "children": plan.children,
        }
        if plan.port is not None and "port" not in told:
            changes |= {"reach": Address(plan.host or "127.0.0.1", plan.port), "argv": ()}
        return self._made(known, table, plan.arguments, env, cwd=plan.cwd, **changes)

    async def greeting(self, env: Mapping[str, str], cwd: str) -> DapLaunch:
        """The debugger without a program, to see whether it answers."""
        return self._made(self._known(env, cwd), {}, {}, env, cwd=cwd, request="launch")

    # Putting it together

    def _known(self, env: Mapping[str, str], cwd: str) -> dict[str, Any]:
        return {
            "cwd": cwd, "env": dict(env), "dir": self.origin.folder, "tools": str(tools_directory(env)),
            "home": env.get("HOME", ""), "stdin": STDIN, "stdout": STDOUT, "stderr": STDERR,
            **{f"env:{name}": value for name, value in env.items()},
        }  # fmt: skip

    def _made(
        self,
        known: Mapping[str, Any],
        table: Mapping[str, Any],
        further: Mapping[str, Any],
        env: Mapping[str, str],
        **changes: Any,
    ) -> DapLaunch:
        """The launch; `further` is what a configuration says beyond what is declared."""
        if self.origin.brought is not None:
            self.origin.brought.need_trust(f"the adapter {self.name}")
        given = self.declaration
        there = _Lenient(known)
        words = _Lenient({**known, "port": PORT, "socket": SOCKET})
        changes.setdefault("reach", _reach(given))
        if "argv" not in changes:
            changes["argv"] = self._argv(filled(given.command, words), env, known["cwd"])
        if changes["argv"]:
            changes.setdefault("mark", secrets.token_hex(8))
        return DapLaunch(
            tool=self.tool(),
            arguments={**filled(table, there), **further},
            env={**env, **filled(given.env, words)},
            quirks=frozenset(Quirk[each.upper().replace("-", "_")] for each in given.quirks),
            catches=given.catches,
            evaluates_as=given.evaluates_as,
            local_scopes=tuple(each.lower() for each in given.local_scopes),
            **changes,
        )

    def _argv(self, words: Sequence[str], env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
        """The command with its first word found; what is missing is said with the line that installs it."""
        found = self.found(env, cwd)
        if found is None:
            by = f": {self.install}" if self.install else f"; its `command` in {self.origin.where} names {words[0]}"
            raise AdapterMissing(f"{self.name} is not installed{by}")
        return (found, *words[1:])

    def found(self, env: Mapping[str, str], cwd: str) -> str | None:
        """The path of its command; None where that, or a file that its words name below our tools, is not there."""
        words = self._words(env, cwd)
        return None if self._lacking(words) else self._program(words[0], env, cwd)

    def missing(self, env: Mapping[str, str], cwd: str) -> str:
        """What of its command is not there: its program, else the first of the files that its words name."""
        words = self._words(env, cwd)
        return words[0] if self._program(words[0], env, cwd) is None else next(iter(self._lacking(words)), words[0])

    def _words(self, env: Mapping[str, str], cwd: str) -> list[str]:
        known = _Lenient(self._known(env, cwd))
        return [str(filled(each, known)) for each in self.declaration.command]

    def _lacking(self, words: Sequence[str]) -> list[str]:
        told = zip(words, self.declaration.command, strict=True)
        return [word for word, each in told if each.startswith(("${tools}/", "${dir}/")) and not Path(word).exists()]

    def _program(self, word: str, env: Mapping[str, str], cwd: str) -> str | None:
        if "/" in word:
            path = str(Path(self.origin.folder, Path(word).expanduser()))
            return path if os.access(path, os.X_OK) else None
        if found := on_path(word, env, cwd):
            return found
        return next(
            (str(each) for each in sorted(tools_directory(env).glob(f"*/bin/{word}")) if shutil.which(each)), None
        )


class _Lenient(dict[str, Any]):
    """What is not known here has no value; only variables of the environment can be so, since the rest was checked."""

    def __missing__(self, name: str) -> None:
        return None


def _reach(given: Declaration) -> Reach:
    match given.transport:
        case "stdio":
            return Stdio()
        case "tcp":
            return Listens()
        case "tcp-printed":
            return PrintedAddress(re.compile(given.pattern))
        case "unix":
            return ListensUnix()
        case "dials-back":
            return Calls()
