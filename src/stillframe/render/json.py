"""Replies as JSON, exact, within a number of bytes; what was cut is said in `cut` with what is shown and the total.

Cut in this order: printed text, source, frames, values. The outcome and the totals stay. Nothing in it steers a terminal.
"""

from __future__ import annotations

import json as stdlib_json
from typing import Any

import msgspec

from ..dispatch import Dispatched, Reply
from ..model import exact
from ..model.recorded import Events

_TEXTS = ("output", "stderr", "log", "stdout", "console", "text")
_MANY = (64, 32, 16, 8, 4, 2, 1)
_LISTS = (
    (("source", "lines"), (*_MANY, 0)),
    (("failures", "also", "groups"), _MANY),  # the first is what a report is about
    (("stack", "frames", "trail", "modules", "threads", "sessions", "steps", "told"), (*_MANY, 0)),
    (("locals", "values", "children", "hits", "calls", "arguments", "operands", "changes"), (*_MANY, 0)),
)
"""What is shortened, in this order, and to how many."""


_OUTCOME = (
    "state",
    "reason",
    "thread",
    "frame",
    "breakpoints",
    "hit",
    "exit_code",
    "signal",
    "cause",
    "after",
    "total",
    "verdict",
    "runner",
    "version",
    "counts",
    "ran",
    "asked",
    "raised",
    "cycle",
    "parties",
    "runtime",
    "also_total",
    "held",
)
"""What is never cut."""
_VERDICT = ("location", "state", "count")
_FAILED = ("what", "kind", "id", "type", "file", "line", "function", "result", "end", "number")
"""What is told of a failure or a call of which there is no room for more."""
_SAID = 200


def json(done: Dispatched, budget: int) -> str:
    """One line of JSON."""
    data = exact.harmless(exact.encode(done.reply))
    if len(data) > budget and isinstance(done.reply, Reply) and isinstance(done.reply.result, Events):
        data = _fit_events(done.reply, done.reply.result, budget)
    if len(data) > budget:
        data = _fit(msgspec.to_builtins(done.reply), budget)
    return data.decode() + "\n"


def _fit_events(reply: Reply, events: Events, budget: int) -> bytes:
    """As many events as there is room for, with the cursor behind these, so that none is passed over."""
    count = len(events.events)
    while True:
        made: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(reply, result=events.first(count)))
        cut: dict[str, dict[str, Any]] = {}
        for limit in (1024, 128):
            if len(_dumps(made)) > budget:
                _shorten_texts(made["result"], limit, cut, names=("data",))
                made["result"]["cut"] = list(cut.values())
        data = _dumps(made)
        if len(data) <= budget or count <= 1:
            return data
        count = (count + 1) // 2


def _dumps(reply: Any) -> bytes:
    return exact.harmless(stdlib_json.dumps(reply, separators=(",", ":")).encode())


def _fit(reply: dict[str, Any], budget: int) -> bytes:
    result = reply.get("result")
    if not isinstance(result, dict):
        return _fit_error(reply, budget)
    cut: dict[str, dict[str, Any]] = {}
    for limit in (1024, 128):
        if len(_dumps(reply)) > budget:
            _shorten_texts(result, limit, cut)
    for names, numbers in _LISTS:
        for keep in numbers:
            if len(_dumps(reply)) <= budget:
                break
            _shorten_lists(result, names, keep, cut)
            result["cut"] = list(cut.values())
    if cut:
        result["cut"] = list(cut.values())
    data = _dumps(reply)
    if len(data) > budget:
        reply["result"] = {**_outcome_of(result), "cut": [{"part": "result", "shown": 0, "total": len(data)}]}
        data = _dumps(reply)
    return data


def _outcome_of(result: dict[str, Any]) -> dict[str, Any]:
    """The outcome by itself; of a report the verdict on each place, and how the program ended."""
    kept = {name: result[name] for name in _OUTCOME if name in result}
    if "places" in result:
        kept["command"] = result["command"]
        kept["places"] = [{name: each[name] for name in _VERDICT if name in each} for each in result["places"]]
    if isinstance(result.get("calls"), int):
        kept["calls"] = result["calls"]
    for name in ("failure", "life", "failures"):
        if result.get(name):
            first = result[name] if isinstance(result[name], dict) else result[name][0]
            told = {each: first[each] for each in _FAILED if each in first}
            told = {each: text[:_SAID] if isinstance(text, str) else text for each, text in told.items()}
            kept[name] = told if isinstance(result[name], dict) else [told]
    if isinstance(result.get("end"), dict):
        kept["end"] = _outcome_of(result["end"])
    return kept


def _fit_error(reply: dict[str, Any], budget: int) -> bytes:
    """An error's message and detail may hold a program's own words, of any length."""
    error = reply.get("error")
    if isinstance(error, dict):
        message, detail = error.get("message", ""), error.pop("detail", None)
        lost = [{"part": "detail", "shown": 0, "total": len(detail)}] if detail else []
        for room in (budget // 2, budget // 8, 200):
            error["message"] = message[:room]
            part = {"part": "message", "shown": room, "total": len(message)}
            error["cut"] = [part, *lost] if room < len(message) else lost
            if not error["cut"]:
                del error["cut"]
            if len(_dumps(reply)) <= budget:
                break
    return _dumps(reply)


def _shorten_texts(
    node: Any, limit: int, cut: dict[str, dict[str, Any]], path: str = "", names: tuple[str, ...] = _TEXTS
) -> None:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in names and isinstance(value, str) and len(value) > limit:
                node[key] = value[-limit:]
                total = cut.get(path + key, {}).get("total", len(value))
                cut[path + key] = {"part": path + key, "shown": limit, "total": total}
            else:
                _shorten_texts(value, limit, cut, f"{path}{key}.", names)
    elif isinstance(node, list | tuple):
        for item in node:
            _shorten_texts(item, limit, cut, path, names)


def _shorten_lists(
    node: Any, names: tuple[str, ...], keep: int, cut: dict[str, dict[str, Any]], path: str = ""
) -> None:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in names and isinstance(value, list | tuple) and len(value) > keep:
                total = cut.get(path + key, {}).get("total", len(value))
                node[key] = value[-keep:] if key == "trail" else value[:keep]
                cut[path + key] = {"part": path + key, "shown": keep, "total": total}
            _shorten_lists(node[key], names, keep, cut, f"{path}{key}.")
    elif isinstance(node, list | tuple):
        for item in node:
            _shorten_lists(item, names, keep, cut, path)
