"""The goldens are told by the same user as the stories."""

from ..stories.conftest import resident, user

__all__ = ["resident", "user"]
