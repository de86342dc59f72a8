"""Text and JSON of whole replies, within a budget: what faces ask for."""

from . import answers as answers  # importing them gives what the record and the looking verbs answer its texts
from . import looking as looking
from .json import json
from .text import text

__all__ = ["json", "text"]
