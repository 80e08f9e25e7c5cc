"""Texts of charts in scripts that their font lacks are set as text, at their places."""

import pytest

from fairdesk.charts.kinds.bars import Counts
from fairdesk.report.document import drawn as on_page
from fairdesk.report.render.pdf import Letters, parted
from tests.report.pages_building import SCRIPTS


def drawn(name):
    return on_page(Counts("", "people", [(name, 1)], 2)).svg


@pytest.mark.parametrize("script", ["Latin", "Greek", "Cyrillic"])
def test_what_the_font_has_stays_in_the_drawing(script):
    svg = drawn(SCRIPTS[script])
    assert parted(svg) == (svg, ())


@pytest.mark.parametrize("script", ["Arabic", "Tamil", "Japanese", "Korean", "Emoji"])
def test_what_it_lacks_is_taken_out(script):
    rest, letters = parted(drawn(f"{SCRIPTS[script]} & <b>"))
    (name,) = letters
    assert name.text == f"{SCRIPTS[script]} & <b>"
    assert "1 (50.0" in rest
    plain = drawn("")
    assert rest.count("<text") == plain.count("<text") - 1
    assert rest.count("<rect") == plain.count("<rect")


def test_place_colour_and_weight_are_kept():
    drawn_as = 'x="3.5" y="12" fill="#123456" text-anchor="end" font-weight="bold"'
    svg = f"<svg><text {drawn_as}>性</text></svg>"
    assert parted(svg) == ("<svg></svg>", (Letters(3.5, 12.0, "性", "end", "#123456", "bold"),))
