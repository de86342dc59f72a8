"""What a red test printed is told beside it: of that test where its runner knows, else of its file or of the run, and said so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import User
from .test_test_runners import GUESTS, PATIENT, missing

IMPORTS = {
    "jest": "",
    "vitest": 'import { describe, it, expect, beforeEach } from "vitest";\n',
    "mocha": 'const assert = require("node:assert");\n',
    "node": 'const assert = require("node:assert");\nconst { describe, it, beforeEach } = require("node:test");\n',
}
FILES = {"jest": "a.test.js", "vitest": "a.test.mjs", "mocha": "test/a.js", "node": "a.test.js"}
CHATTY = r"""
console.log("loading");
describe("shop", () => {
  beforeEach(() => console.log("before"));
  it("is first", () => console.log("from first"));
  it("adds up", () => {
    console.log("basket", "50");
    console.error("odd \x1b[31mred\x1b[0m\x07");
    process.stdout.write(Buffer.from([0x61, 0xff, 0xfe, 0x0a]));
    console.log("half \ud800 end");
    CLAIM
  });
  it("is last", () => console.log("from last"));
});
"""
FLOOD = """
describe("flood", () => {
  it("is much", () => {
    for (let at = 0; at < 100; at++) console.log("SIGN".repeat(100000));
    console.log("the end of it");
    CLAIM
  });
});
"""


def project(user: User, runner: str) -> str:
    """A project of this runner; the claim that fails in its words."""
    if runner != "node" and not (GUESTS / runner).is_dir():
        missing(f"{runner} (./dev test brings it)")
    script = "node --test" if runner == "node" else runner
    user.file("package.json", f'{{"private": true, "scripts": {{"test": "{script}"}}}}')
    if runner != "node":
        (user.here / "node_modules").symlink_to(GUESTS)
    return "expect(1).toBe(2);" if runner in ("jest", "vitest") else "assert.equal(1, 2);"


def red(user: User, *words: str) -> dict[str, Any]:
    (failed,) = user.json("test", "--once", *PATIENT, *words)["failures"]
    return dict(failed)


@pytest.mark.long
@pytest.mark.parametrize("runner", IMPORTS)
def test_what_a_red_test_printed_is_told_and_whose_it_was(user: User, runner: str) -> None:
    claim = project(user, runner)
    user.file(FILES[runner], IMPORTS[runner] + CHATTY.replace("CLAIM", claim))
    failed, text = red(user), user.ok("test", "--once", *PATIENT)
    raw, own, stderr = "a\ufffd\ufffd\n", "before\nbasket 50\nRAWhalf \ufffd end\n", "odd \x1b[31mred\x1b[0m\x07\n"
    if runner == "mocha":
        assert failed["output"] == own.replace("RAW", raw) and failed["stderr"] == stderr
        assert "shared" not in failed and "\noutput:\n  before\n" in text and '\nstderr: "odd red\\x07\\n"\n' in text, (
            text
        )
    elif runner == "vitest":
        assert failed["output"] == own.replace("RAW", "") and failed["stderr"] == stderr
        assert failed["shared"] == [{"by": "file", "output": "loading\n"}, {"by": "run", "output": raw}]
        assert '\noutput of the whole run: "a' in text, text
    else:
        whole = f"loading\nbefore\nfrom first\n{own.replace('RAW', raw)}before\nfrom last\n"
        assert failed["shared"] == [{"by": "file", "output": whole, "stderr": stderr}], "and no word of its reporters"
        assert "output" not in failed and "\noutput of its whole file:\n  loading\n" in text, text
    assert "\x1b" not in text and "\x07" not in text
    sign = "x" if runner == "node" else "é"  # Node 20 makes text of each chunk by itself, whatever it ends in
    user.file(FILES[runner], IMPORTS[runner] + FLOOD.replace("CLAIM", claim).replace("SIGN", sign))
    failed, text = red(user), user.ok("test", "--once", *PATIENT)
    told = failed if "output" in failed else failed["shared"][0]
    assert len(told["output"]) == 4000 and told["output"].endswith(f"{sign}\nthe end of it\n")
    assert told["printed"] == 100 * 100_001 + 14 and "(the end of 10,000,114 characters)" in text, text
    assert len(text) <= 4000
    if runner in ("mocha", "jest"):
        side_by_side(user, runner, claim)


def side_by_side(user: User, runner: str, claim: str) -> None:
    """Where files run in workers nobody knows whose a write past the runner is."""
    prints = "process.stdout.write('straight\\n'); console.log('kept');"
    source = f"{IMPORTS[runner]}it('is one of several', () => {{ {prints} CLAIM }});\n"
    first = Path(FILES[runner])
    user.file(str(first), source.replace("CLAIM", claim))
    for number in range(3):
        user.file(str(first.with_name(f"b{number}{first.name[1:]}")), source.replace("CLAIM", ""))
    # Jest does without workers where it remembers that files were quick, unless it is to watch the memory of those.
    words = ("--parallel",) if runner == "mocha" else ("--maxWorkers=2", "--workerIdleMemoryLimit=1GB")
    shared = red(user, "--", *words)["shared"]
    run = next(each["output"] for each in shared if each["by"] == "run")
    assert run.count("straight\n") == 4 and (run.count("kept\n") == 4) == (runner == "mocha"), shared
    assert [each["output"] for each in shared if each["by"] == "file"] == (["kept\n"] if runner == "jest" else [])
