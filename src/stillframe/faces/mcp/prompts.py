"""Prompts for the usual hunts: each names the one call to begin with and what to look at."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ...errors import UsageError


class Hunt(msgspec.Struct, frozen=True):
    """A prompt: its arguments by name, the required ones first, and the text they go into."""

    name: str
    doc: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        missing = [name for name in self.arguments if not given.get(name)]
        if missing:
            raise UsageError(f"the prompt {self.name} needs {', '.join(missing)}")
        return self.text.format(**{name: given[name] for name in self.arguments})


_COMMAND = "the command that shows it, such as: pytest tests/test_cart.py::test_total"

HUNTS = {
    each.name: each
    for each in (
        Hunt(
            "wrong-value",
            "Find where a value goes wrong.",
            {"command": _COMMAND, "place": "where it is seen to be wrong, such as cart.py:31", "value": "the expression"},
            "`{value}` is wrong at {place} in: {command}\n"
            "1. probe with places [{place}], eval [{value}] and hits 3: is it reached, and is the value wrong there already?\n"
            "2. Name the function or line that made the value; probe that place too, in the same call as the first.\n"
            "3. At the first place where input is right and output wrong, launch to it and go how=next count=5: every line "
            "tells what it changed.\n"
            "Do not step more than three times in a row; probe a nearer place instead. Answer with the line, the evidence "
            "(values before and after) and the smallest change that mends it.",
        ),
        Hunt(
            "crash",
            "Find why a program ends with an error.",
            {"command": _COMMAND},
            "This ends with an error: {command}\n"
            "1. crash with this command: the error and its causes, the calls that led there and their values.\n"
            "2. Where that does not explain it, the same with hold: eval what the failing line uses, state part=locals with "
            "frame f1, f2 for its callers.\n"
            "3. Say which caller handed over the wrong value, then trace or probe that place to see how it came about.\n"
            "Answer with the line, the evidence and the smallest change that mends it.",
        ),
        Hunt(
            "red-test",
            "Find why a test fails.",
            {"test": "the test, such as tests/test_cart.py::test_total"},
            "This test is red: {test}\n"
            "1. test with it: what was compared, the frame that failed and the calls that led there, with their values.\n"
            "2. Name the function that made the wrong value, and trace it in the same test: what each of its lines changed.\n"
            "Answer with the line, the evidence (values before and after) and the smallest change that mends it.",
        ),
        Hunt(
            "which-iteration",
            "Find the turn of a loop, or the call, in which it goes wrong.",
            {"command": _COMMAND, "place": "a line in the loop", "condition": "what is true when it is wrong"},
            "Something is wrong at {place} only when `{condition}`, in: {command}\n"
            "1. launch with breaks ['{place} if {condition}']: the first stop is the first wrong turn.\n"
            "2. state gives the whole of it; eval the inputs of that turn.\n"
            "`exited` without a stop means that the condition never held there: say so, and try an earlier place.",
        ),
        Hunt(
            "request",
            "See what a server does with one request.",
            {"command": "the command that starts it", "ready": "what it prints when it is up, or :PORT",
             "place": "a line in the handler", "do": "the shell command that sends the request"},
            "Look at how {place} handles one request.\n"
            "probe with command {command}, ready {ready}, do {do} and places [{place}]. `not_reached` means that the request "
            "took another way: probe the router. Answer with what the handler saw and what it sent.",
        ),
        Hunt(
            "hang",
            "Find out what a program waits for.",
            {"command": "the command, or the pid, of the program that does not go on"},
            "This does not go on: {command}\n"
            "1. hang with this command and timeout 5, or with the pid: who waits where, for what, and who holds it.\n"
            "2. Where nobody waits it is a loop: launch it, go how=pause, and go how=next count=5 tells what still changes.\n"
            "Answer with the two places that wait for each other, or the loop that never ends and the value that keeps it going.",
        ),
    )
}  # fmt: skip
