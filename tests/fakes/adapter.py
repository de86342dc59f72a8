"""A debug adapter that does what a script tells it, on a real pipe: a real process that can misbehave in every way.

`python adapter.py SCRIPT [WAY]` where SCRIPT is JSON: {"command": [action, ...]} for the requests that behave otherwise than the
well-behaved default. `"*": [...]` happens at the start. With `__child` in its start it is a child, whose script is
that of `"child"`. WAY is how it is reached: its own standard input and output, else `listen:PORT`, `unix:PATH`, `print` (a port
that it prints) or `dial:PORT`; where it listens, each connection is a session of its own. Actions:
    {"answer": body}  {"refuse": text}  {"error": format}  {"event": name, "body": {...}}  {"default": true}
    {"raw": text}  {"stderr": text}  {"exit": code}  {"kill": signal}  {"hang": true}  {"chunk": bytes}  {"cut": bytes}
    {"oversize": length}  {"answer_to": number}  {"twice": body}  {"ask": command, "arguments": {...}}
    {"await": true} waits for the answer to what was asked and tells it as output  {"echo": true} tells the arguments as output
"""

import json
import os
import signal
import socket
import sys
import threading

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

    def __init__(self, script, incoming, outgoing):
        self.script = script
        self.incoming = incoming
        self.outgoing = outgoing
        self.seq = 0
        self.chunk = 0
        self.cut = None

    def send(self, message):
        self.seq += 1
        body = json.dumps({"seq": self.seq, **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data):
        if self.cut is not None:
            self.outgoing.write(data[: self.cut])
            self.outgoing.flush()
            os._exit(9)
        for at in range(0, len(data), self.chunk or len(data)):
            self.outgoing.write(data[at : at + (self.chunk or len(data))])
            self.outgoing.flush()

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
            os._exit(0)

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
        elif kind == "refuse_to":
            self.answer({"seq": value, "command": "x"}, {}, success=False, message=dict(rest)["message"])
        elif kind == "ask":
            self.send({"type": "request", "command": value, "arguments": dict(rest).get("arguments") or {}})
        elif kind == "echo":
            told = json.dumps(request.get("arguments"), sort_keys=True)
            self.event("output", {"category": "console", "output": f"{request['command']} {told}\n"})
        elif kind == "await":
            self.event("output", {"category": "console", "output": "answered " + json.dumps(self.read_answer())})
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

    def read(self):
        """The next message; None at the end."""
        length = 0
        while (line := self.incoming.readline().strip()) or not length:
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
            elif not line and not length:
                return None
        return json.loads(self.incoming.read(length))

    def read_answer(self):
        message = self.read()
        return {name: message[name] for name in ("success", "body")}

    def run(self):
        for action in self.script.get("*", ()):
            self.act(action, {"seq": 0, "command": "*"})
        while (request := self.read()) is not None:
            if request["type"] != "request":
                sys.stderr.write("answered: " + json.dumps(request) + "\n")
                sys.stderr.flush()
                continue
            if "__child" in (request.get("arguments") or {}):
                self.script = self.script.get("child", {})
            for action in self.script.get(request["command"], [{"default": True}]):
                self.act(action, request)


def serve(script, listener):
    while True:
        line = listener.accept()[0].makefile("rwb")
        threading.Thread(target=Fake(script, line, line).run, daemon=True).start()


def main(script, way="stdio"):
    script = json.loads(script)
    kind, _, where = way.partition(":")
    if kind == "stdio":
        Fake(script, sys.stdin.buffer, sys.stdout.buffer).run()
    elif kind == "dial":
        line = socket.create_connection(("127.0.0.1", int(where))).makefile("rwb")
        Fake(script, line, line).run()
    elif kind == "unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        listener.listen()
        serve(script, listener)
    else:
        listener = socket.create_server(("127.0.0.1", int(where or 0)))
        print(f"fake listens at 127.0.0.1:{listener.getsockname()[1]}", flush=True)
        serve(script, listener)


if __name__ == "__main__":
    main(*sys.argv[1:])
