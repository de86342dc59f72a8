"""Write the generated documentation: the tables of verbs and languages in the README, docs/reference.md, and the phases' diagram.

`--check` only says if something is stale.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stillframe.adapters.declarations import catalogue
from stillframe.dispatch import OPERATIONS
from stillframe.faces.mcp.toolset import toolset
from stillframe.ops import FILES
from stillframe.registry import Field, Operation
from stillframe.session.phases import TRANSITIONS

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "src/stillframe/settings.py"
PROVED = ROOT / "tests/conformance/proved.json"
LANGUAGES = {
    "python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "c": "C", "cpp": "C++", "rust": "Rust",
    "go": "Go", "ruby": "Ruby",
}  # fmt: skip
"""The folders of the marked programs, as people call their languages."""
SETTINGS_TEXT = """## Settings

In `config.toml` of the user's config directory; in `stillframe.toml` or `[tool.stillframe]` of the project's
`pyproject.toml`; or as `STILLFRAME_WAIT` and so on in the environment, which wins; the daemon's is that of its first
caller. `STILLFRAME_SESSION` names the session of every call, `STILLFRAME_CLIENT` tells one caller from another,
`STILLFRAME_RUNTIME_DIR` is where the socket is, `STILLFRAME_IDLE_SECONDS` (300) how long an idle daemon stays."""
DECLARED = ROOT / "src/stillframe/adapters/declared.py"
DECLARED_TEXT = """## Debuggers of your own

Any debugger that speaks DAP is a table `[adapters.NAME]` in the settings. Texts in it may hold `${program}`,
`${args}`, `${cwd}`, `${env}`, `${env:NAME}`, `${stopOnEntry}`, `${justMyCode}`, `${name}`; for attaching `${pid}`,
`${host}`, `${port}`, `${core}`; `${dir}` (where the file lies), `${tools}`, `${home}`; and `${stdin}`, `${stdout}`,
`${stderr}`, pipes for a debugger that can send its program's streams there. A text that is nothing but one of them
takes its value with its type; `$${x}` is a plain `${x}`. What a project's files declare runs only after `dbg trust`."""
TITLES = {
    "launch": "start", "control": "move", "breakpoints": "breakpoints", "inspect": "look", "evaluate": "ask and change",
    "patch": "change what runs", "investigate": "one question", "crash": "why it fails", "hang": "why it does not end",
    "testing": "a red test", "trace": "one call's life", "projects": "what a project brings",
    "record": "the record", "crossing": "one function from every side", "keeping": "keep what was seen",
    "health": "is everything there", "agents": "for agents", "admin": "sessions",
    "machine": "below the source", "lowlevel": "past us",
}  # fmt: skip


def verb_table() -> str:
    rows = ["| | verbs |", "|---|---|"]
    for file in FILES:
        verbs = [f"`{each.name}`" for each in OPERATIONS.values() if each.group == file]
        rows.append(f"| {TITLES[file]} | {', '.join(verbs)} |")
    return "\n".join(rows)


def support_table() -> str:
    """What the conformance stories prove, by language; the tests keep the file true."""
    proved: dict[str, dict[str, Any]] = json.loads(PROVED.read_text())
    told = [verb for verb, each in OPERATIONS.items() if each.takes_session or each.starts]
    every = [verb for verb in told if any(verb in entry["verbs"] for entry in proved.values())]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for story, entry in proved.items():
        language = re.match(r"[a-z]+", story)
        assert language is not None
        lacking = ", ".join(f"`{verb}`" for verb in every if verb not in entry["verbs"])
        key = (LANGUAGES[language[0]], entry["debugger"], f"all but {lacking}" if lacking else "all")
        rows.setdefault(key, []).append(story[language.end() :].lstrip("-"))
    lines = ["| language | debugger | proven |", "|---|---|---|"]
    for (name, debugger, verbs), versions in sorted(
        rows.items(), key=lambda row: list(LANGUAGES.values()).index(row[0][0])
    ):
        found = ", ".join(each for each in sorted(versions, key=_version) if each[:1].isdigit())
        lines.append(f"| {name}{f' {found}' if found else ''} | {debugger} | {verbs} |")
    verbs = ", ".join(f"`{verb}`" for verb in every)
    unverified = ", ".join(each.name for each in catalogue())
    below = f"The verbs are {verbs}. As data, run by no test yet: {unverified}."
    return "\n".join([*lines, "", textwrap.fill(below, 140, break_on_hyphens=False)])


def _version(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def flag_row(field: Field) -> str:
    metavar = f" {field.param.metavar}" if field.param.metavar and field.kind != "bool" else ""
    if field.param.last:
        word = "`-- …`"
    elif field.param.positional:
        word = f"`{field.param.metavar or field.name.upper()}{'…' if field.param.rest else ''}`"
    else:
        name = f"--[no-]{field.flag[2:]}" if field.kind == "bool" and field.default is True else field.flag
        word = f"`{name}{metavar}`" + (f", `{field.param.short}`" if field.param.short else "")
    text = field.param.doc
    if field.choices:
        text += f" ({', '.join(field.choices)})"
    if field.default not in (None, False, True, (), "") and not field.required:
        text += f"; default {field.default}"
    return f"| {word} | {text.replace('|', chr(92) + '|')} |"


def section(operation: Operation) -> str:
    aliases = f" ({', '.join(operation.aliases)})" if operation.aliases else ""
    parts = [
        f"### {operation.name}{aliases}",
        f"{operation.doc}\n\nAccess: {operation.access.name.lower()}.",
        f"```sh\n{operation.example}\n```",
    ]
    if operation.fields:
        parts.append("\n".join(["| | |", "|---|---|", *(flag_row(field) for field in operation.fields)]))
    return "\n\n".join(parts)


def reference() -> str:
    head = (
        "# Reference\n\nGenerated from the registry by `./dev docs`; do not edit. Flags of every verb: `--json`,\n"
        "`--budget N` (characters, or bytes of JSON), `--allow read|inspect|control|exec`, `--reveal` (secrets, too), `--help`;\n"
        "of those that are about a session `--session NAME` (`-s`); of `probe`, `crash`, `test`, `trace` and `hang`\n"
        "`--no-daemon`, which runs the call in the calling process.\n"
    )
    body = []
    for file in FILES:
        body.append(f"## {TITLES[file].capitalize()}")
        body += [section(each) for each in OPERATIONS.values() if each.group == file]
    body.append(mcp_section())
    body.append(SETTINGS_TEXT + "\n\n" + settings_table())
    body.append(DECLARED_TEXT + "\n\n" + declarations_table())
    body.append("## The life of a session\n\n" + phases())
    return head + "\n" + "\n\n".join(body) + "\n"


def settings_table() -> str:
    """The settings with their defaults, from the dataclass and the docstrings under its fields."""
    rows = ["| setting | default | |", "|---|---|---|"]
    rows += [
        f"| `{name}` | {ast.unparse(value)} | {doc} |" for name, value, doc in documented(SETTINGS, "Settings") if value
    ]
    return "\n".join(rows)


def declarations_table() -> str:
    """What a table `[adapters.NAME]` may say, from the struct that reads it."""
    rows = [f"| `{name.replace('_', '-')}` | {doc} |" for name, _, doc in documented(DECLARED, "Declaration")]
    return "\n".join(["| field | |", "|---|---|", *rows])


def documented(file: Path, name: str) -> Iterator[tuple[str, ast.expr | None, str]]:
    """Name, default and docstring of each field of a class."""
    classes = [
        node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef) and node.name == name
    ]
    for field, doc in itertools.pairwise(classes[0].body):
        if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            yield field.target.id, field.value, str(doc.value.value)


MCP_TEXT = """## Tools of MCP

What `dbg mcp` lists by default. A tool takes every parameter of its verbs, listed or not, and
`session`, `budget` and (where it starts a program) `project`; the first verb is meant where none is named. Its class is
the highest that any call of it has. `--tools all` makes one tool of each verb, named with `_`, and a second one where a
parameter runs code. Resources: `dbg://sessions`, `dbg://session/NAME`, `dbg://session/NAME/output`, `dbg://runs`,
`dbg://run/NAME/hits`, `dbg://help/VERB`, `dbg://schema/VERB`.
A wait returns `running` within 25 s; cancelled, it leaves the program as it is."""


def mcp_section() -> str:
    rows = ["| tool | class | verbs | lists |", "|---|---|---|---|"]
    for tool, schema in toolset().schemas():
        verbs = ", ".join(tool.verbs) if tool.by else tool.verbs[0]
        by = f"`{tool.by}`: {verbs}" if tool.by else verbs
        names = ", ".join(f"`{name}`" for name in schema["properties"] if name != tool.by)
        rows.append(f"| `{tool.name}` | {tool.access} | {by} | {names} |")
    return MCP_TEXT + "\n\n" + "\n".join(rows)


def phases() -> str:
    rows = ["```mermaid", "stateDiagram-v2"]
    for before, afters in TRANSITIONS.items():
        rows += [f"    {before.value} --> {after.value}" for after in sorted(afters, key=lambda each: each.value)]
    return "\n".join([*rows, "```"])


def readme() -> str:
    text = (ROOT / "README.md").read_text()
    for name, made in (("verbs", verb_table()), ("support", support_table())):
        mark = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end of generated -->)", re.DOTALL)
        text = mark.sub(lambda found, made=made: found[1] + made + "\n" + found[2], text)  # type: ignore[misc]
    return text


def main() -> int:
    stale = []
    for path, text in ((ROOT / "README.md", readme()), (ROOT / "docs/reference.md", reference())):
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if "--check" in sys.argv:
        print(f"docs are {'stale: run ./dev docs: ' + ', '.join(stale) if stale else 'fresh'}")
        return 1 if stale else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
