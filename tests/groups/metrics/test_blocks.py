"""Group figures of rows that come in blocks: the same as of all rows at once, but for scores."""

import dataclasses

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupBlock
from fairdesk.groups.metrics import grouping
from fairdesk.groups.metrics.grouping import Tally
from fairdesk.results.events import Progress
from tests.groups.metrics.test_measuring import Opened, asked, names, run, study_of, tables

AGE = Attribute(
    "age", Kind.REAL, low=18.0, high=70.0, role=Role.PROTECTED, compared=(20.0, 40.0, 60.0)
)
SEX = names("sex", "f", "m", "x")


def in_blocks(study, size):
    """The same study, whose rows come so many at a time; what it holds is a sample."""

    def blocks():
        for start in range(0, len(study.groups), size):
            part = slice(start, start + size)
            yield GroupBlock(
                study.rows[part], study.groups[part], study.label[part], study.decided[part]
            )

    few = slice(0, 5)
    return dataclasses.replace(
        study,
        rows=study.rows[few],
        groups=study.groups[few],
        inside=study.inside[few],
        label=study.label[few],
        decided=study.decided[few],
        blocks=blocks,
        n_rows=len(study.groups),
        queries=0,
    )


def people(rng, n=500):
    age = rng.uniform(15, 75, n).round(1)
    age[rng.random(n) < 0.05] = np.nan
    sex = rng.integers(0, 3, n).astype(float)
    sex[rng.random(n) < 0.05] = np.nan
    label = rng.integers(0, 2, n).astype(float)
    label[rng.random(n) < 0.1] = np.nan
    return np.column_stack([age, sex]), label


@pytest.mark.parametrize("size", [1, 7, 500])
@pytest.mark.parametrize("edges", [{}, {"age": (30.0, 50.0)}])
@pytest.mark.parametrize("labelled", [True, False])
def test_recorded_decisions_and_labels_are_the_same_in_blocks(size, edges, labelled):
    rng = np.random.default_rng(2)
    groups, label = people(rng)
    decided = rng.integers(0, 2, len(groups)).astype(float)
    decided[rng.random(len(groups)) < 0.1] = np.nan
    study = study_of(
        groups, label if labelled else None, decided, attributes=(AGE, SEX), edges=edges
    )
    whole = tables(study, outcome="each")
    assert len(whole) == (9 if labelled else 6)
    assert tables(in_blocks(study, size), outcome="each") == whole


def test_labels_that_are_the_decisions_are_counted_once():
    groups, label = people(np.random.default_rng(2))
    study = study_of(groups, label, label, attributes=(AGE, SEX))
    assert tables(in_blocks(study, 64)) == tables(study)
    assert {of for of, _, _ in tables(study)} == {"decisions"}


def test_the_models_decisions_and_error_rates_are_the_same_without_scores():
    rng = np.random.default_rng(3)
    x = rng.random(300)
    x[rng.random(300) < 0.1] = np.nan
    sex = rng.integers(0, 2, 300).astype(float)
    label = rng.integers(0, 2, 300).astype(float)
    whole = {
        key: table
        for key, table in tables(asked(Opened(), x, sex, label)).items()
        if key[0] != "scores"
    }
    study = in_blocks(asked(Opened(), x, sex, label), 41)
    assert tables(study) == whole
    assert any(line.true_positives for line in whole["decisions", "yes", ("sex",)].lines)
    # each row is queried once
    assert study.queries == np.count_nonzero(~np.isnan(x))


def test_progress_counts_the_rows():
    groups, label = people(np.random.default_rng(4))
    study = in_blocks(study_of(groups, label, attributes=(AGE, SEX)), 100)
    told = [each for each in run(study) if isinstance(each, Progress)]
    assert [each.done for each in told if each.total == 500][:6] == [0, 100, 200, 300, 400, 500]


@pytest.mark.parametrize("most_counters", [0, 1 << 20])
def test_counts_of_more_rows_than_32_bits_hold_are_exact(most_counters, monkeypatch):
    monkeypatch.setattr(grouping, "_MOST_COUNTERS", most_counters)
    counted = grouping.Kinds((2, 3))
    counted.add([np.array([0, 1]), np.array([2, 0])])
    for _ in range(40):
        counted._counts = counted._counts * 2
        counted._counters = None if counted._counters is None else counted._counters * 2
    counted.add([np.array([0]), np.array([2])])
    assert counted.counts.tolist() == [2**40 + 1, 2**40]
    assert [each.tolist() for each in counted.places] == [[0, 1], [2, 0]]


def test_too_many_kinds_of_rows_are_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(grouping, "MOST_KINDS", 3)
    tally = Tally((SEX,), {}, 2)
    with pytest.raises(SpecError) as error:
        tally.add(np.arange(3.0)[[0, 0, 1, 2], None], np.array([1.0, 0, 1, 1]), np.full(4, -1))
    assert error.value.setting == "edges"
    assert error.value.remedy
    many = tuple(msgspec.structs.replace(SEX, name=f"a{i}") for i in range(40))
    with pytest.raises(SpecError):
        Tally(many, {}, 2)
