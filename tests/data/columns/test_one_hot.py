"""One attribute in several columns of 0 and 1."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import joblib
import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairdesk.app.plan import AuditPlan
from fairdesk.audit.plan.spec import Limits
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.data.columns.derived import NONE_OF_THESE, find_groups, grouped
from fairdesk.data.domain.attributes import Limit, Role, encode
from fairdesk.data.domain.support import absent_combinations
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import problems, suggest_protected
from fairdesk.data.table import Kind, Sample
from fairdesk.errors import SpecError
from fairdesk.groups.metrics.grouping import divide
from fairdesk.models.model import Input, Mapping

ROWS = 240
RNG = np.random.default_rng(5)
PLACE = RNG.integers(0, 3, ROWS)


def table_of(tmp_path, columns):
    path = tmp_path / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return read_table(path)


def coded(names, place=PLACE, yes=1, no=0):
    return {name: np.where(place == i, yes, no) for i, name in enumerate(names)}


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (coded(["race_Black", "race_Other", "race_White"]), {"race": ("Black", "Other", "White")}),
        (coded(["race=a b", "race=c", "race=d"]), {"race": ("a b", "c", "d")}),
        (coded(["maritalDivorced", "maritalMarried", "maritalSingle"]), {}),
        (coded(["raceBlack", "raceWhite"], PLACE % 2), {"race": ("Black", "White")}),
        (coded(["sex_F", "sex_M"], PLACE % 2, "True", "False"), {"sex": ("F", "M")}),
        # the first level is left out
        (coded(["race_Black", "race_White"]), {"race": ("Black", "White", NONE_OF_THESE)}),
        # whatever they are called
        (coded(["female", "male"], PLACE % 2), {"female/male": ("female", "male")}),
        # both may be 1; and what may be so by chance
        ({"has_car": PLACE % 2, "has_dog": np.arange(ROWS) % 2}, {}),
        ({"has_car": np.arange(ROWS) == 3, "has_dog": np.arange(ROWS) == 7}, {}),
    ],
)
def test_attributes_in_several_columns_are_found(tmp_path, columns, wanted):
    if "maritalSingle" in columns:
        wanted = {"marital": ("Divorced", "Married", "Single")}
    columns = {name: np.asarray(each).astype(object) for name, each in columns.items()}
    numbers = {n: [int(c) if isinstance(c, bool) else c for c in v] for n, v in columns.items()}
    table = grouped(table_of(tmp_path, {"size": np.arange(ROWS) % 7, **numbers}))
    found = {each.name: each.values for each in table.columns if each.is_one_hot}
    assert found == wanted
    for name, members in table.source.dialect.groups.items():
        codes = table.codes[:, table.index(name)]
        values = table.column(name).values
        for member in members:
            one = next(v for v in values if member.endswith(v))
            flags = table.codes[:, table.index(member)]
            assert (flags == (codes == values.index(one))).all()
    # reading it again gives the same, and nothing more is found
    again = read_table(Path(table.source.path), table.source.dialect)
    assert again.columns == table.columns
    assert np.array_equal(again.codes, table.codes, equal_nan=True)
    assert grouped(again) is again


def test_a_row_with_two_of_them_or_a_missing_cell_has_no_value(tmp_path):
    columns = coded(["race_Black", "race_Other", "race_White"])
    for name in columns:
        columns[name] = columns[name].astype(float)
    columns["race_Black"][0] = columns["race_White"][0] = 1
    columns["race_Other"][1] = np.nan
    table = grouped(table_of(tmp_path, columns))
    codes = table.codes[:, table.index("race")]
    assert np.isnan(codes[:2]).all()
    assert not np.isnan(codes[2:]).any()
    assert table.column("race").missing == 2


def test_the_outcome_is_no_part_of_one_and_a_taken_name_gets_another(tmp_path):
    columns = {**coded(["ok", "rejected"], PLACE % 2), "race": PLACE, **coded(["race_a", "race_b"])}
    table = table_of(tmp_path, columns)
    assert find_groups(table, but=["ok"]) == {"race (one of 2 columns)": ("race_a", "race_b")}


def plan_of(table, label="ok"):
    inputs = [name for name in table.names if name != label and not table.column(name).derived]
    made = tuple(Input(name, name, None) for name in inputs)
    mapping = Mapping(inputs=made, favourable_class=1, matched="names")
    return AuditPlan(table=table, label=label, mapping=mapping)


@pytest.fixture
def table(tmp_path):
    region = RNG.integers(0, 4, ROWS)
    columns = {
        **coded(["race_Black", "race_Other", "race_White"]),
        **coded(["region_n", "region_s", "region_w"], region),
        "size": RNG.integers(0, 9, ROWS),
        "ok": RNG.integers(0, 2, ROWS),
    }
    return grouped(table_of(tmp_path, columns), but=["ok"])


@pytest.mark.parametrize("named", ["race", "race_Black", "race_White"])
def test_the_whole_attribute_is_protected_whichever_column_is_named(table, named):
    plan = plan_of(table)
    plan.protect([named], Limits())
    domain = plan.domain()
    assert [each.name for each in domain.grouping] == ["race"]
    assert not domain.unseen
    people = domain.people(table)
    assert len(people) == ROWS
    for each in (domain, domain.every_combination):
        members = each.similar(people)
        of_race = [each.names.index(f"race_{value}") for value in ("Black", "Other", "White")]
        assert (members[:, :, of_race].sum(axis=2) == 1).all()
        # what a search varies stays one region, or none of these
        drawn = each.sample(np.random.default_rng(0), 300)
        of_region = [each.names.index(f"region_{value}") for value in "nsw"]
        assert (drawn[:, of_region].sum(axis=1) <= 1).all()
        assert (drawn[:, of_race].sum(axis=1) == 1).all()


def test_a_fixed_column_fixes_its_attribute(table):
    plan = plan_of(table)
    plan.protect(["race"], Limits(attributes={"region_s": Limit(role="fixed")}))
    roles = {each.name: each.role for each in plan.domain().attributes}
    assert (roles["region"], roles["region_s"]) == (Role.FIXED, Role.VARIES)
    with pytest.raises(SpecError, match="“race” cannot be"):
        plan.protect(["race"], Limits(attributes={"race_Other": Limit(role="fixed")}))


@pytest.mark.parametrize("name", ["race_Black", "region_s"])
def test_one_of_its_columns_is_not_protected_alone_where_rows_are_left_out(table, name):
    held = read_table(Path(table.source.path))
    source = msgspec.structs.replace(held.source, sample=Sample(ROWS, 0), rows=10 * ROWS)
    plan = plan_of(grouped(replace(held, source=source)))
    plan.protect([name], Limits())
    with pytest.raises(SpecError, match="read in parts"):
        plan.attributes()


def test_an_excluded_attribute_leaves_its_columns_apart(table):
    place = table.index("race")
    columns = list(table.columns)
    columns[place] = msgspec.structs.replace(columns[place], kind=Kind.IGNORED)
    apart = type(table)(table.source, tuple(columns), table.codes)
    plan = plan_of(apart)
    assert "race_Black" in plan.attribute_names()
    assert "race" not in (*plan.attribute_names(), *plan.unseen_names())
    assert not any("race" in text for text in plan.all_constraints())
    assert grouped(apart) is apart


def test_an_attribute_with_the_outcome_in_it_is_not_offered(table):
    plan = plan_of(table, label="race_Black")
    assert set(plan.groups()) == {"region"}
    assert "race" not in (*plan.attribute_names(), *plan.unseen_names())


def test_it_is_offered_once_and_its_columns_are_no_companions_or_absent_pairs(table):
    assert "race" in suggest_protected(table)
    (said,) = (each.what for each in problems(table) if each.column == "race")
    assert "race_Black, race_Other, race_White" in said
    plan = plan_of(table)
    plan.protect(["race"], Limits())
    assert not absent_combinations(plan.attributes(), table, plan.all_constraints())
    support = plan.found_support()
    assert not (*support.companions, *support.proposed, *support.constraints)


SEX = np.array(["F", "M"])[RNG.integers(0, 2, ROWS)]
RACE = np.array(["Asian", "Black", "White"])[PLACE]


@pytest.mark.parametrize(
    ("column", "values", "first", "protected"),
    [("sex", SEX, False, "sex_F"), ("race", RACE, True, "race_White")],
    ids=["sex in two columns", "race without its first level"],
)
def test_an_audit_counts_rows_that_change_with_the_whole_attribute(
    tmp_path, monkeypatch, shared_guests, capsys, column, values, first, protected
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rng = np.random.default_rng(3)
    age, income = rng.integers(18, 70, ROWS), rng.normal(40, 12, ROWS).round(1)
    flags = pd.get_dummies(pd.Series(values), prefix=column, drop_first=first).astype(int)
    frame = pd.DataFrame({"age": age, "income": income, **flags})
    pull = sum(5 * (i + 1) * flags[name] for i, name in enumerate(flags))
    frame["ok"] = (income + 0.2 * age + pull + rng.normal(0, 4, ROWS) > 55).astype(int)
    inputs = frame.drop(columns="ok")
    model = LogisticRegression(max_iter=2000).fit(inputs, frame["ok"])
    frame.to_csv(tmp_path / "table.csv", index=False)
    joblib.dump(model, tmp_path / "model.joblib")
    changed = np.zeros(ROWS, dtype=bool)
    for each in product((0, 1), repeat=flags.shape[1]):
        if sum(each) == 1 or (first and not sum(each)):
            other = inputs.assign(**dict(zip(flags, each, strict=True)))
            changed |= model.predict(other) != model.predict(inputs)
    words = ["audit", "--data", tmp_path / "table.csv", "--model", tmp_path / "model.joblib"]
    words += ["--label", "ok", "--favourable", "1", "--protected", protected, "--json"]
    words += ["--method", "estimate", "--option", "trials=5", "--method", "groups"]
    words += ["--out", tmp_path / "out"]
    code = cli.main([str(word) for word in words])
    printed, errors = capsys.readouterr()
    assert code == 0, errors
    answer = json.loads(printed)
    figures = answer["figures"]
    share = next(each for each in figures if each.get("instances") == "data")
    assert (share["attributes"], share["hits"]) == ([column], int(changed.sum()))
    assert changed.any()
    assert any("is one attribute" in said for said in answer["warnings"])
    wanted = {str(value): int((values == value).sum()) for value in np.unique(values)}
    if first:
        wanted[NONE_OF_THESE] = wanted.pop("Asian")
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        table, spec = store.table(), store.spec
    (attribute,) = spec.domain.grouping
    groups = divide(attribute, encode((attribute,), table)[:, 0])
    counts = np.bincount(groups.place, minlength=len(groups.texts)).tolist()
    assert {text: n for text, n in zip(groups.texts, counts, strict=True) if n} == wanted
    # and again from the file alone: verified with the same columns
    words = ["verify", tmp_path / "out" / "audit.fairdesk", *words[1:5]]
    # estimates from samples are not made again
    assert cli.main([str(word) for word in words]) == 5, capsys.readouterr()
