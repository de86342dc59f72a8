"""One daemon per user, whatever happens: racing clients, killed and stopped daemons, stale files, hostile directories."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stillframe.faces.cli import link, rendezvous

from ...guard import COOKIE, command, marked
from ..conftest import CLIENT, DEADLINE, ENTRY, TINY, Dbg, Said, Tiny, call, start_tiny

pytestmark = pytest.mark.own_daemon

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory to another user")


def runtime() -> Path:
    return Path(os.environ["XDG_RUNTIME_DIR"]) / "stillframe"


def status(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.out)["result"]
    return found


def daemons() -> list[int]:
    found = marked(COOKIE, os.environ[COOKIE])
    return [each.pid for each in found if any("daemon/__main__.py" in word for word in command(each))]


def starts() -> int:
    log = Path(os.environ["XDG_STATE_HOME"]) / "stillframe" / "daemon.log"
    return log.read_text().count(", version ")


def test_sixty_clients_that_find_no_daemon_start_one(dbg: Dbg) -> None:
    racing = [
        subprocess.Popen([*CLIENT, "sessions", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(60)
    ]
    ended = [(each.communicate(timeout=DEADLINE), each.returncode) for each in racing]
    assert [code for _, code in ended] == [0] * 60, ended
    assert all(json.loads(out)["ok"] for (out, _), _ in ended)
    assert len(daemons()) == 1
    assert starts() == 1


def test_the_daemon_is_started_by_the_first_call_and_found_by_the_next(dbg: Dbg) -> None:
    assert dbg("sessions").code == 0
    first = status(dbg("daemon", "status", "--json"))
    assert dbg("sessions").code == 0
    second = status(dbg("daemon", "status", "--json"))
    assert first["pid"] == second["pid"] == daemons()[0]


def test_the_daemon_stands_apart_from_its_caller(dbg: Dbg, tmp_path: Path) -> None:
    """Its own session, nothing of the caller's standard streams, directory or environment."""
    secret = {"SECRET_OF_THE_CALLER": "1", "PYTHONPATH": str(tmp_path), "STILLFRAME_SESSION": "x"}
    (tmp_path / "asyncio.py").write_text("raise SystemExit('the caller reached into the daemon')")
    assert dbg("sessions", env=secret, cwd=tmp_path).code == 0
    (pid,) = daemons()
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"SECRET_OF_THE_CALLER" not in environ
    assert b"STILLFRAME_SESSION" not in environ
    assert b"PYTHONPATH" not in environ
    assert os.getsid(pid) == pid
    assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"}
    assert os.readlink(f"/proc/{pid}/cwd") == str(runtime())


def test_the_daemon_of_a_background_job_hears_its_signals(dbg: Dbg) -> None:
    script = f"'{sys.executable}' -IS -c \"$0\" sessions & wait $!"
    subprocess.run(["sh", "-c", script, ENTRY], check=True, timeout=DEADLINE, stdout=subprocess.DEVNULL)
    (pid,) = daemons()
    fields = dict(row.split(":\t", 1) for row in Path(f"/proc/{pid}/status").read_text().splitlines())
    ignored = int(fields["SigIgn"], 16)
    assert not ignored & (1 << (signal.SIGINT - 1) | 1 << (signal.SIGQUIT - 1))


def test_a_killed_daemon_is_replaced_by_the_next_call(dbg: Dbg) -> None:
    assert dbg("sessions").code == 0
    (old,) = daemons()
    os.kill(old, signal.SIGKILL)
    assert dbg("sessions").code == 0
    (new,) = daemons()
    assert new != old


def test_a_stale_socket_and_pid_file_are_replaced(dbg: Dbg) -> None:
    runtime().mkdir(mode=0o700)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(runtime() / "daemon.sock"))
    stale.close()
    (runtime() / "daemon.pid").write_text("1 1 0.0\n")
    (runtime() / "daemon.lock").touch()
    assert dbg("sessions").code == 0
    assert status(dbg("daemon", "status", "--json"))["pid"] == daemons()[0]


def test_a_reused_pid_is_not_taken_for_the_daemon() -> None:
    runtime().mkdir(mode=0o700)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        started = rendezvous.started_at(bystander.pid)
        assert started.isdigit()
        (runtime() / "daemon.pid").write_text(f"{bystander.pid} {int(started) - 1} 0.1\n")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(runtime() / "daemon.sock"))
        listener.listen()
        said = call("daemon", "stop", env={"STILLFRAME_ANSWER_SECONDS": "0.3"})
        listener.close()
        assert said.code == 70
        assert "does not answer" in said.err
        assert bystander.poll() is None
        bystander.communicate(b"\n")
    (runtime() / "daemon.sock").unlink()
    (runtime() / "daemon.pid").unlink()


def test_a_daemon_that_does_not_answer_is_named_and_can_be_ended(tiny: Tiny) -> None:
    tiny.process.send_signal(signal.SIGSTOP)
    impatient = {"STILLFRAME_ANSWER_SECONDS": "0.3"}
    said = call("tool", env=impatient)
    assert (said.code, said.out) == (70, "")
    assert f"pid {tiny.process.pid}" in said.err
    assert "dbg daemon stop" in said.err
    assert call("daemon", "stop", env=impatient).code == 0
    assert tiny.process.wait(DEADLINE) == -signal.SIGKILL
    (runtime() / "daemon.sock").unlink()
    (runtime() / "daemon.pid").unlink()


@pytest.mark.long
def test_a_daemon_that_falls_silent_in_mid_call_is_named(tiny: Tiny) -> None:
    waiting = subprocess.Popen(
        [*CLIENT, "wait"], env={**os.environ, "STILLFRAME_ANSWER_SECONDS": "1"}, stderr=subprocess.PIPE, text=True
    )
    for _ in range(2000):
        if json.loads(call("tool").out)["waiting"]:
            break
    tiny.process.send_signal(signal.SIGSTOP)
    _, err = waiting.communicate(timeout=DEADLINE)
    tiny.process.send_signal(signal.SIGCONT)
    assert waiting.returncode == 70
    assert "does not answer" in err
    assert call("tool").code == 0


def test_a_second_daemon_gives_way_to_the_first(tiny: Tiny) -> None:
    done = second_daemon()
    assert done.returncode == 1
    assert f"another daemon (pid {tiny.process.pid}) serves" in done.stdout
    assert call("tool").code == 0


def second_daemon() -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TINY), "1"], capture_output=True, text=True, timeout=DEADLINE)


def test_a_daemon_whose_socket_was_removed_is_found_again(tiny: Tiny) -> None:
    call("pause")
    (runtime() / "daemon.sock").unlink()
    assert second_daemon().returncode == 1
    assert json.loads(call("tool").out)["live"] == 1


def test_the_lock_file_is_never_deleted_and_the_next_daemon_uses_the_same(tiny: Tiny) -> None:
    inode = (runtime() / "daemon.lock").stat().st_ino
    tiny.end()
    again = start_tiny()
    assert (runtime() / "daemon.lock").stat().st_ino == inode
    again.end()


# directories


def refused(path: Path) -> str:
    said = call("sessions", env={"STILLFRAME_RUNTIME_DIR": str(path)})
    assert (said.code, said.out) == (7, "")
    daemon = subprocess.run(
        [sys.executable, str(TINY), "1"],
        env={**os.environ, "STILLFRAME_RUNTIME_DIR": str(path)}, capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert daemon.returncode == 1
    assert daemon.stdout.strip() in said.err
    return said.err


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert "symbolic link" in refused(tmp_path / "link")


def test_a_directory_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose").chmod(0o755)
    assert "mode 755" in refused(tmp_path / "loose")


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "not a directory" in refused(tmp_path / "file")


@as_root
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir(mode=0o700)
    os.chown(tmp_path / "foreign", 65534, 65534)
    assert "uid 65534" in refused(tmp_path / "foreign")


@pytest.mark.parametrize("name", ["daemon.lock", "start.lock"])
@pytest.mark.parametrize("planted", ["folder", "link"])
def test_a_lock_that_is_no_file_is_an_error_and_not_followed(tmp_path: Path, name: str, planted: str) -> None:
    home = tmp_path / "run"
    home.mkdir(mode=0o700)
    if planted == "folder":
        (home / name).mkdir()
    else:
        (home / name).symlink_to(tmp_path / "elsewhere")
    said = call("sessions", env={"STILLFRAME_RUNTIME_DIR": str(home)})
    assert (said.code, said.out) == (70, "")
    assert name in said.err
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    assert "parent directory" in refused(tmp_path / "no" / "such")
    assert "nothing can be made" in refused(Path("/proc/stillframe"))


def test_without_a_runtime_directory_a_private_one_is_made_in_the_temporary_one(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)}
    assert call("sessions", env=env).code == 0
    made = tmp_path / f"stillframe-{os.geteuid()}"
    assert status(call("daemon", "status", "--json", env=env))["socket"] == str(made / "daemon.sock")
    assert made.stat().st_mode & 0o777 == 0o700
    assert call("daemon", "stop", env=env).code == 0


@as_root
def test_a_runtime_directory_of_another_user_is_passed_over(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, 65534, 65534)
    env = {"XDG_RUNTIME_DIR": str(foreign), "TMPDIR": str(tmp_path)}
    assert call("sessions", env=env).code == 0
    assert list(foreign.iterdir()) == []
    assert call("daemon", "stop", env=env).code == 0


@as_root
def test_a_hostile_directory_of_our_name_in_the_temporary_one_is_refused(tmp_path: Path) -> None:
    planted = tmp_path / f"stillframe-{os.geteuid()}"
    planted.mkdir(mode=0o777)
    os.chown(planted, 65534, 65534)
    said = call("sessions", env={"XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)})
    assert said.code == 7
    assert list(planted.iterdir()) == []


def test_a_path_too_long_for_a_socket_works_all_the_same(tmp_path: Path, dbg: Dbg) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir(mode=0o700)
    env = {"STILLFRAME_RUNTIME_DIR": str(long)}
    assert dbg("sessions", env=env).code == 0
    assert dbg("daemon", "stop", env=env).code == 0


@pytest.mark.parametrize("home", ["", "/proc/no-home", "missing"])
def test_without_a_home_the_log_stays_beside_the_socket(home: str, dbg: Dbg) -> None:
    env = {"HOME": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    if home == "missing":
        env["HOME"] = "/proc/self/nowhere"
    assert dbg("sessions", env=env).code == 0
    assert status(dbg("daemon", "status", "--json", env=env))["log"] == str(runtime() / "daemon.log")
    assert dbg("daemon", "stop", env=env).code == 0
    (runtime() / "daemon.log").unlink()


def test_a_daemon_that_could_not_start_has_left_its_place_before_it_says_why(dbg: Dbg) -> None:
    """Else the client that it tells finds it listening still, and takes a dying daemon for another one that lives.

    Both on one processor: whoever is told something there runs before the one who told it goes on.
    """
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        for _ in range(5):
            reading, writing = os.pipe()
            line = [*link.daemon_command()[:-1], f"--ready-fd={writing}"]
            env = {**os.environ, "STILLFRAME_WAIT": "long"}
            with subprocess.Popen(line, env=env, pass_fds=[writing]) as dying:
                os.close(writing)
                said = os.read(reading, 4096)
                found = link.connect(str(runtime()))
                os.close(reading)
                assert dying.wait(DEADLINE) == 1
            assert b"wait in the environment is a number" in said
            assert found is None
    finally:
        os.sched_setaffinity(0, everywhere)
