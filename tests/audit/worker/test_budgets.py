"""A budget of rows ends a run at the same row, with the same figures, whatever the clock says."""

import io
import sys
from itertools import count

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.methods import ABOUT_GROUPS, METHODS
from fairdesk.audit.plan.inputs import SearchInputs, group_inputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.worker import driving, frames, wire
from fairdesk.audit.worker.server import Guest
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.models.open import open_model
from fairdesk.results.events import Found, Measured, Progress
from tests.audit import making

#: Who is asked about is drawn at random by these, in parts that are cut by the clock.
DRAWING = (
    *("quick", "estimate", "themis", "repeats", "enumerate"),
    *("themis-groups", "testsgd", "groups", "fairfictplay"),
)
#: Rows that one person may cost in these: all in the similar set, and those sent anew.
MOST_EACH = 20
CLOCKS = {"stands still": 0.0, "ticks": 0.003, "races": 100.0}


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """A model of hiring over a domain too large to be gone through in a budget."""
    folder = tmp_path_factory.mktemp("audit")
    table = read_table(making.write_people(folder / "people.csv", rows=3_000))
    model = making.write_model(folder / "model.pkl")
    opened = open_model(model, trusted=True)
    spec = making.spec_of(table, opened.card)
    wide = [
        each if each.name == "sex" else msgspec.structs.replace(each, high=each.high + 2_000)
        for each in spec.domain.attributes
    ]
    return str(model), table, msgspec.structs.replace(spec, domain=Domain(tuple(wide)))


def ran(audit, run, step, monkeypatch):
    """Run in a guest whose clocks go on by so much at each look; what it found and told."""
    model, table, spec = audit
    ticks = count(1.0, step) if step else None
    for name, module in list(sys.modules.items()):
        if name.startswith("fairdesk.") and module is not driving:
            for clock in ("perf_counter", "monotonic"):
                if hasattr(module, clock):
                    monkeypatch.setattr(module, clock, lambda: next(ticks) if ticks else 1.0)
    if METHODS[run.method].answers in ABOUT_GROUPS:
        inputs = group_inputs(spec, table)
    else:
        inputs = SearchInputs(spec.domain.people(table))
    sent = io.BytesIO()
    guest = Guest(sent)
    for message in (
        wire.OpenModel(model, trusted=True),
        wire.Search(spec.mapping, spec.domain, run, inputs),
    ):
        guest.answer(frames.Frame(1, message))
    sent.seek(0)
    messages = []
    while (frame := wire.read_from_guest(sent)) is not None:
        messages.append(frame.message)
    assert isinstance(messages[-1], wire.SearchEnded), messages[-1]
    people = [each.rows for each in messages if isinstance(each, Found)]
    last = [each for each in messages if isinstance(each, Progress)][-1]
    figures = [each.figures for each in messages if isinstance(each, Measured)][-1:]
    return {
        "ending": messages[-1].ending,
        "queries": last.queries,
        "tried": last.tried,
        "found": np.concatenate(people).tolist() if people else [],
        "figures": timeless(msgspec.to_builtins(figures)),
    }


def timeless(told):
    if isinstance(told, dict):
        return {name: timeless(each) for name, each in told.items() if name != "seconds"}
    return [timeless(each) for each in told] if isinstance(told, list | tuple) else told


@pytest.mark.parametrize("method", DRAWING)
def test_a_budget_of_rows_goes_by_rows_and_not_by_the_clock(method, audit, monkeypatch):
    rows = 2_501
    run = RunSpec(method, seed=5, budget=Budget(queries=rows))
    outcomes = {}
    for name, step in CLOCKS.items():
        with monkeypatch.context() as clock:
            outcomes[name] = ran(audit, run, step, clock)
    first, *others = outcomes.values()
    assert others == [first, first]
    if first["ending"] == "budget":
        before = ran(
            audit, msgspec.structs.replace(run, budget=Budget(queries=1)), 0.0, monkeypatch
        )
        assert rows <= first["queries"] - before["queries"] + MOST_EACH < rows + 2 * MOST_EACH
