"""A Python 3.14 for the tests, where the machine has none: from the Go proxy, the one registry that has whole interpreters.

`python -m tests.pythons` fetches it once and keeps it beside the virtual environment, as `./dev test` does.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from stillframe.adapters.finding import located

MODULE = "github.com/kluctl/go-embed-python@v0.0.0-3.14.6-20260610-1"
FETCHED = Path(sys.prefix, "pythons", "3.14")
_MACHINES = {"x86_64": "linux-amd64", "aarch64": "linux-arm64"}
_PERMISSIONS = 0o777


def binary() -> Path | None:
    """The interpreter, where it was fetched."""
    found = FETCHED / "bin" / "python3.14"
    return found if found.exists() else None


def fetch() -> None:
    """Have it, unless it is there already."""
    if binary() or shutil.which("python3.14"):
        return
    FETCHED.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FETCHED.parent) as folder:
        env = {**os.environ, "GOMODCACHE": f"{folder}/cache", "GOFLAGS": "-modcacherw"}
        go = located("go", os.environ, folder)  # on PATH, or where `dbg setup` put it
        if go is None:
            sys.exit("no Go to fetch a Python 3.14 with")
        words = [go, "mod", "download", "-json", MODULE]
        said = subprocess.run(words, env=env, cwd=folder, check=True, capture_output=True, timeout=600).stdout
        data = Path(json.loads(said)["Dir"], "python", "internal", "data", _MACHINES[platform.machine()])
        made = Path(folder, "made")
        for each in json.loads((data / "files.json").read_text())["files"]:
            _put(data / each["name"], made / each["name"], each)
        made.rename(FETCHED)


def _put(packed: Path, place: Path, about: dict[str, object]) -> None:
    """One file of it, as the module's list says: a link, a folder, packed or as it is."""
    place.parent.mkdir(parents=True, exist_ok=True)
    squeezed = packed.with_name(packed.name + ".gz")
    if "symlink" in about:
        place.symlink_to(str(about["symlink"]))
    elif squeezed.exists():
        with gzip.open(squeezed) as read, place.open("wb") as written:
            shutil.copyfileobj(read, written)
    elif packed.is_dir():
        place.mkdir(exist_ok=True)
        return
    else:
        shutil.copyfile(packed, place)
    if not place.is_symlink():
        place.chmod(int(str(about["perm"])) & _PERMISSIONS)


if __name__ == "__main__":
    fetch()
