"""`dbg install`: where each agent looks, merged by as little as possible, twice the same as once, nothing edited overwritten."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.errors import UsageError
from stillframe.ops.settingsfiles import JsonText, _without_comments, toml_table, with_toml_table, without_toml_table

from .conftest import User

AGENTS = ("claude", "codex", "cursor", "gemini", "copilot", "vscode")
CURSOR = """\
// my servers
{
  "mcpServers": {
    "other": {"command": "x", "args": ["a, b", "// no comment"]}, // the other one
    /* last */
  }, "theme": "dark" // dark, of course
}
"""
CODEX = """\
# my settings
model = "o9"

[mcp_servers.other] # the other one
command = "x"

# about profiles
[profiles.p]
model = "o8"
"""


def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.mark.long
def test_every_agent_gets_the_skill_and_the_server_where_it_looks_and_loses_them_again(user: User) -> None:
    before = {path for path in home().rglob("*") if "state" not in path.parts}
    first = user.json("install", *AGENTS)["placed"]
    assert {each["state"] for each in first} == {"written"}
    assert {(each["agent"], each["kind"]) for each in first} >= {(agent, "mcp") for agent in AGENTS}
    for path, key in (
        (".claude.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".gemini/settings.json", "mcpServers"),
        (".copilot/mcp-config.json", "mcpServers"),
        (f"{os.environ['XDG_CONFIG_HOME']}/Code/User/mcp.json", "servers"),
    ):
        entry = json.loads((home() / path).read_text())[key]["stillframe"]
        alone = [] if "gemini" in path else ["--answers", "text"]  # others show a model the JSON instead
        assert (Path(entry["command"]).name, entry["args"]) == ("dbg", ["mcp", *alone]), path
    codex = tomllib.loads((home() / ".codex/config.toml").read_text())["mcp_servers"]["stillframe"]
    assert codex["args"] == ["mcp", "--answers", "text"]
    # Gemini CLI looks into both folders, and says that they conflict where both have it.
    assert not (home() / ".gemini/skills").exists()
    for folder in (".claude", ".agents", ".cursor", ".copilot"):
        skill = home() / folder / "skills/stillframe"
        assert (skill / "SKILL.md").read_text().startswith("---\nname: stillframe\n")
        assert (skill / "references/verbs.md").is_file()
    claude = (home() / ".claude/agents/stillframe-debugger.md").read_text()
    assert "\ntools: Bash, Read, Grep, Glob\n" in claude
    plain = [home() / f"{folder}/agents/stillframe-debugger.md" for folder in (".cursor", ".gemini")]
    for path in (*plain, home() / ".copilot/agents/stillframe-debugger.agent.md"):
        head, body = path.read_text().split("---\n")[1:]
        assert [line.partition(":")[0] for line in head.splitlines()] == ["name", "description"]
        assert body.strip() == claude.split("---\n")[2].strip()
    table = tomllib.loads((home() / ".codex/agents/stillframe-debugger.toml").read_text())
    assert table["name"] == "stillframe-debugger" and table["description"] in claude
    assert table["developer_instructions"].strip() == claude.split("---\n")[2].strip()
    # Twice is the same as once, and without anything left there is nothing to take away.
    assert {each["state"] for each in user.json("install", *AGENTS)["placed"]} == {"unchanged"}
    assert {each["state"] for each in user.json("uninstall", *AGENTS)["placed"]} == {"removed"}
    assert {each["state"] for each in user.json("uninstall", *AGENTS)["placed"]} == {"absent"}
    assert not list(home().rglob("stillframe-debugger.*")) + list(home().rglob("skills/stillframe"))
    # No file and no folder of an agent's is left, by which it would be found here.
    assert {path for path in home().rglob("*") if "state" not in path.parts} == before


@pytest.mark.long
def test_profiles_that_do_not_see_the_settings_of_the_first_are_told_of(user: User) -> None:
    assert "profiles" not in user.ok("install", "vscode")
    profile = Path(os.environ["XDG_CONFIG_HOME"], "Code/User/profiles/5552b383")
    profile.mkdir(parents=True)
    said = "VS Code has further profiles here, each with an mcp.json of its own"
    assert said in user.ok("install", "vscode", "--mcp") and not list(profile.iterdir())
    assert all(said not in user.ok("install", "vscode", word, "--dry-run") for word in ("--skill", "--project"))


def test_a_skill_that_another_agent_reads_stays_for_it(user: User) -> None:
    user.ok("install", "codex", "gemini")
    skill = home() / ".agents/skills/stillframe/SKILL.md"
    assert f"skill: kept {skill} (Codex reads it, too)" in user.ok("uninstall", "gemini")
    assert skill.is_file() and not (home() / ".gemini").exists()
    user.ok("uninstall", "codex")
    assert not (home() / ".agents").exists()


def test_what_a_project_has_for_vs_code_alone_goes_with_it_and_stays_where_copilot_has_it_too(user: User) -> None:
    """Both look for skills and sub-agents in the same places."""
    user.file("pyproject.toml", "")
    user.ok("install", "vscode", "--project")
    assert {each["state"] for each in user.json("uninstall", "vscode", "--project")["placed"]} == {"removed"}
    assert [path.name for path in user.here.iterdir()] == ["pyproject.toml"]
    user.ok("install", "vscode", "copilot", "--project")
    assert "SKILL.md (Copilot reads it, too)" in user.ok("uninstall", "vscode", "--project")
    assert (user.here / ".github/skills/stillframe/SKILL.md").is_file()


def test_settings_are_merged_with_their_comments_and_backed_up(user: User) -> None:
    for name, text in ((".cursor/mcp.json", CURSOR), (".codex/config.toml", CODEX)):
        path = home() / name
        path.parent.mkdir()
        path.write_text(text)
        path.chmod(0o640)
    placed = user.json("install", "cursor", "codex", "--mcp")["placed"]
    assert [each["state"] for each in placed] == ["written", "written"]
    for each in placed:
        assert Path(each["backup"]).read_text() in (CURSOR, CODEX)
    cursor, codex = (home() / name for name in (".cursor/mcp.json", ".codex/config.toml"))
    assert cursor.stat().st_mode & 0o777 == 0o640
    for comment in ("// my servers", "// the other one", "/* last */", "// dark, of course", '"// no comment"'):
        assert comment in cursor.read_text()
    assert set(json.loads(_without_comments(cursor.read_text()))["mcpServers"]) == {"other", "stillframe"}
    assert set(tomllib.loads(codex.read_text())["mcp_servers"]) == {"other", "stillframe"}
    user.ok("uninstall", "cursor", "codex", "--mcp")
    assert (cursor.read_text(), codex.read_text()) == (CURSOR, CODEX)


@pytest.mark.long
def test_what_somebody_has_edited_is_kept_and_said_to_be(user: User) -> None:
    user.ok("install", "claude", "cursor")
    skill, settings = home() / ".claude/skills/stillframe/SKILL.md", home() / ".cursor/mcp.json"
    skill.write_text(skill.read_text() + "my own words\n")
    changed = json.loads(settings.read_text())
    changed["mcpServers"]["stillframe"]["env"] = {"MINE": "1"}
    settings.write_text(json.dumps(changed))
    for verb in ("install", "uninstall"):
        told = {each["path"]: each for each in user.json(verb, "claude", "cursor")["placed"]}
        for path in (skill, settings):
            assert (told[str(path)]["state"], "edited" in told[str(path)]["note"]) == ("kept", True)
    assert "my own words" in skill.read_text() and "MINE" in settings.read_text()
    assert "kept" in user.ok("install", "claude")
    user.ok("install", "claude", "cursor", "--force")
    assert "my own words" not in skill.read_text() and "MINE" not in settings.read_text()


@pytest.mark.long
def test_a_project_gets_files_that_can_be_shared_and_a_dry_run_changes_nothing(user: User) -> None:
    user.file("pyproject.toml", "")
    planned = user.json("install", *AGENTS, "--project", "--dry-run")
    assert (planned["dry_run"], {each["state"] for each in planned["placed"]}) == (True, {"written"})
    assert [path.name for path in user.here.iterdir()] == ["pyproject.toml"]
    assert "would be written" in user.ok("install", "cursor", "--project", "--dry-run")
    user.ok("install", *AGENTS, "--project", "--access", "inspect")
    for name, key in ((".mcp.json", "mcpServers"), (".cursor/mcp.json", "mcpServers"), (".vscode/mcp.json", "servers")):
        entry = json.loads((user.here / name).read_text())[key]["stillframe"]
        assert (entry["command"], entry["args"]) == ("dbg", ["mcp", "--answers", "text", "--allow", "inspect"])
    codex = tomllib.loads((user.here / ".codex/config.toml").read_text())["mcp_servers"]["stillframe"]
    gemini = json.loads((user.here / ".gemini/settings.json").read_text())["mcpServers"]["stillframe"]
    assert [each["args"][-2:] for each in (codex, gemini)] == [["--allow", "inspect"]] * 2
    assert "--answers" in codex["args"] and "--answers" not in gemini["args"]
    texts = [path.read_text() for path in user.here.rglob("*") if path.is_file()]
    assert not any(str(home()) in text for text in texts)
    for folder in (".agents", ".claude", ".github"):
        assert (user.here / folder / "skills/stillframe/SKILL.md").is_file()
    assert {path.parent.parent.name for path in user.here.rglob("stillframe-debugger.*")} == {
        ".claude", ".codex", ".cursor", ".gemini", ".github",
    }  # fmt: skip
    # A newer entry of our own takes the place of an older one.
    assert "updated" in user.ok("install", "cursor", "--project", "--mcp")
    user.ok("install", *AGENTS, "--project")
    assert {each["state"] for each in user.json("install", *AGENTS, "--project")["placed"]} == {"unchanged"}
    assert {each["state"] for each in user.json("uninstall", *AGENTS, "--project")["placed"]} == {"removed"}
    assert [path.name for path in user.here.iterdir()] == ["pyproject.toml"]


UNSOUND = (
    "[]", "{", '{"mcpServers": 3}', '{"mcpServers": {"stillframe": }}', "not json", '{"a" 1}', '{"a\tb": 1}', '{"a": [1 2]}',
    '{"a": what}', '{"a": 1} behind', '{"a": ' + "[" * 9000 + "]" * 9000 + "}",
    '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}',
)  # fmt: skip


@pytest.mark.parametrize("text", UNSOUND, ids=lambda text: text[:20])
def test_settings_that_are_not_sound_are_left_as_they_are(user: User, text: str) -> None:
    path = home() / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(text)
    user.fails("install", "cursor", "--mcp", code=2, error="usage")
    assert path.read_text() == text


@pytest.mark.long
def test_agents_are_named_or_found_and_nothing_else_is_taken(user: User) -> None:
    user.fails("install", code=2, error="usage")
    user.fails("install", "emacs", code=2, error="usage")
    user.fails("install", "claude", "--all", code=2, error="usage")
    (home() / ".gemini").mkdir()
    placed = user.json("install", "--all", "--mcp", env={"PATH": "/nowhere"})["placed"]
    assert [each["agent"] for each in placed] == ["gemini"]
    (home() / "elsewhere").mkdir()
    user.ok("install", "codex", "--mcp", env={"CODEX_HOME": str(home() / "elsewhere")})
    assert (home() / "elsewhere/config.toml").is_file()
    # A settings file that is a link stays one.
    real = home() / "dotfiles.json"
    real.write_text("{}")
    (home() / ".cursor").mkdir()
    (home() / ".cursor/mcp.json").symlink_to(real)
    user.ok("install", "cursor", "--mcp")
    assert (home() / ".cursor/mcp.json").is_symlink() and "stillframe" in real.read_text()


@pytest.mark.parametrize(
    ("agent", "variable", "settings", "skill"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json", "skills"),
        ("codex", "CODEX_HOME", "config.toml", None),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json", ".agents/skills"),
        ("copilot", "COPILOT_HOME", "mcp-config.json", "skills"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json", None),
    ],
)
def test_an_agent_whose_files_a_variable_has_elsewhere_is_served_there(
    user: User, agent: str, variable: str, settings: str, skill: str | None
) -> None:
    elsewhere = user.here / "elsewhere"
    elsewhere.mkdir()
    moved = {variable: str(elsewhere)}
    user.ok("install", agent, env=moved)
    assert "stillframe" in (elsewhere / settings).read_text()
    assert skill is None or (elsewhere / skill / "stillframe/SKILL.md").is_file()
    assert not (home() / ".claude.json").exists() and not (home() / ".gemini").exists()
    user.ok("uninstall", agent, env=moved)
    assert list(elsewhere.iterdir()) == [], "no folder of ours stays either"


@pytest.mark.long
def test_the_skill_or_the_server_alone_comes_and_goes(user: User) -> None:
    def there() -> tuple[bool, bool]:
        return (home() / ".claude.json").exists(), (home() / ".claude/skills/stillframe/SKILL.md").exists()

    user.ok("install", "claude", "--skill")
    assert there() == (False, True)
    user.ok("install", "claude", "--mcp")
    user.ok("uninstall", "claude", "--skill")
    assert there() == (True, False)
    user.ok("install", "claude", "--skill", "--mcp")
    user.ok("uninstall", "claude", "--mcp")
    assert there() == (False, True)
    assert "would be removed" in user.ok("uninstall", "claude", "--dry-run")
    assert there() == (False, True)
    user.ok("uninstall", "claude")
    assert there() == (False, False)


def test_what_is_no_plain_file_is_neither_read_nor_replaced(user: User) -> None:
    path = home() / ".cursor/mcp.json"
    path.parent.mkdir()
    fifo = home() / "fifo"
    os.mkfifo(fifo)
    for target in (fifo, home()):
        path.symlink_to(target)
        told = user.fails("install", "cursor", "--mcp", code=1, error="not_found")
        assert f"{path} is no plain file; nothing was changed there" in told
        assert path.is_symlink() and not target.is_file()
        path.unlink()
    (home() / ".claude").write_text("a file of somebody's")
    told = user.fails("install", "claude", code=1, error="not_found")
    assert f"{home() / '.claude'} is no folder; nothing was changed" in told
    assert not (home() / ".claude.json").exists()


@pytest.mark.long
def test_a_folder_that_may_not_be_written_to_leaves_all_else_as_it_was(bound_user: User) -> None:
    closed = home() / ".gemini"
    closed.mkdir(mode=0o500)
    for more in ((), ("--dry-run",)):
        told = bound_user.fails("install", "claude", "gemini", *more, code=1, error="not_found")
        assert f"you may not write to {closed}; nothing was changed" in told
    assert not (home() / ".claude.json").exists() and not (home() / ".claude").exists()
    closed.chmod(0o700)
    bound_user.ok("install", "claude", "gemini")
    closed.chmod(0o500)
    bound_user.fails("uninstall", "claude", "gemini", code=1, error="not_found")
    assert (home() / ".claude.json").exists()
    closed.chmod(0o700)
    bound_user.ok("uninstall", "claude", "gemini")


def test_a_file_that_is_read_only_is_left_so(bound_user: User) -> None:
    text = '{"mcpServers": {}}\n'
    settings = bound_user.file(".cursor/mcp.json", text)
    settings.chmod(0o400)
    for more in ((), ("--dry-run",), ("--force",)):
        told = bound_user.fails("install", "cursor", "--project", *more, code=1, error="not_found")
        assert f"{settings} cannot be written: it is read-only for you; nothing was changed" in told
    assert [each.name for each in bound_user.here.iterdir()] == [".cursor"] and settings.read_text() == text
    settings.chmod(0o600)
    bound_user.ok("install", "cursor", "--project")
    settings.chmod(0o400)
    bound_user.fails("uninstall", "cursor", "--project", code=1, error="not_found")
    assert "stillframe" in settings.read_text()


def placed_as(name: str, content: bytes) -> Path:
    path = home() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { x = { command = "y" } }\n',
        'mcp_servers.stillframe = { command = "mine" }\n',
        '[mcp_servers]\nstillframe = { command = "mine" }\n',
    ],
)
def test_servers_of_codex_in_a_form_that_has_no_room_are_left_and_said_how_to_be_changed(user: User, text: str) -> None:
    path = placed_as(".codex/config.toml", text.encode())
    told = user.fails("install", "codex", "--mcp", "--force", code=2, error="usage")
    assert str(path) in told and "by hand: stillframe = { command = " in told
    assert path.read_text() == text
    by_hand = told.split("by hand: ")[1].strip().removesuffix(" in mcp_servers")
    assert tomllib.loads(by_hand)["stillframe"]["args"] == ["mcp", "--answers", "text"]


def test_a_quoted_table_of_codex_is_ours_as_well(user: User) -> None:
    path = placed_as(
        ".codex/config.toml", b'[ mcp_servers . "stillframe" ] # x\ncommand = "dbg"\nargs = ["mcp"]\n[[a.b]]\nc = 1\n'
    )
    assert "updated" in user.ok("install", "codex", "--mcp")
    assert set(tomllib.loads(path.read_text())) == {"mcp_servers", "a"}
    user.ok("uninstall", "codex", "--mcp")
    assert tomllib.loads(path.read_text()) == {"a": {"b": [{"c": 1}]}}


def test_newlines_byte_order_indent_and_mode_stay_and_a_backup_is_as_hidden_as_the_file(user: User) -> None:
    text = '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t// none yet\r\n\t}\r\n}\r\n'.encode()
    path = placed_as(".cursor/mcp.json", text)
    path.chmod(0o600)
    trap = home() / "trap"
    backup = path.with_name("mcp.json.before-stillframe")
    backup.symlink_to(trap)
    assert user.json("install", "cursor", "--mcp")["placed"][0]["backup"] == str(backup)
    assert not trap.exists() and backup.read_bytes() == text
    assert [each.stat().st_mode & 0o777 for each in (path, backup)] == [0o600, 0o600]
    found = path.read_bytes().decode()
    assert found.startswith("\ufeff{\r\n\t//") and found.count("\n") == found.count("\r\n")
    assert '\r\n\t\t// none yet\r\n\t\t"stillframe": {\r\n\t\t\t"command"' in found
    user.ok("uninstall", "cursor", "--mcp")
    assert path.read_bytes() == text and not backup.exists()


@pytest.mark.parametrize(
    "text", ['{"theme": "dark"}', '{ // mine\n  "mcpServers": {\n    "a": {"command": "x"},\n  },\n}\n']
)
def test_a_file_that_nobody_else_has_changed_is_to_the_letter_what_it_was(user: User, text: str) -> None:
    """With no key left that it did not have, and each comma where it was; also where we changed our own entry meanwhile."""
    path = Path(os.environ["HOME"]) / ".cursor" / "mcp.json"
    backup = path.with_name("mcp.json.before-stillframe")
    path.parent.mkdir()
    path.write_text(text)
    user.ok("install", "cursor", "--mcp")
    user.ok("install", "cursor", "--mcp", "--access", "inspect")
    assert '"inspect"' in path.read_text() and backup.read_text() == text
    user.ok("uninstall", "cursor", "--mcp")
    assert (path.read_text(), backup.exists()) == (text, False)
    user.ok("install", "cursor", "--mcp")
    edited = path.read_text().replace("dark", "light").replace('"x"', '"y"')
    path.write_text(edited)
    user.ok("uninstall", "cursor", "--mcp")
    assert "stillframe" not in path.read_text() and ("light" in path.read_text() or '"y"' in path.read_text())
    assert backup.read_text() == edited


def test_one_file_that_cannot_be_read_leaves_the_others_as_they_are(user: User) -> None:
    broken = placed_as(".gemini/settings.json", b"{")
    before = sorted(home().rglob("*"))
    told = user.fails("install", "claude", "gemini", "--mcp", code=2, error="usage")
    assert str(broken) in told
    assert [each for each in sorted(home().rglob("*")) if "state" not in each.parts] == [
        each for each in before if "state" not in each.parts
    ]


@pytest.mark.parametrize("text", ['{"mcpServers": {}}\n', "{}", "", "\n"])
def test_settings_that_held_nothing_are_the_users_all_the_same(user: User, text: str) -> None:
    file = user.file(".cursor/mcp.json", text)
    user.ok("install", "cursor", "--project", "--mcp")
    assert "stillframe" in file.read_text()
    user.ok("uninstall", "cursor", "--project", "--mcp")
    assert [(each.name, each.read_text()) for each in file.parent.iterdir()] == [("mcp.json", text)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"us": {}, // ours\n  // about b\n  "b": 1}', '{// ours\n  // about b\n  "b": 1}'),
        ('{"b": 1, // about b\n  "us": {}}', '{"b": 1 // about b\n}'),
        ('{"b": 1 /* x */ // y\n}', '{"b": 1 /* x */ // y\n}'),
        ("// nothing\n", "// nothing\n{}\n"),
        ('{ // a {\n "us": 1 }', "{ // a {\n }"),
    ],
)
def test_comments_stay_where_an_entry_goes(text: str, left: str) -> None:
    inside = JsonText(text, "x.json").put(("us",), {"a": 1})
    assert JsonText(inside, "x.json").without(("us",)) == left


KEYS = st.text(st.characters(codec="utf-8"), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 2]))
def test_an_entry_put_in_and_taken_out_leaves_the_rest_as_it_was(found: dict[str, Any], indent: int | None) -> None:
    found.pop("servers", None)
    text = json.dumps(found, indent=indent, ensure_ascii=False)
    inside = JsonText(text, "x.json").put(("servers", "us"), {"a": [1]})
    assert json.loads(inside) == {**found, "servers": {"us": {"a": [1]}}}
    assert JsonText(inside, "x.json").get("servers", "us") == {"a": [1]}
    out = JsonText(inside, "x.json").without(("servers", "us"))
    assert json.loads(out) == {**found, "servers": {}}
    assert json.loads(JsonText(out, "x.json").without(("servers",))) == found


def test_a_toml_table_is_found_replaced_and_taken_out_alone() -> None:
    inside = with_toml_table(CODEX, "mcp_servers.us", {"command": "dbg", "args": ["mcp"]}, "x")
    again = with_toml_table(inside, "mcp_servers.us", {"command": "dbg", "args": ["mcp", "--allow", "read"]}, "x")
    assert toml_table(again, "mcp_servers.us", "x") == {"command": "dbg", "args": ["mcp", "--allow", "read"]}
    assert without_toml_table(again, "mcp_servers.us", "x").rstrip() == CODEX.rstrip()
    with pytest.raises(UsageError):
        toml_table("a = ", "x", "x.toml")
