"""The one declaration of a verb: its schema from the signature, its text from the docstring.

`@operation` turns an async function into an `Operation`. Parameters whose type is one of the injected ones (a session,
the set of sessions, the caller) are filled in by dispatch; every other parameter is a field that a user may give, and
its `Annotated[..., Param(...)]` says how. Fields that several verbs share stand together in `Parameters`. CLI, daemon,
library, schema, help and docs are all made from this.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from .errors import UsageError
from .model.calls import Access as Access
from .model.calls import Call as Call
from .model.calls import From as From
from .model.calls import Judged as Judged
from .model.calls import Meant as Meant
from .model.places import BreakSpec, HitRule, Place, parse_break, parse_hit, parse_place
from .model.plans import Caller


class Param(msgspec.Struct, frozen=True):
    """How one field of an operation is given and what it means."""

    doc: str
    flag: str | None = None
    """The long flag where it is not the field's own name; a positional field has none."""
    short: str | None = None
    aliases: tuple[str, ...] = ()
    """Other spellings that people guess, with their dashes."""
    positional: bool = False
    rest: bool = False
    """Takes all remaining words."""
    metavar: str | None = None
    access: Access | None = None
    """The class that the call rises to where this field is given."""
    raises: Callable[[Any], Access | None] | None = None
    """The class that the call rises to for what was given, where that depends on it."""
    last: bool = False
    """Takes what stands behind `--`, verbatim."""
    project: bool = False
    """Given, the call is about every session of the project, so that none of them has to be named."""


LARGEST = 2**63 - 1
"""The largest whole number that the record, the system's calls and most debuggers can hold."""

FieldKind = Literal["str", "int", "float", "bool", "choice", "place", "break", "hit", "json"]

_PLAIN: Mapping[Any, FieldKind] = {
    str: "str", int: "int", float: "float", bool: "bool", Place: "place", BreakSpec: "break", HitRule: "hit",
    dict[str, Any]: "json",
}  # fmt: skip


class Field(msgspec.Struct, frozen=True):
    """One parameter of an operation, as every face needs to know it."""

    name: str
    kind: FieldKind
    param: Param
    default: Any = None
    required: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return self.param.flag or "--" + self.name.rstrip("_").replace("_", "-")

    def parse(self, raw: Any) -> Any:
        """Turn what a face was given into the type that the operation takes; a usage error says what is wrong."""
        if self.many:
            items: Any = [raw] if isinstance(raw, str) else raw
            return tuple(self._one(item) for item in items)
        return self._one(raw)

    def _one(self, raw: Any) -> Any:
        match self.kind:
            case "str":
                if isinstance(raw, list | tuple | dict):
                    raise UsageError(f"{self.name} takes plain text, not {_named(raw)}")
                return str(raw)
            case "bool":
                if isinstance(raw, bool):
                    return raw
            case "int":
                return self._number(raw, int)
            case "float":
                return self._number(raw, float)
            case "choice":
                if raw in self.choices:
                    return raw
                raise UsageError(f"{self.name} is one of {', '.join(self.choices)}, not {raw!r}")
            case "place":
                if isinstance(raw, str | int | Place):
                    return raw if isinstance(raw, Place) else parse_place(str(raw))
                raise UsageError(f"{self.name} takes a place such as shop.py:14, not {_named(raw)}")
            case "break":
                if isinstance(raw, str | int | BreakSpec):
                    return raw if isinstance(raw, BreakSpec) else parse_break(str(raw))
                raise UsageError(f"{self.name} takes places such as shop.py:14, each by itself, not {_named(raw)}")
            case "hit":
                return parse_hit(str(raw)) if not isinstance(raw, HitRule) else raw
            case "json":
                return self._object(raw)
        raise UsageError(f"{self.name} takes a {self.kind}, not {raw!r}")

    def _object(self, raw: Any) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(raw) if isinstance(raw, str) else raw
        except msgspec.DecodeError as error:
            raise UsageError(f"the {self.name} are not JSON: {error}") from None
        if not isinstance(found, Mapping):
            raise UsageError(f"the {self.name} must be a JSON object, as in '{{\"threadId\": 1}}'")
        return dict(found)

    def _number(self, raw: Any, to: Callable[[Any], Any]) -> Any:
        try:
            number = to(raw)
        except (TypeError, ValueError):
            raise UsageError(f"{self.name} takes a number, not {raw!r}") from None
        if not 0 <= number < math.inf:  # every wait has a deadline
            raise UsageError(f"{self.name} takes a number from 0 up, not {raw!r}")
        if to is int and number > LARGEST:
            raise UsageError(f"{self.name} takes a number up to {LARGEST:,}, not one of {len(str(number))} digits")
        return number


def _named(raw: Any) -> str:
    return f"{type(raw).__name__} {raw!r:.60}"


class Operation(msgspec.Struct, frozen=True, dict=True):
    """A verb: what it is called, what it takes, what it may do, and the function that does it."""

    name: str
    access: Access
    doc: str
    fields: tuple[Field, ...]
    result: Any
    run: Callable[..., Awaitable[Any]]
    injected: Mapping[str, str]
    """Parameter name to what dispatch puts there: session, session? (None where there is none), sessions, caller, host,
    record; kept: what is on disk of the session meant, where it is not in memory; meant: whom the call is about, living or
    recorded."""
    aliases: tuple[str, ...] = ()
    example: str = ""
    starts: bool = False
    """Starts a program: the caller's environment travels with the call, and `-- COMMAND…` is understood."""
    owned: bool = False
    """Ends with the client that asked for it: probe and its kin."""
    here: bool = False
    """Needs no session and no daemon: the command line does it in its own process, where somebody can watch and be asked."""
    group: str = ""

    @property
    def takes_session(self) -> bool:
        return bool({"session", "session?", "meant"} & set(self.injected.values()))

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(each.name for each in self.fields)

    def names_program(self, bound: Mapping[str, Any]) -> bool:
        """Whether this very call says what to run or to join, though the verb can also be about a session."""
        if not (self.starts and self.owned):
            return False
        named = [each.name for each in self.fields if each.param.last or each.name in _PROGRAMS]
        return any(bound.get(name) not in (None, ()) for name in named)

    def is_of_all(self, given: Mapping[str, Any]) -> bool:
        """Whether this very call is about every session of the project."""
        return any(each.param.project and given.get(each.name) for each in self.fields)

    def field(self, name: str) -> Field | None:
        return next((each for each in self.fields if each.name == name), None)

    def bind(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Check and convert raw arguments; what was not given takes its default."""
        for name in raw:
            if name not in self._names:
                raise UsageError(f"{self.name} has no parameter {name!r}")
        bound: dict[str, Any] = {}
        for each in self.fields:
            if each.name in raw and raw[each.name] is not None:
                self._refuse_a_list_of_words(each, raw[each.name])
                bound[each.name] = each.parse(raw[each.name])
            elif each.required:
                raise UsageError(f"{self.name} needs {each.param.metavar or each.name}: {each.param.doc}")
            else:
                bound[each.name] = each.default
        return bound

    def _refuse_a_list_of_words(self, words: Field, given: Any) -> None:
        """A list among the words of a program is a whole command, and that has a name of its own."""
        if not (words.param.rest and words.kind == "str" and any(isinstance(each, list | tuple) for each in given)):
            return
        if whole := next((each.name for each in self.fields if each.param.last), None):
            raise UsageError(f"{words.name} takes words, not a list; a whole command is {self.name}({whole}=[…])")

    def access_for(self, bound: Mapping[str, Any]) -> Access:
        """The class of this very call: a parameter that is given may raise it, and so does a `LOC if EXPR`."""
        access = self.access
        for each in self.fields:
            given = bound.get(each.name)
            if given is None or given == each.default:
                continue
            if each.param.access is not None:
                access = max(access, each.param.access)
            if each.param.raises is not None:
                access = max(access, each.param.raises(given) or access)
            specs = given if isinstance(given, tuple) else (given,)
            if any(isinstance(spec, BreakSpec) and spec.condition for spec in specs):
                access = Access.EXEC
        return access


_PROGRAMS = ("program", "module", "code", "pid")
"""Parameters that say what to run or to join."""


class Vocabulary(Mapping[str, Operation]):
    """Every verb by its name. A signature is read when its verb is first asked for: to read all of them would cost a tenth of
    every daemon's start."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._signatures: dict[str, Callable[[], Operation]] = {}
        self._read: dict[str, Operation] = {}

    def declare(self, verb: str, file: str, signature: Callable[[], Operation]) -> None:
        self._files[verb], self._signatures[verb] = file, signature

    def put_in_order(self, files: Sequence[str]) -> None:
        """List the verbs by the files that they are in, whichever was imported first."""
        self._files = dict(sorted(self._files.items(), key=lambda each: files.index(each[1])))

    def __getitem__(self, verb: str) -> Operation:
        if verb not in self._read:
            self._read[verb] = self._signatures[verb]()
        return self._read[verb]

    def __contains__(self, verb: object) -> bool:
        return verb in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


OPERATIONS = Vocabulary()

_INJECTED: dict[str, str] = {
    "Session": "session", "Sessions": "sessions", "Host": "host", "Record": "record", "Meant": "meant",
}  # fmt: skip
_OPTIONAL: dict[str, str] = {"Session": "session?", "Kept": "kept"}


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that several verbs take: an operation names the whole class where each of them would stand."""


def operation(
    access: Access,
    *,
    name: str | None = None,
    aliases: tuple[str, ...] = (),
    example: str,
    starts: bool = False,
    owned: bool = False,
    here: bool = False,
) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
    """Declare an operation. The function stays as it is; the declaration goes into `OPERATIONS`."""

    def declare(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        verb = name or function.__name__.rstrip("_").replace("_", "-")
        file = function.__module__.rpartition(".")[2]

        def signature() -> Operation:
            fields, injected, gathered, result = _read(function)
            return Operation(
                name=verb,
                access=access,
                doc=inspect.cleandoc(function.__doc__ or ""),
                fields=fields,
                result=result,
                run=_gathering(function, gathered) if gathered else function,
                injected=injected,
                aliases=aliases,
                example=example,
                starts=starts,
                owned=owned,
                here=here,
                group=file,
            )

        OPERATIONS.declare(verb, file, signature)
        return function

    return declare


_Signature = tuple[tuple[Field, ...], Mapping[str, str], dict[str, type[Parameters]], Any]


def _read(function: Callable[..., Awaitable[Any]]) -> _Signature:
    """What a user may give, what dispatch puts in, which fields stand together, and what comes back."""
    hints = typing.get_type_hints(function, include_extras=True)
    injected: dict[str, str] = {}
    fields: list[Field] = []
    gathered: dict[str, type[Parameters]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if kind := _OPTIONAL.get(_optional(hint)):
            injected[parameter.name] = kind
        elif hint is Caller:
            injected[parameter.name] = "caller"
        elif getattr(hint, "__name__", "") in _INJECTED:
            injected[parameter.name] = _INJECTED[hint.__name__]
        elif isinstance(hint, type) and issubclass(hint, Parameters):
            gathered[parameter.name] = hint
            fields.extend(_shared(hint))
        else:
            fields.append(_field(parameter.name, hint, parameter.default))
    return tuple(fields), types.MappingProxyType(injected), gathered, _result_type(hints["return"])


def _shared(group: type[Parameters]) -> list[Field]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [_field(each.name, hints[each.name], each.default) for each in msgspec.structs.fields(group)]


def _gathering(
    function: Callable[..., Awaitable[Any]], groups: Mapping[str, type[Parameters]]
) -> Callable[..., Awaitable[Any]]:
    """The function as dispatch calls it, with each field by its name."""

    def run(**given: Any) -> Awaitable[Any]:
        made = {
            name: group(**{each: given.pop(each) for each in group.__struct_fields__}) for name, group in groups.items()
        }
        return function(**given, **made)

    return run


def _optional(hint: Any) -> str:
    """`Session` of `Session | None`; nothing where it is not of that form."""
    names = [getattr(each, "__name__", "") for each in typing.get_args(hint)]
    return names[0] if typing.get_origin(hint) in _UNIONS and names[1:] == ["NoneType"] else ""


_UNIONS = (types.UnionType, typing.Union)


def _result_type(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (From, Judged) else hint


def _field(name: str, hint: Any, given: Any) -> Field:
    """Read one parameter: `Annotated[type, Param]` with a small closed set of types."""
    inner, param = typing.get_args(hint)[:2]
    required = given is inspect.Parameter.empty
    many = False
    if typing.get_origin(inner) in _UNIONS and type(None) in typing.get_args(inner):
        rest = tuple(arg for arg in typing.get_args(inner) if arg is not type(None))
        inner = rest[0] if len(rest) == 1 else Place
    if typing.get_origin(inner) is tuple:
        many = True
        inner = typing.get_args(inner)[0]
    choices: tuple[str, ...] = ()
    if typing.get_origin(inner) is Literal:
        kind: FieldKind = "choice"
        choices = typing.get_args(inner)
    else:
        kind = _PLAIN[inner]
    default = None if required else given
    return Field(name, kind, param, default, required, many, choices)
