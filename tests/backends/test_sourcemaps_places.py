"""Where a source map is, and where its sources are: each spelling that tools write, and any other without a crash."""

from __future__ import annotations

import base64
import json
import os
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe.backends.cdp.sourcemaps import BrokenMap, Original, load, mapping_url, parse

from .mapwriter import a_map, encoded, read


def test_a_map_is_found_beside_its_file_however_the_url_is_written(tmp_path):
    place = tmp_path / "a dir"
    place.mkdir()
    (place / "ä b.js.map").write_bytes(b")]}' whatever\n" + json.dumps(a_map("AAAA")).encode())
    script = (place / "x.js").as_uri()
    for url in (
        "ä b.js.map",
        quote("ä b.js.map"),
        "ä%20b.js.map?v=3",
        (place / "ä b.js.map").as_uri(),
        f"../{quote('a dir/ä b.js.map')}",
    ):
        assert load(url, script).original(1, 0) == Original(str(place / "s0.ts"), 1, 0), url
    assert load(str(place / "ä b.js.map"), "evalmachine.<anonymous>").sources[0] == str(place / "s0.ts")


def test_an_inline_map_is_read_in_each_of_its_spellings():
    text = json.dumps(a_map("AAAA", sourcesContent=["größe"]), ensure_ascii=False)
    packed = base64.b64encode(text.encode()).decode()
    for url in (
        "data:application/json;base64," + packed,
        "data:application/json;charset=utf-8;base64," + packed.rstrip("="),
        "data:application/json;charset=UTF-8," + quote(text),
        "DATA:,%EF%BB%BF" + quote(text),
        "data:application/json;charset=utf-16;base64," + base64.b64encode(text.encode("utf-16")).decode(),
        "data:application/json;charset=iso-8859-1," + quote(text, encoding="latin1"),
    ):
        map = load(url, "file:///app/out.js")
        assert (map.sources[0], map.content("/app/s0.ts")) == ("/app/s0.ts", "größe"), url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.org/a.js.map", "not fetched: https://example.org/a.js.map"),
        ("gone.js.map", "no file gone"),
        ("pipe.map", "no regular file"),
        (".", "cannot be read"),
        ("data:application/json;base64,!", "no base 64"),
        ("data:application/json;base64", "no data"),
        ("data:application/json;charset=punycode,{}", "charset"),
        ("data:application/json;charset=ascii,%FF", "not in ascii"),
        ("data:,\ud800", "no text"),
        ("a\0.map", "no file"),
        ("file://%00", "no file"),
        ("", "no file"),
    ],
)
def test_a_map_that_cannot_be_had_says_why(tmp_path, url, reason):
    os.mkfifo(tmp_path / "pipe.map")
    with pytest.raises(BrokenMap, match=reason):
        load(url, str(tmp_path / "out.js"))


def test_a_relative_url_of_a_script_that_is_no_file_is_refused():
    with pytest.raises(BrokenMap, match="no file"):
        load("a.js.map", "evalmachine.<anonymous>")


def test_the_comment_that_names_a_map_is_the_last_one_with_nothing_but_comments_after_it():
    assert mapping_url("f();\n//# sourceMappingURL=a.js.map") == "a.js.map"
    assert mapping_url("f(); //@ sourceMappingURL=a%20b.map \r\n// bye\n\n") == "a%20b.map"
    assert mapping_url("//# sourceMappingURL=old\n//# sourceMappingURL=data:,{}//x\n") == "data:,{}//x"
    assert mapping_url("//# sourceMappingURL=a.js.map\nf();") is None
    assert mapping_url("print('//# sourceMappingURL=' + name)") is None
    assert mapping_url("f()") is None


def test_sources_are_paths_from_the_place_of_the_map(tmp_path):
    maps, src = tmp_path / "dist" / "maps", tmp_path / "src"
    maps.mkdir(parents=True)
    src.mkdir()
    (src / "a b.ts").touch()
    (src / "c.vue").touch()
    named = {
        "../../src/a.ts": str(src / "a.ts"),
        "../../src/a%20b.ts": str(src / "a b.ts"),
        "../../src/c.vue?type=script": str(src / "c.vue"),
        "/abs/./x.ts": "/abs/x.ts",
        "file:///abs/y%20z.ts": "/abs/y z.ts",
        "node:internal/x": "node:internal/x",
        "\0virtual": "\0virtual",
    }
    path = str(maps / "out.js.map")
    raw = {"version": 3, "mappings": "", "sources": list(named)}
    assert parse(json.dumps(raw), str(tmp_path / "dist" / "out.js"), path).sources == list(named.values())


@pytest.mark.parametrize(
    ("root", "source", "path"),
    [
        ("../src", "a.ts", "/app/src/a.ts"),
        ("/root/", "a.ts", "/root/a.ts"),
        ("file:///root", "b/../a.ts", "/root/a.ts"),
        ("/root", "/abs/a.ts", "/abs/a.ts"),
        ("/root", "file:///abs/a.ts", "/abs/a.ts"),
        (None, "a.ts", "/app/out/a.ts"),
    ],
)
def test_the_root_of_the_sources_stands_before_those_that_are_relative(root, source, path):
    raw = {"version": 3, "mappings": "", "sources": [source], "sourceRoot": root}
    assert read(raw, "/app/out/out.js").sources == [path]


def test_a_bundlers_url_means_the_file_in_the_nearest_directory_that_has_it(tmp_path):
    for name in ("src/x.ts", "shop/src/x.ts", "shop/src/y z.ts", "node_modules/dep/i.js", "shop/dist/out.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    named = {
        "webpack://shop/./src/x.ts": str(tmp_path / "shop/src/x.ts"),
        "webpack:///./src/x.ts?1f3b": str(tmp_path / "shop/src/x.ts"),
        "webpack:///src/y z.ts": str(tmp_path / "shop/src/y z.ts"),
        "webpack://@my/shop/./src/y%20z.ts": str(tmp_path / "shop/src/y z.ts"),
        "webpack:///~/dep/i.js": str(tmp_path / "node_modules/dep/i.js"),
        "turbopack:///[project]/node_modules/dep/i.js": str(tmp_path / "node_modules/dep/i.js"),
        f"webpack:///{tmp_path}/src/x.ts": str(tmp_path / "src/x.ts"),
        "webpack://shop/./src/gone.ts?77": "webpack://shop/./src/gone.ts",
        "webpack:///webpack/bootstrap": "webpack:///webpack/bootstrap",
        'webpack://shop/external commonjs "fs"': 'webpack://shop/external commonjs "fs"',
        "webpack:////gone/x.ts": "webpack:////gone/x.ts",
    }
    raw = {"version": 3, "mappings": "", "sources": list(named)}
    assert [read(raw | {"sources": [one]}, str(tmp_path / "shop/dist/out.js")).sources for one in named] == [
        [path] for path in named.values()
    ]


def test_sources_without_a_name_lead_nowhere_and_contents_and_ignored_ones_go_by_path():
    map = read(
        {
            "version": 3, "sources": [None, "", "a.ts", "./a.ts", "lib.ts"], "names": None, "sourceRoot": None,
            "sourcesContent": ["x", None, None, "text"], "x_google_ignoreList": [4, 99], "ignoreList": [0],
            "mappings": encoded([[(0, 0, 0, 0), (1, 1, 0, 0), (2, 2, 0, 0), (3, 3, 5, 0), (4, 4, 0, 0)]]),
        }
    )  # fmt: skip
    assert map.sources == ["/app/a.ts", "/app/lib.ts"]
    assert [map.original(1, column) for column in (0, 1)] == [None, None]
    assert (map.content("/app/a.ts"), map.content("/app/lib.ts"), map.content("/no")) == ("text", None, None)
    assert [map.is_ignored(one) for one in ("/app/a.ts", "/app/lib.ts", "/no")] == [False, True, False]
    assert map.original(1, 3) == Original("/app/a.ts", 6, 0), "two entries that mean one file are one source"
    assert read({"version": 3, "mappings": "A"}).original(1, 0) is None


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_url_of_any_script_is_a_map_or_broken(url, script):
    for each in (url, "file://" + url, "data:" + url, "data:;base64," + url):
        try:
            load(each, script)
        except BrokenMap as broken:
            assert broken.reason


@settings(max_examples=80, deadline=None)
@given(
    st.text(max_size=30) | st.sampled_from(["webpack://", "file://[", "http://[x/y", "//", "..", "a://@"]),
    st.text(max_size=9),
)
def test_any_source_has_a_name(source, root):
    map = read(a_map("AAAA") | {"sources": [source], "sourceRoot": root})
    assert len(map.sources) == bool(source)
