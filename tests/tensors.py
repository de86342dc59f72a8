"""A torch for the tests, where Debian has one: its packages are unpacked beside the virtual environment, and nothing is
installed. (The wheels of PyPI bring five gigabytes of other people's graphics cards.)

`python -m tests.tensors` fetches it once, as `./dev test` does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = "/usr/bin/python3"
"""The interpreter that Debian's packages are for."""
FETCHED = Path(sys.prefix, "guests", "torch")
_PACKAGE = "python3-torch"
_SECONDS = 600


def environment() -> dict[str, str] | None:
    """What Debian's Python finds torch by; None where it was not fetched."""
    if not FETCHED.is_dir():
        return None
    libraries = {each.parent for each in FETCHED.rglob("lib*.so.*")}
    return {
        "PYTHONPATH": str(FETCHED / "usr/lib/python3/dist-packages"),
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, sorted(libraries))),
    }


def fetch() -> None:
    """Have it, unless it is there already."""
    if FETCHED.is_dir():
        return
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb") and os.path.exists(PYTHON)):
        sys.exit("no Debian to fetch torch from")
    FETCHED.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FETCHED.parent) as folder:
        _said("apt-get", "-qq", "-o", "Acquire::Retries=5", "download", *_missing(), cwd=folder)
        made = Path(folder, "made")
        for package in sorted(Path(folder).glob("*.deb")):
            _said("dpkg-deb", "--extract", str(package), str(made))
            package.unlink()
        shutil.rmtree(made / "usr/share", ignore_errors=True)
        made.rename(FETCHED)


def _missing() -> list[str]:
    """The packages that this machine lacks for it."""
    words = ("apt-get", "--simulate", "-o", "Debug::NoLocking=true", "install", "--no-install-recommends", _PACKAGE)
    said = _said(*words)
    found = [line.split()[1] for line in said.splitlines() if line.startswith("Inst ")]
    return found or [_PACKAGE]


def _said(*words: str, cwd: str | None = None) -> str:
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(words, cwd=cwd, env=env, check=False, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        sys.exit(f"{' '.join(words[:4])}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    fetch()
