"""Programs that serve: when they are ready, the request that `--do` sends, and who of the family answers it."""

from __future__ import annotations

import pytest

from ..guard import free_port
from .conftest import User

HANDLER = """\
from http.server import BaseHTTPRequestHandler, HTTPServer
{imports}
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write({body})

    def log_message(self, *words):
        if not words:
            print("never")

HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""
LAST = 7
"""The last line of the handler: a step from there goes into the library, and lands only with the next request."""


@pytest.fixture
def port() -> int:
    return free_port()


def request(port: int) -> str:
    return f"python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:{port}/\").read())'"


def serve(user: User, port: int, name: str = "srv.py", imports: str = "", body: str = 'b"hello"') -> None:
    user.file(name, HANDLER.format(port=port, imports=imports, body=body))


@pytest.mark.parametrize("verb", ["next", "continue"])
def test_a_move_ends_with_the_request_that_was_waiting_for_it(user: User, port: int, verb: str) -> None:
    """Within the client's own deadline, which is far below the time that the move was given."""
    serve(user, port)
    user.ok("launch", "srv.py", "--ready", f":{port}", "--break", f"srv.py:{LAST}")
    held = user.json("wait", "--do", request(port))
    assert held["frame"]["line"] == LAST and held["do"][0]["running"]
    told = user.json(verb, "--timeout", "600")
    assert (told["state"], told["do"][0]["exit_code"], told["do"][0]["output"]) == ("running", 0, "b'hello'\n")
    assert ("its step is still under way" in told.get("notes", ())) is (verb != "continue")
    user.ok("stop")


def test_a_child_that_answers_tells_how_the_request_ended_and_what_is_bound(user: User, port: int) -> None:
    serve(user, port, "child.py", "import page", "page.body()")
    user.file("page.py", "def body():\n    return b'page'\n")
    user.file("parent.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\n")
    told = user.json("launch", "parent.py", "--ready", f":{port}", "--break", "page.py:2")
    assert told["state"] == "running", told
    assert [(each["state"], each["message"]) for each in told["breakpoints"]] == [("bound", "in parent.1")]
    assert [each["state"] for each in user.json("breaks")["breakpoints"]] == ["bound"]
    bound = {each["name"]: each.get("bound", 0) for each in user.json("sessions")["sessions"]}
    assert bound == {"parent": 1, "parent.1": 1}
    held = user.json("wait", "--do", request(port))
    assert held["frame"]["file"] == "page.py" and held["do"][0]["running"]
    assert user.json("continue", "--timeout", "600")["do"][0]["output"] == "b'page'\n"
    user.ok("stop")


def test_a_restart_waits_for_what_the_launch_waited_for(user: User, port: int) -> None:
    serve(user, port)
    user.ok("launch", "srv.py", "--ready", f":{port}")
    assert user.json("restart", "--timeout", "600")["ready"] == f"listens on :{port}"
    user.ok("stop")


def test_a_program_that_does_not_listen_is_not_called_ready(user: User, port: int) -> None:
    user.file("idle.py", "import time\nwhile True:\n    time.sleep(1)\n")
    told = user.json("launch", "idle.py", "--ready", f":{port}", "--timeout", "1")
    assert (told["state"], told["notes"]) == ("running", [f"not ready yet: nothing of it listens on :{port}"])
    user.ok("stop")


def test_a_probe_sends_its_request_when_the_program_serves(user: User, port: int) -> None:
    serve(user, port)
    report = user.json(
        "probe", f"srv.py:{LAST}", "--ready", f":{port}", "--do", request(port), "--", "python3", "srv.py"
    )
    assert report["places"][0]["state"] == "reached"


def test_a_probe_ends_with_its_request_where_the_place_was_not_come_to(user: User, port: int) -> None:
    serve(user, port)
    words = ("--ready", f":{port}", "--timeout", "600", "--do", request(port), "--", "python3", "srv.py")
    report = user.json("probe", f"srv.py:{LAST + 4}", *words)
    assert (report["places"][0]["state"], report["end"]["state"]) == ("not_reached", "running")
    assert report["end"]["do"][0]["exit_code"] == 0
