"""Share a bill among friends, to the cent."""


def share(amount, people):
    return round(amount / people, 2)


def split(amount, people):
    part = share(amount, people)
    return [part] * people
