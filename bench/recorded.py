"""What the recorders are measured on: a function that is traced, one that is probed, and one that nobody asks about."""

import json
import sys
import time


def traced(turns):
    total, seen = 0, {}
    for i in range(turns):
        total += i
        half = total / 2
        seen["last"] = half
    return total


def probed(turns):
    first, second, third, fourth, fifth, sixth = 1, 2, 3, 4, 5, 6
    for i in range(turns):
        price = i % 100  # @probe
    return first + second + third + fourth + fifth + sixth + price


def outside(turns):
    total = 0
    for i in range(turns):
        total += abs(-i)
    return total


def cpu(function, turns):
    began = time.process_time()
    function(turns)
    return time.process_time() - began


turns = int(sys.argv[1])
print(json.dumps({each.__name__: cpu(each, turns) / turns * 1e6 for each in (traced, probed, outside)}))
