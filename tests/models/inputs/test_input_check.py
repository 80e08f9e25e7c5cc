import msgspec
import numpy as np
import pytest

from fairdesk.data.table import Kind
from fairdesk.errors import DataError, ModelError
from fairdesk.models.inputs.input_check import (
    InputCheck,
    SampleRow,
    attributes_for,
    check,
    settled,
    show,
)
from fairdesk.models.inputs.mapping.propose import propose
from tests import phrases
from tests.cards import card
from tests.models.matching import match
from tests.models.tables import names, number, table


class Rule:
    """A model of one matrix that computes any function of it."""

    def __init__(self, width, function, classes=("no", "yes"), *, takes_missing=True):
        self.function = function
        self.takes_missing = takes_missing
        self.card = card(width=width, classes=classes)

    def matrix_scores(self, matrix):
        if not self.takes_missing and np.isnan(matrix).any():
            raise ModelError("No missing cells, please.")
        scores = np.asarray(self.function(matrix), dtype=np.float32)
        return scores.reshape(len(matrix), -1)


def proof_of(model, rows, label="paid", favourable="yes"):
    mapping = match(model.card, rows, label, favourable)
    return check(model, rows, mapping, label, favourable)


ROWS = table(
    number("age", [20, 30, 40, 50, 60]),
    names("sex", ["m", "f", "f", "m", "f"]),
    names("paid", ["no", "no", "yes", "yes", "yes"]),
)


def test_counts_and_shares():
    proof = proof_of(Rule(2, lambda m: m[:, 0] / 100 + 0.15), ROWS)
    assert (proof.rows, proof.left_out) == (5, 0)
    # above 35 is decided "yes"
    assert proof.confusion == ((3, 0), (0, 2))
    assert (proof.accuracy, proof.majority, proof.auc) == (1.0, 0.6, 1.0)
    assert proof.warnings == ()
    first = proof.sample[0]
    assert (first.row, first.label, first.prediction) == (1, "no", "no")
    assert first.sent == (20.0, 1.0)
    assert first.score == pytest.approx(0.35)
    assert msgspec.json.decode(msgspec.json.encode(proof), type=InputCheck) == proof


def test_a_flipped_favourable_class_is_told_with_what_the_swap_would_give():
    proof = proof_of(Rule(2, lambda m: 0.85 - m[:, 0] / 100), ROWS)
    assert proof.confusion == ((0, 3), (2, 0))
    assert (proof.accuracy, proof.auc) == (0.0, 0.0)
    assert phrases.LESS_THAN_GUESSING in proof.warnings[0]
    assert "With “no” as the favourable decision, the accuracy would be 100.0%" in proof.warnings[1]


def test_the_score_of_the_first_class_is_what_is_left():
    rows = table(number("age", [20, 30]), names("paid", ["no", "yes"]))
    proof = proof_of(Rule(1, lambda m: m[:, 0] / 100), rows, favourable="no")
    assert [row.score for row in proof.sample] == pytest.approx([0.8, 0.7])
    assert [row.prediction for row in proof.sample] == ["no", "no"]


def test_always_the_same_decision_is_told():
    proof = proof_of(Rule(2, lambda m: np.zeros(len(m))), ROWS)
    assert "unfavourable on every row" in proof.warnings[0]
    assert proof.auc == 0.5


def test_rows_with_missing_cells_are_set_aside_only_where_the_model_refuses_them():
    rows = table(
        number("age", [20, np.nan, 40, 50]),
        names("paid", ["no", "no", "yes", None]),
    )
    lenient = proof_of(Rule(1, lambda m: np.nan_to_num(m[:, 0]) > 30), rows)
    assert (lenient.rows, lenient.left_out) == (3, 1)
    assert lenient.sample[1].sent == (None,)
    for refusing in (
        Rule(1, lambda m: m[:, 0] > 30, takes_missing=False),
        Rule(1, lambda m: m[:, 0] / 100 + 0.15),  # answers without a number
    ):
        strict = proof_of(refusing, rows)
        assert (strict.rows, strict.left_out, strict.accuracy) == (2, 2, 1.0)
        assert [row.row for row in strict.sample] == [1, 3]


def test_a_model_that_refuses_complete_rows_is_told():
    rows = table(number("age", [20, np.nan]), names("paid", ["no", "yes"]))
    with pytest.raises(ModelError, match="number for "):
        proof_of(Rule(1, lambda m: m[:, 0] * np.nan), rows)


def test_three_labels_and_three_classes():
    rows = table(number("x", [0, 1, 2, 2]), names("grade", ["a", "b", "c", "a"]))
    model = Rule(1, lambda m: m[:, :1] == np.arange(3), classes=("a", "b", "c"))
    proof = proof_of(model, rows, "grade", "a")
    assert proof.confusion == ((1, 1), (0, 2))
    assert "has 3 values" in proof.warnings[0]
    assert [row.prediction for row in proof.sample] == ["a", "b", "c", "c"]


def test_a_label_of_numbers_and_one_of_one_value():
    rows = table(number("x", [0, 1]), number("paid", [1, 1]))
    proof = proof_of(Rule(1, lambda m: m[:, 0]), rows, favourable="1.0")
    assert proof.auc is None
    assert "same recorded outcome" in proof.warnings[0]


@pytest.mark.parametrize("favourable", ["perhaps", "2"])
@pytest.mark.parametrize(
    "label", [names("paid", ["no", "yes"]), number("paid", [0, 1])], ids=["names", "numbers"]
)
def test_a_favourable_value_that_is_not_there_lists_those_that_are(label, favourable):
    rows = table(number("x", [0, 1]), label)
    with pytest.raises(DataError, match=f"no value “{favourable}”") as caught:
        proof_of(Rule(1, lambda m: m[:, 0]), rows, favourable=favourable)
    assert rows.columns[1].text(1) in caught.value.remedy


def test_an_ignored_column_is_told():
    rows = table(number("x", [0, 1]), names("paid", ["no", "yes"]))
    model = Rule(1, lambda m: m[:, 0])
    mapping = match(model.card, rows, "paid", "yes")
    ignored = table(names("x", ["0", "1"], Kind.IGNORED), names("paid", ["no", "yes"]))
    with pytest.raises(ModelError, match=f"“x”, {phrases.IS_IGNORED}"):
        attributes_for(mapping, ignored)


def long_table(rows=300, extra=()):
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, rows)
    paid = np.where(age + rng.normal(0, 8, rows) > 50, "yes", "no")
    return table(number("age", age.tolist()), *extra, names("paid", paid.tolist()))


OVER_50 = Rule(1, lambda m: 1 / (1 + np.exp((50.5 - m[:, 0]) / 5)))


def test_how_many_got_each_decision():
    proof = proof_of(OVER_50, long_table())
    ages = long_table().codes[:, 0]
    assert proof.predictions == (("no", (ages <= 50).sum()), ("yes", (ages > 50).sum()))
    assert proof.warnings == ()


def test_columns_whose_missing_cells_the_model_takes_are_told_apart_from_those_it_refuses():
    rows = table(
        number("age", [20, np.nan, 60, 70, 30, np.nan]),
        number("pay", [1, 2, np.nan, 4, 5, np.nan]),
        names("paid", ["no", "no", "yes", "yes", None, "no"]),
    )
    whole = proof_of(Rule(2, lambda m: np.nan_to_num(m[:, 0]) > 30), rows)
    assert (whole.takes_missing, whole.set_aside) == (("age", "pay"), {"paid": 1})
    # NaN where the age is missing: the answer is no number
    some = proof_of(Rule(2, lambda m: m[:, 0] / 100 + np.nan_to_num(m[:, 1]) * 0), rows)
    assert some.takes_missing == ("pay",)
    assert (some.rows, some.left_out) == (3, 3)
    assert some.set_aside == {"paid": 1, "age": 2, "pay": 1}
    none = proof_of(Rule(2, lambda m: m[:, 0] > 30, takes_missing=False), rows)
    assert (none.rows, none.takes_missing) == (2, ())


def test_agreement_in_every_row_is_suspicious():
    rows = long_table()
    said = np.where(rows.codes[:, 0] > 50, "yes", "no")
    rows = table(number("age", rows.codes[:, 0].tolist()), names("paid", said.tolist()))
    assert f"{phrases.AGREES} in every row" in proof_of(OVER_50, rows).warnings[0]


@pytest.mark.parametrize("name", ["prediction", "y_pred", "predicted_class", "Predictions"])
def test_predictions_in_the_table_are_compared(name):
    ages = long_table().codes[:, 0]
    said = np.where(ages > 50, "yes", "no")
    rows = long_table(extra=[names(name, said.tolist())])
    mapping = match(OVER_50.card, long_table(), "paid", "yes")
    proof = check(OVER_50, rows, mapping, "paid", "yes")
    assert (proof.checked_against, proof.said_alike) == (name, 1.0)
    assert proof.warnings == ()
    other = Rule(1, lambda m: 1 / (1 + np.exp((45.5 - m[:, 0]) / 5)))
    differs = check(other, rows, mapping, "paid", "yes")
    assert differs.said_alike == pytest.approx(1 - ((ages > 45) & (ages <= 50)).mean())
    assert f"decision differs from that recorded in “{name}”" in differs.warnings[-1]


def test_recorded_probabilities_are_compared_and_a_score_of_other_things_is_not():
    ages = long_table().codes[:, 0]
    share = np.round(1 / (1 + np.exp((50.5 - ages) / 5)), 3)
    mapping = match(OVER_50.card, long_table(), "paid", "yes")
    rows = long_table(extra=[number("pred_proba", share.tolist(), Kind.REAL)])
    proof = check(OVER_50, rows, mapping, "paid", "yes")
    assert (proof.checked_against, proof.said_alike) == ("pred_proba", 1.0)
    rows = long_table(extra=[number("credit_score", (share / 2).tolist(), Kind.REAL)])
    assert check(OVER_50, rows, mapping, "paid", "yes").checked_against == ""


def test_inputs_in_each_others_place_are_named():
    rng = np.random.default_rng(2)
    man = rng.random(400) < 0.6
    paid = np.where(man ^ (rng.random(400) < 0.1), "yes", "no")
    rows = table(
        number("male", man.astype(float).tolist()),
        number("female", (~man).astype(float).tolist()),
        names("paid", paid.tolist()),
    )
    # trained with the woman first
    proof = proof_of(Rule(2, lambda m: 0.9 * m[:, 1] + 0.3 * m[:, 0] * (m[:, 1] == 0)), rows)
    assert proof.accuracy < 0.2
    assert phrases.IN_EACH_OTHERS_PLACE in proof.warnings[-1]
    assert "“input 1” (male) and “input 2” (female)" in proof.warnings[-1]


def test_which_of_two_decisions_is_favourable_is_settled_by_the_label():
    rows = long_table()
    model = Rule(1, lambda m: 1 / (1 + np.exp((m[:, 0] - 50.5) / 5)), classes=("1", "2"))
    proposal = propose(model.card, rows, "paid", "yes")
    assert proposal.answer is not None
    assert not proposal.answer.clear
    mapping = proposal.mapping()
    chosen, note = settled(mapping, check(model, rows, mapping, "paid", "yes"))
    assert chosen.favourable_class == 0
    assert "“1” was taken" in note
    again, _ = settled(chosen, check(model, rows, chosen, "paid", "yes"))
    assert again == chosen
    assert check(model, rows, chosen, "paid", "yes").accuracy > 0.8


@pytest.mark.parametrize(("matched", "warned"), [("by position", True), ("by name", False)])
def test_a_model_in_an_assumed_order_that_hardly_beats_guessing_is_told(matched, warned):
    rows = table(
        number("age", list(range(1000))),
        names("paid", ["yes" if i < 705 else "no" for i in range(1000)]),
    )
    model = Rule(1, lambda m: np.where(m[:, 0] < 998, 0.9, 0.1))
    mapping = msgspec.structs.replace(match(model.card, rows, "paid", "yes"), matched=matched)
    found = [w for w in check(model, rows, mapping, "paid", "yes").warnings if "hardly more" in w]
    assert bool(found) == warned


@pytest.mark.parametrize(
    ("auc", "taken", "why"),
    [
        (0.45, "2", "as it matches the recorded outcomes better"),
        (
            0.2,
            "1",
            "as its scores match the recorded outcomes better, although its decisions do not",
        ),
    ],
)
def test_scores_settle_it_against_the_decisions_only_where_they_are_clear(auc, taken, why):
    rows = long_table()
    model = Rule(1, lambda m: np.zeros(len(m)), classes=("1", "2"))
    proof = InputCheck(
        rows=100,
        left_out=0,
        accuracy=0.7,
        majority=0.7,
        auc=auc,
        confusion=((0, 30), (0, 70)),
        warnings=(),
        predictions=(("1", 100), ("2", 0)),
    )
    _, note = settled(propose(model.card, rows, "paid", "yes").mapping(), proof)
    assert f"“{taken}” was taken as the favourable decision, {why}. Confirm it" in note


def test_any_rows_are_shown_as_they_are_sent_and_refused_ones_without_an_answer():
    rows = table(number("age", [20, np.nan, 60]), names("paid", ["no", "yes", None]))
    model = Rule(1, lambda m: m[:, 0] / 100)
    mapping = match(model.card, rows, "paid", "yes")
    assert show(model, rows, mapping, "paid") == (
        SampleRow(1, "no", "no", pytest.approx(0.2), (20.0,)),
        SampleRow(2, "yes", "", None, (None,)),
        SampleRow(3, "", "yes", pytest.approx(0.6), (60.0,)),
    )


def test_an_estimated_number_is_decided_at_the_labels_limit():
    rng = np.random.default_rng(3)
    pay = rng.normal(50, 10, 200).round(2)
    rows = table(
        number("age", pay.tolist(), Kind.REAL),
        number("pay", (pay + rng.normal(0, 1, 200)).tolist(), Kind.REAL),
    )
    model = Rule(1, lambda m: m[:, 0], classes=())
    model.card = msgspec.structs.replace(model.card, scores="values")
    mapping = match(model.card, rows, "pay", ">= 50")
    assert mapping.outcomes == ("below 50", "50 or more")
    assert mapping.spread == pytest.approx(10, rel=0.2)
    proof = check(model, rows, mapping, "pay", ">= 50")
    assert proof.accuracy > 0.9
    assert proof.auc > 0.99
    below = int((pay < 50).sum())
    assert proof.predictions == (("below 50", below), ("50 or more", 200 - below))
    assert [row.score for row in proof.sample] == pytest.approx(pay[:20].tolist(), rel=1e-5)
    with pytest.raises(ModelError, match="limit from which the outcome is favourable"):
        match(model.card, rows, "age", "yes")


@pytest.mark.parametrize("scores", [True, False], ids=["scores", "decisions"])
def test_a_class_weighted_model_that_ranks_rows_well_is_not_asked_about_its_inputs(scores):
    rng = np.random.default_rng(8)
    paid = rng.random(2_000) < 0.12
    age = (rng.normal(40, 10, 2_000) + 14 * paid).round()
    rows = table(
        number("age", age.tolist()), names("paid", ["yes" if one else "no" for one in paid])
    )
    # balanced: decides for one in three, where one in eight paid
    weighted = Rule(1, lambda m: 1 / (1 + np.exp((46 - m[:, 0]) / 7)))
    flat = Rule(1, lambda m: m[:, 0] > 46)
    proof = proof_of(weighted if scores else flat, rows)
    assert proof.accuracy < proof.majority
    assert proof.auc > (0.8 if scores else 0.7)
    (warning,) = proof.warnings
    assert phrases.LESS_THAN_GUESSING in warning
    assert f"separates favourable rows from the others (AUC {proof.auc:.2f})" in warning
    assert "check the threshold" in warning
    assert "?" not in warning

    # the same scores the wrong way round, and none that tell anything
    flipped = proof_of(Rule(1, lambda m: 1 - weighted.function(m)), rows)
    assert "the wrong way round (AUC 0.1" in flipped.warnings[0]
    assert "order" not in flipped.warnings[0]
    assert "With “no” as the favourable decision, the accuracy would be" in flipped.warnings[1]
    blind = proof_of(Rule(1, lambda m: m[:, 0] % 3 == 0), rows)
    assert "Are the inputs in the wrong order" in blind.warnings[0]


def test_one_decision_for_everybody_is_the_threshold_where_scores_rank_the_rows():
    rows = long_table()
    proof = proof_of(Rule(1, lambda m: m[:, 0] / 1_000), rows)
    assert "unfavourable on every row, but it separates" in proof.warnings[0]
    proof = proof_of(Rule(1, lambda m: 0.4 - m[:, 0] / 1_000), rows)
    assert "Is the favourable class the other one?" in proof.warnings[0]


def test_few_rows_do_not_show_that_a_model_ranks_them():
    proof = proof_of(Rule(2, lambda m: np.where(m[:, 0] == 20, 0.1, 0.8)), ROWS)
    assert proof.warnings == ()
    proof = proof_of(Rule(2, lambda m: np.where(m[:, 0] == 60, 0.3, 0.2)), ROWS)
    assert proof.auc == pytest.approx(2 / 3)
    assert "too few rows to see" in proof.warnings[0]
