"""Which session a call is about: by name, by what lives here, and where another daemon holds it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from .conftest import User, eventually, gone

pytestmark = pytest.mark.own_daemon

LOOP = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


@pytest.fixture
def elsewhere(user: User, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of somebody whose runtime directory is another one (cron, sudo, a sandbox)."""
    path = tmp_path_factory.mktemp("run")
    path.chmod(0o700)
    env = {"XDG_RUNTIME_DIR": str(path)}
    yield env
    user.says("daemon", "stop", env=env)


def test_what_lives_with_another_daemon_is_not_lost_and_never_started_again(
    user: User, elsewhere: dict[str, str]
) -> None:
    user.file("loop.py", LOOP)
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    target, daemon = user.pid(), user.json("daemon", "status")["pid"]
    way = f"STILLFRAME_RUNTIME_DIR={Path(os.environ['XDG_RUNTIME_DIR']) / 'stillframe'} dbg"

    [there] = user.json("sessions", env=elsewhere)["sessions"]
    assert (there["name"], there["state"]) == ("loop", "elsewhere")
    assert way in there["note"] and str(daemon) in there["note"] and "restart" not in there["note"]
    for words in (["state"], ["restart"], ["breaks"], ["stop", "--session", "loop"], ["restart", "--session", "loop"]):
        said = user.says(*words, env=elsewhere)
        assert said.code == 3 and said.err.startswith("error no_session: loop lives with another daemon"), said
        assert way in said.err
    assert user.says("launch", "loop.py", "--name", "loop", env=elsewhere).err.startswith("error busy: ")
    assert "loop-2 running" in user.ok("launch", "loop.py", "--timeout", "0", env=elsewhere)
    user.ok("stop", env=elsewhere)

    assert user.json("state")["state"] == "stopped" and target.is_running()
    dying = psutil.Process(daemon)
    os.kill(daemon, signal.SIGKILL)
    eventually(lambda: gone(dying), "it never died")  # until then it lives there
    states = {each["name"]: each["state"] for each in user.json("sessions", env=elsewhere)["sessions"]}
    assert states == {"loop": "lost", "loop-2": "exited"}
    assert user.json("restart", "--session", "loop")["frame"]["line"] == 4


def test_a_session_that_was_stopped_is_not_meant_where_another_lives(user: User) -> None:
    user.file("loop.py", LOOP)
    user.file("done.py", "print('done')\n")
    user.ok("launch", "loop.py", "--timeout", "0")
    # Somebody who has gone to another directory meanwhile hears where it lives, and by its name reaches it from there.
    away = User(user.file("away/pyproject.toml", "").parent)
    for verb in ("next", "state"):
        assert f"no session here; there is loop in {user.here}: --session NAME" in away.fails(
            verb, code=3, error="no_session"
        )
    assert away.ok("sessions").startswith(f"no sessions here; there is loop in {user.here} (sessions --all)")
    assert away.ok("state", "-s", "loop").startswith("loop running")
    user.ok("launch", "done.py", "--break", "done.py:1")
    user.ok("stop", "--session", "done")
    assert user.ok("state").startswith("loop running")
    user.ok("launch", "done.py")
    assert user.ok("state").startswith("done exited 0"), "it ended by itself: its end is what is asked about"
    user.ok("stop", "--session", "loop")
    assert user.ok("state").startswith("done exited 0")


def test_all_sessions_of_a_project_are_ended_without_naming_one(user: User) -> None:
    user.file("loop.py", LOOP)
    for client in ("one", "two", "three"):
        user.ok("launch", "loop.py", "--no-wait", env={"STILLFRAME_CLIENT": client})
    other = {"STILLFRAME_CLIENT": "another"}
    assert user.says("stop", env=other).err.startswith(
        "error no_session: several sessions live here: loop, loop-2, loop-3;"
    )
    told = user.json("stop", "--all", env=other)
    assert sorted([told["session"], *told["also"]]) == ["loop", "loop-2", "loop-3"]
    assert {each["state"] for each in user.json("sessions")["sessions"]} == {"exited"}
