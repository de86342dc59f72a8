"""Secrets: made-up ones of many shapes and names, and values that are none, each shown to what keeps them off the disk."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

from stillframe.model.values import Value
from stillframe.record import redaction

from .ground import Ground
from .table import Row

_WORD = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_UPPER = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"

SHAPES: tuple[tuple[str, str, int], ...] = (
    ("AKIA", _UPPER, 16), ("ASIA", _UPPER, 16), ("ghp_", _WORD, 36), ("gho_", _WORD, 36), ("ghs_", _WORD, 36),
    ("github_pat_", _WORD, 82), ("glpat-", _WORD, 20), ("xoxb-", _LOWER, 40), ("xoxp-", _LOWER, 40), ("sk_live_", _WORD, 24),
    ("rk_live_", _WORD, 24), ("AIza", _WORD, 35), ("npm_", _WORD, 36), ("pypi-AgEIcHlwaS5vcmc", _WORD, 60),
    ("hf_", string.ascii_letters, 34),
    ("sk-proj-", _WORD, 48), ("sk-ant-api03-", _WORD, 90), ("dop_v1_", _HEX, 64), ("shpat_", _HEX, 32), ("gsk_", _WORD, 52),
    ("whsec_", _WORD, 32), ("r8_", _WORD, 37), ("lin_api_", _WORD, 40), ("dckr_pat_", _WORD, 27),
)  # fmt: skip
"""How keys of services begin, what follows, and how long that is: facts that their makers publish, so that they can be found."""
NAMES = (
    "password", "db_password", "PGPASSWORD", "api_key", "apiKey", "client_secret", "access_token", "refreshToken", "private_key",
    "SECRET_KEY", "smtp_pass", "credentials", "auth_token", "passphrase", "x-api-key", "connection_string", "signing_key",
)  # fmt: skip
PLAIN_NAMES = (
    "total", "user", "name", "path", "index", "tokens", "monkey", "author", "keyboard", "session", "digest", "url", "row",
    "state", "compass", "passed", "secretary", "hotkeys", "passenger", "accessed", "tokenizer", "keyword", "bypass", "primary",
)  # fmt: skip


def _some(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choices(letters, k=count))


def _web_token(chance: random.Random) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    return f"{part(chr(123) + chr(34) + 'alg' + chr(34) + ':1}')}.{part(_some(chance, _WORD, 20))}.{_some(chance, _WORD, 43)}"


def _pem(chance: random.Random) -> str:
    kind = chance.choice(("RSA ", "EC ", "OPENSSH ", ""))
    rows = "\\n".join(_some(chance, _WORD + "+/", 64) for _ in range(3))
    return f"-----BEGIN {kind}PRIVATE KEY-----\\n{rows}\\n-----END {kind}PRIVATE KEY-----"


def secrets(chance: random.Random, count: int) -> list[tuple[str, str, str]]:
    """Each as the name of a variable, the text of its value, and what must not be read in that any more."""
    found = []
    for at in range(count):
        beginning, letters, size = SHAPES[at % len(SHAPES)]
        by_shape = beginning + _some(chance, letters, size)
        odd = chance.choice((by_shape, _web_token(chance), _pem(chance)))
        word = _some(chance, _WORD, chance.randint(8, 24))
        name = chance.choice(NAMES)
        found.append(
            (
                (chance.choice(PLAIN_NAMES), repr(by_shape), by_shape),
                (chance.choice(PLAIN_NAMES), f"'{odd}'", odd.split("\\n")[1] if "\\n" in odd else odd),
                (name, repr(word), word),
                ("config", repr({"user": "ann", name: word}), word),
                ("url", repr(f"postgres://ann:{word}@db.example/shop"), word),
                ("line", repr(f"--verbose --{name.replace('_', '-')}={word} run"), word),
                ("headers", repr({"Authorization": f"Bearer {_some(chance, _WORD, 30)}{word}"}), word),
            )[at % 7]
        )
    return found


def benign(chance: random.Random, count: int) -> list[tuple[str, str]]:
    """Values of programs that are nobody's secret: numbers, names, paths, sums, dates, words of a parser."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: str(chance.randint(-(10**9), 10**9)),
        lambda: repr(" ".join(chance.choices(PLAIN_NAMES, k=chance.randint(1, 6)))),
        lambda: repr("/".join(("", *chance.choices(PLAIN_NAMES, k=4))) + ".py"),
        lambda: repr(_some(chance, _HEX, chance.choice((8, 32, 40, 64)))),
        lambda: repr({chance.choice(PLAIN_NAMES): chance.randint(0, 99) for _ in range(3)}),
        lambda: repr([chance.random() for _ in range(4)]),
        lambda: f"datetime({chance.randint(1990, 2030)}, {chance.randint(1, 12)}, 1)",
        lambda: repr(f"https://example.org/{chance.choice(PLAIN_NAMES)}?page={chance.randint(1, 99)}"),
        lambda: f"<{chance.choice(PLAIN_NAMES).title()} object at 0x{_some(chance, _HEX, 12)}>",
        lambda: repr("-".join(_some(chance, _HEX, size) for size in (8, 4, 4, 4, 12))),
    )
    return [(chance.choice(PLAIN_NAMES), makers[at % len(makers)]()) for at in range(count)]


def recall(ground: Ground) -> list[Row]:
    """S3: how many secrets are left out, as a value and in printed text, and how many values that are none."""
    size = max(1, int(ground.seconds))
    chance = random.Random(13)
    planted, plain = secrets(chance, 300 * size), benign(chance, 2000 * size)
    kept = [
        (name, text)
        for name, text, secret in planted
        if secret in redaction.value(Value(name=name, type="str", value=text)).value
        or secret in redaction.text(f"{name} = {text}")
    ]
    changed = [
        (name, text) for name, text in plain if redaction.value(Value(name=name, type="", value=text)).value != text
    ]
    found, false = 100 - 100 * len(kept) / len(planted), 100 * len(changed) / len(plain)
    return [
        Row(
            "S3 secrets left out",
            f"{len(planted):,} made-up secrets{_first(kept)}",
            f"{found:.2f} %",
            ">= 98 %",
            found >= 98,
        ),
        Row(
            "S3 plain values left out",
            f"{len(plain):,} plain values{_first(changed)}",
            f"{false:.2f} %",
            "<= 1 %",
            false <= 1,
        ),
    ]


def _first(found: list[tuple[str, str]]) -> str:
    return f", such as {found[0][0]} = {found[0][1][:60]}" if found else ""
