"""Patterns with possessive groups match as they should on every Python, the faulty ones before 3.11.5 included."""

from __future__ import annotations

import re

from stillframe.model.patterns import _atomic, possessive

QUOTED = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"


def test_a_group_that_is_repeated_possessively_is_an_atomic_one_where_that_is_needed() -> None:
    assert _atomic(r"a(?:b[)(]\)|(c)?)*+d(e)++[*+](f)+\++") == r"a(?>(?:b[)(]\)|(c)?)*)d(?>(e)+)[*+](f)+\++"
    assert _atomic(r"(?:(?:a|b)*+c)?+") == r"(?>(?:(?>(?:a|b)*)c)?)"
    assert _atomic(r"(?:a,){0,3}+(b){2}+(c){2,}") == r"(?>(?:a,){0,3})(?>(b){2})(c){2,}"
    for compiled in (possessive(QUOTED), re.compile(_atomic(QUOTED))):
        assert compiled.findall(r"'a' 'it\'s' 'x\\' y '") == ["'a'", r"'it\'s'", r"'x\\'"]
