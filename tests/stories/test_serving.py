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
"""The last line of the handler: a step from its end goes into the library, and lands only with the next request."""


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
    if verb == "next":
        end = user.json("next", "--timeout", "600")
        assert (end["reason"], end["frame"]["line"]) == ("return", LAST), "no code of the user's goes on with it"
    told = user.json(verb, "--timeout", "600")
    assert (told["state"], told["do"][0]["exit_code"], told["do"][0]["output"]) == ("running", 0, "b'hello'\n")
    nothing = "nothing of your code goes on with what returned (dbg wait tells the next stop)"
    assert (nothing in told.get("notes", ())) is (verb != "continue")
    user.ok("stop")


def test_a_step_that_the_request_does_not_end_is_said_to_be_under_way(user: User, port: int) -> None:
    serve(user, port)
    user.ok("launch", "srv.py", "--break", 'srv.py@"serve_forever"')
    told = user.json("next", "--do", request(port), "--timeout", "600")
    assert (told["state"], told["do"][0]["exit_code"], told["do"][0]["output"]) == ("running", 0, "b'hello'\n")
    assert "its step is still under way" in told["notes"]
    user.ok("stop")


@pytest.mark.parametrize(
    ("move", "line"),
    [("continue", LAST), ("next", LAST), ("finish", LAST), ("step", LAST - 2), (f"until srv.py:{LAST - 1}", LAST - 1)],
)
def test_a_request_is_sent_to_a_program_that_is_held_as_it_moves_on(
    user: User, port: int, move: str, line: int
) -> None:
    """It listens before it is held, and answers when it is let go; the move ends in its handler."""
    serve(user, port)
    user.ok("launch", "srv.py", "--break", 'srv.py@"serve_forever"', "--break", f"srv.py:{LAST}")
    told = user.json(*move.split(), "--do", request(port), "--timeout", "600")
    assert (told["state"], told["frame"]["line"], told["frame"]["function"]) == ("stopped", line, "Handler.do_GET")
    assert told["do"][0]["running"] is True
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


LATE = """\
from http.server import BaseHTTPRequestHandler, HTTPServer
import os, time

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        while os.path.exists("/proc/" + open("asked").read().strip()):
            time.sleep(0.01)
        raise ValueError("too late")

HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""


@pytest.mark.parametrize("question", [("crash",), ("probe", "srv.py:12", "--hits", "2")], ids=lambda words: words[0])
def test_a_question_ends_with_its_request_though_the_program_is_held_after_that(
    user: User, port: int, question: tuple[str, ...]
) -> None:
    """Within the client's own deadline, which is far below the time that the run was given."""
    user.file("srv.py", LATE.format(port=port))
    asked = ("--ready", f":{port}", "--timeout", "600", "--do", f"echo $$ > asked; {request(port)}")
    said = user.json(*question, *asked, "--", "python3", "srv.py")
    assert said["end"]["do"][0]["output"] == "b'ok'\n"
    if question == ("crash",):
        assert said["failure"]["what"] == "ValueError: too late"
    else:
        assert said["places"][0]["count"] == 1
