"""What is wrong with a line, and the line that was probably meant."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
_MISTAKES = 4
"""Further ones that are corrected in one line."""
USAGE = "usage: "
"""How a daemon that could not start begins to tell that it is its caller's fault."""


class Usage(Exception):
    """A line that cannot be understood; `meant` is the whole corrected line, without `dbg`, where one is known."""

    def __init__(self, message: str, meant: "list[str] | None" = None, op: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.meant = meant
        self.op = op

    def correct_further(self, understand: "Callable[[list[str]], object]") -> None:
        """Look for mistakes in what was meant as well, so that the line that is shown has none that is known."""
        for _ in range(_MISTAKES):
            try:
                understand(self.meant or [])
            except Usage as further:
                self.meant = further.meant or self.meant

    def text(self) -> str:
        return self.message + (f"; did you mean: {line(self.meant)}" if self.meant is not None else "")


def line(words: "list[str]") -> str:
    """A command as one would type it, quoted where a shell needs it."""
    return " ".join(["dbg", *[quote(word) for word in words]])


def quote(word: str) -> str:
    if word and _SAFE.issuperset(word):
        return word
    shown = _shown(word)
    if shown != word:
        return "$'" + shown.replace("'", "\\'") + "'"
    return "'" + word.replace("'", "'\"'\"'") + "'"


def printable(text: str) -> str:
    """Text of some lines, with whatever could steer a terminal shown."""
    return "\n".join([each if each.isprintable() else _shown(each) for each in text.split("\n")])


def _shown(text: str) -> str:
    return "".join([char if char.isprintable() else _escaped(char) for char in text])


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of the command line that was no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def nearest(word: str, known: "Iterable[str]") -> "str | None":
    """The known word that was most likely meant: a unique beginning of at least three letters, else the least typing
    errors, at most a third of its length. (difflib would pull in `re`.)"""
    names = list(dict.fromkeys(known))
    plain = word.lower().replace("_", "-")
    if plain in names:
        return plain
    bare = plain.lstrip("-")
    begun = [name for name in names if len(bare) >= 3 and name.startswith(plain)]
    if len(begun) == 1:
        return begun[0]
    if len(bare) < 3:
        return None
    best, least = None, max(1, (len(bare) + 1) // 3) + 1
    for name in names:
        errors = typing_errors(plain, name, least)
        if errors < least:
            best, least = name, errors
    return best


def typing_errors(one: str, other: str, limit: int) -> int:
    """How many letters are wrong, missing, too many or swapped with their neighbour; counts no further than `limit`."""
    if abs(len(one) - len(other)) >= limit:
        return limit
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        row = [at + 1]
        for to, wanted in enumerate(other):
            cost = min(last[to] + (letter != wanted), last[to + 1] + 1, row[to] + 1)
            if at and to and letter == other[to - 1] and one[at - 1] == wanted:
                cost = min(cost, before[to - 1] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
