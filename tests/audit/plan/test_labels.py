"""What a model's answers are called in the label column, and which answer a row's label is."""

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.labels import class_labels, own_labels, targets
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import canonical
from tests.models.matching import match


@pytest.fixture
def audit(tmp_path, spec):
    """Make the question about a small table whose label column holds these cells."""

    def make(labels, favourable, classes=("0", "1"), answer=None, **more):
        lines = ["age,sex,income,hired"]
        lines += [f"{30 + i},{('f', 'm')[i % 2]},{i % 5},{cell}" for i, cell in enumerate(labels)]
        path = tmp_path / "labelled.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        table = read_table(path)
        card = msgspec.structs.replace(spec.model, classes=classes, **more)
        wanted = canonical(table, "hired", favourable)
        mapping = match(card, table, "hired", wanted, answer)
        about = {"columns": table.columns, "data": table.source, "favourable": wanted}
        return msgspec.structs.replace(spec, model=card, mapping=mapping, **about), table

    return make


@pytest.mark.parametrize(
    ("labels", "favourable", "classes", "answer", "meant", "expected"),
    [
        # as the table writes them, whatever the model calls them
        (["no", "yes", "yes"] * 4, "yes", ("0", "1"), None, ("no", "yes"), [0, 1, 1]),
        (["no", "yes", "yes"] * 4, "no", ("0", "1"), "0", ("no", "yes"), [0, 1, 1]),
        (["no", "yes", "yes"] * 4, "yes", ("good", "bad"), "good", ("yes", "no"), [1, 0, 0]),
        ([1, 0, 0] * 4, "1", ("False", "True"), None, ("0", "1"), [1, 0, 0]),
        # several by their names, however these are spelt
        (
            *(["low", "Mid", "high"] * 4, "high", ("HIGH", "low", "mid"), "HIGH"),
            *(("high", "low", "Mid"), [1, 2, 0]),
        ),
        # one that the table does not know means nothing
        (
            *(["low", "mid", "high"] * 4, "high", ("high", "low", "other"), "high"),
            *(("high", "low", None), [1, -1, 0]),
        ),
    ],
)
def test_labels_and_answers_are_matched(
    audit, labels, favourable, classes, answer, meant, expected
):
    spec, table = audit(labels, favourable, classes, answer)
    assert class_labels(spec, table) == own_labels(spec, table) == meant
    assert targets(spec, table)[:3].tolist() == expected


def test_a_row_without_a_label_has_no_target(audit):
    spec, table = audit(["yes", "", "no", ""] * 5, "yes")
    assert targets(spec, table).tolist() == [1, -1, 0, -1] * 5


def test_answers_that_are_favourable_together_keep_their_own_labels(audit):
    cells = ["bad", "fair", "good"] * 4
    spec, table = audit(cells, "fair or good", ("bad", "fair", "good"))
    assert spec.mapping.together == (1, 2)
    # of the two decisions one has no label of its own, of the three answers all have
    assert None in class_labels(spec, table)
    assert own_labels(spec, table) == ("bad", "fair", "good")
    assert targets(spec, table)[:3].tolist() == [0, 1, 2]


def test_a_threshold_does_not_change_what_the_answers_mean(audit):
    spec, table = audit(["no", "yes"] * 6, "yes")
    bent = msgspec.structs.replace(spec.mapping, threshold=0.7)
    spec = msgspec.structs.replace(spec, mapping=bent)
    assert own_labels(spec, table) == ("no", "yes")
    assert targets(spec, table)[:2].tolist() == [0, 1]


def test_numbers_from_a_limit_on_are_no_one_label(audit):
    spec, table = audit([*range(30, 70, 2)], ">= 50")
    assert own_labels(spec, table) == (None, None)
    # which rows are good is known all the same
    np.testing.assert_array_equal(targets(spec, table), [0] * 10 + [1] * 10)


def test_a_model_that_estimates_a_number_has_no_answers_to_label(audit):
    spec, table = audit([*range(30, 70, 2)], ">= 50", (), scores="values")
    assert own_labels(spec, table) == ()
    assert (targets(spec, table) == -1).all()
