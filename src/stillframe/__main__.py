"""`python -m stillframe` is `dbg`."""

from .faces.cli.main import entry

entry()
