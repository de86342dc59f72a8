"""The text that, run inside a foreign Python process, connects it to our debugger."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))

_TEXT = """
path = {path!r}
names = {{"__name__": "_stillframe_join", "__file__": path}}
with open(path, encoding="utf-8") as file:
    exec(compile(file.read(), path, "exec"), names)
try:
    names["join"]{arguments!r}
except OSError:
    pass
"""


def injection(host, port, server_token, client_token, vendored, pycache):
    """One expression without quotes, as gdb's command line needs it. OSError there means: we are gone, never mind."""
    arguments = (host, int(port), server_token, client_token, vendored, pycache)
    text = _TEXT.format(path=os.path.join(HERE, "join.py"), arguments=arguments)
    body = "def _join():\n" + "".join("    %s\n" % line for line in text.strip().splitlines()) + "_join()\n"
    return "exec(bytes([%s]).decode(), {})" % ",".join(str(byte) for byte in body.encode())
