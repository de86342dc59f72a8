"""Imports point down only: the house of ARCHITECTURE.md, checked over the syntax tree."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "stillframe"
LAYERS = (
    "errors", "version", "model", "settings", "wire", "transport", "backends", "adapters", "record", "session", "registry", "ops",
    "policy", "dispatch", "render", "faces",
)  # fmt: skip
HEIGHT = {name: number for number, name in enumerate(LAYERS)}
FILES = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if ("_target" not in path.parts and path.parent != SOURCE) or path.stem in HEIGHT
)
LANGUAGES = ("python", "node", "javascript", "golang", "rust", "ruby", "debugpy", "pydevd")


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
def imported(path: Path) -> set[str]:
    """The layers that a file imports from, relative and absolute imports alike."""
    package = path.relative_to(SOURCE).parent.parts
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = tuple((node.module or "").split(".")) if node.module else ()
            names = [(*base, *module)] if (*base, *module) else [(alias.name,) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stillframe"):
            names = [tuple((node.module or "").split(".")[1:])]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")[1:]) for alias in node.names if alias.name.startswith("stillframe.")]
        found |= {name[0] for name in names if name and name[0] in HEIGHT}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_from_its_own_layer_and_those_below(path: Path) -> None:
    own = layer_of(path)
    above = {name for name in imported(path) if HEIGHT[name] > HEIGHT[own]}
    assert not above, f"{own} reaches up to {', '.join(sorted(above))}"


def test_sessions_know_no_concrete_backend_and_no_adapter() -> None:
    for path in (SOURCE / "session").glob("*.py"):
        assert not imported(path) & {"wire", "transport", "backends", "adapters"}, path.name


def test_faces_reach_sessions_and_adapters_only_where_a_host_is_put_together() -> None:
    for path in (SOURCE / "faces").rglob("*.py"):
        if path.name != "host.py":
            assert not imported(path) & {"session", "adapters", "backends", "transport", "wire"}, path.name


def test_nothing_below_the_adapters_names_a_language() -> None:
    for layer in ("model", "wire", "transport", "backends", "session"):
        for path in (SOURCE / layer).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", "") or ""]
                for name in names:
                    assert isinstance(name, str)
                    assert name.lower() not in LANGUAGES, f"{path.name}: {name}"


def test_the_target_side_imports_nothing_of_ours() -> None:
    for path in (SOURCE / "_target").glob("*.py"):
        assert "stillframe" not in {part for name in imported(path) for part in name}, path.name
        assert "import stillframe" not in path.read_text(), path.name
