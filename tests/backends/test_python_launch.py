"""Starting Python programs: which interpreter, and the root cause at once where nothing can come up."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from stillframe.adapters import for_plan
from stillframe.adapters.interpreters import choose, on_path, probe
from stillframe.adapters.python import PYTHON
from stillframe.adapters.python.command import understood
from stillframe.adapters.python.recording import PythonRecorder
from stillframe.adapters.python.servers import compiled_folder
from stillframe.errors import AdapterUnresponsive, LaunchFailed, UsageError
from stillframe.model.backend import CatchRule, Output

from ..interpreters import INTERPRETERS, NEEDED
from .driver import opened, plan, started, write


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def refused(wish) -> str:
    with pytest.raises(LaunchFailed) as caught:
        async with opened(wish):
            raise AssertionError("it came up")
    return caught.value.message


async def test_a_missing_program_is_named_at_once(tmp_path):
    assert await refused(plan(tmp_path / "nope.py")) == f"no such file: {tmp_path / 'nope.py'}"


async def test_a_cache_that_cannot_be_made_is_not_left_to_the_program_to_make(tmp_path, monkeypatch):
    """CPython would make it below the program's own directory, where its first folder is missing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert os.listdir(compiled_folder()) == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(write(tmp_path, "", "no folder")))
    assert compiled_folder() == ""
    wish = plan(write(tmp_path, "print('ran')\n"))
    assert PythonRecorder().environment(wish, tmp_path)["STILLFRAME_PYCACHE"] == ""
    async with started(wish) as run:
        await run.ended()
        assert run.printed() == "ran\n"


async def test_a_directory_without_a_main_is_no_program_and_one_with_it_is(tmp_path):
    assert "__main__" in await refused(plan(tmp_path, adapter="python"))
    write(tmp_path, "print('main of a directory')\n", "__main__.py")
    async with started(plan(tmp_path, adapter="python")) as run:
        await run.ended()
        assert run.printed() == "main of a directory\n"


async def test_a_missing_directory_to_run_in_is_named(tmp_path):
    program = write(tmp_path, "x = 1\n")
    assert "no such directory" in await refused(plan(program, cwd=str(tmp_path / "gone")))


async def test_a_missing_file_for_standard_input_is_named(tmp_path):
    program = write(tmp_path, "x = 1\n")
    assert "standard input" in await refused(plan(program, stdin=str(tmp_path / "none.txt")))


async def test_a_broken_interpreter_is_named_with_its_own_words(tmp_path):
    broken = script(tmp_path / "python3", "#!/bin/sh\necho 'libpython is missing' >&2\nexit 127\n")
    message = await refused(plan(write(tmp_path, "x = 1\n"), interpreter=str(broken)))
    assert "no working Python" in message and "libpython is missing" in message


async def test_an_interpreter_that_does_not_exist_is_named(tmp_path):
    message = await refused(plan(write(tmp_path, "x = 1\n"), interpreter=str(tmp_path / "py")))
    assert "no such interpreter" in message


@pytest.mark.parametrize("version", ["2 7 18", "3 7 9", "3 15 0"])
async def test_a_python_of_another_version_is_refused_by_its_number(tmp_path, version):
    old = script(tmp_path / "python3", f"#!/bin/sh\necho {version} cpython\n")
    message = await refused(plan(write(tmp_path, "x = 1\n"), interpreter=str(old)))
    assert version.replace(" ", ".") in message and "3.8 to 3.14" in message


async def test_an_interpreter_that_dies_before_it_dials_in_fails_with_its_own_words(tmp_path):
    """It answers the version question like a good one, then dies at the real start."""
    fake = script(
        tmp_path / "python3",
        '#!/bin/sh\ncase "$*" in *version_info*) echo 3 11 7 cpython;; *selftest*) echo \'{"ok": true}\';;'
        " *) echo 'Fatal Python error: no codec' >&2; exit 1;; esac\n",
    )
    message = await refused(plan(write(tmp_path, "x = 1\n"), interpreter=str(fake)))
    assert "exit code 1" in message and "no codec" in message


async def test_a_self_test_that_is_not_done_in_time_is_no_answer_and_not_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("stillframe.adapters.python.servers._TESTED", 0.2)
    slow = script(
        tmp_path / "python3",
        '#!/bin/sh\ncase "$*" in *version_info*) echo 3 11 7 cpython;; *) exec tail -f /dev/null;; esac\n',
    )
    program = write(tmp_path, "x = 1\n")
    for _ in range(2):
        with pytest.raises(AdapterUnresponsive, match="not imported"):
            async with opened(plan(program, interpreter=str(slow))):
                pass


async def root_cause(wish) -> str:
    """Why it did not run, told at once: as the reason of a failed launch, or as the program's own end."""
    try:
        async with started(wish, catch=CatchRule(frozenset())) as run:
            assert (await run.ended()).exit_code == 1
            return run.printed("stderr")
    except LaunchFailed as failed:
        return failed.message


async def test_a_syntax_error_is_the_reason_given_at_once(tmp_path):
    message = await root_cause(plan(write(tmp_path, "x = = 1\n")))
    assert "SyntaxError: invalid syntax" in message and "line 1" in message


async def test_a_module_that_does_not_exist_is_named_at_once(tmp_path):
    message = await root_cause(plan("no_such_module", kind="module", cwd=str(tmp_path)))
    assert "No module named no_such_module" in message


async def test_the_caller_s_environment_directory_and_umask_reach_the_program(tmp_path):
    program = write(
        tmp_path, "import os\nprint(os.getcwd(), os.environ['A'], oct(os.umask(0)), 'HOME' in os.environ)\n"
    )
    async with started(
        replace(plan(program), cwd=str(tmp_path), env={"A": "b", "PATH": os.environ["PATH"]}, umask=0o027)
    ) as run:
        await run.ended()
        assert run.printed() == f"{tmp_path} b 0o27 False\n"


# Which interpreter


def environment(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("")
    os.symlink(sys.executable, folder / "bin" / "python")
    return folder / "bin" / "python"


def test_the_interpreter_asked_for_wins_then_the_active_environment_then_the_nearest_then_path(tmp_path):
    near = tmp_path / "project" / "src"
    near.mkdir(parents=True)
    beside = environment(tmp_path / "project" / ".venv")
    active = environment(tmp_path / "active")
    on_the_path = script(tmp_path / "bin" / "python3", "#!/bin/sh\n")
    env = {"PATH": str(on_the_path.parent), "VIRTUAL_ENV": str(active.parent.parent)}
    assert choose(sys.executable, near, env, str(tmp_path)) == sys.executable
    assert choose(None, near, env, str(tmp_path)) == str(active)
    del env["VIRTUAL_ENV"]
    assert choose(None, near, env, str(tmp_path)) == str(beside)
    assert choose(None, tmp_path, env, str(tmp_path)) == str(on_the_path)
    with pytest.raises(LaunchFailed, match="no python3 on PATH"):
        choose(None, tmp_path, {"PATH": str(tmp_path)}, str(tmp_path))


def test_a_pyenv_shim_is_followed_without_being_run(tmp_path):
    shim = script(tmp_path / "pyenv" / "shims" / "python3", "#!/bin/sh\necho shim >&2; exit 1\n")
    real = script(tmp_path / "pyenv" / "versions" / "3.12.1" / "bin" / "python3", "#!/bin/sh\n")
    (tmp_path / "pyenv" / "version").write_text("3.12\n")
    env = {"PATH": str(shim.parent)}
    assert on_path("python3", env, str(tmp_path)) == str(real)
    other = script(tmp_path / "pyenv" / "versions" / "3.11.7" / "bin" / "python3", "#!/bin/sh\n")
    (tmp_path / ".python-version").write_text("3.11.7\n")
    assert on_path("python3", env, str(tmp_path)) == str(other)
    assert on_path("python3", {**env, "PYENV_VERSION": "3.12.1"}, str(tmp_path)) == str(real)


def test_a_version_that_pyenv_lacks_is_named_and_no_other_python_taken_for_it(tmp_path):
    shim = script(tmp_path / "pyenv" / "shims" / "python3", "#!/bin/sh\nexit 1\n")
    (tmp_path / "pyenv" / "versions").mkdir()
    other = script(tmp_path / "bin" / "python3", "#!/bin/sh\n")
    env = {"PATH": f"{shim.parent}:{other.parent}"}
    assert choose(None, tmp_path, env, str(tmp_path)) == str(other), "nobody asks for one"
    (tmp_path / ".python-version").write_text("3.9.99\n")
    for asked in (None, "python3"):
        with pytest.raises(LaunchFailed, match=r"\.python-version asks pyenv for 3\.9\.99, which is not installed"):
            choose(asked, tmp_path, env, str(tmp_path))
    (tmp_path / ".python-version").write_text("system\n")
    assert choose(None, tmp_path, env, str(tmp_path)) == str(other)


async def test_an_interpreter_is_probed_once_for_as_long_as_it_stays_the_same(tmp_path):
    counter = tmp_path / "count"
    python = script(tmp_path / "python3", f"#!/bin/sh\necho x >> {counter}\necho 3 11 7 cpython\n")
    for _ in range(3):
        assert (await probe(str(python))).tag == "3.11"
    assert counter.read_text() == "x\n"


@pytest.mark.parametrize(
    ("words", "kind", "program", "flags", "args"),
    [
        (("python3", "app.py", "-x"), "file", "app.py", (), ("-x",)),
        (("python3", "-X", "dev", "-W", "error", "app.py"), "file", "app.py", ("-X", "dev", "-W", "error"), ()),
        (("python3", "-Xdev", "-u", "-m", "mod", "-m"), "module", "mod", ("-Xdev", "-u"), ("-m",)),
        (("python3", "-Im", "mod", "a"), "module", "mod", ("-I",), ("a",)),
        (("python3", "-c", "print(1)", "b"), "code", "print(1)", (), ("b",)),
        (("python3", "-cprint(1)"), "code", "print(1)", (), ()),
    ],
)
def test_a_command_line_is_taken_apart_as_python_does(words, kind, program, flags, args):
    found = understood(replace(plan("", kind="command"), command=words, program=None))
    assert (found.kind, found.program, found.interpreter_flags, found.args) == (kind, program, flags, args)


@pytest.mark.parametrize("words", [("python3",), ("python3", "-i"), ("python3", "-m"), ("python3", "-")])
def test_a_python_without_a_program_is_a_usage_error(words):
    with pytest.raises(UsageError):
        understood(replace(plan("", kind="command"), command=words, program=None))


def test_a_script_with_a_python_shebang_is_understood_and_one_of_another_language_is_not(tmp_path):
    ours = script(tmp_path / "tool", "#!/usr/bin/env python3\nprint(1)\n")
    found = understood(replace(plan("", kind="command"), command=(str(ours), "a"), program=None))
    assert (found.kind, found.program, found.args) == ("file", str(ours), ("a",))
    other = script(tmp_path / "perl-tool", "#!/usr/bin/env perl\n")
    with pytest.raises(UsageError, match="adapters here: python"):
        for_plan(replace(plan("", kind="command"), command=(str(other),), program=None))
    shell = script(tmp_path / "sh-tool", "#!/bin/sh\n")
    assert for_plan(replace(plan("", kind="command"), command=(str(shell),), program=None)).name == "wrapper"


async def test_an_unknown_server_is_a_usage_error(tmp_path, monkeypatch):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", "magic")
    with pytest.raises(UsageError, match="boot, stock or adapter"):
        await PYTHON.launch(plan(write(tmp_path, "x = 1\n")))


async def test_a_100_mb_flood_without_a_newline_is_held_back_and_arrives_whole(tmp_path):
    program = write(tmp_path, "import sys\nfor _ in range(400):\n    sys.stdout.write('x' * 262144)\n")
    async with started(plan(program)) as run:
        await run.ended()
        assert sum(len(each.data) for each in run.events(Output)) == 400 * 262144


def test_the_interpreters_that_the_tests_need_are_here():
    assert [each for each in NEEDED if each not in INTERPRETERS] == [], "of these there is no Python"
