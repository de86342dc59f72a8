"""Secrets are kept off the disk: known by the name that they go under, or by the shape of the value, and said to be left out."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ..model import exact
from ..model.values import Value

_STRONG = (
    "password|passwd|passwort|passphrase|passcode|pwd|secret|secrets|(?:api|private|access|secret|signing|encryption)[_-]?key|"
    "client[_-]?secret|credential|credentials|(?:auth|access|refresh|bearer|id|session|csrf)[_-]?token|authorization|"
    "(?:db|database|user|admin|root|smtp|mail|email|mysql|pg|postgres|redis|mongo|ftp|ssh|ldap|proxy)[_-]?pass|"
    "connection[_-]?string|otp|pin[_-]?code|ssn"
)
"""Words that name a secret whatever it looks like."""
_WEAK = "token|auth|cookie|session[_-]?id|jwt|bearer|dsn"
"""Words that name one where the value is a single long word, too: a parser's `token` is '+' or 'while'."""
_EDGE, _REST = r"(?<![A-Za-z])", r"(?![a-z])"
_ANYWHERE = "password|passwd|passphrase"
"""Words that tell wherever they stand in a name: PGPASSWORD."""
STRONG = re.compile(rf"(?:{_EDGE}(?:{_STRONG})|{_ANYWHERE}){_REST}", re.IGNORECASE)
WEAK = re.compile(rf"{_EDGE}(?:{_WEAK})(?:{_REST}|\d)", re.IGNORECASE)

SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]*KEY(?: BLOCK)?-----|[\s\S]*)"
        r"|\bAGE-SECRET-KEY-1[A-Z0-9]{40,}"
    )),
    ("an AWS key", re.compile(r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})")),
    ("a GitLab token", re.compile(r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_-]{20,}")),
    ("a Slack token", re.compile(r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})")),
    ("a Slack webhook", re.compile(r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{20,}")),
    ("an API key", re.compile(r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)[-_][\w-]{16,}|\bsk-[A-Za-z0-9]{32,}")),
    ("a Google key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}")),
    ("a JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
    ("an npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("a PyPI token", re.compile(r"\bpypi-[A-Za-z0-9_-]{32,}")),
    ("a SendGrid key", re.compile(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,}\b")),
    ("a token", re.compile(
        r"\b(?:dop_v1_[a-f0-9]{64}|doo_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dckr_pat_[A-Za-z0-9_-]{20,}"
        r"|lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{32,}|secret_[A-Za-z0-9]{40,}|tfp_[A-Za-z0-9_]{20,}|hvs\.[A-Za-z0-9_-]{24,}"
        r"|glsa_[A-Za-z0-9_]{32,}|atlasv1\.[A-Za-z0-9_-]{40,}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}|EAAC[A-Za-z0-9]{30,}"
        r"|key-[a-f0-9]{32}\b|NRAK-[A-Z0-9]{27}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|\d{8,10}:AA[A-Za-z0-9_-]{33}"
        r"|whsec_[A-Za-z0-9+/]{24,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{32,}|sbp_[a-f0-9]{40}|r8_[A-Za-z0-9]{37}"
        r"|ATATT3x[A-Za-z0-9_=-]{24,})"
    )),
    ("credentials", re.compile(r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{12,}|(?<=[Bb]asic )[A-Za-z0-9+/=]{12,}")),
    ("an account key", re.compile(r"(?<=AccountKey=)[A-Za-z0-9+/=]{40,}|(?<=SharedAccessKey=)[A-Za-z0-9+/=]{30,}")),
)  # fmt: skip
_URL = re.compile(r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s/:@'\"]*:)(?P<secret>[^\s/'\"]+)(?=@)")
_TELLTALES = (
    "-----BEGIN", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ABIA", "ACCA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "xox", "xapp-", "hooks.slack",
    "sk-", "sk_", "pk_", "pk-", "rk_", "rk-", "AIza", "ya29.", "GOCSPX-", "eyJ", "npm_", "pypi-", "SG.", "hf_", "_v1_", "shpat_",
    "shpca_", "shppa_", "shpss_", "dckr_pat_", "lin_api_", "ntn_", "secret_", "tfp_", "hvs.", "glsa_", "atlasv1.", "sq0", "EAAC",
    "key-", "NRAK-", "PMAK-", ":AA", "whsec_", "gsk_", "xai-", "sbp_", "r8_", "ATATT3x", "AGE-SECRET", "earer ", "asic ", "Key=", "://",
)  # fmt: skip
"""None of the shapes is in a text without one of these, which is quickly seen."""

LONGEST_NAME = 40
"""Characters of a name before the word that tells, and after it."""
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME = (
    rf"(?P<name>[A-Za-z0-9_.-]{{0,{LONGEST_NAME}}}(?:{_EDGE}(?:{_STRONG}|{_WEAK})|{_ANYWHERE}){_REST}"
    rf"[A-Za-z0-9_-]{{0,{LONGEST_NAME}}})"
)
_NAMED = re.compile(
    rf"""(?P<head>(?P<quote>["']?){_NAME}(?P=quote)\]?
    (?P<middle>\s*(?:=>|:=|==?|:)\s*(?:[bBuUrR](?=["'])|new\s+\w+\()?))
    (?P<value>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?|[^\s\0,;&)\]}}"'`(\[{{]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"""(?P<head>(?:(?P<flag>["'])--?|(?:(?<=\()|(?<=\([bB]))["']){_NAME}["'],\s*[bB]?)
    (?P<value>(?!["']-)(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))(?(flag)|(?=\)))""",
    re.VERBOSE | re.IGNORECASE,
)
"""The name beside its value: `['--password', 'x']` of a command line, `(b'x-api-key', b'x')` of a request's headers."""
_AFTER_FLAG = re.compile(
    rf"""(?P<head>--{_NAME}[ \t]+)(?P<value>(?![-<\[]|(?-i:[A-Z_]+)\b)(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s"']+))""",
    re.VERBOSE | re.IGNORECASE,
)
"""`--password x` in a line of a shell; but not `--password PASSWORD` of a usage."""
_HINTS = ("pass", "pwd", "secret", "key", "credential", "token", "auth", "connection", "otp", "pin", "ssn", "cookie", "session",
          "jwt", "bearer", "dsn")  # fmt: skip
"""No name tells of a secret without one of these, which is quickly seen."""
_HINT = re.compile("|".join(_HINTS), re.IGNORECASE)
_SIGN = re.compile(rf"""([A-Za-z0-9_-]{{0,{2 * LONGEST_NAME}}})(?:["']?\]?\s*[=:]|["'],|[ \t])""")
"""What follows the hint in a name that has its value behind it."""
_PLAIN_WORDS = re.compile(r"(?:None|null|nil|undefined|true|false|True|False|-?\d{1,3}(?:\.\d+)?|\[redacted.*|)\Z")
_FOLDER = re.compile(r"(?:old_?)?pwd", re.IGNORECASE)
"""What shells call the directory that they are in."""
_QUOTES = "\"'`"
SHORTEST = 5
"""Characters below which no text holds a secret and its name: `pwd=x`."""
REMEMBERED = 500
"""Characters up to which a text that was looked through is known again."""
LEAST_WEAK = 12
"""Characters of a value under a weak name that make it a secret."""


def marker(why: str) -> str:
    return f"[redacted: {why}]"


def by_name(name: str, text: str) -> str | None:
    """Why a value that goes by this name is left out; None where it is not."""
    kind = _kind(name)
    if kind is None or not _is_text(text):
        return None
    body = _bare(text)
    if not body or _PLAIN_WORDS.match(body):
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
    return name.rpartition(".")[2].lstrip("-")[:40]


def _is_text(text: str) -> bool:
    """Whether it is text or bytes; a dict of secrets is looked into instead."""
    return text[:1] not in "[{(<" and not re.match(r"[\w.$:<>]+\s*[({\[]", text)


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
    if _holds(found, _TELLTALES):
        for what, shape in SHAPES:
            found = shape.sub(marker(f"looks like {what}"), found)
        found = _URL.sub(lambda match: match["head"] + marker("password in an address"), found)
    if not _hinted(found):
        return found
    if "\n" not in found:
        return _unnamed(found)
    return "\n".join(_unnamed(line) if _hinted(line) else line for line in found.split("\n"))


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
        return _BESIDE.match(line, begin - 1) if is_quoted else None
    if sign[0][-1] in " \t":
        return _AFTER_FLAG.match(line, begin) if line.startswith("--", begin) else None
    return (_NAMED.match(line, begin - 1) if is_quoted else None) or _NAMED.match(line, begin)


def _hinted(line: str) -> bool:
    return _holds(line.lower(), _HINTS)


def _holds(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  any() takes twice as long, and this is asked of every value of every stop
        if word in text:
            return True
    return False


def _named(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith("[redacted"):
        return match[0]
    why = by_name(match["name"], value)
    if why is None:
        return match[0]
    quote = value[0] if value[0] in _QUOTES else ""
    closed = quote if quote and len(value) > 1 and value.endswith(quote) else ""
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


def _left_out(found: Value, why: str) -> Value:
    return msgspec.structs.replace(
        found, value=marker(why), children=(), total=None, ref=None, truncated=False, error=False, shape=""
    )


def _children(found: Value) -> tuple[Value, ...]:
    """The parts of a value; of a row of them also what stands behind a flag, or in a pair behind a name, that tells."""
    kept = [value(child) for child in found.children]
    if len(kept) < 2 or not kept[0].name.strip("[]").isdigit():
        return tuple(kept)
    is_pair = len(kept) == 2 and found.value[:1] == "("
    for number, before in enumerate(found.children[:-1], 1):
        if is_pair or "-" in before.value[:3]:
            why = _why_beside(_bare(before.value), found.children[number].value)
            kept[number] = kept[number] if why is None else _left_out(kept[number], why)
    return tuple(kept)


def _why_beside(name: str, text: str) -> str | None:
    """Why a text is left out that stands behind this one, and is no flag itself."""
    if len(name) > REMEMBERED or "=" in name or _bare(text).startswith("-"):
        return None
    return by_name(name, text)


def _bare(text: str) -> str:
    return text.lstrip("bBuUrR").strip(_QUOTES)


def command(words: Sequence[str]) -> tuple[str, ...]:
    """A command line: what stands in or behind a flag that names a secret."""
    safe: list[str] = []
    flag = ""
    for word in words:
        why = by_name(flag, word) if flag and not word.startswith("-") else None
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
