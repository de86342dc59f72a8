"""What doctor, adapters, setup and config answer: each debugger and how it was found, the daemon, what was installed and
proven, the settings."""

from __future__ import annotations

from typing import Literal

import msgspec

CheckState = Literal["ready", "broken", "missing", "untried", "untrusted", "invalid"]


class Checked(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One debugger as it was found on this machine: broken is there and of no use, invalid a declaration that cannot be read."""

    adapter: str
    languages: tuple[str, ...]
    state: CheckState
    tool: str = ""
    version: str = ""
    path: str | None = None
    proof: Literal["answered", "debugged"] | None = None
    """What it did just now: answered our greeting, or debugged a program of three lines from a breakpoint to its end."""
    seconds: float | None = None
    problem: str | None = None
    fix: str | None = None
    """The one command that brings it."""
    notes: tuple[str, ...] = ()
    origin: str = ""
    """The settings that declare it, or the catalogue; empty for one of ours."""
    taken_for: tuple[str, ...] = ()
    """The languages whose programs `launch` gives to it, where there is more than one debugger for them."""
    verified: bool
    """Whether our tests debug programs by it."""


class DaemonInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The background process that holds the sessions."""

    running: bool
    pid: int | None = None
    version: str = ""
    seconds: int = 0
    sessions: int = 0
    rss_mb: int = 0
    ports: tuple[int, ...] = ()
    """The ports of this machine that it listens on for debuggers and programs that dial in."""
    socket: str = ""
    log: str = ""
    problem: str | None = None
    """Why it cannot be reached."""


class Directories(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything of ours lies."""

    state: str
    config: str
    cache: str
    tools: str


class Health(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Whether everything is there."""

    debuggers: tuple[Checked, ...]
    daemon: DaemonInfo
    directories: Directories
    record: str | None = None
    """Where the record is and how large, or why none can be made; left out if none has been made yet."""
    not_ready: tuple[str, ...] = ()
    """What was asked for by name and cannot be debugged now."""


class InstallStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One command that installs something."""

    tool: str
    command: str
    state: Literal["planned", "done", "failed", "by_hand"] = "planned"
    said: str = ""
    """The last that it said, where it failed."""


class Proof(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A program of three lines debugged: built, stopped at a breakpoint, a variable read, run to its end."""

    adapter: str
    language: str
    ok: bool
    tool: str = ""
    version: str = ""
    seconds: float | None = None
    problem: str | None = None


class SetUp(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was installed, and what it was seen to do."""

    steps: tuple[InstallStep, ...] = ()
    proofs: tuple[Proof, ...] = ()
    action: Literal["planned", "declined", "done"]


class AdapterInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one adapter claims, without looking whether its debugger is there."""

    name: str
    languages: tuple[str, ...]
    claims: tuple[str, ...] = ()
    """File names that it runs."""
    roots: tuple[str, ...] = ()
    """Files that make a directory a program of its kind."""
    tools: tuple[str, ...] = ()
    """Programs of which it needs one."""
    oldest: str | None = None
    install: str | None = None
    verified: bool
    """Whether our tests debug programs by it."""
    origin: str = ""


class AdapterList(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    adapters: tuple[AdapterInfo, ...]
    broken: tuple[str, ...] = ()
    """Declarations that cannot be used, each with its reason."""


class Setting(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One setting as it holds for a project."""

    name: str
    value: bool | int | float | str
    origin: str | None = None
    """The file that says so, or the environment; left out where it is so by default."""


class Configured(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    settings: tuple[Setting, ...]
    files: tuple[str, ...]
    """Where settings are looked for, those of the later ones holding."""
    notes: tuple[str, ...] = ()
    """What these files say that is no setting."""
