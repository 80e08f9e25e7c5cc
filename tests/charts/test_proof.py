"""What is proven, in bars: the same words in the window and in the report."""

from fractions import Fraction

from fairdesk.charts.kinds.proof import Guess, Space, Spaces
from fairdesk.report.document import drawn
from tests import phrases
from tests.charts.reading import PAPER, texts

GUESS = Guess(0.41, 0.38, 0.44, 0.95)
GUESSED = f"estimated, not proven: {phrases.DECISION_CHANGES_FOR} 41.0 % (38.0 to 44.0)"
PART = Space("Applicants", Fraction("0.8993"), Fraction("0.0312"), exact=False, guess=GUESS)


def plain(text):
    return text.replace("\u00a0", " ")


def test_bars_say_what_is_certified_falsified_undecided_and_only_estimated():
    shares = [
        *(
            f"at least 89.93 % {phrases.PROVEN_UNCHANGED}",
            f"at least 3.12 % {phrases.PROVEN_TO_CHANGE}",
        ),
        "at most 6.95 % undecided",
    ]
    guess = f"{GUESSED} of the undecided share"
    spaces = Spaces((PART,))
    assert {"Applicants", "unchanged", *shares, guess} <= set(texts(spaces.lay_out(PAPER)))
    told = f"Applicants: {', '.join((*shares, guess))}"
    assert plain(spaces.alt()) == f"Bars of the certified, falsified and undecided shares. {told}."
    assert all(f"Applicants: {share}" in plain(spaces.summary()) for share in shares)
    assert [row[1] for row in spaces.table()[1]] == [
        *(phrases.PROVEN_UNCHANGED, phrases.PROVEN_TO_CHANGE, "undecided"),
        "of the undecided share: falsified",
    ]
    assert shares[0] in plain(drawn(spaces).svg)


def test_what_is_proven_is_never_rounded_up():
    space = Space("", Fraction("0.999999"), Fraction("0.000001"), exact=False)
    said = plain(Spaces((space,)).alt())
    assert said.endswith(
        f"at least 99.99990 % {phrases.PROVEN_UNCHANGED}, at least 0.00010 % "
        f"{phrases.PROVEN_TO_CHANGE}."
    )
    assert "estimated" not in said


def test_of_those_of_whom_nothing_is_proven_all_is_estimated():
    space = Space("", Fraction(0), Fraction(0), exact=False, guess=GUESS)
    assert plain(space.guessed()) == GUESSED
    assert plain(space.text(*next(space.parts()))) == "100 % undecided"


def test_what_is_proven_of_very_few_is_not_nought():
    space = Space("", Fraction("0.6"), Fraction(1, 10**9), exact=False)
    said = plain(Spaces((space,)).alt())
    assert f"at least 60.00 % {phrases.PROVEN_UNCHANGED}, > 0 % {phrases.PROVEN_TO_CHANGE}" in said
