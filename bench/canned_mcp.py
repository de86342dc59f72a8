"""An MCP server that does nothing: its list of tools and the answer to every call were made beforehand, so that what a client
takes with it is that client's own.

Run as a script of its own, by `python -IS`: the answer and the list are its arguments.
"""

import os
import re
import sys

answer, tools = (word.encode() for word in sys.argv[1:])
held = b""
while chunk := os.read(0, 65536):
    *lines, held = (held + chunk).split(b"\n")
    for line in lines:
        number = re.search(rb'"id":\s*(\d+)', line)
        if number is not None:
            result = tools if b'"tools/list"' in line else answer
            os.write(1, b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (number[1], result))
