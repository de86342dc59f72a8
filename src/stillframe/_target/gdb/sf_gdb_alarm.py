"""Alarms inside gdb, by an interrupt, which ends its own work as well as that of printers in Python."""

import gdb
import sf_alarm
from sf_alarm import TooLong


class Alarm(sf_alarm.Alarm):
    """Rings once, where this gdb can be interrupted."""

    watchman = sf_alarm.Watchman(gdb.Thread)

    def __enter__(self):
        self.rang = False
        return sf_alarm.Alarm.__enter__(self) if hasattr(gdb, "interrupt") else self

    def __exit__(self, kind, error, trace):
        sf_alarm.Alarm.__exit__(self, kind, error, trace)
        if not self.rang:
            return False
        if kind is None:
            _forget_interrupt()
        raise TooLong()  # whatever came of it: printers take the interrupt for an error of theirs

    def ring(self):
        self.rang = True
        gdb.interrupt()
        return False


def _forget_interrupt():
    """It came when all was done: whatever is next must not be what it ends."""
    try:
        gdb.execute("help echo", to_string=True)
    except (KeyboardInterrupt, gdb.error):
        pass
