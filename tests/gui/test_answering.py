"""What is told of a run in a few words, beside its name."""

from types import SimpleNamespace

import pytest

from fairdesk.gui.workspace import answering
from tests.report import repairs


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (repairs.FIGURES, "4.02 % → 1.84 %"),
        (repairs.RULE_FIGURES, "20.5 → 10.10 points"),
        (repairs.HELPLESS_FIGURES, ""),
        ((), ""),
    ],
)
def test_what_fell_is_told_of_shares_and_of_rule_sets(figures, told):
    run = SimpleNamespace(figures=figures)
    assert answering.fall(run).replace("\u00a0", " ") == told
