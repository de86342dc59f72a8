"""The family that the backends of one launch belong to, as each of them sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...transport.websocket import Messages

if TYPE_CHECKING:
    from .backend import CdpBackend


class Household(Protocol):
    """What a backend needs of the family it belongs to."""

    def hold_output(self) -> None: ...

    def let_output_go(self) -> None: ...

    def read_output(self) -> None: ...

    async def end_process(self) -> None: ...

    def part(self) -> None: ...

    @property
    def is_parting(self) -> bool: ...

    async def leave(self, member: CdpBackend) -> None: ...

    def worker(self, parent: CdpBackend, messages: Messages, title: str, *, held: bool) -> CdpBackend: ...
