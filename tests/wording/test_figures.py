"""Sentences about figures: what is exact, estimated or at most, and for whom."""

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.data.formats.reading import read_table
from fairdesk.results.conditions import Condition
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import GradientFidelity, Share
from fairdesk.results.proofs import Estimated, PairShare, Proven, Region
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording.groups import subgroups as subgroup_words
from tests.report.building import people_store, spec_of, write_people

SHARE = Share(
    whom="domain",
    attributes=("sex",),
    people=100_000,
    hits=3_800,
    exhaustive=False,
    confidence=0.95,
    estimate=0.038,
    low=0.0368,
    high=0.0392,
    anytime_low=0.0359,
    anytime_high=0.0402,
)


def plain(text):
    return text.replace(words.NBSP, " ")


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            (
                "3.80 % (3.68 to 3.92 %, 95 %) of all possible applicants get another decision "
                "when only sex changes: estimated from 100,000 drawn at random."
            ),
        ),
        (
            {"hits": 0, "estimate": 0.0, "low": 0.0, "high": 3.7e-5},
            (
                "0 of 100,000 applicants drawn at random get another decision when only sex "
                "changes: at most 0.0037 % of all possible applicants do (95 % confidence)."
            ),
        ),
        (
            {"exhaustive": True, "low": 0.038, "high": 0.038},
            (
                "3.80 % of all possible applicants (3,800 of 100,000) get another decision when "
                "only sex changes: every one was checked."
            ),
        ),
        (
            {"exhaustive": True, "hits": 0, "estimate": 0.0, "low": 0.0, "high": 0.0},
            (
                "0.00 % of all possible applicants (0 of 100,000) get another decision when only "
                "sex changes: every one was checked."
            ),
        ),
    ],
)
def test_a_share_is_told_for_what_it_is(spec, changes, said):
    share = msgspec.structs.replace(SHARE, **changes)
    assert plain(figures.share_statement(spec, share).sentence) == said


def test_the_interval_for_who_watches(spec):
    assert "3.59 to 4.02 %, 95 %" in plain(figures.anytime_sentence(SHARE))
    assert not figures.anytime_sentence(msgspec.structs.replace(SHARE, exhaustive=True))


def test_the_share_of_all_attributes_is_the_one_to_tell():
    both = msgspec.structs.replace(SHARE, attributes=("sex", "age"))
    data = msgspec.structs.replace(both, whom="data")
    assert figures.share_of_domain((data, SHARE, both)) is both
    assert figures.share_of_domain((data,)) is None


@pytest.mark.parametrize(
    ("method", "found", "first", "holds"),
    [
        ("estimate", 40, "3.80 %", "estimated from"),
        ("maft", 12, "12 ", "Examples, not a rate"),
        ("maft", 0, "0 found", "3.80 %"),
    ],
)
def test_a_headline_never_takes_a_search_for_a_rate(spec, method, found, first, holds):
    state = RunState(1, method, "done", tried=50, found=found, queries=90, figures=(SHARE,))
    said = plain(figures.headline(spec, state).sentence)
    assert said.startswith(first)
    assert holds in said


def test_what_an_estimate_came_upon_is_never_told_beside_its_share(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        for method in ("uniform", "estimate", "diagnose"):
            store.end_run(store.begin_run(RunSpec(method)), "done")
        runs = [msgspec.structs.replace(run, found=8, alone=(6, 1)) for run in store.runs()]
        told = [figures.alone_sentences(store.spec, run) for run in runs]
    assert [len(each) for each in told] == [2, 0, 0]
    assert [figures.tells_of_people(run) for run in runs] == [True, True, False]
    assert [figures.searches(run) for run in runs] == [True, False, False]


def test_a_share_of_those_near_real_people_says_so(tmp_path):
    with people_store(tmp_path) as store:
        for near in (0.1, None):
            run = store.begin_run(RunSpec("estimate", near=near))
            store.measure(run, [SHARE])
            store.end_run(run, "done")
        near, whole = [figures.headline(store.spec, run).sentence for run in store.runs()]
    assert "Only applicants at most 0.1 from a real one" in near
    assert "asked about" not in whole


def test_gaps_and_likenesses_are_told(spec):
    gap = GroupGap(("sex",), 4_000, 0.2, 0.17, 0.23, 0.99, (1.0,), (0.0,), 0.6, 0.4)
    said = plain(subgroup_words.gap_statement(spec, gap).sentence)
    assert said.startswith("20.0 percentage points (17.0 to 23.0, 99 %) lie between")
    assert "sex = " in said
    assert said.endswith("among 4,000 applicants invented at random.")
    few = msgspec.structs.replace(gap, people=2, low=0.0, high=1.0, sets=3, unmet=2)
    said = plain(subgroup_words.gap_statement(spec, few).sentence)
    assert "(0.0 to 100.0 for all 3 sets of attributes together, 99 %)" in said
    assert "That the two differ at all is not shown" in said
    assert "2 groups are not compared" in said
    like = GradientFidelity(0.5, 100, 0.97, 0.9, 0.8, 400, 30)
    assert "gradients 0.97, directions 0.90 and odds 0.80" in figures.likeness_sentence(like)
    blind = msgspec.structs.replace(like, gradients=None, directions=None, probabilities=None)
    assert figures.likeness_sentence(blind) == (
        "Size 0.5: a short search found 30 among 400 tried."
    )
    tiny = msgspec.structs.replace(blind, size=0.0316228)
    assert figures.likeness_sentence(tiny).startswith("Size 0.032:")
    assert len(figures.sentences(spec, (SHARE, gap, like))) == 4


PROVEN = Proven(
    of="domain",
    attributes=("age",),
    certified=0.8993,
    falsified=0.069,
    undecided=0.0317,
    boxes=10,
    estimated=Estimated(1_000, 410, 0.38, 0.44, 0.95, 0.41),
)
EXACT = msgspec.structs.replace(
    PROVEN,
    certified=607 / 624,
    falsified=17 / 624,
    undecided=0.0,
    total="624",
    certified_people="607",
    falsified_people="17",
    exact=True,
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            (
                "At least 89.93 % of all possible applicants are treated alike, whatever their "
                "age: proven; at least 6.90 % are not: proven. 3.17 % is undecided."
            ),
        ),
        (
            {"certified": 0.99999, "falsified": 0.0, "undecided": 0.00001},
            (
                "At least 99.9990 % of all possible applicants are treated alike, whatever their "
                "age: proven; of nobody is it proven that they are not. 0.0010 % is undecided."
            ),
        ),
        (
            {"certified": 1 - 1e-12, "falsified": 0.0, "undecided": 1e-12},
            (
                "At least 99.999999 % of all possible applicants are treated alike, whatever their "
                "age: proven; of nobody is it proven that they are not. 0.000001 % is undecided."
            ),
        ),
        (
            {"certified": 0.0, "falsified": 1e-12, "undecided": 1 - 1e-12},
            (
                "More than 0 % of all possible applicants are not treated alike, whatever their "
                "age: proven; of nobody is it proven that they are. 100.000000 % is undecided."
            ),
        ),
        (
            {"certified": 0.0, "falsified": 0.0, "undecided": 1.0},
            (
                "Nothing is proven of how all possible applicants are treated, whatever their age: "
                "all of them are undecided."
            ),
        ),
        (
            # the float of two thirds is above them, in the last digit that it shows
            {"certified": 2 / 3, "total": "3", "certified_people": "2", "falsified_people": "0"},
            (
                "At least 66.66 % of all possible applicants are treated alike, whatever their "
                "age: proven; of nobody is it proven that they are not. 33.34 % is undecided."
            ),
        ),
        (
            {"of": "population"},
            (
                "At least 89.93 % of applicants among whom every value is as common as in the data "
                "are treated alike, whatever their age: proven; at least 6.90 % are not: proven. "
                "3.17 % is undecided."
            ),
        ),
    ],
)
def test_what_is_proven_is_rounded_down_and_what_is_left_up(spec, changes, said):
    proven = msgspec.structs.replace(PROVEN, **changes)
    assert plain(proof_words.proven_statement(spec, proven).sentence) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            (
                "Exactly 17 of 624 possible applicants (2.72 %) are treated unlike when only age "
                "changes: every one is decided."
            ),
        ),
        (
            {"certified_people": "624", "falsified_people": "0"},
            (
                "All 624 possible applicants are treated alike, whatever their age: every one is "
                "decided."
            ),
        ),
        (
            {"certified_people": "624", "falsified_people": "0", "boxes": 0},
            (
                "All 624 possible applicants are treated alike, whatever their age: certified at "
                "once, for nobody had to be looked at."
            ),
        ),
        (
            {"of": "population", "total": "", "certified": 0.9, "falsified": 0.1},
            (
                "Exactly 10.00 % of applicants among whom every value is as common as in the data "
                "are treated unlike when only age changes: every one is decided."
            ),
        ),
    ],
)
def test_what_is_decided_of_everybody_is_told_exactly(spec, changes, said):
    proven = msgspec.structs.replace(EXACT, **changes)
    assert plain(proof_words.proven_statement(spec, proven).sentence) == said
    assert not proof_words.estimated_sentence(spec, proven)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            (
                "Of the remaining 3.17 %, an estimated 41.0 % (38.0 to 44.0 %, 95 %) are treated "
                "unlike: statistical, not certified."
            ),
        ),
        (
            {"certified": 0.0, "falsified": 0.0, "undecided": 1.0},
            (
                "Of all possible applicants, an estimated 41.0 % (38.0 to 44.0 %, 95 %) are "
                "treated unlike: statistical, not certified."
            ),
        ),
        (
            {"estimated": Estimated(1_000, 0, 0.0, 0.00302, 0.95, 0.0)},
            (
                "Of the remaining 3.17 %, at most 0.31 % (95 % confidence) are treated unlike: 0 "
                "of 1,000 drawn at random are. This is statistical, not certified."
            ),
        ),
        ({"estimated": None}, ""),
        ({"estimated": Estimated(0, 0, 0.0, 1.0, 0.95, 0.0)}, ""),
    ],
)
def test_an_estimate_of_the_rest_says_that_it_is_none_of_the_proof(spec, changes, said):
    proven = msgspec.structs.replace(PROVEN, **changes)
    assert plain(proof_words.estimated_sentence(spec, proven)) == said


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ((), "everybody"),
        ((Condition("debts", low=3.0),), "“debts” ≥ 3"),
        ((Condition("income", high=30.5),), "“income” ≤ 30.5"),
        ((Condition("debts", low=3.0, high=5.0),), "3 ≤ “debts” ≤ 5"),
        ((Condition("debts", low=3.0, high=3.0),), "“debts” = 3"),
        (
            (Condition("debts", low=1.0), Condition("job", (2.0,))),
            "“debts” ≥ 1 and “job” = none",
        ),
        ((Condition("job", (0.0, 3.0)),), "“job” = clerk or pilot"),
        ((Condition("job", (0.0, 1.0, 3.0)),), "“job” ≠ none"),
    ],
)
def test_a_box_is_written_as_a_rule(spec, conditions, said):
    assert rule_words.rule_text(spec, conditions) == said


def test_regions_and_pairs_are_told_with_their_number_first(spec):
    region = Region("unlike", (Condition("debts", low=3.0),), 0.0321, "123456", 0.014)
    assert plain(proof_words.region_sentence(spec, region)) == (
        "All 123,456 possible applicants with “debts” ≥ 3 are treated unlike when only age or sex "
        "or both change: proven. That is at least 3.21 % of all, and about 1.40 % where every "
        "value is as common as in the data."
    )
    one = Region("consistent", (), 1e-9, "1")
    assert plain(proof_words.region_sentence(spec, one)).startswith(
        "One possible applicant is treated alike, whatever their age and sex: proven."
    )
    pair = PairShare(("sex",), (0.0,), (1.0,), 0.069, 0.8)
    assert plain(proof_words.pair_sentence(spec, pair)) == (
        "At least 6.90 % of all possible applicants get another decision between sex = female and "
        "sex = male: proven; at least 80.00 % get the same: proven."
    )
    exact = msgspec.structs.replace(pair, certified=0.931, exact=True)
    assert "every one is decided" in proof_words.pair_sentence(spec, exact)


def test_a_proof_is_told_with_its_notes_and_the_estimate_beside_it(spec):
    noted = msgspec.structs.replace(PROVEN, notes=("The model ignores “age”.",))
    told = figures.sentences(spec, (noted, SHARE))
    assert told[:3] == (
        proof_words.proven_statement(spec, PROVEN).sentence,
        proof_words.estimated_sentence(spec, PROVEN),
        "The model ignores “age”.",
    )
    population = msgspec.structs.replace(PROVEN, of="population")
    assert proof_words.proven_of((population, noted)) is noted
    assert proof_words.proven_of((population, noted), "population") is population
    assert proof_words.proven_of((SHARE,)) is None
