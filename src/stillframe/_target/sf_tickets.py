"""Questions to the target on their way to an answer, and the answers as pydevd's writer takes them."""

from _pydevd_bundle import sf_patches
from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
from _pydevd_bundle.pydevd_net_command import NetCommand


def answer(request, body=None, error=None):
    response = {
        "type": "response",
        "request_seq": request.seq,
        "command": request.command,
        "success": error is None,
        "body": body if body is not None else {},
    }
    if error is not None:
        response["message"] = error
    return NetCommand(CMD_RETURN, 0, response, is_json=True)


class Ticket:
    """One request that a paused thread is busy with: answered once, by that thread or by the watching one."""

    def __init__(self, db, request):
        self.db = db
        self.request = request
        self.body = {}  # what is known by now; complete enough to be sent once it holds frames
        self.answered = False
        self.unwanted = False  # whoever asked is gone
        self.guard = None  # what is called when the thread cannot be freed of it

    def answer(self, body=None, error=None):
        if not self.answered:
            self.answered = True
            self.db.writer.add_command(answer(self.request, body, error))

    def give_up(self):
        """The thread is stuck in code that cannot be interrupted: send what there is, or say so."""
        if "locals" in self.body:
            self.answer(dict(self.body, locals=list(self.body["locals"]), loaded=[]))
        else:
            self.answer(error="stuck: the thread is in code of the program that does not return")


class Arguments:
    """Stands for a request that nobody made."""

    def __init__(self, arguments):
        self.arguments = arguments


class Unasked(Ticket):
    """What is told of a stop without being asked for, as an event."""

    def __init__(self, db, thread, arguments):
        Ticket.__init__(self, db, Arguments(arguments))
        self.thread = thread

    def answer(self, body=None, error=None):
        if not self.answered:
            self.answered = True
            sf_patches.send_event(self.db, {"kind": "stop", "threadId": self.thread, "stop": body, "error": error})
