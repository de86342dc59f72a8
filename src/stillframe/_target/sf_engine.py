"""The debugger's life in the target: what it was told, how it connects, when the program may begin."""

import itertools
import sys

import pydevd
from _pydev_bundle._pydev_saved_modules import threading
from _pydevd_bundle import pydevd_command_line_handling as command_line
from _pydevd_bundle import (
    pydevd_constants,
    pydevd_defaults,
    sf_children,
    sf_endings,
    sf_greenlets,
    sf_judging,
    sf_last,
    sf_patches,
    sf_pdb,
    sf_turns,
)
from _pydevd_bundle.pydevd_api import PyDevdAPI

NO_DEBUGGER = 70  # exit code of a launch that could not reach its debugger


class Settings:
    """What the debugger told this process by environment, held here for the processes that it will start."""

    NAMES = ("STILLFRAME_PYDEVD", "STILLFRAME_TOKENS", "STILLFRAME_PYCACHE", "STILLFRAME_ON_EOF")
    RELAY = "STILLFRAME_RELAY"  # set for multiprocessing's fork server: not debugged itself, but its forks are
    QUIET = "PYDEVD_DISABLE_FILE_VALIDATION"

    def __init__(self, values, boot):
        self.values = values
        self.boot = boot
        server, _, client = values.get("STILLFRAME_TOKENS", "").partition(":")
        self.server_token = server or None
        self.client_token = client or None
        self.relay = False
        self.kill_at_eof = values.get("STILLFRAME_ON_EOF") == "kill"

    @classmethod
    def take(cls, environment, boot):
        """Read our variables and remove them, so that the program sees the environment of a plain run."""
        values = {name: environment.pop(name) for name in cls.NAMES if name in environment}
        environment.pop(cls.QUIET, None)
        settings = cls(values, boot)
        settings.relay = environment.pop(cls.RELAY, None) is not None
        return settings

    def for_child(self):
        """The variables that a child needs to start through our script."""
        return dict(self.values, **{self.QUIET: "1"})


def read_command_line(argv, settings):
    """Parse and remove our own words from argv; the tokens join the settings in memory only."""
    setup = command_line.process_command_line(argv)
    setup["access-token"] = settings.server_token
    setup["client-access-token"] = settings.client_token
    pydevd.SetupHolder.setup = setup
    return setup


def connect(setup, settings):
    """A PyDB that is connected to the debugger; None for a child whose debugger is gone, which then runs plainly."""
    sf_patches.patch(settings)
    sf_judging.patch()
    sf_pdb.install()
    if setup["multiprocess"]:
        sf_children.install(settings)
    pydevd_defaults.PydevdCustomization.DEFAULT_PROTOCOL = pydevd_constants.HTTP_JSON_PROTOCOL
    pydevd_constants.set_protocol(pydevd_constants.HTTP_JSON_PROTOCOL)
    if settings.relay:
        return None
    db = pydevd.PyDB()
    PyDevdAPI().set_protocol(db, 0, pydevd_constants.HTTP_JSON_PROTOCOL)
    db.authentication.access_token = settings.server_token
    db.authentication.client_access_token = settings.client_token
    try:
        db.connect(setup["client"], setup["port"])
    except OSError as error:
        pydevd_constants.set_global_debugger(None)
        if setup["ppid"]:
            return None
        sys.stderr.write("stillframe: no debugger at %s:%s: %s\n" % (setup["client"], setup["port"], error))
        sys.exit(NO_DEBUGGER)
    return db


def begin(db):
    """Wait for configurationDone, turn tracing on, and give the current thread (None where the client let us go)."""
    if db is not None:
        db.wait_for_ready_to_run()
        sf_greenlets.hide_threads()
        sf_endings.watch(db)
        sf_turns.watch()
        sf_last.begin(db)
    names = itertools.count(1).__next__
    sf_greenlets.real_threading()._counter = names  # the program's first thread is Thread-1, as in a plain run
    if db is None or db.pydb_disposed:
        return None
    db.prepare_to_run()
    thread = threading.current_thread()
    db.notify_thread_created(pydevd.get_current_thread_id(thread), thread)
    db.enable_tracing()
    return thread


def join(host, port, settings):
    """Connect a process that already runs; its program goes on while the debugger sets things up."""
    sf_patches.patch(settings)
    sf_judging.patch()
    sf_pdb.install()
    setup = {"client": host, "port": port, "server": False, "multiprocess": False, "skip-notify-stdin": True, "ppid": 0}
    pydevd.SetupHolder.setup = setup
    pydevd.config("http_json")
    try:
        pydevd.settrace(
            host=host,
            port=port,
            suspend=False,
            trace_only_current_thread=False,
            patch_multiprocessing=False,
            wait_for_ready_to_run=False,
            access_token=settings.server_token,
            client_access_token=settings.client_token,
            notify_stdin=False,
        )
    except OSError:
        pydevd_constants.set_global_debugger(None)
        raise
    sf_greenlets.hide_threads()
