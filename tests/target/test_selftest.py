"""The self-test says whether our code fits the debugpy at hand, on every version."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..interpreters import PYCACHE
from .wireclient import TARGET, VENDORED


def selftest(python: str, vendored: Path, pycache: Path) -> Any:
    env = {**os.environ, "STILLFRAME_PYDEVD": str(vendored), "STILLFRAME_PYCACHE": str(pycache)}
    words = [python, str(TARGET / "selftest.py")]
    return json.loads(subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout)


def test_the_pinned_debugpy_has_every_name_on_every_version(python: str) -> None:
    assert selftest(python, VENDORED, PYCACHE) == {"ok": True, "missing": []}


def test_a_name_that_is_gone_is_told(tmp_path: Path) -> None:
    shutil.copytree(VENDORED, tmp_path / "pydevd", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "pydevd" / "pydevd.py"
    source.write_text(source.read_text().replace("def on_disconnect(", "def on_disconnected("))
    answer = selftest(sys.executable, tmp_path / "pydevd", tmp_path / "pycache")
    assert answer == {"ok": False, "missing": ["pydevd.PyDB.on_disconnect"]}


def test_no_debugpy_at_all_is_told(tmp_path: Path) -> None:
    assert selftest(sys.executable, tmp_path, tmp_path)["ok"] is False
