"""The grammar of the command line, as tables: what a line means, and what a wrong one is corrected to."""

from __future__ import annotations

from typing import Any

import pytest

from stillframe.faces.cli import parser, usage
from stillframe.faces.cli.catalogue import VERBS
from stillframe.faces.cli.words import spellings


def parsed(*words: str) -> parser.Line:
    line = parser.parse(list(words), VERBS)
    assert line is not None
    return line


def wrong(*words: str) -> usage.Usage:
    with pytest.raises(usage.Usage) as caught:
        parser.parse(list(words), VERBS)
    return caught.value


UNDERSTOOD: list[tuple[list[str], str, dict[str, Any]]] = [
    (["break", "shop.py:3"], "break", {"at": "shop.py:3"}),
    (["break", "shop.py:3", "--if", "x > 3"], "break", {"at": "shop.py:3", "condition": "x > 3"}),
    (["break", "--if=x > 3", "shop.py:3"], "break", {"at": "shop.py:3", "condition": "x > 3"}),
    (["break", "--if", "--x", "shop.py:3"], "break", {"at": "shop.py:3", "condition": "--x"}),
    (["break", "--log", "--- here", "shop.py:3"], "break", {"at": "shop.py:3", "log": "--- here"}),
    (["break", "shop.py:3", "if", "x", ">", "3"], "break", {"at": "shop.py:3", "condition": "x > 3"}),
    (["break", "shop.py:3 if x > 3"], "break", {"at": "shop.py:3 if x > 3"}),
    (["break", "shop.py:3", "--once"], "break", {"at": "shop.py:3", "once": True}),
    (["break", "--no-once", "shop.py:3"], "break", {"at": "shop.py:3", "once": False}),
    (["eval", "-1"], "eval", {"expressions": ["-1"]}),
    (["eval", "-1", "-.5", "-"], "eval", {"expressions": ["-1", "-.5", "-"]}),
    (["eval", "-x + 1"], "eval", {"expressions": ["-x + 1"]}),
    (["eval", "--", "-x", "--json"], "eval", {"expressions": ["-x", "--json"]}),
    (["eval", "a", "b", "--frame", "f1"], "eval", {"expressions": ["a", "b"], "frame": "f1"}),
    (["next", "5"], "next", {"count": "5"}),
    (["next", "--count", "5"], "next", {"count": "5"}),
    (["next", "--count=5"], "next", {"count": "5"}),
    (["attach", "-p5"], "attach", {"pid": "5"}),
    (["attach", "-p", "5"], "attach", {"pid": "5"}),
    (["attach", "127.0.0.1:5678"], "attach", {"address": "127.0.0.1:5678"}),
    (["set", "x", "5"], "set", {"target": "x", "value": "5"}),
    (["set", "x", "-5"], "set", {"target": "x", "value": "-5"}),
    (["set", "x", "=", "5"], "set", {"target": "x", "value": "5"}),
    (["launch", "app.py", "x", "y"], "launch", {"program": ["app.py", "x", "y"]}),
    (["launch", "app.py", "x", "--", "--verbose"], "launch", {"program": ["app.py", "x"], "command": ["--verbose"]}),
    (["launch", "--", "python", "app.py", "-v"], "launch", {"command": ["python", "app.py", "-v"]}),
    (["launch", "--", "a", "--", "b"], "launch", {"command": ["a", "--", "b"]}),
    (["launch", "-m", "http.server", "8000"], "launch", {"module": "http.server", "command": ["8000"]}),
    (["launch", "-m", "pytest", "--", "-q", "-k", "x"], "launch", {"module": "pytest", "command": ["-q", "-k", "x"]}),
    (["launch", "-c", "x = 1", "-b", "<string>:1"], "launch", {"code": "x = 1", "breaks": ["<string>:1"]}),
    (["launch", "-m", "app", "--", "--timeout", "3"], "launch", {"module": "app", "command": ["--timeout", "3"]}),
    (["launch", "-c", "print(1)", "a"], "launch", {"code": "print(1)", "command": ["a"]}),
    (["launch", "-m", "pytest", "--break", "a.py:3"], "launch", {"module": "pytest", "breaks": ["a.py:3"]}),
    (
        ["launch", "--break", "a.py:3", "app.py", "-b", "b.py:4 if x"],
        "launch",
        {"breaks": ["a.py:3", "b.py:4 if x"], "program": ["app.py"]},
    ),
    (["launch", "app.py", "--no-wait", "--no-children"], "launch", {"program": ["app.py"], "wait": False, "children": False}),
    (["launch", "app.py", "--env", "A=1", "--env=B=2=3"], "launch", {"program": ["app.py"], "env": ["A=1", "B=2=3"]}),
    (["launch", "-C", "/tmp", "app.py"], "launch", {"cwd": "/tmp", "program": ["app.py"]}),
    (["--stop-on-entry", "launch", "app.py"], "launch", {"stop_on_entry": True, "program": ["app.py"]}),
    (["--timeout=2", "continue"], "continue", {"timeout": "2"}),
    (["probe", "a.py:1", "f", "--", "python", "a.py"], "probe", {"places": ["a.py:1", "f"], "command": ["python", "a.py"]}),
    (["probe", "a.py:1", "-m", "app", "x"], "probe", {"places": ["a.py:1"], "module": "app", "command": ["x"]}),
    (["probe", "a.py:1", "-e", "x", "--eval", "y"], "probe", {"places": ["a.py:1"], "eval": ["x", "y"]}),
    (["output", "--kind", "stderr"], "output", {"kind": "stderr"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "verb", "args"), UNDERSTOOD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_line_means_one_operation_with_its_arguments(words: list[str], verb: str, args: dict[str, Any]) -> None:
    line = parsed(*words)
    assert (line.verb, line.args) == (verb, args)


@pytest.mark.parametrize(
    "words", [["--json", "next"], ["next", "--json"], ["next", "5", "--json"], ["--json", "next", "5"]]
)
def test_json_may_stand_anywhere(words: list[str]) -> None:
    assert parsed(*words).json


def test_json_behind_two_dashes_belongs_to_the_program() -> None:
    assert not parsed("launch", "app.py", "--", "--json").json


def test_flags_of_every_verb_may_stand_before_and_behind_it() -> None:
    for words in (
        ["--session", "shop", "--budget=90", "next"],
        ["next", "--allow", "inspect", "--session=shop", "--limit", "90"],
    ):
        line = parsed(*words)
        assert (line.session, line.budget) == ("shop", 90)
    assert parsed("next", "--allow", "inspect").allow == "inspect"


CORRECTED = [
    (["brek", "shop.py:3"], "dbg break shop.py:3"),
    (["--json", "brek", "shop.py:3"], "dbg --json break shop.py:3"),
    (["cotninue"], "dbg continue"),
    (["contin"], "dbg continue"),
    (["BREAK", "shop.py:3"], "dbg break shop.py:3"),
    (["breakpoint", "set", "a.py:1"], "dbg break a.py:1"),
    (["set-breakpoint", "list"], "dbg breaks"),
    (["breakpoint", "remove", "b1"], "dbg unbreak b1"),
    (["breakpoint", "a.py:1"], "dbg break a.py:1"),
    (["frobnicate"], None),
    (["step_over"], "dbg next"),
    (["resume"], "dbg continue"),
    (["app.py", "x"], "dbg launch app.py x"),
    (["./tool", "x"], "dbg launch ./tool x"),
    (["xyzzy"], None),
    (["x"], None),
    (["--sesion", "shop", "next"], "dbg --session shop next"),
    (["--jsno", "next"], "dbg --json next"),
    (["--xyzzy", "next"], None),
    (["next", "--cuont", "5"], "dbg next --count 5"),
    (["nxt", "--cuont", "5", "--jsno"], "dbg next --count 5 --json"),
    (["lauch", "app.py", "--brek", "a.py:3", "--verbose"], "dbg launch app.py --break a.py:3 -- --verbose"),
    (["next", "--cuont=5"], "dbg next --count=5"),
    (["break", "shop.py:3", "--conditon", "x > 3"], "dbg break shop.py:3 --condition 'x > 3'"),
    (["break", "shop.py:3", "--when", "x"], "dbg break shop.py:3 --if x"),
    (["launch", "app.py", "--verbose"], "dbg launch app.py -- --verbose"),
    (["export", "a.jsonl", "--to", "b"], None),
    (["eval", "--expr", "len(a)", "b"], "dbg eval 'len(a)' b"),
    (["eval", "--expression=a"], "dbg eval a"),
    (["save", "--name", "before"], "dbg save before"),
    (["break", "--at", "a.py:3", "--if", "x"], "dbg break a.py:3 --if x"),
    (["export", "--file", "a.html", "--run", "r1"], "dbg export a.html --run r1"),
    (["export", "before", "a.html", "--force"], "dbg export a.html --run before --force"),
    (["export", "my", "page"], "dbg export 'my page'"),
    (["hits", "-n", "2"], "dbg hits --top 2"),
    (["hits", "--last", "2", "--filter", "n > 2"], "dbg hits --top 2 --where 'n > 2'"),
    (["launch", "--program", "a.py"], "dbg launch a.py"),
    (["hit-trend", "a.py:3", "--x"], "dbg hit-trend a.py:3 -- --x"),
    (["launch", "app.py", "--session", "a"], "dbg launch app.py --name a"),
    (["--session=a", "attach", "--pid", "9"], "dbg attach --name=a --pid 9"),
    (["probe", "app.py:3", "--session", "a"], None),
    (["launch", "-m", "pytest", "-q", "-b", "a.py:3"], "dbg launch -m pytest -b a.py:3 -- -q"),
    (["launch", "app.py", "-v", "x", "--break", "a.py:3", "y"], "dbg launch app.py --break a.py:3 -- -v x y"),
    (["launch", "app.py", "-v", "--", "-w"], "dbg launch app.py -- -v -w"),
    (["launch", "app.py", "-m", "mod"], "dbg launch -m mod app.py"),
    (["--", "python", "app.py"], "dbg launch -- python app.py"),
    (["--timeout", "5", "continue"], "dbg continue --timeout 5"),
    (["--count", "5", "--json", "next"], None),
    (["eval", "-x"], "dbg eval -- -x"),
    (["print", "x", "--nested", "3"], None),
    (["test", "-k", "price"], "dbg test -- -k price"),
    (["test", "tests", "--maxfail=1"], "dbg test tests -- --maxfail=1"),
    (["trace", "total", "--wide"], None),
    (["continue", "--until", "5"], "dbg until 5"),
    (["locals", "--expand=v3"], "dbg expand v3"),
    (["continue", "--until", "--json"], None),
    (["output", "--follow"], None),
    (["trust", "--yes"], None),
    (["install", "--yes", "claude"], None),
    (["replay", "--back"], None),
    (["config", "--list"], None),
    (["catch", "--everything"], None),
    (["eval", "--frmae", "f1", "x"], "dbg eval --frame f1 x"),
    (["output", "--kind", "stdot"], "dbg output --kind stdout"),
    (["next", "--allow", "inspekt"], "dbg next --allow inspect"),
    (["next", "--json=yes"], "dbg next --json"),
    (["thread", "t1", "t2"], "dbg thread 't1 t2'"),
    (["trace", "net", "--call", "2", "app.py", "x"], "dbg trace net --call 2 -- python app.py x"),
    (["test", "test_a.py", "test_b.py"], "dbg test test_a.py -- test_b.py"),
    (["next", "--timeout"], None),
    (["next", "--timeout", "--json"], None),
    (["next", "--timeout", "1", "--timeout", "2"], None),
    (["next", "--budget", "many"], None),
    (["next", "5", "6"], None),
    (["state", "x"], "dbg state --session x"),
    (["state", "-1"], None),
    (["break"], None),
    (["next", "--xyzzy"], None),
    (["--json"], None),
]


@pytest.mark.parametrize(
    ("words", "meant"), CORRECTED, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_line_is_a_usage_error_with_the_line_that_was_meant(words: list[str], meant: str | None) -> None:
    error = wrong(*words)
    assert (usage.line(error.meant) if error.meant is not None else None) == meant


@pytest.mark.parametrize("words", [words for words, meant in CORRECTED if meant], ids=" ".join)
def test_a_corrected_line_is_itself_understood(words: list[str]) -> None:
    error = wrong(*words)
    assert error.meant is not None
    assert parser.parse(error.meant, VERBS) is not None


def test_an_error_of_a_missing_word_shows_an_example() -> None:
    assert "dbg break shop.py:14" in wrong("break").text()


def test_a_condition_of_a_verb_that_starts_a_program_is_told_where_it_stands() -> None:
    told = wrong("launch", "app.py", "-b", "app.py:5", "--if", "x > 1").text()
    assert told.endswith("as in: --break 'app.py:5 if x > 1'")
    assert (
        wrong("probe", "app.py:5", "--condition=x", "--", "python", "app.py").text().endswith("as in: 'app.py:5 if x'")
    )


@pytest.mark.parametrize("flag", ["--if", "--log", "--hit"])
def test_a_value_that_is_empty_is_not_taken_for_none(flag: str) -> None:
    assert f"{flag} needs a value; it is empty" in wrong("break", "app.py:5", flag, "").text()
    assert "--expect needs a value" in wrong("probe", "app.py:5", "--expect= ").text()


def test_no_words_at_all_ask_for_help() -> None:
    assert parser.parse([], VERBS) is None
    assert parser.parse(["--help"], VERBS) is None


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_understands_help_without_its_words(verb: str) -> None:
    assert parsed(verb, "--help").help
    assert parsed(verb, "-h").help


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_flag_of_every_verb_is_understood_in_every_spelling(verb: str) -> None:
    required = ["x" for field in VERBS[verb]["fields"] if field.get("required")]
    for field in VERBS[verb]["fields"]:
        for spelling in spellings(field):
            if field.get("positional"):
                continue
            value = field.get("choices", ["1"])[0]
            given = [spelling] if field["kind"] == "bool" else [spelling, value]
            args = parsed(verb, *required, *given).args
            wanted: Any = True if field["kind"] == "bool" else value
            assert args[field["name"]] == ([wanted] if field.get("many") else wanted), spelling


def test_the_shown_line_is_what_a_shell_would_read_back() -> None:
    import shlex

    words = ["eval", "it's", 'say "x"', "", "a b", "$HOME", "ü", "--if=x > 3"]
    assert shlex.split(usage.line(words)) == ["dbg", *words]


def test_bytes_that_are_no_text_and_control_characters_are_shown_escaped() -> None:
    assert usage.line(["eval", "\udcff\x1b[31m"]) == "dbg eval $'\\xff\\x1b[31m'"
