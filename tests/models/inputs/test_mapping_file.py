import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.errors import SpecError
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.inputs.mapping_file import apply, parse, read, with_names, written
from fairdesk.models.model import Hints, How, Input, Mapping, Step
from tests import phrases
from tests.cards import card
from tests.models.matching import match
from tests.models.tables import names, number, table

ROWS = table(
    number("age", [30, 40, 50]),
    names("sex", ["m", "f", "m"]),
    names("job", ["a", None, "b"], token="?"),
    names("paid", ["no", "yes", "no"]),
)


def said(text):
    return parse(text.encode())


def test_inputs_that_are_not_named_stay_as_proposed():
    model = card("age", "sex", "year")
    proposal = propose(model, ROWS, "paid", "yes")
    assert proposal.inputs[2] is None
    file = said(
        '{"inputs": [{"input": "age", "then": [["subtract", 38.6], ["divide", 13.7]]},'
        '{"input": "year", "value": 2020}]}'
    )
    mapping = apply(file, proposal, model, ROWS).mapping()
    assert mapping.inputs == (
        Input("age", "age", How.AS_IS, then=(Step("subtract", 38.6), Step("divide", 13.7))),
        Input("sex", "sex", How.LABEL),
        Input("year", "", How.CONSTANT, constant=2020.0),
    )


def test_codes_columns_and_ways():
    model = card("a", "b", "c")
    file = said(
        '{"inputs": [{"input": "a", "from": "sex", "codes": {"m": 1}, "others": 0},'
        '{"input": "b", "from": "age", "how": "label"}, {"input": "c", "from": "age"}],'
        '"favourable": ["no"], "threshold": 0.3}'
    )
    mapping = apply(file, propose(model, ROWS, "paid", "yes"), model, ROWS).mapping()
    assert mapping.inputs[0] == Input("a", "sex", How.CODE, {"m": 1.0}, others=0.0)
    assert (mapping.inputs[1].how, mapping.inputs[2].how) == (How.LABEL, How.AS_IS)
    assert (mapping.favourable_class, mapping.threshold) == (0, 0.3)


def test_one_code_of_what_was_proposed_is_changed():
    model = msgspec.structs.replace(card("sex"), accepts=("number",))
    proposed = match(model, ROWS, "paid", "yes")
    changed = apply(
        said('{"inputs": [{"input": "sex", "codes": {"m": 7}}]}'), proposed, model, ROWS
    )
    assert changed.inputs[0].codes == {"f": 0.0, "m": 7.0}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"inputs": [{"input": "agge"}]}', "input “agge”, which the model does not have"),
        ('{"inputs": [{"input": "age", "from": "gone"}]}', "“age” cannot.*no column “gone”"),
        ('{"inputs": [{"input": "age", "from": "sex", "how": "as is"}]}', "is categorical"),
        ('{"inputs": [{"input": "age", "from": "sex", "codes": {"m": 1}}]}', "values.*“f”"),
        ('{"inputs": [{"input": "age", "then": [["divide", 0]]}]}', phrases.DIVIDED_BY_ZERO),
        ('{"inputs": [{"input": "sex", "then": [["divide", 2]]}]}', "“sex” is text"),
        ('{"favourable": ["perhaps"]}', "no class “perhaps”"),
        ('{"favourable": ["no", "yes"]}', phrases.ALL_CLASSES),
        ('{"threshold": 7}', "7 cannot be a decision threshold"),
    ],
)
def test_what_cannot_be_followed_names_the_input(text, told):
    model = card("age", "sex")
    with pytest.raises(SpecError) as caught:
        apply(said(text), match(model, ROWS, "paid", "yes"), model, ROWS)
    assert re.search(told, str(caught.value))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"input": []}', '{"inputs": [{"from": "age"}]}', "\xff", '{"inputs": NaN}']
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "map.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SpecError, match=phrases.NOT_EXPECTED):
        read(path)
    with pytest.raises(SpecError, match="cannot be read"):
        read(tmp_path / "gone.json")


def test_a_byte_order_mark_does_not_matter(tmp_path):
    path = tmp_path / "map.json"
    path.write_bytes(b'\xef\xbb\xbf{"threshold": 0.2}')
    assert read(path).threshold == 0.2


ESTIMATES = card("age", classes=(), scores="values")


@pytest.mark.parametrize("favourable", [">= 50", "> 50", "<= 50", "< 50"])
def test_estimates_are_written_and_read_again(favourable):
    mapping = match(ESTIMATES, ROWS, "paid", favourable)
    again = written(mapping, ESTIMATES)
    other = match(ESTIMATES, ROWS, "paid", ">= 1")
    assert apply(parse(msgspec.json.encode(again)), other, ESTIMATES, ROWS) == mapping


@st.composite
def mappings(draw):
    """A model and a mapping that it can be fed with."""
    classes = draw(st.sampled_from([("no", "yes"), ("a", "b", "c"), ("0", "1", "2", "3")]))
    numbers = st.floats(-1e6, 1e6)
    inputs = []
    for i in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["as is", "label", "codes", "one hot", "constant"]))
        steps = tuple(
            Step(draw(st.sampled_from(["subtract", "divide", "add"])), draw(st.floats(0.5, 9)))
            for _ in range(draw(st.integers(0, 2)))
        )
        name = f"in {i}"
        inputs.append(
            {
                "as is": Input(name, "age", How.AS_IS, then=steps),
                "label": Input(name, "job", How.LABEL, missing=draw(st.sampled_from(["", "?"]))),
                "codes": Input(
                    name,
                    "job",
                    How.CODE,
                    {"a": draw(numbers), "b": draw(numbers), "?": 1.0},
                    missing="?",
                    then=steps,
                ),
                "one hot": Input(name, "sex", How.CODE, {"": 0.0, "m": 1.0}, others=0.0),
                "constant": Input(
                    name,
                    "",
                    How.CONSTANT,
                    constant=draw(st.one_of(numbers, st.text())),
                ),
            }[kind]
        )
    model = card(*(item.name for item in inputs), classes=classes)
    mapping = Mapping(tuple(inputs), "by hand", draw(st.integers(0, len(classes) - 1)))
    if len(classes) == 2 and draw(st.booleans()):
        mapping = msgspec.structs.replace(mapping, threshold=draw(st.floats(0.01, 0.99)))
    if len(classes) > 2 and draw(st.booleans()):
        others = classes[:1] + classes[3:]
        mapping = msgspec.structs.replace(
            mapping,
            favourable_class=1,
            together=(1, 2),
            outcomes=(" or ".join(others), " or ".join(classes[1:3])),
        )
    return model, mapping


@given(mappings())
def test_what_is_written_is_read_again(question):
    model, mapping = question
    file = parse(msgspec.json.encode(written(mapping, model)))
    empty = Mapping(tuple(Input(name, "age", How.AS_IS) for name in model.inputs), "by name", 0)
    assert apply(file, empty, model, ROWS) == mapping


def test_classes_are_named_by_the_file_or_by_what_came_with_the_model():
    numbered = card("age", "sex", "job", classes=("0", "1", "2"))
    proposal = propose(numbered, ROWS, "paid", "yes", "1 or 2")
    assert proposal.mapping().decisions(numbered) == ("0", "1 or 2")
    file = said('{"classes": ["bad", "fair", "good"]}')
    mapping = apply(file, proposal, numbered, ROWS).mapping()
    assert mapping.names == ("bad", "fair", "good")
    assert mapping.decisions(numbered) == ("bad", "fair or good")
    # the data, and a column of decisions, have the model's own
    assert mapping.written(numbered) == ("0", "1 or 2")
    assert written(mapping, numbered)["classes"] == ("bad", "fair", "good")
    # the auditor calls them so, too
    assert propose(with_names(file, numbered), ROWS, "paid", "yes", "fair").mapping() == (
        propose(with_names(file, numbered), ROWS, "paid", "yes", "1").mapping()
    )
    favourable = said('{"classes": ["bad", "fair", "good"], "favourable": ["good"]}')
    assert apply(favourable, proposal, numbered, ROWS).mapping().favourable_class == 2
    hinted = msgspec.structs.replace(numbered, hints=Hints(classes=("low", "mid", "high")))
    assert propose(hinted, ROWS, "paid", "yes", "2").mapping().decisions(hinted)[2] == "high"
    # names of its own are not replaced, and a list of another length is of something else
    for other in (
        msgspec.structs.replace(hinted, classes=("a", "b", "c")),
        msgspec.structs.replace(hinted, hints=Hints(classes=("low", "high"))),
    ):
        assert propose(other, ROWS, "paid", "yes", other.classes[2]).names == ()


@pytest.mark.parametrize("names", ['["bad"]', '["bad", "bad"]', '["bad", ""]'])
def test_each_class_needs_a_name_of_its_own(names):
    model = card("age", "sex", "job")
    proposal = propose(model, ROWS, "paid", "yes")
    with pytest.raises(SpecError, match="Each class needs"):
        apply(said(f'{{"classes": {names}}}'), proposal, model, ROWS)
