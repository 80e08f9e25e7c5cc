"""Small tables and models whose right values are known: audited from the command line.

They are not in this repository. The folder `cases` beside that of FAIRDESK_TEST_DATA has one for
each, with `table.csv` and `model.joblib`; where it is absent, these tests skip. To add a case, add
a row to `CASES`.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from fairdesk.cli import main as cli

SHARED = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOLDER = SHARED.parent / "cases"


class Case(NamedTuple):
    """One folder, how it is audited, and what is right.

    `rates` has the rate of favourable decisions of each group, to three digits; `rows` the number
    of rows of some of them. `accuracy` compares the decisions with the recorded outcome, in
    percent. Where decisions are `drawn` at random, rates are near those of one draw. `by` is the
    attribute that tells the groups apart, if not the protected column.
    """

    name: str
    protected: str
    rates: dict[str, float]
    accuracy: float | None = None
    arguments: tuple[str, ...] = ()
    favourable: str = "1"
    rows: dict[str, int] | None = None
    drawn: bool = False
    by: str = ""


CASES = (
    Case(
        "zero_padded",
        "zone",
        {"01": 0.877, "02": 0.724, "1": 0.387, "10": 0.674},
        82.6,
        rows={"01": 300, "02": 308, "1": 282, "10": 310},
    ),
    Case("fips", "state_fips", {"01": 0.894, "02": 0.770, "06": 0.405, "48": 0.702}, 81.6),
    Case("float_as_str", "sex", {"F": 0.590, "M": 0.810}, 81.8, favourable="yes"),
    Case("ordinal_float_str", "sex", {"F": 0.584, "M": 0.803}, 87.3),
    Case(
        "na_category",
        "region",
        {"NA": 0.887, "None": 0.521, "EU": 0.718, "AS": 0.693},
        favourable="yes",
        rows={"NA": 283, "None": 309},
    ),
    Case(
        "none_category_strict",
        "sex",
        {"F": 0.586, "M": 0.834},
        79.8,
        rows={"F": 536, "M": 664},
    ),
    Case("lgbm_category", "sex", {"F": 0.515, "M": 0.733}, 92.0),
    Case(
        "fairlearn_eg",
        "male",
        {"0": 0.709, "1": 0.727},
        arguments=("--trust-model",),
        drawn=True,
    ),
    Case(
        "birth_date",
        "birth_date",
        {
            "up to 24": 0.612,
            "25 to 34": 0.674,
            "35 to 44": 0.688,
            "45 to 54": 0.730,
            "55 to 64": 0.793,
            "65 and over": 0.784,
        },
        78.8,
        ("--age-at", "2024-12-31"),
        rows={"up to 24": 152, "65 and over": 204},
        by="age from birth_date",
    ),
)


def audit_by_groups(folder, out, case, capsys):
    """Audit a case by group; gives the groups' lines of the model's decisions, by their value."""
    words = ["audit", "--data", folder / "table.csv", "--model", folder / "model.joblib"]
    words += ["--label", "ok", "--favourable", case.favourable, "--protected", case.protected]
    words += ["--method", "groups", "--json", "--out", out, *case.arguments]
    code = cli.main([str(word) for word in words])
    printed, errors = capsys.readouterr()
    assert code == 0, errors
    tables = [
        each
        for each in json.loads(printed)["figures"]
        if each.get("of") == "decisions" and each["attributes"] == [case.by or case.protected]
    ]
    return {line["values"][0]: line for line in tables[0]["lines"]}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not here")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_gets_its_right_value(case, tmp_path, monkeypatch, shared_guests, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lines = audit_by_groups(FOLDER / case.name, tmp_path / "out", case, capsys)
    counted = {value: line["n_samples"] for value, line in lines.items() if line["n_samples"]}
    rates = {value: round(lines[value]["rate"], 3) for value in counted}
    assert rates == pytest.approx(case.rates, abs=0.02 if case.drawn else 0)
    assert (case.rows or {}).items() <= counted.items()
    if case.accuracy is not None:
        right = sum(line["accuracy"] * line["n_samples"] for line in lines.values())
        assert abs(100 * right / sum(counted.values()) - case.accuracy) <= 0.05 + 1e-9


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not here")
def test_one_attribute_in_several_columns_changes_as_a_whole(
    tmp_path, monkeypatch, shared_guests, capsys
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = FOLDER / "onehot_protected"
    words = ["audit", "--data", folder / "table.csv", "--model", folder / "model.joblib"]
    words += ["--label", "ok", "--favourable", "1", "--protected", "race_Black", "--json"]
    words += ["--method", "estimate", "--out", tmp_path / "out"]
    assert cli.main([str(word) for word in words]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    share = next(each for each in figures if each.get("instances") == "data")
    assert (share["attributes"], share["hits"], share["n_samples"]) == (["race"], 299, 1200)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not here")
def test_numbers_given_by_hand_are_stated_or_asked_for(
    tmp_path, monkeypatch, shared_guests, capsys
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder, codes = FOLDER / "sex_reverse", tmp_path / "codes.json"
    codes.write_text('{"sex": {"F": 1, "M": 0}}', encoding="utf-8")
    case = Case("sex_reverse", "sex", {}, arguments=("--codes", str(codes)))
    lines = audit_by_groups(folder, tmp_path / "out", case, capsys)
    assert {value: round(line["rate"], 3) for value, line in lines.items()} == {
        "F": 0.515,
        "M": 0.764,
    }
    rows = {value: line["n_samples"] for value, line in lines.items()}
    right = sum(line["accuracy"] * rows[value] for value, line in lines.items())
    assert round(100 * right / sum(rows.values()), 1) == 78.7
    with pytest.raises(AssertionError, match=r"--codes.*--accept-guesses"):
        audit_by_groups(folder, tmp_path / "none", case._replace(arguments=()), capsys)
    assert not (tmp_path / "none" / "report.pdf").exists()
