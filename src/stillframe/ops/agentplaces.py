"""Where each agent looks for MCP servers, skills and sub-agents, for a user and for a project; a table, and how to read it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec


class Agent(msgspec.Struct, frozen=True):
    """One agent. Paths are below the home directory, or where a variable of the agent's own moves them; or below the project."""

    name: str
    title: str
    home: str
    command: str
    mcp: str
    project_mcp: str
    key: str
    """The object (JSON) or table (TOML) that holds the servers."""
    skills: str
    project_skills: str = ".agents/skills"
    entry: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """What its entry has beside command and arguments."""
    shows_json: bool = False
    """Whether it shows its model the JSON of an answer: four times the characters of the text, and in its place (seen with Claude
    Code 2.1 and Codex 0.169, read in VS Code's source) or beside it (Copilot CLI 1.0). It is served the text alone. Gemini
    CLI 0.61 shows nothing else."""
    subagents: str = ""
    """The file of our sub-agent; none where it is not known that such files are looked for."""
    project_subagents: str = ""
    variable: str = ""
    """The environment variable by which somebody has its files elsewhere."""
    moves: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The beginnings of paths below the home directory that the variable's directory, or what is below it, takes the place of."""
    subagent_form: Literal["whole", "plain", "toml"] = "plain"
    """Ours as it is shipped, with the names of tools; under a name and a description alone; or as a table."""

    def base(self, path: str, env: Mapping[str, str]) -> Path:
        """The directory that a path is below: somebody's own, or the one that a variable names in its place."""
        return Path(env[self.variable]) if self._moved(path, env) is not None else _home(env)

    def below_home(self, path: str, env: Mapping[str, str]) -> Path:
        begins = self._moved(path, env)
        if begins is None:
            return _home(env) / path
        return Path(env[self.variable], self.moves[begins] + path.removeprefix(begins))

    def _moved(self, path: str, env: Mapping[str, str]) -> str | None:
        """The beginning of this path that the variable moves, if it does."""
        if not env.get(self.variable):
            return None
        return next((begins for begins in self.moves if path.startswith(begins)), None)

    def is_here(self, env: Mapping[str, str]) -> bool:
        return self.below_home(self.home + "/x", env).parent.is_dir() or bool(
            shutil.which(self.command, path=env.get("PATH"))
        )


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


SERVER = "stillframe"
"""The name of our entry, of our skill's folder, and the beginning of our sub-agent's name."""
SUBAGENT = f"{SERVER}-debugger"
VSCODE_PROFILES = ".config/Code/User/profiles"
"""Below which those who have several profiles of VS Code have a folder for each but the first."""
_STDIO = {"type": "stdio"}
_MD, _AGENT_MD = f"{{}}/agents/{SUBAGENT}.md", f"{{}}/agents/{SUBAGENT}.agent.md"
_TOML = f".codex/agents/{SUBAGENT}.toml"

AGENTS = {
    each.name: each
    for each in (
        Agent(
            "claude", "Claude Code", ".claude", "claude", ".claude.json", ".mcp.json", "mcpServers",
            ".claude/skills", ".claude/skills", _STDIO, True, _MD.format(".claude"), _MD.format(".claude"),
            "CLAUDE_CONFIG_DIR", {".claude/": "", ".claude.json": ".claude.json"}, "whole",
        ),
        Agent(
            "codex", "Codex", ".codex", "codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers",
            ".agents/skills", shows_json=True, subagents=_TOML, project_subagents=_TOML, variable="CODEX_HOME",
            moves={".codex/": ""}, subagent_form="toml",
        ),
        Agent(
            "cursor", "Cursor", ".cursor", "cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", ".cursor/skills",
            shows_json=True, subagents=_MD.format(".cursor"), project_subagents=_MD.format(".cursor"),
        ),
        Agent(
            "gemini", "Gemini CLI", ".gemini", "gemini", ".gemini/settings.json", ".gemini/settings.json", "mcpServers",
            ".agents/skills", subagents=_MD.format(".gemini"), project_subagents=_MD.format(".gemini"),
            variable="GEMINI_CLI_HOME", moves={"": ""},
        ),
        Agent(
            "copilot", "Copilot", ".copilot", "copilot", ".copilot/mcp-config.json", ".github/mcp.json", "mcpServers",
            ".copilot/skills", ".github/skills", {"type": "local", "tools": ["*"]}, True,
            _AGENT_MD.format(".copilot"), _AGENT_MD.format(".github"), "COPILOT_HOME", {".copilot/": ""},
        ),
        Agent(
            "vscode", "VS Code", ".config/Code", "code", ".config/Code/User/mcp.json", ".vscode/mcp.json", "servers",
            ".copilot/skills", ".github/skills", _STDIO, True, project_subagents=_AGENT_MD.format(".github"),
            variable="XDG_CONFIG_HOME", moves={".config/": ""},
        ),
    )
}  # fmt: skip
