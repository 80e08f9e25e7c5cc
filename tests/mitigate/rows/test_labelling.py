"""Where labels come from, each held against what it says."""

from dataclasses import replace

import numpy as np
import pytest

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.mitigate.context import split
from fairdesk.mitigate.rows.labelling import NEIGHBOURS, label, own_scores
from fairdesk.population.nearest import gower
from tests.mitigate import making

SOURCES = ("majority", "similar", "neighbours")


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("source", SOURCES)
def test_both_of_a_pair_are_labelled_alike(three, source):
    parts = split(three, rng())
    both = np.concatenate([three.pairs[:300], three.partners[:300]])
    told = label(three, parts, both, source, rng(1))
    assert np.array_equal(told[:300], told[300:])
    assert set(told.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("source", [*SOURCES, "model"])
def test_labels_are_repeatable_and_of_nobody_for_nobody(mitigation, source):
    parts = split(mitigation, rng())
    first, again = (
        label(mitigation, parts, mitigation.pairs[:80], source, rng(3)) for _ in range(2)
    )
    assert np.array_equal(first, again)
    assert label(mitigation, parts, mitigation.pairs[:0], source, rng()).shape == (0,)


@pytest.mark.parametrize("source", ["majority", "neighbours"])
def test_only_rows_to_train_with_are_learnt_from(mitigation, source):
    parts = split(mitigation, rng())
    rows, target = mitigation.rows.copy(), mitigation.target.copy()
    others = np.concatenate([parts.validation, parts.test])
    rows[others], target[others] = mitigation.domain.low, 0
    blind = replace(mitigation, rows=rows, target=target)
    people = mitigation.pairs[:200]
    assert np.array_equal(
        label(mitigation, parts, people, source, rng(1)),
        label(blind, parts, people, source, rng(1)),
    )


def test_the_majority_is_right_more_often_than_the_commonest_label(mitigation):
    parts = split(mitigation, rng())
    told = label(mitigation, parts, mitigation.rows[parts.test], "majority", rng())
    right = mitigation.target[parts.test]
    assert (told == right).mean() > np.bincount(right).max() / right.size + 0.1


def test_the_majority_of_the_similar_set(tmp_path):
    made = making.mitigation(tmp_path, protected=("sex", "race"))
    people = made.pairs[:200]
    members = made.domain.similar(people)
    scores = made.model.predict(members.reshape(-1, 6)).reshape(members.shape[:2])
    second = (scores > 0.5).sum(axis=1)
    wanted = np.where(second == 3, scores.mean(axis=1) > 0.5, second > 3)
    assert (second == 3).any()
    told = label(made, split(made, rng()), people, "similar", rng())
    assert np.array_equal(told, wanted)


def test_members_who_may_not_be_have_no_vote(tmp_path):
    limits = making.Limits(constraints=("sex = male implies race != c",))
    made = making.mitigation(tmp_path, protected=("sex", "race"), limits=limits)
    people = made.pairs[:200]
    members = made.domain.similar(people).reshape(-1, 6)
    scores = made.model.predict(members)[:, 0].astype(float)
    scores[~made.domain.allowed(members)] = np.nan
    scores = scores.reshape(200, 6)
    assert np.isnan(scores).any(axis=1).all()
    told = label(made, split(made, rng()), people, "similar", rng())
    second = (scores > 0.5).sum(axis=1)
    clear = second != 2.5
    assert np.array_equal(told[clear], (second > 2.5)[clear])


def test_the_nearest_real_people(mitigation):
    parts = split(mitigation, rng())
    told = label(mitigation, parts, mitigation.pairs[:60], "neighbours", rng())
    real, target = mitigation.rows[parts.train], mitigation.target[parts.train]
    for row, one in zip(mitigation.pairs[:60], told.tolist(), strict=True):
        away = gower(mitigation.domain, real, row)
        order = np.argsort(away, kind="stable")
        # whoever is as near as the last of them may stand for another
        border = away[order[NEIGHBOURS - 1]]
        sure = target[away < border - 1e-12]
        maybe = target[np.abs(away - border) <= 1e-12]
        votes = [(sure == each).sum() for each in (0, 1)]
        room = NEIGHBOURS - sum(votes)
        most = votes[one] + min(room, int((maybe == one).sum()))
        assert most > NEIGHBOURS // 2


def test_a_person_who_is_there_many_times_counts_so_often(mitigation):
    parts = split(mitigation, rng())
    target = mitigation.target.copy()
    rows = mitigation.rows.copy()
    row = mitigation.pairs[0]
    # eight equal people of one label, the others farther away
    rows[parts.train[:8]], target[parts.train[:8]] = row, 1
    target[parts.train[8:]] = 0
    made = replace(mitigation, rows=rows, target=target)
    assert label(made, parts, row[None], "neighbours", rng())[0] == 1
    target[parts.train[:1]] = 0
    assert label(made, parts, row[None], "neighbours", rng())[0] == 0


def test_scores_of_the_models_own_classes(tmp_path):
    made = making.mitigation(tmp_path, classes=3, together=(1, 2))
    rows = made.rows[:200]
    scores = own_scores(made, made.model, rows)
    assert scores.shape == (200, 3)
    assert made.queries == 200
    decided = made.model.predict(rows)[:, 0] > 0.5
    assert np.array_equal(scores.argmax(axis=1) > 0, decided)


def test_a_threshold_moves_the_models_own_label(tmp_path):
    made = making.mitigation(tmp_path, threshold=0.3)
    rows = made.rows[:300]
    own = label(made, split(made, rng()), rows, "model", rng())
    answers = made.model.answers(rows)[:, 0]
    assert np.array_equal(own, (answers > 0.3).astype(int))


def test_five_models_need_something_to_tell_people_apart_by(texts):
    domain = Domain((texts.domain.attributes[0],))
    bare = replace(texts, domain=domain)
    with pytest.raises(SpecError, match="no attributes other than protected attributes and texts"):
        label(bare, split(bare, rng()), bare.rows[:5], "majority", rng())


def test_missing_cells_that_are_a_category_and_rare_classes(tmp_path):
    data = making.people(400, 3).copy()
    data[making.LABEL] = np.where(np.arange(400) % 100 == 7, "top", "low")
    data.loc[5, making.LABEL] = "mid"
    made = making.mitigation(tmp_path, data=data, classes=3)
    parts = split(made, rng())
    for source in SOURCES:
        told = label(made, parts, made.rows[:50], source, rng())
        assert set(told.tolist()) <= {0, 1, 2}
