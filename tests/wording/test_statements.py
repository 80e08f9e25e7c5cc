"""Statements in parts: the value is known by itself, and never looked for in the sentence."""

import msgspec
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.report.blocks import stated
from fairdesk.wording import figures, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.language import say, using
from tests.report import repairs
from tests.report.building import spec_of, write_people
from tests.wording.test_figures import PROVEN, SHARE, plain

RARE = {"exhaustive": True, "people": 10_000_000, "hits": 1, "low": 1e-7, "high": 1e-7}
EVERYBODY = {"total": "4096", "certified_people": "4096", "falsified_people": "0"}
ALIKE = {**EVERYBODY, "exact": True, "certified": 1.0, "falsified": 0.0, "undecided": 0.0}


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


def share(**changes):
    return lambda spec: figures.share_statement(spec, msgspec.structs.replace(SHARE, **changes))


def proof(**changes):
    return lambda spec: proof_words.proven_statement(
        spec, msgspec.structs.replace(PROVEN, **changes)
    )


@pytest.mark.parametrize(
    ("made", "evidence", "value", "rest"),
    [
        (share(), "estimated", "3.80 %", "(3.68 to 3.92 %, 95 %) of all"),
        # a value of several words is one value
        (share(**RARE), "proven", "below 0.01 %", "of all possible applicants (1 of 10,000,000)"),
        (share(whom="data", exhaustive=True), "observed", "3.80 %", "of the applicants in the"),
        (share(people=0, hits=0), "", "", "Nobody was asked about"),
        (proof(), "proven", "At least 89.93 %", "of all possible applicants are treated alike"),
        (proof(certified=0.0), "proven", "At least 6.90 %", "of all possible applicants are not"),
        (proof(**ALIKE), "proven", "All 4,096", "possible applicants are treated alike"),
        (
            lambda spec: proof_words.remainder_statement(spec, PROVEN),
            *("estimated", "41.0 %", "(38.0 to 44.0 %, 95 %) of the remaining 3.17 % are"),
        ),
        (
            lambda spec: mitigation_words.headline(spec, repairs.FIGURES),
            *("estimated", "54 % less", "(50 to 58): adding 529 labelled rows"),
        ),
        (
            lambda spec: mitigation_words.headline(spec, repairs.HELPLESS_FIGURES),
            *("estimated", "", "Nothing was shown to help"),
        ),
    ],
)
def test_the_report_sets_the_value_and_goes_on_from_it(spec, made, evidence, value, rest):
    said = made(spec)
    block = stated(said, ("More.", ""), place="results")
    assert (block.evidence, plain(block.number)) == (evidence, value)
    assert plain(block.sentence).startswith(rest)
    assert f"{block.number} {block.sentence}".strip() == said.sentence
    assert bool(block.label) == bool(value)
    assert block.details == ("More.",)


def test_a_translation_that_does_not_begin_with_the_value_is_set_whole(spec, monkeypatch):
    english = figures.share_statement(spec, SHARE)
    monkeypatch.setattr(
        figures, "say", lambda message, **values: f"Es sind {say(message, **values)}"
    )
    with using("de"):
        said = figures.share_statement(spec, SHARE)
    assert plain(said.value) == "3,80 %"
    assert said.rest == said.sentence
    assert said.sentence.startswith("Es sind 3,80")
    assert english.rest == english.sentence[len(english.value) + 1 :]
    assert words.NBSP in english.value
