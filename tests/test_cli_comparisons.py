"""What an audit says first: the same numbers everywhere, and no zero where a companion is open."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from fairdesk.audit.store.store import Store
from fairdesk.cli import audit as cli_audit
from fairdesk.cli import main as cli
from fairdesk.cli.screen import screen
from fairdesk.cli.summary import finished_of
from fairdesk.wording import words
from tests import phrases
from tests.report.reading import text_of

ROWS = 400
#: What each value is with the other sex, where that is confirmed.
CONFIRMED = {
    "status": {
        "with": "sex",
        "values": {"female": {"male single": "female"}, "male": {"female": "male single"}},
    }
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def credit(tmp_path):
    """Write credit applications whose status says their sex, and a tree that reads the status."""
    rng = np.random.default_rng(0)
    sex = np.where(rng.random(ROWS) < 0.5, "male", "female")
    married = np.where(rng.random(ROWS) < 0.5, "male married", "male single")
    table = pd.DataFrame(
        {
            "sex": sex,
            "status": np.where(sex == "female", "female", married),
            "amount": rng.integers(200, 9_000, ROWS),
            "months": rng.integers(4, 60, ROWS),
        }
    )
    good = (table.amount < 4_000).astype(int) + (table.status == "male single")
    table["risk"] = np.where(good > 0, "good", "bad")
    table.to_csv(tmp_path / "credit.csv", index=False)
    rows = table.drop(columns="risk")
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["sex", "status"]), remainder="passthrough"
    )
    tree = make_pipeline(encoder, DecisionTreeClassifier(max_depth=3, random_state=0))
    tree.fit(rows, table.risk)
    skops.io.dump(tree, tmp_path / "tree.skops")
    changed = rows.assign(
        sex=np.where(sex == "female", "male", "female"),
        status=table.status.map(
            {"female": "male single", "male single": "female", "male married": "male married"}
        ),
    )
    return rows, tree.predict(rows) == "good", tree.predict(changed) == "good"


def audited(folder, capsys, monkeypatch, *more):
    """Return the JSON, the terminal's words and those of the report of one audit."""
    outcomes = []

    def kept(*given, performed=cli_audit.audit):
        outcomes.append(performed(*given))
        return outcomes[-1]

    monkeypatch.setattr(cli_audit, "audit", kept)
    options = ("--method", "estimate", "--option", "people=200", "trials=2", "--json", *more)
    files = ("--data", folder / "credit.csv", "--model", folder / "tree.skops")
    about = ("--label", "risk", "--favourable", "good", "--protected", "sex")
    line = ("audit", *files, *about, "--out", folder / "out", *options)
    assert cli.main([str(each) for each in line]) == 0
    told = json.loads(capsys.readouterr().out)
    with Store.open(folder / "out" / "audit.fairdesk") as store:
        report = text_of(store)
    shown = screen(finished_of(outcomes[0]), everything=True).replace(words.NBSP, " ")
    return told, " ".join(shown.split()), report


def test_terminal_report_and_json_give_the_same_numbers(credit, tmp_path, capsys, monkeypatch):
    rows, before, after = credit
    (tmp_path / "companions.json").write_text(json.dumps(CONFIRMED))
    chosen = ("--companions", str(tmp_path / "companions.json"))
    told, terminal, report = audited(tmp_path, capsys, monkeypatch, *chosen)
    (supported,) = (each for each in told["compared_rows"] if each["comparison"] == "supported")
    # those that are married have no counterpart of the other sex
    paired = (rows.status != "male married").to_numpy()
    hits = int((before != after)[paired].sum())
    lost, gained = ((before & ~after)[paired].sum(), (after & ~before)[paired].sum())
    counted = (int(paired.sum()), hits, int(lost), int(gained))
    assert hits
    assert tuple(supported[key] for key in ("compared", "hits", "losses", "gains")) == counted
    assert supported["unsupported"] == ROWS - counted[0]
    male = (rows.sex == "male").to_numpy()
    as_male, as_female = np.where(male, before, after), np.where(male, after, before)
    study = told["audit_study"]["sex"]
    assert study["rows"] == counted[0]
    assert study["selected_as"] == {
        "male": int(as_male[paired].sum()),
        "female": int(as_female[paired].sum()),
    }
    share = f"{words.percent(hits, counted[0])}".replace(words.NBSP, " ")
    assert re.search(rf"\b{hits}\b +{share}", terminal)
    assert f"{hits} of the {counted[0]} people in the data that can be" in report
    assert f"({share})" in report
    assert f"{lost} lose, {gained} gain" in terminal
    assert re.search(rf"{lost} of the \d+ selected\s+would", report)
    assert re.search(rf"{gained} of the \d+ not selected\s+would", report)
    without = f"{ROWS - counted[0]} of {ROWS} people {phrases.NOT_COMPARED}: the data rule out"
    every = [each for each in told["compared_rows"] if each["comparison"] == "all"]
    for text in (terminal, report):
        for count in (*study["selected_as"].values(), study["selected"]):
            assert re.search(rf"\b{count}\b", text)
        assert without in text
        assert re.search(rf"{phrases.POSSIBLE_OR_NOT}.*\b{every[0]['hits']}\b", text, re.DOTALL)
    assert "--companions companions.json" in report
    assert '{"status":{"with":"sex"' in report


def test_a_companion_that_nobody_confirmed_is_no_all_clear(credit, tmp_path, capsys, monkeypatch):
    """The tree does not read ``sex``: alone nothing changes, with the status much does."""
    told, terminal, report = audited(tmp_path, capsys, monkeypatch, "--companions", "ask")
    by_name = {each["comparison"]: each for each in told["compared_rows"]}
    assert by_name["all"]["hits"] == by_name["supported"]["compared"] == 0
    assert by_name["proposed"]["hits"] > 0
    share = words.percent(by_name["proposed"]["hits"], by_name["proposed"]["compared"])
    for text in (terminal, report):
        assert phrases.NOT_KNOWN_YET in text
        assert share.replace(words.NBSP, " ") in text
        assert words.CONFIRM in text
    assert f"{phrases.DECISION_CHANGES_FOR} 0 of" not in f"{terminal} {report}"


class Answers(io.StringIO):
    """What is typed into a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("how", ["none", "FILE"])
def test_what_was_refused_is_named(credit, tmp_path, capsys, monkeypatch, how):
    refused = tmp_path / "refused.json"
    refused.write_text('{"status": {"with": "sex", "values": {}}}', encoding="utf-8")
    chosen = str(refused) if how == "FILE" else how
    told, terminal, report = audited(tmp_path, capsys, monkeypatch, "--companions", chosen)
    sentence = "“status” does not change with “sex”, as the auditor decided"
    assert any(sentence in each for each in told["warnings"])
    assert sentence in terminal
    assert sentence in report


def test_a_refusal_of_what_is_not_there_is_refused(credit, tmp_path, capsys, monkeypatch):
    refused = tmp_path / "refused.json"
    refused.write_text('{"statsu": {"with": "sex", "values": {}}}', encoding="utf-8")
    words = ["audit", "--data", tmp_path / "credit.csv", "--model", tmp_path / "tree.skops"]
    words += ["--label", "risk", "--favourable", "good", "--protected", "sex", "--method", "groups"]
    words += ["--companions", refused, "--out", tmp_path / "out"]
    assert cli.main([str(word) for word in words]) == 1
    assert "“statsu”" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "repeated"), [("n\n", "--companions none"), ("y\n", "--companions companions.json")]
)
def test_what_is_answered_in_the_terminal_is_decided_and_repeated(
    credit, tmp_path, capsys, monkeypatch, typed, repeated
):
    table = pd.read_csv(tmp_path / "credit.csv")
    # each title has one counterpart with the same amounts: the data show it beyond doubt
    young = table.amount < 3_000
    table["title"] = np.where(
        table.sex == "female", np.where(young, "Miss", "Mrs"), np.where(young, "Master", "Mr")
    )
    table.to_csv(tmp_path / "credit.csv", index=False)
    monkeypatch.setattr("sys.stdin", Answers(typed))
    told, _terminal, report = audited(tmp_path, capsys, monkeypatch, "--companions", "ask")
    (supported,) = (each for each in told["compared_rows"] if each["comparison"] == "supported")
    # a refused companion leaves rows without a comparison
    assert supported["compared"] == (len(table) if typed == "y\n" else 0)
    assert {each["comparison"] for each in told["compared_rows"]} == {"supported", "all"}
    assert repeated in report
