from split import split


def test_even():
    assert split(90.0, 3) == [30.0, 30.0, 30.0]


def test_every_cent_is_paid():
    parts = split(100.0, 3)
    paid = round(sum(parts), 2)
    assert paid == 100.0
