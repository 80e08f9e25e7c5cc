import pytest

from fairdesk.data.table import Kind
from fairdesk.errors import DataError, ModelError
from fairdesk.models.decisions.favourable import Answer, answer_of
from fairdesk.models.inputs.editing import (
    answered,
    as_way,
    complete,
    computed,
    constant,
    for_value,
    numbered,
    problems,
)
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Hints, How, Input, Mapping, Step
from tests import phrases
from tests.cards import card
from tests.models.matching import match
from tests.models.tables import names, number, table

ROWS = table(
    number("age", [30, 40, 50]),
    names("sex", ["m", "f", "m"]),
    names("note", ["long", "words", "here"], Kind.TEXT),
    names("id", ["1", "2", "3"], Kind.IGNORED),
    names("paid", ["no", "yes", "no"]),
)


MODEL = card("age", "sex")
MAPPING = match(MODEL, ROWS, "paid", "yes")


def test_each_thing_can_be_changed():
    assert for_value(MAPPING, 0, "sex", "m", ROWS, MODEL).inputs[0] == Input(
        "age", "sex", How.CODE, {"": 0.0, "m": 1.0}, others=0.0
    )
    assert as_way(MAPPING, 1, How.CODE, ROWS, MODEL).inputs[1].codes == {"f": 0.0, "m": 1.0}
    assert as_way(MAPPING, 0, How.LABEL, ROWS, MODEL).inputs[0].how is How.LABEL
    coded = as_way(MAPPING, 1, How.CODE, ROWS, MODEL)
    assert numbered(coded, 1, "", 7).inputs[1].codes == {"f": 0.0, "m": 1.0, "": 7}
    steps = [Step("subtract", 2.0)]
    assert computed(MAPPING, 0, steps).inputs[0].then == (Step("subtract", 2.0),)
    assert constant(MAPPING, 0, 3.5, MODEL).inputs[0].constant == 3.5
    assert answered(MAPPING, Answer(0, threshold=0.2)).threshold == 0.2
    assert match(MODEL, ROWS, "paid", "yes") == MAPPING


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda: for_value(MAPPING, 0, "sex", "x", ROWS, MODEL), "no value “x”"),
        (lambda: for_value(MAPPING, 0, "id", "1", ROWS, MODEL), "is excluded"),
        (lambda: as_way(MAPPING, 1, How.AS_IS, ROWS, MODEL), "is categorical"),
        (lambda: numbered(MAPPING, 0, "30", 1.0), "not made from a number for each"),
        (lambda: computed(MAPPING, 1, [Step("add", 1.0)]), "is text, so no arithmetic"),
        (lambda: computed(MAPPING, 0, [Step("divide", 0.0)]), phrases.DIVIDED_BY_ZERO),
        (lambda: computed(MAPPING, 0, [Step("add", float("nan"))]), "not a finite number"),
        (lambda: constant(MAPPING, 0, "x", card("age", accepts=("number",))), "accepts a number"),
    ],
)
def test_what_cannot_be_done_is_told(change, told):
    with pytest.raises((ModelError, DataError), match=told):
        change()


def test_a_gap_is_filled_by_hand():
    model = card("age", "height")
    proposal = propose(model, ROWS, "paid", "yes")
    assert proposal.inputs[1] is None
    with pytest.raises(ModelError, match="no column for “height”"):
        proposal.mapping()
    filled = constant(proposal, 1, 170.0, model)
    assert complete(filled, model, ROWS, "paid").inputs[1].constant == 170.0


@pytest.mark.parametrize(
    ("model", "mapping", "told"),
    [
        (MODEL, Mapping((), "", 1), "for 0 inputs, but the model has 2"),
        (card("a"), Mapping((Input("a", "gone", How.AS_IS),), "", 1), "no column “gone”"),
        (card("a"), Mapping((Input("a", "id", How.LABEL),), "", 1), phrases.IS_IGNORED),
        (card("a"), Mapping((Input("a", "paid", How.LABEL),), "", 1), "from the recorded outcome"),
        (card("a"), Mapping((Input("a", "sex", How.AS_IS),), "", 1), "is categorical"),
        (
            card("a", accepts=("number",)),
            Mapping((Input("a", "sex", How.LABEL),), "", 1),
            "accepts numbers, but is made from text",
        ),
        (
            card("a", accepts=("text",)),
            Mapping((Input("a", "age", How.AS_IS),), "", 1),
            "accepts text, but is made from numbers",
        ),
        (
            card("a"),
            Mapping((Input("a", "sex", How.CODE, {"f": 0.0}),), "", 1),
            "no number for these values of “sex”: “m”",
        ),
        (
            card("a", hints=Hints(codes={"age": {"x": 30.0, "y": 40.0}})),
            Mapping((Input("a", "age", How.AS_IS),), "", 1),
            "does not know these numbers of “age”: “50”",
        ),
        (
            MODEL,
            Mapping((Input("age", "age", How.AS_IS), Input("sex", "age", How.AS_IS)), "", 1),
            f"{phrases.EXACTLY_SAME}: “age”, “sex”",
        ),
        (
            card("age", classes=(), scores="values"),
            Mapping((Input("age", "age", How.AS_IS),), "", 1),
            "limit from which the estimated number is favourable",
        ),
        (
            card("age", scores="labels"),
            Mapping((Input("age", "age", How.AS_IS),), "", 1, threshold=0.3),
            "does not decide by comparing one score",
        ),
    ],
)
def test_what_keeps_a_model_from_being_fed_is_told(model, mapping, told):
    found = problems(mapping, model, ROWS, "paid")
    assert any(told in sentence for sentence in found), found
    assert problems(MAPPING, MODEL, ROWS, "paid") == ()


NAMED_BESIDE = card("age", classes=("0", "1"), hints=Hints(classes=("yes", "no")))
ABC = card("age", classes=("a", "b", "c"))


@pytest.mark.parametrize(
    ("model", "favourable", "model_favourable", "expected"),
    [
        (card("age"), "no", None, Answer(0)),
        (card("age", classes=("0", "1")), "1.0", None, Answer(1)),
        (card("age", classes=("0", "1")), "0", None, Answer(0)),
        (card("age", classes=("False", "True")), "1", None, Answer(1)),
        (card("age", classes=("0", "1")), "yes", None, Answer(1, clear=False)),
        (card("age", classes=("0", "1")), "yes", "0", Answer(0)),
        (
            card("age", classes=("0", "1"), hints=Hints(classes=("yes", "no"))),
            "yes",
            None,
            Answer(0),
        ),
        (card("age", classes=("Yes", "yes")), "yes", None, Answer(1)),
        (ABC, " C", None, Answer(2)),
        (ABC, "a or c", None, Answer(1, ("b", "a or c"), (0, 2))),
        (ABC, "good", "b or c", Answer(1, ("a", "b or c"), (1, 2))),
    ],
)
def test_which_answer_is_favourable(model, favourable, model_favourable, expected):
    assert answer_of(model, ROWS, "paid", favourable, model_favourable) == expected


@pytest.mark.parametrize(
    ("model", "favourable", "model_favourable", "told"),
    [
        (ABC, "good", None, "one or several of: a, b, c"),
        (ABC, "good", "d", "no class “d”"),
        (ABC, "good", "a or b or c", phrases.ALL_CLASSES),
    ],
)
def test_an_unclear_favourable_class_lists_the_classes(model, favourable, model_favourable, told):
    with pytest.raises(ModelError) as caught:
        answer_of(model, ROWS, "paid", favourable, model_favourable)
    assert told in str(caught.value)


def test_text_that_people_wrote_goes_in_as_it_is():
    assert match(card("note"), ROWS, "paid", "yes").inputs[0].how is How.LABEL


def test_numbers_go_as_text_where_the_model_takes_text():
    model = card("age", accepts=("text",))
    assert match(model, ROWS, "paid", "yes").inputs[0].how is How.LABEL


def test_the_only_text_goes_to_the_only_input_for_text():
    model = card("review", "age", accepts=("text", "number"))
    proposal = propose(model, ROWS, "paid", "yes")
    assert proposal.inputs[0] == Input("review", "note", How.LABEL)
    assert "the only column of text" in proposal.notes[0]
    assert propose(card("review"), ROWS, "paid", "yes").inputs == (None,)


def test_a_number_is_no_name_where_label_and_model_count_different_things():
    rows = table(number("age", [1, 2, 3]), number("toxic", [0, 1, 0]))
    model = card("age", classes=("0", "1", "2"))
    with pytest.raises(ModelError, match="may have another meaning in the model"):
        answer_of(model, rows, "toxic", "0")
    assert answer_of(model, rows, "toxic", "0", "2").favourable_class == 2
    all_three = table(number("age", [1, 2, 3]), number("toxic", [0, 1, 2]))
    assert answer_of(model, all_three, "toxic", "0").favourable_class == 0
