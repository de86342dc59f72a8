"""Secrets are kept off the disk: known by the name that they go under, or by the shape of the value, and said to be left out."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from ..model import exact
from ..model.values import Value
from . import commandlines, lookalikes
from .lookalikes import begins_key, holds, marker

_STRONG = (
    "password|passwd|passwort|passphrase|passcode|pwd|secret|secrets|(?:api|private|access|secret|signing|encryption)[_-]?key|"
    "client[_-]?secret|credential|credentials|(?:auth|access|refresh|bearer|id|session|csrf)[_-]?token|authorization|"
    "(?:db|database|user|admin|root|smtp|mail|email|mysql|pg|postgres|redis|mongo|ftp|ssh|ldap|proxy)[_-]?pass|"
    "connection[_-]?string|otp|pin[_-]?code|ssn"
)
"""Words that name a secret whatever it looks like."""
_WEAK = (
    "token|auth|cookie|j?session[_-]?id|phpsessid|connect\\.sid|jwt|bearer|dsn|"
    "(?:storage|account|master|deploy|service|auth|shared|subscription|license|webhook|host)[_-]?key"
)
"""Words that name one where the value is a single long word, too: a parser's `token` is '+' or 'while'."""
_EDGE, _REST = r"(?<![A-Za-z])", r"(?![a-z])"
_ANYWHERE = "password|passwd|passphrase"
"""Words that tell wherever they stand in a name: PGPASSWORD."""
STRONG = re.compile(rf"(?:{_EDGE}(?:{_STRONG})|{_ANYWHERE}){_REST}", re.IGNORECASE)
WEAK = re.compile(rf"{_EDGE}(?:{_WEAK})(?:{_REST}|\d)", re.IGNORECASE)

LONGEST_NAME = 40
"""Characters of a name before the word that tells, and after it."""
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME = (
    rf"(?P<name>[A-Za-z0-9_.-]{{0,{LONGEST_NAME}}}(?:{_EDGE}(?:{_STRONG}|{_WEAK})|{_ANYWHERE}){_REST}"
    rf"[A-Za-z0-9_-]{{0,{LONGEST_NAME}}})"
)
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)"""
_WRAPPER = r"[A-Za-z_][\w.:]*"
_ROW = rf"""[\[(]\s*[bBuU]?{_QUOTED}(?:\s*,\s*[bBuU]?{_QUOTED})*\s*,?\s*(?:…|\.\.\.)?\s*[\])]?"""
"""Texts in a list or tuple, as forms and parsed queries hold even single ones: `{'password': ['x']}`."""
_NAMED = re.compile(
    rf"""(?P<head>(?P<quote>["']?){_NAME}\\{{0,3}}(?P=quote)\]?
    (?P<middle>\s*(?:=>|:=|==?|:)\s*(?:[bBuUrR](?=["'])|new\s+\w+\()?))
    (?P<value>{_QUOTED}|`[^`]*`?|0x[0-9a-f]+\s(?:<[^<>]*>\s)?{_QUOTED}|{_WRAPPER}\(\s*{_QUOTED}\s*\)
    |(?P<escape>\\+)(?P<inner>["'])(?:(?!(?<!\\)(?P=escape)(?P=inner)).)*(?:(?P=escape)(?P=inner))?
    |(?:basic|bearer|digest|token|negotiate|ntlm|apikey)[ ]+(?:\[redacted[^\]]*\]|[^\s"'`,;\\]+)
    |{_ROW}
    |[^\s\0,;&)\]}}"'`(\[{{]+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A name and its value: bare, quoted, quoted inside of a quoted text (`"{\\"password\\": \\"x\\"}"`), behind an address as C's
are told, in a class or variant of its own (`SecretStr('x')`, `Some("x")`), a scheme and what stands behind it, or a row."""
_BESIDE = re.compile(
    rf"""(?P<head>(?:(?P<flag>["'])--?|(?:(?<=\()|(?<=\([bB]))["']){_NAME}["'],\s*[bB]?)
    (?P<value>(?!["']-)(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))(?(flag)|(?=\)))""",
    re.VERBOSE | re.IGNORECASE,
)
"""The name beside its value: `['--password', 'x']` of a command line, `(b'x-api-key', b'x')` of a request's headers."""
_ENTRY = re.compile(
    rf"""(?P<head>["']{_NAME}["'],\s*(?P<quote>["']?)value(?P=quote)\s*[:=]\s*[bB]?)(?P<value>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)""",
    re.IGNORECASE,
)
"""`{"name": "DB_PASSWORD", "value": "x"}` of a container's environment, `name='sessionid', value='x'` of a cookie."""
_AFTER_FLAG = re.compile(
    rf"""(?P<head>--{_NAME}[ \t]+)(?P<value>(?![-<\[]|(?-i:[A-Z_]+)\b)(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s"']+))""",
    re.VERBOSE | re.IGNORECASE,
)
"""`--password x` in a line of a shell; but not `--password PASSWORD` of a usage."""
_ELEMENT = re.compile(rf"(?P<head>{_NAME}(?:\s[^<>]{{0,200}})?>)(?P<value>[^<>]+)(?=</)", re.IGNORECASE)
"""`<password>x</password>`."""
_ATTRIBUTE = re.compile(rf"""(?P<head>["']{_NAME}["']\s+value\s*=\s*)(?P<value>"[^"]*"?|'[^']*'?)""", re.IGNORECASE)
"""`<add key="Password" value="x"/>`."""
_TAG = re.compile(r"<(?:[\w.-]+:)?\Z")
_HINTS = ("pass", "pwd", "secret", "key", "credential", "token", "auth", "connection", "otp", "pin", "ssn", "cookie", "session",
          "sessid", "connect.sid", "jwt", "bearer", "dsn")  # fmt: skip
"""No name tells of a secret without one of these, which is quickly seen."""
_HINT = re.compile("|".join(_HINTS), re.IGNORECASE)
_SIGN = re.compile(rf"""([A-Za-z0-9_-]{{0,{2 * LONGEST_NAME}}})(?:\\{{0,3}}["']?\]?\s*[=:]|["'],|["']\s|[ \t>])""")
"""What follows the hint in a name that has its value behind it."""
_WRAPPED = re.compile(rf"{_WRAPPER}\(\s*(?P<inner>{_QUOTED})\s*\)\Z")
_ROW_OF_TEXTS = re.compile(rf"{_ROW}\Z")
_ONE_OF_THEM = re.compile(_QUOTED)
_LOGIN = re.compile(r"(?:[\w.-]*[_.-])?auth\Z", re.IGNORECASE)
"""What libraries of HTTP call a pair of a name and a password."""
_PLAIN_WORDS = re.compile(r"(?:None|null|nil|undefined|true|false|True|False|-?\d{1,3}(?:\.\d+)?|\[redacted.*|\*+|)\Z")
_MEASURE = re.compile(r"(?:count|len|length|size|min|max|limit|attempts|age|ttl|timeout)s?\Z", re.IGNORECASE)
"""How a name ends that tells of a number: `password_length`."""
_FOLDER = re.compile(r"(?:old_?)?pwd", re.IGNORECASE)
"""What shells call the directory that they are in."""
_QUOTES = "\"'`"
_OPENED = re.compile(r"""[`]|\\*["']""")
_LITERAL = re.compile(r"""(?:0x[0-9a-f]+ )?[bBuU]?(["'`])([^"'`\\]{6,200})\1""")
"""A text without anything that could be written otherwise in a file."""
SHORTEST = 5
"""Characters below which no text holds a secret and its name: `pwd=x`."""
REMEMBERED = 500
"""Characters up to which a text that was looked through is known again."""
LEAST_WEAK = 12
"""Characters of a value under a weak name that make it a secret."""


def by_name(name: str, text: str, *, is_flag: bool = False) -> str | None:
    """Why a value that goes by this name, or stands behind this flag, is left out; None where it is not."""
    kind = "strong" if is_flag and name.lower().lstrip("-") == "token" else _kind(name)
    if kind is None:
        return None
    if not _is_text(text):
        return f"named {_last(name)}" if _is_row_of_secrets(name, kind, text) else None
    body = _bare(text)
    if not body or _PLAIN_WORDS.match(body):
        return None
    if body.isdigit() and _MEASURE.search(name):
        return None
    if body.startswith("/") and _FOLDER.fullmatch(_last(name)):
        return None
    if kind == "weak" and (len(body) < LEAST_WEAK or not _opaque(body)):
        return None
    return f"named {_last(name)}"


@functools.lru_cache(maxsize=4096)
def _kind(name: str) -> Literal["strong", "weak"] | None:
    if not _hinted(name):
        return None
    name = _snake(name)
    return "strong" if STRONG.search(name) else "weak" if WEAK.search(name) else None


def _snake(name: str) -> str:
    """`apiKey` as api_Key, so that words in any style have the same edges."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def _last(name: str) -> str:
    """The last step of a path that is no number: `password` of `users[0].password` and of `d['password']`."""
    steps = [each.strip("-[]'\"") for each in re.split(r"[.\[]", name)]
    return next((each for each in reversed(steps) if each and not each.isdigit()), name)[:40]


def _is_text(text: str) -> bool:
    """Whether it is text or bytes; a dict of secrets is looked into instead."""
    return text[:1] not in "[{(<" and (not re.match(r"[\w.$:<>]+\s*[({\[]", text) or _WRAPPED.match(text) is not None)


def _is_row_of_secrets(name: str, kind: str, text: str) -> bool:
    """Whether a list or tuple is of nothing but texts, and one of them a word, as sentences about a password are not."""
    if text[:1] not in "[(" or not _ROW_OF_TEXTS.match(text):
        return False
    words = [_bare(each) for each in _ONE_OF_THEM.findall(text)]
    if kind == "weak" and (text[0] != "(" or len(words) != 2 or not _LOGIN.match(_last(name))):
        return False
    return any(not _PLAIN_WORDS.match(each) and not re.search(r"\s", each) for each in words)


def _opaque(body: str) -> bool:
    """One word, with digits or in mixed letters: no English, no path of names."""
    if re.search(r"\s", body):
        return False
    return bool(re.search(r"\d", body)) or (body.lower() != body and body.upper() != body)


def text(found: str) -> str:
    """Any text with the secrets in it replaced: known shapes, and what stands behind a name that tells."""
    if len(found) < SHORTEST:
        return found
    return _short(found) if len(found) <= REMEMBERED else _safe(found)


@functools.lru_cache(maxsize=2048)
def _short(found: str) -> str:
    """The same values are told and written at stop after stop."""
    return _safe(found)


def _safe(found: str) -> str:
    found = lookalikes.left_out(found)
    if holds(found, commandlines.TELLTALES):
        found = commandlines.without(found, marker("a password"))
    if not _hinted(found):
        return found
    if "\n" not in found:
        return _unnamed(found)
    return "\n".join(_unnamed(line) if _hinted(line) else line for line in found.split("\n"))


def rest_of_key(found: str) -> str:
    """A text that goes on with a private key which was begun before it."""
    safe = text("-----BEGIN PRIVATE KEY-----\n" + found)
    return safe if safe.endswith("\n") or not found.endswith("\n") else safe + "\n"


def _unnamed(line: str) -> str:
    """A line without what stands behind names that tell. Programs print megabytes, so names are looked for only where a hint
    is and a sign follows it: the patterns of whole names, tried at every letter, take a hundred times as long."""
    parts: list[str] = []
    done = at = 0
    while (hint := _HINT.search(line, at)) is not None:
        at = hint.end()
        found = _behind_name(line, done, hint)
        if found is not None:
            parts += (line[done : found.start()], _named(found))
            done = at = found.end()
    return "".join((*parts, line[done:])) if parts else line


def _behind_name(line: str, done: int, hint: re.Match[str]) -> re.Match[str] | None:
    sign = _SIGN.match(line, hint.end())
    if sign is None:
        return None
    before = line[max(done, hint.start() - LONGEST_NAME) : hint.start()]
    begin = hint.start() - len(before) + len(before.rstrip(_NAME_LETTERS))
    if _kind(line[begin : sign.end(1)]) is None:
        return None
    is_quoted = begin > done and line[begin - 1] in "\"'"
    if sign[0][-1] == ",":
        return (_BESIDE.match(line, begin - 1) or _ENTRY.match(line, begin - 1)) if is_quoted else None
    if sign[0][-1] in " \t>":
        return _behind_space(line, begin, is_quoted=is_quoted)
    return (_NAMED.match(line, begin - 1) if is_quoted else None) or _NAMED.match(line, begin)


def _behind_space(line: str, begin: int, *, is_quoted: bool) -> re.Match[str] | None:
    """A flag with its word behind it, an element of XML, or an attribute of one."""
    if line.startswith("--", begin):
        return _AFTER_FLAG.match(line, begin)
    if is_quoted:
        return _ATTRIBUTE.match(line, begin - 1)
    return _ELEMENT.match(line, begin) if _TAG.search(line, max(0, begin - LONGEST_NAME), begin) else None


def _hinted(line: str) -> bool:
    return holds(line.lower(), _HINTS)


def _named(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith("[redacted"):
        return match[0]
    name = match["name"]
    why = by_name(name, value, is_flag=name.startswith("--") or match["head"].lstrip(_QUOTES).startswith("--"))
    if why is None or (_kind(name) == "weak" and match.string[match.end() : match.end() + 1] == "("):
        # `auth=HTTPBasicAuth(` is the class of what is looked into itself; a header's text may hold names of its own.
        return match["head"] + _unnamed(value) if value[0] in _QUOTES else match[0]
    opened = _OPENED.match(value)
    quote = opened[0] if opened else ""
    closed = quote if quote and len(value) > len(quote) and value.endswith(quote) else ""
    return f"{match['head']}{quote}{marker(why)}{closed}"


def value(found: Value) -> Value:
    """A value as it may be written down."""
    why = by_name(found.name, found.value) if found.value else None
    if why is not None:
        return _left_out(found, why)
    safe = text(found.value)
    children = _children(found)
    if safe is found.value and children == found.children:
        return found
    return msgspec.structs.replace(found, value=safe, children=children)


def literal(found: Value) -> str | None:
    """The text of a value that its name tells to be a secret, where that may stand in a file as it is."""
    match = _LITERAL.fullmatch(found.value)
    return match[2] if match and by_name(found.name, found.value) is not None else None


def marker_of(found: Value) -> str:
    return marker(by_name(found.name, found.value) or "a secret")


def without_literals(source: bytes, secrets: Mapping[str, str]) -> bytes:
    """A file's text with markers in place of literals that are such secrets."""
    for secret, instead in secrets.items():
        bare = secret.encode("utf-8", "backslashreplace")
        if bare in source:
            source = re.sub(rb"([\"'`])" + re.escape(bare) + rb"\1", rb"\1" + instead.encode() + rb"\1", source)
    return source


def _left_out(found: Value, why: str) -> Value:
    return msgspec.structs.replace(
        found, value=marker(why), children=(), total=None, ref=None, truncated=False, error=False, shape=""
    )


def _children(found: Value) -> tuple[Value, ...]:
    """The parts of a value; of a row of them also what stands behind a flag, or in a pair behind a name, that tells."""
    kept = _of_entry(found.children, [value(child) for child in found.children])
    if len(kept) < 2 or not kept[0].name.strip("[]").isdigit():
        return tuple(kept)
    is_pair = len(kept) == 2 and found.value[:1] == "("
    for number, before in enumerate(found.children[:-1], 1):
        if is_pair or "-" in before.value[:3]:
            why = _why_beside(_bare(before.value), found.children[number].value)
            kept[number] = kept[number] if why is None else _left_out(kept[number], why)
    return tuple(_of_command(found.children, _of_key(found.children, kept)))


def _of_entry(parts: Sequence[Value], kept: list[Value]) -> list[Value]:
    """The parts of a value that has a name and a value of its own, as a cookie does."""
    called = [each.name.strip("'\"").lower() for each in parts]
    if "name" not in called or "value" not in called:
        return kept
    at = called.index("value")
    why = _why_beside(_bare(parts[called.index("name")].value), parts[at].value)
    return kept if why is None else [*kept[:at], _left_out(kept[at], why), *kept[at + 1 :]]


def _of_key(row: Sequence[Value], kept: list[Value]) -> list[Value]:
    """The lines of a private key, which is known by the first of them."""
    inside = False
    for number, each in enumerate(row):
        if inside:
            kept[number] = _left_out(kept[number], "looks like a private key")
        inside = begins_key(each.value) or (inside and "-----END" not in each.value)
    return kept


def _of_command(row: Sequence[Value], kept: list[Value]) -> list[Value]:
    words = [_bare(each.value) for each in row]
    safe = commandlines.without_in(words, marker("a password"))
    return [
        each if old == new or "[redacted" in each.value else msgspec.structs.replace(each, value=new)
        for each, old, new in zip(kept, words, safe, strict=True)
    ]


def _why_beside(name: str, text: str) -> str | None:
    """Why a text is left out that stands behind this one, and is no flag itself."""
    if len(name) > REMEMBERED or "=" in name or _bare(text).startswith("-"):
        return None
    return by_name(name, text, is_flag=name.startswith("--"))


def _bare(text: str) -> str:
    wrapped = _WRAPPED.match(text)
    return (wrapped["inner"] if wrapped else text).lstrip("bBuUrR").strip(_QUOTES + "\\")


def command(words: Sequence[str]) -> tuple[str, ...]:
    """A command line: what stands in or behind a flag that names a secret."""
    safe: list[str] = []
    flag = ""
    for word in commandlines.without_in(words, marker("a password")):
        why = by_name(flag, word, is_flag=True) if flag and not word.startswith("-") else None
        safe.append(marker(why) if why else text(word))
        flag = word.lstrip("-").replace("-", "_") if word.startswith("-") and "=" not in word else ""
    return tuple(safe)


def body(made: Any) -> str:
    """A struct or plain data as JSON without its secrets. They are looked for in its texts one by one: JSON that was cut
    to pieces as a text can never be read again."""
    return exact.encode(anything(msgspec.to_builtins(made))).decode()


def anything(node: Any, name: str = "") -> Any:
    """Plain data, such as an operation's arguments, with its texts made safe."""
    match node:
        case str():
            why = by_name(name, node)
            return marker(why) if why else text(node)
        case dict():
            return {str(key): anything(each, str(key)) for key, each in node.items()}
        case list() | tuple():
            return (
                list(command(node))
                if all(isinstance(each, str) for each in node)
                else [anything(each) for each in node]
            )
        case _:
            return node
