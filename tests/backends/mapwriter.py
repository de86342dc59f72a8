"""Writes source maps, for the tests that read them: an encoder, and strategies for what to encode."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from stillframe.backends.cdp.sourcemaps import SourceMap, parse

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

Segment = tuple[int, ...]
"""As absolute numbers: a generated column; or that, a source, a line and a column; or those and a name."""


def vlq(number: int) -> str:
    rest, digits = (-number << 1) | 1 if number < 0 else number << 1, ""
    while True:
        rest, digit = rest >> 5, rest & 31
        digits += DIGITS[digit | 32 if rest else digit]
        if not rest:
            return digits


def encoded(lines: list[list[Segment]]) -> str:
    """The text of `mappings`: generated columns start anew in each line, all else goes on."""
    before, rows = [0, 0, 0, 0, 0], []
    for line in lines:
        before[0], row = 0, []
        for segment in line:
            row.append("".join(vlq(value - before[at]) for at, value in enumerate(segment)))
            before[: len(segment)] = segment
        rows.append(",".join(row))
    return ";".join(rows)


def a_map(mappings: str, sources: int = 3, **more: object) -> dict[str, object]:
    names = [f"n{number}" for number in range(4)]
    return {
        "version": 3,
        "sources": [f"s{at}.ts" for at in range(sources)],
        "names": names,
        "mappings": mappings,
    } | more


def read(map: dict[str, object], generated: str = "/app/out.js") -> SourceMap:
    return parse(json.dumps(map), generated)


def as_section(map: dict[str, object], line: int, column: int) -> dict[str, object]:
    return {"offset": {"line": line, "column": column}, "map": map}


small = st.integers(0, 40)
segments = st.one_of(
    st.tuples(small),
    st.tuples(small, st.integers(0, 2), small, small),
    st.tuples(
        small | st.integers(0, 2**20), st.integers(0, 2), small | st.integers(0, 2**31 - 1), small, st.integers(0, 3)
    ),
)
rows = st.lists(segments, max_size=8).map(lambda row: sorted({one[0]: one for one in row}.values()))
files = st.lists(rows, min_size=1, max_size=12)
