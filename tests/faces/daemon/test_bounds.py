"""The request's reader and the parser of the line, against anything at all."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillframe.faces.cli import jsonline, parser
from stillframe.faces.cli.catalogue import VERBS
from stillframe.faces.cli.usage import Usage, line
from stillframe.faces.daemon.server import REQUEST_BYTES, Refusal, call_from, read_request

# hypothesis 6.170 reads the constants of every module of ours at its first draw, which takes seconds on a busy machine
UNHURRIED = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


async def fed(*chunks: bytes, end: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=REQUEST_BYTES)
    for chunk in chunks:
        reader.feed_data(chunk)
    if end:
        reader.feed_eof()
    return reader


async def test_a_request_that_never_ends_has_an_absolute_deadline() -> None:
    reader = await fed(b'{"v": 1', end=False)

    loop = asyncio.get_running_loop()
    drops = [loop.call_later(0.05 * number, reader.feed_data, b" ") for number in range(20)]
    with pytest.raises(Refusal, match="no whole request"):
        await read_request(reader, 0.2)
    for drop in drops:
        drop.cancel()


@UNHURRIED
@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_a_refusal(data: bytes) -> None:
    async def read() -> None:
        with contextlib.suppress(Refusal, ConnectionError):
            call_from(await read_request(await fed(data, b"\n")))

    asyncio.run(read())


LETTERS = "ab-=: '\"\\\n\t\x00\x1b\x7f\u00fc\u2028\u202e\U0001f600\udcff"
"""What is awkward in JSON, in a shell and on a terminal. Of surrogates, only what stands for a byte can come from a shell."""


def texts(most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(LETTERS), max_size=most).map("".join)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["\udcff", "\ud800x", "\x00\x1b", "\u2028"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(4), inner, max_size=4),
    max_leaves=12,
)


@UNHURRIED
@given(
    st.dictionaries(
        st.sampled_from(["op", "args", "env", "cwd", "umask", "session", "budget", "allow", "client"]), JSON
    )
)
def test_any_json_is_a_call_or_a_refusal(request: dict[str, object]) -> None:
    with contextlib.suppress(Refusal):
        call_from(request)


@UNHURRIED
@given(JSON)
def test_what_the_client_writes_is_what_json_reads(value: object) -> None:
    text = jsonline.encode(value)  # type: ignore[arg-type]
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == value


WORDS = st.sampled_from(
    [
        *VERBS,
        "--",
        "--json",
        "--session",
        "-m",
        "-c",
        "-b",
        "--no-wait",
        "--no-x",
        "-1",
        "if",
        "over",
        "5",
        "--if=x",
        "a.py:3",
        "-",
        "=",
    ]
) | texts(6)


@settings(UNHURRIED, max_examples=150)
@given(st.lists(WORDS, max_size=7))
def test_any_line_is_understood_or_is_a_usage_error_that_can_be_shown(words: list[str]) -> None:
    try:
        understood = parser.parse(words, VERBS)
    except Usage as wrong:
        assert wrong.text()
        if wrong.meant is not None:
            assert line(wrong.meant).isprintable()
    else:
        assert understood is None or json.loads(jsonline.encode(understood.args)) == understood.args
