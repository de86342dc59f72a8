"""JSON out without the `json` package, whose import would cost more than the whole call."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Json

try:
    from _json import encode_basestring_ascii as quoted  # private in CPython 3.11 to 3.13, hence the way around it
except ImportError:
    from json.encoder import encode_basestring_ascii as quoted


def encode(value: "Json") -> str:
    """One line of ASCII. Undecodable bytes of a command line travel as lone surrogates, and come out again."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([quoted(key) + ":" + encode(each) for key, each in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([encode(each) for each in value]) + "]"
    return repr(value)
