"""What program is meant: the words that every starting verb takes, and the plan that they make."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Annotated, Literal

from ..adapters import understand
from ..adapters.interpreters import on_path
from ..errors import LaunchFailed, Try, UsageError
from ..model.plans import Caller, Plan
from ..model.wording import either
from ..registry import Param, Parameters
from ..session.breakpoints import absolute

Program = Annotated[
    tuple[str, ...], Param("a program and its arguments", positional=True, rest=True, metavar="PROGRAM")
]
Command = Annotated[
    tuple[str, ...], Param("a whole command as typed in a shell; behind a program, its further arguments", last=True)
]
Module = Annotated[
    str | None, Param("run a module, as `python -m` does; the words are its arguments", short="-m", metavar="MOD")
]
Code = Annotated[
    str | None, Param("run this code, as `python -c` does; the words are its arguments", short="-c", metavar="CODE")
]
Cwd = Annotated[str | None, Param("the directory to run it in", short="-C", metavar="DIR")]
Env = Annotated[tuple[str, ...], Param("set an environment variable; may be repeated", metavar="K=V")]
Stdin = Annotated[str | None, Param("a file for its standard input, or - to keep a pipe for `input`", metavar="FILE")]
Python = Annotated[str | None, Param("the interpreter to run it with", metavar="PATH")]
AllCode = Annotated[bool, Param("stop and step in library code too", aliases=("--no-just-my-code",))]
Children = Annotated[bool, Param("follow child processes as sessions of their own, which is the default")]
ReadyWord = Annotated[
    str | None, Param("return when it printed this text, or listens on this port", flag="--ready", metavar="TEXT|:PORT")
]
AdapterName = Annotated[str | None, Param("the debugger to use, where several would do: see `doctor`", metavar="NAME")]


class RunTerms(Parameters, frozen=True, kw_only=True):
    """On what terms a program is run."""

    module: Module = None
    code: Code = None
    cwd: Cwd = None
    env: Env = ()
    stdin: Stdin = None
    python: Python = None
    all_code: AllCode = False
    children: Children = True
    adapter: AdapterName = None


def make_plan(
    caller: Caller,
    program: tuple[str, ...],
    command: tuple[str, ...],
    how: RunTerms,
    *,
    stop_on_entry: bool = False,
    record: bool = False,
) -> Plan:
    """Understand what is to be run. The caller's environment is the program's, with what --env adds."""
    module, code, cwd, stdin = how.module, how.code, how.cwd, how.stdin
    if module is not None and code is not None:
        raise UsageError("-m and -c exclude each other")
    kind: Literal["file", "module", "code", "command"]
    words: tuple[str, ...]
    path: str | None = None
    if module is None and code is None and (program or command)[:1] == ("",):
        raise UsageError("launch what? The name of the program is empty, as an unset variable is")
    if module is not None:
        kind, args, words = "module", program + command, ("-m", module)
    elif code is not None:
        kind, args, words = "code", program + command, ("-c", code)
    elif program:
        kind, args, words = "file", program[1:] + command, program[:1]
        # As it was typed where that means the same there, so that the program finds itself in argv as in a plain run.
        path = program[0] if cwd is None else _from_here(program[0], caller.cwd, cwd)
    elif command:
        kind, args, words = "command", (), command
    else:
        raise UsageError(
            "launch what? Give a program, as in: dbg launch app.py, or a command: dbg launch -- python app.py"
        )
    here = absolute(cwd, caller.cwd) if cwd else caller.cwd
    if kind in ("file", "command"):
        _check_quotes(words[0], caller)
        _check_line(words[0], caller)
    plan = Plan(
        command=words + args,
        kind=kind,
        args=args,
        program=path or module or code,
        cwd=here,
        env=environment(caller, how),
        umask=caller.umask,
        stdin=stdin if stdin in (None, "-") else absolute(stdin, caller.cwd),
        interpreter=interpreter(how, here),
        stop_on_entry=stop_on_entry,
        just_my_code=not how.all_code,
        children=how.children,
        adapter=how.adapter,
        record=record,
    )
    return understand(plan)


def _check_quotes(word: str, caller: Caller) -> None:
    """A command that was quoted as a whole is one word, of which there is no file."""
    if not any(char.isspace() for char in word) or os.path.exists(Path(caller.cwd, word)):
        return
    try:
        words = shlex.split(word)
    except ValueError:
        return
    if len(words) > 1 and on_path(words[0], caller.env, caller.cwd):
        meant = either(
            f"is not quoted as a whole, as in: -- {shlex.join(words)}", f"has words of its own: {json.dumps(words)}"
        )
        raise UsageError(f"there is no program {word!r}: a command {meant}")
    if len(words) > 1 and os.path.isfile(Path(caller.cwd, words[0])):
        meant = either(f"{shlex.quote(words[0])} -- {shlex.join(words[1:])}", json.dumps(words))
        raise UsageError(f"there is no program {word!r}: its arguments are words of their own, as in: {meant}")


def _check_line(word: str, caller: Caller) -> None:
    """A place is not a program: `app.py:3` is asked for by those who want to stop there."""
    file, _, line = word.rpartition(":")
    if line.isdigit() and os.path.isfile(Path(caller.cwd, file)) and not os.path.exists(Path(caller.cwd, word)):
        raise UsageError(
            f"there is no program {word!r}: where to stop is said beside it",
            hint=Try("launch", {"program": (file,), "breaks": (word,)}),
        )


def _from_here(program: str, here: str, cwd: str) -> str:
    """The program's file: with --cwd, too, it is named from where the caller is, as in a shell, and not as `git -C` has it."""
    path, there = absolute(program, here), absolute(program, absolute(cwd, here))
    if not os.path.exists(path) and os.path.exists(there):
        meant = os.path.relpath(there, here)
        raise LaunchFailed(f"no such file: {path}; --cwd is where it runs, and files are named from here: {meant}")
    return path


def interpreter(how: RunTerms, here: str) -> str | None:
    """The one that was asked for, by a path that means the same wherever the program is run; or by its name."""
    return absolute(how.python, here) if how.python and "/" in how.python else how.python


def environment(caller: Caller, how: RunTerms) -> dict[str, str]:
    return {**caller.env, **dict(pair(each) for each in how.env)}


def pair(text: str) -> tuple[str, str]:
    """Name and value of what --env gives."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"--env takes K=V, not {text!r}")
    return key, value


def default_name(plan: Plan) -> str:
    """A word for the session: the program's own name."""
    match plan.kind:
        case "file":
            return Path(plan.program or "").stem or Path(plan.cwd, plan.program or "").resolve().name or "program"
        case "module":
            return (plan.program or "module").rpartition(".")[2]
        case "code":
            return "code"
        case "command":
            return Path(plan.command[0]).stem
