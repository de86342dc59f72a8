"""Whole numbers as somebody types them, in places, handles, ports and the rest of the grammar."""

from __future__ import annotations

DIGITS = 18
"""More than anything here can be counted with; Python itself reads no more than 4,300, and says so by an error of its own."""


def counted(text: str) -> int | None:
    """The number that plain digits are; None of any other text, such as `²`, which Python calls a digit and does not read."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None
