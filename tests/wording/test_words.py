"""The sentences: numbers first, right plurals, and never a rate."""

import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.wording import words
from tests.report.building import people_store


def plain(text):
    return text.replace("\u00a0", " ")


def state(found=0, tried=0, state="done", **more):
    return RunState(1, "maft", state, found=found, tried=tried, **more)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("applicant", "applicants"),
        ("person", "people"),
        ("Person", "People"),
        ("salesperson", "salespeople"),
        ("child", "children"),
        ("woman", "women"),
        ("chairman", "chairmen"),
        ("human", "humans"),
        ("German", "Germans"),
        ("company", "companies"),
        ("boy", "boys"),
        ("bus", "buses"),
        ("branch", "branches"),
        ("loan applicant", "loan applicants"),
        ("member of staff", "members of staff"),
    ],
)
def test_plurals(one, many):
    assert words.plural(one) == many


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.05, "0.05 s"),
        (1.66, "1.7 s"),
        (9.97, "10 s"),
        (59.6, "1 min"),
        (185, "3 min 5 s"),
        (3600, "1 h"),
        (4330, "1 h 12 min"),
        (86400 * 50, "1,200 h"),
    ],
)
def test_durations(seconds, text):
    assert plain(words.duration(seconds)) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (1, 8, "12.5 %"),
        (0, 8, "0.0 %"),
        (8, 8, "100.0 %"),
        (1, 100_000, "below 0.1 %"),
        (99_999, 100_000, "above 99.9 %"),
        (0, 0, "–"),
    ],
)
def test_shares_never_round_to_none_or_all(part, whole, text):
    assert plain(words.percent(part, whole)) == text


def test_numbers_have_commas():
    assert words.number(1305) == "1,305"
    assert words.number(31.26, 1) == "31.3"
    assert words.counted(1, "applicant") == "1 applicant"
    assert words.counted(1305, "applicant") == "1,305 applicants"


def test_headline_of_one_protected_attribute(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(1305, 12_000)).sentence
    assert said == (
        "1,305 invented applicants get another decision when only sex changes. "
        "Examples, not a rate."
    )


def test_headline_of_one_finding(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(1, 9)).sentence
    assert said == (
        "1 invented applicant gets another decision when only sex changes. An example, not a rate."
    )


@pytest.mark.parametrize(
    ("protected", "when"),
    [
        (("sex", "job"), "when only sex or job or both change"),
        (("age", "sex", "job"), "when only age, sex or job change, alone or together"),
    ],
)
def test_headline_of_several_protected_attributes(tmp_path, protected, when):
    with people_store(tmp_path, protected, person="person") as store:
        said = words.headline(store.spec, state(2, 9, alone=(1,) * len(protected))).sentence
    assert said.startswith(f"2 invented people get another decision {when}.")


def test_headline_of_nothing_tells_how_much_was_tried(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(0, 12_000, queries=24_000)).sentence
        unknown = words.headline(store.spec, state(0, 0)).sentence
    assert "0 found: of 12,000 invented applicants tried (24,000 rows" in said
    assert said.endswith("That is no proof that nobody does.")
    assert unknown == "0 found: nobody was tried."


def test_headline_while_running_promises_nothing(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(0, 1, "running")).sentence
    assert said == (
        "0 found so far among 1 invented applicant: none gets another decision "
        "when only sex changes."
    )


def test_headline_of_stopped_and_failed_runs_says_so(tmp_path):
    with people_store(tmp_path) as store:
        stopped = words.headline(store.spec, state(3, 9, "stopped", elapsed=41)).sentence
        failed = words.headline(
            store.spec, state(0, 9, "failed", elapsed=2, message="The model’s process ended.")
        ).sentence
    assert plain(stopped).endswith(
        "Stopped by the auditor after 41 s; what was found until then is kept."
    )
    assert plain(failed).endswith("is kept. The model’s process ended.")


def test_alone_sentences_only_with_several_attributes(tmp_path):
    with people_store(tmp_path) as store:
        assert words.alone_sentences(store.spec, state(5, 9, alone=(5,))) == ()


def test_alone_sentences(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        said = words.alone_sentences(store.spec, state(8, 9, alone=(6, 1)))
    assert [plain(one) for one in said] == [
        "6 of the 8 (75.0 %) get another decision when sex alone changes.",
        "1 of the 8 (12.5 %) gets another decision when job alone changes.",
    ]


def test_names_that_are_no_words_are_quoted():
    assert words.listed(["sex", "marital_status", "home town"]) == (
        "sex, marital_status and “home town”"
    )
