"""What is told of a run in a few words, beside its name."""

import msgspec
import pytest

from fairdesk.answers import all_off
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.gui.workspace.common import run_page
from fairdesk.repeatability import Repeatability
from fairdesk.wording import mitigation as mitigation_words
from tests.report import building, repairs


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (repairs.FIGURES, "2.15 % → 1.01 %"),
        (repairs.RULE_FIGURES, "20.20 → 10.10 percentage points"),
        (repairs.HELPLESS_FIGURES, ""),
        (repairs.HARMFUL_FIGURES, ""),
        ((), ""),
    ],
)
def test_what_fell_is_told_of_shares_and_of_rule_sets(figures, told):
    assert mitigation_words.fall(figures).replace("\u00a0", " ") == told


def test_a_model_that_wavers_is_estimated_with_repeats_and_told_off_once(tmp_path):
    with building.people_store(tmp_path) as store:
        asked = store.spec

    def found(**about):
        wavers = Repeatability(60, changed=60, decisions=22, largest=0.4, **about)
        model = msgspec.structs.replace(asked.model, repeatability=wavers)
        return msgspec.structs.replace(asked, model=model)

    assert run_page.estimates(asked) == "estimate"
    assert run_page.estimates(found()) == "repeats"
    (reason,) = all_off(found(), QuestionKind.EXAMPLES)
    assert (
        reason
        == "Not available: the same row does not always receive the same output from the model."
    )
    assert all_off(found(), QuestionKind.SHARE) == ()
    (reason,) = all_off(found(batch=True), QuestionKind.SHARE)
    assert "output for a row depends on" in reason
