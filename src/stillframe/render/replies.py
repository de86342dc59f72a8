"""Text and JSON of whole replies, within a budget: what faces ask for."""

from . import answers as answers  # importing it gives the record's answers their texts
from .json import json
from .text import text

__all__ = ["json", "text"]
