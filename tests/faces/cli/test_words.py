"""The aliases that the contracts promise, each tried as an agent would type it."""

from __future__ import annotations

from typing import Any

import pytest

from stillframe.faces.cli import parser, words
from stillframe.faces.cli.catalogue import VERBS
from stillframe.faces.cli.usage import Usage

PROMISED: list[tuple[list[str], str, dict[str, Any]]] = [
    (["run", "app.py"], "launch", {"program": ["app.py"]}),
    (["start", "app.py"], "launch", {"program": ["app.py"]}),
    (["launch", "--config"], "configs", {}),
    (["run", "--config", "--json"], "configs", {}),
    (["launch", "--config", "App"], "launch", {"config": "App"}),
    (["close"], "stop", {}),
    (["end"], "stop", {}),
    (["kill"], "stop", {}),
    (["quit"], "stop", {}),
    (["terminate"], "stop", {}),
    (["delete", "b1"], "unbreak", {"ids": ["b1"]}),
    (["clear", "b1", "b2"], "unbreak", {"ids": ["b1", "b2"]}),
    (["breakpoints"], "breaks", {}),
    (["b", "a.py:3"], "break", {"at": "a.py:3"}),
    (["break", "set", "a.py:3"], "break", {"at": "a.py:3"}),
    (["b", "add", "a.py:3", "if", "x", ">", "2"], "break", {"at": "a.py:3", "condition": "x > 2"}),
    (["break", "set"], "break", {"at": "set"}),
    (["break", "add", "--if", "x"], "break", {"at": "add", "condition": "x"}),
    (["break", "add", "if", "x"], "break", {"at": "add", "condition": "x"}),
    (["break", "delete", "b1"], "unbreak", {"ids": ["b1"]}),
    (["breakpoints", "add", "a.py:3"], "break", {"at": "a.py:3"}),
    (["breakpoints", "list"], "breaks", {}),
    (["logpoint", "a.py:3", "x is {x}"], "break", {"at": "a.py:3", "log": "x is {x}"}),
    (["logpoint", "a.py:3", "--log", "x"], "break", {"at": "a.py:3", "log": "x"}),
    (["break", "a.py:3", "--condition", "x"], "break", {"at": "a.py:3", "condition": "x"}),
    (["launch", "-b", "a.py:3", "a.py"], "launch", {"breaks": ["a.py:3"], "program": ["a.py"]}),
    (["props", "v1"], "expand", {"value": "v1"}),
    (["inspect", "v1"], "expand", {"value": "v1"}),
    (["up"], "frame", {"which": "up"}),
    (["down"], "frame", {"which": "down"}),
    (["backtrace"], "stack", {}),
    (["bt"], "stack", {}),
    (["where"], "stack", {}),
    (["context"], "state", {}),
    (["info"], "state", {}),
    (["info", "locals"], "locals", {}),
    (["info", "breakpoints"], "breaks", {}),
    (["info", "threads"], "threads", {}),
    (["console"], "output", {}),
    (["step", "over"], "next", {}),
    (["step", "over", "3"], "next", {"count": "3"}),
    (["step", "into"], "step", {}),
    (["step", "out"], "finish", {}),
    (["s"], "step", {}),
    (["n"], "next", {}),
    (["c"], "continue", {}),
    (["out"], "finish", {}),
    (["next", "5"], "next", {"count": "5"}),
    (["rerun"], "restart", {}),
    (["launch", "-C", "/tmp", "a.py"], "launch", {"cwd": "/tmp", "program": ["a.py"]}),
    (["vars"], "locals", {}),
    (["list"], "source", {}),
    (["print", "x"], "eval", {"expressions": ["x"]}),
    (["p", "x"], "eval", {"expressions": ["x"]}),
    (["run-to", "a.py:3"], "until", {"at": "a.py:3"}),
    (["goto", "a.py:3"], "jump", {"at": "a.py:3"}),
]


@pytest.mark.parametrize(
    ("typed", "verb", "args"), PROMISED, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_guessed_word_does_what_was_meant(typed: list[str], verb: str, args: dict[str, Any]) -> None:
    line = parser.parse(typed, VERBS)
    assert line is not None
    assert (line.verb, line.args) == (verb, args)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["stack", "-n", "3"], ["stack", "--count", "3"]),
        (["stack", "--depth=3"], ["stack", "--count=3"]),
        (["launch", "--working-dir", "/x", "a.py"], ["launch", "--cwd", "/x", "a.py"]),
        (["locals", "f1"], ["locals", "--frame", "f1"]),
        (["locals", "t2", "--json"], ["locals", "--thread", "t2", "--json"]),
        (["wait", "5"], ["wait", "--timeout", "5"]),
        (["stop", "shop"], ["stop", "--session", "shop"]),
        (["stack", "--all"], None),  # not --allow
        (["breaks", "b1"], None),
        (["status", "-s", "shop", "other"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_near_miss_is_told_with_a_line_that_works_or_with_none(typed: list[str], meant: list[str] | None) -> None:
    with pytest.raises(Usage) as told:
        parser.parse(typed, VERBS)
    assert told.value.meant == meant
    assert meant is None or parser.parse(meant, VERBS) is not None


def test_limit_is_budget() -> None:
    line = parser.parse(["state", "--limit", "100"], VERBS)
    assert line is not None
    assert line.budget == 100


def test_every_alias_leads_to_a_verb_that_exists() -> None:
    assert {alias: meant for alias, meant in words.ALIASES.items() if meant not in VERBS} == {}
    assert {alias: meant for alias, meant in words.MEANT.items() if meant not in VERBS} == {}


def test_no_alias_hides_a_verb_and_no_two_verbs_share_one() -> None:
    declared = [alias for verb in VERBS.values() for alias in verb.get("aliases", ())]
    assert len(declared) == len(set(declared))
    assert not set(declared) & set(VERBS)
    ours = {alias: meant for alias, meant in words.ALIASES.items() if alias in declared}
    assert {alias: words.canonical(alias, VERBS) for alias in ours} == ours
