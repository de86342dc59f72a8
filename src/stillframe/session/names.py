"""The names of sessions and of what is saved: plain words, so that none of them can be a path."""

from __future__ import annotations

import re

from ..errors import UsageError

_NAME = re.compile(r"[a-z0-9-]{1,64}")
MADE = 20
"""The longest name that is made of a file's: whoever named the file has written it, and a session's name stands outside of all
marks, in lists of resources, next steps and messages. Nothing of a sentence is left of it there."""


def check_name(name: str) -> None:
    """Session names are plain words, so that no name can be a path; a child's has its number behind a dot."""
    stem = name.split(".", 1)[0]
    if not _NAME.fullmatch(stem) or not re.fullmatch(r"[a-z0-9-]+(\.\d+)*", name):
        raise UsageError(f"{name!r:.90} is no session name: use a to z, 0 to 9 and -, 64 at the most")


def made_of(text: str) -> str:
    """A name for a session that nobody gave one: the first words of what it runs."""
    words = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    if len(words) > MADE:
        words = words[:MADE] if words[MADE] == "-" else words[:MADE].rpartition("-")[0] or words[:MADE]
    return words.strip("-") or "program"
