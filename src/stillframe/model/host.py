"""What is around a host of sessions, as operations may need it: the user's daemon, and somebody to ask and to show things to."""

from __future__ import annotations

from typing import Protocol

from .health import DaemonInfo

ASKED = 800
"""Characters of a call in the question whether it may be made."""


class Host(Protocol):
    """Given to an operation that has a parameter of this type."""

    async def daemon(self) -> DaemonInfo:
        """How the user's daemon stands; none is started for this."""
        ...

    async def ask(self, question: str) -> bool | None:
        """Whether somebody said yes; None where nobody can be asked."""
        ...

    def show(self, text: str) -> None:
        """Tell whoever watches what goes on, before the reply is there."""
        ...


def in_question(text: str) -> str:
    """What somebody is asked to agree to: whole, or its beginning and its end and how much stands between, since what matters
    may be put behind a lot that does not."""
    if len(text) <= ASKED:
        return text
    half = ASKED // 2
    return f"{text[:half]} [… {len(text) - 2 * half:,} characters are not shown here …] {text[-half:]}"
