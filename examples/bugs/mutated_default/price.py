"""What a basket costs after its voucher."""

PERCENT = {"A": 20, "B": 10}


def discount(basket, code, memo={}):
    if code not in memo:
        memo[code] = sum(basket) * PERCENT[code] // 100
    return memo[code]


def net(basket, code):
    gross = sum(basket)
    cut = discount(basket, code)
    return gross - cut
