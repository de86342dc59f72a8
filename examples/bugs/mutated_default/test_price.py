import pytest
from price import net


@pytest.mark.parametrize(("basket", "want"), [([100], 80), ([50], 40), ([10, 20], 24)])
def test_a_fifth_off(basket, want):
    got = net(basket, "A")
    assert got == want
