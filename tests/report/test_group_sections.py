"""The report, the exports and the run bar on runs about groups: sections, places, files."""

import csv
import re

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.details import Choice
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.report.document import make_report
from fairdesk.report.export.exports import group_files, write_findings_csv, write_findings_json
from fairdesk.report.provenance import evidence
from fairdesk.report.sections.methods_and_formulas import option_rows
from fairdesk.report.sections.outcomes import newcombe
from fairdesk.results.conditions import Condition
from fairdesk.results.groups import Bin, GroupGap
from fairdesk.results.subgroups import Flip, LinearGroup, Support, TermRate, Variant
from fairdesk.wording import figures, words
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of, text_of
from tests.wording.test_about_groups import BLACK, MINED, RULE, TABLE, WHITE

SECTIONS = (
    *("Summary", "System and use", "Data", "Model", "Group outcomes", "Error rates by group"),
    *("Individual discrimination", "Subtle groups", "Certification", "Mitigation trial"),
    *("Limits", "Method", "Evidence", "Sign-off"),
)
MALE = (Condition("sex", codes=(1.0,)),)
NARROW = msgspec.structs.replace(
    RULE,
    broader=(Variant(MALE, 0.3, 0.5, 0.5),),
    narrower=(Variant((*MALE, Condition("age", low=60.0)), 0.65, 0.18, 0.051),),
)
VARIANT = msgspec.structs.replace(
    RULE, conditions=(Condition("age", low=45.0),), score=0.5, leader=0
)
OTHER = msgspec.structs.replace(
    RULE, conditions=(Condition("income", high=20.5, below=True),), score=0.2, holds_on_data=False
)
SWEPT = msgspec.structs.replace(
    MINED,
    sweep=(Support(0.05, 1_590, 0.624, RULE.conditions), Support(0.5, 0, 0.0)),
    notes=("Values of job were taken one by one.",),
)
RULES = (SWEPT, NARROW, VARIANT, OTHER)
BINS = (Bin(0.0, 0.5, 40, 0.3, 0.35), Bin(0.5, 1.0, 4, 0.8, 0.5))
SCORES = msgspec.structs.replace(
    TABLE,
    of="scores",
    median=0.4,
    ties=0.1,
    lines=(msgspec.structs.replace(WHITE, calibration=BINS), BLACK),
)
BOTH = msgspec.structs.replace(
    TABLE,
    attributes=("sex", "job"),
    lines=tuple(
        msgspec.structs.replace(line, values=(*line.values, job), codes=(*line.codes, code))
        for line in (WHITE, BLACK)
        for code, job in enumerate(("clerk", "cook"))
    ),
)
TABLES = (msgspec.structs.replace(TABLE, of="label", outcome=""), TABLE, BOTH, SCORES)
GAP = GroupGap(("sex",), 4_000, 0.2, 0.17, 0.23, 0.99, (1.0,), (0.0,), 0.6, 0.4)
LINEAR = LinearGroup(
    ("sex = male", "age"), (1.2, -0.31), -0.1, "1", 0.31, 500, 0.2, 0.28, 0.08, 0.02, -0.11, -0.05
)
FLIP = Flip(3, "I am #gay[*", "I am #straight[*", "straight", 0.4, 0.6, "0", "1")
TERM = TermRate("gender", "gay", 31, 500, 0.412, 200, 62, (FLIP,))


def measured(store, method, told, state="done", **about):
    run = store.begin_run(RunSpec(method, **about))
    store.measure(run, told)
    store.end_run(run, state)
    return run


def titles(store):
    return [section.title for section in make_report(store).sections]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    with people_store(folder, ("sex", "job", "age")) as store:
        run_into(store, "uniform", options={"samples": 100})
        measured(store, "testsgd", RULES, edges={"age": (30.0, 50.0)})
        measured(store, "groups", TABLES[:1])
        measured(store, "groups", TABLES)
        measured(store, "themis-groups", (GAP,))
        measured(store, "fairfictplay", (LINEAR,), "stopped")
        yield store


@pytest.fixture(scope="module")
def text(audited):
    return text_of(audited)


def test_groups_have_their_own_sections_beside_those_of_searches(audited):
    assert titles(audited) == list(SECTIONS)


def test_a_section_has_the_same_number_whatever_was_run(audited, tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        assert titles(store) == titles(audited)
        report = make_report(store)
    for key in ("errors", "results", "subtle", "certification", "mitigation"):
        (told, *_) = section_of(report, key).blocks
        assert told.lead == "Not run:"
        assert "would have told" in told.text


@pytest.mark.parametrize(
    "held",
    [
        "Audit for individual and group discrimination",
        "rule sets examined, 0 rows sent to the model, 0.00 s; section 8.1.",
        "tables of groups counted, 0 rows sent to the model, 0.00 s; section 5.",
        "section 8.2.",
        "section 8.3.",
        # rule sets
        "62.4 percentage points lie between the favourable rates of age 40 and over",
        "90.25 % confidence (the product of that of both rates)",
        "Values of job were taken one by one.",
        "+", "−62.4 −66.1 to −58.0 < 0.0001 6.7 % −59.0 1",
        "income below 20.5",
        "−59.0†",
        "more general sex = male 30.0 50.0 % 50.0 %",
        "more specific sex = male, age 60 and over",
        "50 % 0 – –",
        # others
        "sex = male 60.0 % sex = female 40.0 % 20.0 17.0 to 23.0",
        "sex = male +1.20, age −0.31, and −0.10 for everybody",
        "Stopped by the auditor",
        # tables
        "female 2,435 49.0 % 157 6.45 % 5.5 to 7.5 % 0.67* 39.1",
        "The ratio lies within 0.55 to 0.81 (95 %, by itself).",
        "female 0.67* (0.55 to 0.81) 0.65 −3.2 (−4.7 to −1.7) Z = −4.11 < 0.0001 < 0.0001",
        "Label “yes”, by sex; 4,880 of known group, 12 of unknown group",
        "male, clerk 2,445",
        "as read in November 2026",
        "No pass mark is set.",
        "female 2,435 undefined 6.4 % 0.0 % 93.6 % undefined undefined",
        "male 44 +5.0 (−30.0)",
        "0.4 is the median score of all 4,880. 10.0 % of the people stand right at it",
        # what it rests on
        "edges of age 30, 50 where the bins of this number meet",
        "theta",
        "subsets all",
        "--bins age=30.0,50.0",
        "Group fairness score",
        "Equal opportunity and average odds",
        "Groups by rules.",
        "Rates of groups.",
    ],
)  # fmt: skip
def test_the_report_holds(text, held):
    assert held in text


def test_of_very_many_intersections_the_first_are_shown(tmp_path):
    pairs = [msgspec.structs.replace(BOTH, attributes=("sex", f"a{i}")) for i in range(50)]
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "groups", (TABLE, *pairs))
        report = make_report(store)
        more = make_report(store, Choice(added=("outcomes/rates-decisions-yes-sex-a49",)))
    shown = [each.key for each in blocks_of(section_of(report, "outcomes"), "Grid")]
    assert shown[:3] == [
        *("rates-decisions-yes-sex", "against-decisions-yes-sex", "rates-decisions-yes-sex-a0"),
    ]
    assert 10 < len(shown) < 20
    added = {each.key for each in blocks_of(section_of(more, "outcomes"), "Grid")} - set(shown)
    assert added == {"rates-decisions-yes-sex-a49"}


def test_what_is_shown_on_demand_is_made_then(audited):
    wanted = (
        "outcomes/ratios-decisions-yes-sex",
        "errors/curves-scores-yes-sex",
        "subtle/all-rules-2-1",
    )
    plain = make_report(audited)
    keys = {
        f"{section.key}/{each.key}"
        for section in make_report(audited, Choice(added=wanted)).sections
        for each in (*blocks_of(section, "Grid"), *blocks_of(section, "Chart"))
    }
    before = {
        f"{section.key}/{each.key}"
        for section in plain.sections
        for each in (*blocks_of(section, "Grid"), *blocks_of(section, "Chart"))
    }
    assert keys - before == set(wanted)


def test_every_table_and_chart_has_a_name_and_says_what_it_rests_on(audited):
    for section in make_report(audited).sections:
        named = [*blocks_of(section, "Grid"), *blocks_of(section, "Chart")]
        keys = [each.key for each in named]
        assert all(keys)
        assert len(set(keys)) == len(keys)
        if section.key in ("outcomes", "errors"):
            assert {each.evidence for each in named} <= {"observed"}
        if section.key == "subtle":
            assert {each.evidence for each in named} == {"estimated"}


def test_what_has_no_number_is_told_without_one(tmp_path):
    nobody = tuple(
        msgspec.structs.replace(each, impact_ratio=None, below=None) for each in TABLE.lines
    )
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "groups", (msgspec.structs.replace(TABLE, lines=nobody, reference=-1),))
        summary = section_of(make_report(store), "summary")
    assert not blocks_of(summary, "Statement")
    told = blocks_of(summary, "Text")[0].text
    assert told.startswith("No two groups by sex can be compared")
    assert "section 5." in told


def test_the_interval_of_two_true_positive_rates_is_newcombes():
    # Newcombe 1998, table II (a), method 10: 56/70 less 48/80
    assert newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_no_verdict_is_printed_and_nothing_undefined_is_a_number(text):
    for word in ("compliant", "NaN", " nan ", "None", "discriminated", "unfair"):
        assert word not in text


def test_the_latest_measurement_is_the_one_that_is_told(text):
    assert "Group figures, run 4: " in text
    assert "Group figures, run 3: " not in text


def test_an_audit_of_groups_alone_is_no_failed_search(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "testsgd", (MINED, RULE, TERM), text="name", terms={"gender": ("a", "b")})
        assert "Results" not in titles(store)
        assert "Examples" not in titles(store)
        text = text_of(store)
    assert "Audit for group discrimination" in text
    assert "Nothing was found within what was tried" not in text
    assert "No search has been run" not in text
    assert "gender gay 31 500 41.2 % 200 62" in text
    assert "“0” for “I am #gay[*”, “1” with “straight” instead." in text
    assert "62 of 200 texts that name somebody by gender get another decision" in text
    assert "terms of gender 2 what names somebody: a, b" in text
    assert "--text-column name" in text
    assert '{"gender":["a","b"]}' in text
    assert re.search(r"--terms terms-[0-9a-f]{8}\.json", text)


def test_groups_are_told_of_decisions_alone(tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        before = titles(store)
        measured(store, "groups", (TABLE,))
        after = titles(store)
        text = text_of(store)
    assert before == after == list(SECTIONS)
    assert "0.67 is the lowest impact ratio by sex in the decision “yes” (observed)" in text
    assert "No model was asked." in text
    assert "--predictions credit" in text
    assert "--method groups" in text


def test_a_column_that_the_model_is_not_given_is_said_to_be_so(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        domain, table = store.spec.domain, store.table()
        unseen = (attribute_of(table.column("job"), Role.PROTECTED),)
        seen = tuple(each for each in domain.attributes if each.name != "job")
        spec = msgspec.structs.replace(store.spec, domain=Domain(seen, unseen=unseen))
    assert words.grouping_names(spec.domain) == ("sex", "job")
    assert "--protected job" in evidence.command(spec, RunSpec("groups"))


def test_options_that_are_words_are_written_as_they_are(audited):
    run = next(run for run in audited.runs() if run.spec.method == "testsgd")
    rows = {name: value for name, value, _ in option_rows(run)}
    assert rows["outcome"] == "favourable"
    assert rows["sample_thr"] == "1,000"


@pytest.mark.parametrize(
    ("method", "told", "doing", "said"),
    [
        (
            "testsgd",
            RULES,
            {"phase": "samples", "done": 412, "total": 1_590},
            "412 of 1,590 rule sets, widest 62.4 points",
        ),
        ("testsgd", (), {"phase": "data", "done": 5, "total": 9}, "5 of 9 rows asked about"),
        (
            "groups",
            TABLES,
            {"phase": "rows", "done": 50, "total": 900},
            "50 of 900 asked about, lowest impact ratio 0.67",
        ),
        ("themis-groups", (GAP,), {}, "1 set of attributes compared, widest 20.0 points"),
        ("fairfictplay", (), {}, "70 asked about"),
    ],
)
def test_how_a_run_stands_is_said_in_a_few_words(method, told, doing, said):
    state = RunState(1, method, "running", tried=70, figures=told, **doing)
    assert figures.standing(state) == said


def test_the_numbers_of_a_running_search_are_its_rule_sets_when_it_is_done():
    state = RunState(1, "testsgd", "done", tried=70, queries=90, figures=RULES)
    assert figures.standing(state) == "1,590 rule sets examined, widest 62.4 points"
    assert figures.effort(state).startswith("1,590 rule sets examined, 90 rows sent")


def test_tables_leave_as_files_for_a_spreadsheet(audited, tmp_path):
    files = group_files(audited)
    assert list(files) == ["groups.csv", "rule_sets.csv"]
    for name, write in files.items():
        write(audited, tmp_path / name)
    with (tmp_path / "groups.csv").open(encoding="utf-8-sig", newline="") as stream:
        groups = list(csv.DictReader(stream))
    assert len(groups) == 2 + sum(len(table.lines) for table in TABLES)
    female = groups[1]
    assert female["outcome"] == "yes"
    assert female["group"] == "sex = female"
    assert float(female["impact ratio"]) == pytest.approx(0.668)
    assert female["true positive rate"] == ""
    assert female["below"] == "yes"
    with (tmp_path / "rule_sets.csv").open(encoding="utf-8-sig", newline="") as stream:
        rules = list(csv.DictReader(stream))
    assert [rule["variant of"] for rule in rules] == ["", "1", ""]
    assert rules[0]["rule"] == "age 40 and over, sex = male, job = cook or none"
    assert float(rules[0]["phi out"]) == pytest.approx(0.831)


def test_there_are_no_such_files_without_such_runs(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, "uniform", options={"samples": 20})
        assert not group_files(store)


def test_the_files_of_findings_are_whole_with_groups_alone(tmp_path):
    with people_store(tmp_path) as store:
        measured(store, "testsgd", RULES)
        write_findings_csv(store, tmp_path / "findings.csv")
        write_findings_json(store, tmp_path / "findings.json")
    assert len((tmp_path / "findings.csv").read_text(encoding="utf-8").splitlines()) == 1
    held = msgspec.json.decode((tmp_path / "findings.json").read_bytes())
    assert held["pairs"] == []
    assert held["runs"][0]["figures"][0]["rule_sets"] == 1_590


def test_mean_scores_are_no_percentages(tmp_path):
    told = tuple(
        msgspec.structs.replace(each, outcome="")
        for each in (SWEPT, msgspec.structs.replace(NARROW, data_in=None, holds_on_data=None))
    )
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "testsgd", told, options={"outcome": "score"})
        report = make_report(store)
    (section,) = [each for each in report.sections if each.title == "Subtle groups"]
    said = str(msgspec.to_builtins(section)).replace(r"\xa0", " ")
    assert "'0.624', 'sentence': 'lies between the mean scores of the favourable decision" in said
    assert (
        "'0.207', '0.831', '−0.624', '−0.661 to −0.580', '< 0.0001', '6.7 %', 'undefined'" in said
    )
    assert "percentage points" not in said
    # shares have a chart, scores have their table
    assert "chart" not in {block["type"] for block in msgspec.to_builtins(section.blocks)}
