"""The program of the standard job: a function with a loop and a few locals; prints when it ended if asked to."""

import sys
import time


def tally(words):
    seen = {}
    for word in words:
        seen[word] = seen.get(word, 0) + 1
        if seen[word] > 1:
            print("again", word)
    return seen


counts = tally(["a", "b", "a", "c", "b"])
print(len(counts))
if "--clock" in sys.argv:
    print(time.monotonic(), flush=True)
