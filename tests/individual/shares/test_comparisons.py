"""Rows are compared with those that there can be: planted companions are counted exactly."""

import sys
from contextlib import nullcontext
from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.dependencies import Companion, Move
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.domain.support import (
    CompanionValues,
    Support,
    chosen_support,
    learn_support,
    written,
)
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import maft, quick
from fairdesk.individual.searches.options import MaftOptions, QuickOptions
from fairdesk.individual.shares import estimate
from fairdesk.individual.shares.comparisons import paired_interval
from fairdesk.individual.shares.estimate import EstimateOptions
from fairdesk.results.events import Found, Measured
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    Share,
    ValueChange,
    ValueChanges,
)

ROWS = 1_200
#: How each planted table names the companion's value for a sex and a hidden status of 0, 1 or 2.
PLANTED = {
    # says the same as sex
    "copy": lambda sex, _status: ("her", "his")[sex],
    # a bijection inside one category only
    "couple": lambda sex, status: ("wife", "husband")[sex] if status else "single",
    # a value of each sex for each status
    "titles": lambda sex, status: f"{'FM'[sex]}{status}",
    # several values of one sex, one of the other
    "several": lambda sex, status: f"M{status}" if sex else "F",
}
#: Which of two columns the planted model looks at.
LOOKS = tuple(product((False, True), repeat=2))


def people(planted, seed=0):
    rng = np.random.default_rng(seed)
    sex, status = rng.integers(2, size=ROWS), rng.integers(3, size=ROWS)
    return pd.DataFrame(
        {
            "sex": np.array(["F", "M"])[sex],
            "companion": [PLANTED[planted](*each) for each in zip(sex, status, strict=True)],
            # what the status says of a row lets values be matched
            "income": 10 * status + rng.integers(8, size=ROWS),
            "region": np.array(["n", "s"])[rng.integers(2, size=ROWS)],
        }
    )


def domain_of(frame, tmp_path, choice="auto", protected=("sex",)):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    table = read_table(path)
    attributes = tuple(
        attribute_of(each, Role.PROTECTED if each.name in protected else Role.VARIES)
        for each in table.columns
    )
    support = chosen_support(learn_support(attributes, table), choice, attributes)
    return constrained_domain(attributes, (), table, (), support), table


class Planted:
    """Favours rows by sex, by their companion, by both or neither: all of them by region."""

    def __init__(self, domain, *, by_sex, by_companion):
        self._domain = domain
        self._by_sex, self._by_companion = by_sex, by_companion

    def predict(self, rows):
        column = dict(zip(self._domain.names, rows.T, strict=True))
        good = column["region"] == 1
        if self._by_sex:
            good = good & (column["sex"] == 1)
        if self._by_companion:
            values = dict(zip(self._domain.names, self._domain.attributes, strict=True))
            texts = values["companion"].values
            favoured = [i for i, text in enumerate(texts) if text[0] in "hM" and text != "her"]
            good = good & np.isin(column["companion"], favoured)
        return np.where(good, 0.9, 0.1)[:, None].astype(np.float32)


@pytest.mark.parametrize(("planted", "needed"), [("couple", False), ("titles", True)])
def test_what_matches_several_values_is_not_loaded_for_one_of_each(
    monkeypatch, tmp_path, planted, needed
):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError) if needed else nullcontext():
        assert domain_of(people(planted), tmp_path)[0].support.companions


def figures(domain, table, model):
    context = SearchContext(model, domain)
    options = EstimateOptions(trials=4, people=1_000)
    events = estimate.search(context, domain.people(table), options, np.random.default_rng(0))
    return [each for each in events if isinstance(each, Measured)][-1].figures


def compared(found, comparison):
    return next(
        each for each in found if isinstance(each, ComparedRows) and each.comparison == comparison
    )


@pytest.mark.parametrize(("by_sex", "by_companion"), LOOKS)
@pytest.mark.parametrize("planted", ["copy", "couple", "titles"])
def test_who_changes_is_known_by_construction(planted, by_sex, by_companion, tmp_path):
    frame = people(planted)
    domain, table = domain_of(frame, tmp_path)
    found = figures(domain, table, Planted(domain, by_sex=by_sex, by_companion=by_companion))
    south = frame.region == "s"
    tied = frame.companion != "single"
    changes = south & (by_sex | (by_companion & tied))
    if by_sex and by_companion:  # of those without a companion none is favoured either way
        changes = south & tied
    share = next(each for each in found if isinstance(each, Share) and each.whom == "data")
    assert (share.n_samples, share.hits, share.unsupported) == (ROWS, changes.sum(), 0)
    men = frame.sex == "M"
    assert (share.gains, share.losses) == ((changes & ~men).sum(), (changes & men).sum())
    (study,) = (each for each in found if isinstance(each, AuditStudy))
    rates = {domain.attributes[0].text(each.code): each.favourable for each in study.values}
    as_men = south & (tied | ~np.bool_(by_companion))
    as_women = as_men & ~np.bool_(by_sex) & ~(tied & np.bool_(by_companion))
    assert (study.n_rows, study.total) == (ROWS, ROWS)
    assert rates == {"M": as_men.sum(), "F": as_women.sum()}


def test_without_the_companion_the_rows_are_compared_with_none(tmp_path):
    frame = people("couple")
    domain, table = domain_of(frame, tmp_path, "none")
    found = figures(domain, table, Planted(domain, by_sex=True, by_companion=False))
    tied = frame.companion != "single"
    supported = compared(found, "supported")
    assert (supported.n_rows, supported.compared) == (ROWS, (~tied).sum())
    assert supported.hits == (~tied & (frame.region == "s")).sum()
    every = compared(found, "all")
    assert (every.compared, every.hits) == (ROWS, (frame.region == "s").sum())


def test_an_undecided_companion_gives_both_figures_and_no_all_clear(tmp_path):
    """The model looks at the companion only: to change sex alone would change no decision."""
    frame = people("titles")
    domain, table = domain_of(frame, tmp_path, "ask")
    found = figures(domain, table, Planted(domain, by_sex=False, by_companion=True))
    assert not [each for each in found if isinstance(each, Share) and each.whom == "data"]
    supported, proposed, every = (
        compared(found, each) for each in ("supported", "proposed", "all")
    )
    assert (supported.compared, supported.hits) == (0, 0)
    assert (proposed.compared, proposed.hits) == (ROWS, (frame.region == "s").sum())
    assert (every.compared, every.hits) == (ROWS, 0)


def test_several_values_with_one_counterpart_wait_for_the_auditor(tmp_path):
    frame = people("several")
    domain, table = domain_of(frame, tmp_path)
    (companion,) = domain.support.proposed
    assert not domain.support.companions
    attributes = domain.attributes
    moves = written(companion, attributes).values
    assert moves["F"] == {"M0": "F", "M1": "F", "M2": "F"}
    assert set(moves["M"]) == {"F"}
    confirmed = {"companion": written(companion, attributes)}
    domain, table = domain_of(frame, tmp_path, confirmed)
    found = figures(domain, table, Planted(domain, by_sex=False, by_companion=True))
    supported = compared(found, "supported")
    assert (supported.compared, supported.hits) == (ROWS, (frame.region == "s").sum())
    # each value of the one sex is a similar set of its own
    rows, _ = domain.admit(domain.people(table))
    own = np.unique(domain.identity(rows), axis=0)
    men = frame.companion.where(frame.sex == "M", moves["M"]["F"])
    assert len(own) == len(frame.assign(companion=men).drop(columns="sex").drop_duplicates())


@pytest.mark.parametrize("noise", [2, 20])
def test_rows_that_contradict_a_noisy_copy_are_not_compared(noise, tmp_path):
    frame = people("copy")
    wrong = np.arange(noise)
    frame.loc[wrong, "companion"] = np.where(frame.sex[wrong] == "F", "his", "her")
    domain, table = domain_of(frame, tmp_path)
    (companion,) = (*domain.support.companions, *domain.support.proposed)
    assert companion.contradicting == noise
    assert companion.certain == (noise == 2)
    confirmed = {"companion": written(companion, domain.attributes)}
    domain, table = domain_of(frame, tmp_path, confirmed)
    found = figures(domain, table, Planted(domain, by_sex=True, by_companion=True))
    supported = compared(found, "supported")
    assert (supported.n_rows, supported.compared) == (ROWS, ROWS - noise)
    assert supported.hits == (frame.region[noise:] == "s").sum()


def test_an_exact_copy_of_numbers_is_determined(tmp_path):
    frame = people("copy")
    frame["code"] = (frame.sex == "M").astype(int)
    domain, _ = domain_of(frame.drop(columns="companion"), tmp_path)
    assert domain.support.constraints == ("code is determined by sex",)
    rows = domain.similar(domain.low[None])[0]
    assert (rows[:, domain.names.index("code")] == rows[:, domain.names.index("sex")]).all()


def test_values_that_few_rows_have_are_not_compared_with(tmp_path):
    frame = people("couple").drop(columns="companion")
    frame.loc[:19, "sex"] = "X"
    domain, table = domain_of(frame, tmp_path)
    rare = domain.attributes[0].values.index("X")
    assert domain.support.rare == (("sex", float(rare)),)
    rows, own = domain.admit(domain.people(table))
    _, members = domain.members(rows)
    assert members[own == rare].all()
    others = members[own != rare]
    assert not others[:, rare].any()
    assert others.sum(axis=1).min() == 2


def test_a_search_finds_only_pairs_that_there_can_be(tmp_path):
    frame = people("couple")
    domain, table = domain_of(frame, tmp_path)
    model = Planted(domain, by_sex=False, by_companion=True)
    rows = domain.people(table)
    for method, options in ((quick, QuickOptions()), (maft, MaftOptions())):
        context = SearchContext(model, domain)
        events = method.search(context, rows, options, np.random.default_rng(0))
        found = [each for each in events if isinstance(each, Found)]
        assert found
        for each in found:
            assert domain.allowed(each.rows).all()
            assert domain.allowed(each.partners).all()
            others = domain.others
            np.testing.assert_array_equal(each.rows[:, others], each.partners[:, others])
            np.testing.assert_array_equal(
                domain.identity(each.rows), domain.identity(each.partners)
            )
        every = np.concatenate([domain.identity(each.rows) for each in found])
        assert len(np.unique(every, axis=0)) == len(every)


def test_similar_sets_are_the_same_whoever_of_them_is_given(tmp_path):
    domain, table = domain_of(people("titles"), tmp_path)
    rows, _ = domain.admit(domain.people(table))
    similar = domain.similar(rows)
    for place in range(similar.shape[1]):
        np.testing.assert_array_equal(domain.similar(similar[:, place]), similar)
        np.testing.assert_array_equal(domain.identity(similar[:, place]), domain.identity(rows))


def test_a_companion_that_does_not_fit_is_refused(tmp_path):
    for choice, what in (
        ({"companion": CompanionValues("sex", {"F": {"husband": "widow"}})}, "no value “widow”"),
        ({"rank": CompanionValues("sex", {"F": {"a": "b"}})}, "no attribute “rank”"),
        ({"companion": CompanionValues("region", {"s": {"wife": "husband"}})}, "not protected"),
    ):
        with pytest.raises(SpecError, match=what):
            domain_of(people("couple"), tmp_path, choice)


def test_a_companion_of_three_values_stands_for_one_similar_set():
    moves = tuple(
        Move(float(to), float(code), float(to))
        for to in range(3)
        for code in range(3)
        if to != code
    )
    companion = Companion("rank", "group", moves)
    codes = np.arange(4.0)
    np.testing.assert_array_equal(companion.representatives(codes, range(3)), [0, 0, 0, 3])
    np.testing.assert_array_equal(companion.follow(np.full(4, 2.0), codes), [2, 2, 2, 3])
    assert not Support()


def test_the_paired_interval_is_that_of_the_published_example():
    """Agrees with a direct computation of Bonett and Price's adjusted Wald interval."""
    low, high = paired_interval(12, 3, 50, 0.95)
    more, less, n = 13 / 52, 4 / 52, 52
    half = 1.959963984540054 * np.sqrt((more + less - (more - less) ** 2) / n)
    assert (low, high) == pytest.approx((more - less - half, more - less + half))


class Mixed:
    """Favours combinations of two protected values and a region that a table lists."""

    def __init__(self, domain, favoured):
        self._names, self._favoured = domain.names, favoured

    def predict(self, rows):
        column = dict(zip(self._names, rows.T.astype(int), strict=True))
        good = self._favoured[column["sex"], column["origin"], column["region"]]
        return np.where(good, 0.9, 0.1)[:, None].astype(np.float32)


@pytest.mark.parametrize("seed", range(6))
def test_which_changes_are_enough_and_between_which_values_agree_with_an_enumeration(
    seed, tmp_path
):
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(n, size=400) for name, n in (("sex", 2), ("origin", 3))}
    codes["region"] = rng.integers(2, size=400)
    letters = {name: np.array(list("abc"))[of] for name, of in codes.items()}
    domain, table = domain_of(pd.DataFrame(letters), tmp_path, "none", ("sex", "origin"))
    favoured = rng.random((2, 3, 2)) < 0.5
    found = figures(domain, table, Mixed(domain, favoured))

    parts = dict.fromkeys(("sex", "origin", "several", "together"), 0)
    moved = {"sex": {}, "origin": {}}
    for sex, origin, region in zip(*codes.values(), strict=True):
        now, enough = favoured[sex, origin, region], set()
        others = [("sex", sex, i, favoured[i, origin, region]) for i in range(2)]
        others += [("origin", origin, i, favoured[sex, i, region]) for i in range(3)]
        for name, own, other, then in others:
            if other != own:
                counts = moved[name].setdefault((own, other), np.zeros(3, dtype=int))
                counts += (1, then and not now, now and not then)
                enough |= {name} if then != now else set()
        if enough:
            parts["several" if len(enough) > 1 else enough.pop()] += 1
        elif (favoured[:, :, region] != now).any():
            parts["together"] += 1

    (split,) = (each for each in found if isinstance(each, ChangeSplit))
    assert (*split.alone, split.several, split.together) == tuple(parts.values())
    share = next(each for each in found if isinstance(each, Share) and each.whom == "data")
    assert split.hits == share.hits == sum(parts.values())
    listed = {each.attribute: each for each in found if isinstance(each, ValueChanges)}
    assert listed.keys() == moved.keys()
    for name, expected in moved.items():
        assert listed[name].n_pairs == len(expected)
        assert set(listed[name].values) == {
            ValueChange(float(own), float(other), *counts.tolist())
            for (own, other), counts in expected.items()
        }
        changed = [each.changed for each in listed[name].values]
        assert changed == sorted(changed, reverse=True)
