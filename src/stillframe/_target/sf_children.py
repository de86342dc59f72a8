"""Python processes that the program starts come up through our start-up script, and dial the same debugger."""


def install(settings):
    raise NotImplementedError
