"""Group figures: by hand, against pandas, statsmodels and fairlearn, and on real data."""

import math
import os
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies as st
import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings

from fairdesk.data.domain.attributes import Attribute, Role, attribute_of, encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Kind
from fairdesk.groups.context import GroupContext
from fairdesk.groups.metrics import measuring
from fairdesk.groups.metrics.group_table import fisher
from fairdesk.groups.metrics.measuring import MeasureOptions, askable
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, How, Input, Mapping, ModelCard, Takes
from fairdesk.results.events import Measured, Progress
from tests.sizes import many

DATA = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))


def names(name, *values, unknown=False):
    """An attribute of names."""
    return Attribute(
        name,
        Kind.NOMINAL,
        values,
        high=len(values) - 1.0,
        role=Role.PROTECTED,
        compared=tuple(map(float, range(len(values)))),
        unknown=unknown,
    )


def study_of(groups, label=None, decided=None, attributes=None, **known):
    """A study without a model; ``groups`` is (n, g) codes."""
    groups = np.asarray(groups, dtype=float).reshape(len(groups), -1)
    nothing = np.full(len(groups), np.nan)
    attributes = attributes or tuple(
        names(f"a{i}", *map(str, range(int(np.nanmax(column)) + 2)))
        for i, column in enumerate(groups.T)
    )
    return GroupContext(
        domain=Domain((), unseen=attributes),
        rows=np.empty((len(groups), 0)),
        groups=groups,
        inside=np.ones(len(groups), dtype=bool),
        label=nothing if label is None else np.asarray(label, dtype=float),
        decided=nothing if decided is None else np.asarray(decided, dtype=float),
        model=None,
        favourable=1,
        decisions=("no", "yes"),
        **known,
    )


def run(study, **options):
    """All events."""
    rng = np.random.default_rng(0)
    return list(measuring.search(study, study.rows, MeasureOptions(**options), rng))


def tables(study, **options):
    """The figures of a run, by what was counted and by which attributes."""
    told = [event for event in run(study, **options) if isinstance(event, Measured)][-1].figures
    found = {(table.of, table.outcome, table.attributes): table for table in told}
    assert len(found) == len(told)
    assert all(map(finite, floats(msgspec.to_builtins(told))))
    return found


def only(study, **options):
    (table,) = tables(study, **options).values()
    return table


def finite(number):
    return math.isfinite(number)


def floats(thing):
    """Every float in figures."""
    if isinstance(thing, float):
        yield thing
    elif isinstance(thing, dict):
        yield from floats(list(thing.values()))
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from floats(each)


def people(*counted):
    """Codes and labels of groups that are given as (favourable, people)."""
    codes = np.repeat(np.arange(len(counted)), [n for _, n in counted])
    label = np.concatenate([np.arange(n) < s for s, n in counted])
    return codes, label


# By hand


#: In the layout of the rule of New York's Local Law 144: selected and applicants by race.
BY_RACE = {
    "Hispanic or Latino": (204, 408),
    "White": (412, 797),
    "Black or African American": (170, 390),
    "Native Hawaiian or Pacific Islander": (52, 119),
    "Asian": (302, 616),
    "Native American or Alaska Native": (18, 41),
    "Two or more races": (96, 213),
}


def test_the_layout_of_local_law_144():
    from statsmodels.stats.multitest import multipletests

    codes, label = people(*BY_RACE.values())
    table = only(study_of(codes, label, attributes=(names("race", *BY_RACE),)))
    assert (table.n_samples, table.favourable, table.unknown, table.without) == (2584, 1254, 0, 0)
    lines = {line.values[0]: line for line in table.lines}
    assert table.lines[table.reference] is lines["White"]
    ratios = [None if x.impact_ratio is None else round(x.impact_ratio, 2) for x in table.lines]
    assert ratios == [0.97, 1.0, 0.84, 0.85, 0.95, None, 0.87]
    # 41 of 2,584 are under two hundredths: shown, tested, and not in impact ratios
    native = lines["Native American or Alaska Native"]
    assert native.excluded
    assert (native.below, native.flips) == (None, None)
    assert native.rate == 18 / 41
    assert native.test == "Z"
    assert not any(line.below for line in table.lines)
    corrected = multipletests([line.p for line in table.lines if line.test], method="holm")[1]
    assert [line.holm for line in table.lines if line.test] == pytest.approx(corrected)
    black = lines["Black or African American"]
    pooled = (170 + 412) / (390 + 797)
    z = (170 / 390 - 412 / 797) / math.sqrt(pooled * (1 - pooled) * (1 / 390 + 1 / 797))
    assert black.z == pytest.approx(z)
    assert black.p == pytest.approx(math.erfc(abs(z) / math.sqrt(2)))
    assert black.shortfall == pytest.approx(390 * 1254 / 2584 - 170)
    assert black.share == pytest.approx(390 / 2584)


@pytest.mark.parametrize(("count", "excluded"), [(6, True), (7, False), (8, False)])
def test_two_hundredths_are_counted_exactly(count, excluded):
    # the small group has the highest rate, and is no reference: it has too few rows
    table = only(study_of(*people((count, count), (100, 350 - count))))
    small, large = table.lines[:2]
    assert small.excluded is excluded
    assert table.reference == 1
    assert large.impact_ratio == 1.0
    assert small.impact_ratio == (None if excluded else pytest.approx((350 - count) / 100))
    # and another share may be asked for
    again = only(study_of(*people((count, count), (100, 350 - count))), least_share=0.0)
    assert again.lines[0].impact_ratio == pytest.approx((350 - count) / 100)


@pytest.mark.parametrize(
    ("counted", "reference"),
    [
        # the highest rate, of a tenth of the people or more
        ([(300, 900), (40, 100)], 1),
        # fewer: the largest group
        ([(300, 900), (40, 99)], 0),
        # a tenth, and fewer than thirty rows
        ([(60, 180), (20, 29)], 0),
        ([(60, 180), (20, 30)], 1),
        # all are small
        ([(1, 10), (3, 12)], 1),
        # of equal rates the larger
        ([(10, 100), (20, 200)], 1),
    ],
)
def test_the_reference_is_the_highest_rate_of_a_large_group_else_the_largest(counted, reference):
    table = only(study_of(*people(*counted)))
    assert table.reference == reference
    assert table.lines[reference].impact_ratio == 1.0


def test_all_tables_of_an_attribute_have_the_reference_of_the_decisions():
    codes = np.repeat([0.0, 1.0], 200)
    label = np.concatenate([np.arange(200) < 120, np.arange(200) < 60])
    decided = np.concatenate([np.arange(200) < 50, np.arange(200) < 90])
    told = tables(study_of(codes, label, decided), outcome="each")
    assert {key[:2] for key in told} == {("label", ""), ("decisions", "yes"), ("decisions", "no")}
    for table in told.values():
        assert table.reference == 1
        assert table.lines[1].impact_ratio == 1.0
    # of the labels the other group has the higher rate
    by_label = next(table for key, table in told.items() if key[0] == "label")
    assert by_label.lines[0].impact_ratio == pytest.approx(2.0)
    assert by_label.lines[0].below is False


def test_the_auditor_chooses_how_small_groups_are_tested():
    from scipy.stats import fisher_exact

    counted = study_of(*people((2, 20), (11, 37)))
    half, whole = only(counted), only(counted, small="exact")
    assert [half.lines[0].test, whole.lines[0].test] == ["Fisher mid-p", "Fisher exact"]
    assert whole.lines[0].p == pytest.approx(fisher_exact([[2, 18], [11, 26]]).pvalue)
    assert half.lines[0].p < whole.lines[0].p


def test_fishers_test_of_many_rows_is_scipys():
    from scipy.stats import fisher_exact

    for table in ([[4, 199_996], [30, 799_970]], [[0, 40], [3, 5_000]]):
        (k, misses), (other, others) = table
        p = fisher(k, k + misses, other, other + others, "exact")
        assert p == pytest.approx(fisher_exact(table).pvalue, rel=1e-6)


def test_four_fifths_are_counted_exactly_and_one_person_may_decide():
    # 0.4 is four fifths of 0.5, not below them; one fewer is
    table = only(study_of(*people((40, 100), (50, 100), (20, 100), (45, 100))))
    lines = table.lines[:4]
    assert [line.below for line in lines] == [False, False, True, False]
    assert [line.flips for line in lines] == [True, False, False, False]
    # the reference is compared with itself
    table = only(study_of(*people((1, 1), (3, 6))), least_share=0.0)
    assert [line.below for line in table.lines[:2]] == [False, True]
    assert table.lines[0].flips is False


def test_nobody_is_favoured():
    table = only(study_of(*people((0, 30), (0, 40))))
    for line in table.lines[:2]:
        assert line.rate == 0
        assert (line.impact_ratio, line.below, line.flips) == (None, None, None)
        assert (line.test, line.p, line.holm) == ("", None, None)
        assert line.shortfall == 0
    assert table.lines[0].difference == 0


def test_one_group_alone_is_compared_with_nothing():
    table = only(study_of(np.zeros(20), np.arange(20) < 5))
    alone, empty = table.lines
    assert alone.impact_ratio == 1.0
    assert alone.flips is False
    assert (alone.test, alone.difference) == ("", None)
    assert (empty.n_samples, empty.rate, empty.low, empty.high) == (0, None, 0.0, 1.0)
    assert empty.excluded
    assert empty.difference is None


def test_those_of_unknown_group_are_counted_and_not_compared():
    codes = np.repeat([0.0, 1.0, 2.0, np.nan], [40, 40, 10, 5])
    label = np.concatenate([np.arange(40) < 10, np.arange(40) < 20, np.ones(10), np.ones(5)])
    label[0] = np.nan
    sex = names("sex", "f", "m", "Unknown", unknown=True)
    table = only(study_of(codes, label, attributes=(sex,)))
    assert [line.values[0] for line in table.lines] == ["f", "m", "Unknown", "(excluded)"]
    assert [line.known for line in table.lines] == [True, True, False, False]
    assert (table.n_samples, table.unknown, table.without) == (79, 15, 1)
    assert table.reference == 1
    for line in table.lines[2:]:
        assert line.rate == 1.0
        assert line.impact_ratio is line.p is line.difference is line.shortfall is None
        assert not line.excluded
    assert table.lines[3].codes == ()
    assert table.lines[1].share == 40 / 79
    assert table.lines[2].share == 10 / 94


def test_nobody_is_of_known_group():
    table = only(study_of([np.nan] * 4, [0, 1, 1, 0], attributes=(names("sex", "f", "m"),)))
    assert (table.n_samples, table.unknown, table.reference) == (0, 4, -1)
    assert [line.n_samples for line in table.lines] == [0, 0, 4]


# Against other ways to compute it


CODES = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 2.0, np.nan]),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.0, 1.0, np.nan]),
        st.sampled_from([0.0, 1.0]),
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=many(50))
@given(CODES)
def test_against_pandas_and_statsmodels(rows):
    from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

    frame = pd.DataFrame(rows, columns=["a", "b", "label", "decided"])
    assume(not frame.label.equals(frame.decided))
    attributes = (names("a", "x", "y", "z"), names("b", "f", "m"))
    study = study_of(
        frame[["a", "b"]], frame.label, frame.decided, attributes, favourable_label="1"
    )
    told = tables(study, least_share=0.1)
    every = dict(told)
    wanted = {"label": "1", "decided": "yes"}
    for column, of in (("label", "label"), ("decided", "decisions")):
        some = frame[frame[column].notna()]
        for by in (["a"], ["b"], ["a", "b"]):
            if some.empty:
                assert all(key[0] != of for key in told)
                continue
            table = told.pop((of, wanted[column], tuple(by)))
            groups = some.dropna(subset=by).groupby(by)[column].agg(["size", "sum"])
            shown = {line.codes: line for line in table.lines if line.known and line.n_samples}
            assert {codes: (line.n_samples, line.favourable) for codes, line in shown.items()} == {
                codes if isinstance(codes, tuple) else (codes,): (int(n), int(s))
                for codes, n, s in groups.itertuples()
            }
            assert table.n_samples + table.unknown + table.without == len(frame)
            assert sum(line.n_samples for line in table.lines) == len(some)
            compared = [
                x for x in shown.values() if x.n_samples >= Fraction("0.1") * table.n_samples
            ]
            assert [x for x in shown.values() if not x.excluded] == compared
            if not compared:
                assert table.reference == -1
                continue
            best = table.lines[table.reference]
            lead = every["decisions", "yes", tuple(by)]
            shared = lead.lines[lead.reference].values if lead.reference >= 0 else ()
            if any(line.values == shared and line.favourable for line in compared):
                assert best.values == shared
            assert sum(line.shortfall for line in shown.values()) == pytest.approx(0, abs=1e-9)
            if best.favourable:
                assert best.impact_ratio == 1.0
            tested = [line for line in table.lines if line.test]
            for line in tested:
                if line.test == "Z":
                    both = [line.favourable, best.favourable], [line.n_samples, best.n_samples]
                    assert (line.z, line.p) == pytest.approx(proportions_ztest(*both))
                ends = confint_proportions_2indep(
                    *(line.favourable, line.n_samples, best.favourable, best.n_samples),
                    method="newcomb",
                )
                assert (line.difference_low, line.difference_high) == pytest.approx(ends)
                assert line.difference_low <= line.difference <= line.difference_high
            # Holm, step by step
            least = 0.0
            for done, line in enumerate(sorted(tested, key=lambda line: line.p)):
                least = max(least, min(1.0, line.p * (len(tested) - done)))
                assert line.holm == pytest.approx(least)
    assert not told


@settings(max_examples=many(100))
@given(st.integers(1, 12), st.integers(1, 40), st.data())
def test_mid_p_against_a_direct_computation(people, others, data):
    favourable = data.draw(st.integers(0, people))
    other = data.draw(st.integers(0, others))
    whole = favourable + other
    ways = {
        k: math.comb(people, k) * math.comb(others, whole - k)
        for k in range(max(0, whole - others), min(people, whole) + 1)
    }
    here = ways[favourable]
    wanted = sum(Fraction(w) for w in ways.values() if w < here)
    wanted += Fraction(sum(w for w in ways.values() if w == here), 2)
    assert fisher(favourable, people, other, others) == pytest.approx(
        float(wanted / sum(ways.values()))
    )


def test_fewer_than_five_expected_in_a_cell_are_tested_exactly():
    # 10 of 100 in both together: 5 and 45 are expected of 50, and 4.9 of 49
    table = only(study_of(*people((2, 50), (8, 50))))
    assert table.lines[0].test == "Z"
    table = only(study_of(*people((2, 49), (8, 51))))
    assert table.lines[0].test == "Fisher mid-p"
    assert table.lines[0].z is None
    assert table.lines[0].p == fisher(2, 49, 8, 51)


def test_fairlearn_computes_the_same():
    from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate
    from fairlearn.metrics import true_positive_rate as hits
    from sklearn.metrics import accuracy_score, precision_score

    rng = np.random.default_rng(3)
    n = 3_000
    groups = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n)])
    label = (rng.random(n) < 0.3 + 0.1 * groups[:, 0]).astype(float)
    decided = (rng.random(n) < 0.2 + 0.4 * label + 0.1 * groups[:, 1]).astype(float)
    told = tables(study_of(groups, label, decided))
    metrics = {
        "rate": selection_rate,
        "true_positive_rate": hits,
        "false_positive_rate": false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    for by in ([0], [1], [0, 1]):
        frame = MetricFrame(
            metrics=metrics, y_true=label, y_pred=decided, sensitive_features=groups[:, by]
        )
        table = told["decisions", "yes", tuple(f"a{i}" for i in by)]
        lines = [line for line in table.lines if line.n_samples]
        assert len(lines) == len(frame.by_group)
        best = table.lines[table.reference]
        for line in lines:
            theirs = frame.by_group.loc[line.codes if len(by) > 1 else line.codes[0]]
            for name in metrics:
                assert getattr(line, name) == pytest.approx(theirs[name])
            if line is not best:
                gaps = [
                    getattr(line, rate) - getattr(best, rate)
                    for rate in ("true_positive_rate", "false_positive_rate")
                ]
                assert line.equal_opportunity == pytest.approx(gaps[0])
                assert line.average_odds == pytest.approx(sum(gaps) / 2)


def test_missing_labels_judge_nobody():
    codes = np.repeat([0.0, 1.0], [6, 4])
    decided = [1, 1, 0, 0, 1, 0, 1, 0, 0, 0]
    label = [1, 0, 1, 0, np.nan, np.nan, 0, 0, 0, np.nan]
    told = tables(study_of(codes, label, decided))
    first, second = told["decisions", "yes", ("a0",)].lines[:2]
    assert (first.n_samples, first.positives, first.negatives) == (6, 2, 2)
    assert (first.true_positives, first.false_positives) == (1, 1)
    assert (first.precision, first.accuracy) == (0.5, 0.5)
    assert (second.positives, second.true_positive_rate) == (0, None)
    assert second.false_positive_rate == pytest.approx(1 / 3)
    assert second.precision == 0.0
    assert second.accuracy == pytest.approx(2 / 3)
    assert (second.equal_opportunity, second.average_odds) == (None, None)
    assert told["label", "", ("a0",)].without == 3


def test_decisions_that_are_the_label_are_counted_once():
    codes, label = people((3, 10), (6, 10))
    (key,) = tables(study_of(codes, label, label))
    assert key == ("decisions", "yes", ("a0",))
    # an unfavourable decision is the other of two
    told = tables(study_of(codes, None, label), outcome="each")
    assert [line.favourable for line in told["decisions", "no", ("a0",)].lines[:2]] == [7, 4]


# Numbers in bins


def test_bins_are_those_that_were_asked_for():
    ages = np.array([17, 24, 25, 39, 40, 59, 60, 90, np.nan])
    age = Attribute(
        "age", Kind.INTEGER, low=17, high=90, role=Role.PROTECTED, compared=(20.0, 50.0, 80.0)
    )
    study = study_of(ages, np.ones(9), attributes=(age,), edges={"age": (25.0, 40.0, 60.0)})
    lines = only(study).lines
    assert [line.values[0] for line in lines] == [
        *("up to 24", "25 to 39", "40 to 59", "60 and over"),
        "(missing)",
    ]
    assert [line.n_samples for line in lines] == [2, 2, 2, 2, 1]
    # else around the values that are compared
    lines = only(study_of(ages, np.ones(9), attributes=(age,))).lines
    assert [line.values[0] for line in lines] == [
        "up to 34",
        "35 to 64",
        "65 and over",
        "(missing)",
    ]
    assert [line.codes for line in lines[:3]] == [(20.0,), (50.0,), (80.0,)]
    assert [line.n_samples for line in lines] == [3, 4, 1, 1]


def test_a_bin_of_one_value_is_that_value():
    sex = Attribute(
        "sex", Kind.INTEGER, low=0, high=3, role=Role.PROTECTED, compared=(0.0, 1.0, 2.0, 3.0)
    )
    codes = np.array([0.0, 1, 2, 3])
    study = study_of(codes, np.ones(4), attributes=(sex,), edges={"sex": (1.0, 3.0)})
    assert [line.values[0] for line in only(study).lines] == ["0", "1 to 2", "3"]
    # not where somebody is below the lowest value that is allowed
    study = study_of(codes - 1, np.ones(4), attributes=(sex,), edges={"sex": (1.0, 3.0)})
    assert [line.values[0] for line in only(study).lines] == ["up to 0", "1 to 2", "3"]


def test_bins_of_fractions_hold_their_lower_edge():
    share = Attribute(
        "share", Kind.REAL, low=0.0, high=1.0, role=Role.PROTECTED, compared=(0.25, 0.75)
    )
    values = np.array([0.0, 0.49999, 0.5, 1.0])
    lines = only(study_of(values, np.ones(4), attributes=(share,))).lines
    assert [(line.values[0], line.n_samples) for line in lines] == [
        ("under 0.5", 2),
        ("0.5 and over", 2),
    ]
    study = study_of(values, np.ones(4), attributes=(share,), edges={"share": (0.1, 0.5)})
    assert [(line.values[0], line.n_samples) for line in only(study).lines] == [
        *(("under 0.1", 1), ("0.1 to under 0.5", 1), ("0.5 and over", 2)),
    ]


def test_values_that_are_compared_one_by_one_are_groups():
    grade = Attribute(
        "grade", Kind.INTEGER, low=1, high=3, role=Role.PROTECTED, compared=(1.0, 2.0, 3.0)
    )
    lines = only(study_of([0, 1, 2, 3, 3, 4], np.ones(6), attributes=(grade,))).lines
    assert [(line.values[0], line.n_samples) for line in lines] == [
        *(("1", 1), ("2", 1), ("3", 2), ("(missing or excluded)", 2)),
    ]


def test_intersections_with_too_many_groups_are_left_out():
    rng = np.random.default_rng(1)
    sizes = (25, 24, 3)
    groups = np.column_stack([rng.integers(0, size, 500) for size in sizes])
    attributes = tuple(names(f"a{i}", *map(str, range(size))) for i, size in enumerate(sizes))
    told = tables(study_of(groups, rng.integers(0, 2, 500), attributes=attributes))
    pairs = {("a0", "a2"), ("a1", "a2")}
    assert {key[2] for key in told} == {("a0",), ("a1",), ("a2",), *pairs}
    wide = rng.integers(0, 2, (300, 4))
    told = tables(study_of(wide, rng.integers(0, 2, 300)))
    every = [by for k in range(1, 5) for by in combinations([f"a{i}" for i in range(4)], k)]
    assert [key[2] for key in told] == every


# With a model


class Opened:
    """A model of two numbers: its scores are the first, as far as it is complete."""

    def __init__(self, classes=("no", "yes"), scores="probabilities", answer=None):
        can = (Capability.DECIDES, Capability.SCORES) if scores != "labels" else ("decides",)
        self.card = ModelCard(
            *("model", "", "test model", "", Takes.MATRIX, ("x", "z"), True, classes, scores),
            can=can,
        )
        self.asked = []
        self._answer = answer or (lambda matrix: matrix[:, :1])

    def matrix_scores(self, matrix):
        self.asked.append(matrix.copy())
        return self._answer(matrix)


X = Attribute("x", Kind.REAL, low=0.0, high=1.0)
Z = Attribute("z", Kind.REAL, low=0.0, high=1.0)
UNUSED = Attribute("unused", Kind.REAL, low=0.0, high=1.0)
SEX = names("sex", "f", "m")


def asked(opened, x, sex, label=None, favourable=1, **mapping):
    """A study with a model; rows are x, z, one that the model is not given, and sex."""
    x = np.asarray(x, dtype=float)
    nothing = np.full(len(x), np.nan)
    rows = np.column_stack([x, np.zeros(len(x)), nothing, np.asarray(sex, dtype=float)])
    attributes = (X, Z, UNUSED, SEX)
    inputs = (Input("x", "x", How.AS_IS), Input("z", "z", How.AS_IS))
    fed = FedModel(opened, Mapping(inputs, "by name", favourable, **mapping), attributes)
    return GroupContext(
        domain=Domain(attributes),
        rows=rows,
        groups=rows[:, 3:],
        inside=~np.isnan(x),
        label=nothing if label is None else np.asarray(label, dtype=float),
        decided=nothing,
        model=fed,
        favourable=favourable,
        decisions=fed.mapping.decisions(opened.card),
    )


def test_everybody_is_asked_of_whom_nothing_is_missing_that_the_model_is_given():
    opened = Opened()
    study = asked(opened, [0.1, 0.9, np.nan, 0.6, 0.2, 0.4], [0, 0, 0, 1, 1, np.nan])
    told = tables(study)
    assert study.queries == 5
    assert np.concatenate(opened.asked)[:, 0].tolist() == [0.1, 0.9, 0.6, 0.2, 0.4]
    table = told["decisions", "yes", ("sex",)]
    assert [(line.favourable, line.n_samples) for line in table.lines] == [(1, 2), (1, 2), (0, 1)]
    assert (table.n_samples, table.unknown, table.without) == (4, 1, 1)
    table = told["scores", "yes", ("sex",)]
    # the median is everybody's, those of unknown group too; who is right at it is not above it
    assert table.median == 0.4
    assert table.ties == 0.2
    assert [line.favourable for line in table.lines] == [1, 1, 0]
    spread = np.std([0.1, 0.9, 0.6, 0.2, 0.4])
    assert [line.mean_score for line in table.lines] == pytest.approx([0.5, 0.4, 0.4])
    assert table.reference == 0
    assert table.lines[0].smd is None
    assert table.lines[1].smd == pytest.approx(-0.1 / spread)
    assert table.lines[2].smd is None


def test_a_row_whose_missing_cell_the_model_handles_is_counted():
    opened = Opened(answer=lambda matrix: np.nan_to_num(matrix[:, :1]))
    x = [0.1, 0.9, np.nan, 0.6, 0.2, 0.4]
    study = asked(opened, x, [0, 0, 0, 1, 1, np.nan], takes_missing=("x",))
    table = tables(study)["decisions", "yes", ("sex",)]
    assert study.queries == 6
    assert (table.n_samples, table.unknown, table.without) == (5, 1, 0)


def test_a_value_that_is_not_allowed_is_not_taken_for_a_missing_cell():
    rows = np.array([[0.0], [np.nan]])
    inputs = (Input("job", "job", How.CODE, codes={"a": 0.0, "b": 1.0}),)
    mapping = Mapping(inputs, "by name", 1, takes_missing=("job",))
    assert askable(rows, (names("job", "a", "b"),), mapping).tolist() == [True, False]


def test_many_ties_at_the_median_are_told():
    study = asked(Opened(), [0.5] * 6 + [0.7, 0.1], [0, 1] * 4)
    table = tables(study)["scores", "yes", ("sex",)]
    assert (table.median, table.ties, table.favourable) == (0.5, 0.75, 1)
    # and where all scores are equal there is no spread to measure in
    table = tables(asked(Opened(), [0.1] * 7, [0, 1] * 3 + [0]))["scores", "yes", ("sex",)]
    assert (table.ties, table.favourable) == (1.0, 0)
    assert [line.smd for line in table.lines] == [None, None]


def test_calibration_by_bins():
    x = [0.05, 0.05, 0.1, 0.95, 1.0, 0.0, 0.55]
    label = [0, 1, 0, 1, 1, 0, np.nan]
    study = asked(Opened(), x, [0] * 7, label)
    told = tables(study)
    (first, last) = told["scores", "yes", ("sex",)].lines[0].calibration
    # an upper end is included, and nought is in the first bin
    assert (first.low, first.high, first.n_samples) == (0.0, 0.1, 4)
    assert first.expected == pytest.approx(0.05)
    assert first.observed == 0.25
    assert (last.n_samples, last.observed) == (2, 1.0)
    assert told["scores", "yes", ("sex",)].lines[1].calibration == ()
    assert told["decisions", "yes", ("sex",)].lines[0].calibration == ()
    # what is no probability is not calibrated
    told = tables(asked(Opened(scores="scores"), x, [0] * 7, label))
    assert told["scores", "yes", ("sex",)].lines[0].calibration == ()


def test_a_model_that_only_decides_has_no_scores():
    told = tables(asked(Opened(scores="labels"), [0, 1, 1, 0], [0, 0, 1, 1]))
    assert {key[0] for key in told} == {"decisions"}


def test_the_first_of_two_classes_may_be_favourable():
    study = asked(Opened(), [0.1, 0.9, 0.6, 0.2], [0, 0, 1, 1], [1, 0, 1, 1], favourable=0)
    told = tables(study)
    decisions = told["decisions", "no", ("sex",)].lines
    assert [line.favourable for line in decisions] == [1, 1]
    assert [line.true_positive_rate for line in decisions] == [1.0, 0.5]
    scores = told["scores", "no", ("sex",)].lines
    assert [line.mean_score for line in scores] == pytest.approx([0.5, 0.6])


def test_each_of_several_decisions_in_turn():
    def answer(matrix):
        return np.eye(3)[(matrix[:, 0] * 2).astype(int)] * 0.8 + 0.1

    opened = Opened(("low", "middle", "high"), answer=answer)
    study = asked(opened, [0, 0.5, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1], np.ones(6), favourable=2)
    assert {key[1] for key in tables(study) if key[0] != "label"} == {"high"}
    told = tables(study, outcome="each")
    rates = {
        name: [line.favourable for line in told["decisions", name, ("sex",)].lines]
        for name in opened.card.classes
    }
    assert rates == {"low": [1, 2], "middle": [1, 0], "high": [1, 1]}
    # a label says who should get the favourable decision, and nothing of which other one
    assert told["decisions", "high", ("sex",)].lines[0].positives == 3
    assert told["decisions", "low", ("sex",)].lines[0].positives is None
    assert {key[1] for key in told if key[0] == "scores"} == set(opened.card.classes)


def test_scores_are_the_models_own():
    # at another threshold what is asked has its border at one half
    study = asked(Opened(), [0.1, 0.3, 0.2, 0.9], [0, 0, 1, 1], threshold=0.25, outcomes=("n", "y"))
    told = tables(study)
    assert [line.favourable for line in told["decisions", "y", ("sex",)].lines] == [1, 1]
    table = told["scores", "y", ("sex",)]
    assert table.median == pytest.approx(0.25)
    assert not table.falls
    assert [line.mean_score for line in table.lines] == pytest.approx([0.2, 0.55])


def test_of_an_estimated_number_the_smaller_may_be_favourable():
    opened = Opened((), "values", lambda matrix: 100 * matrix[:, :1])
    study = asked(
        opened,
        [0.1, 0.3, 0.6, 0.9],
        [0, 0, 1, 1],
        favourable=0,
        threshold=50.0,
        spread=25.0,
        outcomes=("below 50", "50 or more"),
    )
    told = tables(study)
    assert [line.favourable for line in told["decisions", "below 50", ("sex",)].lines] == [2, 0]
    table = told["scores", "below 50", ("sex",)]
    assert table.median == pytest.approx(45)
    assert table.falls
    assert [line.favourable for line in table.lines] == [2, 0]
    assert [line.mean_score for line in table.lines] == pytest.approx([20, 75])


def test_labels_are_told_before_the_model_is_asked():
    def refuse(matrix):
        raise AssertionError("nobody should be asked yet")

    study = asked(Opened(answer=refuse), [0.1, 0.9], [0, 1], [0, 1])
    events = measuring.search(study, study.rows, MeasureOptions(), np.random.default_rng(0))
    told = next(event for event in events if isinstance(event, Measured))
    assert [table.of for table in told.figures] == ["label"]
    events.close()


def test_progress_never_falls():
    study = asked(Opened(), np.linspace(0, 1, 9_000), np.arange(9_000) % 2, np.ones(9_000))
    told = [event for event in run(study, outcome="each") if isinstance(event, Progress)]
    assert [*dict.fromkeys(event.phase for event in told)] == ["labels", "answers", "decisions"]
    for phase in ("labels", "answers", "decisions"):
        steps = [event for event in told if event.phase == phase]
        assert [event.done for event in steps] == sorted(event.done for event in steps)
        assert all(0 <= event.done <= event.total for event in steps)
        assert steps[-1].done == steps[-1].total
    assert told[-1].queries == told[-1].tried == study.queries == 9_000


def test_a_model_that_nobody_can_be_asked_about():
    study = asked(Opened(), [np.nan, np.nan], [0, 1], [0, 1])
    told = tables(study)
    assert {key[0] for key in told} == {"label", "decisions"}
    table = told["decisions", "yes", ("sex",)]
    assert (table.n_samples, table.without, table.reference) == (0, 2, -1)
    assert [line.n_samples for line in table.lines] == [0, 0]


# On real data


def test_the_published_rates_of_callbacks():
    """Bertrand and Mullainathan, "Are Emily and Greg More Employable than Lakisha and Jamal?"."""
    path = DATA / "tabular" / "resume_callbacks.csv"
    if not path.exists():
        pytest.skip("the real data are not here")
    table = read_table(path)
    attributes = tuple(
        attribute_of(table.column(name), Role.PROTECTED) for name in ("ethnicity", "gender")
    )
    good, known = favourable_rows(table, "call", "yes")
    label = np.where(known, good, np.nan)
    domain = SimpleNamespace(grouping=attributes)
    told = tables(study_of(encode(domain.grouping, table), label, attributes=attributes))
    black, white = told["label", "", ("ethnicity",)].lines
    assert (black.values, white.values) == (("afam",), ("cauc",))
    assert round(100 * black.rate, 2) == 6.45
    assert round(100 * white.rate, 2) == 9.65
    assert black.test == "Z"
    assert black.z == pytest.approx(-4.11, abs=0.005)
    assert black.p == pytest.approx(4e-5, abs=1e-6)
    assert black.below
    assert told["label", "", ("gender",)].lines[1].holm > 0.3
    assert len(told["label", "", ("ethnicity", "gender")].lines) == 4
