"""What somebody found untrue of Node programs once."""

from __future__ import annotations

import pytest

from .conftest import User

LOOP = """function total(items) {
  let sum = 0;
  for (const { price, qty } of items) {
    sum += price * qty;
  }
  return sum;
}
console.log(total([{ price: 2, qty: 3 }, { price: 5, qty: 1 }]));
"""

PROMISES = """const ok = Promise.resolve({ a: 4 });
function held() {
  const here = [ok];
  return here;
}
held();
setTimeout(() => console.log('goes on'), 1);
"""


def test_variables_that_have_a_value_are_told_wherever_the_program_is_held(user: User) -> None:
    user.file("loop.js", LOOP)
    stop = user.json("launch", "loop.js", "--break", "loop.js:3")
    assert {"items", "sum"} <= {each["name"] for each in stop["locals"]}
    user.ok("next")
    told = user.json("next")
    (line,) = told["trail"]
    assert {"name": "sum", "old": "0", "new": "6"} in line["changes"]


def test_a_move_that_v8_does_not_have_is_refused_and_moves_nothing(user: User) -> None:
    user.file("loop.js", LOOP)
    user.ok("launch", "loop.js", "--break", "loop.js:3")
    for words, move in (
        (["step-back"], "step-back"),
        (["reverse-continue"], "reverse-continue"),
        (["next", "--instruction"], "next instruction"),
        (["step", "--instruction", "--count", "3"], "step instruction"),
    ):
        assert f"node cannot {move} (try: dbg raw)" in user.fails(*words, code=1, error="unsupported")
        state = user.json("state")
        assert (state["state"], state["frame"]["line"]) == ("stopped", 3)
    user.ok("next")


def test_a_variable_of_the_file_that_is_only_spread_is_told_where_it_is_used(user: User) -> None:
    user.file("spread.js", "const rest = [1, 2];\nfunction all() {\n  return [0, ...rest];\n}\nall();\n")
    stop = user.json("launch", "spread.js", "--break", "spread.js:3")
    assert [(each["name"], each["value"]) for each in stop["locals"]] == [("rest", "[1, 2]")]


def test_an_expression_that_fails_while_it_is_awaited_leaves_the_program_alone(user: User) -> None:
    user.file("promises.js", PROMISES)
    user.ok("launch", "promises.js", "--break", "promises.js:4")
    assert "ReferenceError: nowhere" in user.says("eval", "await nowhere()").err
    assert "ReferenceError: nowhere" in user.says("eval", "1 + (await nowhere())").err
    end = user.json("continue")
    assert (end["exit_code"], end["output"]) == (0, "goes on\n")


def test_what_a_settled_promise_holds_is_told_by_await(user: User) -> None:
    user.file("promises.js", PROMISES)
    user.ok("launch", "promises.js", "--break", "promises.js:4")
    assert "{a: 4}" in user.ok("eval", "await here[0]")
    assert "= 5" in user.ok("eval", "await 5")
    assert "still pending" in user.says("eval", "await new Promise(() => {})").err


def test_a_promise_that_is_handled_stops_nobody_and_a_throw_that_may_be_is_not_called_uncaught(user: User) -> None:
    user.file(
        "later.js",
        "Promise.reject(2).catch(() => {});\n"
        "const p = Promise.reject(new Error('later')); p.catch(() => 0);\n"
        "async function f() { throw new TypeError('async'); }\n"
        "const q = f();\n"  # V8 of Node 24 foresees what the next lines do with it
        "Promise.resolve().then(() => q.catch(() => console.log('handled')));\n",
    )
    stop = user.json("launch", "later.js")
    assert (stop["frame"]["line"], stop["exception"]["mode"]) == (3, "unhandled")
    assert "not handled so far" in user.ok("state")
    assert user.json("continue")["output"] == "handled\n"


def test_a_promise_that_node_or_an_optional_call_rejects_for_later_stops_nobody(user: User) -> None:
    """A writer of a stream that is released has promises that are rejected and marked as handled, in each request of
    a server that renders by streams."""
    user.file(
        "streams.js",
        "const { WritableStream } = require('stream/web');\n"
        "new WritableStream().getWriter().releaseLock();\n"
        "const waiting = {};\n"
        "const later = new Promise((_, reject) => { waiting.reject = reject; });\n"
        "waiting.reject?.(new Error('later'));\n"
        "later.catch(() => console.log('handled'));\n",
    )
    end = user.json("launch", "streams.js")
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "handled\n")


def test_a_thrown_text_stops_once(user: User) -> None:
    user.file("text.js", "setTimeout(() => { throw 'a text'; }, 1);\n")
    assert user.json("launch", "text.js")["exception"]["message"] == "'a text'"
    assert user.json("continue")["exit_code"] == 1


def test_a_rejection_that_nobody_handles_stops_when_that_is_sure(user: User) -> None:
    user.file("real.js", "Promise.reject(new Error('really'));\n")
    stop = user.json("launch", "real.js")
    assert (stop["frame"]["file"], stop["frame"]["line"], stop["exception"]["mode"]) == ("real.js", 1, "uncaught")


def test_source_that_does_not_compile_is_shown_where_it_is_at_fault(user: User) -> None:
    user.file("syntax.js", "console.log(1);\nconst a = {;\n")
    stop = user.json("launch", "syntax.js")
    assert (stop["frame"]["file"], stop["frame"]["line"]) == ("syntax.js", 2)
    assert stop["exception"]["message"] == "Unexpected token ';'"


@pytest.mark.parametrize("started", ["broken.mjs", "importer.mjs"])
def test_a_module_that_does_not_compile_is_shown_where_it_is_at_fault_whoever_imports_it(
    user: User, started: str
) -> None:
    user.file("broken.mjs", "const a = 1;\nexport const f = () => {\n  let b = ;\n};\n")
    user.file("importer.mjs", "import { f } from './broken.mjs';\nf();\n")
    stop = user.json("launch", started)
    assert (stop["frame"]["file"], stop["frame"]["line"], stop["frame"]["column"]) == ("broken.mjs", 3, 11)
    assert stop["exception"]["message"] == "Unexpected token ';'"


@pytest.mark.parametrize("move", ["next", "step", "finish"])
def test_a_step_from_an_error_whose_calls_are_gone_goes_on_to_what_comes_of_it(user: User, move: str) -> None:
    handled = "process.on('uncaughtException', (e) => console.log('handled', e.message));\n"
    user.file("late.mjs", f"{handled}await 0;\nfunction g() {{ throw new RangeError('late'); }}\ng();\n")
    stop = user.json("launch", "late.mjs")
    assert (stop["frame"]["line"], stop["exception"]["type"]) == (3, "RangeError")
    assert "the calls that threw it are gone" in user.says("set-return", "3").err
    end = user.json(move)
    assert (end["exit_code"], end["output"]) == (0, "handled late\n")


def test_a_breakpoint_in_a_library_stops_in_the_library(user: User) -> None:
    user.file("node_modules/lib/index.js", "exports.twice = (x) => {\n  const y = x * 2;\n  return y;\n};\n")
    user.file("app.js", "const { twice } = require('lib');\nconsole.log(twice(4));\n")
    stop = user.json("launch", "app.js", "--break", "node_modules/lib/index.js:2")
    assert (stop["frame"]["file"], stop["frame"]["line"]) == ("node_modules/lib/index.js", 2)
    assert [each["value"] for each in stop["locals"] if each["name"] == "x"] == ["4"]


PRIVATE = """class Price {
  #net; #vat;
  constructor({ net, vat }) { this.#net = net; this.#vat = vat; }
  get gross() {
    const gross = this.#net * (1 + this.#vat);
    return gross;
  }
}
const rows = [{ net: 1, vat: 0.2 }, { net: 2 }];
for (const row of rows) console.log(new Price(row).gross);
"""


@pytest.mark.long
def test_private_names_can_be_asked_for_wherever_their_class_has_them(user: User) -> None:
    user.file("price.js", PRIVATE)
    (place,) = user.json(
        "probe", "price.js:5", "--eval", "this.#net", "--expect", "this.#vat >= 0", "--", "node", "price.js"
    )["places"]
    assert (place["claims"][0]["held"], place["claims"][0]["violated"], place["gathered"][0]["most"]) == (1, 1, "2")
    text = user.ok("trace", "Price.gross", "--if", "this.#vat === undefined", "--", "node", "price.js")
    assert "call 2 of 2" in text, text
    stop = user.json("launch", "price.js", "--break", "price.js:5 if this.#vat === undefined")
    assert "#net: 2" in stop["locals"][0]["value"], stop
    user.ok("stop")
    # Where no class has them, that is what is said.
    why = "Private field '#vat' must be declared in an enclosing class"
    text = user.ok("probe", "price.js:9", "--expect", "rows[0].#vat >= 0", "--", "node", "price.js")
    assert text.startswith("price.js:9 unbound: price.js cannot be rewritten for recording: ") and why in text, text
    text = user.ok("launch", "price.js", "--break", "price.js:9 if rows[0].#vat === undefined")
    assert f"note: the condition of b1 raised SyntaxError: {why}" in text, text
    user.ok("stop")
    text = user.ok("launch", "price.js", "--break", "price.js:5 if this.#vat ===")
    assert "b1 failed (its condition does not compile: SyntaxError: " in text, text
