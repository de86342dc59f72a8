"""`--since`: the same command in an earlier revision of the project, beside the present one."""

from __future__ import annotations

import subprocess

from .conftest import User

APP = """\
import sys
from prices import price


def total(rows):
    out = 0
    for row in rows:
        out += price(row)
    return out


print(total(["1", "x2", "3"]))
"""
GOOD = "def price(text):\n    return int(text.lstrip('x'))\n"
BAD = "# rewritten\ndef price(text):\n    return int(text)\n"


def git(user: User, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=user.here, check=True, capture_output=True)


def test_a_crash_is_told_beside_the_revision_that_had_none(user: User) -> None:
    user.file("app.py", APP)
    user.file("prices.py", GOOD)
    git(user, "init", "-q")
    git(user, "add", "app.py", "prices.py")
    git(user, "commit", "-qm", "one")
    user.file("app.py", APP.replace("out = 0\n", "out = 0\n    # as it was\n"))
    user.file("prices.py", BAD)
    told = user.ok("crash", "--since", "HEAD", "--", "python", "app.py")
    assert "ValueError: invalid literal" in told.splitlines()[0]
    assert "): ended well; exit 0" in told
    assert "first difference: app.py:9 in total, hit 3: reached 3 times then, 2 now" in told

    user.file("app.py", APP.replace('"1"', '"y1"'))
    found = user.json("crash", "--since", "HEAD", "--", "python", "app.py")["since"]
    assert (found["then"], found["end"]["exit_code"], found["places"]) == ("ended well", 0, 3)
    rows = found["difference"]["differences"][0]
    assert rows == {"name": "rows", "old": "['1', 'x2', '3']", "new": "['y1', 'x2', '3']"}
    user.file("again.py", "import app\n")
    told = user.ok("probe", "app.py:8", "--eval", "row", "--since", "HEAD", "--", "python", "again.py")
    assert "since HEAD" in told
    assert "\nnote: not there in HEAD, so the present one was taken: again.py\n" in told
    assert "): app.py:8 reached 3 times; exit 0" in told
    assert (
        "first difference: app.py:8 in total, hit 1: rows ['1', 'x2', '3'] -> ['y1', 'x2', '3'], row '1' -> 'y1'"
        in told
    )
    assert "what to run stands behind --" in user.fails("probe", "app.py:8", "app.py", code=2, error="usage")
    assert "app.py:8 reached" in user.ok("probe", "app.py:8", "--", "app.py"), "and so does a file that is no command"
    assert user.fails("crash", "--since", "nosuch", "--", "python", "app.py", code=2, error="usage")
    assert user.json("sessions")["sessions"] == []
