"""Terms in texts, compared in shards of any number and order: the figures of one process."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from fairdesk.audit.plan.inputs import group_inputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.counts import Counts
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.shards.shard import Outcome
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import SpecError, WorkerError
from fairdesk.groups.text import search
from fairdesk.results.events import Tallied
from fairdesk.results.subgroups import RuleSet, TermRate
from tests.audit.making import comments_spec
from tests.audit.shards.sharing import Inside, figures, last, on, ran
from tests.audit.shards.test_counts import timeless

TERMS = {
    "gender": ("gay", "straight", "male", "female"),
    "race": ("black", "white", "asian"),
    "age": ("old", "young"),
}
VERBS = ("sings", "works", "argues", "fights")


@pytest.fixture(scope="module")
def worker():
    return Inside()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Texts that name nobody, somebody of one category or of two; some of them twice."""
    rng = np.random.default_rng(5)
    lines = ["comment,verdict"]
    for i in range(240):
        gender, race, verb = (
            each[rng.integers(len(each))] for each in (TERMS["gender"], TERMS["race"], VERBS)
        )
        who = ("Nobody", f"A {gender}", f"A {gender} {race}", f"A {race}, old", f"A {race}")[i % 5]
        good = rng.random() < 0.2 + 0.2 * VERBS.index(verb) - 0.3 * (gender == "gay")
        verdict = "good" if good else "bad"
        lines.append(f'"{who} person {verb} in street {i}, and everybody looks.",{verdict}')
    path = tmp_path_factory.mktemp("texts") / "comments.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(path)


@pytest.fixture(scope="module")
def audit(table, worker, tmp_path_factory):
    texts, verdicts = ([column.values[int(c)] for c in table.codes[:, i]]
                       for i, column in enumerate(table.columns))  # fmt: skip
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0)).fit(texts, verdicts)
    path = tmp_path_factory.mktemp("model") / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    return comments_spec(table, worker.open_model(path))


def asked(seed=1, budget=None, **options):
    given = {"sample_thr": 30, "error_thr": 0.15, "least_rows": 5, "theta": 0.02, **options}
    return RunSpec("testsgd", given, seed, budget=budget or Budget(), text="comment", terms=TERMS)


@pytest.mark.parametrize(
    "options", [{}, {"outcome": "score"}, {"outcome": "each", "together": 1}], ids=str
)
def test_figures_are_those_of_one_process(options, audit, table, worker, monkeypatch):
    monkeypatch.setattr(search, "BATCH", 40)
    run, inputs = asked(**options), group_inputs(audit, table)
    whole = worker.search(audit.mapping, audit.domain, inputs, run)
    wanted = timeless(figures(whole))
    rates = [each for each in wanted if isinstance(each, TermRate)]
    # there are looks at margins, terms of two categories together, and decisions that change
    assert max(each.texts for each in rates) > 30
    assert sum(each.flips for each in rates) > 0
    together = max(len(each.conditions) for each in wanted if isinstance(each, RuleSet))
    assert together == options.get("together", 2)
    for seed, at_once in enumerate((2, 5)):
        assert isinstance(dealing(audit, run, inputs, at_once), Counts)
        events, ending = ran(worker, audit, run, inputs, np.random.default_rng(seed), at_once)
        assert timeless(figures(events)) == wanted
        shown, alone = last(events), last(whole)
        assert (ending, shown.done, shown.tried) == ("done", shown.total, alone.tried)
        assert (shown.done, shown.total) == (alone.done, alone.total)


def test_a_budget_of_rows_ends_it_with_what_was_compared(audit, table, worker, monkeypatch):
    monkeypatch.setattr(search, "BATCH", 40)
    run, inputs = asked(budget=Budget(queries=900)), group_inputs(audit, table)
    ends = [ran(worker, audit, run, inputs, np.random.default_rng(i), 2 + i) for i in range(2)]
    (one, ending), (other, _) = ends
    assert ending == "budget"
    assert timeless(figures(one)) == timeless(figures(other))
    assert 0 < figures(one)[0].samples < 1_500


def test_terms_that_no_text_has_are_refused_before_anything_is_dealt(audit, table):
    run = RunSpec("testsgd", text="comment", terms={"pets": ("cat", "dog")})
    with pytest.raises(SpecError):
        dealing(audit, run, group_inputs(audit, table), 2)


@pytest.mark.parametrize("lie", [lambda each: each[:-1], lambda each: each + 7], ids=["few", "no"])
def test_answers_that_cannot_be_are_refused(lie, audit, table, worker):
    divided = dealing(audit, asked(), group_inputs(audit, table), 2)
    events = [
        Tallied(
            *(each.phase, each.unit, each.last),
            {**each.arrays, "decided": lie(each.arrays["decided"])},
        )
        if isinstance(each, Tallied)
        else each
        for each in on(worker, audit, divided.deal())
    ]
    with pytest.raises(WorkerError):
        list(divided.take(0, Outcome(events, "done")))
