"""The README's examples are run as they stand, in the order in which they stand, and must give what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = re.compile(r"after \d+(\.\d+)? s")
NODE = re.compile(r"via node [\d.]+")
RUNNER = re.compile(r"^pytest [\d.]+, \S+ [\d.]+:", re.MULTILINE)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def same(text: str) -> str:
    """What may differ from run to run, made equal."""
    return RUNNER.sub("pytest N, python N:", NODE.sub("via node N", TIMES.sub("after N s", text))).strip()


def test_every_shell_example_gives_what_the_readme_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    here = tmp_path
    try:
        for block in blocks("console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                if command.startswith("cd "):
                    here = tmp_path / command[3:]
                    continue
                done = subprocess.run(
                    ["bash", "-c", command], cwd=here, env=env, capture_output=True, text=True, timeout=150, check=False
                )
                assert same(done.stdout + done.stderr) == same(shown), command
    finally:
        subprocess.run(["dbg", "daemon", "stop"], env=env, capture_output=True, timeout=150, check=True)


def test_the_library_example_runs_and_says_where_it_stopped(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "examples",
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "checkout 61.5\n", "")


def test_the_demo_shows_the_evidence_that_names_the_bug(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    try:
        done = subprocess.run(
            ["bash", "examples/demo.sh"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "discount.__defaults__ = ({'TEN': 6.15},)" in done.stdout
        assert done.stdout.rstrip().endswith("shop ended")
    finally:
        subprocess.run(["dbg", "daemon", "stop"], env=env, capture_output=True, timeout=150, check=True)


def test_every_link_between_our_pages_leads_somewhere() -> None:
    pages = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [*(ROOT / "docs").glob("*.md"), *(ROOT / "skills").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
            path, _, heading = target.partition("#")
            other = (page.parent / path).resolve() if path else page
            assert other.exists(), f"{page.name} links to {target}"
            assert not heading or heading in _headings(other), f"{page.name} links to {target}"


def _headings(page: Path) -> set[str]:
    """The names by which a page's headings are linked to."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
