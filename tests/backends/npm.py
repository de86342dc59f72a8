"""Published packages for tests, fetched once for all of them and kept beside the virtual environment.

`python -m tests.backends.npm` fetches them before any test needs them, as `./dev test` does.
"""

from __future__ import annotations

import fcntl
import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "@types/node": "22.10.2",
    "immer": "10.1.1",
    "ts-node": "10.9.2",
    "tsx": "4.19.2",
    "typescript": "5.7.2",
}
_INSPECTOR = {"@modelcontextprotocol/inspector": "0.15.0"}
"""The newest that runs on Node 20."""
_NEWER = {"node": "24.11.0"}
"""A Node that runs TypeScript by itself."""


@functools.cache
def packages() -> Path:
    """A `node_modules` with all of them."""
    return _fetched("npm", PACKAGES)


def inspector() -> Path:
    """A `node_modules` with the MCP Inspector."""
    return _fetched("npm-inspector", _INSPECTOR)


def newer_node() -> Path:
    """The program of a Node that runs TypeScript by itself."""
    return _fetched("npm-node", _NEWER) / "node" / "bin" / "node"


def _fetched(name: str, packages: dict[str, str]) -> Path:
    """A `node_modules` with these packages, kept under this name."""
    kept = Path(sys.prefix, name)
    kept.mkdir(exist_ok=True)
    wanted = json.dumps({"private": True, "dependencies": packages}, indent=1)
    done, manifest = kept / "node_modules" / ".done", kept / "package.json"
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or manifest.read_text() != wanted:
            shutil.rmtree(kept / "node_modules", ignore_errors=True)
            manifest.write_text(wanted)
            words = ["npm", "install", "--fetch-retries=5", "--no-audit", "--no-fund", "--no-package-lock"]
            subprocess.run(words, cwd=kept, check=True, capture_output=True, timeout=240)
            done.touch()
    return kept / "node_modules"


def install(folder: Path) -> None:
    """Make them those of a project."""
    (folder / "node_modules").symlink_to(packages(), target_is_directory=True)


def compile_typescript(*projects: Path) -> None:
    """Compile them by their tsconfig.json, as their authors would, all in one go: most of the time is the compiler's start."""
    line = [str(packages() / ".bin" / "tsc"), "-b", *map(str, projects)]
    subprocess.run(line, check=True, capture_output=True, timeout=120)


def bundle(entry: Path, made: Path, *more: str) -> None:
    """Make one file of a program and what it imports, with a source map, by esbuild, which comes with tsx."""
    options = ["--bundle", "--platform=node", "--sourcemap", "--log-level=error"]
    line = [str(packages() / ".bin" / "esbuild"), str(entry), f"--outfile={made}", *options, *more]
    subprocess.run(line, check=True, capture_output=True, timeout=120)


def configuration(**options: object) -> str:
    """A tsconfig.json for these options, without a check of the types: that takes two thirds of the time."""
    usual = {"noCheck": True, "types": ["node"], "typeRoots": [str(packages() / "@types")]}
    return json.dumps({"compilerOptions": {**usual, **options}, "include": ["src"]})


if __name__ == "__main__":
    packages()
    inspector()
    newer_node()
