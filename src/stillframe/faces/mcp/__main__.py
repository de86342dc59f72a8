"""The first steps of what speaks MCP: the host of all pumps, elected and listening before it loads what is slow, or with
`--http` a server of its own.

Run by its path, isolated (`python -I`), as the daemon is; the package is then found beside this file.
"""

import gc
import os
import sys

if not __package__:
    parent = os.path.realpath(__file__).rsplit("/", 4)[0]
    packages = (at for at, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
    sys.path.insert(next(packages, len(sys.path)), parent)

from stillframe.faces.cli import rendezvous
from stillframe.faces.cli.catalogue import HASH, VERSION
from stillframe.faces.cli.mcp_verb import EXIT_MISSING, MISSING
from stillframe.faces.daemon.__main__ import leave_the_caller, report
from stillframe.faces.daemon.lifecycle import Claim, Refused


def main(argv: list[str]) -> int:
    import importlib.util

    ready = next((int(word.partition("=")[2]) for word in argv if word.startswith("--ready-fd=")), None)
    leave_the_caller(ready)
    if importlib.util.find_spec("mcp") is None:
        report(ready, MISSING if ready is not None else f"error adapter_missing: {MISSING}")
        return EXIT_MISSING
    if ready is None:
        from stillframe.faces.mcp.http import main as serve_http

        return serve_http(argv)
    try:
        claim = Claim.take(rendezvous.mcp_post(VERSION, HASH))
    except Refused as refused:
        report(ready, str(refused))
        return 1
    try:
        report(ready, "ready")  # clients that come now wait in the line; what follows takes a second
        gc.disable()  # as the daemon does, until `spare_the_loaded`: a twelfth of that second
        from stillframe.faces.mcp.serve import serve

        serve(claim)
    finally:
        claim.release()
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # everything is closed; taking the interpreter apart would only keep the process around
