"""Every way to start a program, and what reaches it."""

from __future__ import annotations

import os
import re
import sys

import pytest

from stillframe.adapters import for_plan
from stillframe.adapters.finding import located
from stillframe.model.plans import Plan

from ..guard import free_port
from ..interpreters import INTERPRETERS, SPREAD
from .conftest import User

SAY = "import os, sys\nprint(sys.argv[1:], os.getcwd(), os.environ.get('MINE'))\nprint(sys.stdin.read())  # @here\n"


def test_arguments_environment_directory_and_input_reach_the_program(user: User) -> None:
    user.file("say.py", SAY)
    user.file("in.txt", "from a file")
    (user.here / "below").mkdir()
    told = user.json(
        "launch", "say.py", "a b", "--env", "MINE=x=y", "--cwd", "below", "--stdin", "in.txt", "--", "--flag", "--json"
    )
    assert (told["state"], told["exit_code"]) == ("exited", 0)
    assert told["output"] == f"['a b', '--flag', '--json'] {user.here / 'below'} x=y\nfrom a file\n"


def test_a_whole_command_behind_two_dashes_is_run_as_a_shell_would(user: User) -> None:
    user.file("say.py", SAY)
    told = user.json("launch", "--break", "say.py:3", "--", "python3", "-X", "dev", "say.py", "--break", "1")
    assert (told["state"], told["frame"]["line"]) == ("stopped", 3)
    assert user.json("eval", "sys.flags.dev_mode")["values"][0]["value"] == "True"
    assert user.json("continue")["output"] == "\n", "its input is empty"
    assert "['--break', '1']" in user.json("output", "--since", "0.0.0.0")["stdout"]


@pytest.mark.long
def test_a_module_and_a_piece_of_code_are_launched_too(user: User) -> None:
    user.file("pack/__init__.py", "")
    user.file("pack/tool.py", "import sys\nname = __name__\nprint(name, sys.argv[1:])\n")
    text = user.ok("launch", "-m", "pack.tool", "--break", "pack/tool.py:3", "one", "--", "-two")
    assert text.startswith("[via debugpy ")
    assert "tool stopped: b1 hit 1 at pack/tool.py:3 in <module>\n" in text
    assert "name='__main__'" in text
    assert user.json("continue")["output"] == "__main__ ['one', '-two']\n"
    user.file("pack/__main__.py", "from . import tool\ndef main():\n    print('main')\nmain()\n")
    user.file("pack/steps.py", "def main():\n    return 1\nmain()\n")
    places = {"pack.steps": ("pack.steps!main", "steps!main"), "pack": ("pack!main", "pack.__main__!main")}
    for module, forms in places.items():
        for form in forms:
            told = user.json("launch", "-m", module, "--break", form)
            assert (told["state"], told.get("breakpoints")) == ("stopped", ["b1"]), form
            assert told["frame"]["function"] == "main"
            user.ok("stop")
    told = user.json("launch", "-c", "import sys; print(sys.argv)", "x")
    assert (told["exit_code"], told["output"]) == (0, "['-c', 'x']\n")


def test_a_script_with_a_shebang_is_launched_by_its_name(user: User) -> None:
    path = user.file("tool", f"#!{sys.executable}\nimport sys\nx = 1\nprint('ran', x, sys.argv)\n")
    path.chmod(0o755)
    told = user.json("launch", "--break", "tool:4", "--", "./tool")
    assert (told["state"], told["frame"]["line"]) == ("stopped", 4)
    assert user.json("continue")["output"] == "ran 1 ['./tool']\n"
    by_path = {"PATH": f"{user.here}:{os.environ['PATH']}"}
    assert user.json("launch", "--", "tool", env=by_path)["output"] == f"ran 1 ['{path}']\n"


def test_a_runtime_that_is_a_script_of_pythons_is_known_by_its_name(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip installs them: what stands behind the name is looked into only where nobody has that name."""
    real = located("node", os.environ, ".")
    script = user.file(
        "bin/node", f"#!{sys.executable}\nimport os, sys\nos.execv({real!r}, [{real!r}, *sys.argv[1:]])\n"
    )
    script.chmod(0o755)
    user.file("add.js", "let total = 1\ntotal += 2\nconsole.log(total)\n")
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    assert user.ok("launch", "--break", "add.js:2", "--", "node", "add.js").startswith("[via node ")
    assert "add.js:2 total 1 -> 3" in user.ok("next")
    for name, adapter in (("python3", "python"), ("ruby", "ruby"), ("go", "go"), ("cargo", "gdb")):
        script.with_name(name).write_text(script.read_text())
        script.with_name(name).chmod(0o755)
        command = (name, "run", "main.x")
        chosen = for_plan(Plan(command=command, kind="command", cwd=str(user.here), env=os.environ))
        assert chosen.name in (adapter, "lldb"), name


@pytest.mark.parametrize("version", [v for v in ("3.8", "3.13") if v in INTERPRETERS])
def test_the_interpreter_asked_for_runs_it(user: User, version: str) -> None:
    user.file("version.py", "import sys\nprint(sys.version_info[:2])\n")
    told = user.json("launch", "version.py", "--python", INTERPRETERS[version], "--break", "version.py:2")
    assert told["state"] == "stopped"
    assert user.json("continue")["output"] == f"({version.replace('.', ', ')})\n"


def test_the_active_environment_and_a_venv_beside_or_above_the_program_are_found(user: User) -> None:
    user.file("app/where.py", "import sys\nprint(sys.prefix)\n")
    user.file("other/below/where.py", "import sys\nprint(sys.prefix)\n")
    for name in ("active", "app/.venv", "other/venv"):
        user.file(f"{name}/pyvenv.cfg", f"home = {sys.base_prefix}/bin\n")
        (user.here / name / "bin").mkdir()
        (user.here / name / "bin/python").symlink_to(sys.executable)
    assert user.json("launch", "app/where.py")["output"] == f"{user.here / 'app/.venv'}\n"
    assert user.json("launch", "other/below/where.py")["output"] == f"{user.here / 'other/venv'}\n"
    active = user.json("launch", "app/where.py", env={"VIRTUAL_ENV": str(user.here / "active")})
    assert active["output"] == f"{user.here / 'active'}\n"


def test_stop_on_entry_and_all_code(user: User) -> None:
    user.file("enter.py", "import json\n\ntext = json.dumps([1])  # here\n")
    told = user.json("launch", "enter.py", "--stop-on-entry")
    assert (told["reason"], told["frame"]["line"]) == ("entry", 1)
    assert user.json("until", "enter.py:3")["frame"]["line"] == 3
    assert user.json("step")["state"] == "exited", "library code is stepped over"
    told = user.json("launch", "enter.py", "--all-code", "--break", "enter.py:3")
    inside = user.json("step")
    assert (inside["state"], inside["frame"]["function"]) == ("stopped", "dumps")
    assert inside["frame"]["file"].endswith("json/__init__.py")
    user.ok("stop")


SERVER = """\
import socket, sys
def answer(line):
    return line.upper()  # @answer
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
print("serving", flush=True)
while True:
    there, _ = server.accept()
    with there:
        there.sendall(answer(there.recv(100)))
"""
ASK = "import socket; s = socket.create_connection(('127.0.0.1', {port})); s.sendall(b'hi'); print(s.recv(9).decode())"


def test_a_server_is_ready_by_its_port_or_its_words_and_a_request_is_sent_while_it_is_held(user: User) -> None:
    user.file("server.py", SERVER)
    port = free_port()
    text = user.ok("launch", "server.py", str(port), "--ready", f":{port}", "--break", "server.py:3")
    assert re.search(rf"server running: listens on :{port}\b.*; b1 bound at server.py:3\n", text), text
    ask = f'"{sys.executable}" -c "{ASK.format(port=port)}"'
    refused = user.says("continue", "--do", ask).err
    assert "is running, not stopped (try: dbg wait --do" in refused
    held = user.json("wait", "--do", ask)
    assert (held["state"], held["frame"]["function"]) == ("stopped", "answer")
    assert held["do"][0]["running"] is True
    ran = user.json("continue", "--timeout", "20", "--do", "exit 3")
    assert ran["state"] == "running"
    done = [(each.get("exit_code"), each.get("output", "")) for each in ran["do"]]
    assert (3, "") in done
    while (0, "HI\n") not in done:  # the first command had not ended when that reply was made
        later = user.json("wait", "--do", "true")["do"]
        assert not any(each.get("exit_code") for each in later), later
        done += [(each.get("exit_code"), each.get("output", "")) for each in later]
    user.ok("stop")
    said = user.json("launch", "server.py", str(port), "--ready", "serving", "--break", "answer", "--do", ask)
    assert (said["state"], said["frame"]["function"]) == ("stopped", "answer")
    user.ok("stop")


def test_no_wait_returns_as_soon_as_it_runs_and_wait_brings_the_stop(user: User) -> None:
    user.file("slow.py", "import sys\nsys.stdin.readline()\nx = 1\ny = 2\n")
    told = user.json("launch", "slow.py", "--no-wait", "--stdin", "-", "--break", "slow.py:4")
    assert (told["state"], told["breakpoints"][0]["state"]) == ("running", "bound")
    assert user.json("wait", "--timeout", "0")["state"] == "running"
    assert user.json("input", "go") == {"bytes": 3}
    assert user.json("wait")["frame"]["line"] == 4
    assert user.json("continue")["exit_code"] == 0


def test_names_of_sessions_are_the_programs_own_and_free_again_after_the_end(user: User) -> None:
    user.file("My App.py", "x = 1\n")
    names = [user.ok("launch", "My App.py", "--stop-on-entry").split()[3] for _ in range(2)]
    assert names == ["my-app", "my-app-2"]
    user.fails("launch", "My App.py", "--name", "my-app", code=3, error="busy")
    assert user.json("state", "--session", "my-app-2")["state"] == "stopped"
    assert user.json("stop", "--all")["action"] == "terminated"
    assert user.ok("launch", "My App.py", "--name", "my-app").split()[3] == "my-app"


CALLED = """\
import asyncio, threading

def work():
    x = 3
    return 1 / 0

async def task():
    y = 4

asyncio.run(task())
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("version", SPREAD)
def test_code_of_a_line_is_the_users_own_also_where_library_code_calls_it(user: User, version: str) -> None:
    python = INTERPRETERS[version]
    told = user.json("launch", "--python", python, "--break", "work", "--break", "task", "-c", CALLED)
    assert (told["state"], told["frame"]["line"], told["breakpoints"]) == ("stopped", 8, ["b2"])
    told = user.json("continue")
    assert (told["frame"]["line"], told["breakpoints"], told["thread"]) == (4, ["b1"], "t2")
    told = user.json("continue")
    assert (told["frame"]["line"], told["exception"]["type"]) == (5, "ZeroDivisionError"), "nobody catches it"
    user.ok("stop")
