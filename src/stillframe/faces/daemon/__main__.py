"""The daemon's first steps: claim the place, listen, and only then load what is slow.

Run by its path, isolated (`python -I`), so that neither the caller's directory nor its PYTHONPATH can reach in; the
package is then found beside this file.
"""

import gc
import os
import sys

if not __package__:
    parent = os.path.realpath(__file__).rsplit("/", 4)[0]
    packages = (at for at, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
    sys.path.insert(next(packages, len(sys.path)), parent)

from stillframe.faces.cli.usage import USAGE
from stillframe.faces.daemon.lifecycle import Claim, Refused


def main(argv: list[str]) -> int:
    gc.disable()  # what is loaded stays: to look through it again and again is lost time, until `spare_the_loaded`
    ready = next((int(word.partition("=")[2]) for word in argv if word.startswith("--ready-fd=")), None)
    leave_the_caller(ready)
    try:
        claim = Claim.take()
    except Refused as refused:
        report(ready, str(refused))
        return 1
    try:
        from stillframe.faces.daemon.serve import serve
        from stillframe.faces.daemon.stack import real

        serve(claim, on_ready=lambda: report(ready, "ready"), opened=lambda: real(claim.directory))
    except BaseException as error:
        from stillframe.errors import UsageError

        claim.release()  # before it is told: the client looks then whether somebody else listens, and must not find us
        if isinstance(error, UsageError):  # of the settings: that is for whoever made them
            report(ready, f"{USAGE}{error.message}")
            return 1
        report(ready, f"the daemon could not start: {type(error).__name__}: {error}")
        raise
    claim.release()
    return 0


def leave_the_caller(ready: int | None) -> None:
    """Be in a session of our own, where the client that started us could not see to that: nobody's Ctrl-C is meant for us."""
    if ready is not None and os.getsid(0) != os.getpid():
        os.setsid()


def report(ready: int | None, words: str) -> None:
    """Tell the client that started us how it went, once."""
    if ready is None:
        if words != "ready":
            print(words, file=sys.stderr)
        return
    try:
        os.write(ready, words.encode("utf-8", "backslashreplace") + b"\n")
        os.close(ready)
    except OSError:
        pass  # that client is gone, or was told already


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # everything is closed; taking the interpreter apart would only keep the process around
