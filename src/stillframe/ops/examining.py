"""What doctor looks at: every debugger of ours and of the settings, each found, greeted or made to debug, all at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

import msgspec

from ..adapters import Adapter, adapters, declared_here, for_plan
from ..adapters.declared import DeclaredAdapter
from ..adapters.finding import Found, Needs, find
from ..adapters.greeting import Greets, greeted
from ..adapters.placeholders import names_in
from ..adapters.samples import SAMPLES, Sample
from ..errors import StillframeError, UsageError
from ..model.backend import Tool
from ..model.health import Checked
from ..model.plans import Caller, Plan
from ..session.sessions import Sessions
from .proving import prove

PATIENCE = 30.0
"""How long one debugger may take to show that it works, all of them starting at the same time."""
_SYNONYMS = {
    "py": "python", "js": "javascript", "ts": "typescript", "nodejs": "javascript", "golang": "go", "cpp": "c++", "cxx": "c++",
    "rs": "rust", "rb": "ruby",
}  # fmt: skip


class Asked(msgspec.Struct, frozen=True):
    """A word that somebody gave for a language, a debugger or its tool, and the adapters that it stands for."""

    word: str
    language: str | None
    """The language, where it is one and not the name of a debugger."""
    adapters: tuple[Adapter, ...]


def asked_for(words: Iterable[str], caller: Caller) -> tuple[Asked, ...]:
    """What each word stands for; a usage error lists what there is."""
    others = declared_here(caller.env, caller.cwd)
    broken = {each.name for each in others.broken}
    everyone: tuple[Adapter, ...] = (*adapters(), *others.all)
    return tuple(Asked(word, None, ()) if word in broken else _asked(word, everyone) for word in words)


def _asked(word: str, everyone: Sequence[Adapter]) -> Asked:
    plain = _SYNONYMS.get(word.lower(), word.lower())
    by_language = [each for each in everyone if plain in _lower(each.languages)]
    if by_language:
        (language,) = {name for each in by_language for name in each.languages if name.lower() == plain}
        return Asked(word, language, tuple(by_language))
    by_name = [each for each in everyone if plain == each.name or plain in {needs.tool for needs in each.needs}]
    if not by_name:
        known = sorted({name for each in everyone for name in (*_lower(each.languages), each.name)})
        raise UsageError(f"no language or debugger {word!r} is known; there are: {', '.join(known)}")
    return Asked(word, None, tuple(by_name))


def _lower(names: Iterable[str]) -> list[str]:
    return [each.lower() for each in names]


async def examine(sessions: Sessions, caller: Caller, only: Sequence[Asked] = ()) -> tuple[Checked, ...]:
    """Every debugger, or those asked for, as it is found now."""
    others = declared_here(caller.env, caller.cwd)
    wanted = {each.name for asked in only for each in asked.adapters}
    ours = [_ours(sessions, caller, each) for each in adapters() if not only or each.name in wanted]
    declared = [_declared(caller, each) for each in others.all if not only or each.name in wanted]
    found = await asyncio.gather(*ours, *declared)
    broken = [
        Checked(adapter=each.name, languages=(), state="invalid", problem=str(each), origin=each.where, verified=False)
        for each in others.broken
        if not only or each.name in {asked.word for asked in only}
    ]
    return (*found, *broken)


# Ours


async def _ours(sessions: Sessions, caller: Caller, adapter: Adapter) -> Checked:
    found = await asyncio.to_thread(best, adapter, caller)
    base = Checked(
        adapter=adapter.name, languages=adapter.languages, state="ready", tool=found.tool, version=found.version,
        path=found.path, fix=fix(adapter), verified=True,
    )  # fmt: skip
    if found.path is None:
        return msgspec.structs.replace(base, state="missing", problem=f"{found.tool} is not installed")
    if found.problem:
        return msgspec.structs.replace(base, state="broken", problem=found.problem)
    notes = await asyncio.to_thread(lambda: (*_lacks_to_build(adapter, caller), *_lacks_to_read(adapter, caller)))
    began = time.monotonic()
    try:
        tool, proof = await _tried(sessions, caller, adapter)
    except StillframeError as error:
        mends = f"{base.fix}, once {found.path} is out of its way" if isinstance(adapter, Greets) else base.fix
        return msgspec.structs.replace(base, state="broken", problem=_first_line(error.message), fix=mends, notes=notes)
    taken_for = await asyncio.to_thread(_taken_for, adapter, caller)
    return msgspec.structs.replace(
        base, tool=tool.tool, version=tool.version, proof=proof, seconds=_since(began), fix=None, notes=notes,
        taken_for=taken_for,
    )  # fmt: skip


def _taken_for(adapter: Adapter, caller: Caller) -> tuple[str, ...]:
    """Of the languages that there is another debugger for, too, those whose programs a launch gives to this one."""
    shared = {each for other in adapters() if other is not adapter for each in other.languages}
    plans = {
        language: Plan((sample.file,), "file", program=sample.file, cwd=caller.cwd, env=caller.env)
        for language, sample in samples(adapter)
        if language in shared
    }
    return tuple(language for language, plan in plans.items() if for_plan(plan) is adapter)


def best(adapter: Adapter, caller: Caller) -> Found:
    """Of the tools of which it needs any one, the first that will do, else the first that is there at all."""
    every = [find(needs, caller.env, caller.cwd) for needs in adapter.needs]
    return next((each for each in every if each.path and not each.problem), None) or next(
        (each for each in every if each.path), every[0]
    )


async def _tried(sessions: Sessions, caller: Caller, adapter: Adapter) -> tuple[Tool, str]:
    """A debugger that comes up without a program is greeted; another one debugs the shortest program there is."""
    if isinstance(adapter, Greets):
        return await greeted(await adapter.greeting(caller.env, caller.cwd), PATIENCE), "answered"
    sample = next(each for language, each in samples(adapter))
    return await prove(sessions, caller, adapter, sample, PATIENCE), "debugged"


def samples(adapter: Adapter) -> list[tuple[str, Sample]]:
    """The languages of an adapter that there is a program for."""
    return [(language, SAMPLES[language]) for language in adapter.languages if language in SAMPLES]


def _lacks_to_build(adapter: Adapter, caller: Caller) -> tuple[str, ...]:
    return tuple(
        f"no {sample.builder.tool} to build {language} with: dbg setup {language.lower()}"
        for language, sample in samples(adapter)
        if sample.builder and not is_there(sample.builder, caller)
    )


def _lacks_to_read(adapter: Adapter, caller: Caller) -> tuple[str, ...]:
    return tuple(
        f"{_without(reader, caller)} to read {language}'s own containers with: dbg setup {adapter.name}"
        for language, sample in samples(adapter)
        if is_built(sample, caller) and (reader := lacking_reader(adapter, sample, caller))
    )


def is_built(sample: Sample, caller: Caller) -> bool:
    """Whether the program can be made here, where it has to be made at all."""
    return sample.builder is None or is_there(sample.builder, caller)


def lacking_reader(adapter: Adapter, sample: Sample, caller: Caller) -> Needs | None:
    """What this debugger would read the language's containers with and has not got."""
    reader = sample.reader(adapter.name)
    return reader if reader and not is_there(reader, caller) else None


def _without(reader: Needs, caller: Caller) -> str:
    problem = find(reader, caller.env, caller.cwd).problem
    return f"no {reader.tool} of this version ({problem})" if problem else f"no {reader.tool}"


def is_there(needs: Needs, caller: Caller) -> bool:
    found = find(needs, caller.env, caller.cwd)
    return found.path is not None and not found.problem


def fix(adapter: Adapter) -> str:
    """The command that brings it: by the language where no other debugger is for that."""
    mine = adapter.languages[0]
    alone = not any(mine in each.languages for each in adapters() if each is not adapter)
    return f"dbg setup {mine.lower() if alone else adapter.name}"


# Declared


async def _declared(caller: Caller, adapter: DeclaredAdapter) -> Checked:
    origin = adapter.origin
    path = adapter.found(caller.env, caller.cwd)
    base = Checked(
        adapter=adapter.name, languages=adapter.languages, state="untried", tool=adapter.name, path=path,
        origin=origin.where, verified=False,
    )  # fmt: skip
    if path is None:
        missing = f"{adapter.missing(caller.env, caller.cwd)} is not there"
        return msgspec.structs.replace(base, state="missing", problem=missing, fix=adapter.install or None)
    if origin.brought is not None and origin.brought.state != "trusted":
        why = f"it comes with {origin.brought.path}"
        return msgspec.structs.replace(base, state="untrusted", problem=why, fix="dbg trust")
    if adapter.declaration.owns_program or "program" in names_in(adapter.declaration.command):
        return msgspec.structs.replace(base, notes=("it comes up with a program only",))
    began = time.monotonic()
    try:
        tool = await greeted(await adapter.greeting(caller.env, caller.cwd), PATIENCE)
    except StillframeError as error:
        return msgspec.structs.replace(base, state="broken", problem=_first_line(error.message))
    return msgspec.structs.replace(base, state="ready", version=tool.version, proof="answered", seconds=_since(began))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)
