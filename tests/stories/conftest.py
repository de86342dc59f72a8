"""How the stories are told: the real `dbg` command in a project of the test's own, and its daemon, ended afterwards."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from ..faces.conftest import CLIENT, DEADLINE, Said
from ..guard import eventually as eventually
from ..guard import gone as gone
from ..resident import Resident

CLIENT_LINE = shlex.join(CLIENT)
"""The command as a shell takes it."""


class User:
    """Somebody with a shell in a project's directory."""

    def __init__(self, here: Path, client: Sequence[str] = CLIENT) -> None:
        self.here = here
        self._client = client

    def file(self, name: str, text: str) -> Path:
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self._client, *words],
            cwd=self.here,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def says(self, *words: str, env: Mapping[str, str] | None = None) -> Said:
        """One call, however it ends. Nothing that could steer a terminal is ever printed."""
        return ended(self.start(*words, env=env))

    def ok(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        """The text of a call that must succeed."""
        said = self.says(*words, env=env)
        assert (said.code, said.err) == (0, ""), said
        return said.out

    def json(self, *words: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The result of a call that must succeed."""
        said = self.says(*words[:1], "--json", *words[1:], env=env)
        assert said.code == 0, said
        return result(said)

    def fails(self, *words: str, code: int, error: str) -> str:
        """The one line of a call that must fail in this very way, in text and in JSON."""
        said = self.says(*words)
        assert (said.code, said.out) == (code, ""), said
        assert said.err.startswith(f"error {error}: "), said.err
        assert said.err.count("\n") == 1, said.err
        return said.err

    def pid(self, *words: str) -> psutil.Process:
        return psutil.Process(self.json("status", *words)["pid"])


def ended(process: subprocess.Popen[bytes]) -> Said:
    out, err = process.communicate(timeout=DEADLINE)
    said = Said(out.decode(), err.decode(), process.returncode)
    for text in (said.out, said.err):
        assert not STEERS.search(text), text
    return said


STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
"""What steers a terminal, or hides text on it: C0, DEL, C1, bidi, zero widths."""


def result(said: Said) -> dict[str, Any]:
    reply = json.loads(said.out)
    assert reply["ok"] is True, reply
    found: dict[str, Any] = reply["result"]
    return found


@pytest.fixture
def user(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """A user of a fresh project; what the daemon still holds at the end is ended, and with it a daemon of the story's own."""
    made = User(tmp_path)
    if request.node.get_closest_marker("own_daemon"):
        yield made
        made.says("daemon", "stop")
        return
    resident: Resident = request.getfixturevalue("resident")
    resident.receive(monkeypatch)
    yield made
    if left := resident.take_leave():
        pytest.fail("left behind:\n  " + "\n  ".join(left), pytrace=False)


@pytest.fixture
def bound_user(tmp_path: Path) -> Iterator[User]:
    """A user whom permissions bind: root, too, once it has laid down its rights to read and to trace everything."""
    lay_down: list[str] = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv") or pytest.skip("root reads everything, and there is no setpriv")
        lay_down = [setpriv, "--bounding-set", "-dac_override,-dac_read_search,-sys_ptrace"]
    made = User(tmp_path, [*lay_down, *CLIENT])
    yield made
    made.says("daemon", "stop")
