"""A Python command line taken apart, and put together again so that it runs through our start-up script.

Imports nothing but the standard library: `follow/sitecustomize.py` reads it in processes that are not debugged yet.
"""

import os
import re

PYTHON = re.compile(r"^python(\d+(\.\d+)?)?[dt]?(\.exe)?$")
FOLLOW = "STILLFRAME_FOLLOW"
"""The variable that names the debugger, as host:port or host:port:alone, to a Python that comes up behind another program."""
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "follow")
"""What is put first on PYTHONPATH there, so that the Python finds our sitecustomize."""


class Command:
    """A python command line taken apart: interpreter words, then a file, `-m` and a module, or `-c` and code."""

    def __init__(self, interpreter, kind, what, arguments):
        self.interpreter = interpreter
        self.kind = kind
        self.what = what
        self.arguments = arguments

    @classmethod
    def parse(cls, words):
        """None for what must be left as it is: no python, its REPL, a script from stdin, `--version` and the like."""
        if not words or not PYTHON.match(os.path.basename(words[0])):
            return None
        at = 1
        while at < len(words) and words[at].startswith("-") and words[at] != "-":
            word = words[at]
            if word.startswith("--"):
                if word != "--check-hash-based-pycs":
                    return None
                at += 2
                continue
            found = cls._in_cluster(words, at)
            if found is not None:
                return found
            if any(letter in word for letter in "hV?i") and not re.match(r"^-[a-zA-Z]*[WX]", word):
                return None
            at += 2 if word[-1] in "WX" and not re.match(r"^-[a-zA-Z]*?[WX].", word) else 1
        if at >= len(words) or words[at] == "-":
            return None
        return cls(words[:at], "file", words[at], words[at + 1 :])

    @classmethod
    def _in_cluster(cls, words, at):
        """`-c` and `-m` may stand behind other letters and hold their value: `-qc`, `-Im`, `-mname`."""
        found = re.match(r"^-([^WXcm]*)([cm])(.*)$", words[at], re.DOTALL)
        if found is None:
            return None
        before, kind, value = found.groups()
        rest = words[at + 1 :]
        if not value:
            if not rest:
                return None
            value, rest = rest[0], rest[1:]
        return cls(words[:at] + (["-" + before] if before else []), kind, value, rest)

    def is_ours(self):
        return self.kind == "file" and os.path.basename(self.what) == "pydevd.py"

    def through(self, boot, host, port, parent, children=True):
        """The command line that runs the same through our script."""
        words = [boot, "--json-dap-http", "--client", host, "--port", str(port)]
        words += ["--ppid", str(parent), "--skip-notify-stdin"] + (["--multiprocess"] if children else [])
        words += ["--module"] if self.kind == "m" else []
        words += ["--file"] + (["-c"] if self.kind == "c" else []) + [self.what]
        return self.interpreter + words + self.arguments
