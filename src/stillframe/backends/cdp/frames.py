"""Where the program is held: V8's call frames as frames of the model, in the words of the source that was written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from ...model.values import Frame
from .calls import Body, Calls
from .homes import Homes
from .scripts import Script, Scripts, is_bundlers

_LINE = re.compile(
    r"^\s+at (?:async )?(?:(?P<name>.+?) \()?(?P<place>(?:file://|node:|/|\w+:/|\[eval\](?=:)).*?):(?P<line>\d+):(?P<column>\d+)\)?$"
)
_UNNAMED = frozenset({"Object", "Function", "Module", "Timeout", "Immediate", "process", "global", "Array", ""})
TOP = "<module>"
_LOADERS = frozenset({"Module._compile", "run", "", "runScriptInThisContext"})
"""What calls the code of a file itself, in Node 18 to 24, and where that stands: others have these names too, as
`AsyncLocalStorage.run`, which calls what it was given."""
_LOADING = re.compile(r"node:(?:internal/(?:modules/|process/execution$|vm\b)|vm$)")
_NAMELESS = frozenset({"", "<anonymous>", "Object.<anonymous>"})
"""What a stack calls the code of a file itself, and some functions besides."""
_LOADER = re.compile(
    r"^\s+at .*(?:_compile|_execModule|ModuleJob\.run|\(node:internal/(?:modules|process/execution|vm)\b)"
)
_HOPS = {
    "async function": "await",
    "Timeout": "setTimeout",
    "Immediate": "setImmediate",
    "TickObject": "process.nextTick",
    "Microtask": "queueMicrotask",
}
"""What the program wrote, for Node's own names of how it goes on later."""
_AROUND_CODE = ("eval]-wrapper", "[stdin]-wrapper")
"""What Node runs around code that was given by -e, to a worker as a text, or on standard input."""
_HEADING = re.compile(r"^(?:file://)?(?P<path>/.+):(?P<line>\d+)$")
"""The first line of an error's stack where the text itself is at fault."""
THROWN = frozenset({"exception", "promiseRejection"})
"""V8's reasons to hold a program that an error is on its way in."""


class Held(msgspec.Struct, frozen=True):
    """One pause, as V8 told it."""

    calls: Calls
    reason: str
    data: Body
    hits: tuple[str, ...]
    awaited: Body = msgspec.field(default_factory=dict[str, Any])
    """The asynchronous calls that led here."""
    top: Body = msgspec.field(default_factory=dict[str, Any])
    """The innermost call."""

    @classmethod
    def of(cls, body: Body) -> Held:
        data = body.get("data")
        trace = body.get("asyncStackTrace")
        calls = Calls.of(body.get("callFrames"))
        return cls(
            calls=calls,
            reason=str(body.get("reason") or ""),
            data=data if isinstance(data, dict) else {},
            hits=tuple(str(each) for each in body.get("hitBreakpoints") or ()),
            awaited=trace if isinstance(trace, dict) else {},
            top=calls[0] if calls else {},
        )

    @property
    def reasons(self) -> list[str]:
        if self.reason == "ambiguous":
            return [str(each.get("reason")) for each in self.data.get("reasons") or ()]
        return [self.reason]

    @property
    def is_throwing(self) -> bool:
        return not THROWN.isdisjoint(self.reasons)

    @property
    def depth(self) -> int:
        return len(self.calls)

    @property
    def chain(self) -> list[Body]:
        """The calls above the held one, then those that it goes on from asynchronously, as far as it was awaited."""
        found = [*self.calls[1:]]
        trace: Body = self.awaited
        while trace and trace.get("description") in ("await", "async function"):
            found += [
                {"location": call, "functionName": call.get("functionName")} for call in trace.get("callFrames") or ()
            ]
            trace = trace.get("parent") or {}
        return found

    @property
    def at_return(self) -> bool:
        """The function's value is made; it is about to give it back."""
        return "returnValue" in self.top


def position(call: Body) -> tuple[str, int, int]:
    """Script, line and column of a call, as V8 counts."""
    location = call.get("location") or {}
    return str(location.get("scriptId")), int(location.get("lineNumber", 0)), int(location.get("columnNumber", 0))


def span_of(call: Body) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the function of a held call begins and ends, as V8 counts; None where it does not tell."""
    scope: Body = next((each for each in call.get("scopeChain") or () if each.get("type") == "local"), {})
    start, end = scope.get("startLocation"), scope.get("endLocation")
    return (position({"location": start})[1:], position({"location": end})[1:]) if start and end else None


def is_top_level(call: Body) -> bool:
    """Whether this is the code of a file itself, outside of any function."""
    where = call.get("functionLocation") or {}
    return not call.get("functionName") and not where.get("lineNumber") and not where.get("columnNumber")


def is_wrapper(scope: Body) -> bool:
    """Whether this is the function that Node wraps around the text of a CommonJS module."""
    start = scope.get("startLocation")
    return (
        not scope.get("name")
        and isinstance(start, dict)
        and not start.get("lineNumber")
        and not start.get("columnNumber")
    )


class FrameTeller:
    """Makes frames out of calls; knows whose code they are."""

    def __init__(self, scripts: Scripts, homes: Homes) -> None:
        self._scripts = scripts
        self._homes = homes

    async def read(self, held: Held) -> None:
        """Have the texts at hand by which calls are named."""
        for id in dict.fromkeys(position(call)[0] for call in held.calls):
            await self._homes.read(id)

    def frames(self, held: Held) -> tuple[Frame, ...]:
        """The whole stack, innermost first, with the asynchronous calls behind it; how the runtime came to call is no part."""
        calls = tuple(self.call(call, str(number)) for number, call in enumerate(held.calls[: self._entered(held)]))
        return calls + tuple(self._awaited(held.awaited, len(calls)))

    def _entered(self, held: Held) -> int:
        """Where the runtime's own calls begin, below everything else."""
        if not self._scripts.hides_library:
            return held.depth
        last = (number for number in range(held.depth, 0, -1) if not self._is_below(held.calls.script(number - 1)))
        return next(last, held.depth)

    def _is_below(self, script_id: str) -> bool:
        """V8 tells nothing of the script by which messages come to a worker (Node 22 and 24)."""
        return self._is_of_runtime(script_id) or self._scripts.get(script_id) is None

    def is_runtime(self, call: Body) -> bool:
        """Whether this is code of the runtime itself."""
        return self._is_of_runtime(position(call)[0])

    def _is_of_runtime(self, script_id: str) -> bool:
        script = self._scripts.get(script_id)
        return script is not None and (script.url.startswith("node:") or script.url.endswith(_AROUND_CODE))

    def unwrap(self, call: Body) -> None:
        """A nameless function that a loader has put around the whole text of a file is that file's own code (tsx 4.23 makes one
        of each CommonJS module): it is taken to begin where the file does."""
        starts = [each.get("startLocation") for each in call.get("scopeChain") or () if not each.get("name")]
        for place in (None if call.get("functionName") else call.get("functionLocation"), *starts):
            if isinstance(place, dict) and self._scripts.is_around(*position({"location": place})):
                place["lineNumber"] = place["columnNumber"] = 0

    def is_around(self, call: Body) -> bool:
        """Whether this is what such a function stands in, or what it begins with."""
        return is_top_level(call) and self._scripts.is_around(*position(call))

    def is_user(self, call: Body) -> bool:
        script = self._scripts.get(position(call)[0])
        if script is None or self.is_around(call):
            return False
        return bool(self._kind(script, self._spot(*position(call))) == "user")

    def innermost(self, held: Held) -> int | None:
        """Where the innermost call of the user's own is."""
        return next((number for number, call in enumerate(held.calls) if self.is_user(call)), None)

    def call(self, call: Body, id: str) -> Frame:
        frame = self._frame(position(call), self._name(call), id, key=None)
        return msgspec.structs.replace(frame, kind="library") if self.is_around(call) else frame

    def _frame(
        self, where: tuple[str, int, int], name: str, id: str, *, key: str | None, awaited: str | None = None
    ) -> Frame:
        script, spot = self._scripts.get(where[0]), self._spot(*where)
        generated = None
        if script is not None and spot is not None and spot.mapped:
            generated = f"{script.path}:{where[1] + 1}:{where[2] + 1}"
        return Frame(
            function=name,
            file=spot.file if spot else None,
            line=spot.line if spot else None,
            column=spot.column if spot else None,
            id=id,
            kind=self._kind(script, spot),
            key=key,
            generated=generated,
            awaited=awaited,
        )

    def _spot(self, script: str, line: int, column: int) -> Any:
        return self._scripts.spot(script, line, column)

    def _kind(self, script: Script | None, spot: Any) -> Any:
        if script is None or not (script.user or not script.url):  # without an address: what the program made by `eval`
            return "library"
        if spot is not None and spot.mapped and ("/node_modules/" in spot.file or is_bundlers(spot.file)):
            return "library"
        return "user"

    def _name(self, call: Body) -> str:
        name = str(call.get("functionName") or "")
        if not name:
            return TOP if is_top_level(call) else "<anonymous>"
        where = call.get("functionLocation")
        home = within = ""
        if isinstance(where, dict):
            at = position({"location": where})
            name = self._scripts.written_name(*at, name)
            home, within = self._homes.of(*at)
        if home and "." not in name:
            return f"{home}.{name}"
        receiver = call.get("this")
        owner = str(receiver.get("className") or "") if isinstance(receiver, dict) else ""
        plain = "." in name or owner in _UNNAMED or (isinstance(receiver, dict) and receiver.get("subtype") is not None)
        return name if plain else f"{within or owner}.{name}"

    def _awaited(self, trace: Body, start: int) -> Iterable[Frame]:
        number = start
        while trace:
            hop = str(trace.get("description") or "async call")
            hop = _HOPS.get(hop, hop)
            calls = trace.get("callFrames") or ()
            for call, below in zip(calls, (*calls[1:], {}), strict=True):
                where = position({"location": call})
                if self._scripts.hides_library and self._is_runtimes(call, where):
                    continue  # how the runtime came to call is no part of the program
                name = str(call.get("functionName") or (TOP if self._loads(below) else "<anonymous>"))
                yield self._frame(where, name, f"a{number}", key=None, awaited=hop)
                hop, number = "", number + 1
            parent = trace.get("parent")
            trace = parent if isinstance(parent, dict) else {}

    def _is_runtimes(self, call: Body, where: tuple[str, int, int]) -> bool:
        """Whether a call of this kind is none of the program, nor of a library: the runtime's, or around a file."""
        url = str(call.get("url"))
        return url.startswith("node:") or url.endswith(_AROUND_CODE) or self._scripts.is_around(*where)

    def _loads(self, call: Body) -> bool:
        """Whether what a call of this kind called is the code of a file itself."""
        url = str(call.get("url"))
        if url.startswith("node:"):
            return _LOADING.match(url) is not None and str(call.get("functionName")) in _LOADERS
        return self._scripts.is_around(*position({"location": call}))

    # Text that only an error has kept

    def of_stack(self, text: str, *, mapped: bool = False) -> tuple[Frame, ...]:
        """The frames of an error's `stack`, as far as they are of files. `mapped` where it tells of what was written already."""
        lines = text.splitlines()
        matches = ((_LINE.match(line), below) for line, below in zip(lines, (*lines[1:], ""), strict=False))
        found = tuple(self._line(parts, below, mapped) for parts, below in matches if parts)
        if lines and (faulty := _HEADING.match(lines[0])):
            kind = "library" if "/node_modules/" in faulty["path"] else "user"
            return (Frame(function=TOP, file=faulty["path"], line=int(faulty["line"]), kind=kind), *found)  # type: ignore[arg-type]
        return found

    def of_text(self, details: Body) -> Frame | None:
        """Where the text of a module is at fault, of whose code nothing runs."""
        file = self._scripts.unread(str(details.get("scriptId")))
        if file is None:
            return None
        line, column = int(details.get("lineNumber", 0)) + 1, int(details.get("columnNumber", 0)) + 1
        kind = "library" if self._scripts.is_library(file) else "user"
        return Frame(function=TOP, file=file, line=line, column=column, kind=kind)  # type: ignore[arg-type]

    def _line(self, parts: re.Match[str], below: str, mapped: bool) -> Frame:
        place, line, column = parts["place"], int(parts["line"]), int(parts["column"])
        name = (parts["name"] or "").removeprefix("async ").removeprefix("new ").partition(" [as ")[0]
        if name in _NAMELESS:
            # With nothing below, it went on after an `await`: of what has no name at all, only an ES module itself does so.
            alone = not below and (bool(name) or place.startswith("file:"))
            name = TOP if alone or _LOADER.search(below) else "<anonymous>"
        elif name.endswith(".<anonymous>"):
            name = "<anonymous>"  # of whatever object it was called on, as a held call is named
        path = place.removeprefix("file://")
        scripts = self._scripts.of_file(path)
        if scripts and not (mapped and self._scripts.is_named_as_source(scripts[-1])):
            return self._frame((scripts[-1].id, line - 1, column - 1), name, "", key=None)
        kind = "library" if place.startswith("node:") or "/node_modules/" in place else "user"
        return Frame(function=name, file=path, line=line, column=column, kind=kind)  # type: ignore[arg-type]
