"""The answers to an audit's questions in reports: however much was run, without what is hidden."""

import re

import msgspec
import pytest

from fairdesk.answers import Question
from fairdesk.audit.store.records import Choice, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.document.blocks import PairCard
from fairdesk.report.document import make_report, summarised
from tests.document.test_proofs import DOMAIN, PEOPLE
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of, whole_section
from tests.report.test_document import ESTIMATED, IN_DATA
from tests.report.test_group_sections import measured

UNFAIR = [[1], [2], [1], [1], [1]]
AGES = [[3], [1], [1], [1], [1]]


def statements_of(store):
    """Return the statements of the kind of report that prints them."""
    return blocks_of(section_of(make_report(store, Choice("annex-iv")), "annex-2"), "Statement")


def said_of(store, question, choice=None):
    kept = store.choice()
    store.write_choice(choice or kept)
    (found,) = (e for e in summarised(store).answers if e.question is question)
    store.write_choice(kept)
    return found.said


def test_an_answer_names_its_run_and_the_others_that_answer_the_same(tmp_path):
    better = msgspec.structs.replace(ESTIMATED, n_samples=20_000, hits=616)
    with people_store(tmp_path, ("sex", "job")) as store:
        for share in (ESTIMATED, better, ESTIMATED):
            measured(store, "estimate", (share,))
        (said,) = (each for each in statements_of(store) if each.label.startswith("Share of"))
        source = said.details[-1]
    assert "20,000" in said.sentence
    assert source.endswith("run 2; also runs 1 and 3.")


def test_a_count_of_all_rows_is_not_called_a_sample(tmp_path):
    counted = msgspec.structs.replace(IN_DATA, exhaustive=True)
    with people_store(tmp_path, ("sex", "job")) as store:
        measured(store, "estimate", (ESTIMATED, counted))
        details = [each.details[-1] for each in statements_of(store) if each.details]
    assert any(each.endswith("Source: count of all rows, run 1.") for each in details)


def test_a_share_of_people_and_one_proven_of_a_population_are_set_side_by_side(tmp_path):
    counted = msgspec.structs.replace(IN_DATA, exhaustive=True)
    with people_store(tmp_path, ("sex", "job")) as store:
        measured(store, "estimate", (ESTIMATED, counted))
        measured(store, "certify", (DOMAIN, PEOPLE))
        grids = blocks_of(whole_section(make_report(store), "results"), "Grid")
    (shares,) = (each for each in grids if each.key.endswith("shares"))
    described = [row[-1] for row in shares.rows]
    assert [each.split()[0] for each in described] == ["Real", "Simulated", "Combinations"]
    assert shares.rows[1][1].replace("\u00a0", " ") == "at least 2.11 % (proven)"


def test_numbers_of_its_pair_are_in_bands_where_those_of_all_pairs_are(tmp_path):
    with people_store(tmp_path, ("age",)) as store:
        run_into(store, "uniform", options={"samples": 300}, weights=AGES)
        choices = (Choice(), Choice(redaction="bands"))
        told = [said_of(store, Question.EXAMPLE, each) for each in choices]
        reports = [make_report(store, each) for each in choices]
    for made, said in zip(reports, told, strict=True):
        card = blocks_of(section_of(made, "results"), "PairCard")[0]
        (age,) = (row for row in card.rows if row.name == "age")
        assert said.value.startswith(f"As {age.first}: ")
        assert f". As {age.second}: " in said.value
        assert age.first in said.sentence
        assert age.second in said.sentence
    ages = [re.fullmatch(r"As (.+?): \w+\. As (.+?): \w+\.", made.value).groups() for made in told]
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
        plain = said_of(store, Question.GROUPS)
        redacted = Choice(redaction="synthetic")
        told, board = said_of(store, Question.GROUPS, redacted), make_report(store, redacted).board
        assert "diver" in str(make_report(store).board)
    assert "diver" in plain.sentence
    assert "diver" not in told.sentence
    assert "(n = 4)" not in told.sentence
    assert "diver" not in str(board)


@pytest.mark.parametrize("redaction", ["synthetic", "bands"])
def test_a_pair_that_may_not_be_shown_leaves_its_place_to_another(tmp_path, redaction):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, options={"global_num": 60, "local_num": 20}, weights=UNFAIR)
        choice = Choice(redaction=redaction)
        shown = said_of(store, Question.EXAMPLE, choice)
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
        said = said_of(store, Question.EXAMPLE, choice)
    assert flagged.id in hidden
    assert shown.value.startswith("As ")
    assert said.value.startswith("As ")
    assert f"number {flagged.id};" not in said.sentence
