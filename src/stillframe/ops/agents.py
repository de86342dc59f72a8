"""Coming to the agents: our skill, sub-agent and MCP server put where each of them looks, and taken away again."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from ..errors import UsageError
from ..model.agents import Installation, Placed
from ..model.plans import Caller
from ..registry import Access, Param, operation
from ..settings import directory, project_root
from .agentplaces import AGENTS, SERVER, SUBAGENT, VSCODE_PROFILES, Agent
from .placing import Entry, Kind, Place, Shipped

_PACKAGED = Path(__file__).parents[1] / "_agents"
_CHECKOUT = Path(__file__).parents[3]
MISSING = "MCP's own library is not installed here: pip install 'stillframe[mcp]'"

Names = Annotated[tuple[str, ...], Param(f"agents: {', '.join(AGENTS)}", positional=True, rest=True, metavar="AGENT")]
Every = Annotated[bool, Param("every agent that is found here")]
Project = Annotated[bool, Param("for this project, in files that can be shared, rather than for you")]
Skill = Annotated[bool, Param("the skill and the sub-agent only")]
Mcp = Annotated[bool, Param("the MCP server only")]
DryRun = Annotated[bool, Param("only show what would be done")]
Force = Annotated[bool, Param("also what somebody has edited")]


@operation(Access.EXEC, here=True, example="dbg install claude\ndbg install --all --dry-run")
async def install(
    caller: Caller,
    agents: Names = (),
    all: Every = False,
    project: Project = False,
    skill: Skill = False,
    mcp: Mcp = False,
    access: Annotated[
        Literal["read", "inspect", "control", "exec"] | None, Param("the highest class that the MCP server may use")
    ] = None,
    dry_run: DryRun = False,
    force: Force = False,
) -> Installation:
    """Put the skill, the sub-agent and the MCP server where an agent looks for them.

    Settings are merged, comments stay, a file is backed up before it is changed. What somebody has edited is kept,
    unless --force.
    """
    chosen = _chosen(agents, all, project, caller.env)
    places = _places(chosen, caller, project=project, skill=skill or not mcp, mcp=mcp or not skill, allow=access)
    placed = _done([each.install for each in places], dry_run=dry_run, force=force)
    notes = _notes({each.name for each in chosen}, caller.env, project) if mcp or not skill else ()
    return Installation(placed=placed, dry_run=dry_run, notes=tuple(notes))


@operation(Access.EXEC, here=True, example="dbg uninstall claude\ndbg uninstall --all")
async def uninstall(
    caller: Caller,
    agents: Names = (),
    all: Every = False,
    project: Project = False,
    skill: Skill = False,
    mcp: Mcp = False,
    dry_run: DryRun = False,
    force: Force = False,
) -> Installation:
    """Take the skill and the MCP server away again; what somebody has edited is kept, unless --force.

    A skill that another agent reads in the same place stays for it.
    """
    chosen = _chosen(agents, all, project, caller.env)
    wanted = _places(chosen, caller, project=project, skill=skill or not mcp, mcp=mcp or not skill, allow=None)
    places = list(wanted)
    going = {each.path for each in places}
    readers = _readers([each for each in AGENTS.values() if each not in chosen], caller, going, project=project)
    steps = [
        partial(each.keep_for, readers[each.path])
        if isinstance(each, Shipped) and each.path in readers
        else each.uninstall
        for each in places
    ]
    return Installation(placed=_done(steps, dry_run=dry_run, force=force), dry_run=dry_run)


def _notes(names: set[str], env: Mapping[str, str], project: bool) -> Iterator[str]:
    """What somebody has to know of the MCP server beside where it was put."""
    if importlib.util.find_spec("mcp") is None:
        yield MISSING
    if project and "claude" in names:
        yield "Claude Code asks before it uses a project's MCP server for the first time"
    if not project and "vscode" in names and any(AGENTS["vscode"].below_home(VSCODE_PROFILES, env).glob("*/")):
        yield "VS Code has further profiles here, each with an mcp.json of its own, which sees nothing of this one"


def _done(steps: Sequence[Callable[..., Placed]], *, dry_run: bool, force: bool) -> tuple[Placed, ...]:
    """All of them are tried without a change first: a file that cannot be read leaves every other one as it is, too."""
    planned = tuple(step(dry_run=True, force=force) for step in steps)
    return planned if dry_run else tuple(step(dry_run=False, force=force) for step in steps)


def _chosen(names: tuple[str, ...], all: bool, project: bool, env: Mapping[str, str]) -> list[Agent]:
    if all == bool(names):
        raise UsageError(f"which agent? Give names of {', '.join(AGENTS)}, or --all")
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        raise UsageError(f"there is no agent {unknown[0]!r}; there are {', '.join(AGENTS)}")
    if names:
        return [AGENTS[name] for name in dict.fromkeys(names)]
    found = [each for each in AGENTS.values() if each.is_here(env)]
    if not found:
        raise UsageError(f"no agent is found here; name one of {', '.join(AGENTS)}")
    return found


def _places(
    chosen: list[Agent], caller: Caller, *, project: bool, skill: bool, mcp: bool, allow: str | None
) -> Iterator[Place]:
    """Everything that belongs to these agents; what two of them share, once."""
    env, root = caller.env, Path(project_root(caller.cwd))
    kept = directory("state", env) / "installed.json"
    seen: set[Path] = set()
    for agent in chosen:

        def found(own: str, shared: str, agent: Agent = agent) -> tuple[Path, Path]:
            """Where this is, and below what."""
            return (root / shared, root) if project else (agent.below_home(own, env), agent.base(own, env))

        if mcp:
            path, base = found(agent.mcp, agent.project_mcp)
            yield Entry(agent.name, "mcp", path, agent.key, _entry(agent, env, project=project, allow=allow), base)
        if not skill:
            continue
        folder, base = found(agent.skills, agent.project_skills)
        files: list[tuple[Kind, Path, Path, str]] = [
            ("skill", folder / SERVER / name, base, text) for name, text in _skill().items()
        ]
        if agent.project_subagents if project else agent.subagents:
            files.append(("subagent", *found(agent.subagents, agent.project_subagents), _subagent(agent)))
        for kind, path, base, text in files:
            if path not in seen:
                seen.add(path)
                yield Shipped(agent.name, kind, path, text, kept, base)


def _readers(others: list[Agent], caller: Caller, going: Set[Path], *, project: bool) -> dict[Path, str]:
    """The skills that agents read which have something of ours beside it that is not going, each with the name of such an
    agent. VS Code and Copilot look for sub-agents in the same place, so that one there tells of neither."""
    found: dict[Path, str] = {}
    for agent in others:
        own = list(_places([agent], caller, project=project, skill=True, mcp=True, allow=None))
        if any(each.kind != "skill" and each.path not in going and each.is_there() for each in own):
            found.update({each.path: agent.title for each in own if each.kind == "skill"})
    return found


def _entry(agent: Agent, env: Mapping[str, str], *, project: bool, allow: str | None) -> dict[str, Any]:
    """Our entry in an agent's settings. A user's has the whole path, since an agent with a window has another PATH."""
    command = "dbg" if project else _command(env)
    more = [*(["--answers", "text"] if agent.shows_json else []), *(["--allow", allow] if allow else [])]
    return {**agent.entry, "command": command, "args": ["mcp", *more]}


def _command(env: Mapping[str, str]) -> str:
    beside = Path(sys.executable).parent / "dbg"
    return str(beside) if beside.exists() else shutil.which("dbg", path=env.get("PATH")) or "dbg"


def _shipped(name: str) -> Path:
    """Our files for agents: in the package where it is installed, else in the checkout."""
    return _PACKAGED / name if _PACKAGED.is_dir() else _CHECKOUT / name


def _subagent(agent: Agent) -> str:
    """Our sub-agent in the form that an agent wants."""
    text = (_shipped("agents") / f"{SUBAGENT}.md").read_text()
    if agent.subagent_form == "whole":
        return text
    _, head, body = text.split("---\n", 2)
    said = dict(line.split(": ", 1) for line in head.splitlines())
    name, about, body = said["name"], said["description"], body.strip()
    if agent.subagent_form == "toml":
        return (
            f"name = {json.dumps(name)}\ndescription = {json.dumps(about)}\ndeveloper_instructions = '''\n{body}\n'''\n"
        )
    return f"---\nname: {name}\ndescription: {about}\n---\n\n{body}\n"


def _skill() -> dict[str, str]:
    folder = _shipped("skills") / SERVER
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.md"))}
