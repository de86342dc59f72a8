"""Exceptions: which of them stop the program, and what is told of each."""

from __future__ import annotations

import pytest

from ..conftest import INTERPRETERS
from .conftest import User

PROGRAM = """\
import json

class Broken(KeyError):
    pass

def look(order):
    try:
        return order["qty"]
    except KeyError as error:
        raise Broken("no quantity") from error  # line 10

def careful():
    try:
        look({})
    except Broken:
        pass
    try:
        json.loads("{")
    except ValueError:
        pass

careful()
look({"sku": 1})
"""


def test_an_uncaught_exception_is_told_with_its_cause_and_then_ends_the_program(user: User) -> None:
    user.file("raise.py", PROGRAM)
    text = user.ok("launch", "raise.py")
    head = text.splitlines()[0].split("] ", 1)[1]
    assert head == "raise stopped: Broken: 'no quantity', uncaught, at raise.py:10 in look"
    assert "from KeyError: 'qty'" in text
    assert "order={'sku': 1}" in text
    assert user.ok("exception").startswith("Broken: 'no quantity', uncaught")
    end = user.json("continue")
    assert (end["state"], end["exit_code"]) == ("exited", 1)
    assert "Broken: 'no quantity'" in end["stderr"]


def test_a_class_stops_at_every_raise_of_it_and_of_what_derives_from_it(user: User) -> None:
    user.file("raise.py", PROGRAM)
    first = user.json("launch", "raise.py", "--catch", "KeyError")
    assert (first["exception"]["type"], first["frame"]["line"]) == ("KeyError", 8)
    assert user.json("catch")["catch"] == ["KeyError"]
    user.json("catch", "Broken")
    assert user.json("continue")["frame"]["line"] == 10
    assert user.ok("catch", "off") == "catch off\n"
    end = user.json("continue")
    assert (end["state"], end["exit_code"]) == ("exited", 1)


def test_raised_stops_in_your_code_wherever_it_is_handled(user: User) -> None:
    user.file("raise.py", PROGRAM)
    seen: list[tuple[str, int]] = []
    told = user.json("launch", "raise.py", "--catch", "raised")
    while told["state"] == "stopped" and len(seen) < 20:
        seen.append((told["exception"]["type"], told["frame"]["line"]))
        told = user.json("continue")
    assert seen[0] == ("KeyError", 8)
    assert ("Broken", 10) in seen
    assert told["exit_code"] == 1


POOL = """\
from concurrent.futures import ThreadPoolExecutor

def careful(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        return -1

def job(n):
    careful(n)
    return 2 // n

with ThreadPoolExecutor() as pool:
    print(pool.submit(job, 0).exception())
"""


def test_user_stops_where_an_exception_leaves_your_code_for_a_library_that_catches_it(user: User) -> None:
    user.file("job.py", POOL)
    told = user.json("launch", "job.py", "--catch", "user")
    assert (told["exception"]["type"], told["exception"]["mode"]) == ("ZeroDivisionError", "user")
    assert (told["frame"]["line"], told["frame"]["function"]) == (11, "job"), "not line 5, which your own code handles"
    assert user.ok("exception").startswith("ZeroDivisionError: integer division or modulo by zero, leaving your code\n")
    assert user.ok("catch", "uncaught") == "catch uncaught\n"
    assert user.json("restart")["state"] == "exited", "in the end it was caught"


def test_what_is_no_class_name_is_refused_and_a_name_of_no_class_is_said_to_be_one(user: User) -> None:
    user.file("raise.py", PROGRAM)
    user.ok("launch", "raise.py", "--stop-on-entry")
    user.fails("catch", "Key Error", code=2, error="usage")
    user.fails("catch", "off", "KeyError", code=2, error="usage")
    for guessed, meant in {"all": "raised", "rased": "raised", "uncaugth": "uncaught", "unhandled": "uncaught"}.items():
        assert f"did you mean {meant}?" in user.fails("catch", guessed, code=2, error="usage")
    assert "did you mean raised?" in user.fails("launch", "a.py", "--catch", "throw", code=2, error="usage")
    user.fails("launch", "a.py", "--catch", "caught", code=1, error="unsupported")
    user.fails("exception", code=1, error="not_found")
    assert user.json("catch", "KeyEror")["notes"] == ["there is no exception class KeyEror so far; KeyError is one"]
    assert user.ok("catch", "Brokn", "IndexError") == (
        "catch Brokn IndexError\nnote: there is no exception class Brokn so far\n"
    )
    end = user.json("continue")
    assert end["notes"] == ["Brokn was never raised: there was no exception class of that name; Broken is one"]


def test_an_exception_in_a_thread_stops_there(user: User) -> None:
    user.file(
        "boom.py",
        "import threading\ndef boom(n):\n    return 1 // n\nt = threading.Thread(target=boom, args=(0,), name='b')\n"
        "t.start()\nt.join()\nprint('lived on')\n",
    )
    told = user.json("launch", "boom.py")
    assert (told["exception"]["type"], told["frame"]["line"], told["thread_name"]) == ("ZeroDivisionError", 3, "b")
    assert user.json("continue")["output"] == "lived on\n"


LEFT = """\
def f(n):
    x = n
    return 1 // x

def g():
    try:
        f(0)
    except ZeroDivisionError:
        print("caught")

g()
"""


def test_a_function_that_raised_is_not_said_to_have_returned(user: User) -> None:
    user.file("left.py", LEFT)
    user.ok("launch", "left.py", "--break", "left.py:2")
    out = user.json("finish")
    assert out["frame"]["function"] == "g"
    assert "returned" not in out
    user.ok("restart")
    steps = [user.json("next") for _ in range(3)]
    assert [each["frame"]["function"] for each in steps][-1] == "g"
    assert not any("returned" in each for each in steps)
    assert user.json("continue")["output"] == "caught\n"


GROUP = """import asyncio

def deep(n):
    raise ValueError(f"bad {n}")

async def child(n):
    await asyncio.sleep(0)
    deep(n)

async def inner():
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(child(2))

async def main():
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(child(1))
        tasks.create_task(inner())

asyncio.run(main())
"""


def test_the_exceptions_of_a_group_are_told_with_their_places(user: User) -> None:
    user.file("group.py", GROUP)
    text = user.ok("launch", "group.py")
    for told in (text, user.ok("exception")):
        assert "\n  ValueError: bad 1 at group.py:4 in deep\n" in told
        assert "\n    ValueError: bad 2 at group.py:4 in deep\n" in told
    info = user.json("exception")
    assert (info["members_total"], info["members"][1]["members"][0]["message"]) == (2, "bad 2")
    user.ok("stop")


STARRED = """\
def load(n):
    raise ExceptionGroup("many", [ValueError(f"a {n}"), KeyError("b")])

total = 5
try:
    load(total)
except* ValueError:
    raise RuntimeError(f"bad {total}")
"""


def test_a_group_that_a_module_makes_is_told_though_it_passed_no_frame(user: User) -> None:
    user.file("starred.py", STARRED)
    for words in (["starred.py"], ["--", "python3", "-m", "starred"]):
        text = user.ok("crash", *words)
        assert text.count("(2 sub-exceptions)") == 1
        assert text.startswith("ExceptionGroup:  (2 sub-exceptions) at starred.py:8 in <module>; exit 1 after "), text
        assert (
            "\n  RuntimeError: bad 5 at starred.py:8 in <module>, from ExceptionGroup: many (1 sub-exception)\n" in text
        )
        assert "\n  total=5\n" in text and "\nstderr: the error's own report, " in text, text


def test_library_frames_where_an_uncaught_exception_was_raised_are_folded_and_reachable(user: User) -> None:
    user.file("lib.py", "import json\n\ndef main():\n    return json.loads('{bad')\n\nmain()\n")
    text = user.ok("launch", "lib.py")
    assert "at lib.py:4 in main\n" in text and "stack: f0-f2: 3 in json < f3 main lib.py:4 < " in text
    assert "passed: 3 in json < main lib.py:4 < <module> lib.py:6" in user.ok("exception")
    assert "s='{bad'" in user.ok("frame", "f1")
    assert user.json("eval", "--frame", "f0", "type(self).__name__")["values"][0]["value"] == "'JSONDecoder'"
    user.ok("stop")


AGAIN = """\
def parse(text):
    return int(text)

def load(text):
    try:
        return parse(text)  # line 6
    except ValueError as error:
        raise error from None  # line 8

load("x")
"""


def test_a_frame_that_raises_again_what_it_caught_is_one_call(user: User) -> None:
    user.file("again.py", AGAIN)
    assert "stack: f0 parse again.py:2 < f1 load again.py:6 < f2 <module> again.py:10\n" in user.ok(
        "launch", "again.py"
    )
    assert "passed: parse again.py:2 < load again.py:6 < load again.py:8 < <module>" in user.ok("exception")
    user.ok("stop")
    user.ok("launch", "again.py", "--catch", "raised")
    told = user.ok("continue")
    assert "> 8          raise error from None" in told
    assert "stack: f0 load again.py:8 < f1 <module> again.py:10\n" in told
    user.ok("stop")
    assert "< load again.py:6  return parse(text)" in user.ok("crash", "again.py")


NAMED = """\
print("begun")
import json, side
class Mine(Exception):
    class Inner(Exception):
        pass
for error in (Mine("own"), Mine.Inner("inner"), side.Late("late"), json.JSONDecodeError("json", "", 0)):
    try:
        raise error
    except Exception:
        pass
print("end")
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.13") if each in INTERPRETERS])
def test_a_class_is_caught_by_every_name_it_has_and_nothing_is_imported_for_it(user: User, version: str) -> None:
    user.file("named.py", NAMED)
    user.file("side.py", "print('imported')\nclass Late(Exception):\n    pass\n")
    names = {  # of the class of each error, in the order in which they are raised
        ("Mine", "Inner", "Late", "JSONDecodeError"): ("own", "inner", "late", "json"),
        ("named.Mine", "Mine.Inner", "side.Late", "json.JSONDecodeError"): ("own", "inner", "late", "json"),
        ("__main__.Mine", "named.Mine.Inner"): ("own", "inner"),
        ("json.decoder.JSONDecodeError",): ("json",),
    }
    for forms, messages in names.items():
        catch = [word for form in forms for word in ("--catch", form)]
        told = user.json("launch", "named.py", *catch, "--python", INTERPRETERS[version])
        assert told["output"] == "begun\nimported\n", "in the program's own order"
        for message in messages:
            assert told["state"] == "stopped", (forms, told)
            assert told["exception"]["message"].startswith(message), forms
            told = user.json("continue")
        assert (told["state"], told["output"]) == ("exited", "end\n"), forms
    end = user.json("launch", "named.py", "--catch", "json.Nothing")
    assert (end["state"], end["output"]) == ("exited", "begun\nimported\nend\n")
    assert end["notes"] == ["json.Nothing was never raised: there was no exception class of that name"]
