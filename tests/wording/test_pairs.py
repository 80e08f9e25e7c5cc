"""The share of plausible pairs is said beside that of data rows and of uniform instances."""

import pytest

from fairdesk.audit.runs.plausibility import PlausibleShare
from fairdesk.audit.store.pair import MinimalPair
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.wording.pairs import (
    held_out_sentence,
    naturalness_sentence,
    plausible_in_short,
    plausible_pairs,
    plausible_text,
)


def share(uniform=0.002, by_distance=False, compared=26_221, plausible=1_240):
    return PlausibleShare(
        *(plausible, compared, 460, min(500, compared), 0.853, 0.981, 125, 0.864),
        Reference(0.926, uniform, by_distance),
    )


def test_it_is_said_beside_what_it_is_held_against():
    said = plausible_pairs(share())
    assert (said.evidence, said.value) == ("example", "4.7\u00a0%")
    assert "of 26,221 compared pairs look realistic" in said.sentence
    shown_apart = naturalness_sentence(share())
    for figure in ("85.3", "98.1", "86.4"):
        assert figure in shown_apart
        assert figure not in said.sentence
    for figure in ("1,240", "26,221", "4.7"):
        assert figure in said.sentence
    held_out = held_out_sentence(share().reference)
    for figure in ("92.6", "0.2\u00a0%"):
        assert figure in held_out
        assert figure not in said.sentence
    assert "as ordinary as 95\u00a0% of data rows." in said.sentence
    # in a line people count: what they are compared with is for experts
    assert plausible_in_short(share()) == "Plausible: 1,240 of 26,221 compared pairs."
    # of a search that keeps plausible ones only, two equal numbers would look like a result
    assert plausible_in_short(share(plausible=26_221)) == "Plausible: all 26,221 compared pairs."


def test_where_less_is_known_less_is_said():
    said = plausible_pairs(share(uniform=None, by_distance=True, compared=1_300)).sentence
    assert "typical they are was not" in said
    assert "uniformly" not in held_out_sentence(share(uniform=None).reference)
    few = PlausibleShare(3, 4, 3, 4, 0.5, 0.9, 2, None, Reference(0.9, 0.0, False))
    assert "pairs shown first" not in plausible_pairs(few).sentence
    assert "data rows among" not in plausible_pairs(few).sentence


@pytest.mark.parametrize(
    ("plausible", "typicality", "partner", "said"),
    [
        (1, 0.4, 0.2, "as usual as data rows and as near"),
        (1, None, None, "are as near"),
        (0, 0.01, 0.2, "the instance is rarer"),
        (0, 0.4, 0.05, "its counterfactual is rarer"),
        (0, 0.0, 0.01, "the instance and its counterfactual are rarer"),
        (0, 0.4, 0.2, "farther from every data row"),
        (0, None, None, "farther from every data row"),
    ],
)
def test_a_pair_is_plausible_or_says_why_not(plausible, typicality, partner, said):
    row = (0.0, 1.0)
    pair = MinimalPair(row, row, 0, 1, 0.1, 0.9, plausible, 0.1, 0.2, typicality, partner, 3)
    assert said in plausible_text(pair)
