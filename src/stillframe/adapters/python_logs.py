"""Log texts as f-strings: debugpy 1.8.22 knows `{expression}` alone, so conversions and formats become calls."""

from __future__ import annotations

import ast

_CONVERSIONS = {ord("r"): "repr", ord("s"): "str", ord("a"): "ascii"}


def log_text(text: str) -> str:
    """`{x!r}` as `{repr(x)}`, `{n:>5}` as `{format(n, '>5')}`, `{{` as a brace; ValueError where it is no f-string."""
    try:
        parsed = ast.parse("f" + repr(text), mode="eval").body
    except SyntaxError as error:
        raise ValueError(str(error.msg).removeprefix("f-string: ")) from None
    parts = parsed.values if isinstance(parsed, ast.JoinedStr) else [parsed]
    return "".join(_part(part) for part in parts)


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return "{" + _expression(part) + "}"
    assert isinstance(part, ast.Constant)
    return "".join(f"{{{char!r}}}" if char in "{}" else char for char in str(part.value))


def _expression(part: ast.FormattedValue) -> str:
    text = ast.unparse(part.value)
    if part.conversion in _CONVERSIONS:
        text = f"{_CONVERSIONS[part.conversion]}({text})"
    if part.format_spec is not None:
        text = f"format({text}, {ast.unparse(part.format_spec)})"
    return text
