"""Stands in for the debugger's watchdog where there is none: the recorder runs no repr of the program, so nothing can hang."""


class Overdue(BaseException):
    """Never raised here."""


def within(seconds, function, *arguments):
    return function(*arguments)
