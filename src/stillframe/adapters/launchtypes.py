"""What a configuration of launch.json means to us: its type as an adapter, its fields as a plan, and what of it is not done."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ..errors import UsageError
from ..model.counts import counted
from ..model.plans import AttachPlan, Caller, Plan
from . import adapters, declared_here, understand
from .declared import DeclaredAdapter
from .launchjson import IGNORED, LaunchFile, resolved
from .launchtasks import before_launch
from .node.command import NAMES as NODE_NAMES


class Configured(msgspec.Struct, frozen=True):
    """One configuration as a plan; `notes` say what of it was left undone."""

    name: str
    plan: Plan | AttachPlan
    notes: tuple[str, ...]


class Fields:
    """A resolved configuration whose fields are taken one after the other; what nobody took is not done, and said so."""

    def __init__(self, name: str, given: Mapping[str, Any], folder: str) -> None:
        self.name = name
        self.given = given
        self.folder = folder
        self._taken = {"name", "type", "request", *IGNORED}

    def _take(self, key: str) -> Any:
        self._taken.add(key)
        return self.given.get(key)

    def text(self, *keys: str) -> str | None:
        for key in keys:
            value = self._take(key)
            if value is not None and not isinstance(value, str | int):
                raise self.wrong(key, "text")
            if value not in (None, ""):
                return str(value)
        return None

    def words(self, *keys: str) -> tuple[str, ...]:
        for key in keys:
            match self._take(key):
                case None:
                    continue
                case str() as line:
                    return tuple(shlex.split(line))
                case list() as words if all(isinstance(each, str | int | float) for each in words):
                    return tuple(map(str, words))
                case _:
                    raise self.wrong(key, "a list of words")
        return ()

    def flag(self, *keys: str, default: bool = False) -> bool:
        for key in keys:
            value = self._take(key)
            if isinstance(value, bool):
                return value
        return default

    def number(self, *keys: str) -> int | None:
        found = self.text(*keys)
        if found is None:
            return None
        number = counted(found)
        if number is None:
            raise self.wrong(keys[0], "a number")
        return number

    def table(self, key: str) -> Mapping[str, Any]:
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return value or {}

    def sources(self, *keys: str) -> tuple[tuple[str, str], ...]:
        """Folders of the program's, each with the one here: a table, or a list of pairs in any of the forms there are."""
        for key in keys:
            if found := self._take(key):
                rows = list(found.items()) if isinstance(found, dict) else found
                return tuple(self._source(key, each) for each in rows)
        return ()

    def _source(self, key: str, row: Any) -> tuple[str, str]:
        match row:
            case {"remoteRoot": str(there), "localRoot": str(here)} | {"to": str(there), "from": str(here)}:
                return there, here
            case [str(there), {"editorPath": str(here)}] | [str(there), str(here)]:
                return there, here
            case (str(there), {"editorPath": str(here)}) | (str(there), str(here)):
                return there, here
        raise self.wrong(key, "pairs of folders")

    def path(self, *keys: str) -> str | None:
        found = self.text(*keys)
        return str(Path(self.cwd, found)) if found else None

    @property
    def cwd(self) -> str:
        return str(Path(self.folder, self.text("cwd") or "."))

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The caller's, then a file's, then the configuration's; null takes a variable away."""
        made = dict(env)
        if file := self.path("envFile"):
            made.update(_variables(Path(file)))
        listed = self._take("environment")
        pairs = {str(each.get("name")): each.get("value") for each in listed or () if isinstance(each, dict)}
        for name, value in {**self._variables(), **pairs}.items():
            if value is None:
                made.pop(name, None)
            else:
                made[name] = str(value)
        return made

    def _variables(self) -> Mapping[str, Any]:
        """What `env` sets: a table, or as lldb-dap takes it also, a list of `NAME=VALUE`, each perhaps without a value."""
        match self.given.get("env"):
            case list() as listed if all(isinstance(each, str) for each in listed):
                self._take("env")
                return {name: value for name, _, value in (each.partition("=") for each in listed)}
        return self.table("env")

    def wrong(self, key: str, what: str) -> UsageError:
        return UsageError(f"{key!r} of the configuration {self.name!r} is not {what}", detail={"file": "launch.json"})

    @property
    def notes(self) -> tuple[str, ...]:
        after = self.given.get("postDebugTask")
        left = sorted(key for key in self.given if key not in self._taken)
        return (
            *((f"the task {after!r} of {self.name!r} is not run afterwards",) if after else ()),
            *((f"not used of {self.name!r}: {', '.join(left)}",) if left else ()),
        )


def configured(file: LaunchFile, name: str, caller: Caller) -> tuple[Configured, ...]:
    """The plans of a configuration, or of each one of a compound. The file has to be trusted."""
    chosen = file.chosen(name)
    file.brought.need_trust(f"the configuration {name!r}")
    return tuple(_configured(each, file.folder, caller) for each in chosen)


def _configured(configuration: Mapping[str, Any], folder: str, caller: Caller) -> Configured:
    given = resolved(configuration, folder, caller.env)
    fields = Fields(str(given.get("name")), given, folder)
    builds, undone = before_launch(given, folder, caller.env)
    made = _made(fields, given, folder, caller)
    if builds and isinstance(made.plan, Plan):
        made = replace(made, plan=replace(made.plan, builds=builds))
    elif builds:
        undone = f"the task {builds[-1].name!r} was not run: there is nothing to make for a program that runs already"
    return replace(made, notes=(undone, *made.notes)) if undone else made


def _made(fields: Fields, given: Mapping[str, Any], folder: str, caller: Caller) -> Configured:
    kind, request = str(given.get("type")), given.get("request", "launch")
    if request not in ("launch", "attach"):
        raise fields.wrong("request", "launch or attach")
    others = declared_here(caller.env, folder)
    mine = _of_type((*others.user, *others.project), kind)
    maker = _MAKERS.get(kind)
    if mine is None and maker is None:
        mine = _of_type(others.catalogue, kind)
    if mine is not None:
        return Configured(fields.name, _declared(mine, fields, caller, request), fields.notes)
    if maker is None:
        known = sorted({*_MAKERS, *(each.name for each in others.all)})
        raise UsageError(f"{fields.name!r} is of type {kind!r}, which is not known here; known are: {', '.join(known)}")
    launch, attach = maker
    if request == "attach" or _is_there_already(given):
        return Configured(fields.name, attach(fields, _running(fields, caller)), fields.notes)
    return Configured(fields.name, understand(launch(fields, _program(fields, caller))), fields.notes)


def _is_there_already(given: Mapping[str, Any]) -> bool:
    """Whether a `launch` starts nothing: a core to look at, or a program that runs behind gdbserver. Editors write both so."""
    is_core = (given.get("type"), given.get("mode")) == ("go", "core")
    return is_core or bool(given.get("coreDumpPath") or given.get("miDebuggerServerAddress"))


def _of_type(some: tuple[DeclaredAdapter, ...], kind: str) -> DeclaredAdapter | None:
    return next((each for each in some if kind == each.name or kind in each.declaration.types), None)


def _program(fields: Fields, caller: Caller) -> Plan:
    """What most types say in the same words."""
    program, args = fields.path("program", "script"), fields.words("args", "arguments")
    return Plan(
        command=(program or "", *args),
        kind="file",
        program=program,
        args=args,
        cwd=fields.cwd,
        env=fields.environment(caller.env),
        umask=caller.umask,
        stop_on_entry=fields.flag("stopOnEntry", "stopAtEntry", "stopAtBeginningOfMainSubprogram"),
    )


def _running(fields: Fields, caller: Caller) -> AttachPlan:
    return AttachPlan(
        pid=fields.number("processId", "pid"),
        program=fields.path("program"),
        cwd=fields.cwd,
        env=dict(caller.env),
    )


def _need_program(fields: Fields, plan: Plan) -> Plan:
    if not plan.program:
        raise fields.wrong("program", "there")
    return plan


def _need_target(fields: Fields, plan: AttachPlan) -> AttachPlan:
    if plan.pid is None and plan.port is None and plan.url is None and plan.core is None:
        raise UsageError(f"the configuration {fields.name!r} names no process and no port to attach to")
    return plan


def _ours(*names: str) -> str | None:
    """The first of these adapters that there is; None lets the program decide."""
    return next((name for name in names if any(name == each.name for each in adapters())), None)


# Python


def _python(fields: Fields, plan: Plan) -> Plan:
    plan = replace(
        plan,
        adapter="python",
        interpreter=fields.text("python", "pythonPath"),
        interpreter_flags=fields.words("pythonArgs"),
        just_my_code=fields.flag("justMyCode", default=True),
        children=fields.flag("subProcess", default=True),
    )
    if module := fields.text("module"):
        return replace(plan, kind="module", program=module, command=("-m", module, *plan.args))
    if code := fields.text("code"):
        return replace(plan, kind="code", program=code, command=("-c", code, *plan.args))
    return _need_program(fields, plan)


def _python_attach(fields: Fields, plan: AttachPlan) -> AttachPlan:
    if fields.table("listen"):
        raise UsageError(f"the configuration {fields.name!r} listens for a program; start it with dbg launch instead")
    connect = Fields(fields.name, fields.table("connect") or fields.given, fields.folder)
    host, port = fields.text("host"), fields.number("port")
    plan = replace(plan, host=connect.text("host") or host, port=connect.number("port") or port, adapter="python")
    just_mine = fields.flag("justMyCode", default=True)
    if plan.port is not None:  # what is joined by its pid runs on this machine
        plan = replace(plan, sources=fields.sources("pathMappings"))
    return _need_target(fields, replace(plan, just_my_code=just_mine, children=fields.flag("subProcess", default=True)))


# Node


def _node(fields: Fields, plan: Plan) -> Plan:
    runtime, flags = fields.text("runtimeExecutable"), fields.words("runtimeArgs")
    plan = replace(plan, children=fields.flag("autoAttachChildProcesses", default=True))
    fields.words("skipFiles")
    if runtime and not NODE_NAMES.match(Path(runtime).name):
        words = (runtime, *flags, *((plan.program,) if plan.program else ()), *plan.args)
        return replace(plan, kind="command", command=words, program=None, args=())
    return replace(_need_program(fields, plan), adapter="node", interpreter=runtime, interpreter_flags=flags)


def _node_attach(fields: Fields, plan: AttachPlan) -> AttachPlan:
    url = fields.text("websocketAddress")
    port = None if url or plan.pid is not None else (fields.number("port") or 9229)
    host = fields.text("address", "host") or "127.0.0.1"
    return replace(plan, url=url, host=host if port else None, port=port, adapter="node", program=None)


# Go


def _go(fields: Fields, plan: Plan) -> Plan:
    mode, flags = fields.text("mode") or "auto", fields.words("buildFlags")
    program = plan.program or fields.folder
    plan = replace(plan, program=program, command=(program, *plan.args), adapter=_ours("go"))
    plan = replace(plan, sources=fields.sources("substitutePath"))
    if mode == "test" or (mode == "auto" and program.endswith("_test.go")):
        package = str(Path(program).parent) if program.endswith(".go") else program
        words = ("go", "test", *flags, package, *(("-args", *plan.args) if plan.args else ()))
        return replace(plan, kind="command", command=words, program=None, args=(), cwd=package)
    if mode not in ("auto", "debug", "exec"):
        raise fields.wrong("mode", "auto, debug, test, exec or core")
    return replace(plan, interpreter_flags=flags)


def _by_address(fields: Fields, plan: AttachPlan, *names: str) -> AttachPlan:
    port = fields.number("port", "debugPort") if plan.pid is None else None
    host = fields.text("host") or "127.0.0.1"
    plan = replace(plan, port=port, host=host if port else None, adapter=_ours(*names))
    return _need_target(fields, plan)


def _go_attach(fields: Fields, plan: AttachPlan) -> AttachPlan:
    fields.text("mode")
    plan = replace(plan, core=fields.path("coreFilePath"))
    return replace(_by_address(fields, plan, "go"), sources=fields.sources("substitutePath"))


# Native programs


def _native(*names: str) -> Callable[[Fields, Plan], Plan]:
    def launch(fields: Fields, plan: Plan) -> Plan:
        wanted = fields.text("MIMode")
        if not plan.program and (target := fields.path("target")):  # what Native Debug calls it
            plan = replace(plan, program=target, command=(target, *plan.args))
        plan = replace(_need_program(fields, plan), sources=fields.sources("sourceFileMap", "sourceMap"))
        return replace(plan, adapter=_ours(*((wanted,) if wanted else names)))

    return launch


def _native_attach(*names: str) -> Callable[[Fields, AttachPlan], AttachPlan]:
    def attach(fields: Fields, plan: AttachPlan) -> AttachPlan:
        wanted, core = fields.text("MIMode"), fields.path("coreDumpPath", "coreFile")
        server = fields.text("miDebuggerServerAddress", "target", "gdb-remote-hostname")
        host, _, port = (server or "").rpartition(":")
        number = int(port) if re.fullmatch(r"\d{1,5}", port) else fields.number("gdb-remote-port")
        plan = replace(plan, core=core, port=number, host=(host or "127.0.0.1") if number else None)
        plan = replace(plan, sources=fields.sources("sourceFileMap", "sourceMap"))
        return _need_target(fields, replace(plan, adapter=_ours(*((wanted,) if wanted else names))))

    return attach


# Ruby


def _ruby(fields: Fields, plan: Plan) -> Plan:
    runtime = fields.words("command")
    fields.flag("useBundler")
    plan = _need_program(fields, plan)
    if runtime and runtime != ("ruby",):
        return replace(plan, kind="command", command=(*runtime, plan.program or "", *plan.args), program=None, args=())
    return replace(plan, adapter=_ours("ruby", "rdbg"))


# Declared debuggers


def _declared(adapter: DeclaredAdapter, fields: Fields, caller: Caller, request: str) -> Plan | AttachPlan:
    """The configuration goes to the debugger as it is, over what is declared."""
    arguments = {key: value for key, value in fields.given.items() if key not in IGNORED or key == "console"}
    if request == "attach":
        host, port = fields.text("host"), fields.number("port")
        plan = _running(fields, caller)
        fields.given = {key: fields.given[key] for key in fields.given if key in IGNORED}
        return replace(plan, host=host or "127.0.0.1", port=port, adapter=adapter.name, arguments=arguments)
    made = _program(fields, caller)
    fields.given = {key: fields.given[key] for key in fields.given if key in IGNORED}
    return replace(made, adapter=adapter.name, arguments=arguments)


_Maker = tuple[Callable[[Fields, Plan], Plan], Callable[[Fields, AttachPlan], AttachPlan]]
_MAKERS: Mapping[str, _Maker] = {
    **dict.fromkeys(("python", "debugpy"), (_python, _python_attach)),
    **dict.fromkeys(("node", "pwa-node", "node2"), (_node, _node_attach)),
    "go": (_go, _go_attach),
    "cppdbg": (_native("gdb", "lldb"), _native_attach("gdb", "lldb")),
    "gdb": (_native("gdb"), _native_attach("gdb")),
    **dict.fromkeys(("lldb", "lldb-dap"), (_native("lldb", "gdb"), _native_attach("lldb", "gdb"))),
    **dict.fromkeys(
        ("rdbg", "ruby", "ruby_lsp", "Ruby"), (_ruby, lambda fields, plan: _by_address(fields, plan, "ruby", "rdbg"))
    ),
}
"""Type to what it means to launch and to attach."""


def _variables(file: Path) -> dict[str, str]:
    """The variables of an `.env` file: NAME=VALUE lines, quotes taken off, `#` begins a comment."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"envFile {file} cannot be read: {error}") from None
    found: dict[str, str] = {}
    for line in lines:
        match = re.fullmatch(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*", line)
        if match:
            quoted = re.fullmatch(r"""(['"])(.*)\1""", match[2])
            found[match[1]] = quoted[2] if quoted else re.sub(r"\s+#.*", "", match[2])
    return found
