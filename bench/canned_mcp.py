"""An MCP server that does nothing but wait a moment: its list of tools and the answer to every call were made beforehand, and it
says how long it had the call, so that all else a client takes with it is that client's own.

Without the moment the client would find all it needs still in the processor's caches, as it never does with a server that works.
Run as a script of its own, by `python -IS`: the moment in seconds, the answer and the list are its arguments.
"""

import os
import re
import select
import sys
import time

moment, answer, tools = float(sys.argv[1]), *(word.encode() for word in sys.argv[2:])
held = b""
while chunk := os.read(0, 65536):
    began = time.perf_counter()
    *lines, held = (held + chunk).split(b"\n")
    for line in lines:
        number = re.search(rb'"id":\s*(\d+)', line)
        if number is None:
            continue
        if b'"tools/list"' in line:
            result = tools
        else:
            select.select((), (), (), moment)
            took = b'{"_meta":{"took":%.6f},' % ((time.perf_counter() - began) * 1000)
            result = took + answer[1:]
        os.write(1, b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (number[1], result))
