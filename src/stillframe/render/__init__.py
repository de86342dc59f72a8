"""Text and JSON from replies, within a budget."""

from . import answers as answers  # importing it gives the record's answers their texts
from .json import json
from .text import text

__all__ = ["json", "text"]
