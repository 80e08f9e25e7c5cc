"""What is said of comparisons: companions, rows without one, and never zero where one is open."""

import msgspec
import pytest

from fairdesk.answers import Question
from fairdesk.audit.store.records import RunState
from fairdesk.data.domain.dependencies import Companion, Move
from fairdesk.data.domain.support import Support
from fairdesk.data.formats.reading import read_table
from fairdesk.document import pictures
from fairdesk.document.answers import answers, headline
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import AuditStudy, ChangeSplit, ComparedRows, Share, StudiedValue
from fairdesk.wording import comparisons, figures, words
from tests import phrases
from tests.report.building import spec_of, write_people

#: Job codes: clerk, cook, none, pilot; of sex: female, male.
MOVES = (Move(1.0, 1.0, 3.0, 0.91), Move(0.0, 3.0, 1.0, 0.91))
JOB = Companion("job", "sex", MOVES, 2)
SEX, BOTH = ("sex",), ("sex", "age")
ROWS = Share(
    *("data", SEX, 180, 12, True, 0.95, 12 / 180, 12 / 180, 12 / 180, 12 / 180, 12 / 180),
    gains=9,
    losses=3,
    by_value=((0.0, 1, 3), (1.0, 8, 0)),
    unsupported=20,
)
STUDY = AuditStudy(
    *("sex", 1.0, 180, 200, 90),
    (StudiedValue(0.0, 99, 11, 5, 0.01, 0.06), StudiedValue(1.0, 93, 0, 0, -0.001, 0.001)),
    0.95,
)


@pytest.fixture
def spec(tmp_path):
    table = read_table(write_people(tmp_path / "people.csv"))
    return spec_of(table, "credit", "yes", SEX)


def with_support(spec, **parts):
    return msgspec.structs.replace(
        spec, domain=msgspec.structs.replace(spec.domain, support=Support(**parts))
    )


def plain(text):
    return text.replace(words.NBSP, " ")


def run(*measured):
    return RunState(7, "estimate", "done", tried=200, queries=400, figures=measured)


def counts(comparison, compared, hits, attributes=SEX):
    return ComparedRows(attributes, comparison, 200, compared, hits, hits // 3, hits - hits // 3)


def share_answer(spec, *measured):
    found = answers(spec, [run(*measured)])
    return next(each for each in found if each.question is Question.SHARE)


def test_what_is_changed_is_named_with_what_goes_with_it(spec):
    assert comparisons.changed(spec, SEX) == "the applicant’s sex and nothing else"
    assert comparisons.changed(spec, BOTH, rows=False) == "sex, age or both and nothing else"
    three = comparisons.changed(spec, ("sex", "age", "job"))
    assert three == "the applicant’s sex, age or job, alone or together and nothing else"
    moving = with_support(spec, companions=(JOB,))
    along = "(job: cook is compared with pilot)"
    assert comparisons.changed(moving, SEX) == f"the applicant’s sex and what goes with it {along}"
    assert comparisons.changed(moving, BOTH).endswith(f"what goes with sex {along}")
    assert comparisons.changed(moving, ("age",)).endswith("nothing else")
    assert "(and job with sex)" in words.when_changes(moving.domain)


def test_a_share_says_who_would_lose_and_gain_and_who_has_no_comparison(spec):
    said = plain(figures.share_statement(spec, ROWS, [ROWS]).sentence)
    assert f"{phrases.AT_LEAST_ONE_OTHER} for 12 of the 180 applicants in the data" in said
    assert phrases.GAIN_AND_LOSE.format(losses=3, gains=9) in said
    assert f"20 of 200 applicants {phrases.NOT_COMPARED}: the data rule out every other sex" in said
    one = msgspec.structs.replace(ROWS, unsupported=1)
    assert "1 of 181 applicants is not" in plain(comparisons.unsupported_sentence(spec, one))
    # rows without a comparison are not called incomplete
    assert "Not tested" not in said
    unsupported = comparisons.unsupported_sentence(with_support(spec, proposed=(JOB,)), ROWS)
    assert unsupported.endswith("unless job: cook is compared with pilot.")
    assert not comparisons.unsupported_sentence(spec, msgspec.structs.replace(ROWS, unsupported=0))


def test_of_several_attributes_those_that_are_enough_alone_are_named(spec):
    both = msgspec.structs.replace(ROWS, attributes=BOTH, by_value=())
    age = msgspec.structs.replace(ROWS, attributes=("age",), hits=4)
    said = figures.share_statement(spec, both, [both, ROWS, age])
    assert "Enough alone: sex for 12, age for 4." in said.sentence
    split = ChangeSplit(BOTH, both.hits, (8, 1), 2, 1)
    assert comparisons.alone_sentence(spec, both, [both, ROWS, age, split]) == (
        "Of the 12, the decision changes only with sex for 8, only with age for 1, with either "
        "alone for 2 and only with both together for 1."
    )
    three = msgspec.structs.replace(both, attributes=("sex", "age", "job"))
    split = ChangeSplit(three.attributes, three.hits, (7, 0, 0), 0, 5)
    assert comparisons.alone_sentence(spec, three, [three, split]) == (
        "Of the 12, the decision changes only with sex for 7 and only with several together for 5."
    )
    moving = with_support(spec, companions=(JOB,))
    assert "only with sex and job for 7" in comparisons.alone_sentence(moving, three, [split])
    none = msgspec.structs.replace(both, hits=0)
    assert not comparisons.alone_sentence(spec, none, [none, ChangeSplit(BOTH, 0, (0, 0), 0, 0)])
    # one with an open companion is not said to change little
    opened = with_support(spec, proposed=(JOB,))
    assert comparisons.alone_sentence(opened, both, [ROWS, age]) == "Enough alone: age for 4."


@pytest.mark.parametrize("compared", [0, 150])
def test_zero_is_never_the_answer_where_a_companion_is_open(spec, compared):
    """Without a companion nothing changes, or nothing can be compared; with it 30 rows change."""
    opened = with_support(spec, proposed=(JOB,))
    none = msgspec.structs.replace(
        ROWS,
        n_samples=compared,
        hits=0,
        unsupported=200 - compared,
        estimate=0.0,
        **dict.fromkeys(("low", "high", "anytime_low", "anytime_high"), 0.0),
        gains=0,
        losses=0,
        by_value=(),
    )
    measured = [counts("supported", compared, 0), counts("proposed", 200, 30)]
    measured += [counts("all", 200, 0), AuditStudy("sex", 1.0, 150, 200, 70, STUDY.values, 0.95)]
    # of no comparison at all there is no share either
    measured += [none] if compared else []
    answer = share_answer(opened, *measured)
    told = headline(opened, [run(*measured)], [answer])
    assert answer.known
    for said in (answer.said, told, figures.headline(opened, run(*measured))):
        assert said.value == phrases.NOT_KNOWN_YET
        assert said.sentence.startswith(phrases.NOT_KNOWN_YET)
        assert "30 of 200 applicants (15.0 %): 20 would lose" in plain(said.sentence)
        assert ("none of the 200 applicants has a comparison" in said.sentence) is not compared
        assert ("for 0 of the 150 applicants that can" in said.sentence) is bool(compared)
        assert words.CONFIRM in said.sentence
    assert not answer.details
    (bar,) = answer.chart.bars
    assert (plain(bar.value), bar.estimate) == ("15.00 % if confirmed", 0.15)
    for share in comparisons.shares_of(measured):
        assert "%" not in figures.short_share(share, measured)
        assert "%" not in figures.share_line(opened, share, measured)
    # nor of instances drawn at random, nor of a search that found nothing
    drawn = msgspec.structs.replace(
        none, whom="domain", n_samples=900, high=0.004, exhaustive=False
    )
    said = figures.share_statement(opened, drawn, measured)
    assert said.value == phrases.NOT_KNOWN_YET
    assert words.CONFIRM in said.sentence
    searched = RunState(1, "maft", "done", tried=90, queries=180)
    assert words.CONFIRM in figures.headline(opened, searched).sentence
    assert words.CONFIRM not in figures.headline(spec, searched).sentence


def test_of_nothing_that_can_be_compared_no_share_is_said(spec):
    """A companion that was refused leaves no comparison: that is not zero either."""
    answer = share_answer(spec, counts("supported", 0, 0), counts("all", 200, 0))
    assert not answer.said.value
    assert "support no comparison by sex for any of the 200 applicants" in answer.said.sentence
    assert answer.chart is None


def test_all_combinations_are_given_and_what_a_companion_that_stays_would_change(spec):
    measured = [counts("supported", 180, 12), counts("all", 200, 40)]
    moving = with_support(spec, companions=(JOB,))
    ((_, said),) = comparisons.limits(moving, measured)
    assert "If job stayed as recorded (cook as male, pilot as female, which hardly any row" in said
    assert "changing sex would make 27 lose and 13 gain the favourable decision, not" in said
    ((_, said),) = comparisons.limits(moving)
    assert said.endswith("With another one they differ.")
    rows = comparisons.compared_table(measured)
    assert rows[1][1:] == (
        *(f"all combinations, {phrases.POSSIBLE_OR_NOT}", "200", "0"),
        *("40", "27", "13"),
    )


def test_who_is_selected_is_said_only_by_a_study_of_the_same_rows(spec):
    same = msgspec.structs.replace(STUDY, n_rows=ROWS.n_samples)
    assert "selected" in comparisons.lost_and_gained(ROWS, [same])
    # as many rows by another attribute may be other rows
    other = msgspec.structs.replace(same, attribute="age")
    fewer = msgspec.structs.replace(same, n_rows=ROWS.n_samples - 1)
    for study in (other, fewer):
        assert "selected" not in comparisons.lost_and_gained(ROWS, [study])


def test_the_audit_study_is_a_table_and_a_chart(spec):
    moving = with_support(spec, companions=(JOB,))
    assert comparisons.with_it(moving, "sex") == " (cook and pilot exchanged)"
    assert comparisons.with_it(moving, "age") == ""
    rows = [[plain(cell) for cell in row] for row in comparisons.study_rows(spec, STUDY)]
    assert rows == [
        ["sex: as recorded", "90", "50.0 %", "", "", ""],
        ["sex: male", "93", "51.7 %", "reference", "–", "–"],
        ["sex: female", "99", "55.0 %", "+3.3 points (+1.0 to +6.0)", "11", "5"],
    ]
    answer = share_answer(spec, ROWS, STUDY)
    (studied,) = answer.chart.studies
    assert [rate.ends[1] for rate in studied.rates] == [90 / 180, 93 / 180, 99 / 180]
    low, _, high = studied.rates[2].ends
    assert (low, high) == pytest.approx((93 / 180 + 0.01, 93 / 180 + 0.06))
    for row in rows:
        assert row[0] in answer.chart.alt()
    assert pictures.studies(spec, run(STUDY), [STUDY]).chart == answer.chart


def line(value, rate, low, high):
    return GroupLine((value,), (0.0,), True, 100, 0.5, round(100 * rate), rate, low, high)


@pytest.mark.parametrize(
    ("female", "against"),
    [((0.2, 0.1, 0.3), True), ((0.5, 0.4, 0.62), False), ((0.9, 0.8, 0.95), False)],
)
def test_a_study_that_runs_against_the_groups_rates_says_why(spec, female, against):
    lines = (line("female", *female), line("male", 0.7, 0.6, 0.8))
    table = GroupTable("decisions", "yes", SEX, 200, 0, 0, 90, 1, lines)
    said = plain(comparisons.against_sentence(spec, STUDY, [table]))
    assert bool(said) is against
    if against:
        assert "20.0 % of women and 70.0 % of men are selected, yet more of the same" in said
        assert "changing sex does not explain the gap" in said
    assert not comparisons.against_sentence(spec, STUDY, [])


def test_values_that_too_few_rows_have_are_named(spec):
    rare = with_support(spec, rare=(("sex", 0.0),)).domain
    assert "Too few rows have sex = female" in comparisons.support_sentence(rare)
    assert not comparisons.support_sentence(spec.domain)
