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
    return {
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


def _alternatives(result: Any) -> tuple[Any, ...]:
    """What a verb may return, one by one: msgspec has no schema for two shapes in one type that no tag tells apart."""
    return get_args(result) if get_origin(result) in (Union, UnionType) else (result,)
