"""Framing: any split of the bytes decodes the same, and nothing hostile gets through or allocates."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stillframe.errors import ProtocolError
from stillframe.wire.dap import Decoder, encode

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)
messages = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), json_values, max_size=6)
noise = st.text("abcdefg \n:", max_size=60).map(str.encode)


def fed(decoder: Decoder, data: bytes, sizes: list[int]) -> list[dict]:
    """Feed `data` in pieces of these sizes, the rest at once."""
    found, at = [], 0
    for size in sizes:
        found += decoder.feed(data[at : at + size])
        at += size
    return found + decoder.feed(data[at:])


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, max_size=5), st.lists(st.integers(0, 40), max_size=60))
def test_any_split_of_the_bytes_gives_the_same_messages(wanted, sizes):
    data = b"".join(encode(message) for message in wanted)
    decoder = Decoder()
    assert fed(decoder, data, sizes) == wanted
    assert decoder.idle


@settings(max_examples=40, deadline=None)
@given(st.lists(messages, min_size=1, max_size=3))
def test_one_byte_at_a_time_gives_the_same_messages(wanted):
    data = b"".join(encode(message) for message in wanted)
    assert fed(Decoder(), data, [1] * len(data)) == wanted


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(noise, messages), max_size=4), noise, st.lists(st.integers(0, 30), max_size=40))
@example([(b"warning: x\n\n", {"a": 1})], b"", [])
@example([(b"no newline before ", {"a": 1})], b"tail", [1, 1, 1])
def test_text_between_frames_is_skipped(wanted, tail, sizes):
    data = b"".join(text + encode(message) for text, message in wanted) + tail
    assert fed(Decoder(), data, sizes) == [message for _text, message in wanted]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400), st.lists(st.integers(1, 50), max_size=20))
def test_no_bytes_at_all_do_worse_than_a_protocol_error(data, sizes):
    try:
        fed(Decoder(), data, sizes)
    except ProtocolError:
        return


@settings(max_examples=100, deadline=None)
@given(messages, st.integers(0, 200), st.integers(0, 255))
def test_a_corrupted_byte_does_no_worse_than_a_protocol_error(message, position, byte):
    data = bytearray(encode(message) * 3)
    data[position % len(data)] = byte
    try:
        Decoder().feed(bytes(data))
    except ProtocolError:
        return


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -5",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 5\r\ncontent-length: 5",
        b"Content-Length: 99999999999999999999",
        b"Content-Length: 200000000",
        b"Content-Length: 0x10",
        b"Content-Length: 1e3",
        b"Content-Length: +5",
        b"Content-Length:",
        "Content-Length: ٣".encode(),
    ],
)
def test_a_length_that_cannot_be_trusted_is_refused_by_the_header_alone(header):
    with pytest.raises(ProtocolError):
        Decoder().feed(header + b"\r\n\r\n")


def test_the_limit_is_exact():
    body = json.dumps({"a": "x" * 90}).encode()
    frame = b"Content-Length: %d\r\n\r\n" % len(body) + body
    assert Decoder(len(body)).feed(frame) == [json.loads(body)]
    with pytest.raises(ProtocolError, match="more than"):
        Decoder(len(body) - 1).feed(frame)


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"{", b"\xff\xfe", b"[" * 10000, b'{"a":' * 5000])
def test_a_body_that_is_no_json_object_is_an_error_or_is_dropped_and_counted(body):
    frame = b"Content-Length: %d\r\n\r\n" % len(body) + body
    with pytest.raises(ProtocolError):
        Decoder().feed(frame)
    tolerant = Decoder(strict=False)
    assert tolerant.feed(frame + encode({"a": 1})) == [{"a": 1}]
    assert tolerant.dropped == 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"a": "\\ud800x"}', "\\ud800x"),
        (b'{"a": "\xff"}', "\\udcff"),
        (b'{"a": NaN}', "nan"),
        (b'{"a": 1e999}', "inf"),
    ],
)
def test_what_utf_8_or_json_cannot_carry_arrives_as_an_escape(body, text):
    frame = b"Content-Length: %d\r\n\r\n" % len(body) + body
    (message,) = Decoder().feed(frame)
    assert message == {"a": text}
    assert Decoder().feed(encode(message)) == [message]


def test_half_a_surrogate_pair_is_sent_escaped():
    assert b'"\\ud800"' in encode({"a": "\ud800"})


def test_an_endless_header_is_refused():
    with pytest.raises(ProtocolError, match="header"):
        Decoder().feed(b"Content-Length: 1" + b" " * 20000)


def test_other_header_fields_and_bare_newlines_are_taken():
    decoder = Decoder()
    assert decoder.feed(b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}") == [{}]
    assert decoder.feed(b"content-length: 2\nX-More: y\n\n{}Content-Length: 2\r\nX: y\r\n\r\n{}") == [{}, {}]


def test_noise_without_end_is_not_hoarded():
    decoder = Decoder()
    for _ in range(200):
        decoder.feed(b"y" * 10000)
    assert len(decoder.noise) <= 2000 and len(decoder._head) <= 8192
    assert decoder.feed(encode({"a": 1})) == [{"a": 1}]


def test_a_cut_message_is_not_idle():
    decoder = Decoder()
    decoder.feed(encode({"a": 1})[:-1])
    assert not decoder.idle
