"""WebSocket frames: any split decodes the same, an independent implementation agrees, and nothing hostile gets through."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from stillframe.errors import ProtocolError
from stillframe.wire.websocket import BINARY, CLOSE, PING, TEXT, Decoder, Upgrade, encode

sizes = st.sampled_from([0, 1, 125, 126, 127, 65535, 65536]) | st.integers(0, 300)
payloads = sizes.flatmap(
    lambda size: st.binary(min_size=min(size, 200), max_size=min(size, 200)).map(lambda b: b * 330)
)


def served(*frames: Frame) -> bytes:
    """Frames as a server sends them, by another implementation."""
    return b"".join(each.serialize(mask=False) for each in frames)


def fed(decoder: Decoder, data: bytes, cuts: list[int]) -> list[tuple[int, bytes]]:
    found, at = [], 0
    for cut in cuts:
        found += decoder.feed(data[at : at + cut])
        at += cut
    return [tuple(each) for each in found + decoder.feed(data[at:])]


@settings(max_examples=100, deadline=None)
@given(st.lists(payloads, max_size=4), st.lists(st.integers(0, 70000) | st.integers(0, 9), max_size=30))
def test_any_split_of_what_a_server_sends_gives_the_same_messages(wanted, cuts):
    decoder = Decoder()
    data = served(*(Frame(Opcode.TEXT, each) for each in wanted))
    assert fed(decoder, data, cuts) == [(TEXT, each) for each in wanted]
    assert fed(decoder, served(Frame(Opcode.BINARY, b"x")), [1, 1]) == [(BINARY, b"x")]
    assert decoder.problem is None


def test_a_message_in_parts_is_put_together_around_a_ping():
    parts = Frame(Opcode.TEXT, b"a" * 200, fin=False), Frame(Opcode.PING, b"?"), Frame(Opcode.CONT, b"b")
    assert fed(Decoder(), served(*parts), [1] * 210) == [(PING, b"?"), (TEXT, b"a" * 200 + b"b")]


@settings(max_examples=60, deadline=None)
@given(st.lists(payloads, min_size=1, max_size=3))
def test_a_server_understands_what_is_sent_and_the_upgrade_before_it(wanted):
    server, upgrade = ServerProtocol(), Upgrade("127.0.0.1:9229", "/secret")
    server.receive_data(upgrade.request)
    (request,) = server.events_received()
    assert isinstance(request, Request) and request.path == "/secret"
    server.send_response(server.accept(request))
    answer = b"".join(server.data_to_send())
    assert upgrade.feed(answer[:40]) is None
    assert upgrade.feed(answer[40:] + b"rest") == b"rest"
    server.receive_data(b"".join(map(encode, wanted)))
    assert [bytes(each.data) for each in server.events_received()] == wanted


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x81\x85abcdhello", "no server"),
        (b"\xc1\x00", "no server"),
        (b"\x83\x00", "no server"),
        (b"\x89\x7e\x01\x00", "control frame"),
        (b"\x08\x00", "control frame"),
        (b"\x80\x01x", "never begun"),
        (b"\x01\x01x\x81\x01y", "within another"),
        (b"\x81\x7f\x00\x00\x00\x00\x00\x00\x10\x00", "more than 1,000 bytes"),
        (b"\x81\x7f" + b"\xff" * 8, "more than 1,000 bytes"),
        (b"\x01\x7e\x03\xe8" + b"x" * 1000 + b"\x00\x01", "more than 1,000 bytes"),
    ],
)
def test_what_cannot_be_trusted_is_refused_by_its_header_and_what_came_before_is_kept(data, problem):
    decoder = Decoder(limit=1000)
    assert fed(decoder, b"\x81\x02ok" + data, []) == [(TEXT, b"ok")]
    assert decoder.problem is not None and problem in decoder.problem
    assert decoder.feed(b"\x81\x02no") == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 400 Bad Request\r\n\r\nno",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: bm8=\r\n\r\n",
        b"x" * 20000,
    ],
)
def test_an_upgrade_that_is_refused_or_no_upgrade_is_an_error(answer):
    with pytest.raises(ProtocolError):
        Upgrade("127.0.0.1", "/").feed(answer)


def test_a_goodbye_is_told_as_one():
    assert fed(Decoder(), served(Frame(Opcode.CLOSE, b"\x03\xe8")), []) == [(CLOSE, b"\x03\xe8")]
