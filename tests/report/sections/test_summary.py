"""The report's summary: a question, an answer, however much was run, and nobody's secrets."""

import re

import msgspec
import pytest

from fairdesk.answers.answer import Question
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.details import Choice
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.document.blocks import PairCard
from fairdesk.report.appendix import KEY as APPENDIX
from fairdesk.report.content.gathering import SHOWN, gather
from fairdesk.report.document import make_report
from fairdesk.report.render.pdf import Preview
from tests.report import repairs
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of
from tests.report.render.test_pdf import read
from tests.report.sections.test_certification import DOMAIN, PEOPLE
from tests.report.test_document import ESTIMATED, IN_DATA
from tests.report.test_group_sections import GAP, RULES, TABLES, measured

UNFAIR = [[1], [2], [1], [1], [1]]
AGES = [[3], [1], [1], [1], [1]]


def answers_of(report):
    return blocks_of(section_of(report, "summary"), "Answer")


def said_of(report, question):
    (found,) = (each for each in answers_of(report) if each.question == question.title)
    return found.said


def test_there_is_one_answer_to_each_question_in_their_order_however_many_runs(tmp_path):
    once = (
        ("groups", TABLES),
        ("estimate", (ESTIMATED, IN_DATA)),
        ("certify", (DOMAIN, PEOPLE)),
        ("testsgd", RULES),
        ("repair-aequitas", repairs.FIGURES),
    )
    with people_store(tmp_path, ("sex", "job")) as store:
        lengths = []
        for seed in range(3):
            # in another order than that of the questions
            for method, figures in reversed(once):
                measured(store, method, figures)
            run_into(store, "uniform", seed=seed, options={"samples": 100}, weights=UNFAIR)
            section = section_of(make_report(store), "summary")
            told = [each.question for each in blocks_of(section, "Answer")]
            assert told == [each.title for each in Question]
            lengths.append(len(section.blocks))
    assert len(set(lengths)) == 1


def test_an_answer_names_its_run_and_the_others_that_answer_the_same(tmp_path):
    better = msgspec.structs.replace(ESTIMATED, n_samples=20_000, hits=616)
    with people_store(tmp_path, ("sex", "job")) as store:
        for share in (ESTIMATED, better, ESTIMATED):
            measured(store, "estimate", (share,))
        said = said_of(make_report(store), Question.SHARE)
        source = said.details[-1]
    assert "20,000" in said.sentence
    assert source.endswith("run 2; also runs 1 and 3.")


def test_a_count_of_all_rows_is_not_called_a_sample(tmp_path):
    counted = msgspec.structs.replace(IN_DATA, exhaustive=True)
    with people_store(tmp_path, ("sex", "job")) as store:
        measured(store, "estimate", (ESTIMATED, counted))
        said = said_of(make_report(store), Question.SHARE)
    assert said.details[-1].endswith("Source: count of all rows, run 1.")


def test_a_share_of_people_and_one_proven_of_a_population_are_set_side_by_side(tmp_path):
    counted = msgspec.structs.replace(IN_DATA, exhaustive=True)
    with people_store(tmp_path, ("sex", "job")) as store:
        measured(store, "estimate", (ESTIMATED, counted))
        measured(store, "certify", (DOMAIN, msgspec.structs.replace(PEOPLE, of="people")))
        grids = blocks_of(section_of(make_report(store), "results"), "Grid")
    (shares,) = (each for each in grids if each.key == "shares")
    described = [row[-1] for row in shares.rows]
    assert [each.split()[0] for each in described] == ["Real", "Likely", "Combinations"]
    assert shares.rows[1][1].replace("\u00a0", " ") == "at least 2.10 % (proven)"


def test_questions_without_an_answer_say_what_would_give_it(tmp_path):
    with people_store(tmp_path) as store:
        section = section_of(make_report(store), "summary")
    # the recorded outcomes of groups are in the data
    assert [each.question for each in blocks_of(section, "Answer")] == [Question.GROUPS.title]
    open_ones = {each.lead: each.text for each in blocks_of(section, "Text") if each.lead}
    assert list(open_ones) == [each.title for each in Question if each is not Question.GROUPS]
    assert all(open_ones.values())


def test_the_pair_of_the_summary_is_shown_in_full_in_its_section(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, "uniform", options={"samples": 300}, weights=UNFAIR)
        pair = gather(store).clearest
        widest = next(store.each_pair(PairQuery(order="difference", descending=True)))
        report = make_report(store)
    assert pair.id != widest.id
    cards = [each.key for each in blocks_of(section_of(report, "results"), "PairCard")]
    assert f"pair-{pair.id}" in cards
    # the summary leads to the page of the pair, not to that of its section's beginning
    place, places = said_of(report, Question.EXAMPLE).place, Preview(report).places()
    assert place == f"results/pair-{pair.id}"
    section = places["results"]
    assert places[place] >= section
    summary = read(report).pages[places["summary"] - 1]
    assert f"page {places[place]}" in summary.extract_text()
    assert f"finding {pair.id}" in said_of(report, Question.EXAMPLE).sentence.lower() or (
        f"pair number {pair.id}" in said_of(report, Question.EXAMPLE).sentence.lower()
    )
    every = [
        block.key
        for section in report.sections
        for block in section.blocks
        if isinstance(block, PairCard)
    ]
    assert len({each.rpartition("/")[2] for each in every}) == len(every) == SHOWN
    assert section_of(report, APPENDIX)


def test_numbers_of_its_pair_are_in_bands_where_those_of_all_pairs_are(tmp_path):
    with people_store(tmp_path, ("age",)) as store:
        run_into(store, "uniform", options={"samples": 300}, weights=AGES)
        report = make_report(store, Choice(redaction="bands"))
        plain = make_report(store)
    for made in (plain, report):
        said = said_of(made, Question.EXAMPLE)
        card = blocks_of(section_of(made, "results"), "PairCard")[0]
        (age,) = (row for row in card.rows if row.name == "age")
        assert said.number.startswith(f"As {age.first}: ")
        assert f". As {age.second}: " in said.number
        assert age.first in said.sentence
        assert age.second in said.sentence
    told = [said_of(made, Question.EXAMPLE) for made in (plain, report)]
    ages = [re.fullmatch(r"As (.+?): \w+\. As (.+?): \w+\.", made.number).groups() for made in told]
    assert all(age.isdigit() for age in ages[0])
    assert not any(age.isdigit() for age in ages[1])


def test_a_group_of_a_few_people_is_not_told_of_in_a_redacted_summary(tmp_path):
    path = write_people(tmp_path / "credit.csv")
    lines = path.read_text().splitlines()
    # two in a hundred: so many are compared, and so few may not be told of
    for i in range(1, 5):
        age, sex, _, *rest, _ = lines[i].split(",")
        lines[i] = ",".join((age, sex, "diver", *rest, "no"))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(path)
    spec = spec_of(table, "credit", "yes", ("job",))
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        plain = said_of(make_report(store), Question.GROUPS)
        redacted = make_report(store, Choice(redaction="synthetic"))
    assert "diver" in plain.sentence
    told = said_of(redacted, Question.GROUPS)
    assert "diver" not in told.sentence
    assert "(n = 4)" not in msgspec.json.encode(answers_of(redacted)).decode()


@pytest.mark.parametrize("redaction", ["synthetic", "bands"])
def test_a_pair_that_may_not_be_shown_leaves_its_place_to_another(tmp_path, redaction):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, options={"global_num": 60, "local_num": 20}, weights=UNFAIR)
        shown = make_report(store, Choice(redaction=redaction))
        hidden = {pair.id for pair in store.each_pair(PairQuery())} - {
            int(each.key.rpartition("-")[2])
            for section in make_report(store, Choice(redaction=redaction)).sections
            for each in section.blocks
            if isinstance(each, PairCard)
        }
        # the auditor flags one that is a row of the data
        real = {tuple(row) for row in store.spec.domain.encode(store.table()).tolist()}
        (flagged, *_) = (
            pair for pair in store.each_pair(PairQuery()) if tuple(pair.row.tolist()) in real
        )
        store.mark(flagged.id, "flagged")
        report = make_report(store, Choice(redaction=redaction))
    assert flagged.id in hidden
    assert said_of(shown, Question.EXAMPLE).number.startswith("As ")
    assert said_of(report, Question.EXAMPLE).number.startswith("As ")
    assert f"finding {flagged.id})" not in said_of(report, Question.EXAMPLE).sentence


def test_a_share_of_the_dropped_section_leads_nowhere(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run = store.begin_run(RunSpec("estimate"))
        store.measure(run, (ESTIMATED,))
        store.end_run(run, "done")
        measured(store, "themis-groups", (GAP,))
        report = make_report(store, Choice(left_out=("results",)))
    places = {each.key for each in report.sections}
    assert said_of(report, Question.SHARE).place not in places
    assert said_of(report, Question.SUBGROUPS).place in places
