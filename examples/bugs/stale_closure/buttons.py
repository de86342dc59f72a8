"""A row of buttons, each with what it does when pressed."""


def row(labels):
    handlers = {}
    for place, label in enumerate(labels):

        def press(times=1):
            return f"{label}@{place}" * times

        handlers[label] = press
    return handlers
