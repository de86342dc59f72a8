"""A small shop for `./dev demo`. Bob buys for 4.0 with ten per cent off and should pay 3.6; the shop says -2.15."""

import json
from pathlib import Path

ORDERS = Path(__file__).with_name("orders.json")


def total(items):
    out = 0.0
    for item in items:
        price = item["price"]
        qty = item["qty"]
        out += float(price) * qty if price else 0
    return out


def discount(amount, code, memo={}):
    if code not in memo:
        memo[code] = amount * 0.1
    return memo[code]


def checkout(order):
    gross = total(order["items"])
    net = gross - discount(gross, order.get("code"))
    return round(net, 2)


def main():
    for order in json.loads(ORDERS.read_text()):
        print(f"{order['id']}: {checkout(order)}")


if __name__ == "__main__":
    main()
