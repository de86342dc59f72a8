"""Which of a Node program's packages are links into the project itself, as those of a workspace are."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model.plans import Plan


class FindsNodeImports:
    """The adapter's part in running another revision: see `revisions.FindsImports`."""

    async def imported_from(self, plan: Plan, folder: Path) -> Mapping[str, str]:
        """Packages by name that are linked; Node loads what the link leads to, wherever the program stands."""
        return await asyncio.to_thread(lambda: dict(_linked(folder)))

    def finding_first(self, plan: Plan, folders: Sequence[Path]) -> Plan:
        return plan  # Node has no search path that comes before node_modules


def _linked(folder: Path) -> Iterator[tuple[str, str]]:
    for packages in (folder / "node_modules", *folder.glob("*/node_modules")):
        for each in (*packages.glob("*"), *packages.glob("@*/*")):
            if each.is_symlink():
                yield str(each.relative_to(packages)), os.path.realpath(each)
