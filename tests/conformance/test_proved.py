"""The file that the support table is made of names tests and stories that there are."""

from __future__ import annotations

from . import test_story
from .story import STORIES
from .witness import proved


def test_everything_that_is_claimed_names_a_test_and_a_story_of_ours() -> None:
    languages = {story.language for story in STORIES}
    for name, entry in proved().items():
        assert name.rstrip("0123456789.").partition("-")[0] in languages
        assert entry["debugger"]
        for test in entry["verbs"].values():
            function, _, parameters = test.partition("[")
            assert hasattr(test_story, function), test
            assert name in parameters, test
