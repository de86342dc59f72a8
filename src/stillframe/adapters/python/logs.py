"""Log texts as f-strings, in the form that our helper in the target reads, or in the poorer one of debugpy itself."""

from __future__ import annotations

import ast
import json

_CONVERSIONS = {ord("r"): "repr", ord("s"): "str", ord("a"): "ascii"}
_ESCAPED = str.maketrans({"{": "\\u007b", "}": "\\u007d"})


def log_text(text: str, helped: bool) -> str:
    """Conversions and formats become calls, `{{` a brace; ValueError where it is no f-string."""
    parts = _parts(text)
    return _for_helper(parts) if helped else _for_debugpy(parts)


def _parts(text: str) -> list[str]:
    """Texts and expressions by turns, beginning and ending with a text."""
    try:
        parsed = ast.parse("f" + repr(text), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"its log text: {str(error.msg).removeprefix('f-string: ')}") from None
    found = [""]
    for part in parsed.values if isinstance(parsed, ast.JoinedStr) else [parsed]:
        if isinstance(part, ast.FormattedValue):
            found += [_expression(part), ""]
        else:
            assert isinstance(part, ast.Constant)
            found[-1] += str(part.value)
    return found


def _expression(part: ast.FormattedValue) -> str:
    text = ast.unparse(part.value)
    if part.conversion in _CONVERSIONS:
        text = f"{_CONVERSIONS[part.conversion]}({text})"
    if part.format_spec is not None:
        text = f"format({text}, {ast.unparse(part.format_spec)})"
    return text


def _for_helper(parts: list[str]) -> str:
    """A list in JSON; without braces debugpy 1.8.22 passes it on as it is."""
    return json.dumps(parts).translate(_ESCAPED)


def _for_debugpy(parts: list[str]) -> str:
    """debugpy 1.8.22 knows `{expression}` alone, in which it counts the braces of texts, too, and makes `%` of it all."""
    has_fields = len(parts) > 1 or bool(set(parts[0]) & set("{}"))
    texts = [part.replace("%", "%%") if has_fields else part for part in parts[::2]]
    braced = ["".join(f"{{chr({ord(char)})}}" if char in "{}" else char for char in text) for text in texts]
    fields = [f"{{{expression}}}" for expression in parts[1::2]]
    return "".join(text + field for text, field in zip(braced, [*fields, ""], strict=True))
