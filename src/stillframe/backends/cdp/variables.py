"""What variables were called by whoever wrote them, in code whose names a minifier or a bundler has changed.

A source map may tell the name of each word that was renamed. V8 tells the scope that a variable lives in, so that its declaration
is in the text of that; where the map calls the word the same throughout that text, this is the variable's name. Where it does not
(two blocks may use one letter for two variables), or says nothing, the name that runs is the one that is told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate

from msgspec.structs import replace

from ...errors import EvalFailed
from ...model.values import Values
from .asking import Asking, argument
from .client import Body
from .frames import position
from .grammar import KEYWORDS, Kind
from .scripts import Scripts
from .sourcemaps import Original, SourceMap
from .spans import Scan
from .texts import Texts

_DECLARING = frozenset({"local", "block", "catch", "closure", "module", "script"})
_WORD = re.compile(r"(?P<declares>\b(?:let|const|var)\s+)?(?<![\w$.#])(?P<word>[A-Za-z_$][\w$]*)(?P<key>\s*:)?")
"""A word that is no member; with a colon behind it, it may be a key."""
_MEMBER = re.compile(r"\s*(?:\.|\?\.|\[)")
_LOOP = re.compile(r"(?<![\w$.])for\s*(?:await\s*)?$")
_LONGEST_HEAD = 500
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NONE = frozenset({*KEYWORDS, "this", "super", "arguments", "null", "true", "false", "undefined"})
_LONGEST = 60_000
"""Characters of a scope beyond which it is not looked through."""
_MOST = 1000
"""Places of which the names are kept."""

Names = Mapping[str, str]
"""What variables are called in what runs, each with its written name."""
Place = tuple[int, int]


class Variables:
    """The written names of the variables that a call has, as far as its source map tells them for sure."""

    def __init__(self, asking: Asking, scripts: Scripts, texts: Texts) -> None:
        self._asking = asking
        self._scripts = scripts
        self._texts = texts
        self._known: dict[tuple[str, int, int], Names] = {}

    def forget(self) -> None:
        """Scripts may have changed since they were read."""
        self._known.clear()

    async def of(self, call: Body) -> Names:
        """Those that are called otherwise."""
        where = position(call)
        if where not in self._known:
            if len(self._known) > _MOST:
                self._known.clear()
            script = self._scripts.get(where[0])
            made = script.map() if script is not None and self._scripts.reads_map(script) else None
            told = made is not None and script is not None and made.has_names
            lines = await self._texts.lines(script) if told and script is not None else []
            self._known[where] = await self._found(call, made, lines) if made is not None and lines else {}
        return self._known[where]

    async def written(self, call: Body, page: Values) -> Values:
        """Variables under their written names, without those that the source cannot see there for one of the same name."""
        names = await self.of(call)
        if not names:
            return page
        hidden = set(names.values()) - names.keys()
        left = [each for each in page.values if each.name not in hidden]
        values = tuple(replace(each, name=names.get(each.name, each.name)) for each in left)
        return replace(page, values=values, total=page.total and page.total - len(page.values) + len(left))

    def as_run(self, call: Body, written: Sequence[str]) -> list[str]:
        """Names of the source as they are in what runs, as far as they were asked for before."""
        runs_as = {name: word for word, name in self._known.get(position(call), {}).items()}
        return [runs_as.get(each, each) for each in written]

    async def _found(self, call: Body, made: SourceMap, lines: Sequence[str]) -> Names:
        script, *held = position(call)
        scopes = [each for each in call.get("scopeChain") or () if each.get("type") in _DECLARING]
        try:
            objects = [argument(each["object"]) for each in scopes]
            told = (await self._asking.ask("names(scopes)", "...scopes", objects=objects)).get("scopes") or ()
        except EvalFailed:  # our code is not in this context, or has no room
            return {}
        here = made.original(held[0] + 1, held[1])
        found: dict[str, str] = {}
        taken: set[str] = set()  # what something is called already, in a scope further inside
        for scope, variables in zip(scopes, told, strict=False):
            own = {str(each) for each in variables} - taken
            uses = _called(made, own, _words(scope, script, lines, (held[0], held[1])))
            named = {
                word: str(each[0].name) for word, each in uses.items() if self._is_alone(made, lines, word, each, here)
            }
            meant = Counter([*named.values(), *(own - named.keys()), *taken])
            named = {word: name for word, name in named.items() if meant[name] == 1 and _is_name(name)}
            found |= named
            taken |= {named.get(each, each) for each in own} | own
        return found

    def _is_alone(
        self, made: SourceMap, lines: Sequence[str], word: str, uses: Sequence[Original], held: Original | None
    ) -> bool:
        """Whether the name means this variable wherever the source has it, from its first use to where the program is held: an
        inner variable of the name may have been taken out of what runs."""
        source, name = uses[0].source, str(uses[0].name)
        places = [(each.line, each.column) for each in uses]
        written = self._scripts.written(made, source)
        if not all(_word_at(written, *each) == name for each in places):
            return False  # the map is wrong
        here = (held.line, held.column) if held is not None and held.source == source else max(places)
        first, last = min(places)[0], max(*places, here)[0]
        region = _Region(written[first - 1 : last], (first - 1, 0), (here[0] - 1, here[1]))
        for (line, column), found in region.words():
            if found["word"] != name or (line + 1, column) in places or (found["key"] and not found["declares"]):
                continue
            if not any(_word_at(lines, *at) == word for at in made.made_from(source, line + 1, column)):
                return False
        return bool(region.text)


def _called(
    made: SourceMap, variables: Set[str], words: Iterator[tuple[Place, str, bool]]
) -> Mapping[str, list[Original]]:
    """Those of a scope's variables that the map calls otherwise, wherever the scope's text has them: what it was made from there.

    What a member is taken of may be a module, and the map then calls it by the member: that alone is no name.
    """
    uses: dict[str, list[Original]] = {}
    sure: set[str] = set()
    for (line, column), word, has_member in words:
        if word in variables and (original := made.exactly(line + 1, column)) is not None:
            uses.setdefault(word, []).append(original)
            sure |= set() if has_member else {word}
    named = {word: {(each.source, each.name or word) for each in uses[word]} for word in sure}
    agreed = [word for word, told in named.items() if len(told) == 1]
    return {word: uses[word] for word in agreed if uses[word][0].name not in (None, word)}


def _is_name(text: str) -> bool:
    return text not in _NONE and _NAME.fullmatch(text) is not None


def _words(scope: Body, script: str, lines: Sequence[str], held: Place) -> Iterator[tuple[Place, str, bool]]:
    """The words of a scope that may stand for variables, where each is and whether a member is taken of it."""
    start, end = scope.get("startLocation") or {}, scope.get("endLocation") or {}
    if start.get("scriptId") != script or end.get("scriptId") != script:
        return
    first, begin = int(start.get("lineNumber", 0)), int(start.get("columnNumber", 0))
    begin = _with_head(lines[first], begin) if scope.get("type") == "block" and first < len(lines) else begin
    within = list(lines[first : int(end.get("lineNumber", 0)) + 1])
    if within:
        within[-1] = within[-1][: int(end.get("columnNumber", 0))]
        within[0] = within[0][begin:]
    region = _Region(within, (first, begin), held)
    for place, found in region.words():
        if not found["key"]:
            yield place, found["word"], _MEMBER.match(region.text, found.end()) is not None


def _with_head(line: str, begin: int) -> int:
    """Where a block begins together with the head of its loop, which declares variables that live in it: V8 has such a block
    begin at the end of the head."""
    head = begin + 1 if line[begin : begin + 1] == ")" else len(line[:begin].rstrip())
    if not line[:head].endswith(")"):
        return begin
    depth = 0
    for at in range(head - 1, max(head - _LONGEST_HEAD, -1), -1):
        depth += (line[at] == ")") - (line[at] == "(")
        if not depth:
            return at if _LOOP.search(line[:at]) else begin
    return begin


def _word_at(lines: Sequence[str], line: int, column: int) -> str:
    found = _NAME.match(lines[line - 1], column) if line <= len(lines) else None
    return found[0] if found else ""


class _Region:
    """A stretch of a text that begins at a place, as V8 counts; empty where it is too long to be looked through."""

    def __init__(self, within: Sequence[str], begin: Place, held: Place) -> None:
        is_short = sum(map(len, within)) <= _LONGEST
        self._lines = within if is_short else ()
        self._begin = begin
        self._held = held
        self.text = "\n".join(self._lines)

    def words(self) -> Iterator[tuple[Place, re.Match[str]]]:
        """Its words that are no members, but for those in functions that are not being called: these may have variables of
        their own."""
        first, begin = self._begin
        starts = [0, *accumulate(len(each) + 1 for each in self._lines)]
        passed = self._passed(starts)
        for found in _WORD.finditer(self.text):
            at = found.start("word")
            if not passed[at]:
                line = bisect_right(starts, at) - 1
                yield (first + line, at - starts[line] + (0 if line else begin)), found

    def _passed(self, starts: Sequence[int]) -> bytearray:
        (first, begin), (line, column) = self._begin, self._held
        at = starts[min(max(line - first, 0), len(starts) - 1)] + column - (begin if line == first else 0)
        passed = bytearray(len(self.text) + 1)
        for each in Scan(self.text).spans:
            if each.kind is Kind.FUNCTION and not each.start <= at < each.end:
                passed[each.start : each.end] = b"\1" * (each.end - each.start)
        return passed
