"""Secrets stay off the disk: known by name or by shape, in values, containers, commands and printed text."""

from __future__ import annotations

import re
import time
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.model.values import Value
from stillframe.record import redaction

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
TOKEN = "ghp_" + "a1B2" * 9
WEB = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

BY_SHAPE = [
    KEY, TOKEN, WEB, "xoxb-" + "123456789012-abcdefghijkl", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "AIza" + "Sy" + "A" * 33,
    "glpat-" + "x" * 20, "npm_" + "a" * 36, "SG." + "a" * 22 + "." + "b" * 43, "hf_" + "a" * 34, "sk-" + "a" * 48,
    "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\\nlQOYBGAAAAAB\\n-----END PGP PRIVATE KEY BLOCK-----", "whsec_" + "a1" * 16,
    "gsk_" + "a1" * 26, "xai-" + "a1" * 20, "sbp_" + "a1" * 20, "r8_" + "a" * 37, "ATATT3x" + "a1" * 20,
    "AGE-SECRET-KEY-1" + "Q" * 58,
]  # fmt: skip


@pytest.mark.parametrize("secret", BY_SHAPE)
def test_a_value_of_a_known_shape_is_left_out_whatever_it_is_called(secret: str) -> None:
    kept = redaction.value(Value(name="x", type="str", value=repr(secret)))
    assert secret not in kept.value
    assert "[redacted: looks like" in kept.value
    assert secret not in redaction.text(f"it said {secret} and went on")


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "PASSWORD",
        "apiKey",
        "api_key",
        "client_secret",
        "authToken",
        "self.passwd",
        "PGPASSWORD",
        "'x-api-key'",
        "X-Auth-Token",
        "DB_PASS",
        "smtpPass",
        "passcode",
    ],
)
def test_a_text_under_a_telling_name_is_left_out_and_the_marker_says_by_which(name: str) -> None:
    kept = redaction.value(Value(name=name, type="str", value="'tiger'"))
    assert kept.value == "[redacted: named {}]".format(name.rpartition(".")[2].strip("'"))


@pytest.mark.parametrize(
    "text",
    [
        "{'user': 'ann', 'password': 'tiger99'}",
        '{"user": "ann", "password": "tiger99"}',
        "Login(user='ann', password='tiger99')",
        "{user: 'ann', password: 'tiger99'}",
        '{user = 0x55 "ann", password = "tiger99"}',
        "postgres://ann:tiger99@db.example/shop",
        "password=tiger99&user=ann",
        "curl -H 'Authorization: Bearer tiger99tiger99tiger99'",
        "export SECRET_KEY=tiger99",
        "api_key: tiger99",
        "X-Api-Key: tiger99",
        "mysql --user ann --password tiger99 shop",
        "login --api-key 'tiger99' ann",
        "{'host': 'ann', 'x-api-key': 'tiger99'}",
        "postgres://ann:t@tiger99@db.example/shop",
        "['--user', 'ann', '--password', 'tiger99', '--quiet']",
        "[('user', 'ann'), ('password', 'tiger99')]",
        "[(b'user', b'ann'), (b'x-api-key', b'tiger99')]",
        r'"{\"user\": \"ann\", \"password\": \"tiger99\"}"',
        r'"{\"password\": \"x\\\"tiger99\", \"user\": \"ann\"}"',
        '{user = 0x55 "ann", password = 0x555555556004 "tiger99"}',
        'Login { user: ann, password: Some("tiger99") }',
        "Login(password=SecretStr('tiger99'), user='ann')",
        "<login user='ann'><wsse:Password Type='#text'>tiger99</wsse:Password></login>",
        '<add user="ann"/><add key="Password" value="tiger99"/>',
        "Authorization: Basic tiger99\nUser: ann",
        "Server=db;Uid=ann;Password=tiger99;Timeout=3",
        "mysql -uann -ptiger99 shop",
        "['mysqldump', '-u', 'ann', '-ptiger99', 'shop']",
        "docker login -u ann -p tiger99",
        "sshpass -p tiger99 ssh ann",
        "curl -u ann:tiger99 https://shop",
        "['curl', '--user', 'ann:tiger99', 'https://shop']",
        "redis-cli -h ann -a tiger99",
        "machine shop login ann password tiger99",
        "machine shop\n  login ann\n  password tiger99",
        "app --user ann --token tiger99",
        "AZURE_STORAGE_KEY=tiger99tiger99== ann",
        "ann https://files/a?sv=1&sig=tiger99tiger99tiger99",
        "{'User': 'ann', 'Set-Cookie': 'sessionid=tiger99tiger99; HttpOnly; Path=/'}",
        '{"user": "ann", "cookie": "theme=dark; csrftoken=tiger99; PHPSESSID=tiger99tiger99"}',
        "<QueryDict: {'user': ['ann'], 'password': ['tiger99']}>",
        "{b'user': [b'ann'], b'password': [b'tiger99', b'x']}",
        "<DataFrame 2x2> {'user': ['ann', 'bo'], 'password': ['tiger99', …]}",
        '{"name": "DB_USER", "value": "ann"}, {"name": "DB_PASSWORD", "value": "tiger99"}',
        "Cookie(version=0, name='sessionid', value='tiger99tiger99', domain='ann.example')",
        "Session(user='ann', auth=('me', 'tiger99'))",
        "ParseResult(scheme='postgresql', netloc='ann:tiger99@db:5432', path='/shop')",
        "ann\nMIItiger99tiger99tiger99\nMIItiger99=\n-----END RSA PRIVATE KEY-----\n",
    ],
)
def test_a_secret_inside_other_text_is_left_out_and_the_rest_stays(text: str) -> None:
    safe = redaction.text(text)
    assert "tiger99" not in safe and "[redacted: " in safe
    assert ("ann" in safe) == ("ann" in text)


def test_a_row_of_texts_under_a_telling_name_is_left_out_with_its_parts() -> None:
    parts = (Value(name="[0]", type="str", value="'tiger99'"),)
    kept = redaction.value(Value(name="password", type="list", value="['tiger99']", children=parts))
    assert (kept.value, kept.children) == ("[redacted: named password]", ())


def test_the_value_of_an_entry_is_left_out_by_its_name() -> None:
    def entry(name: str, text: str) -> list[str]:
        parts = (Value(name="'name'", type="str", value=name), Value(name="'value'", type="str", value=text))
        return [
            each.value for each in redaction.value(Value(name="[3]", type="dict", value="{…}", children=parts)).children
        ]

    assert entry("'DB_PASSWORD'", "'tiger99'") == ["'DB_PASSWORD'", "[redacted: named DB_PASSWORD]"]
    assert entry("'DB_USER'", "'ann'") == ["'DB_USER'", "'ann'"]
    assert entry("'password'", "None") == ["'password'", "None"]


def test_a_command_line_loses_what_follows_a_telling_flag() -> None:
    words = ("app.py", "--token", "abcdef0123456789", "--db-password=tiger99", "--verbose", "x")
    assert redaction.command(words) == (
        "app.py", "--token", "[redacted: named token]", "--db-password=[redacted: named db-password]", "--verbose", "x",
    )  # fmt: skip
    assert redaction.command(("mysql", "-uann", "-ptiger99", "-p")) == (
        "mysql",
        "-uann",
        "-p[redacted: a password]",
        "-p",
    )


BENIGN = [
    ("token", "'+'"), ("token", "'while'"), ("tokens", "['a', 'b']"), ("author", "'Ann Lee'"), ("key", "'customer_id_0001'"),
    ("keys", "dict_keys(['a'])"), ("password", "None"), ("password", "''"), ("secret", "False"), ("n_tokens", "4096"),
    ("passwords", "3"), ("monkey", "'banana'"), ("authenticated", "True"), ("keyboard", "'qwerty'"), ("total", "61.5"),
    ("path", "'/usr/lib/python3/dist-packages'"), ("digest", "'d41d8cd98f00b204e9800998ecf8427e'"), ("items", "[1, 2, 3]"),
    ("url", "'https://example.org/a?b=c'"), ("when", "datetime(2026, 1, 1)"), ("tokenizer", "Tokenizer(vocab=30000)"),
    ("cookie", "'yes'"), ("session_id", "42"), ("compass", "'north-east-1'"),
    ("password_count", "1234"),
    ("token", "Token('while')"), ("storage_key", "'theme'"), ("password", "SecretStr('**********')"),
    ("password", "['This field is required.']"), ("auth", "('a', 'b', 'c')"), ("auth", "['read', 'write']"), ("password", "[]"),
    ("cookie", "'theme=dark; lang=en'"), ("image", "'python:3.11@sha256:9f86d081'"), ("to", "'ann@example.org'"),
    ("sha", "'9f86d081884c7d659a2feaa0c55ad015'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), BENIGN)
def test_plain_values_stay_as_they_are(name: str, text: str) -> None:
    value = Value(name=name, type="", value=text)
    assert redaction.value(value) == value
    assert redaction.text(f"{name} went to {text}") == f"{name} went to {text}"


def test_the_directory_of_a_shell_is_no_password_and_a_value_ends_where_a_text_does() -> None:
    printed = "PWD=/home/me/work\0OLDPWD=/\0DB_PWD=tiger\0NEXT=kept\0"
    assert redaction.text(printed) == printed.replace("tiger", "[redacted: named DB_PWD]")
    assert redaction.value(Value(name="pwd", type="str", value="'tiger'")).value == "[redacted: named pwd]"


def test_what_a_usage_says_of_flags_stays() -> None:
    for line in (
        "mysql -p shop",
        "mkdir -p mysql && cp -pr a b",
        "vector<Token> token",
        "auth=HTTPBasicAuth(",
        "docker run -p 8080:80 login",
        "--password PASSWORD  ann's",
        "--password <word>",
        "--password --quiet",
        "the password of ann",
        "--token-file a.txt",
    ):
        assert redaction.text(line) == line


def test_a_secret_loses_its_first_letter_too() -> None:
    assert redaction.text("csrf_token=u32t4o3tb3gg43") == "csrf_token=[redacted: named csrf_token]"
    assert redaction.text("password=b'tiger99'") == "password=b'[redacted: named password]'"


def test_a_part_of_a_row_is_left_out_where_the_one_before_it_tells() -> None:
    def row(text: str, *parts: str) -> list[str]:
        children = tuple(Value(name=f"[{at}]", type="str", value=part) for at, part in enumerate(parts))
        kept = redaction.value(Value(name="x", type="list", value=text, children=children))
        assert [child.name for child in kept.children] == [child.name for child in children]
        return [child.value for child in kept.children]

    hidden = "[redacted: named password]"
    assert row("[…]", "'--password'", "'tiger99'", "'--quiet'") == ["'--password'", hidden, "'--quiet'"]
    assert row("('password', …)", "'password'", "'tiger99'") == ["'password'", hidden]
    secret = "[redacted: a password]"
    assert row("[…]", "'mysql'", "'-ptiger99'", "'shop'") == ["'mysql'", f"-p{secret}", "'shop'"]
    lines = ("'-----BEGIN EC PRIVATE KEY-----'", "'MHcCAQ'", "'AwEHoUQ='", "'-----END EC PRIVATE KEY-----'", "'done'")
    hidden_lines = row("[…]", *lines)
    assert hidden_lines[1:] == ["[redacted: looks like a private key]"] * 3 + ["'done'"]
    # Names of fields, a flag that has its value with it, and one flag behind another.
    for text, *parts in (
        ("[…]", "'password'", "'email'"),
        ("[…]", "'--password=a'", "'run'"),
        ("[…]", "'--password'", "'-v'"),
    ):
        assert row(text, *parts)[-1] == parts[-1]


WORDS = (
    "password", "api_key", "X-Api-Key", "token", "db_pass", "monkey", "tiger99", "A1b2C3d4E5f6", "'", '"', ": ", "=", "=>", ", ",
    "(", ")", "[", "]", " ", "b'", "--", "\\", "&", "new Foo(", "null",
)  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=8).map("".join))
def test_names_are_found_by_their_hints_as_if_they_were_looked_for_at_every_letter(line: str) -> None:
    everywhere = redaction._BESIDE.sub(redaction._named, redaction._NAMED.sub(redaction._named, line))
    if not re.search(r"[\w.-]{40}", line):  # longer names are cut elsewhere
        assert redaction._unnamed(line) == everywhere


def test_a_long_line_full_of_hints_takes_no_more_than_some_times_what_a_plain_one_takes() -> None:
    def seconds(text: str) -> float:
        return min(timeit.repeat(lambda: redaction.text(text), number=1, repeat=3, timer=time.thread_time))

    plain = seconds("some plain words of a program " * 4000)
    for line in (
        "data-a-b-c-" * 40 + "key",
        '{"data-first-key": 3, "monkey": 4}',
        "mysql is up and curl is not, says the machine here\n",
        "-----END PRIVATE KEY-----\nMIIabc\n",
    ):
        assert seconds(line * (120_000 // len(line))) < 60 * plain
