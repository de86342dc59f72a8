"""The text that, run inside a foreign Python process, connects it to our debugger."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
BEGUN, JOINED = b"begun", b"joined"  # what it tells, besides the reason why it failed

_TEXT = """
import _socket
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
try:
    line.connect({report!r})
    line.send({begun!r})
    path = {path!r}
    names = {{"__name__": "_stillframe_join", "__file__": path}}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    try:
        names["join"]{arguments!r}
    except ImportError as error:
        line.send(str(error).encode()[:500])
    else:
        line.send({joined!r})
except OSError:
    pass
finally:
    line.close()
"""


def injection(report, host, port, server_token, client_token, vendored, pycache):
    """One expression without quotes, as the command line needs it; it tells at `report`, a unix address, how far it is.

    Nobody there means that its time was over before it got to run; OSError later that we are gone: never mind.
    """
    arguments = (host, int(port), server_token, client_token, vendored, pycache)
    path = os.path.join(HERE, "join.py")
    text = _TEXT.format(path=path, arguments=arguments, report=report, begun=BEGUN, joined=JOINED)
    body = "def _join():\n" + "".join("    %s\n" % line for line in text.strip().splitlines()) + "_join()\n"
    return "exec(bytes([%s]).decode(), {})" % ",".join(str(byte) for byte in body.encode())
