"""Code that brings our debugger up inside a foreign process which already runs: executed there by `inject.injection`."""

import json
import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def join(host, port, server_token, client_token, vendored, pycache):
    """Connect this process to the debugger that waits at host:port; the program goes on meanwhile."""
    boot = _load_boot()
    quiet = os.environ.get("PYDEVD_DISABLE_FILE_VALIDATION")
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else pydevd 1.8.22 warns about frozen modules on stderr
    try:
        boot.import_engine(vendored, pycache)
    finally:
        if quiet is None:
            del os.environ["PYDEVD_DISABLE_FILE_VALIDATION"]
        else:
            os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = quiet
    from _pydevd_bundle import sf_engine, sf_requests
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    db = get_global_debugger()
    if db is not None and not db.pydb_disposed:
        _refuse(host, port, "process %d is under another debugger already" % os.getpid())
        return
    values = {"STILLFRAME_TOKENS": "%s:%s" % (server_token, client_token), "STILLFRAME_ON_EOF": "resume"}
    settings = sf_engine.Settings(values, boot.__file__)
    sf_requests.install(settings, None)
    sf_engine.join(host, port, settings)


def _load_boot():
    """Our start-up script as a module, without leaving a .pyc beside it."""
    import types

    path = os.path.join(HERE, "pydevd.py")
    module = types.ModuleType("_stillframe_boot")
    module.__file__ = path
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def _refuse(host, port, message):
    event = {"seq": 1, "type": "event", "event": "stillframe", "body": {"kind": "refused", "message": message}}
    data = json.dumps(event).encode()
    try:
        with socket.create_connection((host, port), 10) as line:
            line.sendall(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    except OSError:  # nobody there to be told
        sys.stderr.flush()
