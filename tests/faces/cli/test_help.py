"""Help comes from the catalogue alone, names every verb and flag, and shows lines that work."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from stillframe.faces.cli import help as pages
from stillframe.faces.cli import parser
from stillframe.faces.cli.catalogue import VERBS
from stillframe.faces.cli.manual import MANUAL
from stillframe.faces.cli.words import spellings

from ..conftest import call

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_page_of_every_verb_has_an_example_that_is_understood_and_every_flag(verb: str) -> None:
    page = pages.page([verb])
    examples = MANUAL[verb]["example"].split("\n")
    assert examples[0]
    for example in examples:
        assert example in page
        line = parser.parse(shlex.split(example)[1:], VERBS)
        assert line is not None
        assert line.verb == verb
    for field in VERBS[verb]["fields"]:
        for spelling in spellings(field):
            assert spelling in page or spelling.replace("--", "--[no-]") in page
    assert "--json" in page


def test_the_reference_names_every_flag_that_all_verbs_have() -> None:
    head = (ROOT / "docs/reference.md").read_text().partition("## Start")[0]
    assert [each["flag"] for each in parser.GLOBALS if each["flag"] not in head] == []


def test_the_overview_names_every_verb() -> None:
    text = pages.page([])
    assert [verb for verb in VERBS if f"  {verb}" not in text] == []


def test_help_is_the_same_however_it_is_asked_for_and_needs_no_daemon(tmp_path: Path) -> None:
    nowhere = {"STILLFRAME_RUNTIME_DIR": str(tmp_path / "no" / "such")}
    asked = [call(*words, env=nowhere) for words in (("help", "break"), ("break", "--help"), ("b", "-h"))]
    assert {said.out for said in asked} == {pages.page(["break"])}
    bare = [call(*words, env=nowhere) for words in ((), ("--help",), ("help",), ("-h",))]
    assert {said.out for said in bare} == {pages.page([])}
    assert {said.code for said in [*asked, *bare]} == {0}


def test_help_of_a_misspelt_verb_names_the_right_one() -> None:
    said = call("help", "brek")
    assert (said.code, said.out) == (2, "")
    assert "dbg help break" in said.err


@pytest.mark.parametrize("verb", ["daemon", "completion", "mcp", "version"])
def test_what_the_client_answers_itself_has_a_page_too(verb: str) -> None:
    page = call("help", verb).out
    assert "example:\n  " in page
    assert [call(verb, "--help").out, call(verb, "-h").out, call("help", verb, "-h").out] == [page, page, page]


def test_the_catalogue_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_catalogue.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
