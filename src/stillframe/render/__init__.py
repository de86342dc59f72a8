"""Text and JSON from replies, within a budget; `replies` is what faces ask, and loads all that there is to tell."""
