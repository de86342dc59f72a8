"""Secrets that are known by what they look like, whatever they are called: keys and tokens of many services, and private keys."""

from __future__ import annotations

import re

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
    ("a signature", re.compile(
        r"(?<=[?&]sig=)[A-Za-z0-9%+/=_-]{20,}|(?<=[?&]X-Amz-Signature=)[0-9a-f]{32,}|(?<=[?&]Signature=)[A-Za-z0-9%+/=_~-]{20,}"
    )),
    ("an account key", re.compile(r"(?<=AccountKey=)[A-Za-z0-9+/=]{40,}|(?<=SharedAccessKey=)[A-Za-z0-9+/=]{30,}")),
)  # fmt: skip
_URL = re.compile(r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s/:@'\"]*:)(?P<secret>[^\s/'\"]+)(?=@)")
_AUTHORITY = re.compile(r"(?P<head>[\"'][\w.+%-]{0,64}:)(?P<secret>[^\s/:@'\"]{3,})(?=@[\w.-]+(?::\d{1,5})?[\"'])")
"""The same without its scheme, as those have it who took the address apart: `netloc='ann:x@db:5432'`."""
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]+\Z")
_FULL = 16
_TELLTALES = (
    "-----BEGIN", "-----END", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ABIA", "ACCA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "xox", "xapp-",
    "hooks.slack",
    "sk-", "sk_", "pk_", "pk-", "rk_", "rk-", "AIza", "ya29.", "GOCSPX-", "eyJ", "npm_", "pypi-", "SG.", "hf_", "_v1_", "shpat_",
    "shpca_", "shppa_", "shpss_", "dckr_pat_", "lin_api_", "ntn_", "secret_", "tfp_", "hvs.", "glsa_", "atlasv1.", "sq0", "EAAC",
    "key-", "NRAK-", "PMAK-", ":AA", "whsec_", "gsk_", "xai-", "sbp_", "r8_", "ATATT3x", "AGE-SECRET", "earer ", "asic ", "Key=",
    "ignature=", "sig=", "://",
)  # fmt: skip
"""None of the shapes is in a text without one of these, which is quickly seen."""


def marker(why: str) -> str:
    return f"[redacted: {why}]"


def left_out(found: str) -> str:
    """A text with markers in place of what looks like a secret."""
    if "@" in found:
        found = _AUTHORITY.sub(_without_password, found)
    if not holds(found, _TELLTALES):
        return found
    for what, shape in SHAPES:
        found = shape.sub(marker(f"looks like {what}"), found)
    found = _without_tails(found) if "-----END" in found else found
    return _URL.sub(_without_password, found)


def _without_password(address: re.Match[str]) -> str:
    return address["head"] + marker("password in an address")


def holds(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  any() takes twice as long, and this is asked of every value of every stop
        if word in text:
            return True
    return False


def begins_key(found: str) -> bool:
    """Whether a text ends within a private key, so that what comes next is more of it."""
    begun = found.rfind("-----BEGIN")
    return begun >= 0 and _KEY_BEGINS.match(found, begun) is not None and _KEY_ENDS.search(found, begun) is None


def _without_tails(found: str) -> str:
    """The same without the end of a private key whose beginning stood before it."""
    kept: list[str] = []
    for line in found.split("\n"):
        end = _KEY_ENDS.search(line)
        if end is None:
            kept.append(line)
            continue
        shortest = 1  # of its last line; the others are full
        while kept and len(kept[-1].strip()) >= shortest and _KEY_LINE.match(kept[-1].strip()):
            kept.pop()
            shortest = _FULL
        before = line[: end.start()]
        head = "" if _KEY_LINE.match(before.strip()) else before
        kept.append(head + marker("looks like a private key") + line[end.end() :])
    return "\n".join(kept)
