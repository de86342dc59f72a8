"""Names that a compiler spells otherwise: what a module imports or exports is a member of some object in what runs.

`VAT` of `import { VAT } from './tax'` runs as `tax_1.VAT` (tsc), `import_tax.VAT` (esbuild), `_tax.VAT` (Babel, swc) or
`__vi_import_0__.VAT` (Vite), so that V8 knows no `VAT`; a bundle of one scope (esbuild, rollup) has it by the name of its home.
The source map tells where each use of a name went, and the text there how it is spelled; whoever asks for the name then means
that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence

from .client import Body, CdpClient, Refused
from .conditions import Spelled
from .frames import position
from .scripts import Script, Scripts
from .sourcemaps import SourceMap
from .texts import Texts
from .variables import Variables

_NAME = re.compile(r"(?<![\w$.#'\"`])[A-Za-z_$][\w$]*")
_MEMBER = re.compile(
    r"(?:\(\s*0\s*,\s*)?(?P<whole>(?P<object>[A-Za-z_$][\w$]*)"
    r"(?:\.(?P<member>[A-Za-z_$][\w$]*)|\[\"(?P<quoted>[^\"]+)\"\]|\(\))?)"
)
"""What stands for a name: a member, as it is or as the function of a call, a whole module, or a call that gives a module.
webpack has the default of a module in brackets."""
_GIVES_MODULE = re.compile(r"[\w$]+_default\(\)")
"""webpack's word for the default of what is no ECMAScript module."""
_DEFAULT = re.compile(
    r"\bexport\s+default\s+(?:(?:async\s+)?function\s*\*?\s+|(?:abstract\s+)?class\s+)?(?!async\b|function\b|class\b|new\b)"
    r"([A-Za-z_$][\w$]*)"
)
"""The name of what a module gives as its default."""
_MOST_USES = 40
_MOST_SPELLINGS = 4
"""Places where a name is used that are looked at, and what it may be: one is enough as a rule."""


class Spellings:
    """What the names of sources are in the scripts of one isolate."""

    def __init__(self, client: CdpClient, scripts: Scripts, texts: Texts, variables: Variables) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self._variables = variables
        self._known: dict[tuple[str, str, int, str], tuple[str, ...]] = {}

    async def bound(self, call: Body | None, expression: str) -> Spelled:
        """The names in an expression that this call does not have though its source does, each with what it is there."""
        if call is None:
            return {}
        renamed = await self.renamed(call, expression)
        found = await self.of(call, expression)
        return await self._there(call, {**found, **renamed}, renamed) if found or renamed else {}

    async def renamed(self, call: Body, expression: str) -> Mapping[str, tuple[str, ...]]:
        """The names in an expression that its source map tells to be those of variables which are called otherwise in what runs.
        They are these variables, also where what runs has something else of the name."""
        names = await self._variables.of(call)
        asked = set(_NAME.findall(expression)) if names else set()
        return {name: (word,) for word, name in names.items() if name in asked}

    def forget(self) -> None:
        """Files and scripts may have changed since they were read."""
        self._known.clear()

    async def of(self, call: Body, expression: str) -> Mapping[str, tuple[str, ...]]:
        """The names in an expression that are others in what runs, with all that they are there, the likeliest first."""
        script_id, line, column = position(call)
        script = self._scripts.get(script_id)
        if script is None or not self._scripts.reads_map(script) or (made := script.map()) is None:
            return {}
        original = made.original(line + 1, column)
        if original is None:
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for name in dict.fromkeys(_NAME.findall(expression)):
            key = (script.id, original.source, original.line, name)
            if key not in self._known:
                self._known[key] = await self._spelled(script, original.source, original.line, name)
            if self._known[key]:
                found[name] = self._known[key]
        return found

    async def _spelled(self, script: Script, source: str, near: int, name: str) -> tuple[str, ...]:
        """How what runs spells a name, by the places where it is used: those of a variable before those of an import, which it
        would hide, and the nearer ones first."""
        made = script.map()
        if made is None:
            return ()
        written, lines = self._scripts.written(made, source), await self._texts.lines(script)
        members = {name, *_imported(written, name)}
        aliases = [each for each in members if each not in ("default", "*") and not _is_else(written, each, name)]
        if "default" in members:
            aliases += [each for each in self._defaults(made, written, name) if not _is_else(written, each, name)]
        known = "|".join(map(re.escape, {name, *aliases}))
        renamed = re.compile(rf"_*(?:{known})[_$]*\d*")  # a number, where two would have the same name
        variables: list[str] = []
        others: list[str] = []
        for line, column in _uses(written, name, near):
            for at in made.made_from(source, line, column):
                if at.line > len(lines):
                    continue
                found = _MEMBER.match(lines[at.line - 1], at.column)
                if found is None:
                    continue
                if (found["member"] or found["quoted"]) in members or _GIVES_MODULE.fullmatch(found["whole"]):
                    others.append(found["whole"])
                elif "*" in members:
                    others.append(found["object"])
                elif found["object"] != name and renamed.fullmatch(found["object"]):
                    variables.append(found["object"])
        return tuple(dict.fromkeys([*variables, *others]))[:_MOST_SPELLINGS]

    def _defaults(self, made: SourceMap, written: Sequence[str], name: str) -> list[str]:
        """What a default that is imported under this name is called where it is exported, as far as the map's sources tell."""
        where = re.search(rf"\bimport\s+{re.escape(name)}\b[^;'\"]*['\"]([^'\"]+)['\"]", "\n".join(written))
        if where is None:
            return []
        stem = _stem(where[1])
        texts = ("\n".join(self._scripts.written(made, each)) for each in made.sources if _stem(each) == stem)
        return [found[1] for text in texts if (found := _DEFAULT.search(text))]

    async def _there(self, call: Body, found: Mapping[str, tuple[str, ...]], sure: Container[str]) -> Spelled:
        """Those that the call has under no name of its own, or that are surely others, and whose other spelling can be had."""
        words = {
            "callFrameId": call.get("callFrameId"),
            "expression": f"[{', '.join(_which(name, spellings, name in sure) for name, spellings in found.items())}]",
            "returnByValue": True,
            "silent": True,
            "throwOnSideEffect": True,
        }
        try:
            answer = await self._client.request("Debugger.evaluateOnCallFrame", words)
        except Refused:
            return {}
        told = (answer.get("result") or {}).get("value")
        if not isinstance(told, list):
            return {}
        return {name: found[name][which] for name, which in zip(found, told, strict=False) if isinstance(which, int)}


def _which(name: str, spellings: Sequence[str], is_sure: bool) -> str:
    """An expression for the first of the spellings that there is, where there is nothing of this name itself, or that is not
    meant; else null."""
    tried = " ".join(f"try {{ void {each}; return {number} }} catch {{}}" for number, each in enumerate(spellings))
    if is_sure:
        return f"(() => {{ {tried} return null }})()"
    unknown = f"e.message === {json.dumps(f'{name} is not defined')}"
    return f"(() => {{ try {{ {name} }} catch (e) {{ if ({unknown}) {{ {tried} }} }} return null }})()"


def _uses(written: Sequence[str], name: str, near: int) -> list[tuple[int, int]]:
    """Where the text has the name as a word of its own, the nearest first; lines from 1, columns from 0."""
    word = re.compile(rf"(?<![\w$.#'\"`]){re.escape(name)}(?![\w$])")
    found = [(line, each.start()) for line, text in enumerate(written, 1) for each in word.finditer(text)]
    return sorted(found, key=lambda each: abs(each[0] - near))[:_MOST_USES]


def _is_else(written: Sequence[str], word: str, name: str) -> bool:
    """Whether the text has a word for something else than what it imports as this name, so that a call may have its own."""
    if word == name:
        return False
    text = re.sub(rf"\b{re.escape(word)}\s+as\s+{re.escape(name)}\b", "", "\n".join(written))
    return re.search(rf"(?<![\w$.#]){re.escape(word)}(?![\w$])", text) is not None


def _stem(path: str) -> str:
    """The name of a file without what stands before and after it."""
    return path.rpartition("/")[2].partition(".")[0]


def _imported(written: Sequence[str], name: str) -> list[str]:
    """What a name is where it comes from: `default`, `*` for all of a module, or the name before an `as`."""
    text, word = "\n".join(written), re.escape(name)
    found = re.findall(rf"([A-Za-z_$][\w$]*|\*)\s+as\s+{word}(?![\w$])", text)
    return found + (["default"] if re.search(rf"\bimport\s+{word}(?![\w$])", text) else [])
