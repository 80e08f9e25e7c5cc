"""The board page: a question in words, an answer that can be repeated, and few numbers."""

import re
from pathlib import Path

import msgspec
import pandas as pd
import pytest

from fairdesk.audit.store.records import LogEntry
from fairdesk.charts.shapes import Words
from fairdesk.document.blocks import Report
from fairdesk.document.board import board, fraction, people, unsettled
from fairdesk.models.inputs.input_check import ASSUMED
from fairdesk.report.document import with_drawings
from fairdesk.results.individual import AuditStudy, ChangeSplit, StudiedValue
from tests import phrases
from tests.charts.test_forest import PAPER
from tests.document.test_answers import ROWS, run
from tests.document.test_answers import seen as seen_of
from tests.report.building import people_store
from tests.wording.test_about_groups import BLACK, TABLE, WHITE
from tests.wording.test_comparisons import JOB, STUDY, with_support
from tests.wording.test_figures import plain

replace = msgspec.structs.replace
SAMPLE = Path(__file__).parents[2] / "resources/samples/adult/adult.csv"
LABELS = replace(TABLE, of="label", outcome="yes")
SEX = replace(ROWS, attributes=("sex",), hits=2)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("board"), ("sex", "job")) as store:
        return store.spec


def items(made, title):
    return [plain(item) for each in made.lists if each.title == title for item in each.items]


def texts(made):
    yield from (made.question, made.answer)
    yield from (f"{tile.number} {tile.text}" for tile in made.tiles)
    yield from (item for each in made.lists for item in each.items)


def test_the_question_names_the_groups_and_the_answer_says_how_often_each_is_selected(spec):
    made = board(spec, [run(1, "groups", LABELS, TABLE), run(2, "estimate", ROWS, SEX)])
    assert made.question == "Does the model select women and men at equal rates?"
    said = f"No: women are selected (“yes”) at about two thirds {phrases.OF_THE_RATE_OF} men."
    assert made.answer.startswith(said)
    first, second = made.tiles
    assert (first.number, plain(first.text)) == (
        "67\u00a0%",
        f"The selection rate of women as a share of that of men; {phrases.IN_THE_RECORDS} 67 %.",
    )
    assert second.number == "3"
    assert plain(second.text).startswith(
        f"of 200 applicants: the decision changes {phrases.AT_LEAST_ONE_OTHER} of sex, job or both"
    )
    assert made.chart.alt.startswith(f"Selected, by group. Women: {phrases.IN_THE_RECORDS} 6.4")


def test_an_assumed_class_and_an_unstated_purpose_are_to_be_decided(spec):
    entry = LogEntry("", f"“1” {ASSUMED}: check it.", "begun")
    asked = unsettled(spec, "", [entry])
    assert items(board(spec, [run(1, "groups", TABLE)], (), asked), "To decide")[:2] == [*asked]
    assert "output “1” mean the favourable decision, “yes”?" in asked[1]
    # a class that was chosen is no assumption
    assert unsettled(spec, "Credit.", [LogEntry("", "“1” was chosen.", "begun")]) == ()


def test_it_has_at_most_twenty_numbers_and_none_of_the_words_of_experts(spec):
    race = replace(
        TABLE,
        attributes=("job",),
        lines=(replace(WHITE, values=("cook",)), replace(BLACK, values=("clerk",))),
    )
    tables = (TABLE, race, LABELS, replace(race, of="label"))
    study = replace(STUDY, attribute="job")
    split = ChangeSplit(ROWS.attributes, ROWS.hits, (1, 1), 1, 1)
    shares = (ROWS, SEX, split, STUDY, study)
    made = board(spec, [run(1, "groups", *tables), run(2, "estimate", *shares)])
    # beside the rates of the model those in the records have no number
    labels = [
        each.text for each in made.chart.drawing.lay_out(PAPER).shapes if isinstance(each, Words)
    ]
    drawn = [*texts(made), *(each for each in labels if "." in each)]
    said = " ".join(drawn).replace("“yes”", "")
    assert 12 < len(re.findall(r"\d[\d,.]*", said)) <= 20
    said = " ".join(drawn).lower()
    assert not [word for word in ("certified", "instance", "corrected p", " ci ") if word in said]


def test_without_a_figure_of_the_model_it_says_that_it_is_about_the_records(spec):
    seen = seen_of(LABELS)
    made = board(spec, [], seen)
    assert f"by group are {phrases.NOT_MEASURED_YET} In the" in made.answer
    assert f"{phrases.IN_THE_RECORDS} as a share of" in plain(made.tiles[0].text)
    assert board(spec, []).answer
    assert board(spec, []).tiles == ()


def test_a_difference_that_chance_explains_is_no_difference(spec):
    chance = replace(TABLE, lines=(WHITE, replace(BLACK, holm=0.4, p=0.4)))
    made = board(spec, [run(1, "groups", chance)])
    assert made.answer.startswith("No difference between the selection rates")
    assert phrases.MAY_BE_CHANCE in made.tiles[0].text


def test_decisions_without_a_model_are_not_called_the_models(spec):
    made = board(
        replace(spec, predictions="credit"),
        [],
        seen_of(TABLE),
    )
    assert made.question == "Are women and men selected at equal rates?"
    assert not [each for each in texts(made) if "the model" in each]


def test_runs_that_counted_the_same_are_told_of_once(spec):
    split = ChangeSplit(ROWS.attributes, ROWS.hits, (1, 0), 1, 1)
    runs = [run(number, "estimate", ROWS, SEX, split) for number in (1, 2)]
    assert [each.number for each in board(spec, runs).tiles] == ["3"]


def test_a_share_that_is_open_is_no_tile(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        unsure = with_support(store.spec, proposed=(JOB,))
    made = board(unsure, [run(1, "groups", TABLE), run(2, "estimate", SEX)])
    assert [plain(each.number) for each in made.tiles] == ["67 %"]
    said = "whether job changes with it is not decided yet"
    assert any(said in each for each in items(made, phrases.NOT_KNOWN))


def test_where_one_attribute_is_open_the_answer_of_another_is_a_tile(tmp_path):
    with people_store(tmp_path, ("sex", "age")) as store:
        unsure = with_support(store.spec, proposed=(JOB,))
    both = replace(ROWS, attributes=("sex", "age"), hits=9)
    age = replace(ROWS, attributes=("age",), hits=7)
    made = board(unsure, [run(1, "groups", TABLE), run(2, "estimate", both, SEX, age)])
    assert [plain(each.number) for each in made.tiles] == ["67 %", "7"]
    assert "other value of age" in made.tiles[1].text


def test_a_study_against_the_groups_own_rates_is_said(spec):
    values = (StudiedValue(0.0, 99, 11, 5, 0.01, 0.06), StudiedValue(1.0, 93, 0, 0, 0.0, 0.0))
    study = AuditStudy("sex", 1.0, 180, 200, 90, values, 0.95)
    known = items(
        board(spec, [run(1, "groups", TABLE), run(2, "estimate", ROWS, study)]), phrases.KNOWN
    )
    said = "If all were tested as men, 51.7 % would be selected; 55.0 % as women."
    assert any(plain(e).startswith(said) and e.endswith("selected less often.") for e in known)


def test_a_value_in_small_letters_is_an_adjective_where_the_attribute_says_so(spec):
    line = replace(WHITE, values=("black",))
    table = replace(TABLE, attributes=("race",), lines=(line,))
    assert people(spec, table, line) == "black applicants"


def test_what_chance_explains_is_not_asked_about_beside_what_it_does_not(spec):
    chance = replace(BLACK, values=("cook",), holm=0.4, p=0.4, impact_ratio=0.5)
    other = replace(TABLE, attributes=("job",), lines=(replace(WHITE, values=("clerk",)), chance))
    made = board(spec, [run(1, "groups", TABLE, other)])
    assert made.question == "Does the model select women and men at equal rates?"
    assert len(made.tiles) == 1


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.02, "less than a twentieth of the rate"),
        (0.28, "about a quarter of the rate"),
        (0.45, "less than half the rate"),
        (0.58, "more than half the rate"),
        (0.99, "about the same rate"),
    ],
)
def test_ratios_have_words(ratio, said):
    assert fraction(ratio) == said


@pytest.mark.parametrize(
    ("favourable", "said"),
    [(60, "gaps too"), (110, "the gap is smaller"), (20, "the gap is larger")],
)
def test_gaps_in_the_records_are_compared_where_both_measures_agree(spec, favourable, said):
    rate = favourable / BLACK.n_samples
    fewer = replace(WHITE, favourable=120, rate=120 / WHITE.n_samples)
    records = replace(LABELS, lines=(fewer, replace(BLACK, favourable=favourable, rate=rate)))
    made = board(spec, [run(1, "groups", records, TABLE)])
    assert said in made.answer


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("Female", "women"),
        ("Amer-Indian-Eskimo", "Amer-Indian-Eskimo applicants"),
        ("Other", "applicants with sex = Other"),
        ("yes", "applicants with sex = yes"),
        ("A92", "applicants with sex = A92"),
        ("25 to 34", "applicants with sex 25 to 34"),
    ],
)
def test_groups_are_named_as_people_name_them(spec, value, named):
    line = replace(WHITE, values=(value,))
    assert people(spec, replace(TABLE, lines=(line,)), line) == named


def test_the_records_of_the_sample_recount():
    rows = pd.read_csv(SAMPLE)
    rates = (rows["income"] == ">50K").groupby(rows["sex"]).mean()
    assert round(100 * rates["Female"] / rates["Male"]) == 35


def test_it_is_drawn_on_the_first_page(spec):
    made = board(spec, [run(1, "groups", TABLE)])
    report = Report("a", "a", "b", "Draft", "i", (), "", (), "{}", board=made)
    assert with_drawings(report).board.chart.svg.startswith("<svg")


def test_the_group_of_two_attributes_that_is_selected_least_is_named(spec):
    lower = replace(BLACK, values=("female", "Cook"), impact_ratio=0.1, favourable=2, rate=0.01)
    higher = replace(WHITE, values=("male", "Clerk"))
    both = replace(TABLE, attributes=("sex", "race"), lines=(higher, lower))
    known = items(board(spec, [run(1, "groups", TABLE, both)]), phrases.KNOWN)
    assert any("Cook women, at about" in each or "Cook women, at less" in each for each in known)
    same = replace(both, lines=(higher, replace(lower, rate=higher.rate, impact_ratio=1.0)))
    known = items(board(spec, [run(1, "groups", TABLE, same)]), phrases.KNOWN)
    assert not any(each.startswith("Lowest of the groups") for each in known)


def test_a_group_that_is_selected_more_often_than_the_reference_is_named(spec):
    more = replace(BLACK, impact_ratio=1.3, below=False)
    known = items(
        board(spec, [run(1, "groups", replace(TABLE, lines=(WHITE, more)))]), phrases.KNOWN
    )
    assert "Women are selected more often than men." in known
    chance = replace(TABLE, lines=(WHITE, replace(more, holm=0.4)))
    known = items(board(spec, [run(1, "groups", chance)]), phrases.KNOWN)
    assert not any("more often than men" in each for each in known)


def test_groups_whose_error_rates_differ_are_named_without_numbers(spec):
    judged = replace(
        TABLE,
        lines=(
            replace(WHITE, positives=100, true_positives=80, negatives=100, false_positives=9),
            replace(BLACK, positives=100, true_positives=40, negatives=100, false_positives=9),
        ),
    )
    known = items(board(spec, [run(1, "groups", judged)]), phrases.KNOWN)
    assert any("women are selected less often than men" in each for each in known)


def test_the_largest_difference_of_a_study_is_named_before_that_of_the_question(spec):
    values = (
        StudiedValue(0.0, 90, 0, 3, -0.04, -0.01),
        StudiedValue(1.0, 93, 0, 0, 0.0, 0.0),
        StudiedValue(2.0, 60, 2, 35, -0.3, -0.1),
    )
    more = replace(BLACK, impact_ratio=1.1, values=("none",))
    lines = replace(WHITE, values=("cook",)), replace(BLACK, values=("clerk",)), more
    table = replace(TABLE, attributes=("job",), lines=lines)
    study = AuditStudy("job", 1.0, 180, 200, 90, values, 0.95)
    made = board(spec, [run(1, "groups", table), run(2, "estimate", ROWS, study)])
    said = [each for each in items(made, phrases.KNOWN) if "tested as" in each]
    assert plain("; ".join(said)) == (
        "If all were tested as applicants with job = cook, 51.7 % would be selected; "
        "33.3 % as applicants with job = none and 50.0 % as applicants with job = clerk."
    )


def test_a_change_that_moves_the_rate_by_little_explains_little(spec):
    for low, little in ((-0.002, True), (-0.02, False)):
        values = (
            StudiedValue(0.0, 92, 0, 1, low, -0.0001),
            StudiedValue(1.0, 93, 0, 0, 0.0, 0.0),
        )
        study = AuditStudy("sex", 1.0, 180, 200, 90, values, 0.95)
        runs = [run(1, "groups", TABLE), run(2, "estimate", ROWS, study)]
        known = items(board(spec, runs), phrases.KNOWN)
        said = "This change explains little of the gap between women and men."
        assert any(each.endswith(said) for each in known) is little


def test_a_study_along_the_groups_own_rates_is_said_too(spec):
    values = (StudiedValue(0.0, 60, 0, 33, -0.2, -0.1), StudiedValue(1.0, 93, 0, 0, 0.0, 0.0))
    study = AuditStudy("sex", 1.0, 180, 200, 90, values, 0.95)
    runs = [run(1, "groups", TABLE), run(2, "estimate", ROWS, study)]
    known = items(board(spec, runs), phrases.KNOWN)
    said = "If all were tested as men, 51.7 % would be selected; 33.3 % as women."
    assert said in map(plain, known)
