"""`dbg` as an installer leaves it: in a venv, in one with a blank in its path, editable, behind a link, without a Python."""

from __future__ import annotations

import importlib.util
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillframe.faces.cli.catalogue import VERSION

from ..conftest import DEADLINE

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed here to build with"
)


def pip(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that the tree stays as it is."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("src", "bin", "skills", "agents", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(copy))
    (made,) = folder.glob("*.whl")
    return made


def make_venv(folder: Path) -> Path:
    """A fresh venv that sees our dependencies through a .pth file, as many a working venv sees something."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=DEADLINE)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """One for all that only look at what is there and call it."""
    return installed(tmp_path_factory.mktemp("installed") / "venv", wheel)


def installed(folder: Path, wheel: Path) -> Path:
    made = make_venv(folder)
    pip("--python", str(made / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    return made


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def daemon_ended() -> Iterator[None]:
    yield
    run(sys.executable, "-m", "stillframe", "daemon", "stop", cwd=ROOT, env={"PYTHONPATH": str(ROOT / "src")})


def works(dbg: Path, python: Path) -> None:
    """Help without a daemon, then a whole call, whose daemon runs on the Python of the same venv."""
    assert run(dbg, "--version") == f"stillframe {VERSION}\n"
    assert run(dbg, "sessions", "--json").startswith('{"ok":true')
    pid = run(dbg, "daemon", "status").split()[1].rstrip(",")
    assert Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] == os.fsencode(python)


def test_both_commands_work_in_a_fresh_venv(venv: Path) -> None:
    works(venv / "bin" / "dbg", venv / "bin" / "python")
    assert run(venv / "bin" / "stillframe", "--version") == f"stillframe {VERSION}\n"
    assert run(venv / "bin" / "stillframe", "sessions") == run(venv / "bin" / "dbg", "sessions")


def test_a_relative_path_to_the_command_works(venv: Path) -> None:
    assert run("bin/dbg", "--version", cwd=venv) == f"stillframe {VERSION}\n"
    assert run("./dbg", "sessions", "--json", cwd=venv / "bin").startswith('{"ok":true')
    assert run("sh", "bin/dbg", "daemon", cwd=venv).startswith("pid ")


@pytest.mark.long
def test_a_blank_in_the_path_does_no_harm(tmp_path: Path, wheel: Path) -> None:
    made = installed(tmp_path / "my own venv", wheel)
    works(made / "bin" / "dbg", made / "bin" / "python")
    assert run(made / "bin" / "stillframe", "--version") == f"stillframe {VERSION}\n"


def test_a_link_to_the_command_works(venv: Path, tmp_path: Path) -> None:
    (tmp_path / "local bin").mkdir()
    link = tmp_path / "local bin" / "dbg"
    link.symlink_to(venv / "bin" / "dbg")
    works(link, venv / "bin" / "python")
    assert run("dbg", "--version", env={"PATH": f"{link.parent}:{os.environ['PATH']}"}) == f"stillframe {VERSION}\n"


def test_without_a_python_beside_it_the_other_command_is_used(venv: Path, tmp_path: Path) -> None:
    apart = tmp_path / "apart"
    apart.mkdir()
    for name in ("dbg", "stillframe"):
        shutil.copy(venv / "bin" / name, apart / name)
    assert run(apart / "dbg", "--version") == f"stillframe {VERSION}\n"


def test_a_foreign_python_beside_it_is_seen_through(venv: Path, tmp_path: Path) -> None:
    apart = tmp_path / "apart" / "bin"
    apart.mkdir(parents=True)
    for name in ("dbg", "stillframe"):
        shutil.copy(venv / "bin" / name, apart / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(apart.parent)], check=True, timeout=DEADLINE)
    assert run(apart / "dbg", "--version") == f"stillframe {VERSION}\n"


def test_nothing_of_the_callers_directory_or_variables_reaches_in(venv: Path, tmp_path: Path) -> None:
    trap = tmp_path / "project"
    trap.mkdir()
    for name in ("posix", "_socket", "json", "stillframe", "asyncio", "site", "encodings"):
        (trap / f"{name}.py").write_text("raise SystemExit('reached in')")
    env = {
        "PYTHONPATH": str(trap),
        "PYTHONHOME": "/nowhere",
        "PYTHONSTARTUP": str(trap / "json.py"),
        "PYTHONINSPECT": "1",
    }
    assert run(venv / "bin" / "dbg", "sessions", "--json", cwd=trap, env=env).startswith('{"ok":true')


@pytest.mark.long
def test_an_editable_install_works(tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for name in ("src", "bin", "skills", "agents"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    made = make_venv(tmp_path / "venv")
    pip("--python", str(made / "bin" / "python"), "install", "--no-deps", "--no-build-isolation", "-e", str(copy))
    works(made / "bin" / "dbg", made / "bin" / "python")
    found = run(made / "bin" / "python", "-I", "-c", "import stillframe; print(stillframe.__file__)")
    assert found.startswith(str(copy))


def test_what_agents_need_comes_with_it_and_mcp_is_served_from_there(venv: Path, tmp_path: Path) -> None:
    dbg = venv / "bin" / "dbg"
    assert "written" in run(dbg, "install", "claude")
    home = Path(os.environ["HOME"])
    assert (home / ".claude/skills/stillframe/references/verbs.md").is_file()
    assert f'"command": "{dbg}"' in (home / ".claude.json").read_text()
    meta = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
    ask = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{' + meta + "}}}\n"
    done = subprocess.run([dbg, "mcp"], input=ask, capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert '"name":"launch"' in done.stdout
    run(dbg, "daemon", "stop")
