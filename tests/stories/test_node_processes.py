"""Processes and threads of a Node program: sessions of their own, ready before their first line; the parent sees a plain run."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stillframe

from .conftest import User, eventually, gone

CHILD = "function work(n) {\n  return n + 1; // here\n}\nconsole.log('child', process.argv[2], work(41));\n"
PLACE = "child.js:2"
WAYS = {
    "fork": "cp.fork('./child.js', ['x'])",
    "spawn": "cp.spawn(process.execPath, ['child.js', 'x'], { stdio: 'inherit' })",
    "shell": "cp.spawn('node child.js x', { shell: true, stdio: 'inherit' })",
    "exec": "cp.exec('node child.js x', (e, out, err) => console.log(out.trim(), JSON.stringify(err)))",
    "execFile": "cp.execFile('node', ['child.js', 'x'], (e, out, err) => console.log(out.trim(), JSON.stringify(err)))",
    "spawnSync": "console.log(cp.spawnSync('node', ['child.js', 'x']).output.slice(1).join('|'))",
    "an empty environment": "cp.fork('./child.js', ['x'], { env: {} })",
    "options of its own": "cp.fork('./child.js', ['x'], { env: { NODE_OPTIONS: '--no-warnings' } })",
}
WORKER = """\
const { Worker, isMainThread, workerData } = require('worker_threads');
function work(n) {
  return n * 2; // here
}
if (isMainThread) {
  const count = Number(process.argv[2]);
  for (let i = 0; i < count; i++) new Worker(__filename, { workerData: i });
} else {
  console.log('worker', work(workerData));
}
"""
ENDS = """\
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
  const w = new Worker(__filename, { workerData: process.argv[2] });
  w.on('error', (error) => console.log('error', error.message));
  w.on('exit', (code) => console.log('exit', code));
  if (process.argv[2] === 'terminated') w.on('message', () => w.terminate());
} else {
  if (workerData === 'exits') process.exit(3);
  if (workerData === 'throws') throw new Error('boom');
  if (workerData === 'terminated') {
    require('worker_threads').parentPort.postMessage('here');
    setInterval(() => {}, 1000);
  }
  if (workerData === 'nests') new Worker(__filename, { workerData: 'leaf' });
  if (workerData === 'leaf') {
    console.log('leaf'); // leaf
  }
  if (workerData === 'starts') require('child_process').execFileSync('node', ['child.js', 'x'], { stdio: 'inherit' });
}
"""


@pytest.fixture
def node(user: User) -> User:
    user.file("child.js", CHILD)
    user.file("worker.js", WORKER)
    user.file("ends.js", ENDS)
    return user


def listed(user: User) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in user.json("sessions")["sessions"]}


def goes_on(user: User, root: str) -> dict[str, Any]:
    """Let the current session go on, then the next stop in the family, which is the current one then, or the end of it all."""
    user.ok("continue", "--timeout", "0")
    reply = json.loads(user.says("wait", "--session", root, "--json").out)
    user.ok("use", reply["session"])
    found: dict[str, Any] = reply["result"]
    return found


def printed(user: User, session: str) -> str:
    return str(user.json("output", "--since", "0.0.0.0", "--session", session).get("stdout", ""))


@pytest.mark.parametrize("way", WAYS)
def test_a_child_process_stops_at_its_own_breakpoint_and_its_parent_reads_its_words_only(node: User, way: str) -> None:
    node.file("parent.js", f"const cp = require('child_process');\n{WAYS[way]};\n")
    assert "parent.1 stopped: b1 hit 1 at child.js:2 in work\n" in node.ok("launch", "parent.js", "--break", PLACE)
    assert node.json("eval", "n")["values"][0]["value"] == "41", "the child is the current one"
    end = goes_on(node, "parent")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert "stderr" not in node.json("output", "--since", "0.0.0.0", "--session", "parent")
    said = {"exec": 'child x 42 ""\n', "execFile": 'child x 42 ""\n', "spawnSync": "child x 42\n|\n"}
    assert printed(node, "parent") == said.get(way, "child x 42\n")
    assert listed(node)["parent.1"]["exit_code"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_children_of_node_that_are_not_followed_run_as_if_nobody_looked(node: User, way: str) -> None:
    node.file(
        "parent.js", f"const cp = require('child_process');\n{WAYS[way]};\nconsole.log(process.env.NODE_OPTIONS);\n"
    )
    told = node.json("launch", "parent.js", "--no-children", "--break", PLACE)
    assert (told["state"], told["exit_code"]) == ("exited", 0)
    assert "child x 42" in told["output"] and "undefined" in told["output"]
    assert "stderr" not in told
    assert list(listed(node)) == ["parent"]


@pytest.mark.long
def test_many_children_at_once_all_stop_and_none_hangs_when_they_go_on(node: User) -> None:
    node.file(
        "parent.js", "const cp = require('child_process');\nfor (let i = 0; i < 12; i++) cp.fork('./child.js', [i]);\n"
    )
    said = node.says("launch", "parent.js", "--break", PLACE, "--json")
    seen = set()
    while "." in (name := json.loads(said.out)["session"]):
        if json.loads(said.out)["result"]["state"] == "stopped":
            assert name not in seen, "each stops once"
            seen.add(name)
            node.ok("continue", "--session", name, "--timeout", "0")
        said = node.says("wait", "--session", "parent", "--json")
    assert len(seen) == 12
    assert json.loads(said.out)["result"]["state"] == "exited"
    assert printed(node, "parent").count("42") == 12


def test_a_child_that_its_parent_kills_while_it_is_held_is_over(node: User) -> None:
    node.file(
        "parent.js",
        "const fs = require('fs');\nconst child = require('child_process').fork('./child.js', ['x']);\n"
        "const look = setInterval(() => {\n  if (!fs.existsSync('now')) return;\n  clearInterval(look);\n"
        "  child.kill('SIGKILL');\n}, 20);\n",
    )
    assert "parent.1 stopped" in node.ok("launch", "parent.js", "--break", PLACE)
    node.file("now", "")
    eventually(lambda: listed(node)["parent.1"]["state"] == "exited", "its end is not told")
    end = node.json("wait", "--session", "parent")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert "exit_code" not in listed(node)["parent.1"], "only its parent knows"


def test_a_child_that_outlives_its_parent_is_debugged_on_and_ended_by_stop(node: User) -> None:
    node.file("stays.js", "setInterval(() => {\n  globalThis.n = 1; // here\n}, 20);\n")
    node.file(
        "parent.js",
        "const fs = require('fs');\nrequire('child_process').spawn(process.execPath, ['stays.js'], { stdio: 'ignore' });\n"
        "setInterval(() => fs.existsSync('now') && process.exit(0), 20);\n",
    )
    assert "parent.1 stopped" in node.ok("launch", "parent.js", "--break", "stays.js:2")
    process = node.pid("--session", "parent.1")
    node.file("now", "")
    eventually(lambda: listed(node)["parent"]["state"] == "exited", "it does not end")
    node.ok("stop", "--session", "parent")
    eventually(functools.partial(gone, process), "stop left the child")


def test_stop_ends_a_whole_family_of_node_and_a_cluster(node: User) -> None:
    node.file(
        "cluster.js",
        "const cluster = require('cluster');\nif (cluster.isPrimary) {\n  cluster.fork();\n  cluster.fork();\n} else {\n"
        "  setInterval(() => {\n    globalThis.n = 1; // here\n  }, 20);\n}\n",
    )
    node.ok("launch", "cluster.js", "--break", "cluster.js:7")
    eventually(lambda: len(listed(node)) == 3, "both workers are children")
    processes = [node.pid("--session", name) for name in ("cluster", "cluster.1", "cluster.2")]
    node.ok("stop", "--session", "cluster")
    for each in processes:
        eventually(functools.partial(gone, each), "stop left a process")


def test_worker_threads_are_child_sessions_with_the_familys_breakpoints(node: User) -> None:
    node.ok("launch", "worker.js", "2", "--break", "worker.js:3")
    values = {node.json("eval", "n")["values"][0]["value"]}
    assert goes_on(node, "worker")["frame"]["line"] == 3
    values.add(node.json("eval", "n")["values"][0]["value"])
    assert values == {"0", "1"}
    end = goes_on(node, "worker")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert sorted(printed(node, "worker").splitlines()) == ["worker 0", "worker 2"]
    assert {each["exit_code"] for each in listed(node).values()} == {0}


@pytest.mark.long
def test_twenty_workers_that_nobody_holds_run_to_their_end(node: User) -> None:
    end = node.json("launch", "worker.js", "20")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert printed(node, "worker").count("worker ") == 20


@pytest.mark.parametrize(
    ("how", "code", "told"), [("exits", 3, "exit 3"), ("throws", 1, "exit 1"), ("terminated", None, "exit 1")]
)
def test_the_end_of_a_worker_is_told_as_far_as_it_is_known(node: User, how: str, code: int | None, told: str) -> None:
    end = node.json("launch", "ends.js", how, "--catch", "off")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert told in end["output"]
    worker = listed(node)["ends.1"]
    assert (worker["state"], worker.get("exit_code")) == ("exited", code)


LAST = {
    "exits": ("process.on('exit', () => process.exit(5));", 5),
    "sets": ("process.on('exit', () => { process.exitCode = 6; });", 6),
    "throws": ("process.on('exit', () => { throw new Error('late'); });", None),
    "killed": ("process.on('exit', () => process.kill(process.pid, 'SIGKILL'));", None),
    "awaits": ("await new Promise(() => {});", 13),
    "leaves": ("process.exitCode = 3;\nprocess.reallyExit(9);", None),
    "plain": ("process.exit(260);", 4),
}


@pytest.mark.parametrize("how", LAST)
def test_the_exit_code_of_a_child_is_the_one_that_its_parent_sees_or_unknown(node: User, how: str) -> None:
    text, code = LAST[how]
    node.file("last.mjs", text + "\n")
    node.file("parent.sh", f"{shutil.which('node')} last.mjs\necho code $?\n")
    told = node.json("launch", "--catch", "off", "--", "sh", "parent.sh")
    child = listed(node)["sh.1"]
    assert (child["state"], child.get("exit_code")) == ("exited", code)
    if code is not None:
        assert f"code {code}\n" in told["output"]


def test_no_call_of_ours_is_in_the_traces_of_a_child(node: User) -> None:
    node.file(
        "child.js",
        "process.on('message', () => {\n  console.log(new Error('here').stack);\n  process.disconnect();\n});\n",
    )
    parent = node.file("parent.js", "require('child_process').fork('./child.js').send('go');\n")
    plain = subprocess.run(["node", str(parent)], cwd=node.here, capture_output=True, text=True, timeout=150)
    assert "at process.emit" in plain.stdout
    assert node.json("launch", "parent.js")["output"] == plain.stdout


@pytest.mark.parametrize("how", ["exits", "sets", "awaits"])
def test_the_exit_code_of_a_worker_is_the_one_that_its_process_sees(node: User, how: str) -> None:
    text, code = LAST[how]
    node.file("last.mjs", text + "\n")
    node.file(
        "app.js",
        "new (require('worker_threads').Worker)('./last.mjs').on('exit', (code) => console.log('code', code));\n",
    )
    assert f"code {code}\n" in node.json("launch", "app.js")["output"]
    assert listed(node)["app.1"]["exit_code"] == code


def test_a_worker_of_a_worker_and_a_child_of_a_worker_are_followed(node: User) -> None:
    assert "ends.2 stopped: b1" in node.ok("launch", "ends.js", "nests", "--break", "ends.js:16")
    assert node.json("eval", "workerData")["values"][0]["value"] == "'leaf'"
    node.ok("stop")
    assert "stopped: b1 hit 1 at child.js:2" in node.ok("launch", "ends.js", "starts", "--break", PLACE)


def test_text_of_any_language_goes_to_a_worker_and_comes_back(node: User) -> None:
    node.file(
        "words.js",
        "const { Worker, isMainThread } = require('worker_threads');\nif (isMainThread) {\n  new Worker(__filename);\n} else {\n"
        "  const o = { ключ: '🎈' };\n  let s = '日本…';\n  debugger;\n  console.log(s, o.ключ);\n}\n",
    )
    node.ok("launch", "words.js")
    values = node.json("eval", '"日本🎈"', "o.ключ", "s")["values"]
    assert [each["value"] for each in values] == ["'日本🎈'", "'🎈'", "'日本…'"]
    node.ok("set", "s", '"ü漢"')
    node.ok("break", "words.js:8", "--if", 's === "ü漢"')
    assert goes_on(node, "words")["breakpoints"] == ["b1"]
    assert "…" in node.ok("eval", "process"), "what is left out is marked"
    goes_on(node, "words")
    assert printed(node, "words") == "ü漢 🎈\n"


def test_the_program_sees_the_environment_of_a_plain_run(node: User) -> None:
    node.file("env.js", "require('fs').writeFileSync('env.json', JSON.stringify(process.env));\n")
    env = {"NODE_OPTIONS": "--max-old-space-size=200"}
    for more in ((), ("--no-children",)):
        node.ok("launch", "env.js", *more, env=env)
        seen = json.loads((node.here / "env.json").read_text())
        assert seen["NODE_OPTIONS"] == "--max-old-space-size=200"
        assert [name for name in seen if name.startswith("STILLFRAME_NODE")] == []


def test_the_program_sees_its_name_and_its_modules_as_in_a_plain_run(node: User) -> None:
    node.file(
        "seen.js",
        "const { argv0, title, argv, execArgv } = process;\nconst { _cache, _pathCache } = require('module');\n"
        "const seen = { argv0, title, argv, execArgv, cache: Object.keys(_cache), paths: Object.keys(_pathCache) };\n"
        "console.log(JSON.stringify(seen));\nconsole.error('two');\n",
    )
    for command in (("node", "seen.js"), (str(shutil.which("node")), "seen.js")):
        plain = subprocess.run(command, cwd=node.here, capture_output=True, text=True, timeout=150).stdout
        assert node.json("launch", "--", *command)["output"] == plain
    assert '"argv0":"node"' in node.json("launch", "seen.js")["output"]
    assert node.json("output", "--kind", "stderr")["total"] == len("two\n")


PROMISES = """\
const { AsyncLocalStorage } = require('async_hooks');
const { Worker, isMainThread } = require('worker_threads');
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function inner() {
  await sleep(1);
  console.log(sleep(1)); // here
}
async function outer() {
  await inner();
}
console.log(Promise.resolve(1));
setTimeout(async function tick() {
  await outer();
  const kept = new AsyncLocalStorage();
  kept.run('a store', async () => {
    await sleep(1);
    console.log(kept.getStore());
    if (isMainThread) new Worker(__filename);
  });
}, 1);
"""


def test_promises_are_printed_as_in_a_plain_run_and_who_waits_for_them_is_known(node: User) -> None:
    app = node.file("app.js", PROMISES)
    plain = subprocess.run(["node", str(app)], capture_output=True, text=True, timeout=150)
    assert "Symbol" not in plain.stdout
    node.ok("launch", "app.js", "--break", "app.js:6")
    for _ in range(2):
        assert [each["function"] for each in node.json("stack")["frames"]] == ["inner", "outer", "tick", "<module>"]
        goes_on(node, "app")
    assert (printed(node, "app"), plain.stderr) == (plain.stdout, "")
    assert "stderr" not in node.json("output", "--since", "0.0.0.0", "--session", "app")


def need(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


def test_make_that_runs_node_and_python_has_both_as_children_and_its_own_words_only(node: User) -> None:
    need("make")
    node.file("app.py", "def f(n):\n    return n + 1\n\nprint('py', f(1))\n")
    node.file("Makefile", f"run:\n\t@node child.js made\n\t@{sys.executable} app.py\n\t@echo over >&2\n")
    assert "make.1 stopped: b1" in node.ok("launch", "--break", PLACE, "--break", "app.py:2", "--", "make", "run")
    assert goes_on(node, "make")["breakpoints"] == ["b2"]
    assert goes_on(node, "make")["exit_code"] == 0
    output = node.json("output", "--since", "0.0.0.0", "--session", "make")
    assert (output["stdout"], output["stderr"]) == ("child made 42\npy 2\n", "over\n")


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("--no-children",)])
def test_npm_runs_a_script_whose_node_is_debugged(node: User, more: tuple[str, ...]) -> None:
    need("npm")
    node.file("package.json", '{"name": "x", "scripts": {"go": "node child.js npm && exit 4"}}')
    said = node.ok("launch", "--break", PLACE, *more, "--", "npm", "run", "go")
    assert "npm.1 stopped: b1 hit 1 at child.js:2 in work" in said
    assert goes_on(node, "npm")["exit_code"] == 4
    output = node.json("output", "--since", "0.0.0.0", "--session", "npm")
    assert "child npm 42" in output["stdout"]
    assert "ebugger" not in output.get("stderr", "")


def test_a_wrapper_is_held_at_the_first_line_of_its_first_node_and_no_child_of_that_is(node: User) -> None:
    node.file("forks.js", "const { fork } = require('node:child_process');\nfork('./child.js', ['forked']);\n")
    stop = node.json("launch", "--stop-on-entry", "--", "sh", "-c", "node forks.js; node child.js next; exit 4")
    assert (stop["reason"], stop["frame"]["file"], stop["frame"]["line"]) == ("entry", "forks.js", 1)
    assert goes_on(node, "sh")["exit_code"] == 4
    assert printed(node, "sh") == "child forked 42\nchild next 42\n"


def test_the_first_line_of_code_that_is_in_no_file_is_its_own_and_none_of_what_node_runs_around_it(node: User) -> None:
    code = "let a = 1;\nconsole.log(a);\n"
    for words in (
        ("node", "-e", code),
        ("sh", "-c", f"node -e '{code}'; exit 0"),
        ("sh", "-c", f"echo '{code}' | node -; exit 0"),
    ):
        stop = node.json("launch", "--stop-on-entry", "--", *words)
        here = [each["text"] for each in stop["source"] if each.get("here")]
        assert (stop["reason"], stop["frame"]["line"], here) == ("entry", 1, ["let a = 1;"]), words
        assert node.json("next")["frame"]["line"] == 2
        node.ok("stop")


def test_every_file_of_a_test_run_is_a_child_session(node: User) -> None:
    test = "const test = require('node:test');\ntest('one', () => {\n  globalThis.n = 1; // here\n});\n"
    for name in ("a.test.js", "b.test.js"):
        node.file(name, test)
    command = ("node", "--test", "a.test.js", "b.test.js")
    node.ok("launch", "--break", "a.test.js:3", "--break", "b.test.js:3", "--", *command)
    assert goes_on(node, "node")["state"] == "stopped"
    assert goes_on(node, "node")["exit_code"] == 0
    assert "ebugger" not in str(node.json("output", "--since", "0.0.0.0", "--session", "node")), (
        "no word of the inspector"
    )


@pytest.mark.long
def test_shebangs_code_and_directories_run_as_node_runs_them(node: User) -> None:
    node.file("tool", "#!/usr/bin/env node\nconsole.log('tool', process.argv.slice(2).join());\n").chmod(0o755)
    node.file("pkg/package.json", '{"main": "m.js"}')
    node.file("pkg/m.js", "console.log('pkg');\n")
    for words, said in (
        (("tool", "a"), "tool a\n"),
        (("--", "./tool", "b"), "tool b\n"),
        (("--", "node", "--no-warnings", "-e", "console.log(6 * 7)"), "42\n"),
        (("--", "node", "-p", "6 * 7"), "42\n"),
        (("--", "node", "pkg"), "pkg\n"),
        (("pkg",), "pkg\n"),
        (("--", "node", "--title", "x", "child.js", "x"), "child x 42\n"),
    ):
        end = node.json("launch", *words)
        assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, said), words


def test_a_directory_that_nobody_runs_is_said_to_be_one(node: User) -> None:
    (node.here / "empty").mkdir()
    assert "is a directory without a __main__.py, package.json or index.js" in node.fails(
        "launch", "empty", code=1, error="launch_failed"
    )


@pytest.mark.long
def test_a_library_in_a_directory_with_spaces_and_quotes_follows_children(node: User, tmp_path: Path) -> None:
    home = tmp_path / 'my "own" dir'
    shutil.copytree(Path(stillframe.__file__).parent, home / "stillframe", ignore=shutil.ignore_patterns("__pycache__"))
    node.file("parent.js", "require('child_process').fork('./child.js', ['x']);\n")
    script = node.file(
        "drive.py",
        f"import asyncio, sys\nsys.path.insert(0, {str(home)!r})\nimport stillframe\n\n"
        "async def main():\n    async with stillframe.Debugger() as debugger:\n"
        f"        stop = await debugger.launch('parent.js', breaks=[{PLACE!r}])\n"
        "        print(stop.frame.file, stop.frame.line)\n\nasyncio.run(main())\n",
    )
    ran = subprocess.run([sys.executable, str(script)], cwd=node.here, capture_output=True, text=True, timeout=150)
    assert (ran.stdout, ran.stderr) == ("child.js 2\n", "")


@pytest.mark.parametrize(
    ("words", "printed"),
    [("A=1 node --stack-size=900", "1 --stack-size=900"), ("node --stack-size=900", "- --stack-size=900")],
)
def test_a_script_gets_the_variables_and_flags_of_its_first_line(node: User, words: str, printed: str) -> None:
    text = f"#!/usr/bin/env -S {words}\nconsole.log(process.env.A || '-', ...process.execArgv);\n"
    node.file("tool", text).chmod(0o755)
    assert node.json("launch", "--break", "tool:2", "--", "./tool")["state"] == "stopped"
    assert node.json("continue")["output"] == f"{printed}\n"
