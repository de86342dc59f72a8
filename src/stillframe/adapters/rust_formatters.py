"""Rust's own formatters of its containers, for gdb and for lldb: with rustup's toolchains, in packages of their own on Debian.

Debian 12's package for lldb depends on lldb 14, whose Python shuts out that of lldb 19, the oldest that speaks the protocol:
it is unpacked in a folder of ours, and the rest of what it needs is with Debian's rustc.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from .building import run
from .finding import Needs, Recipe, outdated, unpacked
from .interpreters import on_path

_SYSROOT = ("rustc", "--print", "sysroot")
_FOLDER = "lib/rustlib/etc"
FOR_GDB = Needs(
    "rust-gdb", (), (Recipe("apt", ("rust-gdb",)),), told_by=_SYSROOT, file=f"{_FOLDER}/gdb_lookup.py"
)  # fmt: skip
FOR_LLDB = Needs(
    "rust-lldb", (), (Recipe("deb", ("rust-lldb",)),), told_by=_SYSROOT, file=f"{_FOLDER}/lldb_lookup.py"
)  # fmt: skip


async def folders(needs: Needs, env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """Where the files of a debugger's formatters are, first those that came with the rustc of this place."""
    rustc = on_path(_SYSROOT[0], env, cwd)
    if rustc is None:
        return ()
    code, said = await run((rustc, *_SYSROOT[1:]), cwd=cwd, env=env, apart=True)
    if code != 0:
        return ()
    return await asyncio.to_thread(_present, Path(said.strip(), _FOLDER), needs, env, cwd)


def _present(theirs: Path, needs: Needs, env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    ours = unpacked(needs, env).parent
    found = [theirs] if theirs.is_dir() else []
    if ours.is_dir() and not outdated(needs, env, cwd):
        found.append(ours)
    return tuple(map(str, found))
