"""Watched data, the point of execution and the way back in time, which gdb's protocol has no requests for: runs inside gdb."""

import re
import sys

import gdb
import sf_gdb_frames as frames
import sf_gdb_memory as memory
import sf_gdb_spoken as spoken
from gdb.dap import breakpoint as dap_breakpoint
from gdb.dap import events as dap_events
from gdb.dap import frames as dap_frames
from gdb.dap import startup as dap_startup
from gdb.dap import state as dap_state
from sf_gdb_memory import Unable

dap_server = sys.modules["gdb.dap.server"]
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+$")
_CLASSES = {"write": gdb.WP_WRITE, "read": gdb.WP_READ, "readWrite": gdb.WP_ACCESS}
_WATCHED = ("wpt", "hw-awpt", "hw-rwpt")
"""What the watchpoint is called that a stop tells of."""
_BACKWARDS = {"step-back": "next", "reverse-continue": "continue"}
_FULL = "the machine has no place left to watch %s: unbreak another watch"
_WRITES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|\w\s*\(")
"""What an assignment or a call has in it."""
_EXITS = (60, 231)
"""The system calls by which a program ends on x86-64."""
_CANNOT = "gdb cannot record `%s`: dbg raw 'record stop' lets the program run on unrecorded"
_KEPT = 1000000
"""So many instructions are recorded at the most; the oldest are forgotten first."""


class Machine(object):
    """What goes beyond lines and values in one program."""

    def __init__(self):
        self.records = False  # begins to record where the program's own code begins
        self.entry = False  # and holds it there
        self.recording = False
        self.unrecordable = None  # the instruction that it is held at, since that cannot be recorded
        self.replaying = False  # it was gone back, so that the way forward is known, too
        self.details = {}
        self.counts = {}  # breakpoint to its stops so far
        self.hit = set()  # those that made the last one
        self.texts = {}  # watchpoint to what it watches
        self.calls = {
            "watch": self.watch,
            "hold": self.hold,
            "jump": self.jump,
            "move": self.move,
            "address": lambda a: {"address": hex(memory.address_of(frames.frame_of(a["frameId"]), str(a["text"])))},
            "memory": lambda a: memory.read(int(a["address"], 0), int(a["count"])),
            "poke": self.poke,
            "entry": lambda a: {"address": memory.entry_of(str(a["text"]))},
            "disassemble": lambda a: memory.instructions(int(a["address"], 0), int(a["offset"]), int(a["count"])),
        }

    # Watched data

    def watch(self, arguments):
        frames.frame_of(arguments["frameId"])
        text, kind = str(arguments["text"]), _CLASSES[arguments["how"]]
        before = dap_ids()
        try:
            with dap_breakpoint.suppress_new_breakpoint_event():
                made = _made(text, kind)
                if made.type == gdb.BP_WATCHPOINT:
                    made.delete()
                    raise Unable("%s is no data of 1 to 32 bytes in memory, which the machine could watch" % text)
                if arguments.get("condition"):
                    made.condition = str(arguments["condition"])
        except gdb.error as error:
            _forget(dap_ids() - before)
            raise Unable(_FULL % text if "too many" in str(error) else error)
        self.texts[made.number] = text
        return {"number": made.number}

    def hold(self, arguments):
        """A breakpoint on an instruction, by its address and perhaps so many bytes behind it."""
        text, sign, offset = str(arguments["address"]).partition("+")
        address = int(text, 0) + (int(offset) if sign else 0)
        if memory.read(address, 1)["unreadableBytes"]:
            raise Unable("no memory can be read at %s" % arguments["address"])
        begins = memory.inside_of(address)
        if begins is not None:
            raise Unable("0x%x is in the middle of an instruction, which begins at 0x%x" % (address, begins))
        try:
            with dap_breakpoint.suppress_new_breakpoint_event():
                made = gdb.Breakpoint("*%d" % address)
                if arguments.get("condition"):
                    made.condition = str(arguments["condition"])
        except gdb.error as error:
            raise Unable(error)
        return {"number": made.number}

    def unwatch(self, arguments):
        self.texts.pop(arguments["number"], None)
        _forget({arguments["number"]})
        return {}

    def poke(self, arguments):
        self.check_write("x = y")
        return memory.write(int(arguments["address"], 0), arguments["data"], bool(arguments.get("partial")))

    def check_write(self, text):
        """Refuse what would change a recorded program: gdb 18.1 crashes as soon as that is gone back over."""
        if self.recording and _WRITES.search(text) and self._still_records():
            raise Unable(
                "a recorded program cannot be written to, nor run a call: gdb would not survive to go back over it"
            )

    # Where the program goes on

    def jump(self, arguments):
        """Go on at another line of the innermost call's function."""
        dap_state.set_thread(int(arguments["threadId"]))
        frame, line = gdb.newest_frame(), int(arguments["line"])
        frame.select()
        try:
            found = spoken.line(arguments["file"], line)
        except gdb.error as error:
            raise Unable(error)
        here = _identity(frame.function())
        at = next(
            (each.pc for each in found if each.line == line and _identity(memory.function_at(each.pc)) == here), None
        )
        if at is None:
            raise Unable("line %d is none of %s" % (line, frames.function_name(frame)))
        gdb.execute("set var $pc = %d" % at, to_string=True)
        dap_frames._clear_frame_ids(None)
        return {}

    def move(self, arguments):
        """Back in time; gdb goes forward again with the next order."""
        dap_state.set_thread(int(arguments["threadId"]))
        try:
            gdb.execute("set exec-direction reverse", to_string=True)
        except gdb.error:
            raise Unable("nothing is recorded here")
        self.replaying = True
        dap_events.exec_and_expect_stop(_BACKWARDS[arguments["how"]] + " &")
        return {}

    def goes_on(self):
        """The program is about to go on, forward; refused where gdb would only say so when it has told that it goes on."""
        if not self._still_records():
            return
        if self.unrecordable:
            raise dap_startup.DAPException(_CANNOT % self.unrecordable)
        gdb.execute("set exec-direction forward", to_string=True)
        if not _is_replaying() and _is_leaving():
            self.recording = False  # only without its recording it goes on to its end
            gdb.execute("record stop", to_string=True)

    def _still_records(self):
        """Somebody may have ended the recording by a command of gdb's."""
        self.recording = self.recording and "No record" not in gdb.execute("info record", to_string=True)
        return self.recording

    # Stops

    def stopped(self, event):
        """Take note of a stop before gdb's own code tells it."""
        self.unrecordable = None
        self.details = getattr(event, "details", None) or {}
        before, self.counts = self.counts, {each.number: each.hit_count for each in gdb.breakpoints()}
        self.hit = {number for number, count in self.counts.items() if count > before.get(number, 0)}

    def judged(self, body):
        """A `stopped` body with what is known of watched data and of the recording; None for a stop that nobody asked for."""
        if self.records and body.get("reason") == "breakpoint":
            return self._begun(body)
        if gone := self._gone():
            notes = ["%s is gone: its call has returned" % self.texts.pop(each) for each in gone]
            return dict(
                body, reason="data breakpoint", hitBreakpointIds=gone, stillframe={"gone": gone, "notes": notes}
            )
        reason = self.details.get("reason", "")
        if reason.endswith("watchpoint-trigger"):
            return dict(body, hitBreakpointIds=self._that_stopped(body), stillframe={"notes": self._change()})
        if self.recording and not reason and body.get("reason") == "stopped":  # gdb 18.1 tells neither of them
            return dict(body, **self._at_an_end())
        return dict(body, hitBreakpointIds=self._that_stopped(body)) if body.get("hitBreakpointIds") else body

    def _that_stopped(self, body):
        """gdb 18.1 names those breakpoints, too, that were judged and made no stop: a condition that is false, data that stayed
        as it was. One that was for once only is gone by now."""
        named = body.get("hitBreakpointIds") or []
        return [each for each in named if each in self.hit or each not in self.counts] or named

    def _at_an_end(self):
        """The program is held since there is nothing recorded further on, or since gdb cannot record what comes next."""
        if self.replaying:
            self.replaying = _is_replaying()
            return {"reason": "no-history", "stillframe": {"notes": ["this is where the recording %s" % self._edge()]}}
        if _is_leaving():
            note = "the program is about to end, and `continue` ends it; until then it can be gone back"
            return {"reason": "about to exit", "stillframe": {"notes": [note]}}
        self.unrecordable = _instruction()
        return {"reason": "recording ended", "stillframe": {"notes": [_CANNOT % self.unrecordable]}}

    def _edge(self):
        return "begins" if self.replaying else "ends"

    def _gone(self):
        """Watchpoints that gdb has removed by itself, since the call that their data belonged to has returned."""
        kept = {each.number for each in gdb.breakpoints() if not each.temporary}
        return [each for each in self.texts if each not in kept]

    def _begun(self, body):
        """The program is about to run code of its own: from here on it can be gone back."""
        self.records = False
        gdb.execute("set record full insn-number-max %d" % _KEPT, to_string=True)
        gdb.execute("set record full stop-at-limit off", to_string=True)
        try:
            gdb.execute("record full", to_string=True)
        except gdb.error as error:
            return dict(body, reason="entry", stillframe={"notes": ["nothing is recorded: %s" % error]})
        self.recording = True
        wanted = [each for each in body.get("hitBreakpointIds") or () if each in dap_ids()]
        if wanted:
            return dict(body, hitBreakpointIds=wanted)
        return dict(body, reason="entry", hitBreakpointIds=[]) if self.entry else None

    def _change(self):
        """What watched data was and is; of several that were touched at once gdb tells that of the last."""
        value = self.details.get("value") or {}
        told = [int(self.details[each]["number"]) for each in _WATCHED if each in self.details]
        text = self.texts.get(max(told, default=0))
        if text is None or not value:
            return []
        if "old" in value:
            return ["%s: %s -> %s" % (text, value["old"], value["new"])]
        return ["%s is %s" % (text, value.get("new", value.get("value")))]


def dap_ids():
    """The numbers of the breakpoints that were asked for, without those of gdb's own."""
    return {each.number for each in gdb.breakpoints() if each.is_valid() and not each.temporary}


def _forget(numbers):
    with dap_breakpoint.suppress_new_breakpoint_event():
        for each in gdb.breakpoints():
            if each.number in numbers:
                each.delete()


def _made(text, kind):
    """Put into the machine at once: else gdb finds out that it has no place for it when the program is to go on, and refuses."""
    with gdb.with_parameter("breakpoint always-inserted", True):
        if not _ADDRESS.match(text):
            return gdb.Breakpoint(text, gdb.BP_WATCHPOINT, kind)
        with gdb.with_parameter("language", "c"):
            return gdb.Breakpoint("*(long *) %s" % text, gdb.BP_WATCHPOINT, kind)


def _identity(function):
    """By what a function is known again: in gdb 16 the same one, found twice, is not equal to itself."""
    return function and (function.symtab.filename, function.line, function.linkage_name)


def _instruction():
    return gdb.selected_inferior().architecture().disassemble(gdb.newest_frame().pc())[0]["asm"]


def _is_leaving():
    """Whether the next thing that the program does is to end."""
    return _instruction().startswith("syscall") and int(gdb.newest_frame().read_register("rax")) in _EXITS


def _is_replaying():
    return "Replay mode" in gdb.execute("info record", to_string=True)


def install(machine):
    """Learn of every order to go on before it is taken."""

    def noted(name):
        theirs = dap_server._commands[name]

        def ours(**arguments):
            dap_server.send_gdb_with_response(machine.goes_on)
            return theirs(**arguments)

        dap_server._commands[name] = ours

    for name in ("continue", "next", "stepIn", "stepOut"):
        noted(name)
