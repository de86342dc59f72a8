"""What `setup` does: the tools that are missing, the commands that bring them, and the proof that they work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from ..adapters import Adapter, adapters
from ..adapters.declared import DeclaredAdapter
from ..adapters.finding import Needs
from ..adapters.installing import Command, commands, is_installable, run, with_tools
from ..adapters.samples import Sample
from ..errors import StillframeError, UsageError
from ..model.health import InstallStep, Proof, SetUp
from ..model.host import Host
from ..model.plans import Caller
from ..session.sessions import Sessions
from .examining import Asked, best, is_built, is_there, lacking_reader, samples
from .proving import prove

PATIENCE = 300.0
"""How long the proof of one language may take: the first build of a language may compile its whole library."""


class Wish(msgspec.Struct, frozen=True):
    """A debugger that is wanted, and the languages that it has to prove itself with."""

    adapter: Adapter
    proofs: tuple[tuple[str, Sample], ...]
    builds: bool
    """Whether what the programs are built with is wanted, too."""

    def lacking(self, caller: Caller) -> list[Needs]:
        """The tools that are missing for it, in the order in which they are needed."""
        found = best(self.adapter, caller)
        debugger = [] if found.path and not found.problem else [self.adapter.needs[0]]
        through = {recipe.manager for needs in debugger for recipe in needs.recipes}
        builders = [sample.builder for _, sample in self.proofs if sample.builder]
        wanted = [each for each in builders if (self.builds or each.tool in through) and not is_there(each, caller)]
        return [*wanted, *debugger, *self._readers(caller, wanted)]

    def _readers(self, caller: Caller, coming: Sequence[Needs]) -> list[Needs]:
        """What this debugger lacks to read containers with, of languages that can be built here, as far as it can be had."""
        built = [each for _, each in self.proofs if each.builder in coming or is_built(each, caller)]
        lacking = [lacking_reader(self.adapter, each, caller) for each in built]
        return [each for each in lacking if each and is_installable(each, caller.env, caller.cwd)]


def wishes(asked: Sequence[Asked], caller: Caller, *, all: bool) -> tuple[Wish, ...]:
    """What is to be set up: for a language the debugger that it has or the best there is; by name, that very one."""
    if all == bool(asked):
        raise UsageError("set up what? Give languages or debuggers, as in: dbg setup go c, or --all")
    if all:
        return tuple(Wish(each, tuple(samples(each)), builds=True) for each in adapters())
    found: dict[str, Wish] = {}
    for each in asked:
        ours = [adapter for adapter in each.adapters if adapter.needs]
        if not ours:
            told = [other.install for other in each.adapters if isinstance(other, DeclaredAdapter) and other.install]
            by = next(iter(told), "see its own pages")
            raise UsageError(f"{each.word} cannot be installed by us: {by}")
        for adapter in [_chosen(ours, caller)] if each.language else ours:
            mine = tuple(one for one in samples(adapter) if each.language in (None, one[0])) or tuple(samples(adapter))
            before = found.get(adapter.name)
            proofs = tuple(dict.fromkeys((*(before.proofs if before else ()), *mine)))
            found[adapter.name] = Wish(adapter, proofs, each.language is not None or bool(before and before.builds))
    return tuple(found.values())


def _chosen(some: Sequence[Adapter], caller: Caller) -> Adapter:
    """The one that a launch would take: who only stands in for another is asked before that one."""
    for each in reversed(some):
        found = best(each, caller)
        if found.path and not found.problem:
            return each
    return some[-1]


async def set_up(
    sessions: Sessions, caller: Caller, host: Host, wanted: Sequence[Wish], *, yes: bool, dry_run: bool
) -> SetUp:
    """Install what is missing, after somebody agreed to it, and prove every debugger that was asked for."""
    lacking = await asyncio.to_thread(lambda: [needs for wish in wanted for needs in wish.lacking(caller)])
    plan = commands(tuple(dict.fromkeys(lacking)), caller.env, caller.cwd)
    steps = tuple(InstallStep(tool=each.tool, command=each.line) for each in plan)
    if dry_run:
        return SetUp(steps=steps, action="planned")
    if plan and not yes:
        lines = "\n".join(f"  {each.line}" for each in plan)
        agreed = await host.ask(f"to be run:\n{lines}\nrun these commands?")
        if agreed is None:
            message = "setup asks before it installs, and nobody can be asked here: add --yes, or --dry-run to see the commands"
            raise UsageError(message, detail={"commands": "\n".join(each.line for each in plan)})
        if not agreed:
            return SetUp(steps=steps, action="declined")
    done = await _run_all(plan, caller, host)
    after = Caller(caller.cwd, with_tools(caller.env), caller.umask, client=caller.client)
    proofs = [await _proof(sessions, after, wish, *one) for wish in wanted for one in _provable(wish, after)]
    return SetUp(steps=done, proofs=tuple(proofs), action="done")


def _provable(wish: Wish, caller: Caller) -> list[tuple[str, Sample]]:
    """Those languages that can be built here, where only the debugger was asked for."""
    return [one for one in wish.proofs if wish.builds or is_built(one[1], caller)]


async def _run_all(plan: Sequence[Command], caller: Caller, host: Host) -> tuple[InstallStep, ...]:
    """Each command in turn; after one that failed, the others of the same tool are left."""
    done: list[InstallStep] = []
    given_up: set[str] = set()
    for each in plan:
        step = InstallStep(tool=each.tool, command=each.line)
        if each.by_hand:
            done.append(msgspec.structs.replace(step, state="by_hand"))
            continue
        if each.tool in given_up:
            done.append(step)
            continue
        host.show(f"$ {each.line}\n")
        code, said = await run(each, caller.env, host.show)
        if code != 0:
            given_up.add(each.tool)
            done.append(msgspec.structs.replace(step, state="failed", said=said or f"exit code {code}"))
        else:
            done.append(msgspec.structs.replace(step, state="done"))
    return tuple(done)


async def _proof(sessions: Sessions, caller: Caller, wish: Wish, language: str, sample: Sample) -> Proof:
    began = time.monotonic()
    base = Proof(adapter=wish.adapter.name, language=language, ok=False)
    try:
        tool = await prove(sessions, caller, wish.adapter, sample, PATIENCE)
    except StillframeError as error:
        return msgspec.structs.replace(base, problem=error.message)
    return msgspec.structs.replace(
        base, ok=True, tool=tool.tool, version=tool.version, seconds=round(time.monotonic() - began, 2)
    )
