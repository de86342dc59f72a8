"""Who may do what: a call's access class against the highest that its client was allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import Denied, UsageError
from .registry import Access, Operation

WORDS: Mapping[str, Access] = {each.name.lower(): each for each in Access}


def access_word(text: str) -> Access:
    """`read`, `inspect`, `control` or `exec`."""
    if text not in WORDS:
        raise UsageError(f"--allow is one of {', '.join(WORDS)}, not {text!r}")
    return WORDS[text]


def check(operation: Operation, bound: Mapping[str, Any], allow: Access) -> None:
    """Refuse a call whose class is above what is allowed; a condition or `--do` makes any call exec."""
    needed = operation.access_for(bound)
    if needed > allow:
        raise Denied(
            f"{operation.name} needs {needed.name.lower()}, and only {allow.name.lower()} is allowed here",
            detail={"needs": needed.name.lower(), "allowed": allow.name.lower()},
        )
