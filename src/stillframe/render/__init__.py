"""Text and JSON from replies, within a budget."""

from . import answers as answers  # importing them gives what the record and the looking verbs answer its texts
from . import looking as looking
from .json import json
from .text import text

__all__ = ["json", "text"]
