import numpy as np
import pytest

from fairdesk.audit.question import domain_of, favourable_text, read_limits
from fairdesk.data.domain import Role
from fairdesk.data.reading import read_table
from fairdesk.errors import DataError, SpecError


def test_limits_are_read(tmp_path):
    path = tmp_path / "domain.json"
    path.write_text('{"age": [18, 30.5], "sex": ["female"], "code": [0, 1, 2]}')
    assert read_limits(path) == {"age": [18, 30.5], "sex": ["female"], "code": [0, 1, 2]}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"age": 5}', '{"age": [true]}', '{"age": {"low": 1}}', "\xff"]
)
def test_limits_that_are_something_else(tmp_path, text):
    path = tmp_path / "domain.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SpecError, match="not what is expected"):
        read_limits(path)


def test_limits_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "domain.json"
    path.write_text('{"age": [18, 30]}', encoding="utf-8-sig")
    assert read_limits(path) == {"age": [18, 30]}


def test_limits_that_are_not_there(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_limits(tmp_path / "nothing.json")


def test_the_favourable_value_as_the_column_writes_it(table, tmp_path):
    assert favourable_text(table, "hired", "yes") == "yes"
    assert favourable_text(table, "hired", " yes ") == "yes"
    assert favourable_text(table, "hired", "Yes") == "yes"
    age = table.codes[0, 0]
    assert favourable_text(table, "age", f"{age:.1f}") == f"{age:.0f}"
    with pytest.raises(SpecError, match="no value “perhaps”") as caught:
        favourable_text(table, "hired", "perhaps")
    assert caught.value.remedy == "Its values are: no, yes."
    with pytest.raises(DataError, match="no column “wanted”") as caught:
        favourable_text(table, "wanted", "yes")
    assert "age, sex, income, hired" in caught.value.remedy


def test_a_truth_value_may_be_a_number(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("a,b\n1,False\n2,True\n3,True\n")
    truths = read_table(path)
    assert favourable_text(truths, "b", "1") == "True"
    assert favourable_text(truths, "b", "false") == "False"


def test_a_label_without_values(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n1,\n2,\n3,\n")
    with pytest.raises(SpecError, match="“b” is empty"):
        favourable_text(read_table(path), "b", "1")


def test_many_values_are_not_all_listed(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    with pytest.raises(SpecError, match="no value") as caught:
        favourable_text(read_table(path), "a", "x")
    assert "(100 in all)" in caught.value.remedy


def test_the_domain_is_what_the_model_uses(table, spec):
    domain = domain_of(table, spec.mapping, "hired", ("sex", "age"), {"income": [2, 5]})
    assert domain.names == ("age", "sex", "income")
    assert [attribute.role for attribute in domain.attributes] == [
        Role.PROTECTED,
        Role.PROTECTED,
        Role.VARIES,
    ]
    np.testing.assert_array_equal(domain.low[2:], [2])
    np.testing.assert_array_equal(domain.high[2:], [5])


@pytest.mark.parametrize(
    ("protected", "limits", "words"),
    [
        (("hired",), {}, "label column “hired” cannot be protected"),
        (("sex",), {"hired": ["yes"]}, "“hired”, which is no attribute"),
        (("sex",), {"wage": [1, 2]}, "“wage”, which is no attribute"),
        (("sex",), {"sex": ["female", "robot"]}, "no value robot"),
        (("sex",), {"age": [50, 20]}, "cannot be"),
        (("sex",), {"sex": ["female"]}, "only one value"),
    ],
)
def test_questions_that_cannot_be_asked(table, spec, protected, limits, words):
    with pytest.raises(SpecError, match=words):
        domain_of(table, spec.mapping, "hired", protected, limits)


def test_a_column_that_the_model_does_not_use(table, spec):
    import msgspec

    mapping = msgspec.structs.replace(spec.mapping, inputs=spec.mapping.inputs[:1])
    with pytest.raises(SpecError, match="does not use the column “sex”"):
        domain_of(table, mapping, "hired", ("sex",), {})
    with pytest.raises(DataError, match="no column “race”"):
        domain_of(table, mapping, "hired", ("race",), {})
