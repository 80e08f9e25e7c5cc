"""Pairs are written column by column: just what one pair after the other comes to, to the byte."""

import csv
import io

import msgspec
import pytest

from fairdesk.audit.store.pair import FIELDS, FIRST, sides
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.models.decisions.rule import own_number
from fairdesk.report.content import material
from fairdesk.report.export import findings
from fairdesk.report.export.tables import guarded
from fairdesk.wording.decisions import class_texts
from fairdesk.wording.words import protected_names
from tests.plausible import scored
from tests.report.building import people_store, run_into

UNFAIR = [[1], [2], [1], [1], [1]]
EXPORTED = [name for name, field in FIELDS.items() if field.export]


@pytest.fixture
def store(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, options={"global_num": 30, "local_num": 20}, weights=UNFAIR)
        # half of them compared with the data, one told about in words that files must quote
        numbers = store.numbers(PairQuery())
        numbers = numbers[: len(numbers) // 2]
        store.score_plausibility(numbers, scored(numbers / 1e4, numbers, numbers / 7e5))
        store.mark(3, "flagged")
        store.note(3, '=1+1 "quoted", 100 %s\nsecond line, ünï')
        store.mark(5, "dismissed")
        yield store


def value_of(attribute, code):
    text = attribute.text(code)
    return (
        text if attribute.values and not attribute.numeric else (float, int)["." not in text](text)
    )


def exported(store, pair, name):
    spec = store.spec
    value = getattr(pair, name)
    match FIELDS[name].kind:
        case "decision":
            return class_texts(spec, store.table())[value]
        case "score":
            return own_number(value, spec.mapping, spec.model)
        case "attributes":
            names = protected_names(spec.domain)
            return [name for name, alone in zip(names, value, strict=True) if alone]
        case "truth":
            return value if value is None else bool(value)
    return value


def cell(name, value):
    if isinstance(value, float):
        return f"{value:.9g}" if FIELDS[name].kind == "score" else f"{value:.4g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    value = ", ".join(value) if isinstance(value, list) else value
    return "" if value is None else guarded(value) if isinstance(value, str) else value


def pair_by_pair(store):
    """Write both files plainly: an object for each pair."""
    domain = store.spec.domain
    methods = {run.id: run.spec.method for run in store.runs()}
    stream, objects = io.StringIO(newline=""), []
    writer = csv.writer(stream, lineterminator="\n")
    for pair in store.each_pair(PairQuery()):
        person, other = (
            {
                one.name: value_of(one, code)
                for one, code in zip(domain.attributes, row, strict=True)
            }
            for row in (pair.row.tolist(), pair.partner.tolist())
        )
        other = {domain.names[i]: other[domain.names[i]] for i in domain.differing.tolist()}
        values = {name: exported(store, pair, name) for name in EXPORTED}
        first = [cell(name, values[name]) for name in EXPORTED if name in FIRST]
        first.insert(2, methods[pair.run])
        people = [guarded(str(value)) for value in (*person.values(), *other.values())]
        rest = [cell(name, values[name]) for name in EXPORTED if name not in FIRST]
        writer.writerow([*first, *people, *rest])
        members = {"instance": person, "counterfactual": other}
        for name in EXPORTED:
            both = [values[each] for each in sides(name)]
            members[FIELDS[name].member or FIELDS[name].export] = both if len(both) > 1 else both[0]
        objects.append(msgspec.json.encode(members, order="deterministic"))
    return stream.getvalue(), b",\n".join(objects)


@pytest.mark.parametrize("at_once", [7, 2_000])
def test_files_are_those_that_are_written_pair_by_pair(store, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr("fairdesk.audit.store.stored_pairs._COLUMNS_AT_ONCE", at_once)
    rows, objects = pair_by_pair(store)
    findings.write_findings_csv(store, tmp_path / "findings.csv")
    findings.write_findings_json(store, tmp_path / "findings.json")
    written = (tmp_path / "findings.csv").read_bytes().decode("utf-8-sig")
    assert written.partition("\n")[2] == rows
    text = (tmp_path / "findings.json").read_bytes()
    assert text.partition(b',"pairs":[\n')[2] == objects + b"\n]}\n"


def test_a_text_is_made_anew_where_too_many_were_kept(store, tmp_path, monkeypatch):
    findings.write_findings_csv(store, tmp_path / "all.csv")
    monkeypatch.setattr(findings, "_MOST_TEXTS", 1)
    findings.write_findings_csv(store, tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()


def test_what_the_report_counts_is_what_a_walk_over_the_pairs_comes_to(store, monkeypatch):
    monkeypatch.setattr(material, "_POOL", 20)
    found = material.gather(store)
    pairs = list(store.each_pair(PairQuery()))
    assert found.marks == {"flagged": 1, "dismissed": 1, "": len(pairs) - 2}
    (changes,) = found.changes.values()
    assert sum(changes[0].values()) == len(pairs)
    assert set(changes[0]) <= {(0.0, 1.0), (1.0, 0.0)}
    told = {pair.id for pair in (*found.shown, *found.more)}
    assert 3 in told
    assert 5 not in told
    # among those told of are the ones whose scores are farthest apart
    widest = sorted(pairs, key=material.difference, reverse=True)[:5]
    assert {pair.id for pair in widest} - {5} <= told


def test_pairs_in_another_order_are_read_as_they_are_sorted(store: Store):
    query = PairQuery(order="difference", descending=True)
    apart = [material.difference(pair) for pair in store.each_pair(query)]
    assert apart == sorted(apart, reverse=True)
    numbers = [number for each in store.each_columns(query) for number in each.fields["id"]]
    assert numbers == store.numbers(query).tolist()
    assert len(numbers) == len(apart) == store.count(query)
