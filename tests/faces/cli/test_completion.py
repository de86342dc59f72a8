"""The completion scripts, loaded into the real shells and asked as a person at the keyboard would."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from stillframe.faces.cli import completion
from stillframe.faces.cli.catalogue import VERBS
from stillframe.ops import agentplaces

from ..conftest import CLIENT, DEADLINE, Tiny, call


@pytest.fixture
def shell_path(tmp_path: Path) -> str:
    """A PATH on which `dbg` is the client of the source tree."""
    script = tmp_path / "bin" / "dbg"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexec " + " ".join(shlex.quote(word) for word in CLIENT) + ' "$@"\n')
    script.chmod(0o755)
    return f"{script.parent}:{os.environ['PATH']}"


def need(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        assert os.environ.get("STILLFRAME_ALL") != "1", f"{shell} is not installed"
        pytest.skip(f"{shell} is not installed")
    return found


def ask(shell: str, line: str, path: str) -> list[str]:
    """What the shell offers at the end of a line; the line's last word may be empty."""
    match shell:
        case "bash":
            words = line.split(" ")
            script = (
                f"{completion.bash()}\nCOMP_WORDS=({' '.join(shlex.quote(word) for word in words)})\n"
                f'COMP_CWORD={len(words) - 1}\n_dbg\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
            )
            command = [need("bash"), "--norc", "-c", script]
        case "zsh":
            words = line.split(" ")
            stubs = "compadd() { [[ $1 == -- ]] && shift; print -l -- $@ }\n_files() { print -l -- *(N) }\n"
            script = (
                f"{stubs}{completion.zsh()}\nwords=({' '.join(shlex.quote(word) for word in words)})\n"
                f"CURRENT={len(words)}\n_dbg"
            )
            command = [need("zsh"), "-f", "-c", script]
        case _:
            script = f"{completion.fish()}\ncomplete -C {shlex.quote(line)}"
            command = [need("fish"), "--no-config", "-c", script]
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (0, "")
    last = line.rpartition(" ")[2]
    offered = [row.partition("\t")[0] for row in done.stdout.splitlines()]
    return [word for word in offered if word.startswith(last)]


SHELLS = ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", SHELLS)
def test_verbs_are_completed(shell: str, shell_path: str) -> None:
    assert {"break", "breaks"} <= set(ask(shell, "dbg bre", shell_path))
    assert set(VERBS) <= set(ask(shell, "dbg ", shell_path))
    for flags in ("--json", "--session shop", "-s shop --json", "--allow inspect"):
        assert ask(shell, f"dbg {flags} conti", shell_path) == ["continue"], flags
    assert ask(shell, "dbg help lau", shell_path) == ["launch"]
    assert "launch" not in ask(shell, "dbg launch la", shell_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_flags_of_the_verb_are_completed_also_by_its_alias(shell: str, shell_path: str) -> None:
    for verb in ("launch", "run"):
        offered = ask(shell, f"dbg {verb} --st", shell_path)
        assert {"--stdin", "--stop-on-entry"} <= set(offered)
        assert "--hit" not in offered
        assert "--once" not in ask(shell, f"dbg {verb} break --", shell_path), "break is the program's name here"
    assert "--json" in ask(shell, "dbg break --js", shell_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_values_of_a_closed_set_are_completed(shell: str, shell_path: str) -> None:
    assert set(ask(shell, "dbg output --kind ", shell_path)) >= {"stdout", "stderr", "log", "console"}
    assert ask(shell, "dbg state --allow ins", shell_path) == ["inspect"]
    assert set(ask(shell, "dbg events --kind ", shell_path)) == {
        "start",
        "stop",
        "output",
        "breakpoint",
        "operation",
        "end",
    }
    assert set(ask(shell, "dbg catch ", shell_path)) == {"uncaught", "raised", "user", "off"}
    assert "--json" in ask(shell, "dbg catch --j", shell_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_what_the_client_answers_itself_is_completed(shell: str, shell_path: str) -> None:
    assert set(ask(shell, "dbg completion ", shell_path)) >= set(SHELLS)
    assert "--http" in ask(shell, "dbg mcp --ht", shell_path)
    assert ask(shell, "dbg daemon st", shell_path) in (["status", "stop"], ["stop", "status"])


@pytest.mark.parametrize("shell", SHELLS)
def test_ids_come_from_the_daemon(shell: str, shell_path: str, tiny: Tiny) -> None:
    assert ask(shell, "dbg unbreak b", shell_path) == ["b1", "b2"]
    assert ask(shell, "dbg state --session s", shell_path) == ["shop"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_never_starts_a_daemon(shell: str, shell_path: str) -> None:
    assert ask(shell, "dbg unbreak b", shell_path) == []
    assert call("daemon").out == "no daemon runs\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_by_the_client(shell: str) -> None:
    said = call("completion", shell)
    assert said.out == getattr(completion, shell)()


def test_the_agents_that_are_offered_are_those_that_there_are() -> None:
    assert tuple(agentplaces.AGENTS) == completion.AGENTS


def test_an_unknown_shell_is_a_usage_error() -> None:
    said = call("completion", "bahs")
    assert said.code == 2
    assert "dbg completion bash" in said.err
    assert call("completion").code == 2
