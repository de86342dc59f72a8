"""A small shop with the marks that every language's story uses."""

import sys


def price(item, count):  # @function
    cost = len(item) * count  # @call
    return cost


def check(total):
    if total > 1000:
        raise ValueError("too much: %d" % total)  # @raise
    return total


def main(argv):
    total = 0  # @entry
    basket = {"apple": 2, "pear": 3, "fig": 4}
    for name, count in basket.items():
        total += price(name, count)  # @loop
        print("so far", total)
    check(total if "--bad" not in argv else 2000)
    print("done", total)
    return 0  # @exit


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
