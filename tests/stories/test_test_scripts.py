"""Scripts that run tests of unittest by themselves: Django's manage.py, found from the project, and others behind `--`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stillframe.adapters.runners import choose
from stillframe.adapters.runners.scripts import Script, parsed, unfolded
from stillframe.adapters.runners.spelled import Spelled, spelled
from stillframe.errors import UsageError

from ..interpreters import INTERPRETERS, NEWEST
from .conftest import User
from .test_test_runners import missing

MANAGE = """\
import os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
"""
SETTINGS = "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\nDATABASES = {}\n"
TESTS = """\
from django.http import HttpResponse
from django.test import SimpleTestCase
def total(prices, off=0):
    return sum(prices) - off * len(prices)
class Totals(SimpleTestCase):
    def test_plain(self):
        self.assertEqual(total([2, 3]), 5)
    def test_off(self):
        prices = [2, 3]
        self.assertEqual(total(prices, off=1), 4)
    def test_page(self):
        self.assertContains(HttpResponse("hello"), "bye")
"""
RUN = """\
import sys, unittest
class Sums(unittest.TestCase):
    def test_sum(self):
        x = 3
        self.assertEqual(x + 1, 5)
if __name__ == "__main__":
    unittest.main(argv=sys.argv)
"""


@pytest.mark.long
def test_djangos_tests_are_run_by_manage_py_wherever_the_call_comes_from(user: User) -> None:
    packages = Path(sys.prefix, "guests", ".".join(map(str, sys.version_info[:2])), "site-packages")
    if not (packages / "django").is_dir():
        missing("django")
    for name, text in (
        ("manage.py", MANAGE),
        ("settings.py", SETTINGS),
        ("shop/tests.py", TESTS),
        ("shop/__init__.py", ""),
    ):
        user.file(name, text)
    how = ("--python", sys.executable, "--timeout", "100")
    env = {"PYTHONPATH": str(packages)}
    report = user.json("test", *how, "--", "--parallel", "4", env=env)
    assert (report["runner"], report["verdict"]) == ("django", "red"), report
    assert report["counts"] == {"total": 3, "passed": 1, "failed": 2}
    assert report["version"][0].isdigit() and report["ran"] == 2
    first = report["failures"][0]
    assert (first["id"], first["file"], first["line"]) == ("shop.tests.Totals.test_off", "shop/tests.py", 10)
    assert [each["value"] for each in first["operands"]] == ["3"], first
    assert "total(prices=[2, 3], off=1) = 3" in user.ok("test", "shop/tests.py::Totals::test_off", *how, env=env)
    # From below it, by a file's name from there; and as people write it.
    below = User(user.here / "shop")
    assert "django" in below.ok("test", "tests.py::Totals::test_plain", *how, env=env)
    said = user.ok("test", *how, "--once", "--", "python", "manage.py", "test", "shop.tests.Totals.test_page", env=env)
    assert "1 of 1 failed" in said and "Couldn't find 'bye' in the following response" in said
    user.file("settings.py", SETTINGS.replace("['shop']", "['shopp']"))
    assert "No module named 'shopp'" in user.ok("test", *how, env=env)


def test_a_script_that_runs_tests_is_run_as_it_is(user: User) -> None:
    user.file("checks/run.py", RUN)
    said = user.ok("test", "--", sys.executable, "checks/run.py", "-v")
    assert "1 of 1 failed" in said and "> 5  self.assertEqual(x + 1, 5)    x + 1=4" in said
    user.file("checks/run.py", RUN.replace("x = 3", "x = 4"))
    assert "green, 1 passed" in user.ok("test", "--", sys.executable, "checks/run.py")
    user.file("checks/run.py", "raise SystemExit('no tests today')\n")
    assert "no tests today" in user.ok("test", "--", sys.executable, "checks/run.py")


HELD = """\
import unittest
def quantity(item):
    return item["qty"]
class Deep(unittest.TestCase):
    def test_deep(self):
        item = {"sku": 1}
        quantity(item)
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.12", NEWEST) if each in INTERPRETERS])
def test_a_test_is_held_in_the_frame_that_failed_on_every_version(user: User, version: str) -> None:
    user.file("test_deep.py", HELD)
    words = ("--runner", "unittest", "--hold", "--python", INTERPRETERS[version])
    assert "red: held at the first failure" in user.ok("test", "test_deep.py::Deep::test_deep", *words)
    assert user.ok("eval", "item['sku'] + 1").startswith("item['sku'] + 1 = 2")
    assert user.json("frame", "f1")["frame"]["line"] == 7
    user.ok("stop")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("manage.py test shop", Spelled(("shop",), "django")),
        ("./manage.py test", Spelled((), "django")),
        ("uv run manage.py test", Spelled((), "django")),
        ("poetry run python manage.py test -k x", Spelled(("-k", "x"), "django")),
        ("v/bin/python manage.py test", Spelled((), "django", "v/bin/python")),
        ("python manage.py check", Spelled(("manage.py", "check"), "script")),
        ("python tests/runtests.py forms", Spelled(("tests/runtests.py", "forms"), "script")),
        ("-x tests", Spelled(("-x", "tests"))),
    ],
)
def test_whose_runner_a_command_is(words: str, meant: Spelled) -> None:
    assert spelled(tuple(words.split())) == meant


def test_a_command_of_no_runner_names_the_verb_that_takes_any() -> None:
    for words in (("make", "test"), ("tox", "-q"), ("python", "-c", "pass")):
        with pytest.raises(UsageError, match="`dbg crash -- COMMAND` runs any command"):
            spelled(words)


SCRIPTS = {
    "lint": "eslint .",
    "unit": "cross-env MODE=ci mocha --ui tdd 'tdd/*.js'",
    "unit:fast": "mocha fast.js",
    "round": "npm run round",
    "page": "vitest --ui src",
}
TDD = Script({"MODE": "ci"}, (), ("--ui", "tdd"), ("tdd/*.js",))


@pytest.mark.parametrize(
    ("script", "meant"),
    [
        ("npm run lint && npm run unit -- --bail", TDD),
        ("yarn unit", TDD),
        ("pnpm -s run unit", TDD),
        ("run-s lint unit", TDD),
        ("npm-run-all --parallel 'unit:*'", Script(files=("fast.js",))),
        ("npm run round", Script()),
        ("npm run test", Script()),
    ],
)
def test_scripts_of_the_project_that_its_test_script_runs_are_followed(script: str, meant: Script) -> None:
    assert parsed(unfolded("test", {**SCRIPTS, "test": script}), "mocha") == meant


def test_the_page_that_vitest_would_open_is_none_of_a_report() -> None:
    assert parsed(unfolded("page", SCRIPTS), "vitest") == Script(files=("src",))


def test_a_workspace_whose_packages_run_their_own_tests_is_said_to_be_one(user: User) -> None:
    user.file("package.json", '{"private": true, "scripts": {"test": "npm test --workspaces"}}')
    user.file("one/a.test.js", "require('node:test').it('is one', () => {});\n")
    assert "note: the project's test script has each package run its own tests" in user.ok("test", "--timeout", "100")
    assert "each package" not in user.ok("test", "one", "--timeout", "100")


@pytest.mark.parametrize("package", [{"scripts": {"test": "c8 ava --verbose"}}, {"devDependencies": {"ava": "6"}}])
def test_a_runner_whose_reports_are_not_known_is_named_with_what_to_do_instead(
    tmp_path: Path, package: dict[str, object]
) -> None:
    (tmp_path / "package.json").write_text(json.dumps(package))
    (tmp_path / "a.test.js").write_text("import test from 'ava';\n")
    with pytest.raises(UsageError, match=r"run by ava, .* dbg launch --break FILE:LINE -- npx ava holds them"):
        choose("a.test.js", str(tmp_path), None)
