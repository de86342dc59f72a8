"""From a red test to evidence: the runner is found, the failure explained, green said to be green, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .conftest import User

PRICE = """\
def discount(basket, code, memo={}):
    if code not in memo:
        memo[code] = sum(basket) * 20 // 100
    return memo[code]


def net(basket, code):
    cut = discount(basket, code)
    return sum(basket) - cut
"""

TESTS = """\
import pytest
from price import net

@pytest.mark.parametrize("amount,want", [(100, 80), (50, 40)])
def test_again(amount, want):
    basket = [amount]
    print("the basket is", basket)
    got = net(basket, "A")
    assert got == want

def quantity(item):
    return item["qty"]

def test_deep():
    item = {"sku": 1}
    assert quantity(item) == 2

@pytest.fixture
def broken():
    raise RuntimeError("no database") from OSError("refused")

def test_with_fixture(broken):
    pass

@pytest.mark.skip(reason="later")
def test_skipped():
    pass

@pytest.mark.xfail
def test_expected_to_fail():
    assert 0

@pytest.mark.xfail(strict=True)
def test_strictly_expected_to_fail():
    pass

def test_good():
    pass
"""
OURS = ("--python", sys.executable, "--timeout", "100")


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A project that has plugins of pytest."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")


@pytest.mark.usefixtures("plugins")
def test_pytest_is_found_and_its_first_failure_explained_with_operands_locals_and_output(user: User) -> None:
    user.file("price.py", PRICE)
    user.file("tests/test_price.py", TESTS)
    report = user.json("test", *OURS, "--", "-p", "no:cacheprovider", "-n", "2")
    assert (report["runner"], report["verdict"], report["runtime"].split()[0]) == ("pytest", "red", "Python")
    assert report["version"] and report["interpreter"]
    assert report["counts"] == {"total": 8, "passed": 2, "failed": 4, "skipped": 1, "xfailed": 1}
    first = report["failures"][0]
    assert first["id"] == "tests/test_price.py::test_again[50-40]"
    assert first["expression"] == "assert got == want"
    assert {each["name"]: each["value"] for each in first["operands"]} == {"got": "30", "want": "40"}
    assert {each["name"]: each["value"] for each in first["frames"][0]["values"]}["basket"] == "[50]"
    assert first["output"] == "the basket is [50]\n"
    made = [(each["function"], each["arguments"][-1]["value"], each["result"], each["line"]) for each in first["calls"]]
    assert (report["ran"], made) == (2, [("net", "'A'", "30", 9), ("discount", "{'A': 20}", "20", 4)])
    assert user.json("hits", "tests/test_price.py:9")["hits"], "the failure is in the record"
    deep, fixture, strict = report["failures"][1:]
    assert [each["function"] for each in deep["frames"]] == ["quantity", "test_deep"]
    assert (deep["type"], deep["message"]) == ("KeyError", "'qty'")
    assert (fixture["when"], fixture["causes"]) == ("setup", ["OSError: refused"])
    assert "XPASS" in strict["message"]
    text = user.ok("test", "tests/test_price.py", *OURS, "--once")
    assert "4 of 8 failed (1 skipped, 1 xfailed)\n" in text
    assert "assert got == want    got=30 want=40\n" in text
    assert text.endswith("recorded: values only (--hold keeps it live)\n")
    assert "calls that made" not in text and "ran 2x" not in text
    short = user.ok("test", "--all", *OURS)
    assert "tests/test_price.py::test_deep at tests/test_price.py:12 in quantity\n" in short
    assert short.count("tests/test_price.py::") == 4
    assert user.json("sessions")["sessions"] == []


@pytest.mark.long
@pytest.mark.usefixtures("plugins")
def test_a_held_test_stands_in_the_frame_that_failed(user: User) -> None:
    user.file("price.py", PRICE)
    user.file("tests/test_price.py", TESTS)
    user.file("pytest.ini", "[pytest]\naddopts = -n 2\nasyncio_mode = auto\n")
    user.file(
        "tests/test_late.py",
        "async def later():\n    return 2\n\nasync def test_late():\n    got = await later()\n    assert got == 3\n",
    )
    (late,) = user.json("test", "test_late", "--once", *OURS)["failures"]
    assert (late["line"], late["operands"][0]["value"]) == (6, "2"), "plugins work, and xdist is off"
    report = user.json("test", "test_deep", "--hold", *OURS)
    assert (report["verdict"], report["held"]) == ("red", {"session": "test-pytest", "lease": 600.0})
    assert user.json("eval", "item['sku'] + 1")["values"][0]["value"] == "2"
    assert [each["name"] for each in user.json("expand", "item")["values"]] == ["['sku']"]
    assert user.json("frame", "f1")["frame"]["function"] == "test_deep"
    user.ok("stop")
    green = user.ok("test", "test_good", "--hold", *OURS)
    assert "green, 1 passed" in green
    assert [each for each in user.json("sessions")["sessions"] if each["state"] != "exited"] == []


GROUPED = """\
def parse(text):
    head, _, tail = text.partition("=")
    return int(tail)

def load(rows):
    found = {}
    for row in rows:
        try:
            found[row] = parse(row)
        except ValueError as error:
            raise RuntimeError("bad file") from error
    return found

def several(rows):
    errors = []
    for row in rows:
        try:
            parse(row)
        except ValueError as error:
            for number in range(30):
                error.add_note(f"step {number}")
            errors.append(error)
    raise ExceptionGroup("all", [ExceptionGroup("some", errors)])

def test_cause():
    load(["a=1", "b=x"])

def test_group():
    several(["a=1", "b=x"])
"""


@pytest.mark.long
def test_what_an_error_came_from_and_what_a_group_of_them_holds_is_told_with_values(user: User) -> None:
    user.file("test_load.py", GROUPED)
    rows = user.ok("test", "test_load.py::test_cause", *OURS).splitlines()
    at = rows.index("  from ValueError: invalid literal for int() with base 10: 'x' at test_load.py:3 in parse")
    assert rows[at + 1] == "    tail='x', text='b=x', head='b', _='='"
    rows = user.ok("test", "test_load.py::test_group", *OURS).splitlines()
    at = rows.index("  holds ValueError: invalid literal for int() with base 10: 'x' at test_load.py:3 in parse")
    noted = rows[at + 1]
    assert noted.startswith("    noted: step 0; step 1; ") and "; step 11; … 6 more notes; step 18; " in noted
    assert rows[at + 2] == "    tail='x', text='b=x', head='b', _='='"
    short = user.ok("test", "--all", "test_load.py::test_group", *OURS).splitlines()
    assert "  holds ValueError: invalid literal for int() with base 10: 'x' at test_load.py:3 in parse" in short
    told = user.ok("crash", "-c", "import test_load; test_load.test_group()")
    assert "    noted: step 0; " in told.replace("      noted", "    noted"), "of a member by crash, too"


FAILING = {
    "pytest": """\
import pytest

@pytest.mark.parametrize("n", range(30))
def test_n(n):
    assert n < 2
""",
    "unittest": "import unittest\n\nclass Many(unittest.TestCase):\n"
    + "".join(f"    def test_{n:02}(self):\n        self.assertLess({n}, 2)\n" for n in range(30)),
}


@pytest.mark.long
@pytest.mark.parametrize("runner", FAILING)
def test_of_more_failures_than_are_told_all_are_run_and_counted(user: User, runner: str) -> None:
    user.file("test_many.py", FAILING[runner])
    report = user.json("test", "--once", "--runner", runner, *OURS)
    assert report["counts"] == {"total": 30, "passed": 2, "failed": 28}
    assert (report["end"]["exit_code"], report.get("running")) == (1, None)
    assert len(report["failures"]) == 20 and "28 of 30 failed" in user.ok("test", "--runner", runner, "--all", *OURS)
    for budget in ("3000", "600"):
        cut = user.json("test", "--once", "--runner", runner, *OURS, "--budget", budget)
        assert (cut["verdict"], cut["counts"]["failed"]) == ("red", 28), "the totals are never cut"
        assert cut["failures"][0]["id"] == report["failures"][0]["id"] and len(cut["failures"]) < 20


@pytest.mark.long
def test_green_says_green_and_what_matches_nothing_names_the_nearest(user: User) -> None:
    user.file("price.py", PRICE)
    user.file("tests/test_price.py", TESTS)
    green = user.ok("test", "tests/test_price.py::test_good", *OURS)
    assert ": green, 1 passed" in green
    assert "recorded" not in green
    said = user.fails("test", "tests/test_price.py::test_agian", *OURS, code=1, error="not_found")
    assert "nearest: tests/test_price.py::test_again[100-80]" in said
    said = user.fails("test", "goood", *OURS, code=1, error="not_found")
    assert "nearest: tests/test_price.py::test_good" in said
    user.fails("test", "--runner", "nosuch", code=2, error="usage")


THREAD = """
def test_c():
    def work(): 1 / 0
    import threading
    thread = threading.Thread(target=work, name="w1")
    thread.start()
    thread.join()
"""


@pytest.mark.long
def test_a_file_of_tests_that_does_not_import_is_told_with_the_reason(user: User) -> None:
    user.file("test_bad.py", "import no_such_module\n\ndef test_a():\n    pass\n")
    user.file("test_ok.py", "def test_b():\n    pass\n")
    text = user.ok("test", *OURS)
    assert "1 file of tests could not be read, 1 test was not run" in text
    assert "test_bad.py could not be read at test_bad.py:1\n" in text
    assert "ModuleNotFoundError: No module named 'no_such_module'" in text
    user.file("test_bad.py", "def test_a(:\n    pass\n")
    alone = user.ok("test", "test_bad.py", *OURS)
    assert "SyntaxError" in alone and "pytest says" not in alone
    user.file(
        "test_bad.py", "def test_a():\n    raise OSError('no\\nno\\nno\\nyes')\n\ndef test_b(nobodys): pass\n" + THREAD
    )
    report = user.json("test", "--once", "test_bad.py", *OURS)
    said = "in test_bad.py::test_c, thread w1 ended by ZeroDivisionError: division by zero at test_bad.py:7 in work"
    assert report["notes"] == [said], "though no test failed by it"
    unknown = report["failures"][1]
    assert (unknown["when"], unknown["line"]) == ("setup", 4)
    assert unknown["message"].startswith("fixture 'nobodys' not found\navailable fixtures: "), unknown
    small = user.ok("test", "--once", "--budget", "300", "test_bad.py::test_a", *OURS)
    assert "\n  OSError: no\n  no x 2\n  yes\n" in small and len(small) <= 301
    user.file("conftest.py", "def pytest_configure(config):\n    raise RuntimeError('no database')\n")
    broken = user.ok("test", *OURS)
    assert f"\npytest says: internal error at {user.here}/conftest.py:2\nRuntimeError: no database\n" in broken + "\n"


UNITTESTS = """\
import unittest
from price import net

class Price(unittest.TestCase):
    def setUp(self):
        self.code = "A"

    def test_again(self):
        net([100], self.code)
        got = net([50], self.code)
        self.assertEqual(got, 40)

    def test_parts(self):
        for part in range(3):
            with self.subTest(part=part):
                self.assertLess(net([part * 10], "B"), 18)

    @unittest.expectedFailure
    def test_expected_to_fail(self):
        self.fail()

    def test_good(self):
        pass

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no database")

    def test_never(self):
        pass
"""


def test_unittest_tells_the_same_of_its_assertions_subtests_and_classes(user: User) -> None:
    user.file("price.py", PRICE)
    user.file("tests/__init__.py", "")
    user.file("tests/test_price.py", UNITTESTS)
    user.file("tests/test_bad.py", "import no_such_module\nimport unittest\n")
    report = user.json("test", *OURS, "--once")
    assert (report["runner"], report["verdict"]) == ("unittest", "red")
    counts = report["counts"]
    assert (counts["failed"], counts["passed"], counts["uncollected"]) == (3, 1, 1)
    alone = user.json("test", "tests/test_bad.py", *OURS, "--once", "--runner", "unittest")["counts"]
    assert alone == {"uncollected": 1}, "a module that cannot be read is no test"
    failures = {each["id"]: each for each in report["failures"]}
    again = failures["tests.test_price.Price.test_again"]
    assert [(each["name"], each["value"]) for each in again["operands"]] == [("got", "30")]
    assert failures["tests.test_price.Price.test_parts"]["label"] == "(part=2)"
    assert failures["setUpClass (tests.test_price.Broken)"]["message"] == "no database"
    assert "no_such_module" in failures["tests.test_bad"]["message"]
    text = user.ok("test", "tests/test_price.py::Price::test_again", *OURS, "--once", "--runner", "unittest")
    assert ": 1 of 1 failed\n" in text
    assert "self.assertEqual(got, 40)    got=30" in text
    said = user.fails(
        "test", "tests/test_price.py::Price::test_agian", *OURS, "--runner", "unittest", code=1, error="not_found"
    )
    assert "nearest: tests/test_price.py::Price::test_again" in said, said
    user.file(
        "checks.py", "import unittest\n\nclass Checks(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    )
    for selector in ("checks.py::Checks::test_ti", "./checks.py::Checks::test_ti", "checks.Checks.test_ti"):
        said = user.fails("test", selector, *OURS, "--runner", "unittest", code=1, error="not_found")
        assert "nearest: checks.py::Checks::test_it" in said, "of a file that is called as no test"
    for selector in ("Price.test_again", "Price::test_again"):  # of whichever module
        text = user.ok("test", selector, *OURS, "--once", "--runner", "unittest")
        assert ": 1 of 1 failed, 1 file unread\n" in text and "tests.test_price.Price.test_again" in text, text
    # What failed in a part of a test was handled there: the calls up to it led to it.
    text = user.ok("test", "tests/test_price.py::Price::test_parts", *OURS, "--runner", "unittest")
    assert "(part=2)" in text and "ran 2x" in text and "net(basket=[20], code='B') = 20" in text, text
    asks = (
        "import unittest\n\nclass Asks(unittest.TestCase):\n    def test_asks(self):\n        raise KeyboardInterrupt\n"
    )
    user.file("tests/test_asks.py", asks)
    text = user.ok("test", "tests/test_asks.py", *OURS, "--runner", "unittest")
    assert "; 0 passed, 1 failed of 1 by then\ntests.test_asks.Asks.test_asks at tests/test_asks.py:5\n" in text, text


DEADLY = """\
import ctypes, unittest

def poke(address):
    return ctypes.string_at(address)

class Deadly(unittest.TestCase):
    def test_a(self):
        pass

    def test_b(self):
        self.assertEqual(poke(0), b"")
"""


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_a_test_that_a_signal_ended_is_told_with_the_calls_that_its_runtime_wrote(user: User, runner: str) -> None:
    user.file("test_deadly.py", DEADLY)
    report = user.json("test", "--runner", runner)
    (failure,) = report["failures"]
    assert (report["verdict"], failure["type"], report.get("problem", "")) == ("unfinished", "SIGSEGV", "")
    assert [(each["function"], each["line"]) for each in failure["frames"]] == [("poke", 4), ("test_b", 11)]
    assert "in ctypes inside of it" in user.ok("test", "--runner", runner)


@pytest.mark.long
def test_tests_that_do_not_end_or_take_the_process_down_are_told_as_unfinished(user: User) -> None:
    user.file(
        "test_kill.py",
        "import os, time\n\ndef test_first():\n    while not os.path.exists('go'):\n        time.sleep(0.01)\n\n"
        "def test_kills():\n    os.kill(os.getpid(), 9)\n",
    )
    text = user.ok("test", "--do", "touch go; exec sleep 600", *OURS)
    assert "\ndo: touch go; exec sleep 600 " in text
    assert "ended by SIGKILL" in text and "in test_kill.py::test_kills; 1 passed of 2 by then" in text
    user.file(
        "test_kill.py", "import os\n\ndef test_asks(tmp_path):\n    os.chdir(tmp_path)\n    raise KeyboardInterrupt\n"
    )
    text = user.ok("test", *OURS)
    assert (
        ": exit 2 after " in text
        and "; 0 passed, 1 failed of 1 by then\ntest_kill.py::test_asks at test_kill.py:5\n" in text
    )
    user.file("test_kill.py", "import time\n\ndef test_long():\n    time.sleep(600)\n")
    report = user.json("test", "--timeout", "2")
    assert (report["verdict"], report["end"]["state"]) == ("unfinished", "running")
    assert user.json("sessions")["sessions"] == []


FLAKY = """\
import pathlib
import sys
import unittest

class Flaky(unittest.TestCase):
    def test_now_and_then(self):
        count = pathlib.Path("count")
        number = int(count.read_text()) + 1 if count.exists() else 1
        count.write_text(str(number))
        often = 3 if "_pydev_bundle" in sys.modules else 2  # a debugger changes how often it fails
        good = number % often > 0
        self.assertEqual(good, True)
"""


@pytest.mark.long
def test_a_flaky_test_is_counted_and_its_first_difference_told(user: User) -> None:
    user.file("test_flaky.py", FLAKY)
    report = user.json("test", "--repeat", "4", *OURS)
    told = report["repeated"]
    assert (told["runs"], told["failed"], told["first"], len(told["kinds"])) == (4, 2, 2, 1)
    assert report["failures"][0]["operands"][0]["value"] == "False"
    assert told["compared"].startswith("1 of 3 further runs failed, held at "), "both rates are told"
    assert "good True -> False" in user.ok("test", "--repeat", "2", "--until-fail", *OURS)
    user.fails("test", "--until-fail", code=2, error="usage")


SELDOM = """\
import pathlib
import unittest

def tick():
    count = pathlib.Path("count")
    number = int(count.read_text()) + 1 if count.exists() else 1
    count.write_text(str(number))
    return number

def pick():
    return 1 if tick() % 2 == 0 else 0

def note(seen):
    seen.append(1)

class Seldom(unittest.TestCase):
    def setUp(self):
        self.seen = []
        self.picked = [each for each in (pick(),)]

    def test_returns(self):
        self.assertEqual(self.picked, [0])
        note(self.seen)  # which a failing run does not come to

    def test_times(self):
        for _ in range(tick() % 2):
            note(self.seen)
        self.assertTrue(self.seen)

    def test_varies(self):
        self.assertNotEqual(tick() % 2, 0)
"""


@pytest.mark.long
def test_of_a_flaky_test_the_first_difference_is_the_call_that_returned_otherwise(user: User) -> None:
    user.file("test_seldom.py", SELDOM)
    text = user.ok("test", "test_seldom.Seldom.test_returns", "--repeat", "2", *OURS)
    assert "\nfirst difference: test_seldom.py:11 in pick, hit 1: returned 0 -> 1\n" in text, text
    assert "(1 of 3 further runs failed, recorded with the calls that the test made, 14 in all)" in text, text
    user.file("test_seldom.py", SELDOM.replace("1 if tick() % 2 == 0 else 0", "0"))
    text = user.ok("test", "test_seldom.Seldom.test_times", "--repeat", "2", *OURS)
    first = "first difference: test_seldom.py:13 in note, hit 1: reached once in the passing run, 0 in the failing one"
    assert first in text, text
    text = user.ok("test", "test_seldom.Seldom.test_varies", "--repeat", "2", *OURS)
    assert "\nvaries among passing runs, too: test_seldom.py:8 in tick, hit 1: returned " in text, text
    assert "(no difference there that passing runs do not have among themselves; " in text


@pytest.mark.long
def test_the_same_tests_in_an_earlier_revision_show_the_first_difference(user: User) -> None:
    user.file("price.py", "def net(amount):\n    return amount - 10\n")
    user.file(
        "test_price.py",
        "import unittest\nfrom price import net\n\nclass Price(unittest.TestCase):\n    def test_net(self):\n"
        "        got, seen = net(50), {id(self): 1}\n        self.assertEqual(got, 40)\n",
    )
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "price.py", "test_price.py"), ("commit", "-qm", "good")):
        subprocess.run([*git, *words], cwd=user.here, check=True)
    user.file("price.py", "def net(amount):\n    return amount - 11\n")
    ours = ("--python", os.path.relpath(sys.executable, user.here), "--timeout", "100")
    report = user.json("test", "--since", "HEAD", "--once", *ours)
    assert (report["verdict"], report["since"]["then"]) == ("red", "green, 1 passed")
    first = report["since"]["difference"]
    assert (first["file"], first["line"]) == ("test_price.py", 7)
    told = [(each["name"], each["old"], each["new"]) for each in first["differences"]]
    assert told == [("got", "40", "39")], "identities differ from run to run by themselves"
    text = user.ok("test", "--since", "HEAD", *ours)
    assert "\nfirst difference: price.py:2 in net, hit 1: returned 40 -> 39\n" in text, (
        "what a call gave is a value, too"
    )


@pytest.mark.long
def test_the_first_difference_is_the_line_that_made_it_though_what_was_returned_shows_nothing(user: User) -> None:
    user.file(
        "parts.py", "def halves(items):\n    cut = len(items) // 2\n    return iter([items[:cut], items[cut:]])\n"
    )
    user.file(
        "test_parts.py",
        "from parts import halves\n\ndef test_a():\n    assert list(halves([1, 2, 3])) == [[1], [2, 3]]\n",
    )
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "parts.py", "test_parts.py"), ("commit", "-qm", "good")):
        subprocess.run([*git, *words], cwd=user.here, check=True)
    user.file("parts.py", (user.here / "parts.py").read_text().replace("// 2", "// 4"))
    text = user.ok("test", "--since", "HEAD", *OURS)
    assert "\nfirst difference: parts.py:2 in halves, hit 1: cut 1 -> 0\n" in text, text


def test_a_runners_whole_command_is_taken_as_the_other_verbs_take_one(user: User) -> None:
    user.file(
        "test_it.py", "def test_sum():\n    got = 1 + 1\n    assert got == 3\n\n\ndef test_other():\n    assert 0\n"
    )
    for words in (("pytest",), ("python3", "-m", "pytest"), (sys.executable, "-m", "pytest"), ("uv", "run", "pytest")):
        rows = user.ok("test", "--once", "--", *words, "-k", "sum", "test_it.py").splitlines()
        assert rows[0].startswith("pytest ") and "1 of 1 failed" in rows[0], rows
        path = rows[0].split(", ")[1].split(" ")[0]
        assert path.startswith(("/", "…/")), "not as if it were a path from here"
        assert rows[1] == "test_it.py::test_sum at test_it.py:3", rows
    user.file(
        "test_case.py",
        "import unittest\nclass It(unittest.TestCase):\n    def test_a(self):\n        self.fail()\n"
        "    def test_b(self):\n        pass\n",
    )
    for words, counted in ((("-v", "test_case.It.test_b"), "green, 1 passed"), (("-p", "test_c*.py"), "1 of 2 failed")):
        text = user.ok("test", "--once", "--", sys.executable, "-m", "unittest", *words)
        assert counted in text, "a flag may stand before a test's name, or be one of discovery"
    user.file("sums.test.js", "require('node:test')('adds', () => require('assert').equal(1 + 1, 3));\n")
    rows = user.ok("test", "--once", "--", "node", "--test", "sums.test.js").splitlines()
    assert rows[0].startswith("node:test ") and rows[1] == "sums.test.js::adds at sums.test.js:1", rows
    user.fails("test", "--", "npm", "test", code=2, error="usage")
    user.fails("test", "--runner", "unittest", "--", "pytest", code=2, error="usage")
