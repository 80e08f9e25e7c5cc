import msgspec
import numpy as np
import pytest

from fairdesk.data.table import Kind
from fairdesk.errors import DataError, ModelError
from fairdesk.models.mapping import match
from fairdesk.models.model import ModelCard, Takes
from fairdesk.models.proof import Proof, attributes_for, check
from tests.models.tables import names, number, table


class Rule:
    """A model of one matrix that computes any function of it."""

    def __init__(self, width, function, classes=("no", "yes"), *, takes_missing=True):
        self.function = function
        self.takes_missing = takes_missing
        self.card = ModelCard(
            path="m",
            sha256="",
            format="",
            summary="",
            takes=Takes.MATRIX,
            inputs=tuple(f"input {i}" for i in range(1, width + 1)),
            named=False,
            classes=classes,
            scores="probabilities",
        )

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
    assert msgspec.json.decode(msgspec.json.encode(proof), type=Proof) == proof


def test_a_flipped_favourable_class_is_told_with_what_the_swap_would_give():
    proof = proof_of(Rule(2, lambda m: 0.85 - m[:, 0] / 100), ROWS)
    assert proof.confusion == ((0, 3), (2, 0))
    assert (proof.accuracy, proof.auc) == (0.0, 0.0)
    assert "less than always guessing" in proof.warnings[0]
    assert "With “no” as the favourable answer it would agree in 100.0%" in proof.warnings[1]


def test_the_score_of_the_first_class_is_what_is_left():
    rows = table(number("age", [20, 30]), names("paid", ["no", "yes"]))
    proof = proof_of(Rule(1, lambda m: m[:, 0] / 100), rows, favourable="no")
    assert [row.score for row in proof.sample] == pytest.approx([0.8, 0.7])
    assert [row.prediction for row in proof.sample] == ["no", "no"]


def test_always_the_same_decision_is_told():
    proof = proof_of(Rule(2, lambda m: np.zeros(len(m))), ROWS)
    assert "unfavourably on every row" in proof.warnings[0]
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
    with pytest.raises(ModelError, match="no number"):
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
    assert "same label" in proof.warnings[0]


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
    with pytest.raises(ModelError, match="“x”, which is ignored"):
        attributes_for(mapping, ignored)
