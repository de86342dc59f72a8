"""What changed in a frame since it was held last."""

from __future__ import annotations

from stillframe.model.outcomes import Change
from stillframe.model.values import Value
from stillframe.session.evidence import Remembered, compare


def test_a_list_that_grew_where_its_text_is_cut_is_told_by_its_length() -> None:
    before = Remembered("f", "a.js", None, {"rows": ("[1, 2, …]", 9), "n": ("1", None)}, None)
    now = (Value(name="rows", value="[1, 2, …]", total=10), Value(name="n", value="2"), Value(name="new", value="3"))
    assert compare(before, now)[1] == (
        Change(name="rows", old="[1, 2, …] (9 in all)", new="[1, 2, …] (10 in all)"),
        Change(name="n", old="1", new="2"),
        Change(name="new", new="3"),
    )
