"""Go and Ruby at the command line: the same words, the tool under them named, nothing left when it ends."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from stillframe.adapters import Adapter
from stillframe.adapters.finding import find
from stillframe.adapters.go import GO
from stillframe.adapters.ruby import RUBY

from .conftest import User, gone

LANGUAGES = Path(__file__).resolve().parents[1] / "languages"
STOPS = {
    "go": """\
[via dlv VERSION] story stopped: b1 hit 1 at story.go:27 in main.shop
  25  	total := 0 // @total
  26  	for count := 1; count < 7; count++ {
> 27  		total += price("fig", count) // @loop
locals: total=9, count=3
stack: f0 main.shop story.go:27 < f1 main.run story.go:67 < f2 main.main story.go:91 < f3-f4: 2 in library
output: "so far 3\\nso far 9\\n"
""",
    "ruby": """\
[via rdbg VERSION] story stopped: b1 hit 1 at story.rb:20 in shop
  18    count = 0
  19    while (count += 1) < 7
> 20      total += price('fig', count) # @loop
locals: total=9, count=3
stack: f0 shop story.rb:20 < f1 main story.rb:54 < f2 <main> story.rb:69
output: "so far 3\\nso far 9\\n"
""",
}


@pytest.mark.parametrize(
    ("adapter", "file", "line"), [(GO, "story.go", 27), (RUBY, "story.rb", 20)], ids=["go", "ruby"]
)
def test_the_standard_job_takes_the_same_words_in_every_language(
    user: User, adapter: Adapter, file: str, line: int
) -> None:
    found = find(adapter.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip(f"{adapter.needs[0].tool} is not installed")
    for path in (LANGUAGES / adapter.name).iterdir():
        user.file(path.name, path.read_text())
    said = user.ok("launch", file, "shop", "--break", f"{file}:{line} if count == 3")
    assert said.replace(found.version, "VERSION") == STOPS[adapter.name]
    assert user.ok("eval", "count * 2").startswith("count * 2 = 6")
    assert "dbg launch --record" in user.fails("step-back", code=1, error="unsupported")
    if adapter.name == "ruby":
        assert "tells no registers" in user.fails("registers", code=1, error="unsupported")
    process = psutil.Process(user.json("status")["pid"])
    assert f"{file}:{line} total 9 -> 18" in user.ok("next")
    assert "exited 0" in user.ok("continue")
    assert gone(process)
