"""The goldens are told by the same user as the stories."""

from ..stories.conftest import user

__all__ = ["user"]
