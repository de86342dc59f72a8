"""What a runtime wrote of a fault, read for a report."""

from __future__ import annotations

from stillframe.model.reports import Failure, ReportFrame, Witnessed
from stillframe.ops.sanitized import PANIC, with_message

TWO = """\
thread 'w1' (4711) panicked at src/shop.rs:9:5:
caught: later: all is well
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

thread 'main' (4700) panicked at src/shop.rs:12:30:
called `Option::unwrap()` on a `None` value
"""


def panicked(line: int, said: str) -> str:
    frame = ReportFrame(function="shop::main", file="/home/ann/shop/src/shop.rs", line=line)
    return with_message(Failure(what=PANIC, kind="exception", stack=Witnessed(frames=(frame,))), said).what


def test_a_panic_of_rust_is_told_with_the_message_of_its_own_line() -> None:
    assert panicked(12, TWO) == "panic: called `Option::unwrap()` on a `None` value"
    assert panicked(9, TWO) == "panic: caught: later: all is well"
    assert panicked(7, TWO) == "panic", "none was told of that line"
    old = "thread 'main' panicked at 'index out of bounds: the len is 3', src/shop.rs:7:3\n"
    assert panicked(7, old) == "panic: index out of bounds: the len is 3", "as until Rust 1.72"
    lines = (
        "thread 'main' panicked at 'assertion failed: `(left == right)`\n  left: `3`,\n right: `5`', src/shop.rs:8:3\n"
    )
    assert panicked(8, lines + old) == "panic: assertion failed: `(left == right)`"
    assert panicked(7, lines + old) == "panic: index out of bounds: the len is 3"
