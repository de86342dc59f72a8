from pages import everything, page


def test_a_full_page():
    assert page(list(range(20)), 2) == list(range(10, 20))


def test_nothing_is_lost():
    items = ["a", "b", "c", "d", "e", "f", "g"]
    got = everything(items, size=3)
    assert got == items
