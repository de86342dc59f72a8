"""Programs that a debugger asks us to run for it: in our hands like any that we launch, so their output and exit are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...errors import Unsupported
from ...model.backend import Output
from ...transport.drains import Stream
from ...transport.process import Process, spawn
from .client import Body


class Terminals:
    """What was run by `runInTerminal`, with no terminal: each is a process of its own group, drained and guarded."""

    def __init__(self) -> None:
        self._running: list[Process] = []

    def run(
        self,
        asked: Body,
        *,
        cwd: str,
        env: Mapping[str, str],
        umask: int,
        stdin: str | None,
        guarded: bool,
        tell: Callable[[Output], None],
    ) -> Process:
        """Start what the request names: its words verbatim, no shell between."""
        words = asked.get("args")
        if not isinstance(words, list) or not words or not all(isinstance(each, str) for each in words):
            raise Unsupported("runInTerminal names no program")
        folder = asked.get("cwd")
        started = spawn(
            words,
            cwd=folder if isinstance(folder, str) and folder else cwd,
            env=_changed(env, asked.get("env")),
            umask=umask,
            stdin=stdin,
            guarded=guarded,
            on_output=lambda stream, data: tell(_printed(stream, data)),
        )
        self._running.append(started)
        return started

    def pause_output(self) -> None:
        for each in self._running:
            each.pause_output()

    def resume_output(self) -> None:
        for each in self._running:
            each.resume_output()

    def drain(self) -> None:
        for each in self._running:
            if not each.is_paused:
                each.drain()

    async def end(self) -> None:
        """End those that still run and were not let go."""
        for each in self._running:
            if not each.exited.done() and not each.released:
                await each.terminate()

    def close(self) -> None:
        for each in self._running:
            if not each.released:
                each.close()


def _printed(stream: Stream, data: bytes) -> Output:
    return Output(stream, data)


def _changed(env: Mapping[str, str], changes: object) -> dict[str, str]:
    """The environment with what the request adds; null takes a variable away."""
    changed = dict(env)
    for name, value in changes.items() if isinstance(changes, dict) else ():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = str(value)
    return changed
