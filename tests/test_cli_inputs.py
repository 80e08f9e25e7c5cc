"""Whole audits of tables that leave little to search, with real searches, and what they print."""

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.population.plausible import LEAST_ROWS
from fairdesk.samples import samples
from fairdesk.wording import words
from tests import phrases

NAMES = ("female", "male")
MAFT = ("--method", "maft", "--option", "global_num=60", "local_num=30")


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def applicants(rows=600, **more):
    """Draw a table; ``more`` has columns to add, made of the table so far."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 70, rows),
            "sex": rng.choice(NAMES, rows),
            "income": rng.integers(0, 12, rows),
        }
    )
    for name, made in more.items():
        table[name] = made(table)
    points = table["age"] + 12 * (table["sex"] == "male") + 2 * table["income"]
    return table.assign(hired=np.where(points > 60, "yes", "no"))


def logistic(table, inputs):
    """Train a pipeline on some columns of a table."""
    names = [name for name in inputs if not pd.api.types.is_numeric_dtype(table[name])]
    return _trained(LogisticRegression(max_iter=3000), names, table, inputs)


def boosted(table, inputs):
    """Train a pipeline that takes missing names."""
    return _trained(HistGradientBoostingClassifier(max_iter=20), ["sex"], table, inputs)


def _trained(last, names, table, inputs):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoded = make_column_transformer((encoder, names), remainder="passthrough")
    return make_pipeline(encoded, last).fit(table[list(inputs)], table["hired"])


@pytest.fixture
def audited(tmp_path, capsys):
    """Audit a table by a model; gives the exit code, what was printed, and the standard error.

    What is printed is read as JSON, unless it is to be ``plain``.
    """

    def audit(table, model, *more, protected=("sex",), limits=None, plain=False):
        table.to_csv(tmp_path / "people.csv", index=False)
        joblib.dump(model, tmp_path / "model.joblib")
        words = ["--data", tmp_path / "people.csv", "--model", tmp_path / "model.joblib"]
        words += ["--label", "hired", "--favourable", "yes", "--trust-model"]
        words += ["--verbose" if plain else "--json"]
        words += ["--out", tmp_path / "out"]
        words += [part for name in protected for part in ("--protected", name)]
        if limits is not None:
            (tmp_path / "limits.json").write_text(json.dumps(limits))
            words += ["--domain", tmp_path / "limits.json"]
        code = cli.main(["audit", *map(str, (*words, *(more or MAFT)))])
        out, err = capsys.readouterr()
        return code, out if plain else json.loads(out or "{}"), err

    return audit


def pairs_of(tmp_path):
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        return store.spec.domain, list(store.each_pair(PairQuery()))


@pytest.mark.parametrize(("rows", "by_distance"), [(LEAST_ROWS - 1, True), (LEAST_ROWS, False)])
def test_a_table_too_small_for_a_tree_is_compared_by_distance(audited, rows, by_distance):
    model = logistic(applicants(), ("age", "sex", "income"))
    code, told, _ = audited(applicants(rows), model)
    assert code == 0
    assert told["found"] > 0
    assert told["plausible_by_distance"] is by_distance
    assert told["plausible"] == 1


def test_a_column_with_thousands_of_names(audited, tmp_path):
    table = applicants(
        5_000,
        town=lambda t: [f"town {i}" for i in np.random.default_rng(1).integers(0, 4_000, len(t))],
    )
    model = logistic(table, ("age", "sex", "income", "town"))
    code, told, _ = audited(table, model, *MAFT[:3], "global_num=20", "local_num=10")
    assert code == 0
    assert told["found"] > 0
    assert told["plausible"] == 1
    assert any("“town”" in each for each in told["warnings"])
    domain, pairs = pairs_of(tmp_path)
    place = domain.names.index("town")
    assert len(domain.attributes[place].values) == table["town"].nunique() > 2_000
    assert all(pair.row[place] == pair.partner[place] for pair in pairs)


def test_constant_columns(audited, tmp_path):
    table = applicants(country=lambda _: "here", year=lambda _: 2020)
    model = logistic(table, ("age", "sex", "income", "country", "year"))
    code, told, err = audited(table, model)
    assert (code, err) == (0, "")
    assert told["found"] > 0
    assert {name for name in table if any(f"“{name}”" in each for each in told["warnings"])} == {
        *("country", "year"),
    }
    domain, pairs = pairs_of(tmp_path)
    assert {pair.row[domain.names.index("year")] for pair in pairs} == {2020.0}
    # nothing of it can change
    code, told, err = audited(table, model, protected=("country",))
    assert (code, told) == (1, {})
    assert "“country”" in err
    assert phrases.ONE_VALUE in err


def imputed(*names):
    """Return what trains a pipeline that fills missing numbers of some columns in."""

    def train(table, inputs):
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        filled = make_column_transformer(
            (encoder, ["sex"]), (SimpleImputer(), list(names)), remainder="passthrough"
        )
        complete = table.dropna(subset=[name for name in inputs if name not in names])
        model = make_pipeline(filled, LogisticRegression(max_iter=3000))
        return model.fit(complete[list(inputs)], complete["hired"])

    return train


@pytest.mark.parametrize(
    ("train", "decided"),
    [
        (imputed("age", "income"), {"age", "income"}),
        (imputed("age"), {"age"}),
        (boosted, {"age", "income"}),
        (logistic, set()),
    ],
    ids=["imputer", "imputer of one column", "trees", "none"],
)
def test_groups_count_each_row_that_the_model_decides(audited, tmp_path, train, decided):
    """A missing number is no reason to leave out a row that the model decides."""
    table, rng = applicants(), np.random.default_rng(8)
    model = train(table, ("age", "sex", "income"))
    for name in ("age", "income"):
        table[name] = table[name].where(rng.random(len(table)) > 0.2)
    if train is not logistic:
        model = train(table, ("age", "sex", "income"))
    code, told, err = audited(table, model, "--method", "groups")
    assert (code, err) == (0, "")
    refused = table[["age", "income"]].isna()[sorted({"age", "income"} - decided)].any(axis=1)
    tables = [each for each in told["figures"] if each["type"] == "GroupTable"]
    counts = {each["n_samples"] for each in tables if each["of"] in ("decisions", "scores")}
    assert counts == {int((~refused).sum())}
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        agreed = next(each.what for each in store.log_entries() if "matches" in each.what)
        # searches begin at complete rows only
        people = len(store.spec.domain.people(store.table()))
    assert f"of {int((~refused).sum())} rows" in agreed
    assert people == len(table.dropna())


def test_missing_cells_are_a_value_of_their_own(audited, tmp_path):
    table = applicants()
    table["sex"] = table["sex"].where(table.index % 6 > 0)
    code, told, _ = audited(table, boosted(table, ("age", "sex", "income")))
    assert code == 0
    domain, pairs = pairs_of(tmp_path)
    place = domain.names.index("sex")
    unknown = domain.attributes[place].unknown_code
    assert domain.attributes[place].named == NAMES
    assert told["found"] == len(pairs)
    # a pair may compare such a cell with a name, and may be plausible
    assert any(unknown in (pair.row[place], pair.partner[place]) for pair in pairs)
    assert told["plausible"] == 1


@pytest.mark.parametrize("token", ["?", ""])
def test_a_missing_cell_is_exported_as_the_file_has_it(audited, tmp_path, token):
    table = applicants()
    table["sex"] = table["sex"].where(table.index % 6 > 0, token or None)
    code, told, _ = audited(table, boosted(table, ("age", "sex", "income")), *MAFT, "--all-pairs")
    assert code == 0
    files = told["files"]
    cells = pd.read_csv(files["findings.csv"], keep_default_na=False)
    assert set(cells["sex"]) | set(cells["sex (counterfactual)"]) == {*NAMES, token}
    pairs = json.loads(Path(files["findings.json"]).read_text())["pairs"]
    assert {pair["instance"]["sex"] for pair in pairs} <= {*NAMES, token or None}
    model, asked = joblib.load(tmp_path / "model.joblib"), cells[["age", "sex", "income"]]
    asked = asked.assign(sex=asked["sex"].where(asked["sex"] != "", None))
    scores = model.predict_proba(asked)[:, 1]
    np.testing.assert_allclose(cells["score"], scores, atol=1e-5)


def test_how_the_models_encoder_reads_a_table_is_verified_and_reproduced(audited, tmp_path, capsys):
    table = applicants(
        region=lambda t: np.random.default_rng(2).choice(["EU", "AS", "NA", "None"], len(t)),
        zone=lambda t: np.random.default_rng(3).choice(["01", "1", "2.0"], len(t)),
    )
    model = logistic(table, ("age", "sex", "income", "region", "zone"))
    groups = ("--method", "groups")
    code, told, _ = audited(table, model, *groups, protected=("region", "zone"))
    assert code == 0
    own = model.predict(table) == "yes"
    for figure in told["figures"]:
        if figure.get("of") == "decisions" and len(figure["attributes"]) == 1:
            rates = table.assign(own=own).groupby(figure["attributes"][0])["own"].mean()
            found = {line["values"][0]: line["rate"] for line in figure["lines"]}
            assert {key: rate for key, rate in found.items() if rate is not None} == pytest.approx(
                rates.to_dict()
            )
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        reading = store.spec.data.dialect.reading("region")
        assert reading.by_model
        assert reading.missing == ()
        assert not any(
            "“region”" in each.what for each in store.log_entries() if "read" in each.what
        )
    files = ["--data", tmp_path / "people.csv", "--model", tmp_path / "model.joblib"]
    trusted = ["--trust-model", tmp_path / "out" / "audit.fairdesk"]
    assert cli.main(["verify", *map(str, (*files, *trusted))]) == 0, capsys.readouterr()
    again = ["--out", tmp_path / "again"]
    assert cli.main(["reproduce", *map(str, (*files, *again, *trusted))]) == 0


def test_a_protected_column_that_the_model_is_not_given(audited):
    table = applicants(race=lambda t: np.random.default_rng(1).choice(list("abc"), len(t)))
    model = logistic(table, ("age", "sex", "income"))
    code, told, _ = audited(table, model, protected=("sex", "race"))
    assert code == 0
    assert told["found"] == told["alone"]["sex"] > 0
    (warning,) = (each for each in told["warnings"] if "“race”" in each)
    assert "changing it changes no decision" in warning
    # alone it leaves nothing to search: a method is refused, and a plan compares groups only
    code, told, err = audited(table, model, protected=("race",))
    assert (code, told) == (1, {})
    assert phrases.NOT_GIVEN in err
    code, told, _ = audited(table, model, "--plan", "quick", protected=("race",))
    assert code == 0
    assert told["method"] == "groups"
    assert set(told["left_out"]) == {"estimate", "maft"}
    assert all(phrases.NOT_GIVEN in why for why in told["left_out"].values())


@pytest.mark.parametrize(
    ("protected", "columns"),
    [
        ("sex", {"male": lambda t: (t["sex"] == "male").astype(int)}),
        ("sex", {name: lambda t, name=name: (t["sex"] == name) * 1 for name in ("female", "male")}),
        ("sex", {f"sex_{n}": lambda t, n=n: (t["sex"] == n) * 1 for n in NAMES}),
        ("title", {"title": lambda t: t["sex"].map({"female": "Ms", "male": "Mr"})}),
    ],
    ids=["recoded", "one-hot", "one-hot, named after it", "a title"],
)
def test_what_says_the_same_as_a_column_that_the_model_is_not_given_changes(
    audited, protected, columns
):
    table = applicants(**columns)
    given = ["sex"] if protected == "title" else list(columns)
    model = logistic(table, ["age", "income", *given])
    swapped = table.assign(sex=table["sex"].map({"female": "male", "male": "female"}))
    for name, made in columns.items():
        swapped[name] = made(swapped)
    inputs = ["age", "income", *given]
    change = int((model.predict(table[inputs]) != model.predict(swapped[inputs])).sum())
    assert change
    code, told, errors = audited(table, model, "--method", "estimate", protected=[protected])
    assert code == 0, errors
    (share,) = [each for each in told["figures"] if each.get("instances") == "data"]
    assert (share["hits"], share["n_samples"]) == (change, len(table))
    assert any("The model does not receive" in each for each in told["warnings"])


def test_missing_cells_of_a_protected_column_hide_no_companion(audited):
    table = applicants(male=lambda t: (t["sex"] == "male").astype(int))
    model = logistic(table, ["age", "income", "male"])
    inputs = table[["age", "income", "male"]]
    changed = model.predict(inputs) != model.predict(inputs.assign(male=1 - inputs["male"]))
    table.loc[table.index % 30 == 0, "sex"] = "?"
    code, told, errors = audited(table, model, "--method", "estimate")
    assert code == 0, errors
    (share,) = [each for each in told["figures"] if each.get("instances") == "data"]
    assert share["hits"] >= changed[table.index % 30 != 0].sum() > 0


@pytest.mark.parametrize("unknown", ["ignore", "error"])
@pytest.mark.parametrize("known", [None, ""])
def test_an_empty_cell_is_what_the_encoder_knows_it_as(audited, known, unknown):
    table = applicants(club=lambda t: np.resize(["a", "", "b"], len(t)))
    table["hired"] = np.where((table["club"] == "") ^ (table["age"] > 60), "yes", "no")
    club = pd.Series([each or known for each in table["club"]], dtype=object)
    encoder = OneHotEncoder(handle_unknown=unknown, sparse_output=False)
    encoded = make_column_transformer((encoder, ["sex", "club"]), remainder="passthrough")
    inputs = table[["age", "sex", "club"]].assign(club=club)
    model = make_pipeline(encoded, LogisticRegression(max_iter=3000)).fit(inputs, table["hired"])
    right = model.predict(inputs)
    code, told, errors = audited(table, model, "--method", "groups")
    assert code == 0, errors
    decided = next(
        each
        for each in told["figures"]
        if each.get("of") == "decisions" and each["attributes"] == ["sex"]
    )
    for line in decided["lines"]:
        own = table["sex"] == line["values"][0]
        assert line["n_samples"] == own.sum()
        assert line["rate"] == pytest.approx((right[own] == "yes").mean())


def test_constraints_that_no_combination_fulfils_are_named(audited):
    table = applicants()
    model = logistic(table, ("age", "sex", "income"))
    code, told, err = audited(table, model, limits={"constraints": ["income > age"]})
    assert (code, told) == (1, {})
    assert "income > age" in err


def test_constraints_that_no_row_fulfils_are_given_as_the_reason(audited):
    table = applicants()
    table = table[(table["age"] > 20) | (table["income"] < 10)]
    model = logistic(table, ("age", "sex", "income"))
    code, told, err = audited(table, model, limits={"constraints": ["age <= 20", "income >= 10"]})
    assert code == 1
    assert (told["state"], told["found"]) == ("failed", 0)
    assert phrases.NOBODY_TO_START_FROM in err
    assert "breaks a constraint" in err


def titled(table):
    """Return titles of which none goes with two sexes, and two with one."""
    women = np.random.default_rng(4).choice(["Ms", "Mrs"], len(table))
    return np.where(table["sex"] == "female", women, "Mr")


def test_where_no_comparison_is_supported_no_pair_is_found(audited):
    table = applicants(called=titled)
    model = logistic(table, ("age", "sex", "income", "called"))
    for limited in ((), ("--no-plausible",)):
        code, told, _ = audited(table, model, *MAFT, "--companions", "none", *limited)
        assert (code, told["found"], told["tried"], told["state"]) == (3, 0, 0, "done")
        assert told["rejected"] > 0
    code, told, _ = audited(table, model, *MAFT, "--companions", "none", plain=True)
    assert code == 3
    assert phrases.NOT_LIMITED_COMPARES not in told
    assert "has a comparison that the data support" in told


def test_what_follows_from_the_protected_attribute_changes_with_it(audited, tmp_path):
    table = applicants(called=lambda t: np.where(t["sex"] == "female", "Ms", "Mr"))
    model = logistic(table, ("age", "sex", "income", "called"))
    code, told, _ = audited(table, model)
    assert code == 0
    assert told["found"] > 0
    assert told["plausible"] == 1
    domain, pairs = pairs_of(tmp_path)
    sex, called = (domain.names.index(name) for name in ("sex", "called"))
    titles = {
        (domain.attributes[sex].text(row[sex]), domain.attributes[called].text(row[called]))
        for pair in pairs
        for row in (pair.row, pair.partner)
    }
    assert titles == {("female", "Ms"), ("male", "Mr")}


def test_the_text_says_what_it_takes(audited):
    model = logistic(applicants(), ("age", "sex", "income"))
    code, told, _ = audited(applicants(LEAST_ROWS - 1), model, plain=True)
    assert code == 0
    assert f"at least {LEAST_ROWS} data rows" in told
    assert phrases.NOT_LIMITED_COMPARES not in told


def test_a_run_of_a_sample_tells_of_plausible_pairs_and_of_the_population(tmp_path, capsys):
    sample = samples()[0]
    words = ["--data", sample.data_path, "--model", sample.model_path(sample.models[0])]
    words += ["--label", sample.label, "--favourable", sample.favourable]
    words += ["--protected", "sex", "--protected", "race", "--out", tmp_path / "out", "--json"]
    words += [*MAFT, "--method", "certify", "--seconds", "8"]
    assert cli.main(["audit", *map(str, words)]) == 0
    searched, certified = json.loads(capsys.readouterr().out)["runs"]
    assert 0.9 <= searched["plausible_shown"] <= 1
    assert 0 < searched["atn"] <= 100
    parts = [certified[f"population_{name}"] for name in ("certified", "falsified", "undecided")]
    assert sum(parts) == pytest.approx(1)
    # how much is decided in this time is the machine's affair
    assert all(0 <= part <= 1 for part in parts)
    groups = {name: set(rates) for name, rates in certified["rate_low"].items()}
    assert groups == {name: set(rates) for name, rates in certified["rate_high"].items()}
    assert groups["sex"] == {"Female", "Male"}
    # of the others there are too few rows to be compared with
    assert groups["race"] == {"Asian-Pac-Islander", "Black", "White"}
    for name, rates in certified["rate_low"].items():
        for group, low in rates.items():
            assert 0 <= low <= certified["rate_high"][name][group] <= 1


def test_weights_of_a_sample_are_said_not_to_be_used(audited, tmp_path):
    rng = np.random.default_rng(2)
    table = applicants(survey_weight=lambda t: rng.uniform(0.5, 3, len(t)).round(3))
    model = logistic(table, ("age", "sex", "income"))
    code, told, _ = audited(table, model, "--method", "groups")
    assert code == 0
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        said = words.unweighted(store.spec.columns, store.spec.mapping)
    assert "“survey_weight”" in said
    assert said in told["warnings"]
