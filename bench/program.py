"""The program of the standard job: a function with a loop, a few locals, and the time of its end on stdout."""

import sys
import time


def tally(words):
    seen = {}
    longest = ""
    for word in words:
        seen[word] = seen.get(word, 0) + 1
        if len(word) > len(longest):
            longest = word
    return seen, longest


def main():
    counts, longest = tally(["still", "frame", "still", "debugger", "agent", "frame"])
    print(len(counts), longest)


main()
sys.stdout.flush()
print(time.monotonic(), flush=True)
