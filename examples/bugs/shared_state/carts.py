"""Carts of several customers."""


class Cart:
    items = []
    owner = None

    def __init__(self, owner):
        self.owner = owner

    def add(self, sku, quantity=1):
        self.items.append((sku, quantity))
        return self


ann = Cart("ann").add("pen", 2)
ben = Cart("ben").add("ink")
eve = Cart("eve").add("paper", 5).add("glue")
for cart in (ann, ben, eve):
    print(cart.owner, sum(quantity for _, quantity in cart.items))
