"""A script that runs tests of unittest by itself, as Django's manage.py does: run as it is, with each test told as it ends."""

import os
import runpy
import sys

import sf_unittest


class Counted(sf_unittest.Witness):
    """Knows how many tests there were, where nobody else says it."""

    count = 0

    def started(self, test):
        self.count += 1
        sf_unittest.Witness.started(self, test)


def _version(script):
    """Of what runs the tests: Django's own, where it is its script, else that of unittest, which is Python's."""
    if os.path.basename(script) == "manage.py":
        try:
            import django

            return django.get_version()
        except ImportError:
            pass  # the script itself will say so
    return ".".join(str(part) for part in sys.version_info[:3])


def _main():
    journal = sf_unittest._JOURNAL
    sys.argv[:] = sys.argv[1:]
    script = os.path.abspath(sys.argv[0])
    sys.path[:1] = [os.path.dirname(script)]
    journal.hello("script", _version(script))
    witness = Counted(journal)
    if journal.asked is not None:
        sf_unittest._install(witness)
        sf_unittest._tell_signals()
    status = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
        raise
    except KeyboardInterrupt as error:
        witness.interrupted(error)
        raise
    except BaseException:
        status = 1
        raise
    finally:
        journal.tell("collected", count=witness.count - witness.unread, names=[])
        if witness.count or not status:  # else it failed before there was a test, and its last words say why
            journal.tell("end", status=status)


if __name__ == "__main__":
    _main()
