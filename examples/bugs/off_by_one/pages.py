"""Lists cut into pages."""


def page_count(total, size):
    return total // size


def page(items, number, size=10):
    """One page, counted from 1; the last one may be short."""
    if not 1 <= number <= page_count(len(items), size):
        return []
    first = (number - 1) * size
    return items[first : first + size]


def everything(items, size=10):
    """All pages put together again."""
    out = []
    for number in range(1, page_count(len(items), size) + 1):
        out += page(items, number, size)
    return out
