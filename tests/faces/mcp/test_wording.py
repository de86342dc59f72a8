"""What to ask next is told in the words of whoever asked: lines of a shell, or the tools that a client has."""

from __future__ import annotations

import pytest

from stillframe.faces.mcp.wording import parameters, told_in
from stillframe.model import wording


def told() -> tuple[str, ...]:
    return (
        wording.option("hold"),
        wording.option("children", False),
        wording.option("call", 3),
        wording.option("count-by", None),
        wording.call("stop", tree=True),
        wording.call("output", kind="console"),
        wording.call("continue", session="shop"),
        wording.call("attach", {"address": "here:5678"}),
    )


SHELL = (
    "--hold", "--no-children", "--call 3", "--count-by", "dbg stop --tree", "dbg output --kind console",
    "dbg continue --session shop", "dbg attach here:5678",
)  # fmt: skip


def test_a_shell_is_told_flags_and_a_client_of_mcp_its_own_tools() -> None:
    assert told() == SHELL
    with told_in(["core", "exec"]):
        assert told() == (
            "hold", "children: false", "call: 3", "count_by", 'stop {"tree": true}',
            'state {"part": "output", "kind": "console"}', 'go {"session": "shop"}', 'attach {"address": "here:5678"}',
        )  # fmt: skip
        assert wording.either("a", "b") == "b"
    assert wording.either("a", "b") == "a"
    with told_in(["all", "inspect"]):
        assert told()[4:6] == ("dbg stop on the command line", 'output {"kind": "console"}')
    for strange in (None, 3, ["core"], ["nonsense", "exec"], [["core"], "exec"]):
        with told_in(strange):
            assert told() == SHELL
    with pytest.raises(KeyError), told_in(["core", "exec"]):
        raise KeyError
    assert told() == SHELL


def test_an_error_names_parameters_and_gives_no_line_of_a_shell_as_its_example() -> None:
    assert (
        parameters("hits takes --group-by or --count-by, not both", "hits")
        == "hits takes group_by or count_by, not both"
    )
    assert parameters("the condition is given twice: in the place and by --if", "break").endswith("and by condition")
    assert (
        parameters("probe where? Give places, as in: dbg probe a.py:1 -- python a.py", "probe")
        == "probe where? Give places"
    )
    assert parameters("name one with --session", "go") == "name one with session"
    assert parameters("dbg mcp --allow exec grants it; cargo run --bin a", "launch") == (
        "dbg mcp --allow exec grants it; cargo run --bin a"
    )
