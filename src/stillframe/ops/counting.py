"""Probes that count: every hit of the run, what the expressions were, whether the claims held, as the program recorded it."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ..adapters.recorders import Recorder
from ..model.outcomes import Spot, Stop
from ..model.places import BreakSpec
from ..model.plans import Caller, Plan
from ..model.recorder import (
    AnySaid,
    Ask,
    Beside,
    Defined,
    Distinct,
    Evidence,
    Extent,
    Failed,
    Found,
    Missing,
    Note,
    ProbeAsk,
    Sample,
    Tally,
)  # fmt: skip
from ..model.recording import PROBED
from ..model.values import Frame, Value
from ..model.views import Claim, Gathered, ProbedPlace, ProbeReport
from ..registry import From
from ..session.breakpoints import absolute
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from ..settings import file_like
from .names import near
from .recorded_run import RecordedRun, doubts, recorded_run, where

SAMPLES = 500
"""Hits of one place that go to the record."""
SHOWN = 8
"""Distinct values of one expression that are told."""
_ELLIPSIS = "…"
_WHOLE = {"str", "bytes", "string"}
"""Kinds that are told apart by themselves, however their text is cut."""
_UNHEARD = "not recorded: whether it was reached cannot be told (see the note)"
_HEARD = "counted as far as the recorder heard of the program (see the note)"
_KILLED = "at least: the program was killed, and up to {} hits just before that are not counted"


class Question(msgspec.Struct, frozen=True):
    """What a probe is asked: places, expressions to evaluate there, claims to check there."""

    places: tuple[BreakSpec, ...]
    evals: tuple[str, ...]
    expects: tuple[str, ...]


class PlaceTold(msgspec.Struct):
    """What all processes told of one place."""

    found: list[Found] = msgspec.field(default_factory=list[Found])
    missing: list[str] = msgspec.field(default_factory=list[str])
    tallies: list[Tally] = msgspec.field(default_factory=list[Tally])
    extents: list[Extent] = msgspec.field(default_factory=list[Extent])
    distinct: dict[int, dict[tuple[str, str], None]] = msgspec.field(
        default_factory=dict[int, dict[tuple[str, str], None]]
    )
    most: Counter[int] = msgspec.field(default_factory=Counter[int])
    """The distinct values that the process with most of them told; texts of long ones may be alike where they are cut."""
    full: set[int] = msgspec.field(default_factory=set[int])
    looked: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    failed: dict[int, Failed] = msgspec.field(default_factory=dict[int, Failed])
    samples: list[Sample] = msgspec.field(default_factory=list[Sample])
    evidence: list[Evidence] = msgspec.field(default_factory=list[Evidence])

    @property
    def hits(self) -> int:
        return sum(each.hits for each in self.tallies)

    @property
    def uncounted(self) -> int:
        """Hits that may have come beyond these, at the most."""
        return sum(each.uncounted for each in self.tallies)


class Told(msgspec.Struct):
    places: dict[int, PlaceTold] = msgspec.field(default_factory=dict[int, PlaceTold])
    notes: list[str] = msgspec.field(default_factory=list[str])
    names: list[str] = msgspec.field(default_factory=list[str])
    beside: list[str] = msgspec.field(default_factory=list[str])
    """Other programs that were started."""
    lost: bool = False
    """The recorder of some process lost its place, failed before that ended, or did not come along to one that it started."""

    def at(self, place: int) -> PlaceTold:
        return self.places.setdefault(place, PlaceTold())

    def read(self, said: Iterable[AnySaid]) -> None:
        """Take in one process's recording; of what may be told again, the last counts."""
        tallies: dict[int, Tally] = {}
        extents: dict[tuple[int, int], Extent] = {}
        values = Counter[tuple[int, int]]()
        for each in said:
            match each:
                case Tally():
                    tallies[each.place] = each
                case Extent():
                    extents[each.place, each.expression] = each
                case Note(text=text, lost=lost):
                    self.notes.append(text)
                    self.lost = self.lost or lost
                case Beside(command=command):
                    self.beside.append(command)
                case Defined(function=name):
                    self.names.append(name)
                case Distinct(more=False):
                    values[each.place, each.expression] += 1
                    self._of_place(self.at(each.place), each)
                case Found() | Missing() | Distinct() | Failed() | Sample() | Evidence():
                    self._of_place(self.at(each.place), each)
                case _:
                    pass
        for tally in tallies.values():
            self.at(tally.place).tallies.append(tally)
        for extent in extents.values():
            self.at(extent.place).extents.append(extent)
        for (place, expression), number in values.items():
            self.at(place).most[expression] = max(self.at(place).most[expression], number)

    def _of_place(self, place: PlaceTold, said: Found | Missing | Distinct | Failed | Sample | Evidence) -> None:
        match said:
            case Found():
                place.found.append(said)
            case Missing(reason=reason):
                place.missing.append(reason)
            case Distinct(more=True, value=""):
                place.full.add(said.expression)
            case Distinct(more=True):
                place.looked[said.expression] = min(place.looked.get(said.expression, sys.maxsize), int(said.value))
            case Distinct():
                place.distinct.setdefault(said.expression, {})[said.type, said.value] = None
            case Failed():
                place.failed.setdefault(said.which, said)
            case Sample():
                place.samples.append(said)
            case Evidence():
                place.evidence.append(said)


async def counted(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    recorder: Recorder,
    question: Question,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
) -> From[ProbeReport]:
    """Run it once, without a stop, and tell what every place came to."""
    asks = tuple(
        ProbeAsk(
            place=number,
            where=where(spec.place, caller.cwd),
            condition=spec.condition,
            evals=question.evals,
            expects=question.expects,
            samples=SAMPLES,
        )
        for number, spec in enumerate(question.places)
    )
    ask = Ask(probes=asks, all_code=not plan.just_my_code)
    async with recorded_run(
        sessions, caller, plan, recorder, ask, verb="probe", readiness=readiness, do=do, timeout=timeout
    ) as run:
        told = Told()
        for each in run.recordings:
            await asyncio.to_thread(told.read, each.said)
        places = tuple(_place(run, number, spec, question, told) for number, spec in enumerate(question.places))
        await _kept(run.session, question, told)
        behind = () if told.lost or all(each.count for each in places) else doubts(told.beside, run.end)
    report = ProbeReport(
        command=plan.command,
        places=places,
        end=run.end,
        how=run.how,
        notes=tuple(dict.fromkeys([*run.notes, *told.notes, *behind])),
    )
    return From(run.session, report)


def _place(run: RecordedRun, number: int, spec: BreakSpec, question: Question, told: Told) -> ProbedPlace:
    location = str(spec.place) + (f" if {spec.condition}" if spec.condition else "")
    here = told.at(number)
    spot = here.found[0] if here.found else None
    spots = [Spot(file=run.session.show(each.file), line=each.line, symbol=each.function) for each in here.found]
    actual, also = (spots[0], tuple(dict.fromkeys(spots[1:]))) if spots else (None, ())
    trouble = here.failed.get(-1)
    if not here.hits and told.lost and not trouble:
        return ProbedPlace(location=location, state="unbound", actual=actual, also=also, message=_UNHEARD)
    if not here.hits:
        message = f"its condition failed: {trouble.error}" if trouble else None
        if spot is None:
            message = _unbound(run, spec, here, told)
        return ProbedPlace(
            location=location,
            state="not_reached" if spot else "unbound",
            actual=actual,
            also=also,
            message=message,
        )
    first = next((each for each in here.evidence if each.hit == 1), here.evidence[0] if here.evidence else None)
    return ProbedPlace(
        location=location,
        state="reached",
        count=here.hits,
        hits=(_stop(run.session, first),) if first else (),
        gathered=tuple(_gathered(here, index, text) for index, text in enumerate(question.evals)),
        claims=tuple(_claim(run.session, here, index, question) for index in range(len(question.expects))),
        actual=actual,
        also=also,
        at_least=bool(here.uncounted),
        message=_reserve(here, told, trouble),
    )


def _reserve(here: PlaceTold, told: Told, trouble: Failed | None) -> str | None:
    """What the numbers of a place are to be taken with."""
    if trouble:
        return f"its condition failed at first: {trouble.error}"
    if told.lost:
        return _HEARD
    return _KILLED.format(here.uncounted) if here.uncounted else None


def _unbound(run: RecordedRun, spec: BreakSpec, here: PlaceTold, told: Told) -> str:
    if not run.recordings:
        return "; ".join(run.notes) or "nothing was recorded"
    asked = where(spec.place, run.session.origin.base)
    lines = run.session.sources.lines(asked.file) if asked.file else []
    if asked.line is not None and lines and asked.line > len(lines):
        return f"{run.session.show(asked.file)} has {len(lines):,} lines"
    if here.missing:
        return here.missing[0]
    if asked.function:
        names = tuple(dict.fromkeys(told.names))
        close = near(asked.function, names)
        return "no such function in your code that was loaded and recorded" + (
            f"; nearest: {', '.join(close)}" if close else ""
        )
    if (
        asked.file
        and not os.path.exists(asked.file)
        and (meant := file_like(Path(asked.file), Path(run.session.origin.base)))
    ):
        return f"no such file; there is {meant}"
    return f"{run.session.show(asked.file)} was never loaded in a process that was recorded"


def _gathered(here: PlaceTold, index: int, expression: str) -> Gathered:
    extents = [each for each in here.extents if each.expression == index]
    least = [each.least.strip() for each in extents if each.least.strip()]
    most = [each.most.strip() for each in extents if each.most.strip()]
    seen = list(here.distinct.get(index, {}))
    failed = here.failed.get(index)
    return Gathered(
        expression=expression,
        distinct=max(len(seen), here.most[index]),
        more=index in here.full,
        looked=here.looked.get(index),
        cut=any(_ELLIPSIS in text and kind not in _WHOLE for kind, text in seen),
        least=min(least, key=_number) if least else None,
        most=max(most, key=_number) if most else None,
        others=sum(each.others for each in extents),
        types=tuple(dict.fromkeys(kind for kind, text in seen if not _is_number(kind, text))),
        values=tuple(text for _, text in seen[:SHOWN]),
        error=failed.error if failed else None,
        error_hit=failed.hit if failed else None,
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # a bigint of Node's, or something that is no number after all
        return float(text.rstrip("n")) if text.rstrip("n").lstrip("-").isdigit() else 0.0


def _is_number(kind: str, text: str) -> bool:
    return kind in ("int", "float", "number", "bigint") and text not in ("NaN",)


def _claim(session: Session, here: PlaceTold, index: int, question: Question) -> Claim:
    tallies = [each.claims[index] for each in here.tallies if index < len(each.claims)]
    violated, errors = sum(each[0] for each in tallies), sum(each[1] for each in tallies)
    failed = here.failed.get(len(question.evals) + index)
    shown = [each for each in here.evidence if each.claim == index]
    counter = next((each for each in shown if not failed or each.hit != failed.hit), None) if violated else None
    counter = counter or (shown[0] if shown else None)
    return Claim(
        expression=question.expects[index],
        held=here.hits - violated - errors,
        violated=violated,
        errors=errors,
        counter=_stop(session, counter) if counter else None,
        error=failed.error if failed else None,
        error_hit=failed.hit if failed else None,
    )


def _stop(session: Session, evidence: Evidence) -> Stop:
    """A hit in the shape of a stop, which is what everything that was seen is told and kept in."""
    frames = tuple(Frame(function=name, file=session.show(file), line=line) for name, file, line in evidence.stack)
    inner = evidence.stack[0] if evidence.stack else None
    return Stop(
        reason=PROBED,
        thread=evidence.thread,
        frame=frames[0] if frames else None,
        source=session.sources.around(inner[1], inner[2]) if inner else (),
        stack=frames,
        stack_total=len(frames),
        locals=tuple(Value(name=name, type=kind, value=text) for name, kind, text in evidence.locals),
        locals_total=len(evidence.locals),
        hit=evidence.hit,
    )


# The record


async def _kept(session: Session, question: Question, told: Told) -> None:
    """Samples go to the record as the hits of other probes do: `hits` and `hit-trend` are asked about them all the same."""
    stops: list[Stop] = []
    for place in told.places.values():
        if not place.found or not place.samples:
            continue
        kept = _thinned(place.samples)
        made = [_sampled(session, _found_as(place, each.function), each, question) for each in kept]
        if len(kept) < place.hits:  # whoever asks for them later is told, too
            note = f"{len(kept):,} of {place.hits:,} hits are in the record, evenly over the run"
            made[-1] = msgspec.structs.replace(made[-1], notes=(note,))
        stops += made
    await asyncio.gather(*(session.tape.stop(each, _lines(session, each), many=True) for each in stops))


def _lines(session: Session, stop: Stop) -> list[str]:
    file = stop.frame.file if stop.frame else None
    return session.sources.lines(absolute(file, session.origin.base)) if file else []


def _found_as(place: PlaceTold, function: str) -> Found:
    """Of all code that was meant, that of this name: a function's name may be that of several."""
    return next((each for each in place.found if each.function == function), place.found[0])


def _sampled(session: Session, spot: Found, sample: Sample, question: Question) -> Stop:
    frame = Frame(function=sample.function or spot.function, file=session.show(spot.file), line=spot.line)
    values = tuple(
        Value(name=expression, type="" if kind == "!" else kind, value=text, error=kind == "!")
        for expression, (kind, text) in zip(question.evals, sample.values, strict=False)
    )
    return Stop(reason=PROBED, thread=sample.thread, frame=frame, stack=(frame,), locals=values, hit=sample.hit)


def _thinned(samples: Sequence[Sample]) -> Sequence[Sample]:
    """As many as the record takes, evenly over the run: a process tells fewer and fewer of its hits as there are more of them, so
    that those of the beginning lie closer together than those of the end."""
    pairs = list(itertools.pairwise(samples))
    apart = max((later.hit - each.hit for each, later in pairs), default=1)
    kept: list[Sample] = []
    due = 0
    for at, each in enumerate(samples):
        if at and each.hit <= samples[at - 1].hit:  # another process, which counts from 1 again
            due = 0
        if each.hit >= due:
            kept.append(each)
            due = each.hit + apart
    if len(kept) <= SAMPLES:
        return kept
    return [kept[number * len(kept) // SAMPLES] for number in range(SAMPLES)]
