"""What native functions are called in a stop, whatever their debugger puts around it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import stillframe

_FILE = Path(stillframe.__file__).parent / "_target" / "native" / "sf_names.py"
_SPEC = importlib.util.spec_from_file_location("sf_names", _FILE)
assert _SPEC is not None and _SPEC.loader is not None
names = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(names)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("main", "main"),
        ("::free", "free"),
        ("int shop::scale<int, 3>(int)", "shop::scale<int, 3>"),
        ("static virtual void Foo::bar(std::map<int, char>)", "Foo::bar"),
        (
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "std::vector<int, std::allocator<int> >::push_back",
        ),
        ("operator()", "operator()"),
        ("main::{lambda(int, int)#1}::operator()(int, int) const", "main::{lambda(int, int)#1}::operator()"),
        ("Foo::operator bool() const", "Foo::operator bool"),
        ("Foo::operator->()", "Foo::operator->"),
        ("operator new(unsigned long)", "operator new"),
        ("bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"),
        ("(anonymous namespace)::helper(int)", "(anonymous namespace)::helper"),
        ("void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"),
        ("p::main::h0123456789abcdef", "p::main"),
        ("<p::A as p::B>::go", "<p::A as p::B>::go"),
        ("_$LT$p..A$u20$as$u20$p..B$GT$::go::h0123456789abcdef", "<p::A as p::B>::go"),
        ("p::main::_$u7b$$u7b$closure$u7d$$u7d$", "p::main::{{closure}}"),
        ("p::apply<fn(i32) -> i32>", "p::apply<fn(i32) -> i32>"),
    ],
)
def test_a_function_is_told_without_arguments_and_result(told: str, name: str) -> None:
    assert names.bare(told) == name
