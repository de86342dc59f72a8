"""Values of native programs that are broken, endless or vast: each is told within bounds, or why it cannot be."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.finding import Needs, find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB
from stillframe.errors import AdapterUnresponsive, EvalFailed
from stillframe.model.values import Value

SOURCE = Path(__file__).resolve().parents[1] / "languages" / "cpp" / "broken.cpp"


@pytest.mark.long
async def test_broken_endless_and_vast_values_are_told_within_bounds(tmp_path: Path) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch(str(SOURCE), breaks=[f'{SOURCE}@"look here"'], adapter="gdb")
        assert isinstance(stop, stillframe.Stop), stop
        told = {each.name: each for each in stop.locals}
        assert told["torn"].error and str(1 << 45) in told["torn"].value
        assert "not readable" in told["wild"].value
        assert told["bytes"].value == r'"ok\377\033[31m"'
        assert told["one"].value.count("value = 1") == 1
        assert all(len(each.value) <= 200 for each in stop.locals)
        await _pages(dbg, told)
        await _evaluations(dbg)
        assert (await dbg.stop()).action == "terminated"


async def _pages(dbg: stillframe.Debugger, told: dict[str, Value]) -> None:
    """A late page of a long row comes at once; one of a chain without end is given up, and the debugger lives on."""
    numbers = await dbg.expand(told["numbers"].ref or "", start=999_998)
    assert ([each.value for each in numbers.values], numbers.total) == (["7", "8"], 1_000_000)
    (item,) = (await dbg.expand(told["vast"].ref or "", start=(1 << 43) - 1)).values
    assert item.error and "Cannot access memory" in item.value
    with pytest.raises(AdapterUnresponsive, match="parts take longer"):
        await dbg.expand(told["ring"].ref or "", start=1 << 40)
    assert len((await dbg.expand(told["ring"].ref or "", count=3)).values) == 3


async def _evaluations(dbg: stillframe.Debugger) -> None:
    """A call in the program neither takes the frame that was chosen nor the handles."""
    await dbg.frame("f1")
    assert [each.value for each in (await dbg.eval("text.size()")).values] == [str(30 << 20)]
    assert [each.value for each in (await dbg.eval("numbers[999999]")).values] == ["8"]
    with pytest.raises(EvalFailed, match="Cannot access memory"):
        await dbg.eval("*(int *)0")


NAMESAKES = {
    "lib.c": "int level = 99;\nint loud(int n) { return n + level; }\n",
    "quiet.c": "static int level = 5;\nint quiet(int n) { return n + level; }\n",
    "main.c": "int loud(int);\nint quiet(int);\nint main(void) {\n    int n = quiet(1);\n    return loud(n) == 0;\n}\n",
}


def _build_namesakes(folder: Path) -> None:
    for name, text in NAMESAKES.items():
        (folder / name).write_text(text)
    for line in ("-shared -fPIC lib.c -o libloud.so", "main.c quiet.c -o app -L. -lloud -Wl,-rpath,."):
        subprocess.run(["cc", "-g", *line.split()], cwd=folder, check=True)


async def test_a_name_that_the_program_has_is_not_taken_for_a_librarys(tmp_path: Path) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    _build_namesakes(tmp_path)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        await dbg.launch("./app", breaks=["main.c:5", "loud"], adapter="gdb")
        for text, value in {"level": "5", "level + n": "11", 'sizeof "level"': "6", "loud(level)": "104"}.items():
            assert (await dbg.eval(text)).values[0].value == value, text
        assert (await dbg.eval('(int) puts("level")')).values[0].value == "6", "a text needs memory of the program's"
        assert (await dbg.raw('print (int) puts("on")')).text.strip() == "$1 = 3"
        with pytest.raises(EvalFailed):
            await dbg.eval('quiet("a", nobody)')
        await dbg.set("level", "7")
        assert (await dbg.eval("quiet(0)")).values[0].value == "7"
        assert isinstance(await dbg.continue_(), stillframe.Stop), "no call leaves it running"
        assert (await dbg.eval("level")).values[0].value == "99", "in the library it is the library's"


OWNED = r"""
#include <memory>
#include <string>
#include <vector>
struct Rule { virtual ~Rule() = default; int id = 7; };
struct Paid : Rule { std::string who = "ann"; };
struct Node { int value; std::unique_ptr<Node> next; };
int look(Rule &given, Rule *raw, Rule *wild, const std::vector<int> *many) {
  std::unique_ptr<Rule> own = std::make_unique<Paid>(), nobody;
  std::shared_ptr<std::string> text = std::make_shared<std::string>("hi");
  std::weak_ptr<Rule> gone = std::make_shared<Rule>();
  Node first{1, std::make_unique<Node>(Node{2, nullptr})};
  return given.id + raw->id + (wild != nullptr) + many->size();  // look here
}
int main() {
  Paid paid;
  std::vector<int> many{1, 2};
  long bytes[8] = {1, 2, 3};
  return look(paid, &paid, reinterpret_cast<Rule *>(bytes), &many) == 0;
}
"""


async def test_a_pointer_to_a_base_or_an_owner_tells_the_object_that_is_there(tmp_path: Path) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    (tmp_path / "own.cpp").write_text(OWNED)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch("own.cpp", breaks=['own.cpp@"look here"'], adapter="gdb")
        assert isinstance(stop, stillframe.Stop), stop
        told = {each.name: each for each in stop.locals}
        paid = 'Paid {<Rule> = {id = 7}, who = "ann"}'
        assert told["given"].value == paid
        assert told["raw"].value.partition(" ")[2] == paid
        assert told["own"].value.startswith("std::unique_ptr<Rule> = {get() = 0x")
        assert told["own"].value.endswith(f" {paid}}}")
        assert told["nobody"].value == "std::unique_ptr<Rule> = {get() = 0x0}"
        assert told["text"].value.endswith(' "hi"}')
        assert told["gone"].value.startswith("std::weak_ptr<Rule> (expired") and "id" not in told["gone"].value
        assert told["many"].value.endswith("{1, 2}")
        assert told["wild"].value.endswith(" {id = 2}"), "what was never made is told as it was declared"
        assert (await dbg.eval("first.next")).values[0].value.partition(" {value")[2].startswith(" = 2, next = ")
        assert told["raw"].ref is not None
        assert [each.name for each in (await dbg.expand(told["raw"].ref)).values] == ["<Rule>", "who"]


HOLDERS = r"""
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Line { std::string sku; int qty; };
struct Shape { virtual ~Shape() = default; };
struct Square : Shape { int side = 3; };
struct Node { int n; std::unique_ptr<Node> next; };
int main() {
  std::vector<std::unique_ptr<Line>> lines;
  lines.push_back(std::make_unique<Line>(Line{"A-1", 2}));
  lines.push_back(nullptr);
  std::vector<std::shared_ptr<Shape>> shapes{std::make_shared<Square>()};
  std::map<std::string, std::shared_ptr<Line>> by{{"b", std::make_shared<Line>(Line{"B-2", 5})}};
  std::shared_ptr<Line> shared = by["b"], empty;
  std::weak_ptr<Line> gone = std::make_shared<Line>();
  auto list = std::make_unique<Node>(Node{1, std::make_unique<Node>(Node{2, nullptr})});
  std::vector<std::unique_ptr<int>> numbers;
  numbers.push_back(std::make_unique<int>(7));
  return lines.size() + shapes.size() + by.size() + list->n;  // look here
}
"""


@pytest.mark.parametrize(("debugger", "needs"), [("gdb", GDB.needs[0]), ("lldb", LLDB.needs[0])])
async def test_what_smart_pointers_lead_to_is_told_inside_of_containers_and_structs_too(
    tmp_path: Path, debugger: str, needs: Needs
) -> None:
    found = find(needs, os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip(f"{debugger} is not installed")
    (tmp_path / "holders.cpp").write_text(HOLDERS)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch("holders.cpp", breaks=['holders.cpp@"look here"'], adapter=debugger)
        assert isinstance(stop, stillframe.Stop), stop
        told = {each.name: re.sub(r"0x[0-9a-f]{6,}", "@", each.value) for each in stop.locals}
        assert '{@ {sku = "A-1", qty = 2}, ' in told["lines"]
        assert "{@ Square {" in told["shapes"] and "side = 3}" in told["shapes"]
        assert '{["b"] = @ {sku = "B-2", qty = 5}}' in told["by"]
        assert '@ {sku = "B-2", qty = 5}' in told["shared"]
        assert "@ {n = 1, next = @ {n = 2, next = " in told["list"]
        assert "sku" not in told["gone"] and "sku" not in told["empty"]
        assert told["numbers"].count("@") >= 1
        await dbg.stop()


LONG = r"""
#include <cstring>
#include <vector>
struct Holder { int first; char text[100000]; int last; };
static char vast[1 << 30];
int main() {
  static Holder held{1, "inside", 2};
  Holder *there = &held;
  std::vector<Holder> many(2, held);
  std::strcpy(vast, "begins");
  return there->last + many.size() == 0;  // look here
}
"""


@pytest.mark.parametrize(("debugger", "needs"), [("gdb", GDB.needs[0]), ("lldb", LLDB.needs[0])])
async def test_long_texts_and_what_holds_them_are_told_by_how_they_begin(
    tmp_path: Path, debugger: str, needs: Needs
) -> None:
    found = find(needs, os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip(f"{debugger} is not installed")
    (tmp_path / "long.cpp").write_text(LONG)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch("long.cpp", breaks=['long.cpp@"look here"'], adapter=debugger)
        assert isinstance(stop, stillframe.Stop), stop
        told = {each.name: each for each in stop.locals}
        whole = re.compile(r'\{first = 1, text = "inside"(\.\.\.)?, last = 2\}')
        assert whole.search(told["there"].value), told["there"]
        assert whole.search(told["many"].value), told["many"]
        (value,) = (await dbg.eval("vast")).values
        assert value.value.startswith('"begins"') and not value.error, value
        await dbg.stop()
