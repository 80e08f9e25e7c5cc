"""The section of pairs: how many stand where, of which runs, and which are individuals."""

import numpy as np

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import Choice, PairQuery
from fairdesk.report.content.choosing import APPENDIX
from fairdesk.report.content.material import SHOWN, by_turns
from fairdesk.report.document import make_report
from fairdesk.results.events import Found
from tests import phrases
from tests.report.building import people_store, run_into
from tests.report.reading import blocks_of, section_of, words_of
from tests.report.test_document import UNFAIR


def test_the_pairs_of_each_run_are_counted_and_where_they_are_shown_is_said(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        for seed in (1, 2):
            run_into(store, "uniform", seed=seed, options={"samples": 200}, weights=UNFAIR)
        runs = store.runs()
        text = words_of(make_report(store))
        without = words_of(make_report(store, Choice(left_out=(APPENDIX,))))
    total = sum(run.found for run in runs)
    assert f"{SHOWN} pairs are printed, 2 here and {SHOWN - 2} in “Appendix: details”" in text
    assert f"Runs 1 and 2 together found {total:,} pairs." in text
    assert f"2 here; the appendix with the other {SHOWN - 2} is omitted" in without


def test_a_pair_that_starts_from_a_data_row_says_so(tmp_path):
    with people_store(tmp_path) as store:
        domain = store.spec.domain
        row = domain.people(store.table())[:1]
        sex, age = (domain.names.index(each) for each in ("sex", "age"))
        partner = row.copy()
        partner[:, sex] = 1 - row[:, sex]
        rows, partners = np.repeat(row, 2, axis=0), np.repeat(partner, 2, axis=0)
        # the second is nobody in the data
        rows[1, age] = partners[1, age] = domain.attributes[age].high
        scores = np.array([[0.1], [0.1]])
        number = store.begin_run(RunSpec("estimate"))
        store.add(
            number, Found(rows, partners, scores, 1 - scores, np.ones((2, 1), bool), "random")
        )
        store.end_run(number, "done")
        cards = blocks_of(section_of(make_report(store), "results"), "PairCard")
    heads = {card.key: (card.first, card.second) for card in cards}
    assert heads["pair-1"] == ("Applicant in the data", "Counterfactual")
    assert heads["pair-2"] == ("Instance", "Counterfactual")
    far = {card.key: phrases.NOT_A_ROW in card.detail for card in cards}
    assert far == {"pair-1": False, "pair-2": True}


def test_pairs_of_each_attribute_come_by_turns(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, "uniform", options={"samples": 300}, weights=UNFAIR)
        domain, found = store.spec.domain, list(store.each_pair(PairQuery()))
    protected = domain.protected.tolist()

    def changed(pair):
        return tuple(i for i in protected if pair.row[i] != pair.partner[i])

    kinds = {changed(pair) for pair in found}
    assert len(kinds) > 1
    turned = by_turns(sorted(found, key=changed), domain)
    assert {changed(pair) for pair in turned[: len(kinds)]} == kinds
    assert sorted(pair.id for pair in turned) == sorted(pair.id for pair in found)
