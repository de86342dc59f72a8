"""Requests that pydevd trips over or does not know: refused, each with an answer.

pydevd 1.8.22 ends its reader at an error in one (a pause of thread 0), and the line with it; and for a command of the protocol
that it has no code for it prints a line into the program's output and never answers.
"""

import json

from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
from _pydevd_bundle.pydevd_net_command import NetCommand
from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor


def _refusal(seq, command, message):
    response = {"type": "response", "request_seq": seq, "command": command, "success": False, "body": {}}
    return NetCommand(CMD_RETURN, 0, dict(response, message=message), is_json=True)


def _answering(process):
    def process_net_command_json(self, db, text, send_response=True):
        try:
            return process(self, db, text, send_response)
        except Exception as error:
            said = json.loads(text)
            message = "internal: %s: %s" % (type(error).__name__, error)
            db.writer.add_command(_refusal(said.get("seq", -1), said.get("command"), message))

    return process_net_command_json


def _missing(self, name):
    """Stands for the method of a command that pydevd has none for; it asks by name."""
    if not (name.startswith("on_") and name.endswith("_request")):
        raise AttributeError(name)
    return lambda db, request: _refusal(
        request.seq, request.command, "unsupported: debugpy has no %s" % request.command
    )


def install():
    """Change pydevd's class, once per process."""
    kind = PyDevJsonCommandProcessor
    if "__getattr__" not in vars(kind):
        kind.__getattr__ = _missing
        kind.process_net_command_json = _answering(kind.process_net_command_json)
