"""The summary for Local Law 144: the rule's own examples, from their counts, as they are printed.

The counts are those of the examples in 6 RCNY 5-301 (Rules of the City of New York, in force since
5 July 2023). In the first one the race table has 408 Hispanic or Latino people, 204 of them
selected, and the intersectional table 395 and 172: no list of people gives both, so the whole
path, which starts from people, is held against the tables of sex and of intersections, and against
the race table but for that line.
"""

import csv
import json
from fractions import Fraction

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import Categories, Choice, Details
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.data.formats.reading import read_table
from fairdesk.report.content.published import HISPANIC, NOT_HISPANIC, propose_categories, tables
from fairdesk.report.content.status import missing
from fairdesk.report.document import make_report
from fairdesk.results.groups import GroupLine, GroupTable
from tests import phrases
from tests.report.building import people_store, spec_of
from tests.report.reading import blocks_of, section_of, words_of

#: Category: people, selected; then the rate and the impact ratio as the rule prints them.
SEX = {"Male": (1390, 667, "48%", "1.00"), "Female": (1181, 555, "47%", "0.979")}
RACE = {
    HISPANIC: (408, 204, "50%", "0.97"),
    f"White{NOT_HISPANIC}": (797, 412, "52%", "1.00"),
    f"Black or African American{NOT_HISPANIC}": (390, 170, "44%", "0.84"),
    f"Native Hawaiian or Pacific Islander{NOT_HISPANIC}": (119, 52, "44%", "0.85"),
    f"Asian{NOT_HISPANIC}": (616, 302, "49%", "0.95"),
    f"Native American or Alaska Native{NOT_HISPANIC}": (41, 18, "44%", "0.85"),
    f"Two or More Races{NOT_HISPANIC}": (213, 96, "45%", "0.87"),
}
BOTH = {
    ("Male", HISPANIC): (205, 90, "43.9%", "0.841"),
    ("Female", HISPANIC): (190, 82, "43.2%", "0.827"),
    ("Male", f"White{NOT_HISPANIC}"): (412, 215, "52.2%", "1.000"),
    ("Male", f"Black or African American{NOT_HISPANIC}"): (226, 95, "42.0%", "0.806"),
    ("Male", f"Native Hawaiian or Pacific Islander{NOT_HISPANIC}"): (87, 37, "42.5%", "0.815"),
    ("Male", f"Asian{NOT_HISPANIC}"): (321, 167, "52.0%", "0.997"),
    ("Male", f"Native American or Alaska Native{NOT_HISPANIC}"): (24, 11, "45.8%", "0.878"),
    ("Male", f"Two or More Races{NOT_HISPANIC}"): (115, 52, "45.2%", "0.866"),
    ("Female", f"White{NOT_HISPANIC}"): (385, 197, "51.2%", "0.981"),
    ("Female", f"Black or African American{NOT_HISPANIC}"): (164, 75, "45.7%", "0.876"),
    ("Female", f"Native Hawaiian or Pacific Islander{NOT_HISPANIC}"): (32, 15, "46.9%", "0.898"),
    ("Female", f"Asian{NOT_HISPANIC}"): (295, 135, "45.8%", "0.877"),
    ("Female", f"Native American or Alaska Native{NOT_HISPANIC}"): (17, 7, "41.2%", "0.789"),
    ("Female", f"Two or More Races{NOT_HISPANIC}"): (98, 44, "44.9%", "0.860"),
}
UNKNOWN = 250
#: The example of a tool that scores (5-301(c)), as far as its lines are given with a rate.
SCORED = {"Male": (92, 50, "54.3%", "1.00"), "Female": (76, 34, "44.7%", "0.82")}

NAMED = Categories("sex", "race")


def line(values, people, chosen, *, known=True):
    return GroupLine(values, (), known, people, 0.0, chosen, None, 0.0, 1.0)


def table(attributes, counts, *, of="decisions", unknown=0, **about):
    lines = tuple(
        line(values if isinstance(values, tuple) else (values,), *each[:2])
        for values, each in counts.items()
    )
    if unknown:
        lines += (line(("(missing)",) * len(attributes), unknown, 0, known=False),)
    people, chosen = (sum(each[i] for each in counts.values()) for i in (0, 1))
    told = {"outcome": "selected", "without": 0, "reference": -1, **about}
    return GroupTable(
        of=of,
        attributes=attributes,
        n_samples=people,
        unknown=unknown,
        favourable=chosen,
        lines=lines,
        **told,
    )


EXAMPLE = (
    table(("sex",), SEX, unknown=UNKNOWN),
    table(("race",), RACE, unknown=UNKNOWN),
    table(("sex", "race"), BOTH, unknown=UNKNOWN),
)


def printed(share, like):
    """Write a share with as many decimals as the rule prints."""
    number = like.removesuffix("%")
    digits = len(number.partition(".")[2])
    shown = share * 100 if like.endswith("%") else share
    return f"{float(shown):.{digits}f}" + ("%" if like.endswith("%") else "")


def as_printed(found, counts):
    rows = {}
    for each in found.lines:
        key = each.names if len(each.names) > 1 else each.names[0]
        *_, rate, ratio = counts[key]
        told = (printed(each.rate, rate), printed(each.ratio, ratio))
        rows[key] = (each.n_samples, each.chosen, *told)
    return rows


def test_the_rules_example_of_a_tool_that_selects_is_as_printed():
    # in this example nobody is left out, though some intersections are under two hundredths
    sex, race, both = tables(EXAMPLE, NAMED, least_share=0)
    assert (sex.by, race.by, both.by) == ("sex", "race", "both")
    assert as_printed(sex, SEX) == SEX
    assert as_printed(race, RACE) == RACE
    assert as_printed(both, BOTH) == BOTH
    assert [each.names for each in both.lines] == list(BOTH)
    assert [each.names[0] for each in race.lines] == list(RACE)
    assert {each.unknown for each in (sex, race, both)} == {UNKNOWN}


def test_the_rules_example_of_a_tool_that_scores_is_as_printed():
    scored = table(("sex",), SCORED, of="scores", median=71.5, ties=0.01)
    (sex,) = tables((scored,), NAMED)
    assert as_printed(sex, SCORED) == SCORED
    assert (sex.median, sex.ties) == (71.5, 0.01)


def test_a_category_under_two_hundredths_of_the_known_is_shown_and_not_compared():
    # of 2,584 people of known race 51.68 are two hundredths
    _, race, both = tables(EXAMPLE, NAMED)
    (small,) = (each for each in race.lines if each.excluded)
    assert small.names == (f"Native American or Alaska Native{NOT_HISPANIC}",)
    assert (small.n_samples, small.chosen, small.ratio) == (41, 18, None)
    assert [each.n_samples for each in both.lines if each.excluded] == [24, 32, 17]
    # exactly two hundredths are not less
    counts = {"a": (98, 50), "b": (2, 2)}
    (exact,) = tables((table(("sex",), counts),), NAMED)
    assert not any(each.excluded for each in exact.lines)
    assert exact.best.names == ("b",)


def test_the_highest_rate_of_a_category_that_is_left_out_does_not_count():
    counts = {"a": (990, 99), "b": (990, 198), "c": (10, 10)}
    (found,) = tables((table(("sex",), counts),), NAMED)
    assert [each.ratio for each in found.lines] == [Fraction(1, 2), 1, None]


def test_merged_values_are_counted_together_and_unnamed_ones_as_unknown():
    counts = {"w": (100, 50), "f": (100, 20), "m": (200, 100), "x": (7, 3), "other": (93, 10)}
    named = Categories("sex", "", {"sex": {"w": "Female", "f": "Female", "m": "Male", "x": ""}})
    (found,) = tables((table(("sex",), counts, unknown=5),), named)
    told = {each.names[0]: (each.n_samples, each.chosen, each.ratio) for each in found.lines}
    assert told == {
        "Male": (200, 100, 1),
        "Female": (200, 70, Fraction(7, 10)),
        "other": (93, 10, Fraction(20, 93)),
    }
    assert (found.n_samples, found.unknown) == (493, 12)


def test_ratios_of_nobody_selected_are_undefined():
    (found,) = tables((table(("sex",), {"a": (50, 0), "b": (60, 0)}),), NAMED)
    assert [each.ratio for each in found.lines] == [None, None]
    assert found.best is found.worst is None


def test_each_class_of_several_has_its_own_tables():
    first, second = (
        msgspec.structs.replace(EXAMPLE[0], outcome=outcome) for outcome in ("leader", "expert")
    )
    assert [each.outcome for each in tables((first, second), NAMED)] == ["leader", "expert"]


def test_intersections_are_found_in_whatever_order_they_were_counted():
    turned = {(race, sex): counts for (sex, race), counts in BOTH.items()}
    (both,) = tables((table(("race", "sex"), turned),), NAMED, least_share=0)
    assert as_printed(both, BOTH) == BOTH


def write_people(path, counts, unknown=UNKNOWN):
    """Write a row for everybody; what makes a row is its category and whether it was selected."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(("gender", "race_ethnicity", "experience", "decision"))
        row = 0
        for (sex, race), (people, chosen, *_) in counts.items():
            for i in range(people):
                row += 1
                out.writerow((sex, race, row % 30, "selected" if i < chosen else "not selected"))
        for i in range(unknown):
            out.writerow(("", "", i % 30, "not selected"))
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The example's people, audited with the real program: the report as JSON, and its audit."""
    folder = tmp_path_factory.mktemp("ll144")
    data = write_people(folder / "applicants.csv", BOTH)
    audit = ["audit", "--data", data, "--predictions", "decision", "--label", "decision"]
    audit += ["--favourable", "selected", "--protected", "gender", "--protected", "race_ethnicity"]
    audit += ["--method", "groups", "--option", "least_share=0", "--out", folder / "out"]
    assert cli.main(list(map(str, audit))) == 0
    report = ["report", folder / "out" / "audit.fairdesk", "--template", "ll144"]
    report += ["--format", "json", "--out", folder / "summary.json"]
    assert cli.main(list(map(str, report))) == 0
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def grids_of(whole):
    return {
        block["key"]: block
        for section in whole["sections"]
        for block in section["blocks"]
        if block["type"] == "grid"
    }


def number(cell):
    return float(cell.replace("\u00a0%", "").replace(",", ""))


def test_the_whole_path_prints_the_tables_of_the_rule(whole):
    grids = grids_of(whole)
    sex = grids["sex-decisions-selected"]
    assert sex["header"] == [
        *("Sex Categories", "# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"),
    ]
    assert [row[:3] for row in sex["rows"]] == [
        ["Male", "1,390", "667"],
        ["Female", "1,181", "555"],
    ]
    both = grids["both-decisions-selected"]
    assert both["header"][:4] == ["Ethnicity", "Sex", "Race", "# of Applicants"]
    assert both["rows"][0] == [HISPANIC, "Male", "all", "205", "90", "43.9\u00a0%", "0.841"]
    assert both["rows"][2][:4] == ["Not Hispanic or Latino", "Male", "White", "412"]
    told = [(f"{number(row[5]):.1f}%", f"{number(row[6]):.3f}") for row in both["rows"]]
    assert told == [each[2:] for each in BOTH.values()]
    for row, (_, _, rate, ratio) in zip(sex["rows"], SEX.values(), strict=True):
        assert printed(Fraction(str(number(row[3]))) / 100, rate) == rate
        assert printed(Fraction(str(number(row[4]))), ratio) == ratio


def test_the_whole_path_prints_the_race_table_but_for_the_line_that_does_not_add_up(whole):
    rows = {row[0]: row[1:] for row in grids_of(whole)["race-decisions-selected"]["rows"]}
    assert list(rows) == list(RACE)
    hispanic = rows.pop(HISPANIC)
    assert hispanic[:2] == ["395", "172"]
    for name, row in rows.items():
        people, chosen, *_ = RACE[name]
        best = Fraction(412, 797)
        assert row == [
            *(str(people), str(chosen)),
            f"{100 * chosen / people:.1f}\u00a0%",
            f"{float(Fraction(chosen, people) / best):.3f}",
        ]


def test_the_summary_tells_how_many_are_of_unknown_category(whole):
    unknown = grids_of(whole)["unknown"]
    assert [row[:3] for row in unknown["rows"]] == [
        ["Sex", "2,571", "250"],
        ["Race/Ethnicity", "2,571", "250"],
        ["Intersectional", "2,571", "250"],
    ]


# What stands around the tables


@pytest.fixture
def summary(tmp_path):
    data = write_people(tmp_path / "applicants.csv", BOTH)
    found = read_table(data)
    spec = spec_of(found, "decision", "selected", ("gender", "race_ethnicity"), classes=("n", "y"))
    with Store.create(tmp_path / "a.fairdesk", spec, found) as store:
        yield store


def measure(store, *told, **options):
    run = store.begin_run(RunSpec("groups", options))
    store.measure(run, told)
    store.end_run(run, "done")


def renamed(found):
    names = {"sex": "gender", "race": "race_ethnicity"}
    told = tuple(names[each] for each in found.attributes)
    return msgspec.structs.replace(found, attributes=told)


LL144 = Choice(template="ll144")


def test_what_is_left_out_is_marked_told_and_justified(summary):
    measure(summary, *map(renamed, EXAMPLE))
    why = "Sixteen people say next to nothing."
    summary.write_details(Details({"small_categories": why, "distribution_date": "2024-02-29"}))
    report = make_report(summary, LL144)
    rows = {
        row[0]: row[1:]
        for grid in blocks_of(section_of(report, "rates"), "Grid")
        if grid.key.startswith("race")
        for row in grid.rows
    }
    alaska = rows[f"Native American or Alaska Native{NOT_HISPANIC}"]
    assert alaska == ("41", "18", "43.9\u00a0%", "excluded †")
    text = words_of(report)
    assert "† under 2 % of the 2,584 people of known category" in text
    assert why in text
    assert "29 February 2024" in text
    assert "N = 2,571 of known category; 250 of unknown category are not in the table" in text
    assert phrases.LOWEST_RATIO_LL144.format(ratio="0.979", attribute="gender") in text
    assert "a selection rate of 47.0 % for Female (1,181 applicants)" in text
    for word in ("compliant", "passes", "unfair"):
        assert word not in text


def test_categories_are_the_auditors_and_what_was_merged_is_listed(summary):
    measure(summary, *map(renamed, EXAMPLE))
    proposed = make_report(summary, LL144)
    assert "Proposed categories." in words_of(proposed)
    merged = {name: "All others" for name in RACE if "White" not in name}
    summary.write_details(
        Details(categories=Categories("gender", "race_ethnicity", {"race_ethnicity": merged}))
    )
    report = make_report(summary, LL144)
    text = words_of(report)
    assert "Proposed categories." not in text
    (grid,) = (g for g in blocks_of(section_of(report, "unknown"), "Grid") if g.key == "categories")
    assert ("race_ethnicity", HISPANIC, "All others", "395", "merged") in grid.rows
    (race,) = (
        g for g in blocks_of(section_of(report, "rates"), "Grid") if g.key.startswith("race")
    )
    people = sum(RACE[name][0] for name in merged)
    assert ("All others", f"{people:,}") in [row[:2] for row in race.rows]
    # the intersection has no ethnicity of its own any more
    (both,) = (
        g for g in blocks_of(section_of(report, "rates"), "Grid") if g.key.startswith("both")
    )
    assert both.header[:2] == ("Sex", "Race/Ethnicity")


def test_without_a_run_it_says_what_to_do(tmp_path):
    with people_store(tmp_path) as store:
        report = make_report(store, LL144)
    (told,) = section_of(report, "rates").blocks
    assert told.lead == "Not run:"
    assert "fairdesk audit --method groups" in told.text


def test_a_table_that_there_is_not_is_said_to_be_missing(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measure(store, EXAMPLE[0])
        text = words_of(make_report(store, LL144))
    assert "Not run: the tables by race or ethnicity, because no attribute contains it." in text
    assert "Sex Categories" in text


def test_scores_have_their_own_columns_and_the_median_of_the_full_sample(summary):
    scored = table(("sex",), SCORED, of="scores", median=71.5, ties=0.25)
    measure(summary, renamed(scored))
    report = make_report(summary, LL144)
    (grid,) = blocks_of(section_of(report, "rates"), "Grid")
    assert grid.header[1:] == ("# of Applicants", "Scoring Rate", "Impact Ratio")
    text = words_of(report)
    assert "The median score of the full sample is 71.5" in text
    assert "25.0 % of the sample have exactly this score and do not count as above it" in text


def test_where_lower_scores_are_favourable_the_scoring_rate_is_that_below_the_median(summary):
    scored = table(("sex",), SCORED, of="scores", median=600.0, ties=0.25, falls=True)
    measure(summary, renamed(scored))
    report = make_report(summary, LL144)
    (found,) = tables((scored,), NAMED)
    assert found.falls
    text = words_of(msgspec.structs.replace(report, sections=(section_of(report, "rates"),)))
    assert "the scoring rate is the share with a score below it" in text
    assert "do not count as below it" in text
    assert "a score strictly below the median of the full sample" in text
    assert "above" not in text


def test_it_cannot_be_final_without_what_the_rule_asks_for():
    needed = {field.key for field in missing("ll144", Details())}
    assert {"data_source", "distribution_date", "audit_date", "auditor"} <= needed


# Proposals


def proposed(tmp_path, header, *rows, protected):
    path = tmp_path / "data.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return propose_categories(spec_of(read_table(path), "y", "1", protected))


def test_values_are_proposed_by_their_names(tmp_path):
    races = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Unknown"]
    rows = [f"{('F', 'm')[i % 2]},{race},{i % 2}" for i, race in enumerate(races * 4)]
    found = proposed(tmp_path, "Gender,Race,y", *rows, protected=("Gender", "Race"))
    assert (found.sex, found.race) == ("Gender", "Race")
    assert found.names["Gender"] == {"F": "Female", "m": "Male"}
    # one value for two categories, and one for none, stay as they are
    assert found.names["Race"] == {
        "White": "White",
        "Black": "Black or African American",
        "Amer-Indian-Eskimo": "Native American or Alaska Native",
        "Unknown": "",
    }


def test_where_hispanic_is_a_category_the_others_are_told_to_be_not(tmp_path):
    races = ["Non-Hispanic White", "Hispanic", "African-American", "two or more races", "declined"]
    rows = [f"{race},{i % 2}" for i, race in enumerate(races * 4)]
    found = proposed(tmp_path, "applicantEthnicity,y", *rows, protected=("applicantEthnicity",))
    assert (found.sex, found.race) == ("", "applicantEthnicity")
    assert found.names["applicantEthnicity"] == {
        "Non-Hispanic White": f"White{NOT_HISPANIC}",
        "Hispanic": HISPANIC,
        "African-American": f"Black or African American{NOT_HISPANIC}",
        "two or more races": f"Two or More Races{NOT_HISPANIC}",
        "declined": "",
    }


def test_nothing_is_proposed_for_what_is_no_sex_and_no_race(tmp_path):
    rows = [f"{20 + i},{('a', 'b')[i % 2]},{i % 2}" for i in range(20)]
    found = proposed(tmp_path, "age,sexton,y", *rows, protected=("age", "sexton"))
    assert found == Categories()
