"""Where each agent looks for MCP servers, skills and sub-agents, for a user and for a project; a table, and how to read it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Agent:
    """One agent. Paths are below the home directory, or its own directory where a variable names one; or below the project."""

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
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its entry has beside command and arguments."""
    subagents: str = ""
    project_subagents: str = ""
    variable: str = ""
    """The environment variable that names its directory, in the place of `home`."""

    def below_home(self, path: str, env: Mapping[str, str]) -> Path:
        base = Path(env.get("HOME") or Path.home())
        named = env.get(self.variable, "") if self.variable else ""
        if named and path.startswith(self.home + "/"):
            return Path(named) / path.removeprefix(self.home + "/")
        return base / path

    def is_here(self, env: Mapping[str, str]) -> bool:
        return self.below_home(self.home + "/x", env).parent.is_dir() or bool(
            shutil.which(self.command, path=env.get("PATH"))
        )


_STDIO = {"type": "stdio"}

AGENTS = {
    each.name: each
    for each in (
        Agent(
            "claude", "Claude Code", ".claude", "claude", ".claude.json", ".mcp.json", "mcpServers",
            ".claude/skills", ".claude/skills", _STDIO, ".claude/agents", ".claude/agents", "CLAUDE_CONFIG_DIR",
        ),
        Agent(
            "codex", "Codex", ".codex", "codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers",
            ".agents/skills", variable="CODEX_HOME",
        ),
        Agent("cursor", "Cursor", ".cursor", "cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", ".cursor/skills"),
        Agent(
            "gemini", "Gemini CLI", ".gemini", "gemini", ".gemini/settings.json", ".gemini/settings.json", "mcpServers",
            ".gemini/skills",
        ),
        Agent(
            "copilot", "Copilot", ".copilot", "copilot", ".copilot/mcp-config.json", ".github/mcp.json", "mcpServers",
            ".copilot/skills", ".github/skills", {"type": "local", "tools": ["*"]},
        ),
        Agent(
            "vscode", "VS Code", ".config/Code", "code", ".config/Code/User/mcp.json", ".vscode/mcp.json", "servers",
            ".copilot/skills", ".github/skills", _STDIO,
        ),
    )
}  # fmt: skip

SERVER = "stillframe"
"""The name of our entry, of our skill's folder, and the beginning of our sub-agent's name."""
