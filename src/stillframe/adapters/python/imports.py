"""Where a Python program's modules would come from, asked of its own interpreter without running any of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ...errors import LaunchFailed
from ...model.plans import Plan
from ..building import run
from ..interpreters import choose, probe
from .command import understood

_ASK = """
import importlib.util, json, sys
found = {}
sys.path[0] = sys.argv[1]
for name in json.loads(sys.argv[2]):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        continue
    if spec is not None:
        found[name] = spec.origin or next(iter(spec.submodule_search_locations or ()), None)
print(json.dumps({name: file for name, file in found.items() if file}))
"""


class FindsPythonImports:
    """The adapter's part in running another revision: see `revisions.FindsImports`."""

    async def imported_from(self, plan: Plan, folder: Path) -> Mapping[str, str]:
        """The file behind each top-level module of the folder, or of its `src`, as the plan's interpreter would find it."""
        plan = understood(plan)
        first = Path(plan.cwd, plan.program).parent if plan.kind == "file" and plan.program else Path(plan.cwd)
        interpreter = await probe(choose(plan.interpreter, first.resolve(), plan.env, plan.cwd))
        names = sorted({*_modules(folder), *_modules(folder / "src")})
        words = [interpreter.path, *plan.interpreter_flags, "-c", _ASK, str(first), json.dumps(names)]
        code, said = await run(words, cwd=plan.cwd, env=plan.env, apart=True)
        if code:
            raise LaunchFailed(f"{interpreter.path} could not tell where its modules come from: {said.strip()[-200:]}")
        found: dict[str, str] = json.loads(said.strip().splitlines()[-1])
        return found

    def finding_first(self, plan: Plan, folders: Sequence[Path]) -> Plan:
        search = [str(each) for each in folders] + [each for each in [plan.env.get("PYTHONPATH", "")] if each]
        return replace(plan, env={**plan.env, "PYTHONPATH": os.pathsep.join(search)})


def _modules(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    files = [each.stem for each in folder.glob("*.py")]
    packages = [each.name for each in folder.iterdir() if each.is_dir() and any(each.glob("*.py"))]
    return [name for name in files + packages if name.isidentifier() and name not in ("setup", "conftest")]
