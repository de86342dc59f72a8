"""One question, one call: `probe` reports each place truly, ends by itself and leaves nothing behind."""

from __future__ import annotations

import json
from typing import Any

import psutil
import pytest

from .conftest import User

PROGRAM = """\
import sys

def price(item, count):
    cost = len(item) * count
    return cost

def never():
    return "unreached"

for n in range(1, 5):
    price("fig", n)
print("end", sys.argv[1:])
"""
SCRIPT = """\
const words = process.argv.slice(2);

function price(item, count) {
  const cost = item.length * count;
  return cost;
}
function never() {
  return "unreached";
}
for (let n = 1; n < 5; n++) price("fig", n);
console.log("end", words);
module.exports = { never };
"""
"""The same in JavaScript, line 5 and line 8 with it; `never` is used, though nobody calls it."""
TOLD = {
    "py": ("python3", PROGRAM, "NameError", "end ['--flag']\n"),
    "js": ("node", SCRIPT, "ReferenceError", "end [ '--flag' ]\n"),
}


def by_place(report: dict[str, object]) -> dict[str, dict[str, object]]:
    return {each["location"]: each for each in report["places"]}  # type: ignore[attr-defined]


def local(hit: dict[str, Any], name: str) -> str:
    (found,) = [each["value"] for each in hit["locals"] if each["name"] == name]
    return str(found)


@pytest.mark.parametrize("ending", TOLD)
def test_each_place_is_reached_not_reached_or_unbound(user: User, ending: str) -> None:
    runner, text, raised, printed = TOLD[ending]
    name = user.file(f"shop.{ending}", text).name
    report = user.json(
        "probe", f"{name}:5", f"{name}:8", f"{name}:900", f"other.{ending}:3", "never", "--eval", "cost",
        "--eval", "nope", "--hits", "3", "--", runner, name, "--flag",
    )  # fmt: skip
    places = by_place(report)
    assert {where: each["state"] for where, each in places.items()} == {
        f"{name}:5": "reached",
        f"{name}:8": "not_reached",
        f"{name}:900": "unbound",
        f"other.{ending}:3": "unbound",
        "never": "not_reached",
    }
    reached = places[f"{name}:5"]
    assert reached["count"] == 3
    assert [hit[0]["value"] for hit in reached["values"]] == ["3", "6", "9"]  # type: ignore
    assert raised in reached["values"][0][1]["value"]  # type: ignore[index]
    assert [local(hit, "item") for hit in reached["hits"]] == ["'fig'"] * 3  # type: ignore
    assert [(hit["frame"]["function"], hit["frame"]["line"]) for hit in reached["hits"]] == [("price", 5)] * 3  # type: ignore
    assert "36" not in str(places[f"{name}:8"])
    assert (report["end"]["state"], report["end"]["exit_code"]) == ("exited", 0)
    assert report["end"]["output"] == printed
    assert report["command"] == [runner, name, "--flag"]
    assert user.json("sessions")["sessions"] == []


def test_a_function_that_never_came_is_told_as_of_a_program_that_is_over(user: User) -> None:
    user.file("shop.py", PROGRAM)
    text = user.ok("probe", "nowhere", "--", "python3", "shop.py")
    assert text.startswith("nowhere unbound: no function nowhere was found\n")


def test_a_place_with_a_condition_and_no_command_at_all(user: User) -> None:
    user.file("shop.py", PROGRAM)
    text = user.ok("probe", "shop.py:5 if count == 4", "--eval", "count", "--hits", "1")
    assert "shop.py:5 if count == 4 reached (1 hit taken)\n" in text
    assert "count=4" in text
    end, last = text.splitlines()[-2:]
    assert "shop.py exited: ended by the probe" in end and last == "recorded: values only (--hold keeps it live)"
    report = user.json("probe", "shop.py:5 if count == 99")
    assert report["places"][0]["state"] == "not_reached"
    assert report["assumed"] is True
    assert report["end"]["exit_code"] == 0
    report = user.json("probe", "shop.py:5", "--", "shop.py")
    assert report["places"][0]["state"] == "reached", "a source behind the --"


@pytest.mark.long
def test_a_program_that_fails_or_runs_on_is_reported_as_such(user: User) -> None:
    user.file("fail.py", "x = 1\nraise ValueError('bad')\n")
    report = user.json("probe", "fail.py:1")
    assert report["places"][0]["state"] == "reached"
    assert user.json("probe", "fail.py:3")["end"]["exit_code"] == 1
    user.file("spin.py", "import os\nopen('pid', 'w').write(str(os.getpid()))\nx = 1\nwhile x:\n    x = 1\ny = 2\n")
    report = user.json("probe", "spin.py:6", "--timeout", "3")
    assert (report["places"][0]["state"], report["end"]["state"]) == ("not_reached", "running")
    assert not psutil.pid_exists(int((user.here / "pid").read_text()))


@pytest.mark.long
@pytest.mark.own_daemon
@pytest.mark.parametrize("ending", TOLD)
def test_without_a_daemon_it_does_the_same_in_the_calling_process(user: User, ending: str) -> None:
    name = user.file(f"shop.{ending}", TOLD[ending][1]).name
    words = ("probe", f"{name}:5", "price", "--hits", "2", "--eval", "count", "--no-daemon")
    text = user.ok(*words)
    assert f"{name}:5 reached (2 hits taken)" in text
    report = user.json(*words)
    assert [each["state"] for each in report["places"]] == ["reached", "reached"]
    assert "no daemon runs" in user.says("daemon").out


def test_a_place_in_a_child_process_is_reached_there(user: User) -> None:
    user.file("shop.py", PROGRAM)
    user.file("parent.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'shop.py'], check=True)\n")
    report = user.json("probe", "shop.py:5", "--eval", "count", "--hits", "9", "--", "python3", "parent.py")
    place = report["places"][0]
    assert (place["state"], place["count"]) == ("reached", 4)
    assert (report["end"]["state"], report["end"]["exit_code"]) == ("exited", 0)


def test_every_hit_of_every_thread_is_counted(user: User) -> None:
    user.file(
        "many.py",
        "import threading\ngate = threading.Barrier(8)\n\ndef work(n):\n    gate.wait()\n    return n\n\n"
        "ts = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "for t in ts: t.start()\nfor t in ts: t.join()\n",
    )
    report = user.json("probe", "many.py:6", "--eval", "n", "--hits", "20")
    place = report["places"][0]
    assert place["count"] == 8
    assert sorted(int(hit[0]["value"]) for hit in place["values"]) == list(range(8))
    assert report["end"]["exit_code"] == 0


def test_the_json_of_a_probe_names_the_debugger_and_no_session(user: User) -> None:
    user.file("shop.py", PROGRAM)
    reply = json.loads(user.says("probe", "shop.py:5", "--json").out)
    assert reply["via"]["tool"] == "debugpy"
    assert "session" not in reply, "it is over, nobody could use it"
    assert not user.ok("probe", "shop.py:5").startswith("[via")
