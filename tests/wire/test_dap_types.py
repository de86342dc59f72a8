"""The generated names are those of the schema that is checked in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stillframe.wire import dap_types

ROOT = Path(__file__).parent.parent.parent


def test_the_generated_file_is_fresh():
    tool = ROOT / "tools" / "generate_dap_types.py"
    assert subprocess.run([sys.executable, str(tool), "--check"], check=False).returncode == 0


def test_it_names_what_the_backend_speaks_of():
    assert {"setBreakpoints", "stackTrace", "configurationDone"} <= dap_types.REQUESTS
    assert {"stopped", "initialized", "terminated"} <= dap_types.EVENTS
