"""A whole audit run again: alike where it was, told where it was changed or came out otherwise."""

import re
import sys

import msgspec
import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify import reproducing
from fairdesk.audit.verify.figures import differences
from fairdesk.audit.verify.files import SAME_MODEL
from fairdesk.audit.verify.reproducing import ReproduceRequest, reproduce
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import SpecError
from fairdesk.results.individual import Share
from tests import phrases
from tests.audit import audited, fake_guest

pytestmark = pytest.mark.usefixtures("shared_guests")

GUEST = (sys.executable, fake_guest.__file__)
#: After the runs of `audited.make`: one that goes on with the first, one that its rows end, and a
#: repair, which takes the flagged pair first.
MORE = (
    RunSpec("uniform", {"samples": 300}, continues=1),
    RunSpec("uniform", {"samples": 5_000}, budget=Budget(queries=150)),
    RunSpec("repair-aequitas", {"batch": 3}, pairs_of=(1,)),
    RunSpec("themis", {"most": 2_000}),
    RunSpec("estimate", {"trials": 2, "people": 200}),
)


@pytest.fixture(scope="module")
def worker():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "steps", fake_guest.STEPS)
        patch.setitem(METHODS, "proves", fake_guest.PROVES)
        worker = Worker(command=GUEST)
        yield worker
        worker.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory, worker):
    """Make the audit once; gives its folder, which nobody changes."""
    folder = tmp_path_factory.mktemp("made") / "audit"
    folder.mkdir()
    with Store.open(audited.make(folder, worker)) as store:
        for each in MORE:
            *_, last = run(worker, store, each)
            assert last.state == "done", last.message
    return folder


@pytest.fixture
def path(made, tmp_path):
    return audited.copied(made, tmp_path / "copy")


def checks(worker, path, **changed):
    """Run an audit again with the data and the model beside it; gives the checks by name."""
    given = {
        "audit": path,
        "data": path.parent / "people.csv",
        "model": path.parent / "model.txt",
    } | changed
    with Store.read(path) as store:
        found = list(reproduce(worker, store, ReproduceRequest(**given), lambda _state: None))
    return {each.name: each for each in found}


def failed(found):
    return {name for name, each in found.items() if each.failed}


def test_an_audit_comes_out_alike(worker, made, tmp_path):
    before = (made / "audit.fairdesk").read_bytes()
    found = checks(worker, made / "audit.fairdesk", out=tmp_path / "again")
    assert failed(found) == set()
    assert (made / "audit.fairdesk").read_bytes() == before
    with (
        Store.read(made / "audit.fairdesk") as then,
        Store.read(tmp_path / "again" / "audit.fairdesk") as now,
    ):
        assert [each.spec.method for each in now.runs()] == [
            each.spec.method for each in then.runs()
        ]
        for one, other in zip(then.runs(), now.runs(), strict=True):
            assert one.found == other.found
            name = f"Run {one.id} “{METHODS[one.spec.method].title}”"
            if one.found:
                assert found[f"{name}: {phrases.SAME_FINDINGS}"].tried == one.found
            assert (f"{name}: the same figures" in found) is bool(one.figures)
        assert then.runs()[0].found > 50
    assert found["Run 4 “Subgroup discovery (TestSGD)”: the same figures"].tried >= 3
    assert found["Run 5 “Proves”: the proof certificates do not contradict each other"].unknown == 0
    repair = f"Run 8 “{phrases.RETRAIN_WITH_PAIRS}”: the same augmentation rows and model files"
    assert found[repair].tried >= 2


def test_some_runs_only_with_what_they_go_on_with(worker, made):
    found = checks(worker, made / "audit.fairdesk", runs=(6,))
    assert failed(found) == set()
    assert {name.split(" ")[1] for name in found if name.startswith("Run ")} == {"1", "6"}


def test_a_run_that_is_not_there(worker, made):
    with pytest.raises(SpecError, match="no run 77"):
        checks(worker, made / "audit.fairdesk", runs=(77,))


def test_other_data_or_another_model_are_not_run_at_all(worker, path):
    data = path.parent / "people.csv"
    text = data.read_text()
    data.write_text(text.replace("female", "male", 1))
    found = checks(worker, path)
    assert len(failed(found)) == 2
    assert not any(name.startswith("Run ") for name in found)
    data.write_text(text)
    fake_guest.write_source(path.parent / "model.txt", opening="# another one")
    found = checks(worker, path)
    assert failed(found) == {SAME_MODEL}


@pytest.mark.parametrize(
    ("sql", "name", "words"),
    [
        (
            "UPDATE finding SET row_score = row_score + 0.01 WHERE run = 1 AND id = 12",
            f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}",
            "From finding 12 on the model’s outputs for the same pairs differ",
        ),
        (
            "DELETE FROM finding WHERE run = 1 AND id = 12",
            f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}",
            "1 only now",
        ),
        (
            "UPDATE finding SET x2 = x2 + 20 WHERE run = 1 AND id = 12",
            f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}",
            "1 only then, and 1 only now",
        ),
        (
            "UPDATE run SET figures = replace(figures, '\"hits\":', '\"hits\":1') WHERE id = 2",
            "Run 2 “Exhaustive enumeration”: the same figures",
            "Share",
        ),
        (
            "UPDATE run SET figures = replace(figures, '\"rate\":0.', '\"rate\":0.1') WHERE id = 3",
            "Run 3 “Group metrics”: the same figures",
            "rate",
        ),
    ],
)
def test_what_was_changed_since_comes_out_otherwise(worker, path, sql, name, words):
    audited.change(path, sql)
    found = checks(worker, path, runs=(int(name.split()[1]),))
    assert failed(found) == {name}
    assert words in " ".join(found[name].remarks)


@pytest.mark.parametrize(
    "ended",
    [
        (
            "spec = replace(spec, '\"seconds\":null', '\"seconds\":9.0'),"
            f" message = 'The run {phrases.AT_ITS_LIMIT} 9 seconds.'"
        ),
        "state = 'stopped'",
    ],
)
def test_the_longer_of_two_begins_with_the_shorter_where_time_ended_one(worker, path, ended):
    """A run that its time, or somebody, has ended is run by its rows, and may come farther."""
    audited.change(path, f"UPDATE run SET {ended} WHERE id = 1")
    audited.change(path, "DELETE FROM finding WHERE run = 1 AND id > 30")
    name = f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}"
    found = checks(worker, path, runs=(1,))
    assert failed(found) == set()
    assert found[name].tried - found[name].unknown == 30
    assert found[name].unknown > 20
    assert "the longer begins with the shorter" in " ".join(found[name].remarks)
    # without such an end it would be a difference
    audited.change(path, "UPDATE run SET message = '', state = 'done' WHERE id = 1")
    assert failed(checks(worker, path, runs=(1,))) == {name}


def test_a_run_that_ends_by_its_rows_finds_the_same_number_of_pairs(worker, path):
    """A limit of rows ends at the same instance each time: nothing excuses another number."""
    audited.change(
        path, "DELETE FROM finding WHERE id = (SELECT MAX(id) FROM finding WHERE run = 7)"
    )
    found = checks(worker, path, runs=(7,))
    name = f"Run 7 “{METHODS['uniform'].title}”: {phrases.SAME_FINDINGS}"
    assert failed(found) == {name}
    assert found[name].failed == 1


def test_a_run_that_ends_by_its_rows_has_the_same_figures(worker, path):
    """Its figures cover the same instances, so that another value is a mismatch."""
    shares = "spec = replace(spec, '\"queries\":null', '\"queries\":9999999'), message = 'Ended.'"
    audited.change(path, f"UPDATE run SET {shares} WHERE id = 2")
    audited.change(
        path, "UPDATE run SET figures = replace(figures, '\"hits\":', '\"hits\":1') WHERE id = 2"
    )
    found = checks(worker, path, runs=(2,))
    assert failed(found) == {"Run 2 “Exhaustive enumeration”: the same figures"}


@pytest.fixture(scope="module")
def divided(tmp_path_factory, worker):
    """Make an audit with a search in two parts that its time ended; gives its folder."""
    folder = tmp_path_factory.mktemp("divided") / "audit"
    folder.mkdir()
    search = RunSpec("uniform", {"samples": 400}, shards=2)
    audited.make(folder, worker, (search,))
    ended = f"The run {phrases.AT_ITS_LIMIT} 9 seconds."
    audited.change(folder / "audit.fairdesk", f"UPDATE run SET message = '{ended}'")
    limited = "UPDATE run SET spec = replace(spec, '\"seconds\":null', '\"seconds\":9.0')"
    audited.change(folder / "audit.fairdesk", limited)
    return folder


@pytest.mark.parametrize(
    ("sql", "failed", "unknown"),
    [
        # the end of the first part
        ("DELETE FROM finding WHERE id IN (5, 6)", 0, 2),
        ("UPDATE finding SET row_score = row_score + 0.01 WHERE id = 3", 1, 0),
    ],
)
def test_parts_that_time_ended_are_compared_by_the_pairs_found_both_times(
    worker, divided, tmp_path, sql, failed, unknown
):
    path = audited.copied(divided, tmp_path / "copy")
    audited.change(path, sql)
    check = checks(worker, path)[f"Run 1 “{METHODS['uniform'].title}”: {phrases.SAME_FINDINGS}"]
    assert (check.failed, check.unknown) == (failed, unknown)
    assert ("each of its parts" in " ".join(check.remarks)) is bool(unknown)


@pytest.fixture(scope="module")
def certified(tmp_path_factory, worker):
    """Make an audit with a certification; gives its folder, which nobody changes."""
    folder = tmp_path_factory.mktemp("certified") / "audit"
    folder.mkdir()
    audited.make(folder, worker, (RunSpec("certify"),))
    return folder


@pytest.mark.parametrize(
    ("sql", "unknown"),
    [
        ("DELETE FROM finding WHERE id = 12", 1),
        ("UPDATE finding SET x2 = x2 + 20 WHERE id = 12", 2),
        ("UPDATE finding SET id = id + 1000 WHERE id = 12", 0),
    ],
)
def test_which_pairs_a_certification_finds_is_for_time_to_say(
    worker, certified, tmp_path, sql, unknown
):
    path = audited.copied(certified, tmp_path / "copy")
    audited.change(path, sql)
    check = checks(worker, path)[f"Run 1 “Certification”: {phrases.SAME_FINDINGS}"]
    assert (check.failed, check.unknown) == (0, unknown)
    assert check.tried > 100
    assert ("computing time" in " ".join(check.remarks)) is bool(unknown)


@pytest.mark.parametrize(
    ("sql", "failed"),
    [
        # one that is in another place now, and whose score is another
        ("UPDATE finding SET id = id + 1000, row_score = row_score + 0.01 WHERE id = 12", 1),
        ("UPDATE finding SET row_score = row_score + 0.01 WHERE id = 12", 1),
        ("UPDATE finding SET row_class = 1 - row_class WHERE id IN (12, 15)", 2),
        # what is found in the same order must be found to the end
        ("DELETE FROM finding WHERE id > 100", 44),
    ],
)
def test_what_a_certification_finds_both_times_must_agree(worker, certified, tmp_path, sql, failed):
    path = audited.copied(certified, tmp_path / "copy")
    audited.change(path, sql)
    check = checks(worker, path)[f"Run 1 “Certification”: {phrases.SAME_FINDINGS}"]
    assert (check.failed, check.unknown) == (failed, 0)


def test_other_versions_are_told_with_what_differs(worker, path, monkeypatch):
    audited.change(path, "UPDATE finding SET row_score = 0.99 WHERE run = 1 AND id = 12")
    here = reproducing.versions()
    monkeypatch.setattr(reproducing, "versions", lambda: here | {"numpy": "0.1"})
    found = checks(worker, path, runs=(1,))
    told = " ".join(found[f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}"].remarks)
    assert f"numpy {here['numpy']} then, 0.1 now" in told


def test_a_run_that_failed_is_told_and_not_repeated(worker, path):
    audited.change(path, "UPDATE run SET state = 'failed', message = 'It broke.' WHERE id = 3")
    (only,) = (each for name, each in checks(worker, path, runs=(2, 3)).items() if "Run 3" in name)
    assert (only.failed, only.unknown) == (0, 1)
    assert "It broke." in only.remarks[0]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("UPDATE run SET state = 'failed', message = 'It broke.' WHERE id = 3", "Run 3: .* broke"),
        ("DELETE FROM run", ""),
    ],
)
def test_an_audit_of_which_nothing_can_be_repeated_is_refused(worker, path, sql, why):
    audited.change(path, sql)
    with pytest.raises(SpecError, match=phrases.NOTHING_TO_REPEAT) as refused:
        checks(worker, path, runs=(3,) if why else ())
    assert re.search(why, str(refused.value))


def test_figures_are_compared_field_by_field_without_times(made):
    with Store.read(made / "audit.fairdesk") as store:
        figures = [each.figures for each in store.runs()]
    share = next(each for each in figures[1] if isinstance(each, Share))
    assert differences((share,), (share,)) == []
    (said,) = differences((share,), (msgspec.structs.replace(share, hits=share.hits + 1),))
    assert said == f"Figure 1 (Share), hits: {share.hits} then, {share.hits + 1} now."
    # the last bits of a float may be another machine's
    assert not differences((share,), (msgspec.structs.replace(share, low=share.low + 1e-12),))
    assert differences((share,), (msgspec.structs.replace(share, low=share.low + 1e-3),))
    mined = figures[3][0]
    assert not differences((mined,), (msgspec.structs.replace(mined, seconds=99.0),))
    assert differences((share,), (mined,)) == ["Figure 1 was Share, and is RuleSearchSummary."]
    assert differences((share, share), (share,)) == ["The number of figures was 2 and is now 1."]


def test_stopping_ends_it(worker, made):
    def stop(state):
        worker.stop()

    def stopped():
        asked = ReproduceRequest(
            made / "audit.fairdesk", made / "people.csv", made / "model.txt", runs=(1,)
        )
        with Store.read(made / "audit.fairdesk") as store:
            try:
                list(reproduce(worker, store, asked, stop))
            except KeyboardInterrupt:
                return True
        return False

    # the run is so short that a stop may come when it is over: then it is no interruption
    assert any(stopped() for _ in range(20))
