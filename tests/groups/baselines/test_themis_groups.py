"""THEMIS's group scores: against everybody, under constraints, with very many combinations."""

from itertools import combinations, product

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.baselines import themis_groups
from fairdesk.groups.baselines.themis_groups import ThemisGroupsOptions
from fairdesk.groups.context import GroupContext
from fairdesk.models.model import labels
from fairdesk.results.events import Measured, Progress
from tests import phrases
from tests.individual.conftest import Network, integer

ATTRIBUTES = (
    integer("years", 0, 9),
    integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
    integer("age", 18, 47, Role.PROTECTED, (18, 25, 32, 47)),
    integer("grade", -2, 3),
)
DOMAIN = Domain(ATTRIBUTES)
RULED = Domain(ATTRIBUTES, ("years <= age - 20 or sex = 1", "not (sex = 0 and age = 47)"))
UNSEEN = Attribute(
    "town", Kind.NOMINAL, ("a", "b"), 0.0, 1.0, role=Role.PROTECTED, compared=(0.0, 1.0)
)


def study_of(domain, model, people=None, favourable=1, decisions=("no", "yes")):
    rows = np.empty((0, len(domain.attributes))) if people is None else people
    n = len(rows)
    return GroupContext(
        domain=domain,
        rows=rows,
        groups=rows[:, domain.protected],
        inside=np.ones(n, dtype=bool),
        label=np.full(n, np.nan),
        decided=np.full(n, np.nan),
        model=model,
        favourable=favourable,
        decisions=decisions,
    )


def run(study, options, seed=0):
    return list(themis_groups.search(study, study.rows, options, np.random.default_rng(seed)))


def gaps(events):
    told = [event for event in events if isinstance(event, Measured)]
    return {figure.attributes: figure for figure in told[-1].figures}


def everybody(domain):
    """Everybody of a domain of whole numbers, as likely to be drawn as anybody else."""
    spans = [
        each.compared if each.role is Role.PROTECTED else np.arange(each.low, each.high + 1)
        for each in domain.attributes
    ]
    rows = np.array(list(product(*spans)))
    return rows[domain.allowed(rows)]


def rates(domain, model, names, favourable):
    """The rate of every group by its codes, by counting everybody."""
    rows = everybody(domain)
    good = labels(model.predict(rows)) == favourable
    codes = rows[:, [domain.names.index(name) for name in names]]
    groups = {tuple(each) for each in codes.tolist()}
    return {group: good[(codes == group).all(axis=1)].mean() for group in groups}


@pytest.mark.parametrize("domain", [DOMAIN, RULED], ids=["free", "ruled"])
@pytest.mark.parametrize(("classes", "favourable"), [(2, 1), (2, 0), (3, 2)])
def test_scores_hold_the_truth(domain, classes, favourable):
    model = Network(domain, np.random.default_rng(4), classes)
    study = study_of(domain, model, favourable=favourable)
    events = run(study, ThemisGroupsOptions(margin=0.05, confidence=0.95))
    told = gaps(events)
    assert set(told) == {("sex",), ("age",), ("sex", "age")}
    for names, gap in told.items():
        truth = rates(domain, model, names, favourable)
        assert gap.low <= max(truth.values()) - min(truth.values()) <= gap.high
        assert gap.low <= gap.gap <= gap.high
        assert gap.high - gap.low <= 0.1
        assert gap.best_rate == pytest.approx(truth[gap.best], abs=0.05)
        assert gap.worst_rate == pytest.approx(truth[gap.worst], abs=0.05)
    assert domain.contains(np.concatenate(model.asked)).all()
    last = [event for event in events if isinstance(event, Progress)][-1]
    assert last.done == last.total == last.tried == last.queries == study.queries


def test_protected_values_are_equally_likely():
    model = Network(DOMAIN, np.random.default_rng(4))
    run(study_of(DOMAIN, model), ThemisGroupsOptions(most=40_000, margin=0.0005))
    rows = np.concatenate(model.asked)
    assert len(rows) == 40_000
    _, counts = np.unique(rows[:, [1, 2]], axis=0, return_counts=True)
    assert len(counts) == 8
    # 5,000 each; the deviation is 66
    assert np.abs(counts - 5_000).max() < 350


def test_ten_numbers_make_far_too_many_combinations_for_a_list():
    domain = Domain(
        tuple(
            Attribute(
                f"share {i}",
                Kind.REAL,
                low=0.0,
                high=1.0,
                role=Role.PROTECTED,
                compared=tuple(np.linspace(0.05, 0.95, 10).tolist()),
            )
            for i in range(10)
        )
    )
    assert domain.obstacle

    class First:
        """Favours who has much of the first."""

        has_gradients = False

        def predict(self, rows):
            return (rows[:, :1] > 0.5).astype(np.float32)

    told = gaps(run(study_of(domain, First()), ThemisGroupsOptions(most=20_000)))
    # sets of three make a thousand groups each
    assert set(told) == {names for many in (1, 2) for names in combinations(domain.names, many)}
    assert told["share 0",].gap == 1.0
    assert told["share 0",].best[0] > 0.5 > told["share 0",].worst[0]
    assert told["share 1",].low == 0.0


def test_same_seed_same_figures():
    model = Network(DOMAIN, np.random.default_rng(4))
    options = ThemisGroupsOptions(margin=0.04)
    first, again, other = (gaps(run(study_of(DOMAIN, model), options, s)) for s in (3, 3, 4))
    assert first == again
    assert first != other


def test_fixed_values_are_those_of_real_people():
    attributes = (*ATTRIBUTES, integer("county", 0, 9, Role.FIXED))
    domain = Domain(attributes)
    model = Network(domain, np.random.default_rng(4))
    people = np.array([[1.0, 0, 18, 0, 3], [1, 0, 18, 0, 7]])
    run(study_of(domain, model, people), ThemisGroupsOptions(most=4_000))
    assert set(np.concatenate(model.asked)[:, 4]) == {3.0, 7.0}


def test_groups_that_the_model_is_not_given_are_left_out():
    domain = msgspec.structs.replace(DOMAIN, unseen=(UNSEEN,))
    model = Network(domain, np.random.default_rng(4))
    told = gaps(run(study_of(domain, model), ThemisGroupsOptions(margin=0.1)))
    assert set(told) == {("sex",), ("age",), ("sex", "age")}


def test_without_a_protected_attribute_that_the_model_is_given_nobody_can_be_invented():
    domain = Domain((integer("years", 0, 9),), unseen=(UNSEEN,))
    obstacle = METHODS["themis-groups"].obstacle
    assert phrases.NOT_GIVEN in obstacle(domain)
    assert not obstacle(DOMAIN)
    with pytest.raises(SpecError, match="is an input"):
        run(study_of(domain, Network(domain, np.random.default_rng(4))), ThemisGroupsOptions())


def test_groups_that_nobody_was_drawn_from_are_counted():
    model = Network(RULED, np.random.default_rng(4))
    told = gaps(run(study_of(RULED, model), ThemisGroupsOptions(most=20_000)))
    # constraints leave nobody of 18 or 47 there
    assert told["sex", "age"].unmet == 2
    assert told["sex",].unmet == told["age",].unmet == 0
    told = gaps(run(study_of(DOMAIN, model), ThemisGroupsOptions(most=3)))
    assert told["sex", "age"].unmet >= 5
    assert told["sex", "age"].sets == 3
