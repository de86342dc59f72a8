"""Statements of a file, by their lines: what they are, how they are written, and the names that they use."""

import ast
import linecache


def statement(file, line, lines=None):
    """The innermost simple statement, or head of a compound one, that a line belongs to; None where there is none."""
    tree = tree_of(file) if lines is None else _parsed("".join(lines))
    found = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and node.lineno <= line <= end_of(node):
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def end_of(node):
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno


_TREES = {}


def tree_of(file):
    if file not in _TREES:
        _TREES[file] = _parsed("".join(linecache.getlines(file)))
    return _TREES[file]


def _parsed(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def segment(file, node):
    """The source of a node in one line."""
    lines = linecache.getlines(file)
    if node.lineno == node.end_lineno:
        raw = lines[node.lineno - 1].encode("utf-8")[node.col_offset : node.end_col_offset]
        return raw.decode("utf-8", "replace")
    text = "".join(lines[node.lineno - 1 : node.end_lineno])
    whole = ast.get_source_segment("".join(lines), node) or text
    return " ".join(whole.split())


def names_of(node):
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)] if node is not None else []


def is_literal(node):
    """Whether a value is written out there."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
