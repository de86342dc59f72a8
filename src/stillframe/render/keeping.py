"""What was done with the record, in a line: saved, exported, imported, pruned."""

from __future__ import annotations

from ..model import recorded
from .escape import escape
from .recorded import hits, run_row


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


def saved(result: recorded.Saved) -> str:
    before = f", which was {result.replaced}" if result.replaced and result.replaced != result.run.run else ""
    return f"saved {escape(result.name)}{before}: {run_row(result.run)}"


def exported(result: recorded.Exported) -> str:
    what = f"{', '.join(result.runs)} with {hits(result.hits)} to {escape(result.file)}, {size(result.bytes)}"
    return "\n".join([f"exported {what}", *(f"note: {escape(each)}" for each in result.notes)])


def imported(result: recorded.Imported) -> list[str]:
    head = f"imported {hits(result.hits)} from {escape(result.file)}"
    before = [f"note: its name was that of {result.replaced} before"] if result.replaced else []
    return [head, *(run_row(each) for each in result.runs), *before]


def pruned(result: recorded.Pruned) -> str:
    word, went = ("would remove", "would go") if result.dry_run else ("removed", "went")
    text = f"{word} {result.runs:,} run{'s' * (result.runs != 1)} with {hits(result.hits)}"
    text += f"; the record {went} from {size(result.bytes_before)} to {size(result.bytes_after)}"
    if result.kept_saved:
        text += f"; {result.kept_saved} older stay, since they are saved"
    return text
