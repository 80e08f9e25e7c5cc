"""What decisions are called."""

import msgspec

from fairdesk.data.formats.reading import read_table
from fairdesk.wording.decisions import class_texts, outcome_text
from tests.report.building import spec_of


def test_an_estimate_is_named_by_the_models_own_limit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex,age,pay\nm,20,1000\nf,30,2600\nm,40,3500\nf,50,1500\n", encoding="utf-8")
    table = read_table(path)
    spec = spec_of(table, "pay", ">= 3000", ("sex",))
    estimate = msgspec.structs.replace(
        spec,
        model=msgspec.structs.replace(spec.model, scores="values", classes=()),
        mapping=msgspec.structs.replace(
            spec.mapping, outcomes=("below 2500", "2500 or more"), threshold=2500.0
        ),
    )
    assert class_texts(estimate, table) == ("below 2500", "2500 or more")
    assert class_texts(spec, table) == ("0", ">= 3000")


def test_a_class_that_was_named_is_called_so_wherever_it_is_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex,age,pay\nm,20,no\nf,30,yes\nm,40,yes\nf,50,no\n", encoding="utf-8")
    spec = spec_of(read_table(path), "pay", "yes", ("sex",))
    favourable = spec.decisions[spec.mapping.favourable_class]
    assert outcome_text(spec, favourable) == "yes"
    mapping = msgspec.structs.replace(spec.mapping, names=("refused", "granted"))
    named = msgspec.structs.replace(spec, mapping=mapping)
    assert outcome_text(named, named.decisions[mapping.favourable_class]) == "granted"
