"""The finished audits of the samples: made once, whole or not at all."""

import msgspec
import pytest

from fairdesk import files
from fairdesk.app import finished
from fairdesk.app.standard import PlanKind, StandardPlan
from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError
from fairdesk.samples import samples

SAMPLE = samples()[1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Keep what is made in a folder of the test, and make it quickly."""
    monkeypatch.setattr(files.platformdirs, "user_data_path", lambda *_, **__: tmp_path)
    whole = finished.sample_question

    def quick(sample):
        options = {
            "maft": {"global_num": 20, "local_num": 20},
            "estimate": {"people": 20},
        }
        return msgspec.structs.replace(
            whole(sample), standard=StandardPlan(PlanKind.QUICK, seconds=600.0, options=options)
        )

    monkeypatch.setattr(finished, "sample_question", quick)
    return tmp_path / "samples"


def never():
    return False


def test_every_sample_asks_for_a_full_audit(monkeypatch):
    monkeypatch.undo()
    for sample in samples():
        question = finished.sample_question(sample)
        assert question.standard.kind is PlanKind.FULL
        assert question.protected == sample.protected


def test_a_finished_audit_is_made_with_its_report_and_an_earlier_one_is_kept(folder, shared_guests):
    states = []
    assert not SAMPLE.finished.exists()
    path = finished.finish(SAMPLE, states.append, never)
    assert path == SAMPLE.finished
    assert SAMPLE.finished_report.read_bytes().startswith(b"%PDF")
    with Store.open(path) as store:
        assert store.spec.title == SAMPLE.title
        assert {run.state for run in store.runs()} == {"done"}
    # nothing of the making is left
    assert [each.name for each in folder.iterdir()] == [SAMPLE.key]
    assert states[0].phase
    path.write_bytes(b"of another version")
    finished.finish(SAMPLE, states.append, never)
    earlier = folder / f"{SAMPLE.key}-earlier-1" / path.name
    assert earlier.read_bytes() == b"of another version"
    with Store.open(path) as store:
        assert store.runs()


def test_one_that_is_stopped_leaves_nothing(folder, shared_guests):
    assert finished.finish(SAMPLE, lambda _state: None, lambda: True) is None
    assert list(folder.iterdir()) == []
    assert not SAMPLE.finished.exists()


def test_one_that_fails_says_why_and_leaves_nothing(folder, monkeypatch, shared_guests):
    def fail(*_args):
        raise FairDeskError("Alas, no model.")

    monkeypatch.setattr(finished, "audit", fail)
    with pytest.raises(FairDeskError, match="Alas"):
        finished.finish(SAMPLE, lambda _state: None, never)
    assert list(folder.iterdir()) == []
