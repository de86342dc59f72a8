"""A value over its hits as one small SVG file, without anything outside it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..errors import UsageError
from . import files

WIDTH, HEIGHT, EDGE = 800, 240, 48
MOST_POINTS = 2000
_BEGINS = b"<svg "


def svg(points: Sequence[tuple[int, float]], title: str) -> str:
    """A line through (hit, number); of very many points, the least and the most of each share."""
    shown = _thinned(points)
    left, right = shown[0][0], shown[-1][0]
    low, high = min(y for _, y in shown), max(y for _, y in shown)

    def x(hit: int) -> float:
        return EDGE + (hit - left) / max(1, right - left) * (WIDTH - 2 * EDGE)

    def y(height: float) -> float:
        return HEIGHT - EDGE - (height - low) / ((high - low) or 1) * (HEIGHT - 2 * EDGE)

    line = " ".join(f"{x(hit):.1f},{y(height):.1f}" for hit, height in shown)
    dots = "".join(f'<circle cx="{x(h):.1f}" cy="{y(v):.1f}" r="2.5"/>' for h, v in shown) if len(shown) <= 200 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<text x="{EDGE}" y="22" font-size="14">{escape(title)}</text>'
        f'<path d="M{EDGE} {EDGE - 10}V{HEIGHT - EDGE}H{WIDTH - EDGE}" fill="none" stroke="#999"/>'
        f'<text x="{EDGE - 6}" y="{y(high) + 4:.0f}" text-anchor="end">{high:g}</text>'
        f'<text x="{EDGE - 6}" y="{y(low) + 4:.0f}" text-anchor="end">{low:g}</text>'
        f'<text x="{EDGE}" y="{HEIGHT - EDGE + 18}">h{left}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - EDGE + 18}" text-anchor="end">h{right}</text>'
        f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="1.5"/><g fill="#1f6feb">{dots}</g></svg>\n'
    )


def _thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    if len(points) <= MOST_POINTS:
        return list(points)
    found: list[tuple[int, float]] = []
    shares = MOST_POINTS // 2
    for number in range(shares):
        share = points[number * len(points) // shares : (number + 1) * len(points) // shares]
        ends = {min(share, key=lambda each: each[1]), max(share, key=lambda each: each[1])}
        found += sorted(ends)
    return found


def write(path: Path, text: str) -> None:
    """Draw into a file; an earlier drawing there is replaced, and nothing else."""
    real = files.place_for(path)
    if real.exists() and not _is_drawing(real):
        raise UsageError(f"{path} is there already, and is no drawing; name another file")
    files.write(path, [text.encode("utf-8", "backslashreplace")])


def _is_drawing(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGINS)) in (_BEGINS, b"")
    except OSError:
        return False
