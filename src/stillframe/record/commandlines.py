"""Passwords that well known programs take as a word of their command line, under flags that do not tell of one by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BETWEEN = r"""[\s"',\0]"""
"""What stands between two words: in a line of a shell, in the text of a list, in words that were joined."""
_WORDS = r"[^\n;|&]{0,400}?" + _BETWEEN
_TAKEN = re.compile(
    rf"""(?P<head>(?<![\w-])(?:
      (?:mysql\w*|mariadb[\w-]*|mycli)\b{_WORDS}-p["']?
    | sshpass{_BETWEEN}+-p{_BETWEEN}*
    | (?:docker|podman){_BETWEEN}+login\b{_WORDS}-p{_BETWEEN}*
    | mongo\w*\b{_WORDS}-p{_BETWEEN}+
    | redis-cli\b{_WORDS}-a{_BETWEEN}+
    | curl\b{_WORDS}(?:-u|--user|--proxy-user)[=\s"',\0]*[^\s"',:\0-][^\s"',:\0]*:
    | openssl\b{_WORDS}pass:
    | machine\s+\S+(?:\\[nt]|\s)+(?:(?:login|account)\s+[^\s\\]+(?:\\[nt]|\s)+)*password\s+
    ))(?P<secret>[^\s"',\0\\-][^\s"',\0\\]*)""",
    re.VERBOSE,
)
"""The last of them is what `.netrc` says to programs that ask it."""
TELLTALES = (
    "mysql",
    "mariadb",
    "mycli",
    "sshpass",
    "docker",
    "podman",
    "mongo",
    "redis-cli",
    "curl",
    "openssl",
    "machine ",
)
"""None of them is in a text without one of these."""


def without(found: str, hidden: str) -> str:
    """A text with this in place of such passwords."""
    return _TAKEN.sub(lambda match: match["head"] + hidden, found)


def without_in(words: Sequence[str], hidden: str) -> list[str]:
    """The same for the words of a command."""
    joined = "\0".join(words)
    made = without(joined, hidden).split("\0") if any(each in joined for each in TELLTALES) else list(words)
    return made if len(made) == len(words) else list(words)
