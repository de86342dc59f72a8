"""Arrays are told by shape, kind and first items, with a handle that pages; attributes by their use."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stillframe

from .. import tensors
from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]
Guests = tuple[str, dict[str, str]]

ARRAYS = """
import numpy as np
big = np.arange(40000).reshape(-1, 4)
cube = np.zeros((2, 3, 12), dtype="uint8")
small = np.array([1.5, 2.5])
single = np.array([[0.1, -1e10, np.nan, 16777217, 3.4028235e38, 1 / 3]], dtype="float32")
things = np.array([{"a": 1}, None], dtype=object)
empty = np.zeros((0, 3))
zero = np.array(7)
masked = np.ma.array([1, 2], mask=[0, 1])
huge = np.broadcast_to(np.uint8(1), (10**6, 10**6))
here = 1  # @here
"""
ATTRIBUTES = """
class Row:
    __slots__ = ("_slot", "__dict__")
    def __init__(self):
        self._state = "x" * 300
        self._slot = 1
        self.id = 7
        self.name = "ann"
row = Row()
here = 1  # @here
"""


def rows(peer: Peer, thread: int, **bounds: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in peer.stop(thread, **bounds)["locals"]}


def test_arrays_are_told_by_shape_and_kind_and_paged(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    _, peer, thread = run_to(python, ARRAYS, env=env)
    told = rows(peer, thread)
    assert told["big"]["value"].startswith("<ndarray 10000x4 int64> [[0, 1, 2, 3], [4, 5, 6, 7], ")
    assert (told["big"]["total"], told["big"]["truncated"], told["big"]["type"]) == (10000, True, "ndarray")
    assert told["big"]["shape"] == "0 to 39999"
    assert "shape" not in told["huge"]  # too much to look through
    assert told["small"]["value"] == "<ndarray 2 float64> [1.5, 2.5]" and told["small"]["ref"] is None
    assert told["single"]["value"].endswith("[[0.1, -10000000000.0, nan, 16777216.0, 3.4028235e+38, 0.33333334]]")
    assert told["cube"]["value"].startswith("<ndarray 2x3x12 uint8> [[[0, 0, 0, 0, 0, 0, 0, 0, …], ")
    assert told["things"]["value"] == "<ndarray 2 object> [{'a': 1}, None]"
    assert (told["empty"]["value"], told["zero"]["value"]) == ("<ndarray 0x3 float64> []", "array(7)")
    assert told["huge"]["value"].startswith("<ndarray 1000000x1000000 uint8> [[1, 1, ")
    assert told["masked"]["value"].startswith("masked_array(data=[1, --]")
    page = peer.call("expand", ref=told["big"]["ref"], start=9998, count=5)
    assert [(row["name"], row["value"]) for row in page["values"]] == [
        ("[9998]", "<ndarray 4 int64> [39992, 39993, 39994, 39995]"),
        ("[9999]", "<ndarray 4 int64> [39996, 39997, 39998, 39999]"),
    ]
    assert page["total"] == 10000
    rows(peer, thread, items=100000, text=100000)  # bounds as large as these still end


def test_what_an_object_is_for_comes_before_its_inner_state(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, ATTRIBUTES)
    row = rows(peer, thread)["row"]
    assert row["value"].startswith("Row(id=7, name='ann', _s")
    inside = [each["name"] for each in peer.call("expand", ref=row["ref"])["values"]]
    assert inside[:2] == ["id", "name"] and set(inside[2:]) == {"_state", "_slot"}


ALIKE = """
import sqlite3
base = sqlite3.connect(":memory:")
base.row_factory = sqlite3.Row
record = base.execute("select 1 as id, 'ann' as name").fetchone()
class Loud:
    def __eq__(self, other): raise RuntimeError("asked")
    def __hash__(self): return 1
class Mapped:
    def __init__(self): self._sa_instance_state, self.id = object(), 7
mapped = Mapped()
numbers = list(range(1000))
holes = [0.5] * 20 + [float("nan")]
prices = [1.5] * 416 + ["12.50"]
orders = [{"sku": str(n), "qty": n} for n in range(40)] + [{"sku": "x"}]
louds = [Loud() for _ in range(20)]
by_name = {str(n): n for n in range(300)}
many = list(range(100000))
few = [1, 2]
here = 1  # @here
"""


def test_of_a_long_value_it_is_told_what_all_of_it_is_like(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, ALIKE)
    told = rows(peer, thread)
    assert {name: row["shape"] for name, row in told.items() if "shape" in row} == {
        "numbers": "1,000 ints, 0 to 999",
        "holes": "21 floats, 0.5 each, 1 nan",
        "prices": "416 floats, 1 str",
        "orders": "41 dicts, 40 of them with keys sku qty",
        "louds": "20 Louds",
        "by_name": "300 keys to int, 0 to 299",
    }
    assert told["record"]["value"] == "Row(id=1, name='ann')"
    assert told["mapped"]["value"] == "Mapped(id=7)"


TABLES = """
import numpy as np, pandas as pd
frame = pd.DataFrame({"sku": ["a", "b", None] * 4, "qty": range(12), "price": [1.5, np.nan] * 6})
labelled = pd.Series([3, 1, 2], index=["x", "y", "z"])
days = pd.Series(pd.date_range("2024-01-01", periods=30))
long = pd.Series(np.arange(1_000_000))
wide = pd.DataFrame(np.zeros((3, 40)))
index, empty = pd.Index(["p", "q"]), pd.DataFrame()
here = 1  # @here
"""


def test_tables_are_told_by_their_columns_and_paged_by_their_rows(run_to: RunTo, guests: Guests) -> None:
    python, env = guests
    _, peer, thread = run_to(python, TABLES, env=env)
    told = rows(peer, thread)
    assert told["frame"]["value"].startswith("<DataFrame 12x3> {'sku': ['a', 'b', ")
    assert re.fullmatch(
        r"sku \w+ 4 missing; qty int64 0 to 11; price float64 1.5 to 1.5, 6 missing", told["frame"]["shape"]
    )
    assert told["labelled"]["value"] == "<Series 3 int64> {'x': 3, 'y': 1, 'z': 2}"
    assert told["days"]["shape"] == "2024-01-01 00:00:00 to 2024-01-30 00:00:00"
    assert (told["long"]["total"], told["long"]["shape"]) == (1_000_000, "0 to 999999")
    assert told["wide"]["value"].startswith("<DataFrame 3x40> {0: [0.0, 0.0, 0.0], ")
    assert re.fullmatch(r"<Index 2 \w+> \['p', 'q'\]", told["index"]["value"])
    assert told["empty"]["value"] == "<DataFrame 0x0> {}"
    page = peer.call("expand", ref=told["frame"]["ref"], start=10, count=5)
    assert [(row["name"], row["value"].replace("None", "nan")) for row in page["values"]] == [
        ("[10]", "{'sku': 'b', 'qty': 10, 'price': 1.5}"),
        ("[11]", "{'sku': nan, 'qty': 11, 'price': nan}"),
    ]  # what is missing is None or nan by the version of pandas


TENSORS = """
import torch
tracked = torch.arange(4000.0).reshape(1000, 4).requires_grad_() / 10
gaps = torch.full((20,), float("nan"))
flags, empty, one = torch.tensor([True, False]), torch.empty(0, 3), torch.tensor(3.5)
half, wave = torch.ones(2, dtype=torch.bfloat16), torch.tensor([1 + 2j])
sparse, elsewhere = torch.eye(3).to_sparse(), torch.empty(2, 2, device="meta")
here = 1  # @here
"""


TORCH = tensors.environment()


@pytest.mark.long
@pytest.mark.skipif(TORCH is None, reason="no torch here: ./dev test unpacks Debian's")
def test_tensors_are_told_by_shape_kind_and_first_numbers(run_to: RunTo) -> None:
    _, peer, thread = run_to(tensors.PYTHON, TENSORS, env=TORCH)
    told = rows(peer, thread)
    assert told["tracked"]["value"].startswith("<Tensor 1000x4 float32 requires_grad> [[0.0, 0.1, 0.2, 0.3], [0.4, ")
    assert (told["tracked"]["total"], told["tracked"]["shape"]) == (1000, "0 to 399.9")
    assert told["gaps"]["shape"] == "20 nan"
    assert {name: told[name]["value"] for name in ("flags", "empty", "one", "half", "wave", "sparse", "elsewhere")} == {
        "flags": "<Tensor 2 bool> [True, False]",
        "empty": "<Tensor 0x3 float32> []",
        "one": "<Tensor float32> 3.5",
        "half": "<Tensor 2 bfloat16> [1.0, 1.0]",
        "wave": "<Tensor 1 complex64> [(1+2j)]",
        "sparse": "<Tensor 3x3 float32 sparse_coo> <not read>",
        "elsewhere": "<Tensor 2x2 float32 meta> <not read>",
    }
    page = peer.call("expand", ref=told["tracked"]["ref"], start=999, count=5)
    assert [row["value"] for row in page["values"]] == ["<Tensor 4 float32> [399.6, 399.7, 399.8, 399.9]"]


DECLARED = """
import attrs, django.conf, pydantic, sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
django.conf.settings.configure(DATABASES={})
django.setup()
from django.db import models
asked = []
@attrs.define
class Point:
    x: int
    tags: list
    hidden: int = attrs.field(default=1, repr=False)
@attrs.define
class Masked:
    key: str = attrs.field(default="secret", repr=lambda value: "***")
class Order(pydantic.BaseModel):
    model_config = {"extra": "allow"}
    id: int
    lines: list[int] = []
    hidden: int = pydantic.Field(default=1, repr=False)
class Own(pydantic.BaseModel):
    def __repr__(self): return "own repr"
class Base(DeclarativeBase): pass
class User(Base):
    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    def __repr__(self): asked.append(1); return self.name
class Book(models.Model):
    title = models.CharField(max_length=50)
    class Meta: app_label = "shop"
    def __str__(self): asked.append(1); return self.title
engine = sa.create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
session.add_all([User(id=1, name="ann"), User(id=2, name="bob")])
session.commit()
bob = session.get(User, 2)
ann = session.get(User, 1)
session.expire(ann)
fresh = User(name="eve")
row = session.execute(sa.select(User.id, User.name)).first()
point, masked, order, own = Point(1, list(range(99))), Masked(), Order(id=7, lines=[1], more=2), Own()
points = [Point(n, []) for n in range(100)]
book, later = Book(1, "War"), Book.from_db("default", ["id"], [2])
unsent, sent = Book.objects.all(), Book.objects.all()
sent._result_cache = [book]
here = 1  # @here
print(asked)
"""


@pytest.mark.long
def test_objects_are_told_by_the_fields_of_their_class_and_rows_by_what_was_loaded(
    run_to: RunTo, guests: Guests
) -> None:
    python, env = guests
    target, peer, thread = run_to(python, DECLARED, env=env)
    told = rows(peer, thread, values=60)
    names = ["point", "masked", "order", "own", "bob", "ann", "fresh", "row", "book", "later", "unsent", "sent"]
    assert {name: told[name]["value"] for name in names} == {
        "point": "Point(x=1, tags=[0, 1, 2, 3, 4, 5, 6, 7, …])",
        "masked": "Masked(key=***)",
        "order": "Order(id=7, lines=[1], more=2)",
        "own": "own repr",
        "bob": "User(id=2, name='bob')",
        "ann": "User(id=<not loaded>, name=<not loaded>)",
        "fresh": "User(name='eve')",
        "row": "Row(id=1, name='ann')",
        "book": "Book(id=1, title='War')",
        "later": "Book(id=2, title=<not loaded>)",
        "unsent": "<QuerySet of Book, not fetched>",
        "sent": "<QuerySet of Book> [Book(id=1, title='War')]",
    }
    assert told["points"]["shape"] == "100 Points"
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "[]\n", "")  # no repr was run, so no query was sent


KEPT = """
import importlib, sys, types
recorder = sys.modules["recorder"] = types.ModuleType("recorder")
recorder.__path__ = sys.argv[1:]
compare = importlib.import_module("recorder.sf_compare")
import numpy as np, pandas as pd
table, column = pd.DataFrame({"a": [1, 2], "b": ["p", "q"]}), pd.Series([1.0, 2.0])
large, things = np.zeros(100000), np.array([1, "x"], dtype=object)
def changes(value, do):
    before = compare.held(value)
    do(value)
    return not compare.is_same(before, compare.held(value))
def put(at, new):
    return lambda value: value.__setitem__(at, new)
print([
    changes(table, put("c", 3)), changes(table, lambda value: value.loc.__setitem__((0, "a"), 9)),
    changes(table, lambda value: setattr(value, "columns", ["x", "y", "z"])), changes(column, put(1, 5.0)),
    changes(large, put(slice(None), 1.0)), changes(things, put(0, 2)),
])
print([changes(table, lambda value: value["x"].sum()), changes(column, lambda value: value.mean()),
       changes(table, lambda value: value.groupby("x").size())])
"""


def test_what_changed_in_a_table_is_seen_and_what_only_reads_it_changes_nothing(guests: Guests) -> None:
    python, env = guests
    ours = Path(stillframe.__file__).parent / "_target"
    command = [python, "-c", KEPT, str(ours / "recording"), str(ours)]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{[True] * 6}\n{[False] * 3}\n", done.stderr
