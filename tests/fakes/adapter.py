"""A debug adapter that does what a script tells it, on a real pipe: a real process that can misbehave in every way.

`python adapter.py SCRIPT` where SCRIPT is JSON: {"command": [action, ...]} for the requests that behave otherwise than the
well-behaved default. `"*": [...]` happens at the start. Actions:
    {"answer": body}  {"refuse": text}  {"error": format}  {"event": name, "body": {...}}  {"default": true}
    {"raw": text}  {"stderr": text}  {"exit": code}  {"kill": signal}  {"hang": true}  {"chunk": bytes}  {"cut": bytes}
    {"oversize": length}  {"answer_to": number}  {"twice": body}  {"ask": command}  {"stop": reason}
"""

import json
import os
import signal
import sys

OUT = sys.stdout.buffer
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsExceptionInfoRequest": True,
    "supportsModulesRequest": True,
    "exceptionBreakpointFilters": [{"filter": "uncaught", "label": "x"}, {"filter": "raised", "label": "y"}],
}
FRAME = {"id": 7, "name": "main", "line": 3, "column": 1, "source": {"path": "/p/app.x", "name": "app.x"}}
BODIES = {
    "initialize": CAPABILITIES,
    "threads": {"threads": [{"id": 0, "name": "main"}]},
    "stackTrace": {"stackFrames": [FRAME], "totalFrames": 1},
    "scopes": {"scopes": [{"name": "Locals", "variablesReference": 5, "expensive": False}]},
    "variables": {"variables": [{"name": "x", "value": "1", "type": "int", "variablesReference": 0}]},
    "evaluate": {"result": "42", "type": "int", "variablesReference": 0},
}


class Fake:
    """Reads requests, answers by the script."""

    def __init__(self, script):
        self.script = script
        self.seq = 0
        self.chunk = 0
        self.cut = None

    def send(self, message):
        self.seq += 1
        body = json.dumps({"seq": self.seq, **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data):
        if self.cut is not None:
            OUT.write(data[: self.cut])
            OUT.flush()
            os._exit(9)
        for at in range(0, len(data), self.chunk or len(data)):
            OUT.write(data[at : at + (self.chunk or len(data))])
            OUT.flush()

    def event(self, name, body=None):
        self.send({"type": "event", "event": name, "body": body or {}})

    def answer(self, request, body, success=True, **more):
        answered = {
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": success,
        }
        self.send({**answered, "body": body, **more})

    def default(self, request):
        """What a good adapter does."""
        command = request["command"]
        body = BODIES.get(command, {})
        if command == "setBreakpoints":
            asked = request["arguments"]["breakpoints"]
            body = {"breakpoints": [{"id": 100 + i, "verified": True, "line": b["line"]} for i, b in enumerate(asked)]}
        self.answer(request, body)
        if command in ("launch", "attach"):
            self.event("initialized")
        elif command == "configurationDone":
            self.event("stopped", {"reason": "breakpoint", "threadId": 0, "hitBreakpointIds": [100]})
        elif command == "continue":
            self.event("exited", {"exitCode": 3})
            self.event("terminated")
        elif command == "disconnect":
            sys.exit(0)

    def act(self, action, request):
        (kind, value), *rest = action.items()
        if kind == "answer":
            self.answer(request, value)
        elif kind == "refuse":
            self.answer(request, {}, success=False, message=value)
        elif kind == "error":
            self.answer(request, {"error": {"id": 1, "format": value, "variables": {"name": "X"}}}, success=False)
        elif kind == "event":
            self.event(value, dict(rest).get("body"))
        elif kind == "default":
            self.default(request)
        elif kind == "twice":
            self.answer(request, value)
            self.answer(request, {"other": True})
        elif kind == "answer_to":
            self.send({"type": "response", "request_seq": value, "command": "x", "success": True})
        elif kind == "ask":
            self.send({"type": "request", "command": value, "arguments": {}})
        elif kind == "oversize":
            self.write(b"Content-Length: %d\r\n\r\n" % value)
        else:
            self.misbehave(kind, value)

    def misbehave(self, kind, value):
        if kind == "raw":
            self.write(value.encode("latin-1"))
        elif kind == "stderr":
            sys.stderr.write(value)
            sys.stderr.flush()
        elif kind == "exit":
            os._exit(value)
        elif kind == "kill":
            os.kill(os.getpid(), value)
        elif kind == "hang":
            signal.pause()
        elif kind == "chunk":
            self.chunk = value
        elif kind == "cut":
            self.cut = value

    def run(self):
        for action in self.script.get("*", ()):
            self.act(action, {"seq": 0, "command": "*"})
        while True:
            length = 0
            while (line := sys.stdin.buffer.readline().strip()) or not length:
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
                elif not line and not length:
                    return
            request = json.loads(sys.stdin.buffer.read(length))
            if request["type"] != "request":
                sys.stderr.write("answered: " + json.dumps(request) + "\n")
                sys.stderr.flush()
                continue
            for action in self.script.get(request["command"], [{"default": True}]):
                self.act(action, request)


if __name__ == "__main__":
    Fake(json.loads(sys.argv[1])).run()
