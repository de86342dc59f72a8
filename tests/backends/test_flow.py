"""Events in order, begun at once where nothing has to be waited for; and pauses of V8 read only as far as they are looked at."""

from __future__ import annotations

import asyncio

import msgspec

from stillframe.backends.cdp.calls import Calls, decode
from stillframe.backends.cdp.frames import Held
from stillframe.backends.flow import Sequence, begun


async def test_work_is_begun_at_once_and_what_follows_waits_for_it_to_end() -> None:
    seen: list[str] = []
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def handle(number: int) -> None:
        seen.append(f"{number} begun")
        if number == 2:
            seen.append(await gate)
            await asyncio.sleep(0)
        seen.append(f"{number} done")

    order: Sequence[int] = Sequence(lambda number: begun(handle(number)))
    for number in (1, 2, 3):
        order.add(number)
    assert seen == ["1 begun", "1 done", "2 begun"]
    gate.set_result("opened")
    await order.idle()
    assert seen[3:] == ["opened", "2 done", "3 begun", "3 done"]


async def test_what_is_waited_for_may_fail_or_be_given_up_and_the_work_hears_of_it() -> None:
    seen: list[str] = []
    loop = asyncio.get_running_loop()
    failing, given_up = loop.create_future(), loop.create_future()

    async def handle(gate: asyncio.Future[None]) -> None:
        try:
            await gate
        except (ValueError, asyncio.CancelledError) as error:
            seen.append(type(error).__name__)

    order: Sequence[asyncio.Future[None]] = Sequence(lambda gate: begun(handle(gate)))
    order.add(failing)
    failing.set_exception(ValueError("no"))
    await order.idle()
    order.add(given_up)
    await asyncio.sleep(0)  # its task has come to wait
    order.close()
    await order.idle()
    assert seen == ["ValueError", "CancelledError"]


def test_a_pause_tells_the_same_however_much_of_it_is_read() -> None:
    calls = [{"callFrameId": str(n), "location": {"scriptId": f"s{n}", "lineNumber": n}, "this": {}} for n in range(4)]
    params = {"callFrames": calls, "reason": "other", "hitBreakpoints": ["b"], "data": {"x": 1}}
    message = {"method": "Debugger.paused", "params": params}
    lazily = Held.of(decode(msgspec.json.encode(message))["params"])
    wholly = Held.of(message["params"])
    assert [lazily.calls.script(n) for n in range(4)] == [wholly.calls.script(n) for n in range(4)]
    assert [*lazily.calls] == [*wholly.calls] == calls
    assert lazily.calls[1:3] == calls[1:3] and lazily.top is lazily.calls[0]
    assert (lazily.reason, lazily.hits, lazily.data, lazily.depth) == ("other", ("b",), {"x": 1}, 4)


def test_a_pause_of_another_form_is_none_without_calls_or_read_as_it_is() -> None:
    for params in ({}, {"callFrames": None}, {"callFrames": "no"}):
        body = decode(msgspec.json.encode({"method": "Debugger.paused", "params": params}))["params"]
        assert len(Held.of(body).calls) == 0
    assert decode(b'{"method":"Debugger.paused"}') == {"method": "Debugger.paused"}
    assert len(Calls.of([{"location": {}}, 3])) == 1
