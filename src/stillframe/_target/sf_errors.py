"""What an exception carries beside its message: notes that were added to it, and attributes that say more than it does."""

import builtins
import types

from .sf_fields import attributes_of, is_a

NOTES, LENGTH, ALL = 24, 500, 2000  # notes told, characters of each, and of all
HELD = 6
NEAR = 40  # characters told on both sides of the place that a text could not be read at
_EMPTY = (None, "", b"", (), [], {})
_UNTOLD = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.TracebackType, type)


def notes_of(error):
    """The texts that `add_note` was given, the newest last (PEP 678)."""
    notes = dict(attributes_of(error)).get("__notes__")
    texts = [str(note) for note in notes if is_a(note, str)] if type(notes) is list else []
    if len(texts) > NOTES:
        half = NOTES // 2
        texts = texts[:half] + ["… %d more notes" % (len(texts) - 2 * half)] + texts[-half:]
    most = LENGTH if sum(map(len, texts)) <= ALL else min(LENGTH, ALL // len(texts))
    return [text if len(text) <= most else text[: most - 1] + "…" for text in texts]


def held_by(error, message):
    """[(name, value)] that an exception holds and its message does not tell; none of its properties is run."""
    kind = type(error)
    if kind.__module__ == "builtins" and builtins.__dict__.get(kind.__name__) is not kind:
        return []  # pytest's own go by that name, and hold how they are to be shown
    if is_a(error, SyntaxError):  # the line is in no call: the message names it, without the folder of its file
        found = [("filename", error.filename), ("text", error.text.strip() if type(error.text) is str else None)]
        return [(name, value) for name, value in found if value]
    near = _near(error)
    if near is not None:
        return [near]
    rows = [(name, value) for name, value in attributes_of(error) if _is_told(name, value, message)]
    return rows[:HELD]


def _is_told(name, value, message):
    if name.startswith("_") or is_a(value, _UNTOLD):
        return False
    if any(type(value) is type(none) and value == none for none in _EMPTY):
        return False
    if type(value) in (list, tuple):  # as the words of a command
        return not all(type(each) is str and repr(each) in message for each in value)
    return not (type(value) in (str, int, float, bool) and str(value) in message)


def _near(error):
    """(name, what stands around the place) of a text that could not be decoded, encoded or parsed there."""
    if is_a(error, (UnicodeDecodeError, UnicodeEncodeError)):
        name, text, at = "object", error.object, error.start
    elif type(error).__name__ == "JSONDecodeError":
        held = dict(attributes_of(error))
        name, text, at = "doc", held.get("doc"), held.get("pos")
    else:
        return None
    if type(text) not in (str, bytes, bytearray) or type(at) is not int:
        return None
    begin, end = max(0, at - NEAR), at + NEAR
    return ("%s[%d:%d]" % (name, begin, end) if begin or end < len(text) else name, text[begin:end])
