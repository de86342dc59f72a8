"""Text and JSON from replies, within a budget."""

from .json import json
from .text import text

__all__ = ["json", "text"]
