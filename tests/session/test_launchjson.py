"""Configurations of an editor's launch.json: understood, refused with a reason, or said to be only partly done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import stillframe
from stillframe.adapters.launchjson import find, without_comments
from stillframe.adapters.launchtypes import Configured, configured
from stillframe.adapters.trust import trust
from stillframe.errors import Denied, LaunchFailed, NotFound, UsageError
from stillframe.model.plans import AttachPlan, Caller, Plan
from stillframe.ops.programs import RunTerms
from stillframe.ops.projects import configured_plans

from .test_declared import declare, entry, told

APP = """import os, sys
print(sys.argv[1:], os.environ.get("A"), os.environ.get("B"), os.environ.get("GONE"), os.path.basename(os.getcwd()))
"""


def write(
    here: Path, *configurations: dict[str, Any], compounds: list[Any] | None = None, trusted: bool = True
) -> Path:
    file = here / ".vscode" / "launch.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"configurations": configurations, "compounds": compounds or []}))
    if trusted:
        trust([find(str(here)).brought])
    return file


def understood(here: Path, configuration: dict[str, Any], **env: str) -> Configured:
    """One configuration as a plan."""
    write(here, {"name": "it", **configuration})
    (found,) = configured(find(str(here)), "it", Caller(str(here), {**os.environ, **env}))
    return found


def test_comments_and_trailing_commas_are_no_matter() -> None:
    text = """{
      // a "comment"
      "url": "http://x//y", /* not
      this */ "quote": "\\\\" // end
      , "list": [1, 2, /* three */ ], "more": ",]",
    }"""
    assert json.loads(without_comments(text)) == {"url": "http://x//y", "quote": "\\", "list": [1, 2], "more": ",]"}
    assert len(without_comments(text)) == len(text)


async def test_a_python_configuration_is_launched_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "below").mkdir()
    (tmp_path / ".env").write_text("# mine\nexport B='from # file'  \nA=overridden # yes\n")
    configuration = {
        "name": "My App",
        "type": "debugpy",
        "request": "launch",
        "program": "${workspaceFolder}/app.py",
        "args": ["a b", "${workspaceFolderBasename}${pathSeparator}x"],
        "cwd": "${workspaceFolder}/below",
        "env": {"A": "${env:THERE}!", "GONE": None},
        "envFile": "${workspaceFolder}/.env",
        "console": "integratedTerminal",
        "preLaunchTask": "build it",
        "fancy": True,
        "linux": {"stopOnEntry": True},
    }
    file = write(tmp_path, configuration, trusted=False)
    os.environ |= {"THERE": "here", "GONE": "no"}
    async with stillframe.Debugger(cwd=str(tmp_path / "below")) as dbg:
        (listed,) = (await dbg.configs()).configurations
        assert (listed.name, listed.type, listed.request) == ("My App", "debugpy", "launch")
        with pytest.raises(Denied, match=r"'My App' comes with .*launch\.json, which is not trusted"):
            await dbg.launch(config="My App")
        assert (await dbg.trust()).files[0].brings == (
            "configuration 'My App': launch by debugpy, ${workspaceFolder}/app.py",
        )
        stop = await dbg.launch(config="My App", env=["A=given"], timeout=30)
        assert isinstance(stop, stillframe.Stop) and stop.reason == "entry"
        assert stop.notes == (
            f"the task 'build it' was not run: there is no {tmp_path}/.vscode/tasks.json; run it yourself where it is needed",
            "not used of 'My App': fancy",
        )
        (session,) = (await dbg.sessions()).sessions
        assert session.name == "my-app"
        end = await dbg.continue_()
        assert end.output == f"['a b', '{tmp_path.name}/x'] given from # file None below\n"
        file.write_text(file.read_text() + "\n")
        with pytest.raises(Denied, match="has changed"):
            await dbg.launch(config="My App")
        with pytest.raises(UsageError, match="--config says what is run"):
            await dbg.launch("app.py", config="My App")


async def test_whose_code_is_stepped_through_is_what_the_call_says(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import json\ntext = json.dumps([1])\nprint(text)\n")
    write(tmp_path, {"name": "it", "type": "python", "program": "${workspaceFolder}/app.py", "justMyCode": False})
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        with pytest.raises(UsageError, match="--just-my-code and --all-code exclude each other"):
            await dbg.launch(config="it", just_my_code=True, all_code=True)
        await dbg.launch(config="it", just_my_code=True, breaks=["app.py:2"])
        assert (await dbg.status()).just_my_code is True
        over = await dbg.step()
        assert isinstance(over, stillframe.Stop) and over.frame is not None
        assert over.frame.line == 3, "not a line of json's"
        assert (await dbg.continue_()).output == "[1]\n"


@pytest.mark.parametrize(
    ("given", "just_mine", "children", "wanted"),
    [
        ({}, None, True, (True, True)),
        ({"justMyCode": False, "subProcess": False}, None, True, (False, False)),
        ({"justMyCode": False}, True, True, (True, True)),
        ({"justMyCode": True}, False, False, (False, False)),
        ({"request": "attach", "processId": 1}, False, False, (False, False)),
    ],
)
def test_what_a_call_does_not_say_is_as_the_configuration_has_it(
    tmp_path: Path, given: dict[str, Any], just_mine: bool | None, children: bool, wanted: tuple[bool, bool]
) -> None:
    (tmp_path / "x.py").touch()
    program = {} if "request" in given else {"program": "x.py"}
    write(tmp_path, {"name": "it", "type": "python", **program, **given})
    (found,) = configured_plans(
        Caller(str(tmp_path), os.environ), "it", RunTerms(children=children),
        just_mine=just_mine, stop_on_entry=False, record=False,
    )  # fmt: skip
    assert (found.plan.just_my_code, found.plan.children) == wanted


async def test_a_compound_starts_each_of_its_configurations(tmp_path: Path) -> None:
    declare(entry())
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "a.foo").touch()
    one = {"name": "one", "type": "python", "request": "launch", "program": "app.py", "stopOnEntry": True}
    two = {
        "name": "two",
        "type": "foo",
        "request": "launch",
        "program": "${workspaceFolder}/a.foo",
        "special": [1],
        "port": 7,
    }
    write(tmp_path, one, two, compounds=[{"name": "both", "configurations": ["one", {"name": "two"}]}])
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        assert [each.members for each in (await dbg.configs()).configurations] == [(), (), ("one", "two")]
        stop = await dbg.launch(config="both")
        assert stop.notes == ("also started: two",)
        assert isinstance(await dbg.wait(session="two"), stillframe.Stop)
        assert [(each.name, each.state) for each in (await dbg.sessions()).sessions] == [
            ("one", "stopped"),
            ("two", "stopped"),
        ]
        given = told((await dbg.call("output", {}, "two")).console)
        assert (given["special"], given["port"], given["program"]) == ([1], 7, str(tmp_path / "a.foo"))
        with pytest.raises(UsageError, match="--name names one session"):
            await dbg.launch(config="both", name="x")


REFUSED = {
    "${input:which}": "it asks somebody at an editor",
    "${command:pickProcess}": "an editor's command; write the value, or use dbg attach --pid N",
    "${file}": "no file is open here",
    "${fileDirname}": "no file is open here",
    "${config:python.path}": "a setting of the editor",
    "${lineNumber}": "only an editor knows that",
}


@pytest.mark.parametrize("variable", REFUSED)
def test_a_variable_that_only_an_editor_knows_is_refused_with_the_reason(tmp_path: Path, variable: str) -> None:
    with pytest.raises(UsageError) as caught:
        understood(tmp_path, {"type": "python", "request": "launch", "program": f"x/{variable}"})
    assert f"'it' has {variable}: " in caught.value.message and REFUSED[variable] in caught.value.message


def test_what_is_not_there_or_makes_no_sense_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no \.vscode/launch\.json"):
        find(str(tmp_path))
    with pytest.raises(
        UsageError, match=r"'it' is of type 'cobol', which is not known here; known are: .*cppdbg.*debugpy"
    ):
        understood(tmp_path, {"type": "cobol", "request": "launch"})
    with pytest.raises(UsageError, match="'args' of the configuration 'it' is not a list of words"):
        understood(tmp_path, {"type": "python", "request": "launch", "program": "x.py", "args": {"a": 1}})
    with pytest.raises(UsageError, match="'request' of the configuration 'it' is not launch or attach"):
        understood(tmp_path, {"type": "python", "request": "dance"})
    with pytest.raises(UsageError, match="names no process and no port"):
        understood(tmp_path, {"type": "python", "request": "attach"})
    write(tmp_path, {"name": "a"}, compounds=[{"name": "c", "configurations": ["b"]}])
    with pytest.raises(NotFound, match=r"no configuration 'x' in .*; there are: a, c"):
        find(str(tmp_path)).chosen("x")
    with pytest.raises(NotFound, match="the compound 'c' names 'b'"):
        find(str(tmp_path)).chosen("c")
    (tmp_path / ".vscode" / "launch.json").write_text("{ 'a': 1 }")
    with pytest.raises(UsageError, match=r"launch\.json is no JSON, comments aside: .*line 1"):
        find(str(tmp_path))


TASKS = {
    "tasks": [
        {
            "label": "first",
            "type": "process",
            "command": "sh",
            "args": ["-c", "echo one; echo $A"],
            "options": {"env": {"A": "two"}},
        },
        {
            "label": "all",
            "dependsOn": ["first"],
            "command": "echo",
            "args": ["three four", "${workspaceFolderBasename}", ">", "made.py"],
            "linux": {"command": "printf"},
            "group": {"kind": "build", "isDefault": True},
        },
        {"label": "bad", "type": "shell", "command": "echo so; exit 4"},
        {"label": "server", "command": "serve", "isBackground": True},
        {"label": "odd", "type": "gulp", "task": "x"},
        {"label": "asks", "command": "echo ${input:what}"},
        {"label": "round", "dependsOn": "round"},
    ]
}


async def test_a_task_that_is_wanted_first_runs_once_its_file_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("print(open('made.py').read())\n")
    tasks = tmp_path / ".vscode" / "tasks.json"
    labels = {
        "build": "${defaultBuildTask}",
        "bad": "bad",
        "server": "server",
        "odd": "odd",
        "asks": "asks",
        "round": "round",
    }
    one = {"type": "python", "request": "launch", "program": "app.py", "cwd": "${workspaceFolder}"}
    write(tmp_path, *({**one, "name": name, "preLaunchTask": label} for name, label in labels.items()))
    tasks.write_text("// with comments\n" + json.dumps(TASKS))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        with pytest.raises(Denied, match=r"the task '.*' comes with .*tasks\.json, which is not trusted"):
            await dbg.launch(config="build")
        assert "task 'first': sh -c echo one; echo $A" in (await dbg.trust()).files[-1].brings
        end = await dbg.launch(config="build")
        assert end.output == "three four\n"
        assert [each.partition(" in ")[0] for each in end.notes] == [
            "built by the task 'first', \"sh -c 'echo one; echo $A'\"",
            "built by the task 'all', \"printf 'three four' " + tmp_path.name + ' > made.py"',
        ]
        assert (await dbg.output(kind="console")).console == "one\ntwo\n"
        with pytest.raises(LaunchFailed, match=r"the task 'bad', 'echo so; exit 4', failed with exit code 4:\nso$"):
            await dbg.launch(config="bad")
    caller = Caller(str(tmp_path), os.environ)
    why = {
        "server": "in the background",
        "odd": "of type 'gulp'",
        "asks": "it asks somebody",
        "round": "depends on itself",
    }
    for name, reason in why.items():
        (found,) = configured(find(str(tmp_path)), name, caller)
        assert reason in found.notes[0] and "was not run: " in found.notes[0]


def test_where_sources_are_is_understood_in_the_words_of_each_type(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    native = {"request": "launch", "program": "x"}
    for configuration in (
        {"type": "cppdbg", **native, "sourceFileMap": {"/there": {"editorPath": "/here"}}},
        {"type": "lldb", **native, "sourceMap": [["/there", "/here"]]},
        {"type": "go", "request": "attach", "port": 1, "substitutePath": [{"from": "/here", "to": "/there"}]},
        {
            "type": "debugpy",
            "request": "attach",
            "port": 1,
            "pathMappings": [{"localRoot": "/here", "remoteRoot": "/there"}],
        },
    ):
        found = understood(tmp_path, configuration)
        assert (found.plan.sources, found.notes) == ((("/there", "/here"),), ())
    with pytest.raises(UsageError, match="'sourceMap' of the configuration 'it' is not pairs of folders"):
        understood(tmp_path, {"type": "lldb", "request": "launch", "program": "x", "sourceMap": [1]})


LAUNCHED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "python", "module": "pack.tool", "args": "one 'two three'", "justMyCode": False, "subProcess": False},
        {
            "kind": "module",
            "program": "pack.tool",
            "args": ("one", "two three"),
            "just_my_code": False,
            "children": False,
        },
    ),
    (
        {"type": "python", "program": "x.py", "python": "/opt/py", "pythonArgs": ["-X", "dev"]},
        {"kind": "file", "interpreter": "/opt/py", "interpreter_flags": ("-X", "dev"), "adapter": "python"},
    ),
    (
        {
            "type": "pwa-node",
            "program": "${workspaceFolder}/x.js",
            "runtimeArgs": ["--no-warnings"],
            "skipFiles": ["x"],
        },
        {"kind": "file", "interpreter_flags": ("--no-warnings",), "adapter": "node"},
    ),
    (
        {"type": "node", "runtimeExecutable": "npm", "runtimeArgs": ["run", "dev"]},
        {"kind": "command", "command": ("npm", "run", "dev"), "adapter": "wrapper"},
    ),
    (
        {"type": "go", "mode": "test", "program": "/src/cart", "args": ["-test.run", "Sum", "-mine", "x"]},
        {"command": ("go", "test", "/src/cart", "-args", "-test.run", "Sum", "-mine", "x"), "adapter": "go"},
    ),
    (
        {"type": "gdb", "target": "./x", "arguments": "one 'two three'"},
        {"kind": "file", "args": ("one", "two three"), "adapter": "gdb"},
    ),
]


@pytest.mark.parametrize(("given", "wanted"), LAUNCHED)
def test_a_launch_of_each_type_becomes_its_plan(tmp_path: Path, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in ("x.py", "x.js"):
        (tmp_path / name).touch()
    (tmp_path / "npm").write_text("#!/bin/sh\n")
    (tmp_path / "npm").chmod(0o755)
    found = understood(tmp_path, {"request": "launch", **given}, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert isinstance(found.plan, Plan) and found.notes == ()
    assert {name: getattr(found.plan, name) for name in wanted} == wanted


def test_variables_are_a_table_or_a_list_as_lldb_dap_takes_it(tmp_path: Path) -> None:
    given = {"type": "lldb-dap", "request": "launch", "program": "x", "env": ["A=1=2", "B"]}
    found = understood(tmp_path, given).plan
    assert (found.env["A"], found.env["B"]) == ("1=2", "")
    with pytest.raises(UsageError, match="is not a table"):
        understood(tmp_path, {**given, "env": [1]})


ATTACHED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "debugpy", "connect": {"host": "there", "port": 5678}},
        {"host": "there", "port": 5678, "adapter": "python"},
    ),
    ({"type": "python", "processId": "41"}, {"pid": 41, "port": None, "adapter": "python"}),
    ({"type": "node", "port": 9230}, {"host": "127.0.0.1", "port": 9230, "adapter": "node"}),
    ({"type": "node", "processId": 41}, {"pid": 41, "port": None}),
    ({"type": "go", "mode": "remote", "host": "there", "port": 2345}, {"host": "there", "port": 2345}),
    ({"type": "cppdbg", "program": "/bin/x", "processId": 41}, {"pid": 41, "program": "/bin/x"}),
    ({"type": "cppdbg", "program": "/bin/x", "coreDumpPath": "/c"}, {"core": "/c", "program": "/bin/x"}),
    ({"type": "cppdbg", "program": "/bin/x", "miDebuggerServerAddress": "h:12"}, {"host": "h", "port": 12}),
    ({"type": "rdbg", "debugPort": "4321"}, {"host": "127.0.0.1", "port": 4321}),
    # What editors write as a launch, and which starts nothing
    (
        {"type": "cppdbg", "request": "launch", "program": "/bin/x", "coreDumpPath": "/c"},
        {"core": "/c", "program": "/bin/x"},
    ),
    (
        {"type": "cppdbg", "request": "launch", "program": "/bin/x", "miDebuggerServerAddress": "h:12"},
        {"host": "h", "port": 12, "program": "/bin/x"},
    ),
    (
        {"type": "go", "request": "launch", "mode": "core", "program": "/bin/x", "coreFilePath": "/c"},
        {"core": "/c", "program": "/bin/x", "adapter": "go"},
    ),
]


@pytest.mark.parametrize(("given", "wanted"), ATTACHED)
def test_an_attach_of_each_type_becomes_its_plan(tmp_path: Path, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = understood(tmp_path, {"request": "attach", **given})
    assert isinstance(found.plan, AttachPlan) and found.notes == ()
    assert {name: getattr(found.plan, name) for name in wanted} == wanted
