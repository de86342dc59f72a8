"""Whether everything is there: what can be debugged on this machine, what is missing, and how it comes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated

from ..adapters import Adapter, declared_here
from ..adapters import adapters as ours
from ..adapters.declared import DeclaredAdapter
from ..adapters.finding import tools_directory
from ..errors import NotFound
from ..model.health import AdapterInfo, AdapterList, Configured, Directories, Health, Setting, SetUp
from ..model.host import Host
from ..model.plans import Caller
from ..record.record import Record
from ..registry import Access, Judged, Param, operation
from ..session.sessions import Sessions
from ..settings import candidates, directory, root_of, unknown
from . import examining, setting_up

Languages = Annotated[
    tuple[str, ...], Param("languages, or debuggers by name", positional=True, rest=True, metavar="LANG")
]


@operation(Access.READ, here=True, example="dbg doctor\ndbg doctor go c++")
async def doctor(
    sessions: Sessions, caller: Caller, host: Host, record: Record, languages: Languages = ()
) -> Judged[Health]:
    """Say for every language whether it can be debugged here: the debugger found, its version, whether it really answers.

    What is missing or broken comes with the one command that mends it. With languages named, the exit code is 1 where one
    of them is not ready.
    """
    asked = examining.asked_for(languages, caller)
    debuggers = await examining.examine(sessions, caller, asked)
    good = {each.adapter for each in debuggers if each.state == "ready"}
    not_ready = tuple(each.word for each in asked if not good & {adapter.name for adapter in each.adapters})
    health = Health(
        debuggers=debuggers,
        daemon=await host.daemon(),
        directories=Directories(
            state=str(directory("state", caller.env)),
            config=str(directory("config", caller.env)),
            cache=str(directory("cache", caller.env)),
            tools=str(tools_directory(caller.env)),
        ),
        record=_record(record),
        not_ready=not_ready,
    )
    return Judged(health, good=not not_ready)


def _record(record: Record) -> str | None:
    """Where the record is, how large, and whether it can be used; nothing where there is none yet, and one can be made."""
    try:
        size = record.path.stat().st_size
        with contextlib.suppress(FileNotFoundError):  # what was written last lies beside it
            size += record.path.with_name(f"{record.path.name}-wal").stat().st_size
    except OSError:
        above = next(each for each in record.path.parents if each.exists())
        if os.access(above, os.W_OK | os.X_OK):
            return None
        return f"{record.path} cannot be made: {above} is no folder that can be written to"
    text = f"{record.path}, {size / 1e6:.1f} MB"
    return f"{text}, of no use: {problem}" if (problem := record.trouble()) else text


@operation(Access.EXEC, here=True, example="dbg setup go ruby\ndbg setup --all --dry-run")
async def setup(
    sessions: Sessions,
    caller: Caller,
    host: Host,
    languages: Languages = (),
    all: Annotated[bool, Param("every debugger of every language that we have tests for")] = False,
    yes: Annotated[bool, Param("do not ask before the commands are run", short="-y")] = False,
    dry_run: Annotated[bool, Param("only show the commands")] = False,
) -> Judged[SetUp]:
    """Install what a language needs to be debugged, and prove it by debugging a program of three lines.

    The commands of apt, pip, npm or go are shown first. What does not come by apt goes into a directory of its own,
    without root.
    """
    wanted = setting_up.wishes(examining.asked_for(languages, caller), caller, all=all)
    done = await setting_up.set_up(sessions, caller, host, wanted, yes=yes, dry_run=dry_run)
    went_well = done.action == "done" and all_well(done)
    return Judged(done, good=went_well or done.action == "planned")


def all_well(done: SetUp) -> bool:
    return bool(done.proofs) and all(each.ok for each in done.proofs)


@operation(Access.READ, here=True, example="dbg adapters --json")
async def adapters(caller: Caller) -> AdapterList:
    """List every debugger that is known, with the files that it claims; `doctor` tells which of them are here."""
    others = declared_here(caller.env, caller.cwd)
    return AdapterList(
        adapters=tuple(_info(each) for each in (*ours(), *others.all)),
        broken=tuple(str(each) for each in others.broken),
    )


def _info(adapter: Adapter) -> AdapterInfo:
    declared = adapter if isinstance(adapter, DeclaredAdapter) else None
    needs = adapter.needs[0] if adapter.needs else None
    names = (
        declared.declaration.command[:1] if declared else tuple(name for each in adapter.needs for name in each.names)
    )
    install = needs.recipes[0].line if needs else declared.install if declared else ""
    return AdapterInfo(
        name=adapter.name,
        languages=adapter.languages,
        claims=adapter.claims,
        roots=adapter.roots,
        tools=names,
        oldest=".".join(map(str, needs.oldest)) if needs and needs.oldest else None,
        install=install or None,
        verified=declared is None,
        origin=declared.origin.where if declared else "",
    )


@operation(Access.READ, example="dbg config\ndbg config budget --json")
async def config(
    sessions: Sessions,
    caller: Caller,
    name: Annotated[str | None, Param("one setting alone", positional=True, metavar="NAME")] = None,
) -> Configured:
    """List the settings as they hold for this project, and which file or whose environment says so."""
    root = root_of(caller)
    here, origins = sessions.settings_of(root), sessions.origins_of(root)
    known = here.__struct_fields__
    wanted = known if name is None else [each for each in known if each == name.replace("-", "_")]
    if not wanted:
        raise NotFound(f"there is no setting {name}; there are {', '.join(known)}")
    told = tuple(Setting(name=each, value=getattr(here, each), origin=origins.get(each)) for each in wanted)
    files = tuple(str(path) for path, _ in candidates(Path(root)))
    notes = tuple(
        f"{other} in {path} is no setting, and changes nothing" for other, path in unknown(project=Path(root))
    )
    return Configured(settings=told, files=files, notes=notes if name is None else ())
