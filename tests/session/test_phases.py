"""The table of phases, and the events that may come at any time."""

from __future__ import annotations

import itertools

from stillframe.session.phases import ENDED, TRANSITIONS, Phase, follows


def test_every_phase_has_its_row_and_only_ends_have_an_empty_one() -> None:
    assert set(TRANSITIONS) == set(Phase)
    assert {phase for phase, after in TRANSITIONS.items() if not after} == set(ENDED)


def test_the_end_can_come_at_any_time_and_nothing_comes_after_it() -> None:
    for phase in set(Phase) - ENDED:
        assert follows(phase, Phase.EXITED)
        assert follows(phase, Phase.LOST)
    for ended, phase in itertools.product(ENDED, Phase):
        assert not follows(ended, phase)


def test_nothing_goes_back_to_the_beginning_and_every_phase_can_be_reached() -> None:
    assert not any(follows(phase, Phase.NEW) for phase in Phase)
    assert not any(follows(phase, Phase.CONFIGURING) for phase in set(Phase) - {Phase.NEW})
    reached = {Phase.NEW}
    while new := {after for phase in reached for after in TRANSITIONS[phase]} - reached:
        reached |= new
    assert reached == set(Phase)
