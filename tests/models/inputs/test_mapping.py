import msgspec
import pytest

from fairdesk.data.table import Kind
from fairdesk.errors import DataError, ModelError
from fairdesk.models.inputs.editing import remap
from fairdesk.models.inputs.mapping import making, proposer
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Hints, How, Takes
from tests.cards import card
from tests.models.matching import match
from tests.models.tables import names, number, table

ROWS = table(
    number("age", [30, 40, 50]),
    names("sex", ["m", "f", "m"]),
    names("id", ["a", "b", "c"], Kind.IGNORED),
    names("grade", ["10", "9", "10"]),
    names("paid", ["no", "yes", "no"]),
)


def test_the_only_input_that_takes_text_is_made_from_the_only_text():
    reads = msgspec.structs.replace(
        card("text", takes=Takes.MATRIX, named=False), accepts=("text",)
    )
    columns = (number("age", [30, 40]), names("paid", ["no", "yes"]))
    proposal = propose(
        reads, table(names("note", ["hello", "bye"], Kind.TEXT), *columns), "paid", "yes"
    )
    assert [each.attribute for each in proposal.inputs] == ["note"]
    assert not proposal.problems
    assert propose(reads, table(names("note", ["hello", "bye"]), *columns), "paid", "yes").problems


@pytest.mark.parametrize("named", [True, False])
def test_of_several_texts_the_first_is_proposed_and_told(named):
    reads = msgspec.structs.replace(
        card("text", takes=Takes.COLUMNS if named else Takes.MATRIX, named=named), accepts=("text",)
    )
    texts = [names(name, ["hello", "bye"], Kind.TEXT) for name in ("note", "reply")]
    proposal = propose(reads, table(*texts, names("paid", ["no", "yes"])), "paid", "yes")
    assert [each.attribute for each in proposal.inputs] == ["note"]
    assert not proposal.problems
    assert any("2" in note and "“note”" in note for note in proposal.notes)


def test_named_inputs_find_their_columns():
    mapping = match(card("sex", "age", "grade"), ROWS, "paid", "yes")
    assert [(i.name, i.attribute, i.how) for i in mapping.inputs] == [
        ("sex", "sex", How.LABEL),
        ("age", "age", How.AS_IS),
        ("grade", "grade", How.CODE),
    ]
    assert mapping.inputs[2].codes == {"10": 10.0, "9": 9.0}
    assert (mapping.matched, mapping.favourable_class) == ("by name", 1)


def test_names_are_matched_without_regard_to_their_spelling():
    rows = table(number("Monthly income", [1, 2]), names("Paid", ["n", "y"]))
    mapping = match(card("monthly_Income"), rows, "Paid", "y")
    assert mapping.inputs[0].attribute == "Monthly income"


def test_a_value_of_signs_is_not_taken_for_its_column():
    rows = table(
        names("job", ["clerk", None, "cook"], token="?"), names("paid", ["no", "yes", "no"])
    )
    mapping = match(card("job_?", "job_clerk", "job_cook"), rows, "paid", "yes")
    assert [item.codes for item in mapping.inputs] == [
        {"": 1.0},
        {"": 0.0, "clerk": 1.0},
        {"": 0.0, "cook": 1.0},
    ]


def test_a_value_without_an_input_beside_a_strange_one_is_told():
    rows = table(names("grade", ["< 1", "4 up", "1 to 4"]), names("paid", ["no", "yes", "no"]))
    inputs = card("grade_lt 1", "grade_4 up", "grade_1 to 4")
    first, second = propose(inputs, rows, "paid", "yes").notes
    assert "no input for “< 1” of “grade”" in first
    assert "always 0: “grade_lt 1”" in second
    dropped = propose(card("grade_4 up", "grade_1 to 4"), rows, "paid", "yes")
    assert not dropped.notes


def test_two_columns_of_the_same_loose_name_are_told_apart_or_refused():
    rows = table(number("a b", [1, 2]), number("a_b", [1, 2]), names("paid", ["n", "y"]))
    assert match(card("a_b"), rows, "paid", "y").inputs[0].attribute == "a_b"
    with pytest.raises(ModelError, match="has 1 input, and the table has no column for “A B”"):
        match(card("A B"), rows, "paid", "y")


def test_missing_columns_and_those_left_over_are_named():
    with pytest.raises(ModelError) as caught:
        match(card("age", "income"), ROWS, "paid", "yes")
    assert "has 2 inputs" in str(caught.value)
    assert "“income”" in caught.value.what
    assert "Unused columns: “sex”, “id”, “grade”" in caught.value.why


def test_the_label_is_no_input():
    with pytest.raises(ModelError, match="takes the recorded outcome “paid”"):
        match(card("age", "paid"), ROWS, "paid", "yes")


def test_an_ignored_column_that_the_model_needs_is_named():
    with pytest.raises(ModelError, match="columns that are excluded: “id”"):
        match(card("age", "id"), ROWS, "paid", "yes")


def test_unnamed_inputs_take_the_columns_in_order():
    mapping = match(card(width=3), ROWS, "paid", "yes")
    assert [i.attribute for i in mapping.inputs] == ["age", "sex", "grade"]
    assert mapping.matched == "by position"
    assert mapping.inputs[1].codes == {"f": 0.0, "m": 1.0}
    # the place among the sorted values, as scikit-learn's LabelEncoder counts
    assert mapping.inputs[2].codes == {"10": 0.0, "9": 1.0}


def test_which_columns_tell_the_outcome_is_computed_once_for_a_proposal(monkeypatch):
    told = []
    monkeypatch.setattr(proposer, "told_by", lambda *asked: told.append(asked) or set())
    monkeypatch.setattr(making, "told_by", lambda *_: pytest.fail("it was known"))
    match(card("input 1", "input 2", "input 3", named=False), ROWS, "paid", "yes")
    assert len(told) == 1


def test_a_wrong_number_of_inputs_is_told_with_the_columns():
    with pytest.raises(ModelError, match="has 2 inputs, but the table offers 3 columns") as caught:
        match(card(width=2), ROWS, "paid", "yes")
    assert "“age”, “sex”, “grade”" in caught.value.why
    assert str(caught.value).startswith("This model may be for other data.")


def test_a_model_of_other_columns_is_said_to_be_for_other_data():
    with pytest.raises(ModelError, match=r"^This model is for other data\."):
        match(card("height", "weight", "age"), ROWS, "paid", "yes")
    # one that is missing is no sign of that
    with pytest.raises(ModelError, match=r"^The model has 3 inputs"):
        match(card("sex", "weight", "age"), ROWS, "paid", "yes")


def test_a_model_that_would_fit_with_an_ignored_column_says_which():
    four = card(width=4)
    with pytest.raises(ModelError, match="columns that are excluded: “id”"):
        match(four, ROWS, "paid", "yes")


def test_an_unknown_label_column_is_refused():
    with pytest.raises(DataError, match="no column “gone”"):
        match(card("age"), ROWS, "gone", "yes")


@pytest.mark.parametrize(
    ("token", "sent", "codes"),
    [
        ("?", "?", {"?": 0.0, "a": 1.0, "b": 2.0}),
        ("NA", "", {"a": 0.0, "b": 1.0}),
        ("", "", {"a": 0.0, "b": 1.0}),
    ],
)
def test_a_missing_cell_is_a_value_where_models_saw_it_as_text(token, sent, codes):
    rows = table(names("job", ["a", None, "b"], token=token), names("paid", ["n", "y", "y"]))
    coded = match(card(width=1), rows, "paid", "y").inputs[0]
    assert (coded.missing, coded.codes) == (sent, codes)
    assert match(card("job"), rows, "paid", "y").inputs[0].missing == sent


def test_remap_makes_one_input_from_another_column():
    by_name = match(card("sex", "age"), ROWS, "paid", "yes")
    changed = remap(by_name, 0, "age", ROWS, card("sex", "age"))
    assert [(i.name, i.attribute, i.how) for i in changed.inputs] == [
        ("sex", "age", How.AS_IS),
        ("age", "age", How.AS_IS),
    ]
    positional = card(width=3)
    by_position = match(positional, ROWS, "paid", "yes")
    assert remap(by_position, 0, "sex", ROWS, positional).inputs[0].codes == {"f": 0.0, "m": 1.0}
    with pytest.raises(ModelError, match="column “id” is excluded"):
        remap(by_name, 0, "id", ROWS, card("sex", "age"))


def test_places_in_the_alphabet_are_not_fed_for_what_is_mostly_numbers():
    rows = table(
        names("age", [*map(str, range(20, 40)), "unknown", "V5"]),
        names("sex", ["m", "f"] * 11),
        names("paid", ["no", "yes"] * 11),
    )
    asked = card(width=2)
    proposal = propose(asked, rows, "paid", "yes")
    assert [each and each.attribute for each in proposal.inputs] == [None, "sex"]
    (problem,) = proposal.problems
    assert "“age” as a number" in problem
    assert "“V5”, “unknown”" in problem
    # an encoder that knows the values is followed
    codes = {text: float(i) for i, text in enumerate(rows.column("age").values)}
    told = msgspec.structs.replace(asked, hints=Hints(codes={"age": codes}))
    told = msgspec.structs.replace(told, inputs=("age", "sex"), named=True)
    assert propose(told, rows, "paid", "yes").inputs[0].codes == codes


def test_true_and_false_are_numbers_and_nothing_to_check():
    rows = table(
        names("home", ["False", "True"]), names("sex", ["m", "f"]), names("paid", ["no", "yes"])
    )
    proposal = propose(card(width=2), rows, "paid", "yes")
    assert proposal.inputs[0].codes == {"False": 0.0, "True": 1.0}
    (note,) = proposal.notes
    assert "“sex”" in note
    assert "home" not in note
