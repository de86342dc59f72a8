"""Threads and coroutines: the one that stopped is shown, every verb takes --thread."""

from __future__ import annotations

from .conftest import User, eventually

THREADS = """\
import threading
gate = threading.Barrier(3)

def work(number):
    mine = number * 10
    gate.wait()
    return mine  # @here

threads = [threading.Thread(target=work, args=(n,), name=f"worker-{n}") for n in (1, 2)]
for each in threads: each.start()
gate.wait()
for each in threads: each.join()
print("joined")
"""

ASYNC = """\
import asyncio

async def fetch(name):
    await asyncio.sleep(0)
    size = len(name)
    return size  # line 6

async def main():
    total = 0
    for name in ("ab", "cde"):
        total += await fetch(name)
    print("total", total)

asyncio.run(main())
"""


def test_a_worker_that_stops_is_shown_and_the_others_can_be_looked_into(user: User) -> None:
    user.file("pool.py", THREADS)
    text = user.ok("launch", "pool.py", "--break", "pool.py:7")
    assert ", thread t" in text and "(worker-" in text
    stop = user.json("state")
    listed = user.json("threads")
    assert (listed["total"], listed["focus"]) == (3, stop["thread"])
    main = next(each["id"] for each in listed["threads"] if each["name"] == "MainThread")
    frames = user.json("stack", "--thread", main)
    assert frames["thread"] == main
    assert frames["frames"][-1]["function"] == "<module>"
    last = frames["frames"][-1]["id"]
    names = {each["name"] for each in user.json("locals", "--thread", main, "--frame", last)["values"]}
    assert "threads" in names
    page = user.json("expand", "threads", "--thread", main, "--frame", last)
    assert (page["total"], "worker-1" in page["values"][0]["value"]) == (2, True)
    assert user.json("state", "--thread", main)["thread"] == main
    scopes = {each["name"]: each["ref"] for each in user.json("scopes", "--thread", main, "--frame", last)["scopes"]}
    assert names <= {each["name"] for each in user.json("expand", scopes["locals"])["values"]}
    user.fails("exception", "--thread", main, code=1, error="not_found")
    shown = user.json("source", "--thread", main)["lines"]
    assert next(each["line"] for each in shown if each.get("here")) in (11, 12), "where it waits"
    selected = user.json("thread", main)
    assert selected["thread"] == main
    assert user.json("threads")["focus"] == main
    user.fails("thread", "t99", code=1, error="not_found")
    second = user.json("continue")
    assert second["state"] == "stopped"
    assert second["thread_name"] != stop["thread_name"]
    assert user.json("until", "pool.py:13", "--thread", second["thread"])["frame"]["line"] == 13
    assert user.json("continue")["output"] == "joined\n"


LOOPING = """\
import threading
looping = []

def half(n):
    return n // 2

def work(number):
    mine = number
    looping.append(number)
    while number:
        mine = mine + 0
    mine = half(mine)
    return mine

for n in (10, 20):
    threading.Thread(target=work, args=(n,), name=f"worker-{n}").start()
while len(looping) < 2: pass
print("both loop")  # held
while True: n = 30
"""


def test_every_verb_that_takes_a_thread_acts_on_that_one(user: User) -> None:
    """The program is held in its main thread, while both workers loop."""
    user.file("two.py", LOOPING)
    user.ok("launch", "two.py", "--break", 'two.py@"# held"')

    def all_are_held() -> dict[str, str]:
        listed = user.json("threads")["threads"]
        return (
            {each["name"]: each["id"] for each in listed} if {each["state"] for each in listed} == {"stopped"} else {}
        )

    names = eventually(all_are_held, "the workers are never held")
    other, mine = (("--thread", names[f"worker-{n}"]) for n in (10, 20))
    assert user.ok("set", "number", "0", *mine) == "number = 0\n"
    assert user.ok("eval", "number", "mine", *mine) == "number = 0\nmine = 20\n"
    assert user.ok("eval", "number", "mine", *other) == "number = 10\nmine = 10\n"
    assert [user.ok("raw", "number", *each).split("] ")[1] for each in (mine, other)] == ["0\n", "10\n"]
    assert user.ok("eval", "n") == "n = 20\n", "which is the main thread's, as before"
    assert user.ok("frame", *mine).startswith("f0 two.py:1") and user.json("threads")["focus"] == mine[1]
    user.ok("thread", names["MainThread"])

    def moved(*words: str) -> tuple[int, str]:
        told = user.json(*words, *mine)
        assert (told["state"], told["thread"], told["thread_name"]) == ("stopped", mine[1], "worker-20")
        return told["frame"]["line"], told["frame"]["function"]

    after = {11: 10, 10: 12}
    line = user.json("stack", *mine)["frames"][0]["line"]
    assert moved("next") == (after[line], "work")
    assert line == 10 or moved("next") == (12, "work")
    user.ok("thread", names["MainThread"])
    assert moved("step") == (5, "half")
    user.ok("thread", names["MainThread"])
    assert moved("finish") == (12, "work")
    assert moved("next") == (13, "work")
    user.ok("thread", names["MainThread"])
    assert moved("jump", "two.py:12") == (12, "work")
    assert user.json("continue", *mine, "--timeout", "0")["state"] == "running"
    ended = "it was not let go, or its loop not left"
    eventually(lambda: mine[1] not in {each["id"] for each in user.json("threads")["threads"]}, ended)
    held = user.json("pause", *other, "--timeout", "30")
    assert (held["state"], held["thread"], held["frame"]["function"]) == ("stopped", other[1], "work")
    user.fails("next", "--thread", "t99", code=1, error="not_found")
    user.ok("stop")


def test_a_coroutine_stops_steps_and_finishes_like_a_function(user: User) -> None:
    user.file("co.py", ASYNC)
    text = user.ok("launch", "co.py", "--break", "co.py:6 if size == 3")
    assert "co stopped: b1 hit 1 at co.py:6 in fetch\n" in text
    assert "name='cde', size=3" in text
    assert "f1 main co.py:11" in text
    out = user.json("next", "2")
    assert out["frame"]["function"] in ("main", "fetch")
    assert user.json("continue")["output"] == "total 5\n"


def test_another_task_in_the_same_coroutine_is_another_frame(user: User) -> None:
    user.file(
        "tasks.py",
        "import asyncio\n\nasync def work(n):\n    await asyncio.sleep(0.01)\n    return n\n\n"
        "async def main():\n    print(await asyncio.gather(*(work(n) for n in range(3))))\n\nasyncio.run(main())\n",
    )
    user.ok("launch", "tasks.py", "--break", "tasks.py:5")
    told = user.json("next")
    if told["state"] == "stopped" and told["frame"]["function"] == "work":
        assert not told.get("same_frame", False)
        assert not any("changes" in each for each in told.get("trail", []))
    user.ok("stop")


ALIKE = """\
import queue, threading
jobs = queue.Queue()
def take():
    return jobs.get()
for number in range(3):
    threading.Thread(target=take, name=f"clerk-{number}", daemon=True).start()
while jobs.not_empty._waiters.__len__() < 3:
    pass
print("all wait")  # held
"""


def test_threads_in_the_same_calls_are_told_together(user: User) -> None:
    user.file("alike.py", ALIKE)
    user.ok("launch", "alike.py", "--break", 'alike.py@"# held"')
    told = user.json("threads", "--stacks")
    clerks, main = told["stacks"]
    names = {each["id"]: each["name"] for each in told["threads"]}
    assert sorted(names[each] for each in clerks["threads"]) == ["clerk-0", "clerk-1", "clerk-2"]
    assert [each["line"] for each in clerks["frames"] if each.get("file") == "alike.py"] == [4]
    assert main["threads"] == [told["focus"]]
    text = user.ok("threads", "--stacks").splitlines()
    assert text[0].startswith("  3x ") and " take alike.py:4 < " in text[1]
    assert text[2:] == [f"> 1x {told['focus']} MainThread stopped", "     f0 <module> alike.py:9"]
    assert user.ok("threads", "--stacks", "--count", "2").endswith("… and 2 more threads (--start, --count)\n")
