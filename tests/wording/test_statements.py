"""Statements in parts: evidence, label, value and a sentence that can be read without them."""

import msgspec
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.document.blocks import stated
from fairdesk.wording import figures
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from tests import phrases
from tests.report import repairs
from tests.report.building import spec_of, write_people
from tests.wording.test_figures import DOMAIN, EXACT, PROVEN, SHARE, plain

ALIKE = {"certified_people": "624", "falsified_people": "0"}
NONE = {"hits": 0, "estimate": 0.0, "low": 0.0, "high": 3.71e-5}
UNCHANGED = "Certified share: decision unchanged"
DRAWN = msgspec.structs.replace(PROVEN.estimated, discriminatory=0, low=0.0, high=0.00302)


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


def share(**changes):
    return lambda spec: figures.share_statement(spec, msgspec.structs.replace(SHARE, **changes))


def proof(of=PROVEN, **changes):
    return lambda _: proof_words.proven_statement(msgspec.structs.replace(of, **changes))


def rest(**changes):
    return lambda _: proof_words.remainder_statement(msgspec.structs.replace(PROVEN, **changes))


def mitigated(measured):
    return lambda spec: mitigation_words.headline(spec, measured)


@pytest.mark.parametrize(
    ("made", "evidence", "label", "value"),
    [
        (share(), "estimated", DOMAIN, "3.80 %"),
        (share(**NONE), "estimated", DOMAIN, "At most 0.0038 %"),
        (share(exhaustive=True), "proven", DOMAIN, "3.80 %"),
        (
            share(whom="data", exhaustive=True),
            *("observed", "Applicants whose decision changes", "3.8 %"),
        ),
        (share(n_samples=0, hits=0), "", "", ""),
        (proof(), "proven", UNCHANGED, "At least 89.93 %"),
        (proof(certified=0.0), "proven", phrases.FALSIFIED_SHARE, "At least 6.90 %"),
        (proof(certified=0.0, falsified=0.0), "", "", ""),
        (proof(EXACT, **ALIKE), "proven", phrases.CERTIFIED_COMBINATIONS, "All 624"),
        (rest(), "estimated", "Estimated in the undecided part", "41.0 %"),
        (
            rest(estimated=DRAWN),
            *("estimated", "Estimated in the undecided part", "At most 0.31 %"),
        ),
        (
            mitigated(repairs.FIGURES),
            *("observed", None, "1.01 %"),
        ),
        (mitigated(repairs.HELPLESS_FIGURES), "observed", "", ""),
        (mitigated(repairs.ROWS_ONLY_FIGURES), "", "Augmentation rows", "2,610"),
    ],
)
def test_the_report_sets_label_and_value_and_the_sentence_whole(spec, made, evidence, label, value):
    said = made(spec)
    assert (said.evidence, plain(said.value)) == (evidence, value)
    # the label of a mitigation is in the test of its sentences
    assert label in (None, said.label)
    # the sentence tells the value itself, and ends
    within = said.value[:1].lower() + said.value[1:]
    assert said.value in said.sentence or within in said.sentence
    assert said.sentence[0].isupper() or said.sentence[0].isdigit()
    assert said.sentence.endswith(".")
    block = stated(said, ("More.", ""), place="results")
    assert (block.number, block.sentence) == (said.value, said.sentence)
    assert (block.evidence, block.label) == (said.evidence, said.label)
    assert block.details == ("More.",)


def test_what_is_estimated_of_the_undecided_part_tells_from_how_many():
    said = plain(proof_words.remainder_statement(PROVEN).sentence)
    assert said == (
        f"{phrases.CHANGES_FOR} an estimated 41.0 % (95 % CI 38.0 to 44.0 %) of the undecided "
        f"3.17 %: estimated from 1,000 {phrases.DRAWN_AT_RANDOM} from regions that are not fully "
        "decided. Statistical, not certified."
    )
    whole = {"certified": 0.0, "falsified": 0.0, "undecided": 1.0, "estimated": DRAWN}
    none = proof_words.remainder_statement(msgspec.structs.replace(PROVEN, **whole))
    said = plain(none.sentence)
    assert said.startswith(
        f"{phrases.CHANGES_FOR} at most 0.31 % (95 % confidence) of the input domain: "
        "estimated from 1,000 "
    )
    for none in (None, msgspec.structs.replace(DRAWN, n_samples=0)):
        proven = msgspec.structs.replace(PROVEN, estimated=none)
        assert proof_words.remainder_statement(proven) is None


def test_more_sentences_follow_and_empty_ones_are_no_gap():
    said = proof_words.proven_statement(PROVEN)
    more = said.with_more("", "First.", "", "Second.")
    assert more.sentence == f"{said.sentence} First. Second."
    assert msgspec.structs.replace(more, sentence=said.sentence) == said
