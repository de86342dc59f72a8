"""`--since`: the same command in an earlier revision of the project, beside the present one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO

from .conftest import User

APP = """\
import sys
from prices import price


def total(rows):
    out = 0
    for row in rows:
        out += price(row)
    return out


print(total(["1", "x2", "3"]))
"""
GOOD = "def price(text):\n    return int(text.lstrip('x'))\n"
BAD = "# rewritten\ndef price(text):\n    return int(text)\n"


def git(user: User, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=user.here, check=True, capture_output=True)


@pytest.mark.long
def test_a_crash_is_told_beside_the_revision_that_had_none(user: User) -> None:
    user.file("app.py", APP)
    user.file("prices.py", GOOD)
    git(user, "init", "-q")
    git(user, "add", "app.py", "prices.py")
    git(user, "commit", "-qm", "one")
    user.file("app.py", APP.replace("out = 0\n", "out = 0\n    # as it was\n"))
    user.file("prices.py", BAD)
    told = user.ok("crash", "--since", "HEAD", "--", "python", "app.py")
    assert "ValueError: invalid literal" in told.splitlines()[0]
    assert "): ended well; exit 0" in told
    assert "first difference: prices.py:3 in price, hit 2: next return 2 -> raise ValueError: invalid literal" in told

    user.file("app.py", APP.replace('"1"', '"y1"'))
    found = user.json("crash", "--since", "HEAD", "--", "python", "app.py")["since"]
    assert (found["then"], found["end"]["exit_code"], found["places"]) == ("ended well", 0, 3)
    rows = found["difference"]["differences"][0]
    assert rows == {"name": "rows", "old": "['1', 'x2', '3']", "new": "['y1', 'x2', '3']"}
    user.file("again.py", "import app\n")
    told = user.ok("probe", "app.py:8", "--eval", "row", "--since", "HEAD", "--", "python", "again.py")
    assert "since HEAD" in told
    assert "\nnote: not there in HEAD, so the present one was taken: again.py\n" in told
    assert "): app.py:8 reached 3 times; exit 0" in told
    assert (
        "first difference: app.py:8 in total, hit 1: rows ['1', 'x2', '3'] -> ['y1', 'x2', '3'], row '1' -> 'y1'"
        in told
    )
    assert "what to run stands behind --" in user.fails("probe", "app.py:8", "app.py", code=2, error="usage")
    assert "app.py:8 reached" in user.ok("probe", "app.py:8", "--", "app.py"), "and so does a file that is no command"
    assert user.fails("crash", "--since", "nosuch", "--", "python", "app.py", code=2, error="usage")
    assert user.json("sessions")["sessions"] == []


@pytest.mark.long
def test_a_revision_that_would_run_the_present_tree_is_refused_by_each_verb(user: User) -> None:
    user.file("lib/prices.py", GOOD)
    insert = f"sys.path.insert(0, {str(user.here / 'lib')!r})"
    user.file("app.py", APP.replace("import sys\n", f"import sys\n{insert}\n"))
    user.file("test_app.py", "def test_total():\n    import app\n    assert app.total(['x2']) == 3\n")
    git(user, "init", "-q")
    git(user, "add", ".")
    git(user, "commit", "-qm", "one")
    user.file("lib/prices.py", BAD)
    ran = f"--since HEAD: the run of it ran {user.here / 'lib' / 'prices.py'}, a file of the present tree"
    since = ("--since", "HEAD")
    for words in (
        ("crash", *since, "--", "python", "app.py"),
        ("probe", "lib/prices.py:3", "--eval", "text", *since, "--", "python", "app.py"),
        ("test", "test_app.py", "--once", "--python", sys.executable, *since),
    ):
        assert ran in user.fails(*words, code=1, error="unsupported")
    assert user.json("sessions")["sessions"] == []


STOCK = """\
import random


def parse(line):
    sku, price = line.replace(" ", "").split(",")
    return {"sku": sku, "price": float(price)}


def load(lines):
    lucky = random.random()
    return {each["sku"]: each for each in map(parse, lines)}, lucky


def total(stock, wanted):
    out = 0.0
    for sku in wanted:
        out += stock[sku]["price"]
    return out


def main():
    stock, lucky = load(["A,10", "B,4", "C ,7"])
    print(total(stock, "ABC"), lucky)


main()
"""
BINS = """\
const bin = (size) => {
  const limit = size < 5 ? "small" : "large";
  return limit;
};
function main(sizes) {
  const bins = { small: [], large: [] };
  const chosen = sizes.map(bin);
  chosen.forEach((each, at) => bins[each].push(sizes[at]));
  return bins;
}
console.log(main([1, 5, 9]));
"""


@pytest.mark.long
def test_the_first_difference_may_lie_in_a_call_that_had_returned(user: User) -> None:
    user.file("stock.py", STOCK)
    user.file("bins.js", BINS)
    git(user, "init", "-q")
    git(user, "add", "stock.py", "bins.js")
    git(user, "commit", "-qm", "one")
    noted = "# what a line says\n" + STOCK.replace('.replace(" ", "")', "")
    user.file("stock.py", noted)
    told = user.ok("crash", "--since", "HEAD", "--", "python", "stock.py")
    assert "KeyError: 'C' at stock.py:18 in total" in told.splitlines()[0], "where nothing names the line that made it"
    assert "first difference: stock.py:6 in parse, hit 3: sku 'C' -> 'C '" in told, "a random number is no difference"

    user.file("stock.py", noted.replace('    return {"sku"', '    sku = sku.strip("C")\n    return {"sku"'))
    told = user.ok("crash", "--since", "HEAD", "--", "python", "stock.py")
    assert "first difference: stock.py:7 in parse, hit 3: sku 'C' -> ' '" in told, (
        "a line that was not there is told, too"
    )

    user.file("bins.js", BINS.replace("size < 5", "size <= 5").replace('"large";', '"big";'))
    told = user.ok("crash", "--since", "HEAD", "--", "node", "bins.js")
    assert "first difference: bins.js:2 in bin, hit 2: limit 'large' -> 'small'" in told


CART = """\
package cart

func Rate(code string) float64 {
	if code == "TEN" {
		return 0.1
	}
	return 0
}

func Total(price float64, code string) float64 {
	return price * (1 - Rate(code))
}
"""
CART_TEST = """\
package cart

import "testing"

func TestTen(t *testing.T) {
	if got := Total(10, "TEN"); got != 9 {
		t.Fatalf("got %v, want 9", got)
	}
}
"""


@pytest.mark.long
def test_a_failing_test_of_go_is_built_and_compared_in_both_revisions(user: User) -> None:
    if shutil.which("go") is None or find(GO.needs[0], os.environ, "/").path is None:
        pytest.skip("go and dlv are not installed")
    user.file("go.mod", "module example.com/cart\n\ngo 1.20\n")
    user.file("cart_test.go", CART_TEST)
    user.file("cart.go", CART)
    git(user, "init", "-q")
    git(user, "add", ".")
    git(user, "commit", "-qm", "good")
    user.file("cart.go", CART.replace("0.1", "0.01"))
    told = user.json("test", "--since", "HEAD", "--timeout", "100")["since"]
    assert told["then"] == "green, 1 passed"
    difference = told["difference"]
    assert (difference["file"], difference["line"], difference["hits"]) == ("cart_test.go", 7, [0, 1]), told


RATE_RS = """\
fn rate(code: &str) -> i64 {
    if code == "TEN" { 10 } else { 0 }
}

fn total(price: i64, code: &str) -> i64 {
    price - price * rate(code) / 100
}

#[test]
fn takes_ten() {
    let got = total(100, "TEN");
    assert_eq!(got, 90);
}
"""


@pytest.mark.long
def test_a_failing_test_of_rust_is_built_and_compared_in_both_revisions(user: User) -> None:
    if shutil.which("cargo") is None or find(GDB.needs[0], os.environ, "/").path is None:
        pytest.skip("cargo and gdb are not installed")
    user.file("Cargo.toml", '[package]\nname = "rates"\nversion = "0.1.0"\nedition = "2021"\n')
    user.file("src/lib.rs", RATE_RS)
    user.file(".gitignore", "target\nCargo.lock\n")
    git(user, "init", "-q")
    git(user, "add", ".")
    git(user, "commit", "-qm", "good")
    user.file("src/lib.rs", RATE_RS.replace("10 }", "1 }"))
    told = user.json("test", "--since", "HEAD", "--timeout", "100")
    assert told["since"]["then"] == "green, 1 passed"
    difference = told["since"]["difference"]
    assert (difference["file"], difference["line"]) == ("src/lib.rs", 12), told
    assert difference["differences"] == [{"name": "got", "old": "90", "new": "99"}]
    (frame,) = told["failures"][0]["frames"]
    assert frame["function"] == "rates::takes_ten", "and not what the attribute makes of it"


@pytest.mark.long
def test_a_program_that_was_built_of_the_present_tree_is_refused(user: User) -> None:
    user.file("app.c", "int main(void) { return 3; }\n")
    user.file("src/app.js", "throw new Error('now');\n")
    user.file(".gitignore", "dist\n")
    git(user, "init", "-q")
    git(user, "add", ".")
    git(user, "commit", "-qm", "one")
    user.file("dist/app.js", "throw new Error('now');\n")
    user.file("new.js", "require('./src/app.js');\n")
    said = "was built from the present tree and is not in HEAD, so that both runs would run the same code"
    since = ("--since", "HEAD", "--")
    assert said in user.fails("crash", *since, "node", "dist/app.js", code=1, error="unsupported")
    assert "no difference in what was looked at" in user.ok("crash", *since, "node", "new.js"), "that one was written"
    if shutil.which("cc") is not None and find(GDB.needs[0], os.environ, "/").path is not None:
        subprocess.run(["cc", "-g", "-o", "app", "app.c"], cwd=user.here, check=True)
        assert said in user.fails("crash", *since, "./app", code=1, error="unsupported")
        git(user, "add", "-f", "app")
        git(user, "commit", "-qm", "built")
        user.file("app.c", "#include <stdlib.h>\nint main(void) { abort(); }\n")
        subprocess.run(["cc", "-g", "-o", "app", "app.c"], cwd=user.here, check=True)
        git(user, "commit", "-qam", "aborts")
        ran = f"the run of it ran {user.here / 'app.c'}, a file of the present tree"
        assert ran in user.fails("crash", *since, "./app", code=1, error="unsupported"), "by what it says of itself"
    assert user.json("sessions")["sessions"] == []


@pytest.mark.long
@pytest.mark.parametrize("verb", ["crash", "test"])
def test_runs_again_and_again_are_compared_with_a_revision_too(user: User, verb: str) -> None:
    user.file("price.py", "def price(n):\n    return n * 2\n")
    user.file("test_price.py", "from price import price\n\ndef test_it():\n    got = price(2)\n    assert got == 4\n")
    user.file("app.py", "from price import price\n\ndef main():\n    got = price(2)\n    assert got == 4\n\nmain()\n")
    git(user, "init", "-q")
    git(user, "add", ".")
    git(user, "commit", "-qm", "one")
    user.file("price.py", "def price(n):\n    return n * 3\n")
    words = ("--", "python", "app.py") if verb == "crash" else ("--python", sys.executable)
    told = user.ok(verb, "--repeat", "2", "--since", "HEAD", *words)
    assert "failed 2 of 2 runs, one kind of failure; the first was run 1\n" in told
    assert "\nfirst difference: price.py:2 in price, hit 1: returned 4 -> 6\n" in told, told
    if verb == "test":
        assert "\ncalls that made got, returned:\n  price(n=2) = 6 price.py:2\n" in told, "as of a single run"
