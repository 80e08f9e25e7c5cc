"""Sentences with values and counts, and moments."""

from datetime import UTC, datetime

from fairdesk.wording.language import date_text, moment_text, month_text, say, say_many

WHEN = datetime(2026, 11, 21, 1, 32, tzinfo=UTC)


def test_moments_are_written_with_the_month_in_letters():
    assert month_text(WHEN) == "November 2026"
    assert date_text(WHEN) == "21 November 2026"
    assert moment_text(WHEN) == "21 November 2026, 01:32 UTC"


def test_a_sentence_without_values_is_not_filled_in():
    assert say("{n} of {people}", n="3", people="5") == "3 of 5"
    assert say("as in {this}") == "as in {this}"
    assert say_many(1, "{n} {what}[|s] [is|are] [a|b]", what="pair[x|y]") == "1 pair[x|y] is a"
    assert say_many(1200, "{n} {what}[|s] [is|are]", what="pair") == "1,200 pairs are"
