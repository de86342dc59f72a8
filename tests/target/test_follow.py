"""A Python behind a shell or a wrapper: led to the debugger by its environment, it is as in a plain run, and hangs for nobody."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ..guard import free_port
from ..interpreters import PYCACHE
from .conftest import PYTHONS
from .wireclient import TOKENS, VENDORED

FOLLOW = Path(__file__).parents[2] / "src" / "stillframe" / "_target" / "follow"
SHOW = """\
import os, sys
ours = [name for name in os.environ if name.startswith("STILLFRAME_") and name != "STILLFRAME_TEST"]
print(sys.argv, sys.flags.utf8_mode, ours, os.environ.get("PYTHONPATH"), os.environ.get("LC_CTYPE"))
print(getattr(sys, "orig_argv", None), [each for each in sys.path if "_target" in each], "sitecustomize" in sys.modules)
"""


def surroundings(**others: str) -> dict[str, str]:
    """The environment behind a wrapper whose debugger is gone: nobody listens at the address."""
    port = free_port()
    path = os.pathsep.join(each for each in (str(FOLLOW), others.get("PYTHONPATH")) if each)
    return {
        **plain(**others),
        "STILLFRAME_FOLLOW": f"127.0.0.1:{port}",
        "STILLFRAME_TOKENS": ":".join(TOKENS),
        "STILLFRAME_PYDEVD": str(VENDORED),
        "STILLFRAME_PYCACHE": str(PYCACHE),
        "STILLFRAME_ON_EOF": "kill",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONPATH": path,
    }


def plain(**others: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **others}


def output(words: list[str], env: dict[str, str], cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=150, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C.UTF-8"}], ids=["no locale", "UTF-8"])
@pytest.mark.parametrize("others", [{}, {"PYTHONPATH": "lib"}], ids=["no path", "a path"])
def test_without_its_debugger_it_runs_as_in_a_plain_run(
    python: str, tmp_path: Path, locale: dict[str, str], others: dict[str, str]
) -> None:
    (tmp_path / "show.py").write_text(SHOW)
    words = [python, "-u", "-X", "dev", "show.py", "a b", "--port", "c"]
    given = {**locale, **others}
    assert output(words, surroundings(**given), tmp_path) == output(words, plain(**given), tmp_path)


@pytest.mark.parametrize(
    "words", [["-m", "show", "-c"], ["-c", SHOW, "x"], ["--version"], ["-"], ["-E", "show.py"]], ids=str
)
def test_every_kind_of_command_runs_as_in_a_plain_run(edge_python: str, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "show.py").write_text(SHOW)
    env, other = surroundings(), plain()
    if words == ["-E", "show.py"]:  # it never looks at PYTHONPATH, so it is never ours, and its variables stay
        other = env
    assert output([edge_python, *words], env, tmp_path) == output([edge_python, *words], other, tmp_path)


@pytest.mark.parametrize("words", [["show.py"], ["-"]], ids=["debugged", "left alone"])
def test_the_sitecustomize_of_a_plain_run_is_run_once(edge_python: str, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "show.py").write_text(SHOW)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sitecustomize.py").write_text("print('customized')\n")
    code, out, err = output([edge_python, *words], surroundings(PYTHONPATH="lib"), tmp_path)
    assert (code, err, out.count("customized")) == (0, "", 1)
    assert out == output([edge_python, *words], plain(PYTHONPATH="lib"), tmp_path)[1]


def test_a_python_that_cannot_be_debugged_runs_on(tmp_path: Path) -> None:
    """Python 2, where there is one: it must not even fail to read our file."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    old = [str(each / "bin" / "python") for each in root.glob("versions/2.*")]
    for python in old or [PYTHONS[min(PYTHONS, key=lambda each: int(each[2:]))]]:
        (tmp_path / "old.py").write_text("import os\nprint([n for n in os.environ if n.startswith('STILL')])\n")
        assert output([python, "old.py"], surroundings(), tmp_path) == (0, "[]\n", "")
