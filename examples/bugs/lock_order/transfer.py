"""Money moved between two accounts by two clerks at once."""

import threading


class Account:
    def __init__(self, name, balance):
        self.name, self.balance = name, balance
        self.lock = threading.RLock()


def transfer(source, target, amount, ready):
    with source.lock:
        ready.wait()  # as a slow database would
        with target.lock:
            source.balance -= amount
            target.balance += amount


a, b = Account("a", 100), Account("b", 100)
both = threading.Barrier(2)
clerks = [
    threading.Thread(target=transfer, args=(a, b, 10, both), name="clerk-1"),
    threading.Thread(target=transfer, args=(b, a, 20, both), name="clerk-2"),
]
for clerk in clerks:
    clerk.start()
for clerk in clerks:
    clerk.join()
print(a.balance, b.balance)
