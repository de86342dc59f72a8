"""The line of an import that Node could not follow, found by what its errors say."""

from __future__ import annotations

import pytest

from stillframe.backends.cdp.imports import importing

MODULE = [
    "// from './none.mjs' in words",
    "import a from '@team/kit/deep.js'; import b from \"plain\";",
    "const c = await import('../up.mjs');",
    "export * from './dir/';",
]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Cannot find package 'plain' imported from /w/app/main.mjs", 2),
        ("Cannot find package '@team/kit' imported from /w/app/main.mjs", 2),
        ("Cannot find module '/w/up.mjs' imported from /w/app/main.mjs\nDid you mean", 3),
        ("Directory import '/w/app/dir/' is not supported resolving ES modules imported from /w/app/main.mjs", 4),
        ('No "exports" main defined in /w/node_modules/plain/package.json imported from /w/app/main.mjs', 2),
        ("Cannot find package 'other' imported from /w/app/main.mjs", None),
        ("Cannot find package 'plain' imported from /w/node_modules/x/main.mjs", None),
        ("it was imported from abroad", None),
    ],
)
def test_the_line_is_that_which_asks_for_what_the_error_names(message: str, line: int | None) -> None:
    found = importing(message, lambda _: MODULE)
    assert (found and found.line) == line
