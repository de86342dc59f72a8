"""Whatever is wrong with a call: the exact exit code, one clear line on stderr, at once, and nothing left behind."""

from __future__ import annotations

import json
import os
import sys

import pytest

from .conftest import User


@pytest.fixture
def held(user: User) -> User:
    """A user whose program is held at line 2."""
    user.file("app.py", "x = [1, [2] * 100]\ny = 2\nz = 3\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    return user


def test_programs_that_cannot_be_run_say_why(user: User) -> None:
    for missing in ("missing.py", "missing.js", "missing.mjs", "missing.ts"):
        assert f"no such file: {user.here / missing}" in user.fails("launch", missing, code=1, error="launch_failed")
    (user.here / "folder").mkdir()
    assert "folder" in user.fails("launch", "folder", code=1, error="launch_failed")
    assert "nowhere.txt" in user.fails("launch", "-c", "1", "--stdin", "nowhere.txt", code=1, error="launch_failed")
    assert user.json("sessions")["sessions"] == []


def test_a_command_that_is_not_there_is_named_as_such(user: User) -> None:
    said = user.says("launch", "--", "nosuchprogram", "x")
    assert said.code in (1, 2)
    assert "nosuchprogram" in said.err
    assert "not found" in said.err or "no such" in said.err.lower() or "PATH" in said.err
    own = user.file("web/.venv/bin/nosuchprogram", "#!/bin/sh\n")
    own.chmod(0o755)
    said = user.fails("launch", "-C", "web", "--", "nosuchprogram", code=1, error="launch_failed")
    assert "no such program: nosuchprogram on PATH; there is .venv/bin/nosuchprogram" in said
    said = user.fails("launch", "-C", "web", "--entry", "--", "nosuchprogram", code=1, error="launch_failed")
    assert "--stop-on-entry" in said, "as the flag is written"
    user.file("app.py", "x = 1\n")
    for words in (
        ("crash", "python3 app.py"),
        ("crash", "--", "python3 app.py"),
        ("probe", "app.py:1", "--", "python3 app.py"),
    ):
        assert user.fails(*words, code=2, error="usage").endswith("as in: -- python3 app.py\n")
    assert "as in: app.py -- -v" in user.fails("launch", "app.py -v", code=2, error="usage")


def test_a_command_in_the_place_of_a_file_is_told_where_commands_stand(user: User) -> None:
    user.file("app.py", "x = 1\n")
    said = user.fails("launch", "--name", "it", "python3", "app.py", code=1, error="launch_failed")
    assert "python3 is a program on PATH, and a whole command stands behind `--`" in said
    assert said.endswith("(try: dbg launch --name it -- python3 app.py)\n")
    user.file("Makefile", "sort:\n\ttrue\n")
    assert "(try: dbg crash -- python3 app.py)" in user.fails(
        "crash", "python3", "app.py", code=1, error="launch_failed"
    )
    assert "--build 'make sort'" in user.fails("launch", "sort", code=1, error="launch_failed"), "ours, yet to be made"


def test_names_too_long_for_any_file_are_the_callers_fault_and_told_in_short(user: User) -> None:
    long = "y" * 5000
    for words in (["launch", f"{long}.py"], ["crash", "--", long], ["probe", f"{long}.py:3"], ["test", long]):
        if sys.version_info >= (3, 14):  # which says of such a file that it is not there
            assert user.says(*words).code in (1, 2)
            continue
        assert "no file can have a name so long" in user.fails(*words, code=2, error="usage")
    assert "no name of a machine" in user.fails("attach", f"{long}:3", code=1, error="launch_failed")
    assert len(user.says("z" * 100_000).err) < 4200


def test_a_directory_to_run_in_that_is_not_there_is_named(user: User) -> None:
    user.file("app.py", "x = 1\n")
    assert "nowhere" in user.fails("launch", "app.py", "--cwd", "nowhere", code=1, error="launch_failed")
    user.file("sub/there.py", "x = 1\n")
    assert "from here: sub/there.py" in user.fails("launch", "-C", "sub", "there.py", code=1, error="launch_failed")


def test_a_file_that_is_neither_program_nor_readable_says_so(user: User) -> None:
    user.file("notes.txt", "just words\n").chmod(0o644)
    said = user.says("launch", "--", "./notes.txt")
    assert said.code in (1, 2), said
    assert "notes.txt" in said.err
    assert said.err.count("\n") == 1


def test_a_file_without_the_right_to_read_says_so(bound_user: User) -> None:
    bound_user.file("secret.py", "x = 1\n").chmod(0)
    said = bound_user.fails("launch", "secret.py", code=1, error="launch_failed")
    assert "secret.py" in said and "not permitted" in said


def test_what_may_not_be_looked_at_is_said_to_be_that_and_the_session_goes_on(bound_user: User) -> None:
    bound_user.file("app.py", "x = 1\ny = 2\n")
    for name in ("hidden/app.py", "hidden/app.js"):
        bound_user.file(name, "x = 1\n")
    (bound_user.here / "link.py").symlink_to("hidden/app.py")
    (bound_user.here / "hidden").chmod(0)
    try:
        for words in (["hidden/app.py"], ["hidden/app.js"], ["link.py"], ["--", "python3", "hidden/app.py"]):
            assert "Permission denied" in bound_user.fails("launch", *words, code=1, error="launch_failed")
        said = bound_user.fails("launch", "app.py", "--python", "hidden/python", code=1, error="launch_failed")
        assert "hidden/python: Permission denied" in said
        said = bound_user.fails("launch", "app.py", "--cwd", "hidden", code=1, error="launch_failed")
        assert "not permitted to run in" in said
        assert "no such file" in bound_user.fails("launch", "lin.py", code=1, error="launch_failed")
        bound_user.ok("launch", "app.py", "--break", "app.py:2")
        for name in ("hidden/app.py", "link.py"):
            assert bound_user.ok("break", f"{name}:1").endswith(f"failed at {name}:1: not permitted to look at it\n")
        assert "link.py" not in bound_user.ok("break", "lin.py:1"), "of what cannot be read nothing is suggested"
        assert len(bound_user.json("breaks")["breakpoints"]) == 4
        assert bound_user.ok("stop") == "app ended\n"
    finally:
        (bound_user.here / "hidden").chmod(0o700)


def test_a_pipe_a_device_and_a_circle_of_links_are_no_files_and_keep_nobody_waiting(user: User) -> None:
    app = user.file("app.py", "x = 1\ny = 2\n")
    os.mkfifo(user.here / "pipe.py")
    (user.here / "circle.py").symlink_to("circle.py")
    (user.here / "zero.py").symlink_to("/dev/zero")
    for name in ("pipe.py", "zero.py"):
        for words in (["launch", name], ["launch", "--", "python3", name], ["probe", f"{name}:1"]):
            assert "it is no plain file" in user.fails(*words, code=1, error="launch_failed")
        user.fails("launch", "app.py", "--break", f'{name}@"x"', code=1, error="not_found")
    assert "symbolic links" in user.fails("launch", "circle.py", code=1, error="launch_failed")
    assert "a pipe that nobody writes to" in user.fails(
        "launch", "app.py", "--stdin", "pipe.py", code=1, error="launch_failed"
    )
    user.ok("launch", str(app), "--break", "app.py:2")
    for name in ("pipe.py", "zero.py"):
        assert user.ok("break", f"{name}:1").endswith(f"failed at {name}:1: it is no plain file\n")
    assert user.ok("break", "circle.py:1").endswith("failed at circle.py:1: no such file\n")
    assert user.ok("stop") == "app ended\n"


def test_a_syntax_error_is_the_answer_itself(user: User) -> None:
    user.file("broken.py", "x = 1\ndef (:\n    pass\n")
    said = user.says("launch", "broken.py", "--break", "broken.py:1")
    assert "SyntaxError" in said.out + said.err, said
    assert "broken.py" in said.out + said.err
    assert "2" in said.out + said.err
    user.says("stop")


def test_an_interpreter_that_is_none_or_too_old_says_so(user: User) -> None:
    user.file("app.py", "x = 1\n")
    assert "/nowhere/python" in user.fails(
        "launch", "app.py", "--python", "/nowhere/python", code=1, error="launch_failed"
    )
    fake = user.file("old/python", "#!/bin/sh\necho '2.7.18'\nexit 1\n")
    fake.chmod(0o755)
    said = user.says("launch", "app.py", "--python", str(fake))
    assert said.code in (1, 5), said
    assert said.err.count("\n") == 1
    assert "python" in said.err


def test_a_session_name_that_could_be_a_path_is_refused(user: User) -> None:
    for name in ("a/b", "..", "../x", "A", "", "x" * 65, "a b", "a\nb", "shop.x"):
        user.fails("launch", "-c", "1", "--name", name, code=2, error="usage")
        user.fails("state", "--session", name, code=2, error="usage")
    assert [path.name for path in user.here.iterdir()] == []


def test_handles_of_earlier_stops_and_of_nobody_are_told_apart(held: User) -> None:
    for nobody in ("v99", "v" + "9" * 5000, "v\u00b2", f"x[{'9' * 5000}]", f"x[-{'9' * 5000}]"):
        held.fails("expand", nobody, code=1, error="not_found")
    held.fails("expand", "99x", code=2, error="usage")
    assert held.json("output", "--wait", "--timeout", "0")["cursor"] == "0.0.0.0", "at once"
    held.fails("frame", "f7", code=1, error="not_found")
    held.fails("frame", "x", code=2, error="usage")
    held.fails("thread", "t7", code=1, error="not_found")
    held.fails("unbreak", "b7", code=1, error="not_found")
    held.fails("unbreak", code=2, error="usage")
    ref = next(each["ref"] for each in held.json("locals")["values"] if each["name"] == "x")
    held.json("next")
    held.fails("expand", ref, code=3, error="stale_handle")
    held.ok("eval", "pair = (1, [2, 3])", "word = 'ab'")
    for words in (["eval", ""], ["eval", "x", " "], ["set", "word", ""], ["set", "", "1"]):
        assert "empty" in held.fails(*words, code=2, error="usage")
    assert [each["value"] for each in held.json("expand", "pair")["values"]] == ["1", "[2, 3]"], (
        "though it is shown whole"
    )
    assert "shows: 'ab'" in held.fails("expand", "word", code=1, error="not_found")
    held.ok("stop")


def test_no_session_and_the_wrong_state_name_the_next_call(user: User) -> None:
    assert "dbg launch" in user.fails("locals", code=3, error="no_session")
    for verb in (["continue"], ["stack"], ["eval", "1"], ["pause"], ["stop"], ["restart"], ["breaks"], ["output"]):
        user.fails(*verb, code=3, error="no_session")
    user.fails("state", "--session", "nobody", code=3, error="no_session")
    user.file("spin.py", "while True:\n    pass\n")
    user.ok("launch", "spin.py", "--timeout", "0")
    for verb in (["continue"], ["next"]):
        assert "dbg wait" in user.fails(*verb, code=3, error="wrong_state")
    for verb in (
        ["locals"],
        ["eval", "1"],
        ["frame"],
        ["expand", "v1"],
        ["until", "spin.py:2"],
    ):
        assert "dbg pause" in user.fails(*verb, code=3, error="wrong_state")
    user.ok("stop")
    for verb in (["continue"], ["locals"], ["pause"], ["threads"], ["break", "spin.py:2"], ["input", "x"]):
        assert "dbg restart" in user.fails(*verb, code=3, error="wrong_state")
    assert "had ended already" in user.ok("stop")


NONSENSE = [
    ["break", "app.py:0"],
    ["break", "app.py:" + "9" * 5000],
    ["break", "app.py:1:" + "9" * 5000],
    ["break", "app.py:1", "--hit", "9" * 5000],
    ["break-insn", "0x0+" + "9" * 5000],
    ["jump", str(2**31)],
    ["source", "9" * 5000],
    ["frame", "9" * 5000],
    ["frame", "f\u00b2"],
    ["state", "--budget", "9" * 5000],
    ["next", "9" * 5000],
    ["events", "--since", "\u00b2"],
    ["attach", "localhost:\u00b2"],
    ["launch", "app.py", "--ready", ":\u00b2"],
    ["launch", "app.py", "--ready", ":" + "9" * 5000],
    ["mcp", "--http", "--port", "\u00b2"],
    ["break", ""],
    ["break", "app.py:2 if "],
    ["break", "app.py:2 if x", "--if", "y"],
    ["break", "app.py:2", "--hit", "x > 3"],
    ["break", "app.py:2", "--hit", "0"],
    ["next", "0"],
    ["next", "-1"],
    ["next", "many"],
    ["continue", "--timeout", "soon"],
    ["continue", "--timeout", "inf"],
    ["wait", "--timeout", "1e999"],
    ["wait", "--timeout", "nan"],
    ["request", "threads", "{"],
    ["request", "threads", "[1]"],
    ["set", "x"],
    ["jump", "main"],
    ["launch"],
    ["launch", "-c", "1", "--env", "novalue"],
    ["attach"],
    ["attach", "nowhere"],
    ["attach", "4711"],
    ["attach", "--pid", "1", "localhost:4711"],
    ["attach", "localhost:99999"],
    ["probe"],
    ["probe", "nofile", "--cwd", "."],
]


def test_words_that_make_no_sense_are_usage_errors(held: User) -> None:
    wrong = []
    for words in NONSENSE:
        plain, said = held.says(*words), held.says(*words, "--json")
        codes = (plain.code, plain.out, plain.err.count("\n"), said.code, json.loads(said.out or "{}").get("ok"))
        if codes != (2, "", 1, 2, False) or not plain.err.startswith("error usage: "):
            wrong.append((words, plain, said.out))
    assert wrong == []
    assert held.json("state")["frame"]["line"] == 2, "none of it moved the program"
    held.ok("stop")


def test_places_that_cannot_be_are_failed_never_set(held: User) -> None:
    assert held.ok("break", "app.py:900") == "b2 failed: app.py has 3 lines\n"
    assert "pending" in held.ok("break", "other.py:7") or "failed" in held.ok("break", "other.py:7")
    assert "no_such_function" in held.ok("break", "no_such_function")
    assert "nothing like it" in held.fails("break", 'app.py@"nothing like it"', code=1, error="not_found")
    end = held.ok("continue")
    assert "never hit: b2 failed (app.py has 3 lines), b3 " in end


@pytest.mark.long
def test_conditions_that_fail_say_so_and_do_not_end_the_program(user: User) -> None:
    user.file("loop.py", "for n in range(3):\n    print(n)\n")
    said = user.says("launch", "loop.py", "--break", "loop.py:2 if nope > 1")
    assert "NameError" in said.out + said.err, said
    user.says("stop")
    for wrong in ("n >", "n = 2", "n > 1)"):
        end = user.json("launch", "loop.py", "--break", f"loop.py:2 if {wrong}")
        assert (end["state"], end["never_hit"][0]["state"]) == ("exited", "failed"), (
            "it never stops, and never says that it will"
        )
        assert end["never_hit"][0]["message"].startswith("its condition: SyntaxError: "), end
        (place,) = user.json("probe", f"loop.py:2 if {wrong}")["places"]
        assert (place["state"], place["message"][:15]) == ("unbound", "its condition: ")


def test_a_usage_error_starts_nothing(user: User) -> None:
    user.file("app.py", "open('started', 'w').close()\nimport time\ntime.sleep(600)\n")
    for words in (["--ready", ":x"], ["--ready", ""], ["--catch", "no class"], ["--break", "f:0"], ["--env", "x"]):
        user.fails("launch", "app.py", *words, code=2, error="usage")
    assert user.json("sessions")["sessions"] == []
    assert not (user.here / "started").exists()
