"""The language of --where: what it understands, that it runs nothing, and how it looks into the text of values."""

from __future__ import annotations

import re
import sqlite3
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe.errors import UsageError
from stillframe.model.values import Value
from stillframe.record import functions, glances, shapes, texts, where
from stillframe.record.conditions import Path, Told
from stillframe.record.pen import value_row

LOCALS = {
    "qty": Value(name="qty", type="int", value="4"),
    "price": Value(name="price", type="str", value="'12.50'"),
    "item": Value(name="item", type="dict", value="{'sku': 'B-2', 'qty': 3, 'tags': ['a', 'b']}", total=3),
    "cart": Value(name="cart", type="Cart", value='Cart {n: 2, open: true, owner: {name: "ann"}}'),
    "point": Value(name="point", type="struct point", value="{x = 1, y = -2.5}"),
    "done": Value(name="done", type="bool", value="False"),
    "paid": Value(name="paid", type="Decimal", value="Decimal('12.50')"),
    "mean": Value(name="mean", type="float64", value="np.float64(-0.25)"),
    "third": Value(name="third", type="Fraction", value="Fraction(1, 3)"),
    "loss": Value(name="loss", type="Tensor", value="<Tensor float32 requires_grad> 0.75"),
    "row": Value(name="row", type="dict", value="{'paid': Decimal('0.5'), 'n': np.int64(3), 'off': np.False_}"),
    "born": Value(name="born", type="datetime", value="datetime.datetime(2025, 9, 20, 8, 5)"),
    "sent": Value(
        name="sent", type="datetime", value="datetime.datetime(2025, 12, 1, 0, 0, 3, 7, tzinfo=datetime.timezone.utc)"
    ),
    "day": Value(name="day", type="date", value="datetime.date(2025, 12, 1)"),
    "stamp": Value(name="stamp", type="Timestamp", value="Timestamp('2025-12-01 10:00:00+0000', tz='UTC')"),
    "made": Value(name="made", type="Date", value="2025-12-01T10:00:00.000Z"),
    "order": Value(
        name="order", type="dict", value="{'when': datetime.date(2025, 12, 31), 'day': '2025-12-31', 'n': 7}"
    ),
    "debt": Value(name="debt", type="int", value="-3"),
    "nothing": Value(name="nothing", type="NoneType", value="None"),
}


def holds(condition: str) -> bool:
    question = where.parse(condition)
    connection = sqlite3.connect(":memory:")
    functions.teach(connection)
    connection.execute("CREATE TABLE v(type, text, number, total, rest)")
    joins = []
    for number, name in enumerate(question.names, 1):
        connection.execute(f"CREATE TABLE t{number}(type, text, number, total, rest)")
        if name in LOCALS:
            connection.execute(f"INSERT INTO t{number} VALUES(?,?,?,?,?)", value_row(LOCALS[name]))
        joins.append(f"LEFT JOIN t{number} v{number} ON 1")
    row = connection.execute(f"SELECT 1 FROM (SELECT 1) {' '.join(joins)} WHERE {question.sql}", question.parameters)
    found = row.fetchone() is not None
    judged = [each.condition for each in question.conjuncts if each.condition.judged]
    if len(judged) == len(question.conjuncts):
        seen = {path: told(path) for each in judged for path in each.paths}
        assert all(each.judge()(seen) for each in judged) is found, "what the paths lead to tells the same"
    return found


def told(path: Path) -> Told:
    part = texts.follow(LOCALS[path.root], path.steps) if path.root in LOCALS else None
    return {"value": part.value, "type": part.type, "len": texts.length_of(part)}[path.of] if part else None


@pytest.mark.parametrize(
    "condition",
    [
        "qty > 3", "qty == 4", "3 < qty", "qty >= 4 and qty <= 4", "price == '12.50'", 'price == "12.50"', "price != 12.5",
        "type(price) == 'str'", "item.qty == 3", "item['qty'] < qty", "item.sku != 'A-1'", "item.tags[1] == 'b'",
        "len(item) == 3", "len(item.tags) == 2", "cart.n == 2", "cart.owner.name == 'ann'", "cart.open == true", "point.y < -2",
        "not done", "done == False", "nothing == None", "qty", "not nothing", "'12' in price", "price ~ '50'",
        "qty > 9 or (item.qty == 3 and not (qty < 0))", "qty == 4 && !(qty == 5)", "type(item.sku) == 'str'",
        "paid > 12", "paid == 12.5", "paid > qty", "mean < 0", "third > 0.3", "loss <= 0.75", "row.paid == 0.5", "row.n >= 3",
        "not row.off", "type(row.paid) == 'Decimal'", "row.paid < paid", "paid == \"Decimal('12.50')\"",
        "born < '2026-01-01'", "not born > '2026-01-01'", "born >= '2025-09-20'", "born > '2025-09-20 08:04:59'", "born < sent",
        "born == '2025-09-20T08:05'", "born != '2025-09-20'", "day == '2025-12-01'", "day > born", "sent > '2025-12-01 00:00:03'",
        "'2025-12-01 09:59' < stamp", "made == '2025-12-01 10:00'", "made == stamp", "made < '2025-12-02'",
        "order.when > '2025-12-30'", "order.when == '2025-12-31'", "order.day == '2025-12-31'", "order.day > '2025-12-30'",
        "'2025, 12' in day", 'day == "datetime.date(2025, 12, 1)"', "price < '2026-01-01'",
        "qty % 2 == 0", "not qty % 4", "order.n % 2", "order.n%4 = 3", "debt % 2 == 1", "len(item) % 2 != 0", "paid % 5 > 2",
        "qty in (3, 4)", "qty not in (1, 3)", "qty in [4]", "qty in (4)", "qty in (4,)", "price in ('1', '12.50')",
        f"qty % 3 < {10**20}", f"qty % 3 < {10**400}", f"qty % {10**400} == 4", f"len(item) < {10**400}", f"qty > -{10**400}",
        "item.sku in ['A-1', \"B-2\",]", "done in (None, false)", "4 in (debt, qty)", "'12' in (price)", "item.qty in (qty, 3)",
    ],
)  # fmt: skip
def test_a_condition_that_holds_holds(condition: str) -> None:
    assert holds(condition)


@pytest.mark.parametrize(
    "condition",
    ["qty > 4", "price > 3", "price == 12.5", "item.nope == 1", "absent == 1", "absent != 1", "not absent", "nothing", "done",
     "item.tags[7] == 'a'", "'x' in price", "qty != 4", "type(qty) == 'str'",
     "paid > 13", "mean > 0", "row.off", "loss < row.paid",
     "born > '2026-01-01'", "sent < born", "sent == '2025-12-01'", "order.when < '2025-12-31'", "absent < '2026-01-01'",
     "qty % 2 == 1", "price % 2 == 0", "absent % 2", "qty in (1, 3)", "qty not in [1, 4]", "absent in (1, 2)",
     "price in ('12',)"],
)  # fmt: skip
def test_a_condition_that_does_not_hold_does_not(condition: str) -> None:
    assert not holds(condition)


@pytest.mark.parametrize(
    "text",
    ["", "qty >", "> 3", "qty > 3 and", "(qty > 3", "qty > 3)", "f(qty) > 3", "qty; DROP TABLE hit",
     "__import__('os').system('x')",
     "qty > 3 -- x", "1 == 1", "qty = = 3", "'unclosed", "qty > 'a' 'b'", "not", "x" * 3000, "(" * 200 + "qty" + ")" * 200,
     "done > True", "lambda: 1", "qty in ()", "qty in (1, 3", "qty in (1 3)", "qty in (1, 3]", "1 in (1, 2)", "qty % 0 == 1",
     "qty % price == 1", "type(qty) % 2", "qty % 2 == 'a'", "3 % 2 == 1", "qty % ", "qty, price", "qty > 3 union select 1"],
)  # fmt: skip
def test_what_the_language_does_not_know_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        where.parse(text)


def test_a_text_that_looks_like_sql_is_only_ever_a_text() -> None:
    assert not holds('price == "\' OR 1=1 --"')
    assert where.parse('price == "x\' OR 1=1 --"').sql.count("OR") == 0


@pytest.mark.parametrize(
    ("text", "path", "total", "beyond"),
    [
        ("{'k': {'a': {…}}}", "x.k.a.b", 1, True), ("{'k': {'a': {…}}}", "x.k.nope", 1, False),
        ("{'k': {'a': {…}}}", "x.nope", 1, False), ("{'k': 1, …}", "x.nope", 9, True), ("[0, 1, …]", "x[7]", 9, True),
        ("[0, 1]", "x[7]", 2, False), ("[0, 1]", "x[7]", 40, True), ("<Cart object at 0x7f>", "x.qty", None, True),
        ("Cart {n: 2, ...}", "x.qty", None, True), ("{x = 1, y = 2", "x.z", None, True), ("7", "x.qty", None, False),
        ("'…'", "x.qty", None, False), ("{'k': 1}", "x.k", 1, False),
    ],
)  # fmt: skip
def test_a_path_that_goes_deeper_than_what_was_recorded_is_told_from_one_that_leads_nowhere(
    text: str, path: str, total: int | None, beyond: bool
) -> None:
    value = Value(name="x", value=text, total=total)
    assert texts.goes_beyond(value, False, where.parse_path(path).steps) is beyond


_KEYS = st.sampled_from(["a", "qty", "'qty'", '"qty"', "x.y", ":qty", "@qty", '["qty"]', "':qty'"])
_PLAIN = st.one_of(
    st.sampled_from(
        ["3", "-2.5", "'it, is'", '"qty: 9"', "'qty': 4", "…", "...", "None", "a=b", "0x1: 2", " 7 ", "'\\\\'"]
    ),
    st.text(alphabet="qty'\"{}[](),:= .1…\\\\", max_size=8),
)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.builds(
        lambda head, ends, pairs, joint, sep: head + ends[0] + joint.join(f"{k}{sep}{v}" for k, v in pairs) + ends[1],
        st.sampled_from(
            [
                "",
                "Cart",
                "Cart ",
                "std::map<int, int> ",
                "[]int len: 1, cap: 2, ",
                "std::map with 1 element = ",
                "Vec(size=1) = ",
                "size=2 ",
                "std::vector of length 1, capacity 2 = ",
                "a::(anonymous namespace)::B<c> ",
            ]
        ),
        st.sampled_from(["{}", "[]", "()", "{…", "{ ", ("([", "])"), ("#<It ", ">")]),
        st.lists(st.tuples(_KEYS, inner), max_size=4),
        st.sampled_from([", ", ",", " "]),
        st.sampled_from([": ", " = ", "=", "=>", ":"]),
    ),
    max_leaves=6,
)


_WAYS = st.lists(st.sampled_from(["a", "qty", "y", 0, 1]), min_size=1, max_size=3).map(tuple)


@settings(max_examples=80)
@given(st.lists(_VALUES, min_size=1, max_size=4), _WAYS)
def test_a_part_that_is_had_at_a_glance_is_the_one_that_a_thorough_look_finds(
    row: list[str], way: tuple[texts.Step, ...]
) -> None:
    glanced = glances.parts(glances.END.join(row), way)
    assert glanced == [glances.parts(text, way)[0] for text in row]
    for text, part in zip(row, glanced, strict=True):
        if part:
            whole = Value(name="x", value=text)
            found = texts.follow(whole, way)
            nowhere = part in glances.NOWHERE | glances.CUT
            assert found is None if nowhere else found is not None and found.value == part
            assert texts.goes_beyond(whole, False, way) is (part in glances.CUT or texts.is_cut_text(part))


@settings(max_examples=100, derandomize=True)
@given(_VALUES, st.lists(_PLAIN, min_size=1, max_size=3), _WAYS, st.sampled_from(["value", "type", "len"]))
def test_what_is_known_of_one_text_is_known_of_all_texts_of_its_shape(
    text: str, leaves: list[str], way: tuple[texts.Step, ...], of: Literal["value", "type", "len"]
) -> None:
    pieces = re.split(r"(?<=[ =(\[{])(?:3|-2\.5|None|'it, is')(?=[,)\]}])", text)
    row = [text, *(leaf.join(pieces) for leaf in leaves)]
    for each, read in zip(row, shapes.Reader(Path("x", way, of), worth=1).read(glances.END.join(row)), strict=True):
        whole = Value(name="x", value=each, total=9)
        if isinstance(read, shapes.Lacking):
            assert texts.follow(whole, way) is None or of == "len"
            assert texts.goes_beyond(whole, False, way, of) is (read.shown is not None)
        elif read in glances.CUT:
            assert texts.goes_beyond(whole, False, way, of)
        elif read != shapes.UNREAD and read not in glances.NOWHERE:
            found = texts.follow(whole, way)
            assert found is not None
            assert texts.goes_beyond(whole, False, way, of) is (of == "value" and texts.is_cut_text(found.value))
            assert read == {"value": found.value, "type": found.type, "len": texts.length_of(found)}[of]


def test_plain_objects_and_lists_are_read_at_a_glance() -> None:
    """Or else looking into a hundred thousand of them takes seconds."""
    order = (
        "Order(id=3, lines=[Line(sku='a, b', qty=2), Line(sku=\"c\", qty=5)], by=Customer(name='x', home=City(zip=1)))"
    )
    ways = {"id": "3", "lines[1].qty": "5", "by.home.zip": "1", "by.name": "'x'", "lines[0]": "Line(sku='a, b', qty=2)"}
    for way, part in ways.items():
        assert glances.part(order, where.parse_path(f"x.{way}").steps) == part
    assert glances.part("Item {sku: 'a0', qty: 0}", ("qty",)) == "0"
    assert glances.part("{a = 1, b = {c = 0x7f}}", ("b", "c")) == "0x7f"


GO = 'main.Item {Sku: "a", In: main.In {C: 3}, Tags: []string len: 2, cap: 4, ["it\'s","b"], M: map[string]int ["k": 7, ], Z: 9}'


@pytest.mark.parametrize(
    ("text", "way", "part"),
    [
        ("[]int len: 3, cap: 200, [7,8,9]", "[0]", "7"), ("[]int len: 3, cap: 200, [7,8,9]", "[2]", "9"),
        ("[2]int [7,8]", "[1]", "8"), ('map[string]int ["k": 7, ]', ".k", "7"), (GO, ".Tags[0]", '"it\'s"'), (GO, ".M.k", "7"),
        (GO, ".Z", "9"), (GO, ".In.C", "3"), (GO, ".In", "main.In {C: 3}"), (GO, ".cap", None), (GO, ".Tags[2]", None),
        (GO, ".Tags", '[]string len: 2, cap: 4, ["it\'s","b"]'), ("[][]int len: 1, cap: 1, [[7,8]]", "[0][1]", "8"),
        ("[]int len: 0, cap: 0, nil", "[0]", None), ("(loaded 1/9) []int len: 9, cap: 9, [7,...+8 more]", "[0]", "7"),
        ('*cart.Cart[string] {Items: []int len: 0, cap: 0, nil, Meta: "m"}', ".Meta", '"m"'),
        ("cart.Pair[int,[]main.In] {A: 1, B: []main.In len: 1, cap: 1, [{C: 3}]}", ".B[0].C", "3"),
        ("[]interface {} len: 1, cap: 1, [7]", "[0]", "7"), ("[]*main.In len: 1, cap: 1, [*{C: 3}]", "[0].C", "3"),
    ],
)  # fmt: skip
def test_what_go_counts_is_read_past_the_words_that_say_how_many_there_are(
    text: str, way: str, part: str | None
) -> None:
    steps = where.parse_path(f"x{way}").steps
    found = texts.follow(Value(name="x", value=text), steps)
    assert (found.value if found else None) == part
    assert glances.part(text, steps) in (part, None)


RUBY = '#<Shop::Item @sku="a, b", @qty=3, @of=#<struct Of x=1, y=[2]>, @deep=#<Deep @z=#<Z …>>>'
GDB = (
    '{<shop::Base> = {id = 7}, items = std::vector of length 1, capacity 4 = {{sku = "s0", qty = 5}},'
    ' idx = std::map with 2 elements = {["a"] = 1, ["b, c"] = 2}, none = std::vector of length 0, capacity 0, n = 9}'
)


@pytest.mark.parametrize(
    ("text", "way", "part"),
    [
        (RUBY, ".qty", "3"), (RUBY, ".sku", '"a, b"'), (RUBY, ".@qty", "3"), (RUBY, ".of.x", "1"), (RUBY, ".of.y[0]", "2"),
        (RUBY, ".y", None), (RUBY, ".deep", "#<Deep @z=#<Z …>>"), ('{:qty=>3, "name"=>"n", :a=>#<A @b=1, @c=2>}', ".qty", "3"),
        ('{:qty=>3, "name"=>"n", :a=>#<A @b=1, @c=2>}', ".a.c", "2"), ('{:a=>#<A @b=1, @c=2>}', ".c", None),
        ("[#<A @b=1, @c=2>, #<A @b=3, @c=4>]", "[1].b", "3"), ("{:qty=>1, 'qty'=>2}", ".qty", "2"),
        ("{:user=>#<User id: 1, qty: 2, n: 3>}", ".qty", None), ("{:user=>#<User id: 1, qty: 2, n: 3>}", ".user.qty", "2"),
        (GDB, ".items[0].qty", "5"), (GDB, ".idx.a", "1"), (GDB, ".idx['b, c']", "2"), (GDB, ".n", "9"), (GDB, ".items[1]", None),
        (GDB, ".none", "std::vector of length 0, capacity 0"), ("Vec(size=2) = {7, 8}", "[1]", "8"),
        ('HashMap(size=1) = {["s0"] = 4}', ".s0", "4"), ("shop::Bag<i64> {xs: Vec(size=2) = {7, 8}, n: 1}", ".xs[1]", "8"),
        ("0x7f shop::Cart<shop::(anonymous namespace)::Item, 3> {qty = 4}", ".qty", "4"),
        ("{shop::Base = {id = 7}, items = size=2 {{qty = 5}, {qty = 6}}, left = size=0 {}}", ".items[1].qty", "6"),
        ("size=2 {7, 8}", "[1]", "8"), ("size=1 {size=2 {7, 8}}", "[0][1]", "8"),
        ("std::vector of length 1, capacity 1 = {std::vector of length 2, capacity 2 = {7, 8}}", "[0][1]", "8"),
    ],
)  # fmt: skip
def test_objects_of_ruby_and_what_gdbs_printers_write_are_looked_into(text: str, way: str, part: str | None) -> None:
    steps = where.parse_path(f"x{way}").steps
    found = texts.follow(Value(name="x", value=text), steps)
    assert (found.value if found else None) == part
    assert glances.part(text, steps) in (part, None)


@pytest.mark.parametrize(
    ("text", "length"),
    [("std::vector of length 3, capacity 4 = {1…", 3), ("std::vector of length 0, capacity 0", 0), ("Vec(size=2) = {…", 2),
     ("std::unordered_map with 1 element = {[1] = 2}", 1), ("std::map with 2 elements …", 2),
     ("size=4 {{qty = 0…", 4), ("size=0 {}", 0)],
)  # fmt: skip
def test_the_length_of_what_a_printer_of_gdb_counts_is_what_it_says(text: str, length: int) -> None:
    assert texts.length_of(Value(name="x", value=text)) == length


@pytest.mark.parametrize(
    ("text", "way", "part"),
    [
        ("deque([7, 8])", "[1]", "8"), ("Counter({'a': 1, 'b': 2})", ".b", "2"), ("OrderedDict({'a': {'b': 3}})", ".a.b", "3"),
        ("frozenset({7})", "[0]", "7"), ("{'q': deque([7, 8])}", ".q[0]", "7"), ("array([[1, 2], [3, 4]])", "[1][0]", "3"),
        ("f([1], [2])", "[1]", "[2]"), ("([1],)", "[0]", "[1]"), ("range(0, 5)", "[1]", None),
        ("{'r': range(0, 5)}", ".r[1]", None),
        ("W[1, 2, ..., 8, 9]", "[1]", "2"), ("W[1, 2, ..., 8, 9]", "[2]", None), ("W[1, 2, ..., 8, 9]", "[3]", None),
    ],
)  # fmt: skip
def test_a_part_is_told_by_its_place_only_where_it_is_shown_at_that(text: str, way: str, part: str | None) -> None:
    steps = where.parse_path(f"x{way}").steps
    found = texts.follow(Value(name="x", value=text), steps)
    assert (found.value if found else None) == part
    assert glances.part(text, steps) in (part, None)
    assert texts.goes_beyond(Value(name="x", value=text), False, steps) is (part is None and "..." in text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{'a': 1, 'b': [2]}", {"a": "1", "b": "[2]"}), ("(7, 8)", {"[0]": "7", "[1]": "8"}), ("Cart(n=1, …)", {"n": "1"}),
        ('map[string]int ["the": 3, "cat": 1, "sat"…', {"the": "3", "cat": "1"}), ("W[1, 2, ..., 8]", {"[0]": "1", "[1]": "2"}),
        ("range(0, 5)", {}), ("'a, b'", {}), ("7", {}), ("", {}),
    ],
)  # fmt: skip
def test_parts_are_told_as_far_as_a_text_shows_them_whole(text: str, parts: dict[str, str]) -> None:
    assert {each.name: each.value for each in texts.inside(Value(name="x", value=text))} == parts


def test_the_length_of_what_go_counts_is_what_it_says() -> None:
    value = Value(name="x", value="(loaded 1/9) []int len: 9, cap: 12, [7,...+8 more]")
    assert texts.length_of(value) == 9
    assert texts.goes_beyond(value, False, (5,)) and not texts.goes_beyond(value, False, (0,))


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused_and_nothing_else(text: str) -> None:
    try:
        where.parse(text)
    except UsageError:
        return


@given(st.text(max_size=200))
def test_looking_into_any_text_never_fails(text: str) -> None:
    value = Value(name="x", value=text)
    texts.parts(text)
    texts.follow(value, ("a", 0, "b"))
    texts.goes_beyond(value, True, ("a", 0, "b"))
    texts.length_of(value)
    texts.type_of(text)
