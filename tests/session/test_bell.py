"""Waiting: whatever else happens at the same moment, an end of the waiting is the end of it."""

from __future__ import annotations

import asyncio

import pytest

from stillframe.session.bell import Bell


async def test_a_wait_that_is_ended_at_the_moment_of_a_ring_ends() -> None:
    bell = Bell()
    waiting = asyncio.ensure_future(bell.wait_for(lambda: False, 5.0))
    for _ in range(3):
        await asyncio.sleep(0)
    bell.ring()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_the_time_of_a_wait_ends_it_and_a_ring_makes_it_look_again() -> None:
    bell, seen = Bell(), [False]
    assert not await bell.wait_for(lambda: seen[0], 0.01)
    waiting = asyncio.ensure_future(bell.wait_for(lambda: seen[0], 5.0))
    await asyncio.sleep(0)
    seen[0] = True
    bell.ring()
    assert await waiting
