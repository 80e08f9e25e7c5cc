"""The report's section on what is proven: every number in it is true, and nothing is mixed."""

import re

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.details import Choice
from fairdesk.report.document import make_report
from fairdesk.results.conditions import Condition
from fairdesk.results.individual import Share
from fairdesk.results.proofs import (
    Estimated,
    GroupRate,
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.wording import figures
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.certified.neighbourhoods import NOT_MEANT
from tests import phrases
from tests.report.building import people_store, run_into
from tests.report.reading import blocks_of, section_of, whole_section, words_of
from tests.wording.test_about_groups import TABLE

TOTAL = 12_345_678_901_234_567_890
CONSISTENT, DISCRIMINATORY = 11_102_469_035_880_246_904, 851_851_844_185_185_185
DOMAIN = Proven(
    of="domain",
    attributes=("sex", "job"),
    certified=0.8993,
    falsified=0.069,
    undecided=0.0317,
    total=str(TOTAL),
    certified_people=str(CONSISTENT),
    falsified_people=str(DISCRIMINATORY),
    boxes=1_234_567,
    seconds=61.0,
    margin=1.3e-5,
    estimated=Estimated(10_000, 4_100, 0.40, 0.42, 0.95, 0.41),
    notes=("Of the constraints one could not be decided on boxes.",),
)
PEOPLE = msgspec.structs.replace(
    DOMAIN,
    of="population",
    certified=0.951,
    falsified=0.021,
    undecided=0.028,
    total="",
    certified_people="",
    falsified_people="",
    estimated=None,
    notes=(),
)
FIGURES = (
    DOMAIN,
    PEOPLE,
    Share(
        whom="data",
        attributes=("sex", "job"),
        n_samples=190,
        hits=7,
        exhaustive=True,
        confidence=0.95,
        estimate=7 / 190,
        low=7 / 190,
        high=7 / 190,
        anytime_low=7 / 190,
        anytime_high=7 / 190,
    ),
    msgspec.structs.replace(
        DOMAIN,
        attributes=("sex",),
        certified=0.95,
        falsified=0.03,
        undecided=0.02,
        total="",
        estimated=None,
        notes=(),
    ),
    PairShare(("sex", "job"), (0.0, 0.0), (1.0, 0.0), 0.031, 0.95),
    PairShare(("sex", "job"), (0.0, 1.0), (1.0, 3.0), 0.06, 0.94, exact=True),
    Region(
        "discriminatory",
        (Condition("age", low=25.0), Condition("debts", high=4.0)),
        0.0412,
        str(TOTAL // 24),
        0.013,
    ),
    Region("consistent", (Condition("income", low=40.5, high=80.0),), 0.61, str(TOTAL // 2), 0.4),
)


#: What of a certification nobody quotes, and a report has only where it is asked for.
TABLES = ("values", "discriminatory", "consistent")


def made(folder, *runs, search=False, added=()):
    folder.mkdir(exist_ok=True)
    with people_store(folder, ("sex", "job")) as store:
        if search:
            run_into(store, options={"global_num": 20, "local_num": 10})
        for told, state in runs:
            run = store.begin_run(RunSpec("certify"))
            store.measure(run, told)
            store.end_run(run, state)
        return make_report(store, Choice(added=added))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proof")
    runs = (FIGURES, "done"), (FIGURES[:1], "stopped")
    added = tuple(f"certification/{each}-2" for each in TABLES)
    return words_of(made(folder, *runs, search=True, added=added))


@pytest.mark.parametrize(
    "held",
    [
        "5 Certification",
        "Combinations in the input domain 12,345,678,901,234,567,890",
        "Certified (unchanged) 11,102,469,035,880,246,904 (89.93 %), at least",
        "Falsified (changes) 851,851,844,185,185,185 (6.90 %), at least",
        "Undecided 391,358,021,169,135,801 (3.17 %)",
        f"Of the undecided, estimated {phrases.CHANGES_FOR} an estimated 41.0 % (95 % CI 40.0",
        f"at least 95.10 % {phrases.PROVEN_UNCHANGED}, at least 2.10 % {phrases.PROVEN_TO_CHANGE}",
        "all 8 permitted combinations of values of sex and job (28 pairs in all)",
        "Of the constraints one could not be decided on boxes.",
        "When only sex changes 95.00 % 3.00 % 2.00 %",
        "sex = female, job = cook sex = male, job = pilot exactly 6.00 % exactly 94.00 %",
        "“age” ≥ 25 and “debts” ≤ 4",
        "“debts” ≤ 4 4.12 % about 1.30 %",
        "40.5 ≤ “income” ≤ 80",
        "The proof allows for rounding of the model’s output by at most 0.000013.",
        "fairdesk verify",
        phrases.STOPPED,
        "Certified share",
    ],
)
def test_the_section_holds(text, held):
    assert held in text


def test_the_section_gives_the_sentences_of_its_figures(text, tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        spec = store.spec
    proven = proof_words.proven_statement(DOMAIN)
    remainder = proof_words.remainder_statement(DOMAIN)
    data = figures.share_statement(spec, FIGURES[2])
    for said in (proven, remainder, data):
        assert said.sentence.replace("\u00a0", " ") in text


def test_pairs_that_carry_most_come_first(text):
    assert text.index("exactly 6.00 % exactly 94.00 %") < text.index("3.10 % 95.00 %")


def test_what_is_proven_comes_first_and_how_it_was_obtained_last(tmp_path):
    report = made(tmp_path, (FIGURES, "done"))
    section = whole_section(report, "certification")
    kinds = [type(block).__name__ for block in section.blocks]
    # what the verdicts mean comes before the first of them
    assert kinds[:4] == ["Text", "Text", "Heading", "Statement"]
    assert kinds.index("Statement") < kinds.index("Chart") < kinds.index("Grid")
    assert max(i for i, kind in enumerate(kinds) if kind == "Chart") < kinds.index("Facts")
    assert section.blocks[3].evidence == "proven"
    # an estimate is drawn in the undecided share, and is not marked as proven
    charts = blocks_of(section, "Chart")
    assert {block.key: block.evidence for block in charts}["bars-1"] == ""
    exact = tuple(
        msgspec.structs.replace(each, estimated=None) if isinstance(each, Proven) else each
        for each in FIGURES
    )
    exact_section = whole_section(made(tmp_path / "exact", (exact, "done")), "certification")
    assert {block.evidence for block in blocks_of(exact_section, "Chart")} == {"proven"}


def test_counts_of_any_size_are_told_to_the_last_digit(tmp_path):
    huge = msgspec.structs.replace(
        DOMAIN, total=str(10**24 + 1), certified_people="1", falsified_people="0"
    )
    text = words_of(made(tmp_path, ((huge,), "done")))
    assert "Combinations in the input domain 1,000,000,000,000,000,000,000,001" in text
    assert "Undecided 1,000,000,000,000,000,000,000,000" in text


def test_the_domain_that_it_speaks_of_is_listed(tmp_path):
    section = section_of(
        made(tmp_path, (FIGURES, "done"), added=("certification/domain",)), "appendix"
    )
    (grid,) = (each for each in blocks_of(section, "Grid") if each.key == "certification/domain")
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["sex (compared)"] == ("female, male", "2")
    assert rows["debts"] == ("0 to 8", "9")


def test_a_proof_alone_is_no_failed_search(tmp_path):
    text = words_of(made(tmp_path, (FIGURES, "done")))
    assert phrases.NOTHING_FOUND not in text
    assert re.search(r"No search was run; section \d shows what is certified.", text)


def test_what_cannot_be_looked_into_is_estimated_and_says_so(tmp_path):
    share = msgspec.structs.replace(
        FIGURES[2], whom="domain", exhaustive=False, low=0.01, high=0.06, n_samples=190
    )
    share = msgspec.structs.replace(share, opaque="it accepts text")
    text = words_of(made(tmp_path, ((share,), "done")))
    said = f"This is {phrases.NOT_CERTIFIED}: the model’s internal structure is not available ("
    assert said in text
    assert "(it accepts text)" in text
    assert "every region with its verdict" not in text


def test_data_rows_with_their_neighbours_have_a_bar_and_say_what_that_is_not(tmp_path):
    found = NeighbourhoodCounts(("sex", "job"), 190, 150, 30, 10, 1, 0.1)
    with people_store(tmp_path, ("sex", "job")) as store:
        run = store.begin_run(RunSpec("neighbourhoods"))
        store.measure(run, (found,))
        store.end_run(run, "done")
        report = make_report(store)
    section = section_of(report, "certification")
    (chart,) = blocks_of(section, "Chart")
    assert "78.95\u00a0% unchanged" in chart.alt
    (said,) = blocks_of(section, "Statement")
    assert (said.number, said.evidence) == ("150 of 190 applicants", "proven")
    assert NOT_MEANT in words_of(report)


def test_what_is_proven_and_what_is_estimated_stand_apart(tmp_path):
    report = made(tmp_path, (FIGURES, "done"))
    proven, estimated = blocks_of(section_of(report, "certification"), "Statement")[:2]
    assert (proven.number, proven.evidence) == ("At least 89.93\u00a0%", "proven")
    assert "estimated" not in " ".join((proven.sentence, *proven.details))
    assert (estimated.number, estimated.evidence) == ("41.0\u00a0%", "estimated")


def test_nobody_found_among_those_drawn_gives_a_bound(tmp_path):
    none = msgspec.structs.replace(DOMAIN, estimated=Estimated(1_000, 0, 0.0, 0.0037, 0.95, 0.0))
    section = section_of(made(tmp_path, ((none,), "done")), "certification")
    _, bound = blocks_of(section, "Statement")
    assert bound.number.replace("\u00a0", " ") == "At most 0.37 %"
    assert "from 1,000 combinations" in bound.sentence


def test_where_nothing_is_proven_nothing_is_marked_as_proven(tmp_path):
    nothing = msgspec.structs.replace(
        DOMAIN,
        certified=0.0,
        falsified=0.0,
        undecided=1.0,
        certified_people="0",
        falsified_people="0",
        estimated=None,
    )
    report = made(tmp_path, ((nothing,), "stopped"))
    (stated,) = blocks_of(section_of(report, "certification"), "Statement")
    assert (stated.number, stated.evidence) == ("", "")


def test_a_share_by_itself_is_rounded_down():
    assert proof_words.least_percent(0.04129).replace("\u00a0", " ") == "4.12 %"
    assert proof_words.least_percent(0.00001239).replace("\u00a0", " ") == "0.0012 %"


OF_PEOPLE = msgspec.structs.replace(PEOPLE, of="people", certified=0.9712, falsified=0.0211)
RATES = ProvenRates(
    "sex", (GroupRate(0.0, 0.1093, 0.12099, 0.4), GroupRate(1.0, 0.3011, 0.3102, 0.6)), 0.3512, 0.4
)


def test_bounds_of_one_group_alone_are_not_listed(tmp_path):
    for groups, listed in ((RATES.groups, True), (RATES.groups[:1], False)):
        rates = msgspec.structs.replace(RATES, groups=groups)
        (tmp_path / str(listed)).mkdir()
        report = made(tmp_path / str(listed), ((*FIGURES, OF_PEOPLE, rates), "done"))
        grids = blocks_of(section_of(report, "appendix"), "Grid")
        assert any(each.key.startswith("certification/rates") for each in grids) is listed


def test_the_population_comes_before_the_combinations_with_the_rates_of_its_groups(tmp_path):
    added = ("certification/bars-1", "certification/combinations-1")
    report = made(tmp_path, ((*FIGURES, OF_PEOPLE, RATES), "done"), added=added)
    text = words_of(report)
    assert phrases.PROVABLY_CHANGES.format("2.11 %") in text
    assert "for at least 97.12 %; at most" in text
    assert text.index("97.12 %") < text.index("89.93 %")
    # in the section itself nothing is said of combinations
    (said,) = blocks_of(section_of(report, "certification"), "Statement")
    assert said.number == "At least 2.11\u00a0%"
    charts = {each.key: each for each in blocks_of(section_of(report, "appendix"), "Chart")}
    assert "Input domain" not in charts["certification/bars-1"].alt
    chart = charts["certification/combinations-1"]
    assert "Input domain" in chart.alt
    # nor of attributes that are independent, where there is a model of the data
    assert "Data-weighted" not in text
    assert "not of people" in chart.caption
    assert f"applicants {phrases.NOT_IN_THE_DATA} The population is a statistical model" in text
    assert "not shares of real applicants" in text
    assert proof_words.RATES in text
    # rounded outwards
    assert "sex = female 10.93 % 12.10 %" in text
    assert "sex = male 30.11 % 31.02 %" in text
    assert proof_words.proven_ratio_sentence(RATES).replace("\u00a0", " ") in text


def test_beside_a_group_that_the_model_of_the_data_does_not_fit_no_bounds_are_shown(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        measured = store.begin_run(RunSpec("groups"))
        store.measure(measured, (TABLE,))
        store.end_run(measured, "done")
        run = store.begin_run(RunSpec("certify"))
        store.measure(run, (*FIGURES, OF_PEOPLE, RATES))
        store.end_run(run, "done")
        text = words_of(make_report(store))
    assert f"{phrases.NO_RATIO} sex" not in text
    assert phrases.UNFIT not in text
    assert "Bounds of the selection rates" not in text
    for share in proof_words.proven_fractions(OF_PEOPLE)[:2]:
        assert proof_words.least_share(share) not in text
    assert proof_words.RATES not in text


def test_what_it_means_that_nothing_is_proven_is_said_once_where_it_is_said(text, tmp_path):
    assert proof_words.NONE_MEANS not in text
    told = [
        msgspec.structs.replace(each, falsified=0.0)
        if isinstance(each, Proven) and each.attributes == ("sex",)
        else msgspec.structs.replace(each, falsified=0.0)
        if isinstance(each, PairShare)
        else each
        for each in FIGURES
    ]
    assert words_of(made(tmp_path, (tuple(told), "done"))).count(proof_words.NONE_MEANS) == 1


def test_where_pairs_of_an_attribute_are_known_no_table_says_that_none_are(tmp_path):
    none = tuple(
        msgspec.structs.replace(each, falsified=0.0)
        if isinstance(each, Proven) and each.attributes == ("sex",)
        else each
        for each in FIGURES
    )

    def row(report):
        (grid,) = (
            each
            for each in blocks_of(section_of(report, "appendix"), "Grid")
            if each.key.startswith("certification/alone")
        )
        # below the shares of all attributes together
        assert "both" in grid.rows[0][0]
        return grid.rows[1]

    assert row(made(tmp_path / "none", (none, "done")))[2] == proof_words.NONE_PROVEN
    report = made(tmp_path / "known", (none, "done"), search=True)
    assert row(report)[2] == "pairs found"
    assert "the share is unknown" in words_of(report)


def test_one_attribute_alone_is_certified_at_least_as_far_as_all_together(tmp_path):
    worse = tuple(
        msgspec.structs.replace(each, certified=0.5, undecided=0.47)
        if isinstance(each, Proven) and each.attributes == ("sex",)
        else each
        for each in FIGURES
    )
    text = words_of(made(tmp_path, (worse, "done")))
    assert "When only sex changes 89.93 % 3.00 % 7.07 %" in text


def test_rules_are_said_only_where_they_apply(tmp_path):
    text = words_of(made(tmp_path / "a", (FIGURES, "done")))
    assert "The data-weighted share multiplies" in text
    alone = words_of(made(tmp_path / "b", (FIGURES[:1], "done")))
    for said in (
        "data-weighted share multiplies",
        "has no comparison: it is neither",
        "certified for its other values",
    ):
        assert said not in alone
