"""Bad inputs: what comes from outside, changed at random, does no worse than a named error. In a process of its own, whose
memory is then that of the readers: `python -m soak.fuzz SECONDS` tells its counts as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stillframe.adapters import launchjson
from stillframe.adapters.launchtypes import configured
from stillframe.adapters.trust import trust
from stillframe.backends.cdp import sourcemaps
from stillframe.errors import ProtocolError, StillframeError
from stillframe.faces.daemon.server import REQUEST_BYTES, Refusal, call_from, read_request
from stillframe.faces.daemonline import CHUNK, OtherVersion, _read_frames
from stillframe.model.plans import Caller
from stillframe.wire import dap, websocket
from tests.backends.mapwriter import a_map, as_section, encoded

from .ground import Ground
from .table import Row, at_most, none_of

_TOKENS = (
    b"-1", b"0", b"99999999999999999999", b"1e999", b"NaN", b"null", b"true", b'"', b"\\", b"{}", b"[]", b"[" * 500,
    b'{"a":' * 200, b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\r\n\r\n", b"\n", b"Content-Length: 7\r\n\r\n", b"//",
    b"/*", b"${", b"}", b"\xef\xbb\xbf", "٣".encode(), b"\x7f" + b"\xff" * 8, b";" * 50, b"g" * 40,
)  # fmt: skip
_FEWEST = 300
"""Cases of each reader, however short the time."""


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds, changed in a few places: bytes, pieces, and words that such formats trip over."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((0, 1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 2, 8, 40)))
        match chance.randrange(6):
            case 0:
                data[at:to] = bytes([chance.randrange(256)])
            case 1:
                data[at:to] = b""
            case 2:
                data[at:at] = data[at:to] * chance.choice((1, 2, 30))
            case 3:
                data[at:to] = chance.choice(_TOKENS)
            case 4:
                other = chance.choice(seeds)
                data[at:] = other[min(at, len(other)) :]
            case _:
                del data[at:]
    return bytes(data)


def _pieces(chance: random.Random, data: bytes) -> list[bytes]:
    """The same bytes, as a pipe may bring them."""
    size = chance.choice((1, 7, 100, len(data) or 1))
    return [data[at : at + size] for at in range(0, len(data), size)]


@dataclass(frozen=True)
class Reader:
    """Something that reads what comes from outside, and what it may say of it."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[random.Random, bytes], None]
    errors: tuple[type[Exception], ...]


def _dap(chance: random.Random, data: bytes) -> None:
    decoder = dap.Decoder(strict=chance.random() < 0.5)
    for each in _pieces(chance, data):
        for message in decoder.feed(each):
            dap.encode(message)


def _websocket(chance: random.Random, data: bytes) -> None:
    if chance.random() < 0.3:
        upgrade = websocket.Upgrade("127.0.0.1:9229", "/secret")
        for each in _pieces(chance, data):
            upgrade.feed(each)
        return
    decoder = websocket.Decoder(limit=1 << 20)
    for each in _pieces(chance, data):
        decoder.feed(each)


def _requests(chance: random.Random, data: bytes) -> None:
    async def served() -> None:
        reader = asyncio.StreamReader(limit=REQUEST_BYTES)
        reader.feed_data(data)
        reader.feed_eof()
        while True:
            call_from(await read_request(reader))

    _LOOP.run_until_complete(served())


def _replies(chance: random.Random, data: bytes) -> None:
    async def heard() -> None:
        reader = asyncio.StreamReader(limit=CHUNK)
        reader.feed_data(data)
        reader.feed_eof()
        await _read_frames(reader, None, chance.random() < 0.5)

    _LOOP.run_until_complete(heard())


def _launch_json(_chance: random.Random, data: bytes) -> None:
    folder = Path.cwd()
    (folder / ".vscode" / "launch.json").write_bytes(data)
    file = launchjson.find(str(folder))
    trust([file.brought])
    names = [each.get("name") for each in (*file.configurations, *file.compounds)]
    for name in names:
        if isinstance(name, str):
            try:
                configured(file, name, Caller(str(folder), {"HOME": "/h"}))
            except StillframeError:
                continue


def _source_map(_chance: random.Random, data: bytes) -> None:
    found = sourcemaps.parse(data, "/app/out.js")
    for line in (0, 1, 7):
        found.original(line + 1, 3)
    found.generated("/app/s0.ts", 2)


_LOOP = asyncio.new_event_loop()
_MESSAGES: tuple[dap.Message, ...] = (
    {"seq": 1, "type": "event", "event": "stopped", "body": {"reason": "step", "threadId": 1, "text": "ä\U0001f600"}},
    {
        "seq": 2,
        "type": "response",
        "request_seq": 1,
        "command": "x",
        "success": True,
        "body": {"a": [1, 2.5, None, {"b": "\\"}]},
    },
)
_REQUEST = {
    "v": 1, "op": "status", "args": {"a": [1]}, "cwd": "/p", "env": {"A": "b"}, "session": "s", "allow": "read", "umask": 18,
    "budget": 4000, "keep": True,
}  # fmt: skip
_UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: bm8=\r\n\r\n"
_CONFIGURATIONS = {
    "version": "0.2.0",
    "configurations": [
        {"name": "a", "type": "debugpy", "program": "${file}", "args": ["x", "${env:HOME}"], "env": {"A": "1"}},
        {"name": "b", "type": "node", "request": "attach", "port": 9229, "skipFiles": ["<node_internals>/**"]},
        {"name": "c", "type": "cppdbg", "request": "launch", "program": "${workspaceFolder}/a", "linux": {"args": []}},
        {"name": "d", "type": "go", "request": "launch", "program": ".", "preLaunchTask": "make", "envFile": "${x}"},
    ],
    "compounds": [{"name": "all", "configurations": ["a", "b"]}],
}  # fmt: skip
_MAP = a_map(encoded([[(0, 0, 0, 0), (5, 1, 2, 3, 1)], [], [(2,), (9, 2, 30, 4)]]))
READERS = (
    Reader("DAP", [b"".join(map(dap.encode, _MESSAGES)), b"noise\n" + dap.encode(_MESSAGES[0])], _dap, (ProtocolError,)),
    Reader(
        "WebSocket",
        [b"\x81\x05hello\x82\x02ab", b"\x01\x03abc\x89\x01?\x80\x02de", b"\x81\x7e\x01\x00" + b"x" * 256, _UPGRADED],
        _websocket,
        (ProtocolError,),
    ),
    Reader(
        "the daemon's requests",
        [json.dumps(_REQUEST).encode() + b"\n", json.dumps(_REQUEST).encode() + b'\n{"v":1}\n'],
        _requests,
        (Refusal, ConnectionResetError),
    ),
    Reader(
        "the daemon's replies",
        [b"a0\no5\nhelloe0\nx0\n", b"h0\nv5\n0.1.0", b"n0\n", b"a0\no12\n{\"ok\":true}\nx3\n"],
        _replies,
        (StillframeError, OtherVersion),
    ),
    Reader(
        "launch.json",
        [json.dumps(_CONFIGURATIONS, indent=1).encode(), b'// c\n{"configurations": [/* x */],}'],
        _launch_json,
        (StillframeError,),
    ),
    Reader(
        "source maps",
        [json.dumps(_MAP).encode(), json.dumps({"version": 3, "sections": [as_section(_MAP, 3, 0)]}).encode()],
        _source_map,
        (sourcemaps.BrokenMap,),
    ),
)  # fmt: skip


def tried(reader: Reader, seconds: float, seed: int) -> tuple[int, list[str]]:
    """How many cases there was time for, and what was raised that nobody promised."""
    chance, until, cases, found = random.Random(seed), time.monotonic() + seconds, 0, []
    while cases < _FEWEST or (cases % 100 or time.monotonic() < until):
        cases += 1
        data = mutated(chance, reader.seeds)
        try:
            reader.read(chance, data)
        except reader.errors:
            continue
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(at.filename).name}:{at.lineno}"
            found.append(f"{reader.name}: {type(error).__name__}: {str(error)[:80]} at {place} of {data[:200]!r}")
    return cases, found


def main(seconds: float) -> None:
    # The same cases in every run, of which a longer one has more; others where new ones are looked for, as in the tests.
    seed = random.randrange(1 << 32) if os.environ.get("STILLFRAME_EXAMPLES") == "new" else 5
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        (Path(folder) / ".vscode").mkdir()
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder  # where trust is kept
        told = {each.name: tried(each, seconds / len(READERS), seed) for each in READERS}
        os.chdir("/")
    print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "told": told}))


def framings(ground: Ground) -> list[Row]:
    """B1: the readers of all that comes from outside, each with as many cases as there is time for."""
    words = [sys.executable, "-m", "soak.fuzz", str(ground.seconds * 0.85)]
    root = Path(__file__).parent.parent
    said = subprocess.run(words, cwd=root, stdout=subprocess.PIPE, check=True, timeout=ground.seconds * 10 + 120).stdout
    found = json.loads(said)
    rows = [
        none_of(f"B1 {name}", f"{cases:,} cases", faults, "uncaught exceptions")
        for name, (cases, faults) in found["told"].items()
    ]
    return [*rows, at_most("B1 memory of all readers", "with what they import", found["peak"], 64, "MB")]


if __name__ == "__main__":
    main(float(sys.argv[1]))
