"""Source maps: what an encoder or a compiler wrote is what is read, from either side."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stillframe.backends.cdp.mappings import NAMED, NOWHERE, Mappings, Part
from stillframe.backends.cdp.sourcemaps import BrokenMap, Generated, Original, load, mapping_url

from .mapwriter import Segment, a_map, as_section, encoded, files, read, small

COMPILED = Path(__file__).parent / "sourcemaps"


def decoded(mappings: Mappings) -> list[list[Segment]]:
    lines: list[list[Segment]] = [[] for _ in mappings.starts]
    for at, kind in enumerate(mappings.kinds):
        line, column = mappings.position(at)
        place = (mappings.sources[at], mappings.lines[at], mappings.source_columns[at], mappings.names[at])
        lines[line].append((column, *place[: kind - 1]))
    return lines


@settings(max_examples=100, deadline=None)
@given(files)
def test_what_an_encoder_wrote_is_what_is_read(lines):
    assert decoded(Mappings([Part(encoded(lines), sources=range(3), names=range(4))])) == lines


@settings(max_examples=50, deadline=None)
@given(files, st.randoms(use_true_random=False))
def test_segments_in_any_order_within_a_line_are_read_in_that_of_their_columns(lines, random):
    mixed = [random.sample(line, len(line)) for line in lines]
    assert decoded(Mappings([Part(encoded(mixed), sources=range(3), names=range(4))])) == lines


def test_a_line_longer_than_one_stretch_of_the_decoder_is_read_whole():
    line = [(column * 3, column % 3, column, 0) for column in range(40_000)]
    assert decoded(Mappings([Part(encoded([[], line, line]), sources=range(3))])) == [[], line, line]


def test_empty_segments_mean_nothing():
    assert decoded(Mappings([Part(",,AAAA,,CAAC,;,;,EAAA,", sources=range(1))])) == decoded(
        Mappings([Part("AAAA,CAAC;;EAAA", sources=range(1))])
    )


@settings(max_examples=80, deadline=None)
@given(files, st.integers(0, 14), st.integers(-1, 45))
def test_a_position_belongs_to_the_last_segment_at_or_before_it_on_its_line(lines, line, column):
    found = read(a_map(encoded(lines))).original(line, column)
    before = [one for one in (lines[line - 1] if 1 <= line <= len(lines) else []) if one[0] <= column]
    if not before or len(before[-1]) == NOWHERE:
        assert found is None
    else:
        _, source, original, original_column, *name = before[-1]
        named = f"n{name[0]}" if len(before[-1]) == NAMED else None
        assert found == Original(f"/app/s{source}.ts", original + 1, original_column, named)


@settings(max_examples=80, deadline=None)
@given(files)
def test_the_way_back_from_a_place_in_a_source_leads_to_that_place(lines):
    map = read(a_map(encoded(lines)))
    for line, row in enumerate(lines):
        for column, *place in row:
            if not place:
                continue
            source, original, original_column = f"/app/s{place[0]}.ts", place[1] + 1, place[2]
            exact = map.generated(source, original, original_column)
            assert exact is not None
            assert {map.original(*one)[:3] for one in exact} == {(source, original, original_column)}
            on_line = map.generated(source, original)
            assert on_line is not None
            assert {map.original(*one)[:2] for one in on_line} == {(source, original)}
            assert min(on_line) <= (line + 1, column)


@settings(max_examples=50, deadline=None)
@given(files, small)
def test_a_line_without_code_means_the_next_that_has_some_and_after_the_last_there_is_none(lines, wanted):
    map = read(a_map(encoded(lines)))
    later = {one[2] + 1 for row in lines for one in row if len(one) > NOWHERE and one[1] == 0 and one[2] + 1 >= wanted}
    found = map.generated("/app/s0.ts", wanted)
    assert (found is None) == (not later)
    assert all(map.original(*one)[1] == min(later) for one in found or ())


def test_a_line_begins_once_for_each_stretch_of_text_that_was_made_from_it():
    first, other, again = [(0, 0, 4, 0), (2, 0, 4, 7), (5,), (6, 0, 4, 9)], [(0, 0, 9, 0)], [(3, 0, 4, 0), (8, 0, 4, 5)]
    map = read(a_map(encoded([first, other, again])))
    assert map.generated("/app/s0.ts", 5) == [Generated(1, 0), Generated(3, 3)]
    assert map.generated("/app/s0.ts", 5, 6) == [Generated(1, 2)]
    assert map.generated("/app/s0.ts", 5, 99) == [Generated(1, 6)], (
        "no code so far right: the last column that has some"
    )
    assert map.generated("/app/s0.ts", 4, 99) == [Generated(1, 0), Generated(3, 3)], "the next line, from its beginning"


def test_the_end_of_the_text_that_a_map_carries_is_the_end_of_the_source():
    map = read(a_map(encoded([[(0, 0, 0, 0), (1, 0, 7, 0)]]), sourcesContent=["one\r\ntwo\rthree\n"]))
    assert map.generated("/app/s0.ts", 1) == [Generated(1, 0)]
    assert map.generated("/app/s0.ts", 2) is None, "line 8, where the map would have it, is none of the four"


def test_questions_about_what_is_not_there_have_no_answer():
    map = read(a_map("AAAA"))
    for line, column in ((0, 0), (-5, 3), (2, 0), (10**30, 10**30), (1, -1)):
        assert map.original(line, column) is None
    assert map.original(1, 10**30) == Original("/app/s0.ts", 1, 0)
    assert map.generated("/app/none.ts", 1) is None
    assert map.generated("/app/s1.ts", 1) is None
    assert map.generated("/app/s0.ts", -(10**30), -5) == [Generated(1, 0)]
    assert map.generated("/app/s0.ts", 10**30) is None


# Sections


@settings(max_examples=80, deadline=None)
@given(files, st.lists(st.tuples(st.integers(0, 12), small), max_size=4), st.booleans())
@example([[(0, 0, 0, 0), (5, 0, 1, 0), (9,)], [(1, 1, 0, 0)]], [(0, 3), (0, 9), (1, 0)], True)
def test_a_map_cut_into_sections_is_the_same_map(lines, cuts, nested):
    places = [(0, 0), *sorted({cut for cut in cuts if cut > (0, 0)}), (10**6, 0)]
    sections = []
    for (line, column), end in pairwise(places):
        part: list[list[Segment]] = []
        for at in range(line, min(len(lines), end[0] + 1)):
            own = [one for one in lines[at] if (line, column) <= (at, one[0]) < end]
            part.append([(one[0] - column if at == line else one[0], *one[1:]) for one in own])
        section = as_section(a_map(encoded(part)), line, column)
        if nested:
            section = as_section({"version": 3, "sections": [as_section(section["map"], 0, 0)]}, line, column)
        sections.append(section)
    whole = read(a_map(encoded(lines)))
    cut = read({"version": 3, "sections": sections[::-1]})
    assert cut.sources == whole.sources
    for line, row in enumerate(lines):
        for column, *_ in [*row, (50,)]:
            assert cut.original(line + 1, column) == whole.original(line + 1, column)
    for source in whole.sources:
        for line in range(1, 42):
            assert cut.generated(source, line) == whole.generated(source, line)


def test_a_section_ends_where_the_next_begins_whatever_it_says_of_what_comes_after():
    greedy = a_map(encoded([[(0, 0, 0, 0), (9, 0, 1, 0)], [(0, 0, 2, 0)]]))
    later = a_map(encoded([[(1, 1, 0, 0)]]))
    map = read({"version": 3, "sections": [as_section(greedy, 0, 0), as_section(later, 0, 4)]})
    assert map.original(1, 4) == Original("/app/s0.ts", 1, 0)
    assert map.original(1, 9) == Original("/app/s1.ts", 1, 0)
    assert map.original(2, 0) is None


def test_a_section_that_is_elsewhere_is_refused():
    section = {"offset": {"line": 0, "column": 0}, "url": "other.map"}
    with pytest.raises(BrokenMap, match=r"other\.map"):
        read({"version": 3, "sections": [section]})


# What compilers write: `sourcemaps/` has the output of tsc 5.9 (target es2015) and of esbuild 0.28 (minified, inline)


def marks(path: Path) -> dict[str, int]:
    lines = path.read_text().splitlines()
    return {line.split("// @")[1].strip(): number for number, line in enumerate(lines, 1) if "// @" in line}


@pytest.mark.parametrize("name", ["shop", "price"])
def test_each_marked_line_leads_to_its_own_compiled_line_and_back(name):
    source, script = COMPILED / "src" / f"{name}.ts", COMPILED / "tsc" / f"{name}.js"
    map = load(mapping_url(script.read_text()) or "", script.as_uri())
    assert map.sources == [str(source)]
    compiled = marks(script)
    assert compiled.keys() == marks(source).keys()
    for mark, line in marks(source).items():
        found = map.generated(str(source), line)
        assert found is not None
        assert {map.original(*one)[1] for one in found} == {line}
        assert compiled[mark] - found[-1].line == (mark == "book"), "tsc makes two lines of `if (free) return …`"
        assert map.original(compiled[mark], 80)[1] == line


def test_a_breakpoint_on_types_slides_to_the_next_line_with_code():
    source, script = COMPILED / "src" / "price.ts", COMPILED / "tsc" / "price.js"
    map = load("price.js.map", str(script))
    text = source.read_text().splitlines()
    enum = text.index("export enum Kind {") + 1
    for line in range(1, enum):
        found = map.generated(str(source), line)
        assert found is not None
        assert {map.original(*one)[1] for one in found} == {enum}
    assert map.generated(str(source), len(text) + 1) is None


def test_a_minified_bundle_tells_names_and_lines_of_both_its_sources():
    script = COMPILED / "min" / "shop.js"
    text = script.read_text()
    map = load(mapping_url(text) or "", str(script))
    price, shop = (COMPILED / "src" / name for name in ("price.ts", "shop.ts"))
    assert map.sources == [str(price), str(shop)]
    assert map.content(str(price)) == price.read_text()
    where = map.generated(str(price), marks(price)["food"])
    assert where is not None
    assert text.splitlines()[0][where[0].column :].startswith("Math.round")
    assert map.original(1, text.index("new o")) == Original(str(shop), marks(shop)["basket"], 15)
    assert map.original(1, text.index("o;a.add")) == Original(str(shop), marks(shop)["basket"], 19, "Basket")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed, whose own reading is compared")
@pytest.mark.parametrize("script", ["tsc/shop.js", "tsc/price.js", "min/shop.js"])
def test_every_segment_is_where_the_runtime_itself_finds_it(script):
    path = COMPILED / script
    map = load(mapping_url(path.read_text()) or "", str(path))
    url = mapping_url(path.read_text()) or ""
    raw = (
        base64.b64decode(url.partition(",")[2]).decode() if url.startswith("data:") else (path.parent / url).read_text()
    )
    mappings = map.decode()
    places = [mappings.position(at) for at in range(len(mappings.kinds))]
    told = subprocess.run(
        ["node", "-e", FIND_ALL, json.dumps(places)], input=raw, capture_output=True, text=True, timeout=60, check=True
    )
    for (line, column), theirs in zip(places, json.loads(told.stdout), strict=True):
        ours = map.original(line + 1, column)
        assert ours is not None
        assert [os.path.relpath(ours.source, path.parent), ours.line - 1, ours.column] == theirs


FIND_ALL = """
const map = new (require("module").SourceMap)(JSON.parse(require("fs").readFileSync(0, "utf8")));
const found = JSON.parse(process.argv[1]).map(([line, column]) => map.findEntry(line, column));
console.log(JSON.stringify(found.map((one) => [one.originalSource, one.originalLine, one.originalColumn])));
"""
