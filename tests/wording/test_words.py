"""The sentences of a search: right plurals, and never a rate."""

import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.wording import words
from tests import phrases
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
        "1,305 discriminatory pairs found: the decision changes when only sex changes. "
        f"{phrases.NO_RATE}."
    )


def test_headline_of_one_finding(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(1, 9)).sentence
    assert said == (
        "1 discriminatory pair found: the decision changes when only sex changes. An "
        "example, not a rate."
    )


@pytest.mark.parametrize(
    ("protected", "when"),
    [
        (("sex", "job"), "when only sex, job or both change"),
        (("age", "sex", "job"), "when only age, sex or job change, alone or together"),
    ],
)
def test_headline_of_several_protected_attributes(tmp_path, protected, when):
    with people_store(tmp_path, protected, person="person") as store:
        said = words.headline(
            store.spec, state(2, 9, sufficient_alone=(1,) * len(protected))
        ).sentence
    assert said.startswith(f"2 discriminatory pairs found: the decision changes {when}.")


def test_headline_of_nothing_tells_how_much_was_tried(tmp_path):
    with people_store(tmp_path) as store:
        said = words.headline(store.spec, state(0, 12_000, queries=24_000))
        one = words.headline(store.spec, state(0, 1, queries=1)).sentence
        unknown = words.headline(store.spec, state(0, 0))
    assert said.sentence == (
        f"{phrases.NO_PAIR_FOUND} 12,000 instances tested (24,000 queries): for none of "
        f"them does the decision change when only sex changes. {phrases.NOTHING_FOUND}."
    )
    assert (said.evidence, said.label, said.value) == ("", "Discriminatory pairs", "0")
    assert "among 1 instance tested (1 query): its decision does not change when" in one
    # nothing is counted where nothing was tested
    assert (unknown.label, unknown.value) == ("", "")
    assert unknown.sentence == "No instances were tested."


def test_headline_while_running_promises_nothing(tmp_path):
    with people_store(tmp_path) as store:
        one, some = (
            words.headline(store.spec, state(0, tried, "running")).sentence for tried in (1, 2)
        )
    assert one == (
        "No discriminatory pair found so far among 1 instance tested: its decision does not "
        "change when only sex changes."
    )
    assert some == (
        "No discriminatory pair found so far among 2 instances tested: for none of them does the "
        "decision change when only sex changes."
    )


def test_headline_of_stopped_and_failed_runs_says_so(tmp_path):
    with people_store(tmp_path) as store:
        stopped = words.headline(store.spec, state(3, 9, "stopped", elapsed=41)).sentence
        failed = words.headline(
            store.spec, state(0, 9, "failed", elapsed=2, message="The model’s process ended.")
        ).sentence
    assert f" {phrases.STOPPED} after 41 s; " in plain(stopped)
    assert " Failed after 2.0 s; " in plain(failed)
    assert failed.endswith("kept. The model’s process ended.")


def test_alone_sentences_only_with_several_attributes(tmp_path):
    with people_store(tmp_path) as store:
        assert words.alone_sentences(store.spec, state(5, 9, sufficient_alone=(5,))) == ()


def test_alone_sentences(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        said = words.alone_sentences(store.spec, state(8, 9, sufficient_alone=(6, 1)))
        only, _ = words.alone_sentences(store.spec, state(1, 9, sufficient_alone=(1, 0)))
    assert [plain(one) for one in said] == [
        "Changing sex alone is enough for 6 of the 8 pairs (75.0 %).",
        "Changing job alone is enough for 1 of the 8 pairs (12.5 %).",
    ]
    assert plain(only) == "Changing sex alone is enough for 1 of 1 pair (100.0 %)."


def test_what_a_run_spent_is_counted_in_the_singular_too():
    spent = state(0, 1, queries=1, elapsed=2)
    assert plain(words.effort(spent)) == "1 instance tested, 1 query, 2.0 s"
    spent = state(0, 1_200, queries=2_400, elapsed=2)
    assert plain(words.effort(spent)) == "1,200 instances tested, 2,400 queries, 2.0 s"


def test_names_that_are_no_words_are_quoted():
    assert words.listed(["sex", "marital_status", "home town"]) == (
        "sex, marital_status and “home town”"
    )


def test_a_large_number_is_never_a_power_of_ten():
    assert words.short(1_490_400.0) == "1,490,400"
    assert words.short(52_310.0, 4) == "52,310"
    assert words.short(0.0210526, 4) == "0.02105"
    assert words.short(-12.5) == "−12.5"


def test_a_difference_says_when_rounding_hides_how_it_came():
    assert words.digits_apart(0.6797, 0.9193) == 2
    assert words.digits_apart(0.207, 0.831) == 1


def test_a_long_text_is_cut_to_a_cell_on_one_line():
    assert words.shortened("a\n b") == "a b"
    cut = words.shortened("word " * 50, 20)
    assert len(cut) <= 20
    assert cut.endswith("…")
