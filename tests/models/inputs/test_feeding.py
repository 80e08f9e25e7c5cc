from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Kind
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping, Step, Takes
from tests.cards import card


@dataclass
class Recorder:
    """A model that keeps what it is given and answers one half."""

    takes: Takes
    width: int
    classes: tuple[str, ...] = ("0", "1")
    answer: object = None
    given: list = field(default_factory=list)

    @property
    def card(self):
        return card(width=self.width, takes=self.takes, classes=self.classes)

    def matrix_scores(self, matrix):
        assert matrix.shape[1] == self.width
        self.given.append(matrix)
        return self._answer(len(matrix))

    def scores(self, inputs):
        assert len(inputs) == self.width
        self.given.append(inputs)
        return self._answer(len(inputs[0]))

    def _answer(self, rows):
        return np.full((rows, 1), 0.5, np.float32) if self.answer is None else self.answer


AGE = Attribute("age", Kind.INTEGER, low=18, high=90)
SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), high=1)
TERM = Attribute("term", Kind.ORDINAL, ("12", "36", "60"), high=2, numeric=True)


def fed(opened, *inputs, attributes=(AGE, SEX, TERM)):
    return FedModel(opened, Mapping(tuple(inputs), "by position", 1), tuple(attributes))


def test_numbers_in_order_are_handed_on_without_a_copy():
    model = Recorder(Takes.MATRIX, 2)
    other = Attribute("n", Kind.REAL, high=1)
    asked = fed(
        model,
        Input("input 1", "age", How.AS_IS),
        Input("input 2", "n", How.AS_IS),
        attributes=(AGE, other),
    )
    rows = np.array([[30, 0.5], [40, 0.1]])
    assert asked.predict(rows).shape == (2, 1)
    assert model.given[0] is rows


def test_codes_equal_to_their_numbers_are_handed_on_too():
    model = Recorder(Takes.MATRIX, 2)
    asked = fed(
        model,
        Input("input 1", "age", How.AS_IS),
        Input("input 2", "sex", How.CODE, {"f": 0.0, "m": 1.0}),
        attributes=(AGE, SEX),
    )
    rows = np.array([[30.0, 1.0]])
    asked.predict(rows)
    assert model.given[0] is rows


def test_rows_are_never_changed():
    model = Recorder(Takes.MATRIX, 1)
    asked = fed(model, Input("input 1", "sex", How.CODE, {"f": 7.0, "m": 3.0}), attributes=(SEX,))
    rows = np.array([[0.0], [1.0]])
    asked.predict(rows)
    assert rows.ravel().tolist() == [0, 1]
    assert model.given[0].ravel().tolist() == [7, 3]


def test_columns_get_numbers_and_texts():
    model = Recorder(Takes.COLUMNS, 4)
    asked = fed(
        model,
        Input("input 1", "sex", How.LABEL),
        Input("input 2", "term", How.AS_IS),
        Input("input 3", "age", How.LABEL),
        Input("input 4", "age", How.CODE, {"30": 1.0, "41": 2.0}),
    )
    asked.predict(np.array([[30, 1, 2], [41, np.nan, 0], [np.nan, 0, 1]]))
    sex, term, age, group = model.given[0]
    assert sex.dtype == age.dtype == object
    assert sex[:1].tolist() == ["m"]
    assert np.isnan(sex[1])
    assert term.tolist() == [60, 12, 36]
    assert age[:2].tolist() == ["30", "41"]
    assert np.isnan(age[2])
    np.testing.assert_array_equal(group, [1, 2, np.nan])


def test_a_missing_cell_is_sent_as_its_text_where_the_mapping_says_so():
    model = Recorder(Takes.COLUMNS, 2)
    asked = fed(
        model,
        Input("input 1", "sex", How.LABEL, missing="?"),
        Input("input 2", "sex", How.CODE, {"?": 0.0, "f": 1.0, "m": 2.0}, missing="?"),
        attributes=(SEX,),
    )
    asked.predict(np.array([[1.0], [np.nan]]))
    assert [values.tolist() for values in model.given[0]] == [["m", "?"], [2.0, 0.0]]


def test_an_attribute_that_is_not_there_is_named():
    with pytest.raises(ModelError, match="column “job”"):
        fed(Recorder(Takes.MATRIX, 1), Input("input 1", "job", How.AS_IS))


def test_a_value_without_a_number_is_named():
    with pytest.raises(ModelError, match="no number for “m” of “sex”"):
        fed(Recorder(Takes.MATRIX, 1), Input("input 1", "sex", How.CODE, {"f": 1.0}))


@pytest.mark.parametrize("code", [-1.0, 2.0, 1e300])
def test_a_code_that_its_attribute_does_not_have_is_never_looked_up(code):
    model = Recorder(Takes.MATRIX, 1)
    asked = fed(model, Input("input 1", "sex", How.CODE, {"f": 7.0, "m": 3.0}), attributes=(SEX,))
    rows = np.zeros((200, 1))
    rows[150] = code
    # as of missing cells, the last number is that of the code after all others
    if code == 2:
        assert np.isnan(asked.matrix(rows)[150])
    else:
        with pytest.raises(IndexError):
            asked.predict(rows)
    with pytest.raises(IndexError):
        asked.predict(np.zeros((5, 2)))


def test_inputs_of_many_rows_are_made_as_those_of_few():
    model = Recorder(Takes.MATRIX, 3)
    asked = fed(
        model,
        Input("input 1", "sex", How.CODE, {"f": 7.0, "m": 3.0}, then=(Step("divide", 3.0),)),
        Input("input 2", "", How.CONSTANT, constant=4.0, then=(Step("add", 0.1),)),
        Input("input 3", "age", How.AS_IS, then=(Step("subtract", 0.3), Step("multiply", 0.7))),
    )
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(18, 91, 1_001), rng.integers(2, size=(1_001, 2))]) * 1.0
    made = asked.matrix(rows)
    expected = [np.array([7.0, 3.0])[rows[:, 1].astype(int)] / 3, np.full(1_001, 4.1)]
    np.testing.assert_array_equal(made, np.column_stack([*expected, (rows[:, 0] - 0.3) * 0.7]))
    np.testing.assert_array_equal(asked.matrix(rows[77:78]), made[77:78])
    np.testing.assert_array_equal(np.column_stack(asked.columns(rows)), made)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.array([[0.1], [np.nan], [np.inf]], np.float32), "no finite number for 2 of 3 rows"),
        (np.zeros((3, 2), np.float32), "3 × 2 numbers for 3 rows and 2 classes"),
        (np.zeros((1, 1), np.float32), "1 × 1 numbers for 3 rows"),
    ],
)
def test_answers_that_are_no_scores_are_refused(answer, said):
    model = Recorder(Takes.MATRIX, 1, answer=answer)
    asked = fed(model, Input("input 1", "age", How.AS_IS), attributes=(AGE,))
    with pytest.raises(ModelError, match=said):
        asked.predict(np.zeros((3, 1)))


@st.composite
def questions(draw):
    """Attributes, inputs made from them, and rows."""
    attributes = []
    for i in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            attributes.append(Attribute(f"a{i}", Kind.INTEGER, low=-5, high=5))
        else:
            numeric = draw(st.booleans())
            count = draw(st.integers(1, 4))
            values = tuple(str(10 * v) if numeric else f"v{v}" for v in range(count))
            unknown = draw(st.booleans())
            values = (*values, "Unknown") if unknown else values
            attributes.append(
                Attribute(
                    f"a{i}",
                    Kind.NOMINAL,
                    values,
                    high=len(values) - 1,
                    numeric=numeric,
                    unknown=unknown,
                )
            )
    takes = draw(st.sampled_from(Takes))
    inputs = []
    for i in range(draw(st.integers(1, 6))):
        attribute = draw(st.sampled_from(attributes))
        ways = [How.AS_IS, How.CODE, How.CONSTANT]
        if takes is Takes.COLUMNS:
            ways.append(How.LABEL)
        how = draw(st.sampled_from(ways))
        texts = attribute.values or tuple(str(v) for v in range(-5, 6))
        codes = {text: draw(st.sampled_from([0.0, 1.0, 2.5])) for text in texts}
        if draw(st.booleans()):
            codes[""] = 7.0
        steps = draw(st.lists(st.builds(Step, st.sampled_from(OPERATIONS), st.just(0.3))))
        inputs.append(
            Input(
                f"input {i}",
                "" if how is How.CONSTANT else attribute.name,
                how,
                codes if how is How.CODE else {},
                then=() if how is How.LABEL else tuple(steps),
                constant=0.1,
            )
        )
    cells = [st.sampled_from([*range(int(a.low), int(a.high) + 1), np.nan]) for a in attributes]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=8))
    return takes, tuple(attributes), tuple(inputs), np.array(rows, dtype=float)


OPERATIONS = ["subtract", "divide", "multiply", "add"]


def one_by_one(attributes, item, row):
    """Make one input of one row, the slow and obvious way."""
    made = before_arithmetic(attributes, item, row)
    for step in item.then:
        match step.op:
            case "subtract":
                made -= step.by
            case "divide":
                made /= step.by
            case "multiply":
                made *= step.by
            case "add":
                made += step.by
    return made


def before_arithmetic(attributes, item, row):
    if item.how is How.CONSTANT:
        return item.constant
    position = [a.name for a in attributes].index(item.attribute)
    attribute, code = attributes[position], row[position]
    if np.isnan(code) or (attribute.unknown and code == len(attribute.values) - 1):
        return item.codes.get("", np.nan) if item.how is How.CODE else np.nan
    text = attribute.values[int(code)] if attribute.values else str(int(code))
    if item.how is How.LABEL:
        return text
    if item.how is How.CODE:
        return item.codes[text]
    if attribute.numeric:
        return float(text)
    return np.nan if np.isnan(code) else code


@given(questions())
def test_any_mapping_equals_the_row_by_row_reference(question):
    takes, attributes, inputs, rows = question
    model = Recorder(takes, len(inputs))
    before = rows.copy()
    fed(model, *inputs, attributes=attributes).predict(rows)
    given = model.given[0]
    columns = given if takes is Takes.COLUMNS else list(given.T)
    for item, column in zip(inputs, columns, strict=True):
        expected = [one_by_one(attributes, item, row) for row in rows]
        if column.dtype == object:
            assert [v if isinstance(v, str) else None for v in column] == [
                v if isinstance(v, str) else None for v in expected
            ]
        else:
            np.testing.assert_array_equal(column, expected)
    np.testing.assert_array_equal(rows, before)
