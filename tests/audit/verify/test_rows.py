"""Figures that cover all rows are counted again: what was rewritten in them shows by the model."""

import sys

import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import ESTIMATES, VerifyRequest, recheck
from fairdesk.audit.verify.figures import GROUPS, NEIGHBOURS, SHARES, of_all_rows
from fairdesk.audit.verify.record import ANCHOR
from fairdesk.audit.worker.client import Worker
from fairdesk.results.individual import AuditStudy, ComparedRows, Share
from tests.audit import audited, fake_guest
from tests.audit.verify.test_verifying import anchored, failed

pytestmark = pytest.mark.usefixtures("shared_guests")

RUNS = (
    RunSpec("groups"),
    # so few draws that the shares of the domain are no full counts
    RunSpec("estimate", {"trials": 2, "people": 50}),
    RunSpec("neighbourhoods", {"keep": 5, "seconds": 0}),
)


@pytest.fixture(scope="module")
def worker():
    worker = Worker(command=(sys.executable, fake_guest.__file__))
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory, worker):
    """Make an audit of two protected attributes, once; gives its folder."""
    folder = tmp_path_factory.mktemp("made") / "audit"
    folder.mkdir()
    audited.make(folder, worker, RUNS, ("sex", "income"))
    return folder


@pytest.fixture
def path(made, tmp_path):
    return audited.copied(made, tmp_path / "copy")


def checks(worker, path, anchor=None, *, model=True, seconds=60.0):
    """Check an audit with its data, and with its model by default."""
    asked = VerifyRequest(
        path,
        path.parent / "people.csv",
        path.parent / "model.txt" if model else None,
        seconds=seconds,
    )
    with Store.read(path) as store:
        found = recheck(worker, store, asked, lambda _said: None, anchor)
        return {each.name: each for each in found}


def test_all_figures_of_the_rows_are_counted_again(worker, path):
    with Store.read(path) as store:
        _, run, _ = store.runs()
    covered = of_all_rows(run)
    assert {type(each) for each in covered} >= {Share, AuditStudy}
    assert {each.whom for each in run.figures if isinstance(each, Share)} > {"data"}
    found = checks(worker, path)
    assert failed(found) == set()
    assert (found[SHARES].tried, found[SHARES].unknown) == (len(covered), 0)
    assert (found[NEIGHBOURS].tried, found[NEIGHBOURS].unknown) == (1, 0)
    # the others are estimates, which only a whole run repeats
    assert found[ESTIMATES].unknown == 1


def test_without_the_model_or_time_it_is_said_what_was_not_counted(worker, path):
    found = checks(worker, path, model=False)
    for name in (GROUPS, SHARES, NEIGHBOURS):
        assert (found[name].tried, found[name].unknown) == (0, 1)
    found = checks(worker, path, seconds=0.0)
    assert (found[NEIGHBOURS].failed, found[NEIGHBOURS].unknown) == (0, 1)
    assert found[SHARES].unknown == 0


def of_data(figure):
    return figure["type"] == "Share" and figure["instances"] == "data"


def fewer(figure, *, alone):
    """Say of fewer rows that their decision changes, in every number that tells it."""
    if not of_data(figure) or (len(figure["attributes"]) == 1) is not alone:
        return False
    share = 1 / figure["n_samples"]
    figure |= {"hits": 1, "gains": 1, "losses": 0, "course": [], "trials": [], "by_value": []}
    figure |= dict.fromkeys(("estimate", "low", "high", "anytime_low", "anytime_high"), share)
    return True


def turned_round(figure):
    """Say that those who lose by a change gain by it."""
    if not of_data(figure) or figure["gains"] == figure["losses"]:
        return False
    figure["gains"], figure["losses"] = figure["losses"], figure["gains"]
    return True


def studied(figure):
    if figure["type"] != "AuditStudy":
        return False
    for each in figure["values"]:
        each["gains"] = each["losses"] = 0
        each["favourable"] = figure["actual"]
    return True


def kinder(figure):
    if figure["type"] != "NeighbourhoodCounts":
        return False
    figure["certified"] += figure["falsified"] + figure["undecided"]
    figure["falsified"] = figure["flipped"] = figure["undecided"] = 0
    return True


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda figure: fewer(figure, alone=False), SHARES),
        (lambda figure: fewer(figure, alone=True), SHARES),
        (turned_round, SHARES),
        (studied, SHARES),
        (kinder, NEIGHBOURS),
    ],
)
@pytest.mark.parametrize("manifest", [False, True])
def test_a_rewritten_figure_of_the_rows(worker, path, change, name, manifest):
    """Log and chain agree with it: the model does not, and a manifest shows it, too."""
    anchor = anchored(path) if manifest else None
    audited.edited(path, change)
    audited.rewritten(path)
    assert failed(checks(worker, path, anchor)) == {name, *([ANCHOR] if manifest else [])}


def test_a_part_of_the_rows_is_a_sample_and_not_a_count(worker, tmp_path):
    folder = tmp_path / "few"
    folder.mkdir()
    path = audited.make(folder, worker, (RunSpec("estimate", {"trials": 1, "people": 20}),))
    with Store.read(path) as store:
        (run,) = store.runs()
    assert any(isinstance(each, Share | ComparedRows | AuditStudy) for each in run.figures)
    assert of_all_rows(run) == []
    found = checks(worker, path)
    assert SHARES not in found
    assert found[ESTIMATES].unknown == 1


def test_neighbours_that_time_left_undecided_are_no_mismatch(worker, path):
    def slower(figure):
        if figure["type"] != "NeighbourhoodCounts":
            return False
        figure["undecided"] += figure["certified"]
        figure["certified"] = 0
        figure["margin"] += 1e-6  # a maximum over the boxes that there was time for
        return True

    audited.edited(path, slower)
    audited.rewritten(path)
    found = checks(worker, path)
    assert failed(found) == set()
    assert found[NEIGHBOURS].unknown > 0
    # but what is falsified now cannot have been certified then
    audited.edited(path, kinder)
    audited.rewritten(path)
    assert failed(checks(worker, path)) == {NEIGHBOURS}
