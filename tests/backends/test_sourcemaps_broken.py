"""Source maps that are broken, hostile or no maps at all: a named reason each, and never a crash."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe.backends.cdp import mappings as decoder
from stillframe.backends.cdp import sourcemaps
from stillframe.backends.cdp.sourcemaps import BrokenMap, Original, parse

from .mapwriter import a_map, as_section, encoded, files, read, vlq


@pytest.mark.parametrize(
    ("mappings", "reason"),
    [
        ("AAA", "3 numbers"),
        ("AAAAAA", "6 numbers"),
        ("AAAg", "ends within a number"),
        ("AA!A", "no base 64 digit"),
        ("AAAÄ", "no base 64 digit"),
        ("g" * 40, "too long"),
        ("gggggggD", "more than 32 bits"),
        ("D", "column of generated line 1 is negative"),
        ("CAAA,FAAA", "column of generated line 1 is negative"),
        ("AADA", "negative"),
        ("AAAD", "negative"),
        ("AAAAD", "negative"),
        ("ADAA", "negative"),
        ("AGAA", "not among the 3"),
        ("AAAAI", "not among the 4"),
        (f"AA{vlq(2**31 - 1)}A,AACA", "more than 32 bits"),
    ],
    ids=lambda value: value[:12],
)
def test_mappings_that_are_broken_say_why_each_time_they_are_asked(mappings, reason):
    map = read(a_map(mappings))
    for _ in range(2):
        with pytest.raises(BrokenMap, match=reason):
            map.original(1, 0)
        with pytest.raises(BrokenMap, match=reason):
            map.generated("/app/s0.ts", 1)


def nested(depth: int) -> str:
    map: dict[str, object] = a_map("AAAA")
    for _ in range(depth):
        map = {"version": 3, "sections": [as_section(map, 0, 0)]}
    return json.dumps(map)


DEEP = "nested too deep" if sys.version_info < (3, 14) else "no source map"  # 3.14 reads as deep as there is memory


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no source map"),
        ("null", "no source map"),
        ("{}", "version"),
        ('{"version": 2, "mappings": ""}', "version 2"),
        ('{"version": 3}', "neither mappings nor sections"),
        ('{"version": 3, "mappings": 7}', "no source map"),
        ('{"version": 3, "mappings": "", "sources": "a.ts"}', "no source map"),
        ('{"version": 3, "mappings": "", "sources": [1]}', "no source map"),
        ('{"version": 3, "mappings": "", "names": {}}', "no source map"),
        ('{"version": 3, "mappings": "", "ignoreList": [-1]}', "no source map"),
        ('{"version": 3, "sections": [{"offset": {"line": -1, "column": 0}}]}', "no source map"),
        ('{"version": 3, "sections": [{"offset": {"line": 0, "column": 0}}]}', "elsewhere"),
        (json.dumps({"version": 3, "mappings": "", "sources": [None] * 100_001}), "100,000 sources"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", DEEP),
        (nested(9), "nested too deep"),
        (" " * (sourcemaps.MOST_BYTES + 1), "larger than 32 MiB"),
        ("\ud800", "no source map"),
    ],
    ids=lambda value: value[:40].encode("ascii", "replace").decode(),
)
def test_what_is_no_map_says_why(text, reason):
    with pytest.raises(BrokenMap, match=reason):
        parse(text, "/app/out.js")


def test_sections_may_be_nested_some_levels_deep_but_not_begin_millions_of_lines_on():
    assert parse(nested(8), "/app/out.js").original(1, 0) == Original("/app/s0.ts", 1, 0)
    far = read({"version": 3, "sections": [as_section(a_map("AAAA"), 2**31 - 1, 0)]})
    with pytest.raises(BrokenMap, match="begins at line"):
        far.original(1, 0)


def asked(data: bytes | str) -> None:
    """Everything that can be asked of a map, with any outcome but a crash."""
    try:
        map = parse(data, "/app/out.js")
        for source in ["/app/s0.ts", *map.sources]:
            map.generated(source, 1)
            map.generated(source, 3, 4)
            map.content(source)
            map.is_ignored(source)
        for place in ((1, 0), (2, 7)):
            map.original(*place)
    except BrokenMap as broken:
        assert broken.reason


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_map_or_broken(data):
    asked(data)


@settings(max_examples=150, deadline=None)
@given(st.text("ACDgz9+/,;!é", max_size=60))
def test_any_mappings_are_a_map_or_broken(mappings):
    asked(json.dumps(a_map(mappings)))


scraps = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**65)
    | st.floats()
    | st.sampled_from(["", "AAAA", "a.ts", "file://[", "//["]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["offset", "map", "line", "column"]), inner)
    ),
    max_leaves=8,
)
fields = ("version", "sources", "names", "mappings", "sourceRoot", "sourcesContent", "ignoreList", "sections")


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(fields), scraps))
def test_any_types_in_the_fields_are_a_map_or_broken(changed):
    asked(json.dumps(a_map("AAAA;CAAC") | changed))


@settings(max_examples=80, deadline=None)
@given(files, st.integers(0, 400))
def test_a_truncated_map_is_broken(lines, length):
    text = json.dumps(a_map(encoded(lines)))
    with pytest.raises(BrokenMap):
        parse(text[: min(length, len(text) - 1)], "/app/out.js")


def test_more_lines_or_segments_than_a_map_may_have_are_refused_as_they_are_read(monkeypatch):
    monkeypatch.setattr(decoder, "MOST_LINES", 500)
    monkeypatch.setattr(decoder, "MOST_SEGMENTS", 800)
    for mappings in (";" * 500, "A," * 801):
        with pytest.raises(BrokenMap, match="more than"):
            read(a_map(mappings)).original(1, 0)
    assert read(a_map("A;" * 499)).original(1, 0) is None
