"""An audit of a model that is not repeatable: what is off, what goes on, and what is told."""

import json

import msgspec
import pytest

from fairdesk.audit.catalogue.method import QuestionKind, Repeats
from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.reproducing import ReproduceRequest, reproduce
from fairdesk.errors import SpecError
from fairdesk.repeatability import Repeatability
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import Share
from fairdesk.wording import figures
from tests import phrases
from tests.audit import making
from tests.report.reading import text_of

pytestmark = pytest.mark.usefixtures("shared_guests")

NOISE = "X = np.array(X, dtype=float); X[:, 0] += np.random.default_rng().normal(0, 8, len(X))"
BATCH = "X = np.asarray(X, dtype=float); X = X - X.mean(axis=0) + [45, 0.5, 5]"
#: It wavers for one row in twenty, in large batches only: once a run is under way.
RARELY = """
X = np.array(X, dtype=float)
if len(X) > 100:
    X[np.random.default_rng().random(len(X)) < 0.05, 0] *= -1
"""


@pytest.fixture
def opened(tmp_path, worker):
    """Begin an audit of a model with a misbehaviour; its card as it was when it was opened."""
    stores = []

    def make(misbehaviour, *, checked=False):
        path = making.write_model(tmp_path / "model.pkl", misbehaviour)
        table = worker.read_table(making.write_people(tmp_path / "people.csv"))
        card = worker.open_model(path, trusted=True)
        spec = making.spec_of(table, card)
        proof = worker.prove(spec.mapping, table, making.LABEL, making.FAVOURABLE)
        if checked:
            card = msgspec.structs.replace(card, repeatability=proof.repeatability)
            spec = msgspec.structs.replace(spec, model=card)
        stores.append(Store.create(tmp_path / "audit.fairdesk", spec, table))
        return stores[-1], proof

    yield make
    for store in stores:
        store.close()


def off(store):
    audit = store.spec
    return {
        key: why
        for key, each in METHODS.items()
        if (why := why_off(each, audit.model, audit.domain))
    }


@pytest.mark.parametrize(("misbehaviour", "batch"), [(NOISE, False), (BATCH, True)])
def test_what_rests_on_a_decision_by_the_row_is_off(opened, worker, misbehaviour, batch):
    store, proof = opened(misbehaviour, checked=True)
    assert proof.repeatability.batch is batch
    reasons = off(store)
    for key, method in METHODS.items():
        if method.answers in (
            QuestionKind.EXAMPLES,
            QuestionKind.PROOF,
            QuestionKind.REPAIR,
            QuestionKind.DIAGNOSIS,
        ):
            assert ("other rows queried with it" if batch else "same output") in reasons[key], key
    assert "groups" not in reasons
    assert ("testsgd" in reasons) is batch
    with pytest.raises(SpecError, match="is not available"):
        next(run(worker, store, RunSpec("quick")))
    # what it decided is counted all the same, and said to be one of several answers
    *_, last = run(worker, store, RunSpec("groups"))
    assert last.state == "done"
    (repeated,) = (each for each in last.figures if isinstance(each, Repeatability))
    assert repeated.batch is batch
    assert any(isinstance(each, GroupTable) and each.of == "decisions" for each in last.figures)


def test_an_estimate_with_repeats_tells_chance_from_discrimination(opened, worker, tmp_path):
    store, _ = opened(NOISE, checked=True)
    assert "estimate" in off(store)
    *_, last = run(worker, store, RunSpec("repeats", {"people": 4_000}))
    assert last.state == "done"
    (record,) = store.runs()
    *excess, repeated = record.figures
    assert isinstance(repeated, Repeatability)
    assert [each.whom for each in excess] == ["domain", "data"]
    for each in excess:
        # sex moves the score by as much as twelve years, and the noise is there in both queries
        assert 0 < each.low < each.excess < each.between
        assert each.again > 0.05
    told = figures.headline(store.spec, record).sentence
    assert "the probability of the favourable decision changes when only" in told
    assert "not repeatable" in told
    report = text_of(store)
    assert "Not repeatable." in report
    assert "The same row does not always receive the same output." in report
    assert "the probability of the favourable decision changes" in report
    assert any("audited nevertheless" in entry.what for entry in store.log_entries())
    # what came out by chance is not held against a repetition
    again = ReproduceRequest(
        store.path, tmp_path / "people.csv", tmp_path / "model.pkl", trusted=True
    )
    with pytest.raises(SpecError, match=phrases.NOTHING_TO_REPEAT) as refused:
        list(reproduce(worker, store, again, lambda _state: None))
    assert "cannot be reproduced" in str(refused.value)


def test_a_run_is_refused_when_the_model_wavers_only_then(opened, worker):
    store, _ = opened(NOISE)
    for method in ("quick", "enumerate", "certify", "estimate"):
        *_, last = run(worker, store, RunSpec(method))
        assert last.state == "failed"
        assert "not repeatable" in last.message
        (repeated,) = last.figures
        assert isinstance(repeated, Repeatability)
    assert {each.found for each in store.runs()} == {0}


def test_a_run_in_which_answers_changed_claims_nothing_exact(opened, worker):
    store, proof = opened(RARELY)
    assert proof.repeatability.holds
    *_, last = run(worker, store, RunSpec("enumerate"))
    assert last.state == "done"
    (record,) = store.runs()
    share = next(each for each in record.figures if isinstance(each, Share))
    repeated = record.figures[-1]
    assert isinstance(repeated, Repeatability)
    assert share.exhaustive
    assert not share.exact
    assert share.wavered == repeated.changed > 0
    told = figures.share_statement(store.spec, share).sentence
    assert phrases.EVERY_ONE not in told
    assert f"{repeated.changed:,}" in figures.repeatability_sentence(repeated)


def test_every_method_says_what_it_supposes():
    for method in METHODS.values():
        counted = (
            method.answers in (QuestionKind.RATES, QuestionKind.GROUPS) or method.key == "repeats"
        )
        assert (method.repeats is Repeats.ALIKE) is not counted, method.key


def test_the_command_tells_before_anything_is_run(tmp_path, capsys):
    from fairdesk.cli.main import main

    data = making.write_people(tmp_path / "people.csv")
    model = making.write_model(tmp_path / "model.pkl", NOISE)
    asked = ["inspect", "--data", str(data), "--model", str(model), "--trust-model"]
    asked += ["--label", making.LABEL, "--favourable", making.FAVOURABLE]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["repeatability"]["changed"] == 60
    assert not told["repeatability"]["batch"]
    assert any("not repeatable" in warning for warning in told["warnings"])
    assert "certify" in told["methods_off"]
    assert "groups" not in told["methods_off"]
    assert main(asked) == 0
    assert "Warning: The model is not repeatable" in capsys.readouterr().out
