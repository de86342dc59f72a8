"""The Pythons that the programs of the tests run on: every supported one of this machine, and its `python3` without what the
machine does at each start of it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from stillframe.adapters.interpreters import on_path

from . import pythons

PYCACHE = Path(sys.prefix, "pycache")
"""Where they keep what they compiled of the debugger, between runs: to fill it costs a second and a half for each."""
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"


def swift_python() -> Path | None:
    """A folder for PATH whose `python3` imports what the machine's does, and starts in a fraction of the time: a pyenv shim is
    a shell script, and the site-packages of a machine may hold .pth files that run code at each start. It is our own
    interpreter where that is of the same version. Made once, in the virtual environment that the tests run in; none where that
    cannot be."""
    machines = on_path("python3", {**os.environ, "PATH": _elsewhere()}, ".")
    if machines is None or sys.prefix == sys.base_prefix:
        return None
    about = f"{os.path.realpath(machines)} {os.stat(machines).st_mtime_ns} {os.path.realpath(sys.executable)}"
    stamp = hashlib.sha256(f"{about} {_PYTEST}".encode()).hexdigest()[:12]
    place = Path(sys.prefix, "swift", stamp)
    if not place.exists():
        try:
            _make(machines, place)
        except (OSError, subprocess.CalledProcessError):
            return None
    return place / "bin"


def _elsewhere() -> str:
    """PATH without the environment that the tests run in, which has debugpy and may be activated."""
    ours = Path(sys.prefix, "bin")
    return os.pathsep.join(each for each in os.get_exec_path() if Path(each) != ours)


_ABOUT = "import site, sys; print('%d.%d' % sys.version_info[:2], *site.getsitepackages(), sep='\\n')"


def _make(machines: str, place: Path) -> None:
    place.parent.mkdir(exist_ok=True)
    version, *packages = _said(machines, "-c", _ABOUT).splitlines()
    python = sys.executable if version == f"3.{sys.version_info.minor}" else machines
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder, "made")
        _said(python, "-m", "venv", "--without-pip", str(made))
        (own,) = made.glob("lib/python3.*/site-packages")
        (own / "machine.pth").write_text("\n".join(packages))  # paths alone: no .pth behind them is read
        if python == sys.executable and "pytest" not in _said(str(made / "bin/python"), "-c", _MODULES).split():
            _lend_pytest(own)
        with contextlib.suppress(OSError):  # another worker was first
            made.rename(place)


_MODULES = "import pkgutil; print(*(each.name for each in pkgutil.iter_modules()))"
_PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def _lend_pytest(packages: Path) -> None:
    """Ours, for a machine that has none: a fresh one debugs tests as well."""
    for name in _PYTEST:
        files = importlib.metadata.files(name) or ()
        for entry in {each.parts[0] for each in files} - {"..", "__pycache__"}:
            (packages / entry).symlink_to(Path(str(files[0].locate())).parents[len(files[0].parts) - 1] / entry)


def _said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


SWIFT = swift_python()


def find_interpreters() -> dict[str, str]:
    """Version to path of every supported interpreter here: of pyenv's folder, by its name on PATH, or fetched for the tests."""
    found: dict[str, str] = {}
    for folder in sorted(PYENV.glob("3.*")) if PYENV.is_dir() else []:
        match = re.match(r"^(3\.\d+)\.\d+$", folder.name)
        binary = folder / "bin" / "python"
        if match and match[1] in VERSIONS and binary.exists():
            found[match[1]] = str(binary)
    for version in VERSIONS:
        named = shutil.which(f"python{version}", path=_elsewhere())
        if version not in found and named and "shims" not in named:
            found[version] = named
        if SWIFT is not None and (SWIFT / f"python{version}").exists():
            found[version] = str(SWIFT / "python")
    if "3.14" not in found and (fetched := pythons.binary()):
        found["3.14"] = str(fetched)
    return found


INTERPRETERS = find_interpreters()
NEEDED = VERSIONS[:-1] if os.environ.get("STILLFRAME_ALL") == "1" and PYENV.is_dir() else ("3.11",)
"""What must not be missing in silence: where everything is to be tried and pyenv could have it, each but the newest, which is
fetched."""
NEWEST = "3.14" if "3.14" in INTERPRETERS else "3.13"
SPREAD = [each for each in ("3.8", "3.11", "3.13", NEWEST) if each in INTERPRETERS]
"""One of each make: the oldest, the last that is traced by sys.settrace, and two that have sys.monitoring."""
