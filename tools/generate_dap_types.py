"""Writes `wire/dap_types.py` from the published schema of the Debug Adapter Protocol; `--check` says if it is stale.

The schema in `data/debugAdapterProtocol.json` is published by Microsoft under the MIT licence.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE / "data" / "debugAdapterProtocol.json"
TARGET = HERE.parent / "src" / "stillframe" / "wire" / "dap_types.py"

HEAD = '''"""Names of the Debug Adapter Protocol: requests, events, capability flags. Made by tools/generate_dap_types.py."""

from __future__ import annotations

from typing import Final

'''


def main() -> int:
    text = render(json.loads(SCHEMA.read_text()))
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text() != text:
            print(f"{TARGET.name} is stale: run python {Path(__file__).name}", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


def render(schema: dict[str, Any]) -> str:
    """The whole module as text."""
    definitions: dict[str, Any] = schema["definitions"]
    flags = [name for name, kind in definitions["Capabilities"]["properties"].items() if kind.get("type") == "boolean"]
    parts = [
        HEAD,
        _set("REQUESTS", _enums(definitions, "Request", "command"), "Every request that the protocol defines."),
        _set("EVENTS", _enums(definitions, "Event", "event"), "Every event that the protocol defines."),
        *(f"{_constant(flag)}: Final = {json.dumps(flag)}\n" for flag in sorted(flags)),
    ]
    return "".join(parts)


def _enums(definitions: dict[str, Any], suffix: str, field: str) -> list[str]:
    """The words that the definitions ending in `suffix` fix for `field`."""
    found: set[str] = set()
    for name, definition in definitions.items():
        if name.endswith(suffix):
            for part in definition.get("allOf", ()):
                found.update(part.get("properties", {}).get(field, {}).get("enum", ()))
    return sorted(found)


def _set(name: str, words: list[str], doc: str) -> str:
    lines = "".join(f"        {json.dumps(word)},\n" for word in words)
    return f'{name}: Final = frozenset(\n    {{\n{lines}    }}\n)\n"""{doc}"""\n\n'


def _constant(flag: str) -> str:
    """supportsLogPoints -> SUPPORTS_LOG_POINTS."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", flag).upper()


if __name__ == "__main__":
    sys.exit(main())
