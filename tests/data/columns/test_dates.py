"""Columns of dates, and the ages that follow from them."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from fairdesk.app.plan import AuditPlan, Choice
from fairdesk.data.columns import derived
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import Kind
from fairdesk.errors import DataError, SpecError
from fairdesk.groups.metrics.grouping import divide

AT = date(2024, 6, 30)


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (("1990-12-31", "1991-02-28"), (date(1990, 12, 31), date(1991, 2, 28))),
        (("31/12/1990", "01/02/1991"), (date(1990, 12, 31), date(1991, 2, 1))),
        # a day above 12 tells the order of all
        (("12/31/1990", "01/02/1991"), (date(1990, 12, 31), date(1991, 1, 2))),
        (("31.12.1990", " 1.2.1991 "), (date(1990, 12, 31), date(1991, 2, 1))),
        (("1990-12-31 13:45:00", "1991-02-28T00:00:00Z"), (date(1990, 12, 31), date(1991, 2, 28))),
        (("31 Dec 1990", "1-February-1991"), (date(1990, 12, 31), date(1991, 2, 1))),
        # no such day; not all dates; numbers; none
        (("1990-02-30",), None),
        (("31/12/1990", "unknown"), None),
        (("19901231",), None),
        ((), None),
    ],
)
def test_dates_are_read_all_or_none(texts, wanted):
    assert derived.dates_of(texts) == wanted


def people(tmp_path, cells, *columns):
    path = tmp_path / "people.csv"
    rows = ["born,size,ok" + "".join(f",{name}" for name, _ in columns)]
    for place, cell in enumerate(cells):
        more = "".join(f",{values[place]}" for _, values in columns)
        rows.append(f"{cell},{place % 7},{'yes' if place % 3 else 'no'}{more}")
    path.write_text("\n".join(rows), encoding="utf-8")
    return read_table(path)


def with_ages(table, at=AT, name="born"):
    return read_table(Path(table.source.path), derived.at_date(table.source.dialect, name, at))


@pytest.fixture
def births(tmp_path):
    # more days than an identifier has rows to spare
    return people(
        tmp_path, [f"{1950 + n % 55}-{n % 12 + 1:02}-{n % 28 + 1:02}" for n in range(300)]
    )


def test_ages_are_whole_years_at_a_date(tmp_path):
    cells = ["30/06/2000", "01/07/2000", "29/02/2004", "31/12/1990", "", "31/12/2030"] * 2
    table = with_ages(people(tmp_path, cells))
    column = table.column("age from born")
    assert (column.kind, column.derived) == (Kind.INTEGER, ("born",))
    assert (column.low, column.high, column.missing) == (20.0, 33.0, 4)
    ages = table.codes[:6, table.index("age from born")].tolist()
    assert ages[:4] == [24.0, 23.0, 20.0, 33.0]
    # no cell, and a date after that of the ages
    assert np.isnan(ages[4:]).all()
    assert "2024-06-30" in column.note
    # the dates themselves stay what the model is fed
    assert table.columns[:3] == people(tmp_path, cells).columns


def test_groups_of_ages_are_bands_of_ten_years(births):
    table = with_ages(births)
    attribute = attribute_of(table.column("age from born"), Role.PROTECTED)
    division = divide(attribute, table.codes[:, table.index("age from born")])
    bands = ("up to 24", "25 to 34", "35 to 44", "45 to 54", "55 to 64", "65 and over")
    assert division.texts[:-1] == bands


def test_the_ages_are_at_the_newest_date_of_the_other_columns_else_today(births, tmp_path):
    assert derived.default_date(births, "born") == derived.today()
    applied = [f"2019-0{n % 9 + 1}-01" for n in range(60)]
    table = people(tmp_path, [f"{1960 + n % 30}-01-01" for n in range(60)], ("applied", applied))
    assert derived.default_date(table, "born") == date(2019, 9, 1)
    # an older one is not the date of the data
    assert derived.default_date(table, "applied") == derived.today()


def test_the_window_offers_ages_by_one_click(births):
    (problem,) = (each for each in problems(births) if each.column == "born" and each.changes)
    table = read_table(Path(births.source.path), problem.changes[0].dialect)
    assert table.names[-1] == "age from born"
    # and another date then
    (again,) = (each for each in problems(table) if each.column == "born" and each.changes)
    assert derived.today().isoformat() in again.remedy
    assert all(each.dialect.ages != table.source.dialect.ages for each in again.changes)


def test_what_holds_no_dates_has_no_ages(births):
    with pytest.raises(DataError, match="does not hold dates"):
        with_ages(births, name="size")
    with pytest.raises(DataError, match="No date"):
        with_ages(births, date(1900, 1, 1))


def test_a_column_of_dates_is_meant_by_its_name_and_that_of_its_ages(births):
    for name in ("born", "age from born"):
        assert derived.dated(births, ("size", name)) == ("born",)
    assert derived.dated(births, ("size", "ok")) == ()


def plan_of(table, name, **choice):
    plan = AuditPlan(table=table, label="ok")
    plan.choose(name, Choice(Role.PROTECTED, **choice))
    return plan


@pytest.mark.parametrize("written", ["{y}-{m:02}-{d:02}", "{d:02}.{m:02}.{y}", "{m}/{d}/{y}"])
def test_single_days_are_not_protected(tmp_path, written):
    cells = [written.format(y=1950 + n % 40, m=n % 12 + 1, d=n % 28 + 1) for n in range(90)]
    table = people(tmp_path, cells)
    with pytest.raises(SpecError, match="dates"):
        plan_of(table, "born").attribute("born")
    assert len(plan_of(with_ages(table), "age from born").attribute("age from born").compared) < 10


@pytest.mark.parametrize("low", [0.0, 0.4])
def test_probabilities_are_not_protected_unless_thresholds_are_given(tmp_path, low):
    rng = np.random.default_rng(0)
    numbers = np.round(rng.uniform(low, 1, 90), 4).tolist()
    table = people(tmp_path, ["1990-01-01"] * 90, ("prob_black", numbers))
    with pytest.raises(SpecError, match="probabilities") as refused:
        plan_of(table, "prob_black").attribute("prob_black")
    assert "--bins prob_black=0.5" in refused.value.remedy
    for given in ({"thresholds": True}, {"limits": (0.0, 1.0)}, {"step": 0.25}):
        assert plan_of(table, "prob_black", **given).attribute("prob_black").compared
    # not protected it is a number like any other
    assert plan_of(table, "size").attribute("prob_black").role is Role.VARIES


def test_a_few_shares_are_groups(tmp_path):
    shares = [f"{n % 5 / 4}" for n in range(60)]
    table = people(tmp_path, ["1990-01-01"] * 60, ("part_time", shares))
    assert plan_of(table, "part_time").attribute("part_time").role is Role.PROTECTED
