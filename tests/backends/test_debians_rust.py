"""Rust as Debian 12 has it, 1.63: how its programs, its library's sources and its panics are known, wherever the tests run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stillframe.adapters import elf, native, runners
from stillframe.adapters.runners.cargotest import CARGO_TEST
from stillframe.model.outcomes import Exited
from stillframe.model.values import Frame

REPORT = """\

running 4 tests
test an_error ... FAILED
test lines ... FAILED
test sides ... FAILED
test stands ... ok

failures:

---- an_error stdout ----
thread 'an_error' panicked at 'assertion failed: `(left == right)`
  left: `1`,
 right: `0`: the test returned a termination value', /usr/src/rustc-1.63.0/library/test/src/lib.rs:184:5
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- lines stdout ----
said before
thread 'lines' panicked at 'first
second: it's, ok', src/lib.rs:22:18

---- sides stdout ----
thread 'sides' panicked at 'assertion failed: `(left == right)`
  left: `"it's: x"`,
 right: `"line\\nb"`: why 3', src/lib.rs:20:36


failures:
    an_error
    lines
    sides

test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
"""


def test_its_librarys_sources_are_not_the_users_and_others_beside_them_are() -> None:
    def is_library(file: str) -> bool:
        return native.is_library(Frame(function="f", file=file))

    assert is_library("/usr/src/rustc-1.63.0/library/std/src/panicking.rs")
    assert is_library("/usr/src/rustc-1.63.0/vendor/rustc-demangle/src/lib.rs")
    assert not is_library("/usr/src/app/main.rs"), "as in many a container"


@pytest.mark.parametrize(
    ("file", "crate"),
    {
        "/usr/src/rustc-1.63.0/library/core/src/panicking.rs": "core",
        "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs": "std",
        "/home/a/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs": "alloc",
        "/home/a/.cargo/registry/src/index-6f17d22bba15001f/serde-json-1.0.2/src/de.rs": "serde-json",
        "/usr/include/c++/12/bits/stl_vector.h": "app",
        None: "app",
    }.items(),
)
def test_a_call_of_a_crate_is_called_by_that_and_not_by_the_program_that_has_it_inside(
    file: str | None, crate: str
) -> None:
    assert native.library_of(Frame(function="f", file=file, module="app")) == crate


def test_a_program_is_rusts_by_what_gdb_is_to_load_where_the_compiler_left_no_comment(tmp_path: Path) -> None:
    if (cc := shutil.which("cc")) is None:
        pytest.skip("cc is not installed")
    names = '__attribute__((section(".debug_gdb_scripts"), used)) static const char names[] = "\\1%s.py";\n'
    for script, is_rust in (("gdb_load_rust_pretty_printers", True), ("gdb_load_others", False)):
        (tmp_path / "app.c").write_text(names % script + "int main(void) { return 0; }\n")
        subprocess.run([cc, "app.c", "-o", script], cwd=tmp_path, check=True)
        found = elf.read(tmp_path / script)
        assert found is not None and found.is_rust is is_rust


def test_a_panic_of_several_lines_is_read_with_its_two_sides_and_an_error_given_back_has_no_place(
    tmp_path: Path,
) -> None:
    (tmp_path / "who").write_text("cargo 1.65.0\n")
    (tmp_path / "report").write_text(REPORT)
    told = CARGO_TEST.read(runners.TestAsk(None, (), str(tmp_path), str(tmp_path)), tmp_path, Exited(exit_code=101))
    lines, sides, error = told.failures
    assert (lines.id, lines.message, lines.line, lines.output) == (
        "lines",
        "first\nsecond: it's, ok",
        22,
        "said before\n",
    )
    assert [(each.name, each.value) for each in sides.operands] == [("left", '"it\'s: x"'), ("right", '"line\\nb"')]
    assert (sides.file, sides.line) == ("src/lib.rs", 20)
    assert (error.id, error.frames) == ("an_error", ())
    assert error.message == "the test returned a termination value"


EXAMPLE = """\

running 1 test
test src/lib.rs - total (line 1) ... FAILED

failures:

---- src/lib.rs - total (line 1) stdout ----
Test executable failed (exit status: 101).

stderr:
thread 'main' panicked at 'assertion failed: `(left == right)`
  left: `3`,
 right: `6`', src/lib.rs:4:1
stack backtrace:
   0: rust_begin_unwind
             at /usr/src/rustc-1.63.0/library/std/src/panicking.rs:584:5


failures:
    src/lib.rs - total (line 1)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.41s
"""


def test_what_an_example_of_the_documentation_compared_is_told(tmp_path: Path) -> None:
    (tmp_path / "who").write_text("cargo 1.65.0\n")
    (tmp_path / "report").write_text(EXAMPLE)
    told = CARGO_TEST.read(runners.TestAsk(None, (), str(tmp_path), str(tmp_path)), tmp_path, Exited(exit_code=101))
    (example,) = told.failures
    assert [(each.name, each.value) for each in example.operands] == [("left", "3"), ("right", "6")]
    assert (example.file, example.line) == ("src/lib.rs", 2)
