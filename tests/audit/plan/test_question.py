import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.spec import Limits, read_limits
from fairdesk.data.domain.attributes import Limit, Role
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import canonical
from fairdesk.errors import DataError, SpecError
from tests import phrases
from tests.audit.making import domain_of
from tests.models.matching import match


@pytest.mark.parametrize(
    ("text", "attributes", "constraints"),
    [
        (
            '{"age": [18, 30.5], "sex": ["female"], "code": [0, 1, 2]}',
            {"age": (18, 30.5), "sex": ("female",), "code": (0, 1, 2)},
            (),
        ),
        ("{}", {}, ()),
        ('{"attributes": {}, "constraints": ["age < 5"]}', {}, ("age < 5",)),
        ('{"constraints": ["age < 5", "a = b"]}', {}, ("age < 5", "a = b")),
        (
            """{"attributes": {"age": {"low": 18, "step": 2}, "sex": {"values": ["f", "m"]},
            "county": {"role": "fixed"}, "n": [1, 5]}}""",
            {
                "age": Limit(low=18, step=2),
                "sex": Limit(values=("f", "m")),
                "county": Limit(role="fixed"),
                "n": (1, 5),
            },
            (),
        ),
        # columns of these very names
        ('{"constraints": [1, 5]}', {"constraints": (1, 5)}, ()),
        ('{"attributes": [1, 5]}', {"attributes": (1, 5)}, ()),
        ('{"attributes": {"low": 3}}', {"attributes": Limit(low=3)}, ()),
        ('{"attributes": ["a"], "constraints": ["b"]}', None, None),
        ('{"constraints": ["b"], "age": [1, 2]}', {"constraints": ("b",), "age": (1, 2)}, ()),
    ],
)
def test_limits_are_read(tmp_path, text, attributes, constraints):
    path = tmp_path / "domain.json"
    path.write_text(text)
    if attributes is None:
        attributes, constraints = {"attributes": ("a",), "constraints": ("b",)}, ()
    assert read_limits(path) == Limits(attributes, constraints)
    # and again as they would be written
    path.write_bytes(msgspec.json.encode(read_limits(path)))
    assert read_limits(path) == Limits(attributes, constraints)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"age": 5}',
        '{"age": [true]}',
        '{"age": {"lowest": 1}}',
        '{"age": {"role": "protected"}}',
        '{"attributes": {"age": 5}}',
        '{"constraints": "age < 5"}',
        "\xff",
    ],
)
def test_limits_that_are_something_else(tmp_path, text):
    path = tmp_path / "domain.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SpecError, match=phrases.NOT_EXPECTED):
        read_limits(path)


def test_limits_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "domain.json"
    path.write_text('{"age": [18, 30]}', encoding="utf-8-sig")
    assert read_limits(path) == Limits({"age": (18, 30)})


def test_limits_that_are_not_there(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_limits(tmp_path / "nothing.json")


def test_the_favourable_value_as_the_column_writes_it(table, tmp_path):
    assert canonical(table, "hired", "yes") == "yes"
    assert canonical(table, "hired", " yes ") == "yes"
    assert canonical(table, "hired", "Yes") == "yes"
    age = table.codes[0, 0]
    assert canonical(table, "age", f"{age:.1f}") == f"{age:.0f}"
    with pytest.raises(SpecError, match="no value “perhaps”") as caught:
        canonical(table, "hired", "perhaps")
    assert caught.value.remedy == f"{phrases.ITS_VALUES}: no, yes."
    with pytest.raises(DataError, match="no column “wanted”") as caught:
        canonical(table, "wanted", "yes")
    assert "age, sex, income, hired" in caught.value.remedy


def test_a_truth_value_may_be_a_number(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("a,b\n1,False\n2,True\n3,True\n")
    truths = read_table(path)
    assert canonical(truths, "b", "1") == "True"
    assert canonical(truths, "b", "false") == "False"


def test_a_label_without_values(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n1,\n2,\n3,\n")
    with pytest.raises(SpecError, match="“b” is empty"):
        canonical(read_table(path), "b", "1")


def test_many_values_are_not_all_listed(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    with pytest.raises(SpecError, match="no value") as caught:
        canonical(read_table(path), "a", "x")
    assert "(100 in all)" in caught.value.remedy


def test_the_domain_is_what_the_model_uses(table, spec):
    domain = domain_of(table, spec.mapping, "hired", ("sex", "age"), Limits({"income": (2, 5)}))
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
        (("hired",), {}, f"label column “hired” {phrases.NOT_TO_BE_PROTECTED}"),
        (("sex",), {"hired": ["yes"]}, "“hired”, which is not an attribute"),
        (("sex",), {"wage": [1, 2]}, "“wage”, which is not an attribute"),
        (("sex",), {"sex": ["female", "robot"]}, "no value robot"),
        (("sex",), {"age": [50, 20]}, "cannot be"),
        (("sex",), {"sex": ["female"]}, phrases.ONE_VALUE),
        (("sex",), {"sex": Limit(role="fixed")}, "protected and fixed"),
        (("sex",), {"sex": Limit(low=1)}, "cannot be"),
    ],
)
def test_questions_that_cannot_be_asked(table, spec, protected, limits, words):
    with pytest.raises(SpecError, match=words):
        domain_of(table, spec.mapping, "hired", protected, Limits(limits))


def test_a_column_that_the_model_does_not_use(table, spec):
    mapping = msgspec.structs.replace(spec.mapping, inputs=spec.mapping.inputs[:1])
    domain = domain_of(table, mapping, "hired", ("sex",))
    assert "sex" not in domain.names
    assert [each.name for each in domain.grouping] == ["sex"]
    with pytest.raises(DataError, match="no column “race”"):
        domain_of(table, mapping, "hired", ("race",))


def test_limits_constraints_and_roles_make_the_domain(table, spec):
    limits = Limits(
        {"age": Limit(low=20, high=61, step=10), "income": Limit(role="fixed")},
        ("sex=female implies age<=50",),
    )
    domain = domain_of(table, spec.mapping, "hired", ("sex",), limits)
    age, _, income = domain.attributes
    assert (age.low, age.high, age.step) == (20, 60, 10)
    assert income.role is Role.FIXED
    assert domain.constraints == ("sex = female implies age <= 50",)
    everybody = [each.rows for each in domain.set_aside(table)]
    assert sum(everybody) + len(domain.people(table)) == len(table.codes)
    with pytest.raises(SpecError, match="no attribute “hired”"):
        domain_of(table, spec.mapping, "hired", ("sex",), Limits(constraints=("hired = 1",)))


def test_missing_cells_are_a_category_where_the_model_takes_them(tmp_path, card):
    path = tmp_path / "holes.csv"
    path.write_text("age,sex,income,hired\n20,f,1,no\n30,?,2,yes\n?,m,3,yes\n40,f,4,no\n")
    holes = read_table(path)
    mapping = match(card, holes, "hired", "yes")
    domain = domain_of(holes, mapping, "hired", ("sex",), takes_missing=("age", "sex", "income"))
    assert [each.unknown for each in domain.attributes] == [False, True, False]
    assert domain.attributes[1].values == ("f", "m", "Unknown")
    assert len(domain.people(holes)) == 3
    without = domain_of(holes, mapping, "hired", ("sex",))
    assert len(without.people(holes)) == 2
    assert [(each.what, each.rows) for each in without.set_aside(holes)] == [("age", 1), ("sex", 1)]
