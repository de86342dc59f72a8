"""The shapes of answers as JSON Schema, from the types that the verbs return; made only when somebody asks, since the
vocabulary itself has to be loaded for it."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from ...dispatch import ErrorReply
from ...registry import OPERATIONS


def result_schema(verbs: Sequence[str]) -> dict[str, Any]:
    """The envelope of a tool's answers, good or bad."""
    types = list(dict.fromkeys(each for verb in verbs for each in _alternatives(OPERATIONS[verb].result)))
    shapes, parts = msgspec.json.schema_components([*types, ErrorReply], ref_template="#/$defs/{name}")
    *results, error = shapes
    made = {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "op": {"type": "string"},
            "session": {"type": "string"},
            "via": {"type": "object"},
            "untrusted": {"type": "boolean"},
            "result": results[0] if len(results) == 1 else {"anyOf": results},
            "error": error,
        },
        "required": ["ok", "op"],
        "$defs": parts,
    }
    found: dict[str, Any] = _portable(made)
    return found


def _portable(node: Any) -> Any:
    """The same schema without `"items": false`, which not every client reads: where there are so many items at the most as are
    described one by one, it says nothing new. (msgspec 0.22 puts it into the schema of a tuple.)"""
    match node:
        case dict():
            kept = {name: _portable(each) for name, each in node.items()}
            if kept.get("items") is False and kept.get("maxItems") == len(kept.get("prefixItems", ())):
                del kept["items"]
            return kept
        case list():
            return [_portable(each) for each in node]
        case _:
            return node


def _alternatives(result: Any) -> tuple[Any, ...]:
    """What a verb may return, one by one: msgspec has no schema for two shapes in one type that no tag tells apart."""
    return get_args(result) if get_origin(result) in (Union, UnionType) else (result,)
