"""The story's program: every language has one that does the same, with the same names and the same marks."""

# ruff: noqa: RET504, UP031 (the lines are there to be stopped at)

import sys
import threading


def price(item, count):
    cost = len(item) * count  # @cost
    return cost  # @return


def tally(words):
    seen = {}  # @empty
    for word in words:  # @for
        seen[word] = seen.get(word, 0) + 1  # @tally
    return seen  # @seen


def shop():
    total = 0  # @total
    for count in range(1, 7):
        total += price("fig", count)  # @loop
        print("so far", total)  # @print
    numbers = list(range(100))
    return total + numbers[0]  # @numbers


def fail(total):
    raise ValueError("too much: %d" % total)  # @raise


def careful():
    try:
        fail(1)
    except ValueError:
        return "recovered"  # @recovered


def spin():
    turns = 0
    print("spinning", flush=True)
    while True:
        turns += 1  # @spin


def worker():
    mine = "of the worker"
    print(mine)  # @worker


def main(what):
    if what == "shop":
        total = shop()
        print("done", total)  # @done
    elif what == "tally":
        print(tally(["a", "b", "a"]))
    elif what == "fail":
        fail(2000)
    elif what == "careful":
        print(careful())
    elif what == "spin":
        spin()
    elif what == "thread":
        thread = threading.Thread(target=worker, name="helper")
        thread.start()
        thread.join()
    return 7 if what == "seven" else 0  # @exit


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
