"""Errors of Node programs: what they came from, and in whose code they were thrown."""

from __future__ import annotations

from .conftest import User

CAUSES = """\
function read(row) { return row.cells[0].text; }
function load(rows) {
  try { return rows.map(read); }
  catch (e) { throw new Error('cannot load', { cause: e }); }
}
function main(rows) {
  try { return load(rows); }
  catch (e) { throw new RangeError('cannot start', { cause: e }); }
}
main([{ cells: [] }]);
"""


def test_the_whole_chain_of_causes_is_told_with_the_places(user: User) -> None:
    user.file("causes.js", CAUSES)
    rows = user.ok("crash", "--", "node", "causes.js").splitlines()
    assert rows[0].startswith("RangeError: cannot start at causes.js:8 in main; exit 1 after "), rows
    assert rows[1:3] == [
        "  from Error: cannot load at causes.js:4 in load",
        "  from TypeError: Cannot read properties of undefined (reading 'text') at causes.js:1 in read",
    ]
    user.file("round.js", "const a = new Error('a', { cause: 7 }), b = new Error('b', { cause: a });\nthrow b;\n")
    rows = user.ok("crash", "--", "node", "round.js").splitlines()
    assert rows[1:3] == ["  from Error: a at round.js:1 in <module>", "  from number 7"]
    user.file("many.mjs", "const one = async () => { throw new TypeError('one'); };\nawait Promise.any([one()]);\n")
    rows = user.ok("crash", "--", "node", "many.mjs").splitlines()
    assert rows[1] == "  TypeError: one at many.mjs:1 in one"
    user.file("ring.js", "const a = new Error('a'), b = new Error('b', { cause: a });\na.cause = b;\nthrow b;\n")
    rows = user.ok("crash", "--", "node", "ring.js").splitlines()
    assert (rows[1], rows[2][:4]) == ("  from Error: a at ring.js:1 in <module>", "  1 "), "a ring is gone round once"


def test_a_nameless_function_that_goes_on_after_an_await_is_not_called_the_module(user: User) -> None:
    handler = "const on = (handle) => setTimeout(() => handle(undefined), 1);\non(async (user) => {\n  await null;\n"
    for name in ("bare.js", "bare.mjs"):
        user.file(name, f"{handler}  return user.name;\n}});\n")
        user.ok("launch", name)
        assert user.ok("exception").endswith(f"\npassed: <anonymous> {name}:4\n")
        user.ok("stop")
    user.file("top.mjs", "await null;\nnull.x;\n")
    user.ok("launch", "top.mjs")
    assert user.ok("exception").endswith("\npassed: <module> top.mjs:2\n")
