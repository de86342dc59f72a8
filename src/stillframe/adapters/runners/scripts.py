"""A project's `test` script, as far as it says how its runner is run: variables, flags for Node, the runner's own words."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

_ENDS = frozenset({"&&", "||", ";", "|", "&"})
_GIVEN = re.compile(r"[A-Za-z_]\w*=.*")
_OURS = re.compile(
    r"--(watch|watchAll|coverage|ci|json|outputFile|reporters?|reporter-options?|bail|silent|colors?|no-color)\b.*|-R|-w|-b"
)
"""What a report does without, or says otherwise."""
_WITH_VALUE = re.compile(
    r"-r|-c|-u|--(require|ui|import|loader|experimental-loader|config|project|extension|ext|spec|ignore|file|node-option|timeout"
    r"|testTimeout|env|environment|dir|root|rootDir|reporter|reporters|reporter-option|outputFile|env-file)"
)
"""Flags whose value may be the next word."""

_RUNS = re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:(?:run(?:-script)?|-\S+)\s+)*(?P<name>[\w:./-]+)(?:\s+--(?=\s))?")
_RUNS_SEVERAL = re.compile(r"\b(?:run-s|run-p|npm-run-all)\s+(?P<names>[^&|;]+)")


class Script(msgspec.Struct, frozen=True):
    """What the script says of the runner, with nothing in it where it says nothing."""

    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    node: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files and patterns of files."""


def unfolded(name: str, scripts: Mapping[str, object], within: tuple[str, ...] = ()) -> str:
    """A script of package.json, with those that it runs by their names (`npm run unit`, `yarn unit`, `run-s lint unit:*`) in
    their places."""

    def named(match: re.Match[str]) -> str:
        is_one = match["name"] in scripts and match["name"] not in (name, *within)
        return unfolded(match["name"], scripts, (name, *within)) if is_one else match[0]

    def several(match: re.Match[str]) -> str:
        words = [word.strip("\"'") for word in match["names"].split() if not word.startswith("-")]
        found = [each for word in words for each in fnmatch.filter(scripts, word)]
        meant = [each for each in dict.fromkeys(found) if each not in (name, *within)]
        return " && ".join(unfolded(each, scripts, (name, *within)) for each in meant) or match[0]

    return _RUNS.sub(named, _RUNS_SEVERAL.sub(several, str(scripts.get(name, ""))))


def parsed(text: str, runner: str) -> Script:
    """The part of a script that runs this runner: `NODE_OPTIONS=… node --flag node_modules/.bin/jest --config x test/`."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is not closed
        return Script()
    at = next((number for number, word in enumerate(words) if _names(word, runner)), None)
    if at is None:
        return Script()
    begin = max((number + 1 for number, word in enumerate(words[:at]) if word in _ENDS), default=0)
    end = next((number for number in range(at, len(words)) if words[number] in _ENDS), len(words))
    before, own = words[begin:at], words[at + 1 : end]
    env = dict(word.split("=", 1) for word in before if _GIVEN.fullmatch(word))
    node = before[before.index("node") + 1 :] if "node" in before else []
    flags, files = _apart(own, runner)
    return Script(env, tuple(node), flags, files)


def _names(word: str, runner: str) -> bool:
    if runner == "--test":
        return word == runner
    return Path(word).name in (runner, f"{runner}.js", f"{runner}.mjs", f"_{runner}")


def _apart(words: list[str], runner: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    flags: list[str] = []
    files: list[str] = []
    rest = [word for word in words if word not in ("run", "watch", "dev")]
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            files.append(word)
            continue
        is_page = word == "--ui" and runner != "mocha"  # whose tests are written in it
        has_value = _WITH_VALUE.fullmatch(word) and rest and not rest[0].startswith("-") and not is_page
        value = [rest.pop(0)] if has_value else []
        if not _OURS.fullmatch(word) and not is_page:
            flags += [word, *value]
    return tuple(flags), tuple(files)


def expanded(files: tuple[str, ...], root: str) -> tuple[str, ...]:
    """The files that patterns stand for, as a shell would have it; a pattern that fits none stays as it is."""
    found: list[str] = []
    for each in files:
        fits = (
            sorted(str(path.relative_to(root)) for path in Path(root).glob(each)) if re.search(r"[*?\[]", each) else []
        )
        found += fits or [each]
    return tuple(found)
