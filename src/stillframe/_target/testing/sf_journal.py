"""What a test runner's own process tells us: lines of JSON in a file, written whole, so that a kill loses none of them."""

import json
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_SETTINGS = "STILLFRAME_TEST"


class Journal:
    """The file, and what was asked for. Where nobody asked, nothing is written."""

    def __init__(self, asked):
        self.asked = asked
        self.pid = os.getpid()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._fd = os.open(asked["journal"], flags, 0o600) if asked else -1

    @classmethod
    def take(cls):
        """Read our variable and take ourselves out of sight, so that tests see the path and environment of a plain run."""
        asked = json.loads(os.environ.pop(_SETTINGS, "null"))
        sys.path[:] = [entry for entry in sys.path if entry != _HERE]
        if asked is not None:
            if asked["path"] is None:
                os.environ.pop("PYTHONPATH", None)
            else:
                os.environ["PYTHONPATH"] = asked["path"]
        return cls(asked)

    def tell(self, kind, **said):
        """One line; a process forked off by a test has nothing to say."""
        if self._fd < 0 or os.getpid() != self.pid:
            return
        line = json.dumps(dict(said, kind=kind), ensure_ascii=True, default=repr)
        os.write(self._fd, line.encode("ascii") + b"\n")

    def hello(self, runner, version):
        number = ".".join(str(part) for part in sys.version_info[:3])
        self.tell("hello", runner=runner, version=version, python=number, executable=sys.executable, pid=self.pid)
