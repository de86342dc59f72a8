"""The skill and the sub-agent are as their formats want them, and what they show is what `dbg` does."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from stillframe.faces.cli import parser
from stillframe.faces.cli.catalogue import VERBS
from stillframe.version import __version__

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills" / "stillframe"
TEXT = (SKILL / "SKILL.md").read_text()
AGENT = (ROOT / "agents" / "stillframe-debugger.md").read_text()
CALLS = re.findall(r"`(dbg [^`]+)`", TEXT + AGENT)


def front_matter(text: str) -> dict[str, str]:
    head = text.split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def test_the_front_matter_is_as_the_format_wants_it_and_the_page_is_short() -> None:
    head = front_matter(TEXT)
    assert head["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert 0 < len(head["description"]) <= 1024
    assert len(head["compatibility"]) <= 500
    # It allows itself no tools: `dbg` runs any command, which is for its user to grant, and Claude Code 2.1 asks before it so
    # much as loads a skill that does.
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert TEXT.count("\n") < 100
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (SKILL / link).is_file(), link
    head = front_matter(AGENT)
    assert head["name"] == "stillframe-debugger" and 0 < len(head["description"]) <= 1024
    assert not {"Edit", "Write"} & set(head["tools"].split(", ")), "it finds, and changes nothing"
    assert re.findall(r"^- \*\*(.+)\*\*:", AGENT, re.MULTILINE) == ["Cause", "Evidence", "Change", "Not known"]


@pytest.mark.parametrize("line", CALLS)
def test_every_call_that_is_named_can_be_typed_so(line: str) -> None:
    words = shlex.split(line)[1:]
    if words[0] in ("help", "mcp"):
        return
    filled = ["go" if word == "LANG" else "1" if word == "N" else word for word in words]
    understood = parser.parse(filled, VERBS)
    assert understood is not None and understood.verb in VERBS


def test_the_example_gives_what_the_skill_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    try:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path / "examples",
                env=env,
                capture_output=True,
                text=True,
                timeout=150,
                check=False,
            )
            assert done.stdout + done.stderr == shown, command
    finally:
        subprocess.run(["dbg", "daemon", "stop"], env=env, capture_output=True, timeout=150, check=True)


def test_the_call_for_a_red_test_shows_where_and_why_it_is_red(tmp_path: Path) -> None:
    (tmp_path / "test_total.py").write_text("def test_total():\n    got = 1 + 1\n    assert got == 3\n")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    line = next(each for each in CALLS if each.startswith("dbg test ")).replace(
        "tests/test_cart.py::", "test_total.py::"
    )
    try:
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=150, check=False
        )
        assert "test_total.py::test_total at test_total.py:3\n" in done.stdout
        assert "got=2" in done.stdout
    finally:
        subprocess.run(["dbg", "daemon", "stop"], env=env, capture_output=True, timeout=150, check=True)


WORD = {"type": "string", "minLength": 1}
ARGUMENT = {
    "oneOf": [
        {"properties": {"type": {"const": "positional"}, "value": WORD}, "required": ["type", "value"]},
        {"properties": {"type": {"const": "named"}, "name": WORD}, "required": ["type", "name"]},
    ]
}
PACKAGE = {
    "properties": {
        "registryType": WORD,
        "identifier": WORD,
        "version": {**WORD, "not": {"const": "latest"}},
        "transport": {"properties": {"type": {"const": "stdio"}}, "required": ["type"]},
        "packageArguments": {"type": "array", "items": ARGUMENT},
        "runtimeArguments": {"type": "array", "items": ARGUMENT},
    },
    "required": ["registryType", "identifier", "transport"],
    "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
}
SERVER = {
    "properties": {
        "$schema": {"pattern": "/2025-12-11/"},
        "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "title": {**WORD, "maxLength": 100},
        "description": {**WORD, "maxLength": 100},
        "version": {**WORD, "maxLength": 255},
        "packages": {"type": "array", "items": PACKAGE},
    },
    "required": ["name", "description", "version"],
}
"""What the registry's published schema of 2025-12-11 asks of the fields that we have, and which it requires."""


def test_the_registry_s_file_names_this_version_and_a_command_that_exists() -> None:
    server = json.loads((ROOT / "server.json").read_text())
    (package,) = server["packages"]
    assert (server["version"], package["version"]) == (__version__, __version__)
    assert [each["value"] for each in package["packageArguments"]] == ["mcp"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    # uvx takes no `--from` beside the name@version that a client puts behind these.
    assert [(each["name"], each["value"]) for each in package["runtimeArguments"]] == [("--with", *extras["mcp"])]
    assert (package["registryType"], package["identifier"], package["transport"]) == (
        "pypi",
        "stillframe",
        {"type": "stdio"},
    )
    jsonschema.Draft202012Validator(SERVER).validate(server)
    assert f"mcp-name: {server['name']}" in (ROOT / "README.md").read_text()
