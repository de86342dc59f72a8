"""The shape of replies: one envelope in JSON on every verb, text within its budget, truth about what was cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stillframe.ops import load_all
from stillframe.registry import OPERATIONS

from .conftest import User

BENCH = Path(__file__).resolve().parents[2] / "bench"
PROGRAM = """\
def f(a, items):
    b = a + 1
    return b, items

print(f(1, list(range(50))))
raise KeyError("end")
"""

CALLS: dict[str, list[str]] = {
    "launch": ["app.py", "--break", "app.py:2", "--stdin", "-"],
    "state": [], "status": [], "sessions": [], "capabilities": [], "tool": [], "breaks": [], "output": [],
    "stack": [], "frame": [], "locals": [], "scopes": [], "threads": [], "thread": ["t1"], "source": [], "modules": [],
    "expand": ["v1"], "eval": ["a"], "set": ["a", "2"], "raw": ["1 + 1"], "request": ["threads"],
    "restart-frame": [], "set-return": ["1"], "hotpatch": ["app.py"],
    "disasm": [], "memory": ["a"], "registers": [], "sources": [], "watch": ["a"], "break-insn": ["0x401000"],
    "step-back": [], "reverse-continue": [],
    "adapters": [], "doctor": ["python"], "setup": ["python", "--dry-run"], "configs": [], "config": [], "trust": ["--list"],
    "break": ["app.py:3"], "disable": ["b2"], "enable": ["b2"], "catch": ["uncaught"],
    "input": ["text"], "use": ["app"], "next": [], "jump": ["app.py:2"], "step": [], "finish": [],
    "unbreak": ["--all"], "until": ["app.py:6"], "continue": [], "exception": [], "pause": [], "wait": [], "cancel": [],
    "restart": [], "stop": [], "detach": [], "probe": ["app.py:2"],
    "crash": ["app.py"], "hang": ["app.py"], "attach": ["--pid", str(2**22 + 1)],
    "test": ["--runner", "nosuch"], "trace": ["app.py:2"],
    "hits": [], "hit-diff": ["h1", "h1"], "hit-trend": ["app.py:6", "missing"], "history": [], "events": [],
    "cross": ["f"], "save": ["before"], "diff": ["before", "r1"], "export": ["run.jsonl"],
    "import": ["run.jsonl", "--name", "theirs"], "prune": ["--days", "7", "--dry-run"], "replay": ["before"],
    "install": ["claude", "--dry-run"], "uninstall": ["claude", "--dry-run"],
}  # fmt: skip
"""Every verb with words that make sense in this order."""

FAILS = {
    "attach", "restart-frame", "set-return", "hotpatch", "disasm", "memory", "registers", "sources", "watch",
    "break-insn", "step-back", "reverse-continue", "configs", "hit-trend", "test",
}  # fmt: skip
"""Nothing to join, and what this debugger cannot do."""

OF_NO_SESSION = {
    "sessions", "probe", "crash", "hang", "trace", "adapters", "doctor", "setup", "configs", "config", "trust", "install",
    "uninstall", "hits", "hit-diff", "hit-trend", "history", "events", "cross", "save", "diff", "export", "import", "prune",
    "replay",
}  # fmt: skip


@pytest.mark.own_daemon  # some verbs name a run of the record by its number
def test_every_verb_answers_in_the_envelope_of_the_spec(user: User) -> None:
    load_all()
    assert set(CALLS) == set(OPERATIONS), "a verb was added: give it a line here"
    user.file("app.py", PROGRAM)
    for verb, words in CALLS.items():
        said = user.says(verb, *words, "--json")
        assert said.err == "", (verb, said)
        assert said.out.count("\n") == 1 and said.out.endswith("\n"), verb
        reply = json.loads(said.out)
        assert reply["op"] == verb
        if verb in FAILS:
            assert (reply["ok"], set(reply) >= {"error"}, said.code > 0) == (False, True, True), reply
            assert set(reply["error"]) >= {"code", "message"}
            assert reply["error"]["code"] != "unsupported" or reply["error"].get("hint"), "raw, or what can be done"
            continue
        assert (reply["ok"], said.code) == (True, 0), (verb, reply)
        assert isinstance(reply["result"], dict), verb
        assert "error" not in reply
        if verb not in OF_NO_SESSION:
            assert reply["session"] == "app", verb
            assert reply["via"]["tool"] == "debugpy", verb
            assert reply["via"]["version"], verb
        if verb == "launch":
            assert user.json("locals")["values"], "hand out handles"


def test_settings_are_told_as_they_hold_with_who_says_so(user: User) -> None:
    assert user.ok("config", "budget") == "budget = 4000\n"
    said = user.file("stillframe.toml", 'budget = 900\nrecord = false\nallow = "control"\n')
    assert user.ok("config").splitlines()[4:12:7] == [f"budget = 900  # {said}", f'allow = "control"  # {said}']
    assert user.json("config", "record")["settings"] == [{"name": "record", "value": False, "origin": str(said)}]
    assert "there is no setting budgt; there are wait, lease," in user.fails(
        "config", "budgt", code=1, error="not_found"
    )
    user.file("stillframe.toml", "timeout = 3\nalways-via = true\n[adapters.mine]\nclaims = []\n")
    assert user.ok("config").splitlines()[-2] == f"note: timeout in {said} is no setting, and changes nothing"
    assert user.ok("config", "wait") == "wait = 30\n"


def test_json_may_stand_before_or_after_the_verb(user: User) -> None:
    for words in (["--json", "sessions"], ["sessions", "--json"]):
        assert json.loads(user.says(*words).out)["result"] == {"sessions": []}


def test_lists_are_named_even_when_they_are_empty(user: User) -> None:
    user.file("app.py", "x = 1\n")
    user.ok("launch", "app.py", "--stop-on-entry")
    assert user.json("breaks") == {"breakpoints": []}
    user.json("stop")
    said = user.says("threads", "--json")
    reply = json.loads(said.out)
    assert (said.code, reply["ok"], reply["op"], reply["session"]) == (3, False, "threads", "app")
    assert reply["error"]["code"] == "wrong_state"
    assert reply["error"]["hint"] == {"op": "restart"}


WIDE = """\
import sys

def wide(n):
    if n:
        return wide(n - 1)
    {names}
    return n  # @here

print("x" * 50_000)
sys.stdout.flush()
wide(300)
"""


@pytest.fixture
def wide(user: User) -> User:
    names = "; ".join(f"name_{number} = 'value of {number} ' * 30" for number in range(200))
    text = WIDE.format(names=names)
    user.file("wide.py", text)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if row.endswith("@here"))
    user.here.joinpath("line").write_text(str(line))
    return user


def test_text_stays_within_its_budget_and_the_outcome_is_never_cut(wide: User) -> None:
    line = wide.here.joinpath("line").read_text()
    text = wide.ok("launch", "wide.py", "--break", f"wide.py:{line}")
    assert len(text) <= 4000
    head = f"wide stopped: b1 hit 1 at wide.py:{line} in wide\n"
    assert head in text
    for verb in ("state", "locals", "stack", "output", "modules", "threads", "source", "scopes", "breaks", "sessions"):
        for budget in (200, 1000, 4000, 20000):
            said = wide.ok(verb, "--budget", str(budget))
            assert len(said) <= max(budget, 100) * 1.1 + 80, (verb, budget, len(said))
    for budget in (100, 500, 4000):
        said = wide.ok("state", "--budget", str(budget))
        assert said.startswith(head)
        assert "of 201 shown" in said or "(0 of 201" in said or budget < 300
    assert "… 20 of 302 shown" in wide.ok("stack")
    wide.ok("stop")


LOUD = """\
import sys, threading

def deep(n, things):
    return things["missing"] if n == 0 else deep(n - 1, things)

def outer(turns):
    seen = {}
    for turn in range(turns):
        seen[turn] = "x" * turn if turn % 7 else [turn]
    try:
        deep(5, {each: "v" * 300 for each in range(30)})
    except KeyError as error:
        raise ValueError("a long message " * 60) from error

print("some output\\n" * 200)
if len(sys.argv) == 1:
    outer(90)
for number in range(9):
    threading.Thread(target=threading.Event().wait, name=f"worker-of-a-long-name-{number}", daemon=True).start()
threading.Event().wait()
"""
LOUD_TESTS = """\
import unittest

class Many(unittest.TestCase):
    def test_many(self):
        for number in range(9):
            with self.subTest(number=number):
                print("printed " * 50)
                self.assertEqual({each: "v" * each for each in range(30)}, {"w": number}, "x" * 500)
"""
REPORTS = {
    "crash": ("--", "python", "loud.py"),
    "hang": ("--timeout", "1", "--", "python", "loud.py", "on"),
    "trace": ("outer", "--", "python", "loud.py"),
    "probe": ("loud.py:9", "outer", "nobody", "--eval", "seen", "--expect", "turn < 5", "--", "python", "loud.py"),
    "test": ("--once", "--runner", "unittest", "test_loud.py"),
}


@pytest.mark.long
@pytest.mark.parametrize("verb", REPORTS)
def test_a_report_of_any_budget_begins_with_its_verdict_and_ends_with_what_was_recorded(user: User, verb: str) -> None:
    user.file("loud.py", LOUD)
    user.file("test_loud.py", LOUD_TESTS)
    verdict = {
        "crash": "at loud.py:13 in outer; exit 1",
        "hang": "still running after 1 s",
        "trace": "outer(turns=90)",
        "probe": "reached 90 times",
        "test": "failed",
    }
    for budget in (30, 250, 1000, 4000):  # 100 is the least that there is
        said = user.ok(verb, "--budget", str(budget), *REPORTS[verb])
        assert len(said) <= max(budget, 100), (budget, len(said))
        last = said.splitlines()[-1]
        assert last.startswith("recorded: values only"), (budget, said)
        assert budget < 250 or (last.endswith("(--hold keeps it live)") and verdict[verb] in said), (budget, said)


def test_json_stays_within_its_budget_and_says_what_was_cut(wide: User) -> None:
    line = wide.here.joinpath("line").read_text()
    wide.ok("launch", "wide.py", "--break", f"wide.py:{line}")
    for verb, words in (
        ("state", []), ("locals", ["--count", "500", "--text", "5000"]), ("stack", ["--count", "500"]),
        ("output", ["--since", "0.0.0.0", "--bytes", "100000"]), ("modules", ["--count", "10000"]),
        ("eval", ["'x' * 1000000", "--text", "1000000"]),
    ):  # fmt: skip
        said = wide.says(verb, *words, "--json")
        assert said.code == 0, said.err
        assert len(said.out.encode()) <= 65536 + 1, (verb, len(said.out))
        reply = json.loads(said.out)
        assert reply["ok"] is True
    small = wide.says("locals", "--count", "500", "--json", "--budget", "3000")
    assert len(small.out) <= 3001
    reply = json.loads(small.out)
    (cut,) = [each for each in reply["result"]["cut"] if each["part"] == "values"]
    assert cut["shown"] == len(reply["result"]["values"])
    assert cut["total"] == 201
    wide.ok("stop")


def test_an_error_of_any_length_is_bounded(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    for expression in ("{}['x' * 1_000_000]", "int('x' * 1_000_000)", "exec('(' * 300)"):
        said = user.says("eval", expression)
        assert (said.code, len(said.err) <= 4100) == (1, True), (expression, len(said.err))
        said = user.says("eval", expression, "--json")
        assert (said.code, len(said.out) <= 65537) == (1, True), (expression, len(said.out))
        assert json.loads(said.out)["error"]["code"] == "eval_failed"
    user.ok("stop")


def test_the_standard_job_takes_four_calls_and_few_characters(user: User) -> None:
    user.file("program.py", (BENCH / "program.py").read_text())
    said = [
        user.ok("launch", "program.py", "--break", 'program.py@"seen = {}"'),
        user.ok("eval", "len(words)"),
        user.ok("next", "--count", "10"),
        user.ok("continue"),
    ]
    assert sum(map(len, said)) <= 700, said
    assert "program exited 0" in said[-1]
