"""Breakpoints as one expression of the target's language: conditions, hit counts and log texts, several on one place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from ...model.backend import Wanted

STORE = 'globalThis[globalThis.Symbol.for("stillframe")]'
"""How our code in the target is reached from any scope; a scope may have a `Symbol` of its own, as Node's loader has."""

_PRIVATE = re.compile(r"(?<![\w$])#[A-Za-z_$][\w$]*")
_ASSIGNS = r"(?:[-+/%&|^]|\*\*?|<<|>>>?|&&|\|\||\?\?)?=(?![=>])"


Spelled = Mapping[str, str]
"""Names, each with the expression that it is in what runs."""


def condition(wanted: Sequence[Wanted], spelled: Mapping[str, Spelled], *, early: bool = False) -> str:
    """What V8 evaluates at a place; empty if it always stops. `spelled`: by id, the names in conditions that are others there.
    `early`: the program may come there before our code is in it, and is then held until it can be asked."""
    if all(not (each.condition or each.hit or each.log) for each in wanted):
        return ""
    asked = f"{STORE}.at([{', '.join(_row(each, spelled.get(each.id, {})) for each in wanted)}])"
    return f"!{STORE} || {asked}" if early else asked


def within(spelled: Spelled, text: str, expression: str = "") -> str:
    """An expression in which these names are what they are called elsewhere. What `expression`, which is in it, assigns to is
    assigned to there."""
    if not spelled:
        return text
    back = "".join(f"{other} = {name}; " for name, other in spelled.items() if _is_assigned(name, expression))
    body = f"{{ const made = {text}; {back}return made }}" if back else text
    return f"(({', '.join(spelled)}) => {body})({', '.join(spelled.values())})"


def _is_assigned(name: str, expression: str) -> bool:
    word = rf"(?<![\w$.#]){re.escape(name)}(?![\w$])"
    return re.search(rf"{word}\s*(?:{_ASSIGNS}|\+\+|--)|(?:\+\+|--)\s*{word}", expression) is not None


def _row(wanted: Wanted, spelled: Spelled) -> str:
    test = _thunk(wanted.condition, spelled) if wanted.condition else "null"
    rule = json.dumps(wanted.hit.kind) if wanted.hit else "null"
    number = wanted.hit.number if wanted.hit else 0
    log = f"() => {log_expression(wanted.log)}" if wanted.log is not None else "null"
    return f"[{json.dumps(wanted.id)}, {test}, {rule}, {number}, {log}]"


def _thunk(text: str, spelled: Spelled) -> str:
    """An expression as a function of the scope that it stands in. One with private names is compiled when it is called: where the
    class does not have them, V8 would not compile the whole condition, and say so to nobody."""
    if _PRIVATE.search(text):
        return "() => " + within(spelled, f"eval({json.dumps(f'({chr(10)}{text}{chr(10)})')})")
    return "() => " + within(spelled, f"(\n{text}\n)")


def log_expression(text: str) -> str:
    """A log text as an expression: what is in braces is evaluated, `{{` is a brace. ValueError says what is wrong."""
    parts: list[str] = []
    literal = ""
    at = 0
    while at < len(text):
        two, letter = text[at : at + 2], text[at]
        if two in ("{{", "}}"):
            literal += letter
            at += 2
        elif letter == "{":
            end = _closing(text, at)
            inner = text[at + 1 : end].strip()
            if not inner:
                raise ValueError("empty braces in the log text")
            parts += [json.dumps(literal)] if literal else []
            parts.append(f"{STORE}.shown({_thunk(inner, {})})")
            literal, at = "", end + 1
        elif letter == "}":
            raise ValueError("a } without its { in the log text; write }} for a brace")
        else:
            literal += letter
            at += 1
    parts += [json.dumps(literal)] if literal or not parts else []
    return " + ".join(parts) if parts[0].startswith('"') else '"" + ' + " + ".join(parts)


def _closing(text: str, start: int) -> int:
    """Where the brace that opens at `start` closes; braces in strings do not count."""
    depth, quote, at = 0, "", start
    while at < len(text):
        letter = text[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'`":
            quote = letter
        elif letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError("a { without its } in the log text; write {{ for a brace")


def checks(wanted: Wanted) -> tuple[tuple[str, str], ...]:
    """What must compile for this breakpoint to make sense, each with its name. ValueError for a log text that cannot."""
    found = []
    if wanted.condition:
        found.append(("condition", _within_class(wanted.condition)))
    if wanted.log is not None:
        found.append(("log text", f"() => {log_expression(wanted.log)}"))
    return tuple(found)


def _within_class(text: str) -> str:
    """An expression with its private names declared around it, as they are where it is meant."""
    names = "".join(f"{name}; " for name in dict.fromkeys(_PRIVATE.findall(text)))
    whole = f"() => (\n{text}\n)"
    return f"(class {{ {names}f() {{ return {whole} }} }})" if names else whole
