"""Ruby, through rdbg inside the program itself, with our own code behind its door."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...backends.dap.launch import HERE, SOCKET, Address, DapLaunch, ListensUnix, Quirk
from ...errors import AdapterMissing, LaunchFailed, Try, Unsupported, UsageError
from ...model.backend import Tool
from ...model.plans import AttachPlan, Plan
from .. import matches
from ..absent import no_such_file
from ..finding import Needs, Recipe
from ..interpreters import identity
from ..leaving import Leaving
from ..listening import owners_of, program_of
from ..shebang import interpreter_meant
from .command import NAMES, PACKAGES, is_script, runs_ruby, understood
from .joining import bring

_TARGET = Path(__file__).resolve().parents[2] / "_target" / "ruby"
_BOOT = _TARGET / "boot.rb"
_ANSWER = 20.0
_NEWEST_FIRST = ("rdbg", "rdbg3.4", "rdbg3.3", "rdbg3.2", "rdbg3.1")


_WORLD = frozenset({"GEM_HOME", "GEM_PATH", "RUBYOPT", "RUBYLIB", "BUNDLE_GEMFILE"})
"""What makes the gems that a Ruby sees those of one project."""
_RECORDED = (
    "its main thread is recorded, slowly; what was changed in place is shown as it is now, also when one has gone back"
)


class Runtime(msgspec.Struct, frozen=True):
    """A Ruby, the debugger that came with it, and whether our code fits into that."""

    path: str
    debugger: str
    paths: tuple[str, ...]
    fits: bool


class RubyAdapter:
    """What Stillframe knows of Ruby."""

    name = "ruby"
    languages: tuple[str, ...] = ("Ruby",)
    claims: tuple[str, ...] = ("*.rb", "*.ru", "Rakefile")
    roots: tuple[str, ...] = ()
    first_words: re.Pattern[str] | None = NAMES
    leaving: tuple[Leaving, ...] = (Leaving("Kernel#exit", ()),)
    tells_handed_errors = True
    fails_by_handed_errors = True
    needs: tuple[Needs, ...] = (
        Needs("rdbg", _NEWEST_FIRST, (Recipe("apt", ("ruby",)),), (1, 4), version=re.compile(r"(\d+\.\d+\.\d+)")),
    )

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("rdbg", version, how)

    def understands(self, plan: Plan) -> bool:
        if plan.kind == "command":
            return runs_ruby(plan)
        path = Path(plan.cwd, plan.program or "")
        return plan.kind == "file" and (matches(plan.program or "", self.claims) or is_script(path))

    def understood(self, plan: Plan) -> Plan:
        return understood(plan)

    async def launch(self, plan: Plan) -> DapLaunch:
        plan = understood(plan)
        _check(plan)
        ruby = plan.interpreter or interpreter_meant(plan, "ruby", PACKAGES)
        runtime = await asyncio.to_thread(_probed, ruby, plan.env)
        if not runtime.fits:
            raise AdapterMissing(f"rdbg {runtime.debugger} of {ruby} is none that our code fits into; 1.4 is known to")
        program = ("-e", plan.program or "") if plan.kind == "code" else (plan.program or "",)
        return DapLaunch(
            tool=self.tool(runtime.debugger),
            reach=ListensUnix(),
            request="launch",
            arguments={"stopOnEntry": plan.stop_on_entry},
            argv=(runtime.path, f"-r{_BOOT}", *plan.interpreter_flags, *program, *plan.args),
            cwd=plan.cwd,
            env=_environment(plan, runtime),
            umask=plan.umask,
            stdin=plan.stdin,
            owns_target=True,
            mark=secrets.token_hex(8),
            notes=(_RECORDED,) if plan.record else (),
            can_record=True,
            **_HELPED,
        )

    # Joining

    def joins(self, plan: AttachPlan) -> bool:
        """Whether a Ruby listens there; or runs there, which is then told how it is joined."""
        if plan.pid is not None:
            return program_of(plan.pid).startswith("ruby")
        return plan.port is not None and any(each.startswith("ruby") for each in owners_of(plan.port))

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        if plan.port is None or plan.url is not None:
            raise UsageError(
                "a Ruby program is joined by the HOST:PORT that rdbg listens on: rdbg --open --port 1234 app.rb"
            )
        host = plan.host or "127.0.0.1"
        if host not in HERE:
            raise Unsupported("a Ruby program is joined on its own machine, where our code can be loaded into it")
        await bring(_TARGET / "join.rb", host, plan.port)
        return DapLaunch(
            tool=self.tool(how="listening port"),
            reach=Address(host, plan.port),
            request="attach",
            arguments={},
            launched=False,
            **_HELPED,
        )


_HELPED: dict[str, Any] = {
    "helper": "stillframe",
    "exception_root": "Ruby Exceptions",
    "keeps_functions": True,
    "reads": lambda name: name[:1].isupper(),  # a constant: whatever else is no local variable is a method
    "truth": "!!({})",
    "quirks": frozenset({Quirk.ONE_BREAKPOINT_PER_LINE}),
}
"""What our code in the program makes the same, however it came there."""


def _environment(plan: Plan, runtime: Runtime) -> dict[str, str]:
    """Our settings travel by variables, which the start-up code takes out again."""
    env = {name: value for name, value in plan.env.items() if not name.startswith("RUBY_DEBUG_")}
    env["STILLFRAME_RUBY"] = SOCKET
    env["STILLFRAME_RUBY_DEBUG"] = os.pathsep.join(runtime.paths)
    env["STILLFRAME_RUBY_OPTIONS"] = plan.env.get("RUBYOPT", "")
    if not plan.just_my_code:
        env["STILLFRAME_RUBY_ALL"] = "1"
    if plan.record:
        env["STILLFRAME_RUBY_RECORD"] = "1"
    return env


def _check(plan: Plan) -> None:
    """What can be known to fail fails here, with its reason."""
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    if plan.kind != "file":
        return
    path = Path(plan.cwd, plan.program or "")
    if not os.path.exists(path):
        raise no_such_file(path, plan.cwd)
    if path.is_dir() or not os.access(path, os.R_OK):
        raise LaunchFailed(f"{path} is a directory" if path.is_dir() else f"not permitted to read {path}")


_RUNTIMES: dict[str, Runtime] = {}
"""What each Ruby said of itself; it is asked once."""


def _probed(ruby: str, env: Mapping[str, str]) -> Runtime:
    key = identity(ruby)
    if key not in _RUNTIMES:
        _RUNTIMES[key] = _asked(ruby, env)
    return _RUNTIMES[key]


def _asked(ruby: str, env: Mapping[str, str]) -> Runtime:
    """Ask a Ruby for its debugger among the program's own gems; else among those that it came with, which a project with gems
    of its own does not see."""
    bare = {name: value for name, value in env.items() if name not in _WORLD}
    said: list[str] = []
    for world in (env, bare):
        done = _answer(ruby, world)
        words = done.stdout.split("\n")
        if done.returncode == 0 and len(words) >= 3:
            return Runtime(ruby, words[0], tuple(word for word in words[2:] if word), words[1] == "fits")
        said = (done.stderr or done.stdout).strip().splitlines()
    reason = next((line for line in said if "Error" in line), said[-1] if said else "it says nothing")
    raise AdapterMissing(f"{ruby} has no debugger: gem install debug ({reason})", hint=Try("setup", {"": "ruby"}))


def _answer(ruby: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    words = [ruby, str(_TARGET / "selftest.rb")]
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=_ANSWER, check=False, env=dict(env))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchFailed(f"cannot run {ruby}: {error}") from None


RUBY = RubyAdapter()
