"""Rewriting a Node program for the recorder: whatever it is made of, it does what it did, and no line of it moves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stillframe.adapters.node.recording import FOLDER, NodeRecorder
from stillframe.adapters.recorders import read, write_ask
from stillframe.model.plans import Plan
from stillframe.model.recorder import Ask, Found, Note, ProbeAsk, Tally, TraceAsk, Where

HERE = Path(__file__).parent / "node"
ODD = HERE / "odd.mjs"
SHAPES = Path(__file__).parent.parent / "backends" / "functions"
PACKAGES = 30


def ran(*words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def recorded(folder: Path, ask: Ask, *words: str) -> str:
    folder.mkdir()
    write_ask(folder, ask)
    plan = Plan(command=words, kind="command", env=dict(os.environ))
    return ran(*words, env=NodeRecorder().environment(plan, folder))


@pytest.fixture(scope="module", autouse=True)
def node() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")


def test_a_program_of_every_shape_prints_what_it_prints_by_itself(tmp_path: Path) -> None:
    plain = ran("node", str(ODD))
    trace = TraceAsk(where=Where(function="all"), depth=5)
    lines = len(ODD.read_text().splitlines())
    probes = tuple(
        ProbeAsk(place=at, where=Where(file=str(ODD), line=at + 1), evals=("typeof say",), expects=("said.length < 0",))
        for at in range(lines)
    )
    assert recorded(tmp_path / "trace", Ask(trace=trace), "node", str(ODD)) == plain
    assert recorded(tmp_path / "probes", Ask(probes=probes), "node", str(ODD)) == plain
    for folder in ("trace", "probes"):
        (told,) = read(tmp_path / folder)
        assert not [each.text for each in told.said if isinstance(each, Note)]
    found = {each.place: each for each in told.said if isinstance(each, Found)}
    assert len(found) == lines, "every line has a statement on it or behind it"
    tallies = {each.place: each for each in told.said if isinstance(each, Tally)}
    inside = ODD.read_text().splitlines().index("  for (const x of xs) t += x")
    assert (found[inside].function, found[inside].line, tallies[inside].hits) == ("loops", inside + 1, 1)
    assert tallies[inside].claims == ((1, 0),)


def test_code_that_we_did_not_write_can_be_rewritten_and_keeps_its_lines() -> None:
    npm = shutil.which("npm")
    package = Path(os.path.realpath(npm)).parent.parent if npm else None
    files = [*SHAPES.glob("*.js"), *sorted((package or SHAPES).rglob("*.js"), key=lambda each: each.name)[:PACKAGES]]
    told = json.loads(ran("node", str(HERE / "rewrite.cjs"), str(FOLDER), *map(str, files)))
    assert not [each for each in told if each["notes"] or each["moved"]]
    assert sum(each["functions"] for each in told) > 40


def test_what_compilers_export_a_function_by_is_no_function_of_the_users(tmp_path: Path) -> None:
    made = tmp_path / "made.js"
    made.write_text(
        "out({ total: () => total });\n"
        "out('total', () => { try { return total } catch {} });\n"
        "out({ total: function() { return total; } });\n"
        "const mine = () => { try { return total } catch { return 0 } };\n"
        "const total = () => price;\n"
    )
    (told,) = json.loads(ran("node", str(HERE / "rewrite.cjs"), str(FOLDER), str(made)))
    assert (told["functions"], told["notes"]) == (2, [])


def test_a_function_is_not_called_by_what_jest_puts_around_its_module(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text(
        '({"Object.<anonymous>":function(module,exports){class Shop {\n  total(n) {\n    return n * 2;\n  }\n}\n'
        'new Shop().total(2);\n}})["Object.<anonymous>"]();\n'
    )
    ask = Ask(probes=(ProbeAsk(place=0, where=Where(file=str((tmp_path / "shop.js").resolve()), line=3)),))
    recorded(tmp_path / "told", ask, "node", str(tmp_path / "shop.js"))
    (told,) = read(tmp_path / "told")
    assert [each.function for each in told.said if isinstance(each, Found)] == ["Shop.total"]


BUNDLE = """\
var __webpack_modules__ = ({ './src/shop.ts': (() => {
class Shop {
  total(n) {
    return n * 2;
  }
}
console.log(new Shop().total(2)); }) });
__webpack_modules__['./src/shop.ts']();
"""
STRAIGHT = "AAAA;AACA;AACA;AACA;AACA;AACA;AACA;AACA"


@pytest.mark.parametrize("way", ["a map", "an index"])
def test_sources_that_a_bundler_names_are_the_files_of_the_project(tmp_path: Path, way: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "dist").mkdir()
    source, bundle = tmp_path / "src" / "shop.ts", tmp_path / "dist" / "main.js"
    source.write_text(BUNDLE)
    bundle.write_text(BUNDLE + "//# sourceMappingURL=main.js.map\n")
    made: dict[str, object] = {"version": 3, "sources": ["webpack://shop/./src/shop.ts?1f3b"], "mappings": STRAIGHT}
    index = {"version": 3, "sections": [{"offset": {"line": 0, "column": 0}, "map": made | {"names": []}}]}
    (tmp_path / "dist" / "main.js.map").write_text(json.dumps(made | {"names": []} if way == "a map" else index))
    ask = Ask(probes=(ProbeAsk(place=0, where=Where(file=str(source.resolve()), line=4)),))
    assert recorded(tmp_path / "told", ask, "node", str(bundle)) == "4\n"
    (told,) = read(tmp_path / "told")
    (found,) = [each for each in told.said if isinstance(each, Found)]
    assert (found.function, found.file, found.line) == ("Shop.total", str(source.resolve()), 4)


def test_modules_that_a_bundle_evaluates_are_said_not_to_be_recorded(tmp_path: Path) -> None:
    bundle = tmp_path / "main.js"
    bundle.write_text(
        'const run = () => eval("console.log(1);\\n//# sourceURL=webpack-internal:///./a.ts\\n");\nrun();\n'
    )
    recorded(tmp_path / "told", Ask(trace=TraceAsk(where=Where(function="total"))), "node", str(bundle))
    (told,) = read(tmp_path / "told")
    (note,) = [each.text for each in told.said if isinstance(each, Note)]
    assert note == "main.js evaluates its modules (devtool: eval): what is in those is not recorded"
