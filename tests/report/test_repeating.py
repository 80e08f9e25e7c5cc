"""The command that a report prints: typed in, it asks the same question again."""

import csv
import json
import shlex

import joblib
import msgspec
import numpy as np
import pytest

from fairdesk.app import outputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.cli.commands import parse
from fairdesk.cli.repair import repair_of
from fairdesk.data.formats.reading import read_table
from fairdesk.models.model import Companion, Mapping
from fairdesk.report.content.choosing import APPENDIX
from fairdesk.report.content.material import Material, gather
from fairdesk.report.document import make_report
from fairdesk.report.provenance import evidence
from fairdesk.report.provenance.manifest import manifest
from fairdesk.report.sections.methods_and_formulas import appendix
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from tests import phrases
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of


@pytest.fixture
def files(tmp_path, monkeypatch, shared_guests):
    """Write a table, a model that is fed through a scaler, the scaler, and its inputs' names."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(outputs, "OUTPUTS", {})
    rng = np.random.default_rng(2)
    age, income = rng.integers(18, 80, 200), rng.integers(5, 90, 200)
    sex = rng.integers(0, 2, 200)
    good = income + 20 * sex > 55
    with (tmp_path / "people & co.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["age", "sex", "income", "said", "credit"])
        for row in zip(age, sex, income, good, strict=True):
            a, s, i, g = row
            said = "-" if i < 30 else "+"
            writer.writerow([a, ("female", "male")[s], i, said, ("no", "yes")[int(g)]])
    inputs = np.column_stack([age, sex, income]).astype(float)
    scaler = StandardScaler().fit(inputs)
    joblib.dump(LogisticRegression().fit(scaler.transform(inputs), good * 1), tmp_path / "m.pkl")
    joblib.dump(scaler, tmp_path / "scaler.pkl")
    (tmp_path / "names.json").write_text('["age", "sex_male", "income"]', encoding="utf-8")
    return tmp_path


def repeat(folder, monkeypatch):
    """Type in what the report of an audit prints; gives the spec and pairs of both."""
    monkeypatch.chdir(folder)
    with Store.open(folder / "first" / "audit.fairdesk") as store:
        spec, table, runs = store.spec, store.table(), store.runs()
        first = [pair.row.tolist() for pair in store.pairs(PairQuery(), 0, 1_000)]
    mapping = evidence.map_file(spec, table)
    (folder / "mapping.json").write_text(mapping, encoding="utf-8")
    (folder / "domain.json").write_text(evidence.domain_file(spec), encoding="utf-8")
    (command,) = evidence.commands(spec, runs, mapped=bool(mapping))
    assert cli.main(shlex.split(command.replace("\\\n", " "))[1:]) == 0
    with Store.open(folder / "repeated" / "audit.fairdesk") as store:
        again = [pair.row.tolist() for pair in store.pairs(PairQuery(), 0, 1_000)]
        return spec, first, store.spec, again, command


def same_question(spec, other):
    """Return whether two audits have the same id, but for when they were made."""
    told = msgspec.structs.replace(other, created=spec.created, versions=spec.versions)
    return evidence.identity(told) == evidence.identity(spec)


def test_a_mapping_by_hand_with_files_beside_it_is_repeated(files, monkeypatch):
    entry = {"input": "income", "from": "income", "then": [["subtract", 40.5], ["divide", 20]]}
    (files / "by hand.json").write_text(json.dumps({"inputs": [entry]}), encoding="utf-8")
    asked = [
        *("audit", "--data", files / "people & co.csv", "--model", files / "m.pkl"),
        *("--companion", files / "names.json", "--companion", files / "scaler.pkl"),
        *("--map", files / "by hand.json", "--threshold", "0.4"),
        *("--label", "credit", "--favourable", "yes", "--model-favourable", "1"),
        *("--protected", "sex", "--method", "uniform", "--option", "samples=300"),
        *("--seed", "5", "--out", files / "first"),
    ]
    assert cli.main(list(map(str, asked))) == 0
    spec, first, other, again, command = repeat(files, monkeypatch)
    assert "--map mapping.json" in command
    assert "--threshold 0.4" in command
    assert str(files) not in command
    assert command.count("--companion") == 2
    assert same_question(spec, other)
    assert first
    assert again == first


def test_what_is_proposed_needs_no_file(files, monkeypatch):
    asked = [
        *("audit", "--data", files / "people & co.csv", "--model", files / "m.pkl"),
        *("--companion", files / "names.json", "--companion", files / "scaler.pkl"),
        *("--label", "credit", "--favourable", "yes", "--protected", "sex"),
        *("--method", "uniform", "--option", "samples=300", "--out", files / "first"),
    ]
    assert cli.main(list(map(str, asked))) == 0
    with Store.open(files / "first" / "audit.fairdesk") as store:
        assert evidence.map_file(store.spec, store.table()) == ""


def test_decisions_in_a_column_are_repeated(files, monkeypatch):
    asked = [
        *("audit", "--data", files / "people & co.csv", "--predictions", "said"),
        *("--label", "credit", "--favourable", "yes", "--model-favourable=-"),
        *("--protected", "sex", "--out", files / "first"),
    ]
    assert cli.main(list(map(str, asked))) == 0
    spec, _first, other, _again, command = repeat(files, monkeypatch)
    assert "--predictions said" in command
    # what begins with a dash is no flag
    assert "--model-favourable=-" in command
    # measured by the plan that a command without a method follows
    assert "--method groups" in command
    assert same_question(spec, other)
    with Store.open(files / "first" / "audit.fairdesk") as store:
        report = make_report(store)
    printed = str(msgspec.to_builtins(report.sections))
    assert phrases.TO_REPEAT_IT in printed
    assert "Model, SHA-256" not in printed


def measured(path):
    """Return what an audit's runs measured, but for the time that it took."""
    with Store.open(path) as store:
        return [
            msgspec.structs.replace(each, seconds=0.0)
            if isinstance(each, RuleSearchSummary)
            else each
            for run in store.runs()
            for each in run.figures
        ]


def test_rules_about_groups_are_repeated(files, monkeypatch):
    asked = [
        *("audit", "--data", files / "people & co.csv", "--model", files / "m.pkl"),
        *("--companion", files / "names.json", "--companion", files / "scaler.pkl"),
        *("--label", "credit", "--favourable", "yes", "--protected", "sex", "--protected", "age"),
        *("--method", "testsgd", "--option", "outcome=each", "--option", "sample_thr=100"),
        *("--bins", "age=30,50.5", "--out", files / "first"),
    ]
    assert cli.main(list(map(str, asked))) == 0
    spec, _first, other, _again, command = repeat(files, monkeypatch)
    assert "--bins age=30.0,50.5" in command
    assert "--option outcome=each" in command
    assert same_question(spec, other)
    figures = measured(files / "first" / "audit.fairdesk")
    assert any(isinstance(each, RuleSearchSummary) for each in figures)
    assert measured(files / "repeated" / "audit.fairdesk") == figures


def test_tables_of_decisions_alone_are_repeated(files, monkeypatch):
    asked = [
        *("audit", "--data", files / "people & co.csv", "--predictions", "said"),
        *("--label", "credit", "--favourable", "yes", "--model-favourable=+"),
        *("--protected", "sex", "--method", "groups", "--out", files / "first"),
    ]
    assert cli.main(list(map(str, asked))) == 0
    *_, command = repeat(files, monkeypatch)
    assert "--method groups" in command
    figures = measured(files / "first" / "audit.fairdesk")
    assert {each.of for each in figures} == {"label", "decisions"}
    assert measured(files / "repeated" / "audit.fairdesk") == figures


def test_all_that_was_chosen_is_in_the_command(tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",))
    card = msgspec.structs.replace(
        spec.model,
        outputs=("loan", "rate"),
        output="the rate",
        environment="scikit-learn 1.3.2, Python 3.11",
        companions=(Companion("scaler.pkl", "0" * 64, trusted=True),),
        classes=("bad", "fair", "very good"),
    )
    source = msgspec.structs.replace(
        spec.data, dialect=msgspec.structs.replace(spec.data.dialect, table="Sheet 2")
    )
    mapping = Mapping(
        spec.mapping.inputs, "by hand", 1, ("bad", "fair or very good"), together=(1, 2)
    )
    spec = msgspec.structs.replace(spec, model=card, data=source, mapping=mapping)
    command = evidence.command(spec, RunSpec("uniform"))
    for flag in (
        "--table 'Sheet 2'",
        "--output 'the rate'",
        "--make-environment",
        "--trust-model",
        "--model-favourable fair \\\n  --model-favourable 'very good'",
    ):
        assert flag in command
    assert json.loads(evidence.map_file(spec, table))["favourable"] == ["fair", "very good"]


def test_a_repair_is_repeated_on_the_audit_itself(tmp_path):
    def rule(code, outcome="1"):
        figures = (0.2, 0.6, 0.4, 0.04, 0.9, 0.5, 30, 100, 100, 0.0, 1.0, 0.5)
        return RuleSet((Condition("sex", (code,)),), outcome, *figures)

    with people_store(tmp_path) as store:
        options = {"labels": "similar", "most": 8.0}
        pairs = RunSpec("repair-aequitas", options, 5, pairs_of=(1, 2), flagged=True)
        store.begin_run(pairs)
        search = store.begin_run(RunSpec("testsgd"))
        store.measure(search, (rule(0.0), rule(1.0)))
        for each in (rule(1.0), rule(1.0, "0")):
            found = {"rule": each.conditions, "outcome": each.outcome}
            store.begin_run(RunSpec("repair-testsgd", seed=6, **found))
        spec = msgspec.structs.replace(store.spec, trusted=True)
        first, _, second, third = evidence.commands(spec, store.runs(), mapped=True)
    asked = repair_of(typed(first))
    assert asked.run == pairs
    assert (asked.audit.name, asked.trusted) == ("audit.fairdesk", True)
    asked = repair_of(typed(second))
    assert (asked.run, asked.rule) == (RunSpec("repair-testsgd", seed=6), 2)
    # one that the last search has not found has no number
    assert typed(third).rule is None
    assert any("audit file itself" in said for said in evidence.beyond_command(spec, pairs))
    assert not evidence.beyond_command(spec, RunSpec("uniform"))


def typed(command):
    """Read a command line that the report prints."""
    return parse(shlex.split(command.replace("\\\n", " "))[1:])


def test_commands_that_differ_in_their_method_are_printed_once_with_what_differs(tmp_path):
    with people_store(tmp_path) as store:
        for run in (RunSpec("uniform", {"samples": 100}), RunSpec("maft", seed=3)):
            store.end_run(store.begin_run(run), "done")
        whole = [each.text for each in blocks_of(section_of(make_report(store), APPENDIX), "Code")]
        first, _ = evidence.commands(store.spec, store.runs(), mapped=True)
    assert whole[0] == first
    assert whole[1] == "--method maft \\\n  --seed 3"


def test_versions_are_those_of_libraries_on_which_figures_depend(tmp_path):
    with people_store(tmp_path) as store:
        spec = msgspec.structs.replace(
            store.spec, model=msgspec.structs.replace(store.spec.model, format="Keras 3 network")
        )
    held = [
        each
        for each in ("FairDesk", "numpy", "tensorflow-cpu", "lightgbm", "typst")
        if evidence.figures_depend_on(spec, each)
    ]
    assert held == ["FairDesk", "numpy", "tensorflow-cpu"]


def test_a_long_mapping_is_kept_in_the_manifest(tmp_path):
    with people_store(tmp_path) as store:
        codes = {f"value {n}": float(n) for n in range(400)}
        item = msgspec.structs.replace(store.spec.mapping.inputs[2], codes=codes)
        run_into(store, "uniform", options={"samples": 50})
        inputs = (*store.spec.mapping.inputs[:2], item, *store.spec.mapping.inputs[3:])
        mapping = msgspec.structs.replace(store.spec.mapping, inputs=inputs)
        spec = msgspec.structs.replace(store.spec, mapping=mapping)
        material = make_material(store, spec)
    printed = str(msgspec.to_builtins(appendix(material)))
    assert "value 399" not in printed
    assert "map_file" in printed
    assert "value 399" in json.loads(manifest(material))["map_file"]


def make_material(store, spec):
    return Material(spec, store.table(), store.runs(), {}, gather(store), store.log_entries())


def test_the_share_of_several_favourable_values_is_told(tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "job", "cook or pilot", ("sex",))
    counts = table.counts("job")
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        printed = str(msgspec.to_builtins(make_report(store).sections))
    assert (
        f"({counts['cook'] + counts['pilot']} of {sum(counts.values())} {phrases.ROWS_WITH_A_LABEL}"
        in (printed)
    )
