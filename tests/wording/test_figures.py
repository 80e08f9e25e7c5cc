"""Sentences about figures: what is exact, estimated or at most, and for whom."""

from fractions import Fraction

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.data.formats.reading import read_table
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import (
    ExcessChange,
    RandomBaseline,
    SearchPhase,
    Share,
)
from fairdesk.results.proofs import Condition, Estimated, GroupRate, Proven, ProvenRates
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording.groups import subgroups as baseline_words
from tests import phrases
from tests.report.building import people_store, spec_of, write_people

SHARE = Share(
    whom="domain",
    attributes=("sex",),
    n_samples=100_000,
    hits=3_800,
    exhaustive=False,
    confidence=0.95,
    estimate=0.038,
    low=0.0368,
    high=0.0392,
    anytime_low=0.0359,
    anytime_high=0.0402,
)
DOMAIN = "Share of the input domain whose decision changes"
#: What follows each share of the domain.
NO_PEOPLE = "The input domain consists of combinations of values, not of real applicants."


def plain(text):
    return text.replace(words.NBSP, " ")


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


@pytest.mark.parametrize(
    ("changes", "said", "value"),
    [
        (
            {},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, {phrases.DECISION_CHANGES_FOR} 3.80 "
                "% (95 % CI 3.68 to 3.92 %) of the input domain. 3,800 of 100,000 drawn at random "
                "changed."
            ),
            "3.80 %",
        ),
        (
            # of none the bound is told, rounded up
            {"hits": 0, "estimate": 0.0, "low": 0.0, "high": 3.71e-5},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, {phrases.DECISION_CHANGES_FOR} none "
                "of 100,000 instances drawn at random. With 95 % confidence, it changes for at "
                "most 0.0038 % of the input domain."
            ),
            "At most 0.0038 %",
        ),
        (
            {"exhaustive": True, "low": 0.038, "high": 0.038},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, {phrases.DECISION_CHANGES_FOR} "
                f"3,800 of 100,000 combinations in the input domain (3.80 %). {phrases.EVERY_ONE}."
            ),
            "3.80 %",
        ),
        (
            {"exhaustive": True, "hits": 0, "estimate": 0.0, "low": 0.0, "high": 0.0},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, {phrases.DECISION_CHANGES_FOR} 0 of "
                f"100,000 combinations in the input domain (0 %). {phrases.EVERY_ONE}."
            ),
            "0 %",
        ),
        (
            {"exhaustive": True, "n_samples": 10_000_000, "hits": 1, "low": 1e-7, "high": 1e-7},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, {phrases.DECISION_CHANGES_FOR} 1 of "
                f"10,000,000 combinations in the input domain (below 0.01 %). {phrases.EVERY_ONE}."
            ),
            "Below 0.01 %",
        ),
        (
            {"exhaustive": True, "wavered": 1},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, the decision changed for 3,800 of "
                "100,000 combinations in the input domain (3.80 %), each queried once. This is not "
                "exact: 1 row received a different output when it was re-queried."
            ),
            "3.80 %",
        ),
        (
            {"exhaustive": True, "wavered": 2},
            (
                f"{phrases.IF_WE_CHANGE} sex and nothing else, the decision changed for 3,800 of "
                "100,000 combinations in the input domain (3.80 %), each queried once. This is not "
                "exact: 2 rows received a different output when they were re-queried."
            ),
            "3.80 %",
        ),
    ],
)
def test_a_share_is_told_for_what_it_is(spec, changes, said, value):
    share = msgspec.structs.replace(SHARE, **changes)
    statement = figures.share_statement(spec, share)
    assert plain(statement.sentence) == f"{said} {NO_PEOPLE}"
    assert plain(statement.value) == value
    assert statement.evidence == ("proven" if share.exact else "estimated")


def test_the_rows_of_the_data_are_the_auditors_people_and_real(spec):
    rows = msgspec.structs.replace(SHARE, whom="data", exhaustive=True)
    said = figures.share_statement(spec, rows)
    assert said.evidence == "observed"
    assert said.label == "Applicants whose decision changes"
    assert "for 3,800 of 100,000 applicants in the data (3.8 %)." in plain(said.sentence)
    assert NO_PEOPLE not in said.sentence
    assert "Not tested" not in said.sentence
    data = msgspec.structs.replace(spec.data, rows=100_003)
    fewer = figures.share_statement(msgspec.structs.replace(spec, data=data), rows)
    left_out = "Not tested: 3 of the 100,003 rows (incomplete or not allowed)."
    assert left_out in fewer.sentence
    moved = msgspec.structs.replace(SHARE, whom="perturbed")
    assert "of the perturbed data rows." in figures.share_statement(spec, moved).sentence
    line = plain(figures.share_line(spec, SHARE))
    assert line == f"{DOMAIN}: 3.80 % (95 % CI 3.68 to 3.92 %)."
    assert plain(figures.share_line(spec, rows)).endswith(": 3.8 % (all tested).")
    unsure = msgspec.structs.replace(rows, wavered=1)
    assert plain(figures.share_line(spec, unsure)).endswith(": 3.8 % (not exact).")


@pytest.mark.parametrize(
    ("low", "value"),
    [(0.0213, "At least 2.13 %"), (0.0, "At least 0 %"), (1e-9, "More than 0 %")],
)
def test_a_change_of_probability_is_told_as_the_bound_that_it_is(spec, low, value):
    excess = ExcessChange("domain", ("sex",), 1_000, 0.051, 0.009, 0.042, low, 0.06, 0.95)
    said = figures.excess_statement(spec, excess)
    assert plain(said.value) == value
    assert value.lower() in plain(said.sentence)
    assert "(1,000 pairs, each row queried twice" in said.sentence
    assert "in 5.1 % of the queries" in plain(said.sentence)
    assert ("own randomness" in said.sentence) == (low == 0)


def test_the_interval_for_who_watches(spec):
    assert "95 % CI 3.59 to 4.02 %. It holds also" in plain(figures.anytime_sentence(SHARE))
    assert not figures.anytime_sentence(msgspec.structs.replace(SHARE, exhaustive=True))
    # one interval is not told twice
    once = msgspec.structs.replace(SHARE, anytime_low=SHARE.low, anytime_high=SHARE.high)
    assert not figures.anytime_sentence(once)


def test_of_several_shares_that_of_the_data_is_the_one_to_quote(spec):
    data = msgspec.structs.replace(SHARE, whom="data", exhaustive=True)
    told = figures.quote_sentence(spec, (SHARE, data))
    assert told.startswith("Quote the share of the applicants in the data: ")
    for alone in ((SHARE,), (data,), (SHARE, msgspec.structs.replace(SHARE, attributes=("age",)))):
        assert figures.quote_sentence(spec, alone) == ""


def test_what_perturbed_data_rows_are_is_said_where_a_share_is_of_them(spec):
    perturbed = msgspec.structs.replace(SHARE, whom="perturbed")
    said = figures.perturbed_sentence(spec, (SHARE, perturbed, perturbed))
    assert said.count("are copies of data rows") == 1
    assert said.endswith("not real applicants.")
    assert not figures.perturbed_sentence(spec, (SHARE,))


@pytest.mark.parametrize(
    ("low", "high", "said", "wide"),
    [
        (0.036, 1.0, f"{phrases.NO_RATIO} sex: its proven bounds lie", True),
        (0.5, 0.8, "No conclusion", True),
        (0.2, 0.79, "0.200 to 0.790, below the four-fifths threshold", False),
        # the threshold itself is not below it
        (0.3512, 0.79996, "0.351 to 0.79996, below the four-fifths threshold", False),
        (0.8, 1.0, "0.800 to 1.000, not below", False),
    ],
)
def test_bounds_of_a_ratio_say_what_they_leave_open(low, high, said, wide):
    groups = (GroupRate(0.0, 0.0374, 0.6743, 0.5), GroupRate(1.0, 0.136, 0.3322, 0.5))
    rates = ProvenRates("sex", groups, low, high)
    assert said in proof_words.proven_ratio_sentence(rates)
    assert proof_words.is_too_wide(rates) is wide


def test_a_run_that_ended_without_a_result_is_not_said_to_have_none_yet(spec):
    going = RunState(id=1, method="groups", state="running")
    assert figures.headline(spec, going).sentence == phrases.NO_RESULT_YET
    for method in ("groups", "estimate", "certify", "testsgd"):
        ended = msgspec.structs.replace(going, method=method, state="done")
        assert figures.headline(spec, ended).sentence == phrases.NO_RESULT


def test_the_share_of_all_attributes_is_the_one_to_tell():
    both = msgspec.structs.replace(SHARE, attributes=("sex", "age"))
    data = msgspec.structs.replace(both, whom="data")
    assert figures.share_of_domain((data, SHARE, both)) is both
    assert figures.share_of_domain((data,)) is None


@pytest.mark.parametrize(
    ("method", "found", "number", "holds"),
    [
        ("estimate", 40, ("estimated", "3.80 %"), "3,800 of 100,000 drawn at random changed."),
        ("maft", 12, ("example", "12"), f"{phrases.NO_RATE}. {phrases.IF_WE_CHANGE} sex"),
        ("maft", 0, ("", "0"), f"none exist. {phrases.IF_WE_CHANGE} sex"),
    ],
)
def test_a_headline_never_takes_a_search_for_a_rate(spec, method, found, number, holds):
    state = RunState(1, method, "done", tried=50, found=found, queries=90, figures=(SHARE,))
    said = figures.headline(spec, state)
    assert (said.evidence, plain(said.value)) == number
    assert holds in plain(said.sentence)


def test_an_estimate_says_first_what_is_true_of_people_where_it_knows_that(spec):
    people = msgspec.structs.replace(SHARE, whom="data", n_samples=40, hits=9, estimate=9 / 40)
    for known in ((SHARE, people), (people,)):
        state = RunState(1, "estimate", "done", tried=50, queries=90, figures=known)
        said = figures.headline(spec, state)
        assert said.label == "Applicants whose decision changes"
        assert phrases.NO_RESULT not in said.sentence


def test_what_an_estimate_came_upon_is_never_told_beside_its_share(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        for method in ("uniform", "estimate", "diagnose"):
            store.end_run(store.begin_run(RunSpec(method)), "done")
        runs = [
            msgspec.structs.replace(run, found=8, sufficient_alone=(6, 1)) for run in store.runs()
        ]
        told = [figures.alone_sentences(store.spec, run) for run in runs]
    assert [len(each) for each in told] == [2, 0, 0]
    assert [figures.tells_of_people(run) for run in runs] == [True, True, False]
    assert [figures.searches(run) for run in runs] == [True, False, False]


def test_a_share_of_those_near_real_people_says_so(tmp_path):
    with people_store(tmp_path) as store:
        for near in (0.1, None):
            run = store.begin_run(RunSpec("estimate", max_distance=near))
            store.measure(run, [SHARE])
            store.end_run(run, "done")
        near, whole = [figures.headline(store.spec, run).sentence for run in store.runs()]
    assert "Only instances within Gower distance 0.1 of a data row were tested" in near
    assert near.endswith("The results cover those instances only.")
    assert "distance" not in whole


def test_a_search_that_was_kept_to_plausible_pairs_says_so_and_how_few_it_found(tmp_path):
    with people_store(tmp_path) as store:
        for plausible in (True, False):
            store.end_run(store.begin_run(RunSpec("maft", plausible=plausible)), "done")
        nothing, whole = store.runs()
        few = msgspec.structs.replace(nothing, tried=9)
        told = figures.near_sentence(few)
        assert figures.near_sentence(whole) == ""
        many = msgspec.structs.replace(few, found=figures.FEW_PAIRS)
        stopped = msgspec.structs.replace(few, found=1, state="stopped")
    # nearness is compared in any case, and the rest only where it is known
    near = "Only plausible instances were tested: no farther from a data row than data rows are"
    assert told.startswith(near)
    by_distance = Reference(0.95, 0.1, by_distance=True)
    assert figures.near_sentence(few, by_distance) == told
    both = figures.near_sentence(few, Reference(0.93, 0.0, by_distance=False))
    assert "tested: no stranger than real rows." in both
    assert told.endswith(f"{phrases.NOT_LIMITED_COMPARES}.")
    assert phrases.NOT_LIMITED_COMPARES not in figures.near_sentence(nothing)
    one = msgspec.structs.replace(few, found=1)
    assert figures.near_sentence(one).endswith(phrases.PLAUSIBLE_FOUND.format("1", " was"))
    for each in (many, stopped):
        assert "searched region" not in figures.near_sentence(each)


@pytest.mark.parametrize(
    ("queries", "sampled", "said"),
    [
        (
            9_000,
            (1_000, 20, 4_000, 8_000, 0.0123, 0.0307),
            "The search needs fewer queries than random sampling",
        ),
        (
            60_000,
            (1_000, 20, 4_000, 8_000, 0.0123, 0.0307),
            "The search needs more queries than random sampling",
        ),
        (
            28_000,
            (1_000, 20, 4_000, 8_000, 0.0123, 0.0307),
            "do not differ significantly in queries",
        ),
        (9_000, (1_000, 0, 4_000, 8_000, 0.0, 0.0037), "no pair among 1,000."),
        (9_000, (1_000, 1, 4_000, 8_000, 0.0001, 0.0037), "The search needs fewer queries than"),
    ],
)
def test_a_search_is_compared_with_random_sampling(tmp_path, queries, sampled, said):
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("sg", plausible=True))
        store.measure(run, [RandomBaseline(*sampled)])
        store.end_run(run, "done")
        (ended,) = store.runs()
    assert figures.sampling_sentence(ended) == "", "there is no pair"
    ended = msgspec.structs.replace(ended, queries=queries, found=100)
    compared = figures.compared_with_sampling(ended)
    own = (queries - 8_000) / 100
    assert compared.own == own
    assert compared.random == (4_000 / sampled[1] if sampled[1] else None)
    told = figures.near_sentence(ended)
    assert figures.sampling_sentence(ended) in told
    assert said in told
    without = msgspec.structs.replace(ended, figures=())
    assert figures.sampling_sentence(without) == ""


def test_gaps_are_told(spec):
    gap = GroupGap(("sex",), 4_000, 0.2, 0.17, 0.23, 0.99, (1.0,), (0.0,), 0.6, 0.4)
    said = plain(baseline_words.gap_statement(spec, gap).sentence)
    assert said == (
        "The selection rates of sex = male (60.0 %) and sex = female (40.0 %) differ by 20.0 "
        "percentage points (99 % CI 17.0 to 23.0) among 4,000 instances drawn at random from the "
        "input domain."
    )
    few = msgspec.structs.replace(gap, n_samples=2, low=0.0, high=1.0, sets=3, unmet=2)
    said = plain(baseline_words.gap_statement(spec, few).sentence)
    assert "(corrected 99 % CI 0.0 to 100.0, 3 sets of attributes) among 2 instances" in said
    assert f"The difference is {phrases.NOT_SIGNIFICANT}. 2 groups {phrases.NOT_COMPARED}" in said
    one = msgspec.structs.replace(few, unmet=1)
    assert "1 group is not compared: no" in baseline_words.gap_statement(spec, one).sentence


def test_phases_of_a_search():
    phases = (
        SearchPhase("seeds", 26, 1, 9, 81),
        SearchPhase("directed", 1_974, 480, 14, 81),
        SearchPhase("local", 0, 0),
    )
    assert figures.phase_cells(phases[1]) == ("1,974", "480", "24.3\u00a0%", "14")
    assert figures.phase_cells(phases[2]) == ("0", "0", "", "")
    assert figures.phase_cells(None) == ("",) * len(figures.PHASE_HEADER)


PROVEN = Proven(
    of="domain",
    attributes=("age",),
    certified=0.8993,
    falsified=0.069,
    undecided=0.0317,
    boxes=10,
    estimated=Estimated(1_000, 410, 0.38, 0.44, 0.95, 0.41),
)
#: Beside what was drawn, “no share is falsified” alone would be read as “none changes”.
NONE_FALSIFIED = (
    f"no share is falsified so far, but {phrases.DECISION_CHANGES_FOR} 410 of 1,000 "
    f"{phrases.DRAWN_AT_RANDOM}"
)
SAME = f"The decision is {phrases.PROVABLY_SAME} for every tested value of age for"
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
                f"{SAME} at least 89.93 % of the input domain; it provably changes for at least "
                "6.90 %; at most 3.17 % is undecided."
            ),
        ),
        (
            {"certified": 0.99999, "falsified": 0.0, "undecided": 0.00001},
            (
                f"{SAME} at least 99.9990 % of the input domain; {NONE_FALSIFIED}; at most "
                "0.0010 % is undecided."
            ),
        ),
        (
            {"certified": 1 - 1e-12, "falsified": 0.0, "undecided": 1e-12},
            (
                f"{SAME} at least 99.999999 % of the input domain; {NONE_FALSIFIED}; at most "
                "0.000001 % is undecided."
            ),
        ),
        (
            {"certified": 0.0, "falsified": 1e-12, "undecided": 1 - 1e-12},
            (
                "The decision provably changes for more than 0 % of the input domain; no share is "
                "certified; at most 100.000000 % is undecided."
            ),
        ),
        (
            {"certified": 0.0, "falsified": 0.0, "undecided": 1.0},
            (f"{phrases.NOTHING_PROVEN}: all is undecided."),
        ),
        (
            # the float of two thirds is above them, in the last digit that it shows
            {
                "certified": 2 / 3,
                "total": "3",
                "certified_people": "2",
                "falsified_people": "0",
                "estimated": None,
            },
            (
                f"{SAME} at least 66.66 % of the input domain; no share is falsified so far; at "
                "most 33.34 % is undecided."
            ),
        ),
        (
            {"of": "people"},
            (
                f"{phrases.PROVABLY_CHANGES.format('6.90 %')} the population "
                f"({phrases.MODEL_OF_DATA}); it is {phrases.PROVABLY_SAME} for every tested value "
                "of age for at least 89.93 %; at most 3.17 % is undecided."
            ),
        ),
    ],
)
def test_what_is_proven_is_rounded_down_and_what_is_left_up(changes, said):
    proven = msgspec.structs.replace(PROVEN, **changes)
    assert plain(proof_words.proven_statement(proven).sentence) == said


@pytest.mark.parametrize(
    ("changes", "said", "number"),
    [
        (
            {},
            (
                "The decision changes when only age changes for exactly 17 of 624 combinations in "
                "the input domain (2.72 %): every combination is decided."
            ),
            ("Falsified combinations: decision changes", "Exactly 17"),
        ),
        (
            {"certified_people": "624", "falsified_people": "0"},
            (
                "All 624 combinations in the input domain are certified: the decision is the same "
                "for every tested value of age; every combination is decided. This covers this "
                "model, these values and these constraints only."
            ),
            (phrases.CERTIFIED_COMBINATIONS, "All 624"),
        ),
        (
            {"certified_people": "624", "falsified_people": "0", "boxes": 0},
            (
                "All 624 combinations in the input domain are certified: the decision is the same "
                "for every tested value of age; certified without examining any region. This "
                "covers this model, these values and these constraints only."
            ),
            (phrases.CERTIFIED_COMBINATIONS, "All 624"),
        ),
        (
            # where every attribute is protected
            {"total": "1", "certified_people": "1", "falsified_people": "0"},
            (
                "The only combination in the input domain is certified: the decision is the same "
                "for every tested value of age; every combination is decided. This covers this "
                "model, these values and these constraints only."
            ),
            (phrases.CERTIFIED_COMBINATIONS, "All 1"),
        ),
        (
            {"total": "1", "certified_people": "0", "falsified_people": "1"},
            (
                "The decision changes when only age changes for the only combination in the input "
                "domain: every combination is decided."
            ),
            ("Falsified combinations: decision changes", "Exactly 1"),
        ),
        (
            {"of": "people", "total": "", "certified": 0.9, "falsified": 0.1},
            (
                "The decision changes when only age changes for exactly 10.00 % of the population "
                f"({phrases.MODEL_OF_DATA}): every combination is decided."
            ),
            (phrases.FALSIFIED_SHARE, "Exactly 10.00 %"),
        ),
    ],
)
def test_what_is_decided_of_everybody_is_told_exactly(changes, said, number):
    proven = msgspec.structs.replace(EXACT, **changes)
    statement = proof_words.proven_statement(proven)
    assert plain(statement.sentence) == said
    assert (statement.label, plain(statement.value)) == number
    assert proof_words.remainder_statement(proven) is None


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ((), "all combinations"),
        ((Condition("debts", low=3.0),), "“debts” ≥ 3"),
        ((Condition("income", high=30.5),), "“income” ≤ 30.5"),
        ((Condition("debts", low=3.0, high=5.0),), "3 ≤ “debts” ≤ 5"),
        ((Condition("debts", low=3.0, high=3.0),), "“debts” = 3"),
        (
            (Condition("debts", low=1.0), Condition("job", (2.0,))),
            "“debts” ≥ 1 and “job” = none",
        ),
        ((Condition("job", (0.0, 3.0)),), "“job” = clerk or pilot"),
        ((Condition("job", (0.0, 1.0, 3.0)),), "“job” is not none"),
    ],
)
def test_a_box_is_written_as_a_rule(spec, conditions, said):
    assert rule_words.rule_text(spec, conditions) == said


def test_what_is_proven_is_picked_by_what_it_is_of():
    people = msgspec.structs.replace(PROVEN, of="people")
    assert proof_words.proven_of((people, PROVEN)) is PROVEN
    assert proof_words.proven_of((people, PROVEN), "people") is people
    assert proof_words.proven_of((SHARE,)) is None


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (Fraction("0.1"), "10.00 %"),
        (Fraction("0.000012"), "0.0012 %"),
        (Fraction("0.00000002"), "0.000002 %"),
        (Fraction("0.000000001"), "> 0 %"),
        (Fraction(0), "0 %"),
        (Fraction(1), "100 %"),
    ],
)
def test_decimals_show_a_proven_share_unless_none_do(share, shown):
    assert plain(proof_words.least_percent(share)) == shown


def test_a_share_of_the_data_says_how_many_gain_and_how_many_lose(spec):
    share = msgspec.structs.replace(
        SHARE, whom="data", exhaustive=True, gains=2_500, losses=1_300, by_value=((0.0, 2_500, 0),)
    )
    said = figures.share_statement(spec, share)
    assert phrases.GAIN_AND_LOSE.format(losses="1,300", gains="2,500") in said.sentence
    assert phrases.GAIN_AND_LOSE.format(losses="1,300", gains="2,500") in said.shortest
    # audits from before have no such counts, and nothing is said of them
    before = msgspec.structs.replace(share, gains=None, losses=None)
    assert "favourable" not in figures.share_statement(spec, before).sentence
    # of more than two decisions a change may be neither
    others = msgspec.structs.replace(share, gains=2_000)
    assert "For 500 others, both" in figures.share_statement(spec, others).sentence


def test_gains_and_losses_are_told_of_each_attribute_alone(spec):
    share = msgspec.structs.replace(
        SHARE,
        whom="data",
        hits=12,
        gains=9,
        losses=3,
        by_value=((0.0, 1, 3), (1.0, 8, 0)),
    )
    both = msgspec.structs.replace(share, hits=20, attributes=("sex", "age"), by_value=())
    (said,) = figures.directed_by_value(spec, [both, share])
    assert said == (
        "With another sex it changes for 12 of 100,000: 9 would gain it, 3 would lose it."
    )
    age = msgspec.structs.replace(share, hits=11, attributes=("age",))
    assert len(figures.directed_by_value(spec, [both, share, age])) == 2
