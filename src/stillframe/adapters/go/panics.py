"""Go's panics that somebody recovers from, as a server does that is to live on: where, and what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..leaving import Recovering

_VALUE = re.compile(r"interface \{\}\((?P<type>.+?)\) (?P<value>.*)", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_BOUNDS = re.compile(r"\{x: (-?\d+), y: (\d+), signed: \w+, code: \w* ?\(?(\d+)\)?\}")
_OUT_OF_BOUNDS = (
    "index out of range [{x}] with length {y}",
    "slice bounds out of range [:{x}] with length {y}",
    "slice bounds out of range [:{x}] with capacity {y}",
    "slice bounds out of range [{x}:{y}]",
    "slice bounds out of range [::{x}] with length {y}",
    "slice bounds out of range [::{x}] with capacity {y}",
    "slice bounds out of range [:{x}:{y}]",
    "slice bounds out of range [{x}:{y}:]",
    "cannot convert slice with length {x} to array or pointer to array with length {y}",
)
"""What Go 1.26's runtime says for each number of its `boundsError`."""
_SAID = frozenset({"string", "runtime.plainError", "runtime.plainErrorString"})
_ERRORS = frozenset({"*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors"})
"""Errors that begin with the text that they were made with."""
_DEFERRED = re.compile(r"\.(?:func\d+|\d+|deferwrap\d+)$")


def panic_text(told: str) -> str:
    """What a program panicked with as Go itself would print it, as far as its type is a known one; else type and value."""
    match = _VALUE.fullmatch(told)
    if match is None:
        return told
    kind, value = match["type"], match["value"]
    if kind in _SAID:
        return _unquoted(value)
    if kind == "runtime.errorString":
        return f"runtime error: {_unquoted(value)}"
    if kind == "runtime.boundsError" and (bounds := _BOUNDS.fullmatch(value)) and int(bounds[3]) < len(_OUT_OF_BOUNDS):
        return "runtime error: " + _OUT_OF_BOUNDS[int(bounds[3])].format(x=bounds[1], y=bounds[2])
    if kind == "*runtime.TypeAssertionError":
        return "interface conversion: it does not hold what the line takes it for"
    if kind in _ERRORS and (text := _TEXT.search(value)):
        return _unquoted(text[0])
    return f"{kind} {value.removeprefix('*')}"


def _unquoted(told: str) -> str:
    try:
        return str(json.loads(told))
    except ValueError:  # Go quotes some characters in another way, and Delve cuts long texts
        return told.strip('"')


def reach(handler: Sequence[str], failed: Sequence[str]) -> int:
    """Up to the call that deferred the handler: the one that it was written in, or else the first of its package's."""
    inside = {_DEFERRED.sub("", name) for name in handler if _DEFERRED.search(name)}
    found = next((at for at, name in enumerate(failed) if name in inside), None)
    if found is None:
        package = _package(handler[-1]) if handler else ""
        found = next((at for at, name in enumerate(failed) if _package(name) == package), len(failed))
    return found


def _package(function: str) -> str:
    """`net/http` of `net/http.(*conn).serve.func1`."""
    path, slash, name = function.rpartition("/")
    return path + slash + name.partition(".")[0]


RECOVER = Recovering(
    function="runtime.gorecover",
    condition="runtime.curg._panic != nil",
    error="runtime.curg._panic.arg",
    text=panic_text,
    type="panic",
    thrown_by="runtime.gopanic",
    reach=reach,
)
"""As Delve 1.27.2 sees it: what `recover` is compiled to runs on top of the calls that panicked."""
