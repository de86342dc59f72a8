"""Debuggers that settings declare: every transport, what they are told, who may declare them, and what is wrong with an entry."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import stillframe
from stillframe.adapters import for_plan
from stillframe.adapters.declarations import catalogue, declarations
from stillframe.errors import (
    AdapterMissing,
    Denied,
    LaunchFailed,
    Unsupported,
    UsageError,
)
from stillframe.model.plans import Plan
from stillframe.settings import directory, load

FAKE = Path(__file__).parent.parent / "fakes" / "adapter.py"
ECHO = {"launch": [{"echo": True}, {"default": True}], "attach": [{"echo": True}, {"default": True}]}
WAYS = {
    "stdio": ("stdio", "transport = 'stdio'"),
    "tcp": ("listen:${port}", "transport = 'tcp'"),
    "tcp-printed": ("print", r"transport = 'tcp-printed'\npattern = 'listens at (\S+)\n'".replace("'\\n", "'\n", 1)),
    "unix": ("unix:${socket}", "transport = 'unix'"),
    "dials-back": ("dial:${port}", "transport = 'dials-back'"),
}


def entry(name: str = "foo", way: str = "stdio", script: dict[str, Any] | None = None, more: str = "") -> str:
    """A table for the tests' own debug adapter."""
    words = json.dumps([sys.executable, "-S", str(FAKE), json.dumps(ECHO if script is None else script), WAYS[way][0]])
    return f"[adapters.{name}]\ncommand = {words}\n{WAYS[way][1]}\nclaims = ['*.{name}']\n{more}\n"


def declare(text: str) -> Path:
    """Write the user's own settings."""
    file = directory("config") / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def told(said: str, command: str = "launch") -> dict[str, Any]:
    """What the adapter said that it was told."""
    match = re.search(rf"^{command} (.*)$", said, re.MULTILINE)
    assert match, said
    found: dict[str, Any] = json.loads(match[1])
    return found


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "stillframe.toml").touch()
    for name in ("a.foo", "b.bar", "c.php"):
        (tmp_path / name).write_text("1\n2\n3\n4\n")
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
async def test_a_declared_debugger_is_driven_through_its_transport(here: Path, way: str) -> None:
    declare(entry(way=way))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        stop = await dbg.launch("a.foo", "x y", "z")
        assert isinstance(stop, stillframe.Stop) and stop.local("x") == "1"
        assert str((await dbg.tool()).how) == "declared"
        given = told((await dbg.output()).console)
        assert given == {"program": str(here / "a.foo"), "args": ["x y", "z"], "cwd": str(here), "stopOnEntry": False}
        end = await dbg.continue_()
        assert isinstance(end, stillframe.Exited) and end.exit_code == 3
        assert (await dbg.stop()).left == (), "a debugger that waits for more ends with what it debugged"


ASKS = {"request": "launch", "configuration": {"__child": 7, "name": "worker"}}


@pytest.mark.parametrize("way", ["stdio", "tcp"])
async def test_a_session_that_the_debugger_asks_for_is_a_child_that_stops_and_ends_with_its_parent(
    here: Path, way: str
) -> None:
    started = [{"answer": {}}, {"ask": "startDebugging", "arguments": ASKS}]
    declare(entry(way=way, script={"configurationDone": started, "child": {}}))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        stop = await dbg.launch("a.foo", breaks=["a.foo:3"])
        assert isinstance(stop, stillframe.Stop) and stop.breakpoints == ("b1",), "its own program runs on"
        parent, child = (await dbg.sessions()).sessions
        assert (parent.name, parent.state, parent.children) == ("a", "running", (child.name,))
        assert (child.parent, child.state, child.breakpoints) == ("a", "stopped", 1)
        assert (await dbg.locals(session=child.name)).values[0].value == "1"
        ended = await dbg.stop(session="a")
        assert (ended.action, ended.left) == ("terminated", ())
        assert {each.state for each in (await dbg.sessions()).sessions} == {"exited"}


async def test_a_child_that_ends_as_it_is_told_of_a_breakpoint_is_no_fault_of_the_breakpoint(here: Path) -> None:
    started = [{"answer": {}}, {"ask": "startDebugging", "arguments": ASKS}]
    child = {"setFunctionBreakpoints": [{"exit": 0}]}
    declare(entry(script={"configurationDone": started, "child": child}))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        await dbg.launch("a.foo", breaks=["a.foo:3"])
        assert (await dbg.break_("work", session="a")).state == "unconfirmed"
        assert [each.id for each in (await dbg.unbreak("b1", session="a")).breakpoints] == ["b2"]


async def test_a_breakpoint_that_is_refused_is_wanted_no_longer(here: Path) -> None:
    declare(entry(script={**ECHO, "initialize": [{"answer": {"supportsConfigurationDoneRequest": True}}]}))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        await dbg.launch("a.foo", breaks=["a.foo:2"])
        with pytest.raises(Unsupported, match="function breakpoints"):
            await dbg.break_("work")
        assert [each.id for each in (await dbg.breaks()).breakpoints] == ["b1"]
        assert (await dbg.break_("a.foo:3")).state == "bound"


LAUNCH = """
attach = { pid = "${pid}", host = "${host}", where = "${port}" }
env = { TELL = "${program}" }
[adapters.foo.launch]
file = "${program}"
words = ["-v", "${args}"]
line = "run ${name} in ${cwd}"
home = "${env:HOME}"
none = "${env:NO_SUCH}"
theirs = "$${port}"
mine = "${justMyCode}"
deep = { list = [1, true] }
"""


async def test_tables_are_filled_with_what_is_known_at_the_start_types_kept(here: Path) -> None:
    declare(entry(more=LAUNCH))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        await dbg.launch("a.foo", "1", "2")
        assert told((await dbg.output()).console) == {
            "file": str(here / "a.foo"),
            "words": ["-v", "1", "2"],
            "line": f"run a.foo in {here}",
            "home": os.environ["HOME"],
            "theirs": "${port}",
            "mine": True,
            "deep": {"list": [1, True]},
        }
        await dbg.stop()
        await dbg.attach(pid=os.getpid(), adapter="foo")
        assert told((await dbg.output()).console, "attach") == {"pid": os.getpid()}
        await dbg.detach()
        with pytest.raises(Unsupported, match=r"`attach` in config.toml names no \$\{core\}"):
            await dbg.attach(core="a.foo", adapter="foo")
        with pytest.raises(UsageError, match="stop at the entry"):
            await dbg.launch("a.foo", stop_on_entry=True)
        with pytest.raises(UsageError, match="input"):
            await dbg.launch("a.foo", stdin="-")
        with pytest.raises(LaunchFailed, match=r"no such file: .*gone\.foo"):
            await dbg.launch("gone.foo")


async def test_filters_scopes_and_contexts_are_those_declared(here: Path) -> None:
    script = {
        "setExceptionBreakpoints": [{"echo": True}, {"default": True}],
        "evaluate": [{"echo": True}, {"default": True}],
        "scopes": [
            {"answer": {"scopes": [{"name": "Mine", "variablesReference": 5}, {"name": "L", "variablesReference": 6}]}}
        ],
    }
    more = "catches = { raised = ['raised'] }\nevaluates-as = 'hover'\nlocal-scopes = ['Mine']\nquirks = ['verifies-everything']"
    declare(entry(script=script, more=more))
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        stop = await dbg.launch("a.foo", catch=["raised"], breaks=["a.foo:3"])
        assert isinstance(stop, stillframe.Stop) and stop.local("x") == "1"
        assert (await dbg.break_("a.foo:2")).state == "unconfirmed"
        assert [each.state for each in (await dbg.breaks()).breakpoints] == ["bound", "unconfirmed"]
        await dbg.eval("1")
        said = (await dbg.output()).console
        assert told(said, "setExceptionBreakpoints") == {"filters": ["raised"]}
        assert told(said, "evaluate")["context"] == "hover"
        with pytest.raises(Unsupported, match="cannot catch user"):
            await dbg.catch("user")


BROKEN = {
    "command = ['x']\ntransprot = 'tcp'": "transprot",
    "command = 'x'": "`command`: Expected `array`",
    "languages = ['X']": "command",
    "command = []": "`command` is empty",
    "command = ['x']\ntransport = 'smoke'": "`transport`",
    "command = ['x']\ntransport = 'tcp'": r"\$\{port\}, which transport tcp needs",
    "command = ['x']\ntransport = 'tcp-printed'": "`pattern`",
    "command = ['x']\ntransport = 'tcp-printed'\npattern = '('": "no regular expression",
    "command = ['x']\ntransport = 'tcp-printed'\npattern = 'x'": "no group",
    "command = ['x']\nlaunch = { a = '${port}' }": r"`launch` has \$\{port\}",
    "command = ['x']\ncatches = { sometimes = [] }": "`catches",
    "command = ['x']\nquirks = ['odd']": "`quirks` has 'odd'; there are: .*verifies-everything",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_entry_is_named_with_its_field_and_leaves_the_others_working(here: Path, text: str) -> None:
    declare(f"[adapters.bad]\n{text}\n{entry()}")
    found = declarations({}, str(here))
    assert [each.name for each in found.user] == ["foo"]
    (broken,) = found.broken
    assert re.match(f"the adapter bad in config.toml cannot be used: .*{BROKEN[text]}", str(broken)), broken


async def test_a_broken_entry_is_a_note_at_a_start_and_an_error_where_it_is_asked_for(here: Path) -> None:
    bad = "[adapters.bad]\ncommand = 3\n[adapters.python]\ncommand = ['x']\n[adapters.'No Name']\ncommand = ['x']"
    declare(f"{entry(script={})}\n{bad}")
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        stop = await dbg.launch("a.foo")
        assert [note.partition(" cannot")[0] for note in stop.notes] == [
            "the adapter bad in config.toml",
            "the adapter python in config.toml",
            "the adapter No Name in config.toml",
        ]
        with pytest.raises(UsageError, match=r"the adapter bad in config\.toml cannot be used"):
            await dbg.launch("a.foo", adapter="bad")
        with pytest.raises(UsageError, match=r"no adapter 'worse'; there are: python, .*foo, codelldb"):
            await dbg.launch("a.foo", adapter="worse")


def chosen(here: Path, *command: str) -> str:
    if len(command) == 1:
        plan = Plan(command=command, kind="file", program=command[0], cwd=str(here), env=dict(os.environ))
    else:
        plan = Plan(command=command, kind="command", cwd=str(here), env=dict(os.environ))
    return for_plan(plan).name


def test_the_users_own_come_first_then_ours_the_projects_and_the_catalogue(here: Path) -> None:
    (here / "x.py").touch()
    (here / "folder" / "deep").mkdir(parents=True)
    (here / "folder" / "Foofile").touch()
    (here / "folder" / "deep" / "app").write_bytes(b"\x7fELF")
    (here / "folder" / "deep" / "x.py").touch()
    native = chosen(here, "folder/deep/app")
    assert native in ("gdb", "lldb")
    assert chosen(here, "c.php") == "php-debug" and chosen(here, "php", "c.php") == "php-debug"
    (here / "stillframe.toml").write_text(
        "[adapters.theirs]\ncommand = ['x']\nclaims = ['*.py', '*.php']\nroots = ['Foofile']"
    )
    assert (chosen(here, "x.py"), chosen(here, "c.php"), chosen(here, "folder")) == ("python", "theirs", "theirs")
    below = ("folder/deep", "folder/deep/app", "folder/deep/x.py")
    assert [chosen(here, each) for each in below] == ["theirs", native, "python"], "a sign further up tells of a folder"
    declare("[adapters.mine]\ncommand = ['x']\nroots = ['Foofile']")
    assert [chosen(here, each) for each in below] == ["mine", "mine", "python"], "and of a binary, before its kind does"
    (here / "folder" / "deep" / "__main__.py").touch()
    assert chosen(here, "folder/deep") == "python", "a nearer one counts"
    declare("[adapters.mine]\ncommand = ['x']\nclaims = ['*.py', '*.php']")
    assert (chosen(here, "x.py"), chosen(here, "c.php")) == ("mine", "mine")


async def test_what_comes_with_us_untried_is_marked_and_says_how_it_is_had(here: Path) -> None:
    assert {each.name for each in catalogue()} == {
        "codelldb", "js-debug", "netcoredbg", "kotlin", "php-debug", "bash-debug", "dart", "flutter", "elixir-ls"
    }  # fmt: skip
    assert all(each.install and each.tool().how == "unverified" for each in catalogue())
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        with pytest.raises(AdapterMissing, match="php-debug is not installed: apt install php-cli php-xdebug"):
            await dbg.launch("c.php")
        declare(entry("php-debug", more="runs = ['php']"))
        stop = await dbg.launch("c.php", adapter="php-debug")
        assert isinstance(stop, stillframe.Stop), "an entry of the same name stands in for it"


async def test_an_untried_debugger_says_so_in_every_reply(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = here / "bin"
    tools.mkdir()
    (tools / "netcoredbg").write_text(f"#!/bin/sh\nexec {sys.executable} -S {FAKE} '{{}}'\n")
    (tools / "netcoredbg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    (here / "app.dll").touch()
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        assert isinstance(await dbg.launch("app.dll"), stillframe.Stop)
        assert (await dbg.tool()).how == "unverified"
        assert "unverified" in ((await dbg.capabilities()).note or "")


# Trust


async def test_what_a_project_declares_runs_only_while_its_content_is_trusted(here: Path) -> None:
    settings, script = here / "stillframe.toml", here / "adapter.sh"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -S {FAKE} '{{}}'\n")
    script.chmod(0o755)
    settings.write_text("wait = 5\n[adapters.bar]\ncommand = ['./adapter.sh']\nclaims = ['*.bar']\n")
    async with stillframe.Debugger(cwd=str(here)) as dbg:

        async def is_refused() -> str:
            with pytest.raises(Denied) as caught:
                await dbg.launch("b.bar")
            assert caught.value.hint is not None and caught.value.hint.op == "trust"
            return caught.value.message

        assert await is_refused() == f"the adapter bar comes with {settings}, which is not trusted"
        (listed,) = (await dbg.trust(list_=True)).files
        assert (listed.path, listed.state, listed.brings) == (
            str(settings),
            "untrusted",
            ("adapter bar: ./adapter.sh",),
        )
        assert [each.state for each in (await dbg.trust()).files] == ["trusted"]
        kept = directory("state") / "trusted.json"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert isinstance(await dbg.launch("b.bar"), stillframe.Stop)

        settings.write_text(settings.read_text().replace("wait = 5", "wait = 6"))
        assert isinstance(await dbg.launch("b.bar"), stillframe.Stop), "other settings bring nothing that runs"
        script.write_text(script.read_text() + "# changed\n")
        assert "has changed since" in await is_refused()
        await dbg.trust()
        settings.write_text(settings.read_text().replace("./adapter.sh'", "./adapter.sh', 'x'"))
        assert "has changed since" in await is_refused()
        await dbg.trust()
        assert isinstance(await dbg.launch("b.bar"), stillframe.Stop)

        kept.chmod(0o666)
        await is_refused()
        kept.chmod(0o600)
        assert [each.path for each in (await dbg.trust(remove=True)).files] == [str(settings)]
        await is_refused()
        assert (await dbg.trust(remove=True)).files == ()


async def test_nothing_to_trust_is_nothing_to_trust(here: Path) -> None:
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        assert (await dbg.trust()).files == ()


# Rights


def test_settings_narrow_what_calls_may_do_and_never_widen_it(tmp_path: Path) -> None:
    user = tmp_path / "stillframe" / "config.toml"
    user.parent.mkdir()
    user.write_text("allow = 'control'")
    env, project = {"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path / "stillframe.toml"
    assert load(env, tmp_path).allow == "control"
    project.write_text("allow = 'exec'")
    assert load(env, tmp_path).allow == "control"
    project.write_text("allow = 'read'")
    assert load({**env, "STILLFRAME_ALLOW": "exec"}, tmp_path).allow == "read"
    project.write_text("allow = 'everything'")
    with pytest.raises(UsageError, match=r"allow in stillframe\.toml is one of read, inspect, control, exec"):
        load(env, tmp_path)


async def test_a_project_that_allows_only_reading_gets_only_that(here: Path) -> None:
    (here / "stillframe.toml").write_text("allow = 'read'")
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        assert (await dbg.sessions()).sessions == ()
        with pytest.raises(Denied, match="launch needs exec, and only read is allowed here"):
            await dbg.launch("a.foo")
