"""The report tells what everybody fulfils, and the domain file asks the same again."""

import numpy as np

from fairdesk.audit.plan.spec import read_limits
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Limit, Role, attribute_of
from fairdesk.data.domain.feasibility import checked, constrained_domain
from fairdesk.data.formats.reading import read_table
from fairdesk.report.content.material import Material, gather
from fairdesk.report.export.exports import write_retraining_csv
from fairdesk.report.export.tables import decoded
from fairdesk.report.provenance import evidence
from fairdesk.report.sections import compared, data
from tests import phrases
from tests.audit.making import domain_of
from tests.report.building import run_into, spec_of, write_people

TEXTS = ("debts = 3 or age < 70", "income is determined by debts", "sex = female implies age <= 70")


def audit(folder):
    table = read_table(write_people(folder / "data.csv"))
    attributes = [
        attribute_of(table.column("age"), Role.VARIES, Limit(low=20, high=78, step=2)),
        attribute_of(table.column("sex"), Role.PROTECTED),
        attribute_of(table.column("job"), unknown=True),
        attribute_of(table.column("debts"), Role.FIXED, Limit(values=(1, 3))),
        attribute_of(table.column("income"), limits=Limit(low=10, high=90)),
    ]
    domain = constrained_domain(attributes, TEXTS, table)
    return table, spec_of(table, "credit", "yes", ("sex",), domain=domain)


def material_of(table, spec, folder):
    with Store.create(folder / "audit.fairdesk", spec, table) as store:
        return Material(spec, table, store.runs(), {}, gather(store), store.log_entries())


def test_the_report_tells_the_domain(tmp_path):
    table, spec = audit(tmp_path)
    material = material_of(table, spec, tmp_path)
    told = str(compared.compared(material).blocks) + str(data.data(material).blocks)
    for text in spec.domain.constraints:
        assert text in told
        broken = checked(spec.domain.attributes, table, text).broken
        assert f"'{text}', '{broken}'" in told
    for words in (
        "20 to 78, in steps of 2",
        "determined by debts",
        "fixed",
        "job (10 rows, as “Unknown”)",
        "Combinations that break a constraint",
    ):
        assert words in told
    people = len(spec.domain.people(table))
    assert phrases.STARTING_POINTS.format(usable=people, total=200, unusable=200 - people) in told
    assert "Constraint broken" in told


def test_the_domain_file_makes_the_same_domain(tmp_path):
    table, spec = audit(tmp_path)
    path = tmp_path / "domain.json"
    path.write_text(evidence.domain_file(spec), encoding="utf-8")
    again = domain_of(
        table, spec.mapping, "credit", ("sex",), read_limits(path), takes_missing=("job",)
    )
    wanted = {each.name: each for each in spec.domain.attributes}
    assert {each.name: each for each in again.attributes} == wanted
    assert again.constraints == spec.domain.constraints
    assert again.determined == spec.domain.determined


def test_unknown_is_written_as_the_file_writes_a_missing_cell(tmp_path):
    table, spec = audit(tmp_path)
    job = spec.domain.attributes[2]
    column = table.column("job")
    codes = decoded(np.array([job.unknown_code, 0.0]), job, column)
    assert [column.text(code) for code in codes.tolist()] == ["?", "clerk"]
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        run_into(
            store, options={"global_num": 60, "local_num": 60}, weights=[[1], [3], [1], [0], [0]]
        )
        assert store.runs()[0].found > 0
        write_retraining_csv(store, tmp_path / "retraining.csv", share=1.0)
    assert "Unknown" not in (tmp_path / "retraining.csv").read_text(encoding="utf-8")
