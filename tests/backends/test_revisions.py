"""An earlier revision laid out beside the present project, and the same command moved into it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from stillframe.adapters.node import NODE
from stillframe.adapters.python import PYTHON
from stillframe.adapters.revisions import laid_out, with_its_own_modules
from stillframe.errors import Unsupported, UsageError
from stillframe.model.plans import Plan

ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(here: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *words], cwd=here, env=ENV, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path / "shop"
    (top / "src" / "prices").mkdir(parents=True)
    (top / "src" / "prices" / "__init__.py").write_text("RATE = 1\n\n\ndef net(x):\n    return x * RATE\n")
    (top / "app.py").write_text("import prices\nprint(prices.net(3))\n")
    (top / ".gitignore").write_text("node_modules\n")
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "one")
    (top / "node_modules" / "dep").mkdir(parents=True)
    (top / "src" / "prices" / "__init__.py").write_text("# new\nRATE = 2\n\n\ndef net(x):\n    return x * RATE\n")
    return top


def plan_for(top: Path, **env: str) -> Plan:
    return Plan(
        ("app.py", str(top / "app.py")), "file", (str(top / "app.py"), "x"), "app.py", str(top), {**ENV, **env},
        interpreter=sys.executable,
    )  # fmt: skip


async def test_the_command_runs_in_the_revision_and_nothing_is_left_of_it(project: Path) -> None:
    async with laid_out("HEAD", str(project / "src"), ENV) as old:
        moved = old.moved(plan_for(project, PYTHONPATH=f"{project / 'src'}:{project / 'gone'}:/usr/lib"))
        assert (old.top, Path(moved.cwd), moved.args[1]) == (project, old.folder, "x")
        assert moved.args[0] == str(old.folder / "app.py")
        assert moved.env["PYTHONPATH"] == f"{old.folder / 'src'}:{project / 'gone'}:/usr/lib"
        assert "RATE = 1" in (old.folder / "src" / "prices" / "__init__.py").read_text()
        assert (old.folder / "node_modules" / "dep").is_dir()
        assert old.line(project / "src" / "prices" / "__init__.py", 6) == 5
        assert old.line(project / "src" / "prices" / "__init__.py", 1) is None
        files = [project / "app.py", old.folder / "app.py", project / "node_modules" / "x.js"]
        assert old.strays(map(str, files)) == (str(files[0]),)
    assert not old.folder.parent.exists()
    assert git(project, "worktree", "list").count("\n") == 1
    assert git(project, "status", "--short").strip() == "M src/prices/__init__.py"


async def test_a_link_to_the_present_tree_is_got_round_or_refused(project: Path, tmp_path: Path) -> None:
    linked = tmp_path / "site"
    linked.mkdir()
    (linked / "sitecustomize.py").write_text(f"import sys\nsys.path.append({str(project / 'src')!r})\n")
    async with laid_out("HEAD", str(project), ENV) as old:
        moved = await with_its_own_modules(PYTHON, old.moved(plan_for(project, PYTHONPATH=str(linked))), old)
        assert moved.env["PYTHONPATH"].split(os.pathsep)[0] == str(old.folder / "src")
        (linked / "sitecustomize.py").write_text(f"import sys\nsys.path.insert(0, {str(project / 'src')!r})\n")
        with pytest.raises(Unsupported, match="prices would be loaded from the present tree"):
            await with_its_own_modules(PYTHON, replace(moved, env={**moved.env, "PYTHONPATH": str(linked)}), old)


async def test_what_is_no_revision_or_no_repository_is_said(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such revision"):
        async with laid_out("nosuch", str(project), ENV):
            pass
    with pytest.raises(UsageError, match="git opens no repository"):
        async with laid_out("HEAD", str(tmp_path), ENV):
            pass


async def test_a_package_that_is_a_link_into_the_present_workspace_is_refused(project: Path) -> None:
    (project / "packages" / "tax").mkdir(parents=True)
    (project / "node_modules" / "tax").symlink_to(project / "packages" / "tax")
    async with laid_out("HEAD", str(project), ENV) as old:
        with pytest.raises(Unsupported, match="tax would be loaded from the present tree"):
            await with_its_own_modules(NODE, old.moved(plan_for(project)), old)
