"""Functions by name: what the scanner finds is what V8 and a real parser find, and no text is too odd for it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stillframe.backends.cdp.functions import Function, functions, matching

HERE = Path(__file__).parent / "functions"
SHAPES = HERE / "shapes.js"


def qualified(text: str) -> list[str]:
    return [each.qualified for each in functions(text)]


def offsets(text: str) -> list[int]:
    """Where each line begins, in UTF-16 units."""
    lines = re.split("(?<=[\n\u2028\u2029])|(?<=\r)(?!\n)", text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode("utf-16-le", "surrogatepass")) // 2)
    return starts


def by_span(text: str) -> dict[tuple[int, int], list[Function]]:
    starts, found = offsets(text), defaultdict(list)
    for each in functions(text):
        found[starts[each.line] + each.column, starts[each.end_line] + each.end_column].append(each)
    return found


def read(file: str | Path) -> str:
    return Path(file).read_bytes().decode()


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


@pytest.fixture(scope="module")
def npm() -> Path:
    """The packages inside npm: code that we did not write."""
    command = shutil.which("npm")
    if command is None:
        pytest.skip("npm is not installed")
    root = subprocess.run(
        [command, "root", "-g"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()
    packages = Path(root) / "npm" / "node_modules"
    if not packages.is_dir():
        pytest.skip("npm's own packages are not where it keeps global ones")
    return packages


# By what people write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("function total(a) { return a }", ["total"]),
        ("async function* total(a) {}", ["total"]),
        ("export default function total() {}", ["total"]),
        ("export async function total() {}", ["total"]),
        ("export default () => 1", ["default"]),
        ("const total = function (a) {}", ["total"]),
        ("let total = a => a + 1, other = async (b) => ({ b })", ["total", "other"]),
        ("total ??= () => 1", ["total"]),
        ("const total = cached || function () {}", ["total"]),
        ("const total = fast ? (a) => 1 : (a) => 2", ["total", "total"]),
        ("const total = wrap(function inner() {})", ["inner"]),
        ("const total = (function () { return 1 })()", []),
        ("const total = (() => { return 1 })()", []),
        ("const total = function () { return 1 }()", []),
        ("const total = /** @type {Sum} */ ((a) => a)", ["total"]),
        ("const total = function () {}.bind(this)", ["total"]),
        ("const total = function inner() {}", ["inner", "total"]),
        ("exports.total = function () {}", ["total"]),
        ("module.exports.total = async a => a", ["total"]),
        ("exports['total'] = function () {}", ["total"]),
        ("module.exports = function () { function inner() {} }", ["module.exports", "inner"]),
        ("module.exports = { total() {} }", ["total"]),
        ("Cart.prototype.total = function () {}", ["Cart.total"]),
        ("Cart.prototype.total = function total() {}", ["Cart.total"]),
        ("Cart.prototype = { total: function () {} }", ["Cart.total"]),
        ("function Cart() { this.total = () => 1 }", ["Cart", "Cart.total"]),
        ("class Cart { constructor() { this.total = () => 1 } }", ["Cart.constructor", "Cart.total"]),
        ("class Cart { static async *total() {} #hidden() {} get size() {} set size(n) {} }",
         ["Cart.total", "Cart.#hidden", "Cart.size", "Cart.size"]),
        ("class Cart extends mixin({ a() {} }) { total = () => { } }", ["a", "Cart.total"]),
        ("class Cart { static { function inner() {} } total() {} }", ["Cart.inner", "Cart.total"]),
        ("const Cart = class { ['total']() {} [Symbol.iterator]() {} 'a b'() {} 7() {} [a + b]() {} ['a' + 'b']() {} }",
         ["Cart.total", "Cart.[Symbol.iterator]", "Cart.a b", "Cart.7"]),
        ("const api = { v1: { total() {}, async get() {}, *of() {}, if: () => 1 }, module() {} }",
         ["api.v1.total", "api.v1.get", "api.v1.of", "api.v1.if", "api.module"]),
        ("function outer() { function inner() {} [1].map(() => { const deep = x => x }) }",
         ["outer", "outer.inner", "outer.deep"]),
        ("function outer(back = () => 1, { a = function () {} } = {}) {}", ["outer", "outer.back", "outer.a"]),
        ("const outer = (back = () => 1) => { }", ["outer", "outer.back"]),
        ("const f = x => x\nconst g = y => y\n  + 1\nfunction h() {}", ["f", "g", "h"]),
        ("function total(a        , b = 1        )         { }", ["total"]),  # as Node leaves TypeScript
        ("import { a } from 'b'; export { c as d }; export const e = () => 1", ["e"]),
        ("const h\\u0061t = () => 1; function größe() {} const $ = _ => _", ["hat", "größe", "$"]),
    ],
)  # fmt: skip
def test_a_function_is_known_by_the_name_and_path_it_is_written_under(text, expected):
    assert qualified(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "'function a() {}'; \"function b() {}\"; 'it\\'s function c() {}'",
        "`function a() {} ${ `${ 1 } function b() {}` } function c() {}`",
        "// function a() {}\n/* function b() {} */ /** const c = () => 1 **/",
        "x = /function a() {}/; y = /[/]function b() {}/g; if (x) /function c() {}/.test(y)",
        "call(b); { call }; while (x) { if (y) { call(z) } }",
        "const b = { a: call(c), d: function () {}() }",
        "#!/usr/bin/env function a() {}",
    ],
)
def test_what_only_looks_like_a_function_is_none(text):
    assert qualified(text) == []


@pytest.mark.parametrize(
    "before",
    ["a = b / c; d = e / f", "a[0] / 2 / 1", "f(x) / 2 / 1", "x++ / 2", "`t` / 2", "return /'/", "if (x) /'/.exec(y)",
     "}/'/.exec(y)", "a = {} / 2", "typeof /[`]/", "x = y ? /'/ : /`/", "[/'/, /\\//, /[/'\"]/]", "a\n/b/\n2"],
)  # fmt: skip
def test_a_division_is_told_from_a_regular_expression(before):
    assert qualified(f"{before}; function total() {{}} '`'") == ["total"]


def test_a_body_begins_inside_the_braces_or_with_the_expression():
    block, arrow, multiple = functions(
        "function a(b) { c }\nconst d = (e) =>\n  ({ e })\nconst f = g => /* h */ g // i\n"
    )
    assert (block.line, block.column, block.body_line, block.body_column, block.end_line, block.end_column) == (
        0, 0, 0, 15, 0, 19)  # fmt: skip
    assert (arrow.line, arrow.column, arrow.body_line, arrow.body_column, arrow.end_line, arrow.end_column) == (
        1, 10, 2, 2, 2, 9)  # fmt: skip
    assert (multiple.body_column, multiple.end_column) == (23, 24)


def test_lines_and_columns_are_those_that_v8_counts():
    found = functions("'\U0001f600'; function a() {}\u2028function b() {}\rfunction c() {}\r\n\U0001d4b3 = () => 1")
    assert [(each.line, each.column) for each in found] == [(0, 6), (1, 0), (2, 0), (3, 5)]


# By what people ask for

CART = functions(
    """
    class Cart { constructor() {} total() {} static make() {} #hidden() {} get size() { return 1 } }
    class Basket { total() {} }
    function total() {}
    function Old() {}
    exports.parse = function () {}
    const deep = { cart: { total() {} } }
    """
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("total", ["Cart.total", "Basket.total", "total", "deep.cart.total"]),
        ("Cart.total", ["Cart.total"]),
        ("cart.total", ["deep.cart.total"]),
        ("Cart#total", ["Cart.total"]),
        ("Cart.prototype.total", ["Cart.total"]),
        ("Cart", ["Cart.constructor"]),
        ("new Cart", ["Cart.constructor"]),
        ("Cart.constructor", ["Cart.constructor"]),
        ("Basket", []),
        ("Old", ["Old"]),
        ("new Old", ["Old"]),
        ("#hidden", ["Cart.#hidden"]),
        ("Cart.#hidden", ["Cart.#hidden"]),
        ("Cart.hidden", ["Cart.#hidden"]),
        ("get size", ["Cart.size"]),
        ("module.exports.parse", ["parse"]),
        ("otal", []),
        ("art.total", []),
        ("", []),
        (" ", []),
        (".", []),
        ("[", []),
        ("''", []),
        ("[]", []),
    ],
)
def test_a_name_means_every_function_whose_path_ends_with_it(wanted, expected):
    assert [each.qualified for each in matching(CART, wanted)] == expected


# By what others see in the same text

GUESSED = re.compile(r"(?:\breturn|\(|\]\s*=)\s*$")
"""Before a function that has no name in the language: V8 makes one up from what is near."""
CHOSEN = re.compile(r"[?:]\s*$")


def strangers(text: str, told: list[tuple[str, int, int]]) -> list[tuple[str, str]]:
    """The functions that V8 has a name for and the scanner has not."""
    found, wide = by_span(text), text.encode("utf-16-le")
    missed = []
    for name, start, end in told:
        before = wide[max(0, 2 * start - 80) : 2 * start].decode("utf-16-le", "replace")
        if not name or name.startswith("<") or GUESSED.search(before):
            continue
        bare = re.sub("^[gs]et ", "", name).rpartition(".")[2]
        names = {each.name for each in found[start, end]}
        computed = re.match(
            r"(?:async|get|set|[*\s])*\[", wide[2 * start : 2 * start + 40].decode("utf-16-le", "replace")
        )
        loose = computed or CHOSEN.search(before) or "constructor" in names
        if not (names if loose else names & {bare, name}):
            missed.append((name, wide[2 * start : 2 * start + 80].decode("utf-16-le", "replace")))
    return missed


def known_to_v8(node: str, tmp_path: Path, root: Path, wanted: list[str]) -> dict[str, list[tuple[str, int, int]]]:
    out = tmp_path / "told.json"
    subprocess.run([node, HERE / "coverage.js", out, root, *wanted], timeout=100, check=True, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def test_every_shape_of_a_function_is_where_v8_says_it_is(node, tmp_path):
    told = known_to_v8(node, tmp_path, HERE, [str(SHAPES)])[str(SHAPES)]
    assert len(told) > 60
    assert strangers(read(SHAPES), told) == []


@pytest.mark.long
def test_the_functions_that_v8_names_in_published_packages_are_found(node, npm, tmp_path):
    packages = [each.parent for each in (*npm.glob("*/package.json"), *npm.glob("@*/*/package.json"))]
    told = known_to_v8(node, tmp_path, npm, [str(each) for each in sorted(packages)])
    assert sum(map(len, told.values())) > 500
    assert {file: missed for file, each in told.items() if (missed := strangers(read(file), each))} == {}


@pytest.mark.long
def test_a_parser_sees_the_same_functions_in_published_packages(node, npm, tmp_path):
    files = [str(SHAPES), *sorted(str(each) for each in npm.rglob("*.js") if each.is_file())[::6]]
    out = tmp_path / "parsed.json"
    command = [node, "--expose-internals", HERE / "parser.js", out, *files]
    if subprocess.run(command, timeout=100, capture_output=True).returncode:
        pytest.skip("this node has no parser inside")
    parsed = json.loads(out.read_text())
    assert sum(map(len, parsed.values())) > 1000
    assert {file: wrong for file, each in parsed.items() if (wrong := differences(read(file), each))} == {}


def differences(text: str, parsed: list[dict]) -> list[object]:
    """Where a parser and the scanner differ. A parser leaves out the parentheses around an arrow's expression."""
    found, starts, wrong = by_span(text), offsets(text), []
    ours = {start: (end, each) for (start, end), each in found.items()}
    for one in parsed:
        if not (names := [{"exports": "module.exports"}.get(each, each) for each in one["names"]]):
            continue
        end, known = ours.get(one["start"], (-1, []))
        body = known and starts[known[0].body_line] + known[0].body_column
        exact = (body, end) == (one["body"], one["end"]) if one["block"] else known and end >= one["end"]
        if not exact or not set(names) <= {each.name for each in known} | {"module.exports"}:
            wrong.append(one)
    at = {one["start"] for one in parsed}
    return wrong + [each for start, (_, each) in ours.items() if parsed and start not in at]


# By no rule at all

WORDS = """function class async get set static return if extends new a b.c this.d => = == : , ; ? ?. ?? || ( ) [ ] { } ${
` ' " / /* */ // \\ ... . * # @ 1 .5 ++ !"""
PIECES = st.lists(st.sampled_from([*WORDS.split(), *"\n\r\0\ufeff\u2028\U0001f600", "\r\n"]), max_size=60)
TEXTS = PIECES.map(" ".join) | PIECES.map("".join) | st.text(max_size=60)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS)
@example("({a(", "")
@example("x=[", "]=()=>")
@example("[''](){", "[]")
def test_no_text_and_no_wish_is_an_error(text, wanted):
    found = functions(text)
    ends = offsets(text)[-1]
    starts = offsets(text)
    for each in found:
        start, body, end = (starts[line] + column for line, column in (
            (each.line, each.column), (each.body_line, each.body_column), (each.end_line, each.end_column)))  # fmt: skip
        assert 0 <= start < body <= ends
        assert body <= end <= ends
        assert each in matching(found, each.qualified) or not each.name.isidentifier()
    matching(found, wanted)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_piece_of_real_code_is_no_error(start, length):
    functions(read(SHAPES)[start : start + length])


@pytest.mark.parametrize(
    "piece",
    ["(", "{", "[", "`${", "}", ")", "({", "a=>", "a=>{", "x=(", "function a(){", "class a{a(){", "a={a:", "a[", "a/**/",
     "/", "'\\", "(a=", "((a)=>", "a?", "a\n.b", ".a", "a.", "?.", "/*", "//", "[a", "async ", "({[", "\\", "#", "a=b||",
     " ", "\n", "\U0001f600 a=()=>1\n", "'a'(){", "({}", "(}", "[}", "{)", "/[", "`", "$", "0"],
)  # fmt: skip
@pytest.mark.timeout(60)
def test_time_is_in_proportion_to_the_text_however_odd(piece):
    functions(piece * (100_000 // len(piece)))  # what goes by the square of it would take a quarter of an hour


def test_a_name_that_is_long_or_deep_does_not_multiply():
    long = f"function {'a' * 100_000}() {{ {'function b() {} ' * 5_000} }}"
    deep = "function abcdefghij() {" * 10_000
    for text in (long, deep):
        assert sum(len(each.qualified) for each in functions(text)) < 3_000_000
