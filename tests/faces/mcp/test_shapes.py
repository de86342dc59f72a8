"""The shapes that are published are those of the answers: every tool has one, and whatever it says fits, to the last key."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from stillframe.faces.cli.catalogue import VERBS

from .conftest import COUNT, COUNT_JS, LEGACY, MODERN, Connect

RED = "from count import add\ndef test_add():\n    got = add('z')\n    assert got == {}\n"
WAITS = "import threading\nthreading.Event().wait()\n"
LIVES = {
    "python3": "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n",
    "node": "setInterval(() => {}, 10);\nconsole.log('up');\n",
}


def strict(shape: Any) -> Any:
    """A schema that takes no key which it does not name: one that the answers have and the schema lacks is a mistake, too."""
    match shape:
        case dict():
            inner = {key: strict(each) for key, each in shape.items()}
            closed = inner.get("type") == "object" and "properties" in inner and "additionalProperties" not in inner
            return {**inner, "additionalProperties": False} if closed else inner
        case list():
            return [strict(each) for each in shape]
        case _:
            return shape


def reader(shape: Any) -> jsonschema.Draft202012Validator:
    """One for all answers of a tool. That the shape is sound the SDK looks itself, which takes long."""
    return jsonschema.Draft202012Validator(strict(shape))


async def test_every_tool_and_every_verb_has_a_shape(agent: Connect) -> None:
    async with agent("--tools", "all", "--schemas") as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} >= {verb.replace("-", "_") for verb in VERBS}
        for tool in tools:
            assert tool.output_schema["properties"]["result"], tool.name
            # A schema may be a bare `false` by the standard, and not every client takes one (the Inspector's `--strict` tells).
            assert not re.search(r'"(items|not|\w+Items|anyOf)": (true|false)', json.dumps(tool.output_schema)), (
                tool.name
            )
        shapes = {tool.name: tool.output_schema for tool in tools}
        for verb in ("memory", "continue", "hit-diff"):  # of which the first has two shapes that no tag tells apart
            told = (await client.read_resource(f"dbg://schema/{verb}")).contents[0].text
            assert json.loads(told) == shapes[verb.replace("-", "_")]


def calls(file: str, command: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """A use of every tool of the default set and of each of its verbs, good ones and bad ones."""
    parts = ("state", "stack", "locals", "threads", "source", "output", "exception", "breaks", "sessions")
    return [
        ("crash", {"command": command}),
        ("trace", {"at": "add", "command": command}),
        ("probe", {"places": [f"{file}:3", "nowhere.py:1"], "command": command, "expect": ["word != 'b'"]}),
        ("hang", {"command": command, "timeout": 20}),
        ("launch", {"command": command, "breaks": [f"{file}:3"], "name": "one"}),
        *(("state", {"part": part}) for part in parts),
        ("eval", {"expressions": ["word", "nothing_like_it", "seen"]}),
        ("state", {"part": "expand", "value": "v1"}),
        ("break", {"at": f"{file}:900"}),
        ("break", {"how": "disable", "ids": ["b2"]}),
        ("break", {"how": "enable", "ids": ["b2"]}),
        ("break", {"how": "unbreak", "ids": ["b2"]}),
        ("break", {"how": "catch", "what": "raised"}),
        ("break_if", {"at": f"{file}:4", "condition": "word == 'c'"}),
        ("go", {"how": "next", "count": 2}),
        ("go", {"how": "step"}),
        ("go", {"how": "finish"}),
        ("go", {"how": "until", "at": f"{file}:3"}),
        ("go_do", {"how": "continue", "do": "echo beside"}),
        ("go", {"how": "pause"}),
        ("go", {"how": "wait", "timeout": 0}),
        ("raw", {"line": "1 + 1"}),
        ("record", {"part": "hits", "at": f"{file}:3"}),
        ("record", {"part": "hit-trend", "at": f"{file}:3", "name": "word"}),
        ("record", {"part": "hit-diff", "first": "h1", "second": "h2"}),
        ("record", {"part": "history"}),
        ("record", {"part": "diff", "first": "one", "second": "one"}),
        ("stop", {"how": "restart"}),
        ("stop", {}),
        ("go", {}),
        ("attach", {"pid": 2**30}),
    ]


@contextlib.contextmanager
def started(here: Path, runs: str, text: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of somebody else's, which is up."""
    process = subprocess.Popen([runs, "-e" if runs == "node" else "-c", text], cwd=here, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"up\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.long
@pytest.mark.parametrize(("file", "runs", "mode"), [("count.py", "python3", LEGACY), ("count.js", "node", MODERN)])
async def test_whatever_the_default_tools_answer_fits_what_is_published(
    agent: Connect, tmp_path: Path, file: str, runs: str, mode: str
) -> None:
    if shutil.which(runs) is None:
        pytest.skip(f"no {runs} here")
    for name, text in (("count.py", COUNT), ("count.js", COUNT_JS), ("test_red.py", RED), ("waits.py", WAITS)):
        (tmp_path / name).write_text(text)
    tests = [("test", {"selector": "test_red.py"})] if runs == "python3" else []
    hangs = [("hang", {"command": ["python3", "waits.py"], "timeout": 0.5})] if runs == "python3" else []
    async with agent("--schemas", mode=mode) as client:
        shapes = {tool.name: reader(tool.output_schema) for tool in (await client.list_tools()).tools}
        went_well: dict[str, bool] = {}
        for tool, arguments in (*tests, *hangs, *calls(file, [runs, file])):
            answer = await client.call_tool(tool, arguments)
            shapes[tool].validate(answer.structured_content)
            went_well[tool] = went_well.get(tool, False) or not answer.is_error
        with started(tmp_path, runs, LIVES[runs]) as process:  # joined, held, and left to run on
            for tool, arguments, state in (
                ("attach", {"pid": process.pid}, "running"),
                ("go", {"how": "pause"}, "stopped"),
                ("stop", {"how": "detach"}, None),
            ):
                answer = await client.call_tool(tool, arguments)
                shapes[tool].validate(answer.structured_content)
                assert not answer.is_error, answer
                assert answer.structured_content["result"].get("state") == state, answer
                went_well[tool] = True
            assert answer.structured_content["result"]["action"] == "detached"
            assert process.poll() is None and psutil.Process(process.pid).status() != psutil.STATUS_TRACING_STOP
    assert [tool for tool, good in went_well.items() if not good] == []
    assert shapes.keys() - went_well.keys() == ({"test"} if not tests else set())
