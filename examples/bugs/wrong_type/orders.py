"""Add up the orders of a day. Some shops write their prices with a sign in front."""

from pathlib import Path


def price_of(text):
    text = text.strip()
    if text.startswith("$"):
        return text[1:]
    return float(text)


def orders(path):
    for row in path.read_text().splitlines()[1:]:
        sku, price, quantity = row.split(",")
        yield {"sku": sku, "price": price_of(price), "quantity": int(quantity)}


def total(items):
    out = 0.0
    for item in items:
        out += item["price"] * item["quantity"]
    return out


print(f"{total(orders(Path(__file__).with_name('orders.csv'))):.2f}")
