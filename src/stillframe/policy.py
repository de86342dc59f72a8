"""Who may do what: a call's access class against the highest that its client was allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import Denied
from .registry import Access, Operation


def check(operation: Operation, bound: Mapping[str, Any], allow: Access) -> None:
    """Refuse a call whose class is above what is allowed; a condition or `--do` makes any call exec."""
    needed = operation.access_for(bound)
    if needed > allow:
        raise Denied(
            f"{operation.name} needs {needed.name.lower()}, and only {allow.name.lower()} is allowed here",
            detail={"needs": needed.name.lower(), "allowed": allow.name.lower()},
        )
