"""The record, as a user meets it: everything seen can be asked again, in this run, after it died, and against another run."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from stillframe.adapters.finding import tools_directory

from .conftest import User, eventually, gone

pytestmark = pytest.mark.own_daemon

PYTHON = """\
class Cart:
    def __init__(self, n):
        self.items, self.note, self.last = [{"sku": "a", "qty": n}], "a note " * 40, n

    def total(self, k):
        out = 0
        for item in self.items:
            out += item["qty"] * k
        return out


password = "tiger" + "99"
for i in range(6):
    print("total", Cart(i).total(2))
"""
NODE = """\
class Cart {
  constructor(n) {
    this.items = [{ sku: 'a', qty: n }]; this.note = 'a note '.repeat(40); this.last = n;
  }
  total(k) {
    let out = 0;
    for (const item of this.items) {
      out += item.qty * k;
    }
    return out;
  }
}
const password = 'tiger' + '99';
for (let i = 0; i < 6; i++) {
  console.log('total', new Cart(i).total(2));
}
"""


NATIVE = """\
#include <stdio.h>
struct item { int qty; };
static int total(struct item item, int k) {
  int out = item.qty * k;
  return out;
}
int main(void) {
  for (int i = 0; i < 6; i++) {
    struct item item = {i};
    printf("%d\\n", total(item, 2));
  }
}
"""
GO = """\
package main

import "fmt"

type item struct{ qty int }

func total(it item, k int) int {
	out := it.qty * k
	return out
}

func main() {
	for i := 0; i < 6; i++ {
		fmt.Println(total(item{i}, 2))
	}
}
"""


@pytest.mark.parametrize(
    ("name", "text", "line", "path", "function", "tool"),
    [("shop.c", NATIVE, 5, "item.qty", "total", "gdb"), ("shop.go", GO, 9, "it.qty", "main.total", "dlv")],
)
def test_runs_of_compiled_programs_are_recorded_and_asked_the_same_way(
    user: User, name: str, text: str, line: int, path: str, function: str, tool: str
) -> None:
    if not (shutil.which(tool) or any(tools_directory(os.environ).rglob(tool))):
        pytest.skip(f"{tool} is not installed")
    user.file(name, text)
    run_through(user, f"{name}:{line}", 4, name)
    found = user.json("hits", f"{name}:{line}", "--where", f"{path} > 1 and out >= 4")
    assert [each["hit"] for each in found["hits"]] == ["h3", "h4"]
    assert {each["function"] for each in found["hits"]} == {function}
    assert user.ok("hits", "--count-by", "k") == "2 4\n"
    user.ok("save", "one")
    user.ok("stop")
    run_through(user, f"{name}:{line}", 2, name)
    user.ok("stop")
    different = user.json("diff", "one")["different"]
    assert [(each["hits"], each.get("first")) for each in different] == [([4, 2], None)]
    assert "post mortem" in user.ok("locals")


CPP = """\
namespace shop {
template <typename T> struct Cart {
  T sum = 0;
  void add(T price) {
    sum += price;
  }
};
}
int main() { shop::Cart<int> cart; cart.add(2); return cart.sum - 2; }
"""
RUST = """\
struct Cart { sum: i64 }
impl Cart {
    fn add(&mut self, price: i64) {
        self.sum += price;
    }
}
fn main() { let mut cart = Cart { sum: 0 }; cart.add(2); println!("{}", cart.sum); }
"""


@pytest.mark.parametrize(
    ("name", "text", "line", "function", "compiler"),
    [("shop.cpp", CPP, 5, "shop::Cart<int>::add", "c++"), ("shop.rs", RUST, 4, "shop::Cart::add", "rustc")],
)
def test_functions_are_recorded_by_their_plain_names(
    user: User, name: str, text: str, line: int, function: str, compiler: str
) -> None:
    if not shutil.which(compiler) or not (shutil.which("gdb") or any(tools_directory(os.environ).rglob("gdb"))):
        pytest.skip(f"gdb or {compiler} is not installed")
    user.file(name, text)
    user.ok("launch", name, "--break", f"{name}:{line}")
    user.ok("stop")
    assert [each["function"] for each in user.json("hits", f"{name}:{line}")["hits"]] == [function]


@pytest.fixture(params=["shop.py", "shop.js"])
def program(request: pytest.FixtureRequest, user: User) -> str:
    name: str = request.param
    if name.endswith(".js") and not shutil.which("node"):
        pytest.skip("node is not installed")
    user.file(name, PYTHON if name.endswith(".py") else NODE)
    return name


def run_through(user: User, place: str, stops: int, program: str) -> None:
    user.ok("launch", program, "--break", place)
    for _ in range(stops - 1):
        user.ok("continue")


def daemon_pid(user: User) -> int:
    return int(user.ok("daemon", "status").split("pid ")[1].split(",")[0].split()[0])


def test_hits_are_listed_counted_filtered_and_followed_while_the_program_is_held_and_after(
    user: User, program: str
) -> None:
    place = f"{program}:8"
    run_through(user, place, 4, program)
    assert user.json("hits")["total"] == 4
    user.ok("next")
    found = user.json("hits", place)
    assert [each["hit"] for each in found["hits"]] == ["h1", "h2", "h3", "h4"]
    assert user.ok("hits", place, "--start", "9") == "nothing from 9 on: there are 4\n"
    assert user.ok("history", "--start", "9") == "nothing from 9 on: there are 1\n"
    assert {each["function"] for each in found["hits"]} == {"Cart.total"}
    assert user.json("hits", "Cart.total")["hits"][4]["step"] is True
    assert user.ok("hits", place, "--count-by", "item.qty").split("\n")[:4] == ["0 1", "1 1", "2 1", "3 1"]
    assert user.ok("hits", "--count-by", "k", "--no-steps") == "2 4\n"
    for words in (("--where", "item.qty.more == 1"), ("--count-by", "item.nope")):
        assert "recorded in these hits" in user.fails("hits", place, *words, code=1, error="not_found")
    assert "item has " in user.fails("hit-trend", place, "item.nope", code=1, error="not_found")
    where = user.json("hits", place, "--where", "item.qty >= 2 and k == 2")
    assert [each["hit"] for each in where["hits"]] == ["h3", "h4"]
    # What is inside a value is recorded where its text does not tell it, and what is not, is said.
    cart = "self" if program.endswith(".py") else "this"
    assert [each["hit"] for each in user.json("hits", place, "--where", f"{cart}.last > 1")["hits"]] == ["h3", "h4"]
    assert "deeper than what was recorded" in user.ok("hits", place, "--where", f"{cart}.note == 'a note'")
    assert "0 .. 3 over 4 hits" in user.ok("hit-trend", place, "item.qty", "--plot", "t.svg")
    assert (user.here / "t.svg").read_text().startswith("<svg")
    user.ok("hit-trend", place, "item.qty", "--plot", "t.svg")
    assert "is no drawing" in user.fails("hit-trend", place, "item.qty", "--plot", program, code=2, error="usage")
    changed = user.json("hit-diff", "h1", "h4")["differences"]
    assert "item" in {each["name"] for each in changed} and "k" not in {each["name"] for each in changed}
    assert "there are: " in user.fails("hits", f"{program}:3", code=1, error="not_found")
    assert "recorded there: " in user.fails("hits", place, "--where", "nope > 1", code=1, error="not_found")
    assert "ends too soon" in user.fails("hits", place, "--where", "k >", code=2, error="usage")
    crossed = user.json("cross", "Cart.total")
    assert (crossed["total"], crossed["file"]) == (5, program)
    assert any("total" in each["text"] for each in crossed["source"])
    user.ok("stop")
    assert user.ok("history", "r1", "--start", "1").endswith(" shown, from 1\n")
    told = user.json("history", "r1")
    done = [(each["op"], each["outcome"]) for each in told["operations"] if each["seconds"] > 0]
    assert done[:2] == [("launch", "stopped"), ("continue", "stopped")] and done[-1] == ("stop", "ok")
    assert [(each["breakpoint"], each["state"], each["hits"]) for each in told["breakpoints"]] == [("b1", "bound", 4)]
    assert user.json("hits")["total"] == 5
    assert "post mortem, from the record: r1.h5" in user.ok("locals")
    kept = {each["name"]: each for each in user.json("locals", "--hit", "h4")["values"]}
    assert [each["value"] for each in kept[cart]["children"] if each["name"] == "last"] == ["3"]
    assert "Cart.total" in user.ok("stack", "--hit", "h2")
    parts = user.json("expand", cart, "--hit", "h4")
    assert ("last", "3") in [(each["name"], each["value"]) for each in parts["values"]]
    assert "r1.h4" in parts["notes"][0]
    assert "qty = 3" in user.ok("expand", "item", "--hit", "h4")
    assert "nothing more that was recorded: 2" in user.fails("expand", "k", code=1, error="not_found")
    missed = user.fails("expand", "v1", code=1, error="not_found")
    assert "handles went with the program" in missed and cart in missed.split("there are: ")[1]
    assert "recorded there" in user.fails("expand", f"{cart}.nope", code=1, error="not_found")


def test_a_run_before_an_edit_compares_with_a_run_after_it_and_both_can_be_gone_through_again(
    user: User, program: str
) -> None:
    run_through(user, f"{program}:8", 6, program)
    user.ok("continue")
    user.ok("save", "before")
    user.fails("save", program.partition(".")[0], code=2, error="usage")
    comment = "# a line more\n" if program.endswith(".py") else "// a line more\n"
    text = (user.here / program).read_text()
    user.file(program, comment * 3 + text.replace("out = 0", "out = 0.5"))
    run_through(user, f"{program}:11", 3, program)
    user.ok("next")
    user.ok("stop")
    user.ok("save", "after")
    found = user.json("diff", "before", "after")
    assert (found["both"], found.get("only_first")) == (1, None)
    assert [each["count"] for each in found["only_second"]] == [1], "the place of the step"
    (different,) = found["different"]
    assert (different["place"], different["was"]) == (f"{program}:11", f"{program}:8")
    assert (different["hits"], different["first"]) == ([6, 3], 1)
    assert {each["name"]: (each["old"], each["new"]) for each in different["differences"]} == {"out": ("0", "0.5")}
    assert "note: an edit has moved the line: it was 8, and is 11\n" in user.ok("hit-diff", "r1.h1", "r2.h1")
    assert "note: they are hits of different places\n" in user.ok("hit-diff", "r1.h1", "r2.h4")
    assert user.says("diff", "before", "before").code == 2
    assert len(user.json("diff", "before", "after", "--top", "0")["different"]) == 1, "or there would seem to be none"
    missed = user.fails("hits", f"{program}:11", "--run", "r1", code=1, error="not_found")
    assert "was there" in missed and f"(try: dbg hits {program}:11 --run r2)" in missed
    for words in (("save", "r7"), ("save", "h7"), ("replay", ""), ("events", "--since", "99999")):
        user.fails(*words, code=2, error="usage")
    assert user.json("events", "--since", "1", "--count", "0")["cursor"] == "1"
    assert "stdout" not in user.json("output", "--session", "before", "--bytes", "0")

    assert f"at {program}:8 in Cart.total" in user.ok("replay", "before")
    assert "out=0" in user.ok("continue") and "3 of 6" in user.ok("next")
    assert user.ok("eval", "item.qty") == "item.qty = 2\n"
    assert "qty = 2\n" in user.ok("expand", "item"), "though its text shows all of it"
    assert "2 of 6" in user.ok("step-back")
    other = user.json("diff", "before")["second"]
    assert other["saved"] == ["after"], "not with itself, though it is the run that the current session goes through"
    assert "not recorded here" in user.says("eval", "nothing").out + user.says("eval", "nothing").err
    assert "(try: dbg replay r1)" in user.fails("restart", code=3, error="wrong_state")
    assert "try" not in user.fails("memory", "0", code=1, error="unsupported")
    again = user.json("continue", "--count", "3")
    assert "5 of 6" in again["notes"][0] and "total 6\n" in again["output"], "what had been printed by then"
    assert "total 0\n" in user.json("output")["stdout"]
    for ending in ("threads", "stop"):  # while it is gone through, and after
        user.ok(ending)
        assert user.json("hits")["total"] == 6, "of the run that is gone through, not of the newest"
    assert user.json("history")["total"] == 2, "a replay is no run"
    user.ok("replay", "before")
    assert f"b1 failed at {program}:3: the recording has no hit there" in user.ok("break", f"{program}:3")
    over = user.ok("continue")
    assert "(try: dbg replay r1)" in user.fails("next", code=3, error="wrong_state")
    assert "the recording is over (its program exited 0)" in over and "child processes" not in over


def test_what_ran_since_a_session_ended_is_what_is_asked_about(user: User) -> None:
    user.file("app.py", "x = 1\nprint(x)\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    asked = ("probe", "app.py:1", "--eval", "'probed'", "--", "python", "app.py")
    user.ok(*asked)
    assert user.json("hits")["run"] == "r1", "a session that lives is nearer"
    user.ok("stop")
    assert user.json("hits")["run"] == "r1"
    user.ok(*asked)
    assert user.json("hits")["run"] == "r3"
    assert "r3.h1" in user.ok("locals", "--hit", "h1")
    assert "r1.h1" in user.ok("locals"), "the last stop of the session itself"
    assert user.json("hits", "--session", "app")["run"] == "r1"
    assert user.json("history")["runs"][0]["command"] == ["python", "app.py"], "as it was asked for"


def test_the_source_of_a_function_is_shown_as_it_is_at_a_stop(user: User) -> None:
    user.file("app.py", "# one\n" * 7 + "def f(x):\n\ty = x\n\treturn y\nf(1)\n")
    stop = user.ok("launch", "app.py", "--break", "app.py:10").splitlines()
    user.ok("stop")
    crossed = user.ok("cross", "f").splitlines()
    shown = [each for each in stop if each.startswith(("  ", ">"))]
    assert len(shown) == 3 and "\\t" not in "".join(shown)
    assert [each for each in crossed if each in shown] == shown


def test_a_run_of_another_project_is_gone_through_with_its_files(user: User) -> None:
    they = User(user.here / "their")
    they.file("stillframe.toml", "")
    they.file("app.py", "x = 1\nprint(x)\n")
    they.ok("probe", "app.py:2", "--eval", "x", "--", "python", "app.py")
    shown = user.ok("replay", "r1").splitlines()
    assert shown[0].endswith("stopped: probe at their/app.py:2 in <module>")
    assert "> 2  print(x)" in shown
    assert "b1 bound at their/app.py:2" in user.ok("break", "their/app.py:2")
    user.ok("stop")


def test_the_record_outlives_a_killed_daemon_and_says_what_it_is(user: User, program: str) -> None:
    run_through(user, f"{program}:8", 3, program)
    pid = daemon_pid(user)
    target = user.pid()
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: gone(target), "the program outlived its daemon")
    assert user.json("hits")["total"] == 3
    assert "lost with its daemon" in user.ok("history")
    assert "post mortem" in user.ok("locals")
    page = user.json("output")
    assert page["stdout"].startswith("total 0\n") and "post mortem" in page["notes"][0]


def test_events_come_once_each_by_their_cursor_and_never_wait_behind_a_running_call(user: User) -> None:
    user.file("wait.py", "import time\nx = 1\nwhile True:\n    time.sleep(0.01)\n")
    user.ok("launch", "wait.py", "--break", "wait.py:2")
    first = user.json("events")
    assert [each["kind"] for each in first["events"]][:1] == ["start"] and "stop" in {
        each["kind"] for each in first["events"]
    }
    running = user.start("continue", "--timeout", "60")
    eventually(lambda: user.json("status")["state"] == "running", "it never ran")
    again = user.json("events", "--since", first["cursor"], "--kind", "stop", "--wait", "--timeout", "0.2")
    assert again["events"] == []
    waiting = user.start("events", "--json", "--since", first["cursor"], "--kind", "stop", "--wait", "--timeout", "60")
    user.ok("pause", "--timeout", "30")
    out, _ = waiting.communicate(timeout=60)
    assert b'"reason"' not in out and b'"hit":"h2"' in out
    running.communicate(timeout=60)
    user.fails("events", "--since", "soon", code=2, error="usage")


def test_an_export_is_taken_in_elsewhere_whole_or_not_at_all(user: User, program: str, tmp_path: Path) -> None:
    run_through(user, f"{program}:8", 3, program)
    user.ok("export", "early.jsonl")
    user.ok("stop")
    user.ok("export", "run.jsonl")
    assert "is there already" in user.fails("export", "run.jsonl", code=2, error="usage")
    user.fails("export", "nowhere/run.jsonl", code=1, error="not_found")
    os.mkfifo(user.here / "pipe")
    assert "is no plain file" in user.fails("export", "pipe", "--force", code=2, error="usage")
    assert stat.S_ISFIFO((user.here / "pipe").stat().st_mode), "nothing but a plain file is replaced"
    (user.here / "link.jsonl").symlink_to("behind.jsonl")
    user.ok("export", "link.jsonl")
    assert (user.here / "link.jsonl").is_symlink() and (user.here / "behind.jsonl").is_file()
    assert oct((tmp_path / "run.jsonl").stat().st_mode & 0o777) == "0o600"
    there = User(tmp_path / "elsewhere")
    there.here.mkdir()
    (there.here / "pyproject.toml").touch()
    assert "imported 3 hits" in there.ok("import", "../run.jsonl", "--name", "theirs")
    assert there.ok("hits", "--run", "theirs", "--count-by", "item.qty") == "0 1\n1 1\n2 1\n"
    whole = (tmp_path / "run.jsonl").read_text()
    lines = whole.splitlines(keepends=True)
    bad = {
        "cut.jsonl": "".join(lines[:-1]),
        "half.jsonl": whole[: len(whole) // 2],
        "changed.jsonl": whole.replace('"t1"', '"t2"'),
        "foreign.jsonl": '{"a": 1}\n',
        "empty.jsonl": "",
        "escape.jsonl": whole.replace(f'"file":"{program}"', '"file":"../../etc/passwd"'),
        "newer.jsonl": whole.replace('"format":1', '"format":9'),
        "binary.jsonl": "\x00\x01\x02",
    }
    for name, text in bad.items():
        there.file(name, text)
        there.fails("import", name, code=2, error="usage")
    os.mkfifo(there.here / "pipe.jsonl")
    there.fails("import", "pipe.jsonl", code=2, error="usage")
    assert "is no plain file" in there.fails("import", ".", code=2, error="usage")
    there.fails("import", "absent.jsonl", code=1, error="not_found")
    assert there.json("history")["total"] == 1
    assert "was live when it was exported" in there.ok("import", "../early.jsonl")


def test_the_page_of_an_export_shows_everything_in_a_real_browser_and_runs_nothing_of_the_programs(user: User) -> None:
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no browser is installed (./dev test installs chromium-headless-shell)")
    evil = "</script><script>document.title='run'</script><img src=x onerror=document.title='run'>"
    user.file("page.py", f"evil = {evil!r}\nfor i in range(3):\n    x = i * 7\nprint(evil)\n")
    user.ok("launch", "page.py", "--break", "page.py:3")
    user.ok("next", "--count", "4")
    user.ok("stop")
    user.ok("export", "page.html")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={user.here}/profile",
        "--dump-dom",
    ]
    done = subprocess.run(
        [*command, (user.here / "page.html").as_uri() + "#h3"], capture_output=True, text=True, timeout=100, check=True
    )
    shown = done.stdout
    assert 'data-ready="5"' in shown and "<title>page - Stillframe</title>" in shown
    assert shown.count('<button data-index="') == 5 and "h3 " in shown.partition('id="view"')[2]
    for text in ("for i in range(3):", "&lt;/script&gt;", "Stack", "Locals"):
        assert text in shown.partition('id="view"')[2], text
    assert "http" not in (user.here / "page.html").read_text().replace("http-equiv", "")


def test_secrets_are_nowhere_on_disk_and_what_is_left_out_says_so(user: User) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    user.file(
        "secrets_.py",
        "import sys\npassword = 'tig' + 'er99'\nlogin = {'user': 'ann', 'password': password}\n"
        "key = 'AKIA' + 'IOSFODNN7EXAMPLE'\nprint('password=' + password)\nprint(key)\nx = 1\n"
        "def enter(who, password):\n    return who\nenter('ann', 'lion77roar')\n",
    )
    stop = user.json("launch", "secrets_.py", "--break", "secrets_.py:7", "--", "--token", "abcdef0123456789")
    # Replies leave them out, too, and say so, unless they are asked for by name.
    for told in (stop["locals"], user.json("locals")["values"], user.json("state")["locals"]):
        (seen,) = (each["value"] for each in told if each["name"] == "password")
        assert seen == "[redacted: named password]"
    assert "tiger99" not in stop["output"] and key not in user.ok("output")
    assert user.ok("eval", "password") == "password = 'tiger99'\n"
    assert "'tiger99'" in user.ok("locals", "--reveal") and key in user.ok("output", "--reveal")
    user.fails("locals", "--reveal", "--allow", "control", code=7, error="denied")
    wrong = user.fails("expand", 'password="lion77"', code=1, error="not_found")
    assert 'no variable password="[redacted: named password]"' in wrong, "nor do errors tell"
    assert user.ok("expand", "login") == "['user'] = 'ann'\n['password'] = [redacted: named password]\n"
    shown = {each["name"]: each["value"] for each in user.json("hits")["hits"][0]["locals"]}
    assert shown["password"] == "[redacted: named password]"
    assert shown["login"] == "{'user': 'ann', 'password': '[redacted: named password]'}"
    assert "looks like an AWS key" in shown["key"]
    assert "lion77roar" not in user.ok("until", "secrets_.py:9")
    user.ok("stop")
    user.ok("export", "run.jsonl")
    assert "enter('ann', '[redacted: named password]')" in (user.here / "run.jsonl").read_text(), "nor in the files"
    state = Path(os.environ["XDG_STATE_HOME"]) / "stillframe"
    for path in [*state.glob("record*"), user.here / "run.jsonl"]:
        for secret in ("tiger99", key, "abcdef0123456789", "lion77roar"):
            assert secret.encode() not in path.read_bytes(), (path.name, secret)


def test_a_full_disk_pauses_recording_visibly_and_debugging_goes_on(user: User) -> None:
    import resource

    user.file("loop.py", "rows = []\nfor i in range(400):\n    text = str(i) * 50\n    rows.append(text)\n")
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    pid = daemon_pid(user)
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    held = user.json("continue", "--count", "3")
    assert any(note.startswith("recording is paused: ") for note in held["notes"]), "though it was at a stop on the way"
    assert "recording is paused" in user.ok("history")
    assert user.ok("eval", "i") == "i = 3\n"
    assert user.json("crash", "-c", "1/0")["unrecorded"] == "paused"
    user.ok("continue")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    assert any(note.startswith("recording goes on") for note in user.json("continue")["notes"])
    assert [each["hit"] for each in user.json("hits")["hits"]] == ["h1", "h2", "h3", "h4", "h5", "h6"]


def test_a_home_that_takes_nothing_pauses_recording_visibly_and_debugging_goes_on(bound_user: User) -> None:
    home = Path(os.environ["XDG_STATE_HOME"])
    home.chmod(0o500)
    bound_user.file("a.py", "for i in range(3):\n    x = i\n")
    held = bound_user.json("launch", "a.py", "--break", "a.py:2")
    assert any(note.startswith("recording is paused: ") for note in held["notes"]), held["notes"]
    assert bound_user.ok("eval", "i") == "i = 0\n"
    home.chmod(0o700)
    assert any(note.startswith("recording goes on") for note in bound_user.json("continue")["notes"])
    assert [each["hit"] for each in bound_user.json("hits")["hits"]] == ["h1", "h2"]
    log = Path(bound_user.ok("daemon", "status").rpartition("log ")[2].strip())
    assert log.is_relative_to(os.environ["XDG_RUNTIME_DIR"]), "where else, when the daemon began"
    log.unlink()


def test_what_is_pruned_is_gone_and_what_is_saved_or_live_stays(user: User) -> None:
    user.file("a.py", "x = 1\ny = 2\n")
    for _ in range(3):
        user.ok("launch", "a.py", "--break", "a.py:2")
        user.ok("stop")
    user.ok("save", "good", "--run", "r1")
    user.ok("launch", "a.py", "--break", "a.py:2")
    assert "would remove 2 runs" in user.ok("prune", "--days", "0", "--dry-run")
    assert "would remove 2 runs" in user.ok("prune", "--megabytes", "0", "--dry-run")
    assert "removed 2 runs with 2 hits" in user.ok("prune", "--days", "0")
    assert [each["run"] for each in user.json("history")["runs"]] == ["r4", "r1"]
    user.ok("continue")
    user.fails("prune", code=2, error="usage")
    assert "removed 1 run with" in user.ok("prune", "--run", "good")
    assert user.json("hits")["total"] == 1


def test_pruning_by_size_makes_the_record_that_small_whatever_fills_it(user: User) -> None:
    user.file("loud.py", "for i in range(20):\n    print('x' * 50_000)\n")
    user.file("a.py", "for i in range(5):\n    y = i\n")
    for _ in range(3):
        user.ok("launch", "loud.py")
        run_through(user, "a.py:2", 5, "a.py")
        user.ok("stop")
    limit = 1.5
    planned = user.json("prune", "--megabytes", str(limit), "--dry-run")
    assert user.json("history")["total"] == 6
    done = user.json("prune", "--megabytes", str(limit))
    assert done == {key: value for key, value in planned.items() if key != "dry_run"}
    assert done["bytes_before"] > 3e6 and done["bytes_after"] <= limit * 1e6
    # No more than it takes: the newest of the loud ones is still there.
    assert "loud" in [each["session"] for each in user.json("history")["runs"]]


def test_names_that_are_paths_are_refused(user: User) -> None:
    user.file("a.py", "x = 1\ny = 2\n")
    user.ok("launch", "a.py", "--break", "a.py:2")
    for name in ("../x", "/tmp/x", "a/b", "A"):
        user.fails("save", name, code=2, error="usage")


def test_a_stop_of_another_thread_that_a_step_lets_go_is_recorded_too_without_its_locals(user: User) -> None:
    user.file(
        "two.py",
        "import threading\ngate = threading.Barrier(2)\ndef work(n):\n    gate.wait()\n    x = n\n    return x\n"
        "ts = [threading.Thread(target=work, args=(n,)) for n in range(2)]\n[t.start() for t in ts]\n[t.join() for t in ts]\n",
    )
    user.ok("launch", "two.py", "--break", "two.py:5")
    user.ok("next")
    found = user.json("hits", "two.py:5")["hits"]
    assert [(each["hit"], each["breakpoints"]) for each in found] == [("h1", ["b1"]), ("h2", ["b1"])]
    assert len({each["thread"] for each in found}) == 2
    assert "locals" in found[0] and "locals" not in found[1]


def test_hits_of_children_are_called_by_their_runs_wherever_they_are_told_beside_their_parents(user: User) -> None:
    """Each run counts its own, so that `h1` alone would be the parent's."""
    user.file(
        "app.py",
        "import os, subprocess, sys\n"
        "def work(i):\n    r = i * 2\n    return r\n"
        "work(int(sys.argv[1]))\n"
        "if sys.argv[1] == '0':\n    subprocess.run([sys.executable, 'app.py', '7'])\n",
    )
    user.ok("launch", "app.py", "--break", "app.py:4", "--", "0")
    while "exited" not in user.ok("continue"):
        pass
    groups = {each["value"]: each for each in user.json("hits", "app.py:4", "--group-by", "i")["groups"]}
    assert (groups["0"]["first"], groups["7"]["first"]) == ("h1", "r2.h1")
    assert "i 0 -> 7" in user.ok("hit-diff", groups["0"]["first"], groups["7"]["first"])
    crossed = user.ok("cross", "work")
    assert "app.py:4 2  h1 .. r2.h1" in crossed and "[app] h1 " in crossed and "[app.1] h1 " in crossed
