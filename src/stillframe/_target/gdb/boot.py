"""Sourced by gdb before it speaks its debug adapter protocol: puts our request beside its own."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "native")]

import gdb  # noqa: E402
import sf_gdb_breakpoints  # noqa: E402
import sf_gdb_desk  # noqa: E402
import sf_gdb_frames  # noqa: E402
import sf_gdb_machine  # noqa: E402
import sf_gdb_remote  # noqa: E402


def _printers(folders):
    """The toolchain's own printers of its containers."""
    sys.path.extend(folders)
    if any(os.path.isdir(os.path.join(each, "libstdcxx")) for each in folders):
        from libstdcxx.v6.printers import register_libstdcxx_printers

        register_libstdcxx_printers(None)
        from libstdcxx.v6.xmethods import register_libstdcxx_xmethods

        register_libstdcxx_xmethods(None)  # so that `items[1]` and `items.size()` can be evaluated
    if any(os.path.isfile(os.path.join(each, "gdb_lookup.py")) for each in folders):
        import gdb_lookup

        gdb_lookup.register_printers(gdb.current_progspace())


def boot(settings):
    sf_gdb_frames.Settings.just_my_code = settings.get("just_my_code", True)
    for line in (
        "set debuginfod enabled off",
        "set print null-stop on",
        "set max-value-size 16777216",
        "set unwindonsignal on",
        "set unwind-on-timeout on",
        "set confirm off",
        "set style enabled off",
        "set host-charset UTF-8",
    ):
        gdb.execute(line, to_string=True)
    desk = sf_gdb_desk.Desk()
    desk.watching.entry = settings.get("entry", False)
    desk.machine.entry = settings.get("entry", False)
    desk.machine.records = settings.get("record", False)
    desk.watching.joins = settings.get("join", False)
    sf_gdb_desk.install(desk)
    if settings.get("gdbserver", False):
        sf_gdb_remote.install(settings.get("multi", False))
    if desk.machine.records:
        sf_gdb_machine.install(desk.machine)
    sf_gdb_breakpoints.install(sf_gdb_desk.REQUEST)
    try:
        _printers(settings.get("printers", []))
    except Exception as error:  # a printer of another age of the toolchain: values are told without it
        gdb.write("the toolchain's printers do not load: %s\n" % error)


if __name__ == "__main__":
    boot(json.loads(os.environ.get("STILLFRAME_GDB", "{}")))
