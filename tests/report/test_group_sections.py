"""The report, the exports and the run bar on runs about groups: sections, places, files."""

import csv
import re

import msgspec
import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import Choice, RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.document import subgroups
from fairdesk.document.blocks import terms_in
from fairdesk.groups.metrics.group_table import newcombe
from fairdesk.report.document import make_report
from fairdesk.report.export.exports import (
    group_files,
)
from fairdesk.report.export.findings import write_findings_csv, write_findings_json
from fairdesk.report.provenance import evidence
from fairdesk.report.sections.methods_and_formulas import option_rows
from fairdesk.results.groups import Bin, GroupGap
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import Flip, LinearGroup, Support, TermRate, Variant
from fairdesk.wording import figures, words
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import subgroups as baseline_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups import terms as term_words
from tests import phrases
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of, text_of
from tests.wording.test_about_groups import BLACK, MINED, RULE, TABLE, WHITE

SECTIONS = (
    *("Group metrics", phrases.ERROR_RATES, "Individual discrimination", "Subgroup discovery"),
    *(
        "Limitations",
        phrases.SYSTEM_AND_USE,
        "Sign-off",
        "Data",
        "Model",
        phrases.METHODS_AND_SETTINGS,
    ),
    *(phrases.EVIDENCE_SECTION, phrases.APPENDIX),
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
    # on demand: the subgroups around the one with the largest gap
    return text_of(audited, Choice(added=("subtle/lattice-2-1", "subtle/all-rules-2-1")))


def test_groups_have_their_own_sections_beside_those_of_searches(audited):
    assert titles(audited) == list(SECTIONS)


def test_what_was_not_run_has_no_section_and_is_named_among_the_limits(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        assert not set(titles(store)) & {"Subgroup discovery", "Certification", "Mitigation"}
        (said, *_) = section_of(make_report(store), "limits").blocks
    assert (said.lead, said.text) == (
        "Not run:",
        "Group metrics, an estimate or a search, certification and subgroup discovery.",
    )


@pytest.mark.parametrize(
    "held",
    [
        "Audit for individual and group discrimination",
        # rule sets
        "Values of job were taken one by one.",
        "412 21.0 % 80.0 % −59.0 −62.4 −66.1 to −58.0",
        "412 21.0 % 80.0 % −59.0 −62.4 −66.1 to −58.0 < 0.0001",
        "income below 20.5",
        "−59.0†",
        "more general sex = male 30.0 50.0 % 50.0 %",
        "more specific sex = male, age 60 and over",
        # others
        "sex = male 60.0 % sex = female 40.0 % 20.0 17.0 to 23.0",
        "sex = male +1.20, age −0.31, constant −0.10",
        phrases.STOPPED,
        # tables
        "female 2,435 6.4 % 5.5 to 7.5 % ▽ 0.67",
        "female 49.0 % 157 39.1 0.55 to 0.81 −3.2 (−4.7 to −1.7) < 0.0001",
        "group recorded: 4,880; group not recorded: 12; ▽ below the four-fifths threshold",
        "male, clerk 2,445",
        "as read in November 2026",
        "female undefined 6.4 % of 2,435",
        "female 0.0 % 93.6 % undefined",
        "1 bin with fewer than 30 rows (4)",
        # what it rests on
        "bin boundaries of age 30, 50: boundaries between the bins of this number",
        phrases.DEFAULTS,
        "--bins age=30.0,50.0",
        phrases.GROUP_SCORE,
        "Equal opportunity and average odds",
        "Subgroups defined by rules.",
        "Group metrics.",
    ],
)  # fmt: skip
def test_the_report_holds(text, held):
    assert held in text


def test_a_median_score_that_several_tables_share_is_told_once(tmp_path):
    by_job = msgspec.structs.replace(SCORES, attributes=("job",))
    other = msgspec.structs.replace(by_job, median=0.5)
    with people_store(tmp_path, ("sex", "job")) as store:
        for tables, count in ((SCORES, by_job), 1), ((SCORES, other), 2):
            measured(store, "groups", tables)
            assert text_of(store).count("The median score of all") == count


def test_of_very_many_intersections_the_first_are_shown(tmp_path):
    pairs = [msgspec.structs.replace(BOTH, attributes=("sex", f"a{i}")) for i in range(50)]
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "groups", (TABLE, *pairs))
        report = make_report(store)
        more = make_report(store, Choice(added=("outcomes/rates-decisions-yes-sex-a49",)))

    def grids(made, key):
        return [
            each.key.removeprefix("outcomes/")
            for each in blocks_of(section_of(made, key), "Grid")
            if key == "outcomes" or each.key.startswith("outcomes/")
        ]

    assert grids(report, "outcomes") == ["rates-decisions-yes-sex"]
    shown = grids(report, "appendix")
    assert shown[:2] == ["against-decisions-yes-sex", "rates-decisions-yes-sex-a0"]
    assert 10 < len(shown) < 20
    assert set(grids(more, "appendix")) - set(shown) == {"rates-decisions-yes-sex-a49"}


def test_what_is_shown_on_demand_is_made_then(audited):
    wanted = (
        "outcomes/ratios-decisions-yes-sex",
        "subtle/all-rules-2-1",
    )

    def keys(report):
        return {
            each.key if section.key == "appendix" else f"{section.key}/{each.key}"
            for section in report.sections
            for each in (*blocks_of(section, "Grid"), *blocks_of(section, "Chart"))
        }

    more = keys(make_report(audited, Choice(added=wanted)))
    assert more - keys(make_report(audited)) == set(wanted)


def test_every_table_and_chart_has_a_name_and_says_what_it_rests_on(audited):
    named = [
        ((each.key if section.key == "appendix" else f"{section.key}/{each.key}"), each.evidence)
        for section in make_report(audited).sections
        for each in (*blocks_of(section, "Grid"), *blocks_of(section, "Chart"))
    ]
    assert all(key.partition("/")[2] for key, _ in named)
    assert len({key for key, _ in named}) == len(named)
    rest_on = {"outcomes": {"observed"}, "errors": {"observed"}}
    rest_on["subtle"] = {"observed", "estimated"}
    for section, wanted in rest_on.items():
        assert {kind for key, kind in named if key.startswith(f"{section}/")} == wanted


def test_the_report_gives_the_statements_of_the_figures(text, audited):
    spec = audited.spec
    for said in (
        subgroup_words.widest_statement(spec, SWEPT, NARROW),
        baseline_words.linear_statement(spec, LINEAR),
        ratio_words.worst_statement(spec, TABLE),
    ):
        assert said.sentence.replace("\u00a0", " ") in text


def test_what_has_no_number_is_told_without_one(tmp_path):
    nobody = tuple(
        msgspec.structs.replace(each, impact_ratio=None, below=None) for each in TABLE.lines
    )
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "groups", (msgspec.structs.replace(TABLE, lines=nobody, reference=-1),))
        outcomes = section_of(make_report(store), "outcomes")
    (told,) = (each.text for each in blocks_of(outcomes, "Text") if each.lead == "By sex.")
    assert told.startswith(phrases.NO_TWO_GROUPS.format(attribute="sex"))


def test_the_interval_of_two_true_positive_rates_is_newcombes():
    # Newcombe 1998, table II (a), method 10: 56/70 less 48/80
    assert newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_it_is_said_which_groups_the_reference_is_taken_from(text):
    why = "the group with the highest rate or, where that has less than a tenth of the rows, the"
    assert text.count(why) == 1
    assert "All tables of the same attributes have one reference group" in text
    assert "This is also the adverse impact ratio (AIR)" in text
    assert "precision: share of favourable decisions" in text


def test_one_result_at_every_minimum_support_is_no_table(tmp_path):
    same = tuple(Support(each, 9, 0.624, RULE.conditions) for each in (0.05, 0.5))
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "testsgd", (msgspec.structs.replace(MINED, sweep=same), RULE))
        text = text_of(store)
    assert "Results with another minimum support" not in text


def test_no_number_of_queries_is_promised_for_each_instance(text):
    assert "queried once for each of the" not in text


@pytest.mark.parametrize("adds", [True, False])
def test_what_adds_nothing_to_the_tables_is_one_sentence_and_the_rest_in_the_appendix(
    tmp_path, adds
):
    low = msgspec.structs.replace(RULE, data_in=0.02 if adds else 0.21)
    with people_store(tmp_path, ("sex", "age")) as store:
        measured(store, "groups", (msgspec.structs.replace(TABLE, outcome="1"),))
        measured(store, "themis-groups", (GAP,))
        measured(store, "testsgd", (MINED, low))
        report, said = make_report(store), subgroups.added(store.spec, *_run_and_tables(store))
    section = section_of(report, "subtle")
    keys = [each.key for each in blocks_of(section, "Grid")]
    moved = [each.key for each in blocks_of(section_of(report, "appendix"), "Grid")]
    assert bool(said.value) is adds
    assert keys == (["rules-3-1"] if adds else [])
    assert ("subtle/rules-3-1" in moved) is not adds
    # what another method found is never quoted beside
    assert "subtle/gaps-2" in moved
    texts = [each.text for each in blocks_of(section, "Text")]
    assert (said.sentence in texts) is not adds


def _run_and_tables(store):
    groups, _gaps, run = store.runs()
    return run, groups.figures


def test_limits_are_told_by_subject(audited):
    report = make_report(audited)
    heads = [each.text for each in blocks_of(section_of(report, "limits"), "Heading")]
    assert heads == ["Limitations stated by the auditor"]
    heads = [each.text for each in blocks_of(section_of(report, "appendix"), "Heading")]
    of_limits = [each.partition(": ")[2] for each in heads if each.startswith("Limitations")]
    assert of_limits == ["Pairs", "Groups", "Every audit"]


def test_weights_of_a_sample_are_among_the_limits(tmp_path):
    lines = write_people(tmp_path / "credit.csv").read_text().splitlines()
    weighed = [lines[0] + ",fnlwgt", *(f"{line},{i % 97}.5" for i, line in enumerate(lines[1:]))]
    (tmp_path / "credit.csv").write_text("\n".join(weighed))
    table = read_table(tmp_path / "credit.csv")
    spec = spec_of(table, "credit", "yes", ("sex",))
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        told = blocks_of(section_of(make_report(store), "limits"), "Text")
    said = words.unweighted(spec.columns, spec.mapping)
    assert "“fnlwgt”" in said
    assert [each.text for each in told].count(said) == 1


def test_no_verdict_is_printed_and_nothing_undefined_is_a_number(text):
    for word in ("compliant", "NaN", " nan ", "None", "discriminated", "unfair"):
        assert word not in text


def test_an_audit_of_groups_alone_is_no_failed_search(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "testsgd", (MINED, RULE, TERM), text="name", terms={"gender": ("a", "b")})
        assert "Results" not in titles(store)
        assert "Examples" not in titles(store)
        statement = term_words.category_statement(store.spec, (TERM,))
        text = text_of(store)
    assert "Audit for group discrimination" in text
    assert phrases.NOTHING_FOUND not in text
    assert "gender gay 31 500 41.2 % 62 of 200" in text
    assert "4 “I am #gay[*” no (0.400) “straight” yes (0.600)" in text
    # one has the largest gap: it is told once
    assert text.count("(corrected 95 % CI 58.0 to 66.1)") == 1
    assert (statement.value, statement.evidence) == ("62", "estimated")
    assert statement.sentence.replace("\u00a0", " ") in text
    assert "identity terms of gender 2: the identity terms: a, b" in text
    assert "--text-column name" in text
    assert '{"gender":["a","b"]}' in text
    assert re.search(r"--terms terms-[0-9a-f]{8}\.json", text)


def test_a_report_on_texts_tells_nothing_of_groups_of_rows(tmp_path):
    texts = [f"Some words about person number {n} and what I am gay of." for n in range(40)]
    rows = (f"{text},{('yes', 'no')[n % 2]},{text}" for n, text in enumerate(texts))
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(("text,fine,copy", *rows)) + "\n", encoding="utf-8")
    table = read_table(path)
    spec = spec_of(table, "fine", "yes", ())
    mined = msgspec.structs.replace(MINED, texts=40, attributes=("gender",), sweep=())
    rule = msgspec.structs.replace(RULE, conditions=(Condition("gender", term="gay"),))
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        measured(store, "testsgd", (mined, rule, TERM), text="text")
        made, text = make_report(store), text_of(store)
    gone = SECTIONS[:3]
    assert [each.title for each in made.sections] == [each for each in SECTIONS if each not in gone]
    assert made.board.question == "Does the model’s decision depend on who a text speaks of?"
    # no p is printed, so none is explained
    assert terms_in(made) == ["CI"]
    # formulas and methods are those of texts, and the column is what is compared
    assert "Intervals and p-values of terms." in text
    assert METHODS["testsgd"].cannot_in_texts in text
    assert METHODS["testsgd"].cannot not in text
    grids = blocks_of(section_of(made, "appendix"), "Grid")
    (columns,) = [each for each in grids if each.key == "data/columns"]
    assert columns.rows[0][-1] == "text with identity terms"
    assert columns.rows[2][-1] != columns.rows[0][-1]
    for of_rows in (
        *("starting point", "Rows not used", "postcode", "Impact ratio", "Bins."),
        *(phrases.ERROR_RATES, "most common"),
    ):
        assert of_rows not in text, of_rows


def test_groups_are_told_of_decisions_alone(tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        measured(store, "groups", (TABLE,))
        after = titles(store)
        text = text_of(store)
    assert after == [
        "Decisions" if each == "Model" else each
        for each in SECTIONS
        if each not in ("Individual discrimination", "Subgroup discovery")
    ]
    assert "Impact ratio by sex" in text
    assert "No model." in text
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
            "412 of 1,590 subgroups, largest gap 59.0 percentage points",
        ),
        ("testsgd", (), {"phase": "data", "done": 5, "total": 9}, "5 of 9 data rows queried"),
        (
            "groups",
            TABLES,
            {"phase": "rows", "done": 50, "total": 900},
            "50 of 900 instances tested, lowest impact ratio 0.67",
        ),
        (
            "themis-groups",
            (GAP,),
            {},
            "1 set of attributes compared, largest gap 20.0 percentage points",
        ),
        ("fairfictplay", (), {}, "70 instances tested"),
    ],
)
def test_how_a_run_stands_is_said_in_a_few_words(method, told, doing, said):
    state = RunState(1, method, "running", tried=70, figures=told, **doing)
    assert figures.standing(state) == said


def test_the_numbers_of_a_running_search_are_its_rule_sets_when_it_is_done():
    state = RunState(1, "testsgd", "done", tried=70, queries=90, figures=RULES)
    assert figures.standing(state) == "1,590 subgroups tested, largest gap 59.0 percentage points"
    assert figures.effort(state).startswith("1,590 subgroups tested, 90 queries")


def test_tables_leave_as_files_for_a_spreadsheet(audited, tmp_path):
    files = group_files(audited)
    assert list(files) == ["groups.csv", "subgroups.csv"]
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
    with (tmp_path / "subgroups.csv").open(encoding="utf-8-sig", newline="") as stream:
        rules = list(csv.DictReader(stream))
    assert [rule["near-duplicate of"] for rule in rules] == ["", "1", ""]
    assert rules[0]["subgroup"] == "age 40 and over, sex = male, job = cook or none"
    assert float(rules[0]["rate outside"]) == pytest.approx(0.831)


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
    assert held["runs"][0]["figures"][0]["subgroups"] == 1_590


def test_scores_beside_decisions_are_in_the_report_where_they_are_asked_for(audited):
    median = "The median score of all 4,880 is 0.4. 10.0 % have exactly that score"
    assert median not in text_of(audited)
    assert median in text_of(audited, Choice(added=("outcomes/rates-scores-yes-sex",)))


def test_mean_scores_are_no_percentages(tmp_path):
    told = tuple(
        msgspec.structs.replace(each, outcome="")
        for each in (SWEPT, msgspec.structs.replace(NARROW, data_in=None, holds_on_data=None))
    )
    with people_store(tmp_path, ("sex",)) as store:
        measured(store, "testsgd", told, options={"outcome": "score"})
        report = make_report(store)
    (section,) = [each for each in report.sections if each.title == "Subgroup discovery"]
    said = str(msgspec.to_builtins(section)).replace(r"\xa0", " ")
    assert "the mean score of the favourable decision is 0.207 for age 40 and over" in said
    assert "a gap of 0.624 (corrected 95 % CI 0.580 to 0.661)" in said
    assert "'412', '–', '–', '–', '−0.624', '−0.661 to −0.580'" in said
    assert "percentage points" not in said
    # shares have a chart, scores have their table
    assert "chart" not in {block["type"] for block in msgspec.to_builtins(section.blocks)}
