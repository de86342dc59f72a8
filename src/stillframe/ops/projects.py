"""What a project's own files bring: the configurations of its launch.json, and the trust that they need before they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec.structs import replace

from ..adapters import launchjson, launchtasks
from ..adapters import trust as store
from ..adapters.declarations import brought_here
from ..adapters.launchtypes import Configured, configured
from ..errors import UsageError
from ..model.plans import Caller, Plan
from ..model.views import Configuration, Configurations, Trust, TrustedFile
from ..registry import Access, Param, operation
from ..session.breakpoints import absolute
from .programs import RunTerms, pair


def configured_plans(
    caller: Caller, name: str, how: RunTerms, *, just_mine: bool | None, stop_on_entry: bool, record: bool
) -> tuple[Configured, ...]:
    """The plans behind a configuration, with what the call adds to them. Whose code is stepped through, and whether children are
    followed, is what the call says; where it says nothing, what the configuration does."""
    file = launchjson.find(caller.cwd)
    if not name:
        raise UsageError(f"--config needs a name; {file.path} has: {', '.join(file.names) or 'none'}")
    chosen = [_on_terms(each, how, just_mine) for each in configured(file, name, caller)]
    return tuple(
        replace(each, plan=_with(each.plan, how, stop_on_entry, record)) if isinstance(each.plan, Plan) else each
        for each in chosen
    )


def _on_terms(wish: Configured, how: RunTerms, just_mine: bool | None) -> Configured:
    plan = wish.plan
    mine = plan.just_my_code if just_mine is None else just_mine
    return replace(wish, plan=replace(plan, just_my_code=mine, children=plan.children and how.children))


def _with(plan: Plan, how: RunTerms, stop_on_entry: bool, record: bool) -> Plan:
    stdin = how.stdin
    return replace(
        plan,
        env={**plan.env, **dict(pair(each) for each in how.env)},
        stdin=stdin if stdin is None or stdin == "-" else str(Path(plan.cwd, stdin)),
        stop_on_entry=plan.stop_on_entry or stop_on_entry,
        record=record,
    )


@operation(Access.READ, aliases=("configurations",), example="dbg configs")
async def configs(caller: Caller) -> Configurations:
    """List what `launch --config NAME` can start here: the configurations of the nearest .vscode/launch.json."""
    file = launchjson.find(caller.cwd)
    single = [
        Configuration(
            name=str(each.get("name")), type=str(each.get("type")), request=str(each.get("request", "launch"))
        )
        for each in file.configurations
    ]
    several = [
        Configuration(name=str(each.get("name")), type="compound", request="launch", members=file.members(each))
        for each in file.compounds
    ]
    return Configurations(file=str(file.path), configurations=(*single, *several), trust=file.brought.state)


@operation(Access.EXEC, example="dbg trust\ndbg trust --list")
async def trust(
    caller: Caller,
    path: Annotated[
        tuple[str, ...],
        Param("with --remove, files that are not this project's", positional=True, rest=True, metavar="FILE"),
    ] = (),
    list_: Annotated[bool, Param("only show what there is, and whether it is trusted", flag="--list")] = False,
    remove: Annotated[bool, Param("trust this project's files no more")] = False,
) -> Trust:
    """Let run what this project's own files bring: debuggers that its settings declare, its launch.json and tasks.json.

    Shows what that is. It holds for the files as they are now: one that changes has to be trusted again.
    """
    if path and not remove:
        raise UsageError("trust takes the files of the project around the current directory; a FILE goes with --remove")
    here = _brought(caller.cwd)
    if remove:
        gone = store.forget([absolute(each, caller.cwd) for each in path] or [each.path for each in here])
        return Trust(action="removed", files=tuple(TrustedFile(path=each, state="untrusted") for each in gone))
    if list_:
        mine = {each.path for each in here}
        others = (TrustedFile(path=each, state="trusted") for each in store.trusted_paths() if each not in mine)
        return Trust(action="listed", files=(*_shown(here), *others))
    store.trust(here)
    return Trust(action="trusted", files=_shown(here))


def _brought(cwd: str) -> tuple[store.Brought, ...]:
    file = launchjson.find_or_none(cwd)
    tasks = launchtasks.find_tasks(file.folder) if file else None
    return (*brought_here(cwd), *(each.brought for each in (file, tasks) if each is not None))


def _shown(some: tuple[store.Brought, ...]) -> tuple[TrustedFile, ...]:
    return tuple(TrustedFile(path=each.path, state=each.state, brings=each.brings) for each in some)
