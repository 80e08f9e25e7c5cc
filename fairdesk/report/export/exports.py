"""The files that leave an audit: findings as CSV and JSON, and data to retrain the model with."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.labels import class_labels
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import FIELDS, FIRST, Pair, sides
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.certify.proof import certificate
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Table
from fairdesk.errors import ReportError
from fairdesk.models.decisions.rule import own_number
from fairdesk.report.export.tables import (
    Extended,
    beside,
    guarded,
    is_there,
    plain,
    rows_of_people,
    write_exactly,
    write_rows,
)
from fairdesk.report.writing import replacing
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording.decisions import class_texts
from fairdesk.wording.groups.subgroups import mined_with
from fairdesk.wording.groups.tables import group_text, outcome_of
from fairdesk.wording.rules import rule_phrase
from fairdesk.wording.words import protected_names

#: What is written of a pair, in this order; beside it the method of its run, in this place.
_EXPORTED = {name: field for name, field in FIELDS.items() if field.export}
_METHOD = 2
_MEMBERS = {field.member or field.export: sides(name) for name, field in _EXPORTED.items()}
#: What may be exported of a pair's field.
_Value = str | int | float | list[str] | None
#: What is written of a group, and of a rule set, in this order.
_LINE = (
    *("known", "people", "share", "favourable", "rate", "low", "high", "excluded"),
    *("impact_ratio", "below", "flips", "shortfall", "test", "z", "p", "holm"),
    *("difference", "difference_low", "difference_high", "smd", "mean_score"),
    *("positives", "true_positives", "negatives", "false_positives"),
    *("true_positive_rate", "false_positive_rate", "precision", "accuracy"),
    *("equal_opportunity", "average_odds"),
)
_RULE = (
    *("score", "phi_in", "phi_out", "low", "high", "p", "margin", "confidence"),
    *("support", "rows", "n_in", "n_out", "data_in", "data_out", "holds_on_data"),
)


def write_findings_csv(store: Store, path: Path) -> None:
    """Write every pair as one row, for a spreadsheet: UTF-8 with a byte order mark, commas.

    Columns: ``finding``, ``run``, ``method``, ``phase``, every attribute of the person in the
    data's own values, for each attribute in which the two of a pair may differ
    ``"<name> (other)"`` with the value of the other person, then what else is exported of a pair
    (`PairField.export`), with ``(other)`` that of its partner: scores are of the favourable
    outcome, ``enough alone`` lists the protected attributes of which one change is enough. What is
    not known is empty. Cells that a spreadsheet would run are guarded.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    methods = {run.id: run.spec.method for run in store.runs()}
    decisions = class_texts(spec, store.table())
    attributes = spec.domain.attributes
    differing = spec.domain.differing
    compared = [attributes[i] for i in differing.tolist()]
    first = [name for name in _EXPORTED if name in FIRST]
    rest = [name for name in _EXPORTED if name not in FIRST]
    heads = _heads(first)
    heads.insert(_METHOD, "method")
    others = [f"{attribute.name} (other)" for attribute in compared]
    own = beside(spec.domain.names, [*heads, *others, *_heads(rest)])
    header = [*own[: len(heads)], *spec.domain.names, *own[len(heads) :]]
    with replacing(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([guarded(name) for name in header])
        for pair in store.each_pair(PairQuery(run=None)):
            cells = {
                name: _cell(name, _exported(spec, decisions, pair, name)) for name in _EXPORTED
            }
            begin = [cells[name] for name in first]
            begin.insert(_METHOD, methods[pair.run])
            writer.writerow(
                [
                    *begin,
                    *_cells(attributes, pair.row.tolist()),
                    *_cells(compared, pair.partner[differing].tolist()),
                    *(cells[name] for name in rest),
                ]
            )


def write_findings_json(store: Store, path: Path) -> None:
    """Write the question, the runs and every pair as one JSON object; pairs are streamed.

    Its members: ``spec``, ``runs``, ``pairs``. A pair has ``person`` (attribute to value: a number,
    or the data's own text), ``other`` (the other person's values of what may differ: protected
    attributes, and what follows these), and what else is exported of a pair (`PairField.member`):
    what there is of both as ``[person's, other's]``, and null for what is not known.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    decisions = class_texts(spec, store.table())
    encode = msgspec.json.Encoder(order="deterministic").encode
    with replacing(path) as draft, draft.open("wb") as stream:
        stream.write(b'{"spec":' + encode(spec))
        stream.write(b',"runs":' + encode(store.runs()))
        stream.write(b',"pairs":[')
        for i, pair in enumerate(store.each_pair(PairQuery(run=None))):
            stream.write(b"\n" if i == 0 else b",\n")
            stream.write(encode(_pair_object(spec, pair, decisions)))
        stream.write(b"\n]}\n")


def write_certificate(store: Store, run_id: int, path: Path) -> None:
    """Write what a run proved, box by box, in the format of `fairdesk.certify.proof.certificate`.

    Raises
    ------
    ReportError
        When the run has proven nothing, or the file cannot be written.
    """
    kept = store.certificate(run_id)
    if kept is None:
        raise ReportError(
            f"Run {run_id} has no proof certificate.", remedy="Choose a certification run."
        )
    with replacing(path) as draft:
        certificate.write(draft, *kept)


def write_groups_csv(store: Store, path: Path) -> None:
    """Write every group of every table that was measured as one row, for a spreadsheet.

    UTF-8 with a byte order mark, commas. Columns: ``run``, ``counted`` (label, decisions or
    scores), ``outcome``, ``attributes``, ``group``, then the figures of
    `fairdesk.results.groups.GroupLine` as numbers; what is undefined is empty.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    rows = (
        [
            *(run.id, table.of, guarded(outcome_of(spec, table))),
            guarded(", ".join(table.attributes)),
            guarded(group_text(table, line)),
            *(plain(getattr(line, name)) for name in _LINE),
        ]
        for run in store.runs()
        for table in run.figures
        if isinstance(table, GroupTable)
        for line in table.lines
    )
    header = ("run", "counted", "outcome", "attributes", "group")
    write_rows(path, [*header, *(name.replace("_", " ") for name in _LINE)], rows)


def write_rule_sets_csv(store: Store, path: Path) -> None:
    """Write every rule set that is kept as one row, for a spreadsheet; like `write_groups_csv`.

    Columns: ``run``, ``outcome`` (empty for a mean score), ``rank`` by score, ``rule``,
    ``variant of`` (the rank of the rule set that it nearly describes the people of), then the
    figures of `fairdesk.results.subgroups.RuleSet` as numbers.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    rows = (
        [
            *(run.id, guarded(each.outcome), rank),
            guarded(rule_phrase(spec, each.conditions)),
            each.leader + 1 if each.leader >= 0 else "",
            *(plain(getattr(each, name)) for name in _RULE),
        ]
        for run in store.runs()
        for _, sets in mined_with(run.figures)
        for rank, each in enumerate(sets, start=1)
    )
    header = ("run", "outcome", "rank", "rule", "variant of")
    write_rows(path, [*header, *(name.replace("_", " ") for name in _RULE)], rows)


#: What is written of groups: from which figures, and by whom.
GROUP_FILES: dict[str, tuple[type[Metric], Callable[[Store, Path], None]]] = {
    "groups.csv": (GroupTable, write_groups_csv),
    "rule_sets.csv": (RuleSet, write_rule_sets_csv),
}


def group_files(store: Store) -> dict[str, Callable[[Store, Path], None]]:
    """Name the files about groups that there is something to write in, and say who writes each."""
    kinds = {type(figure) for run in store.runs() for figure in run.figures}
    return {name: write for name, (kind, write) in GROUP_FILES.items() if kind in kinds}


class UnlabelledError(ReportError):
    """There is no one value of the label that a decision of the model means."""


def write_retraining_csv(store: Store, path: Path, *, share: float = 0.10) -> None:
    """Write the data with discriminatory pairs added, to retrain the model with.

    The file has the columns of the audited one, in their order and written in the same way: first
    its rows with their labels, then both members of discriminatory pairs. Both get one label: the
    decision on the member of whom the model is surer (whose score of the decided outcome is
    greater; the found person's where both are equal), so that the two are treated alike. Columns
    that the search does not know hold the missing token.

    Flagged pairs come first, then pairs spread evenly over all others in the order in which they
    were found; dismissed ones never. The choice is the same each time. Cells are exact: nothing
    is guarded against spreadsheets.

    Parameters
    ----------
    store : Store
        The audit.
    path : Path
        The file to write.
    share : float
        At most so many rows are added, as a share of the data's rows.

    Raises
    ------
    UnlabelledError
        When a decision means no value of the label.
    ReportError
        When the file cannot be written.
    """
    table = store.table()
    added = _retraining_rows(store, table, int(share * len(table.codes)) // 2)
    write_exactly(path, Extended(table, added, there=is_there(table.source)))


def _retraining_rows(store: Store, table: Table, room: int) -> Table:
    """Return both members of up to ``room`` pairs as rows of the table."""
    spec = store.spec
    labels = class_labels(spec, table)
    people: list[NDArray[np.float64]] = []
    decided: list[str] = []
    for pair in _chosen(store, room):
        surer = pair.row_class
        if _certainty(spec, pair.partner_score, pair.partner_class) > _certainty(
            spec, pair.row_score, pair.row_class
        ):
            surer = pair.partner_class
        label = labels[surer]
        if label is None:
            raise UnlabelledError(
                "No table for retraining could be made.",
                why=f"The model decides “{spec.decisions[surer]}”, which is not a value of the "
                f"recorded outcome “{spec.label}”: the value to write is not known.",
                remedy=(
                    "Use a model whose decisions are single values of the recorded outcome, by "
                    "name."
                ),
            )
        people += [pair.row, pair.partner]
        decided += [label, label]
    rows = np.array(people).reshape(-1, len(spec.domain.attributes))
    return rows_of_people(spec.domain.attributes, table, rows, spec.label, decided)


def _certainty(spec: AuditSpec, score: float, decided: int) -> float:
    """Return how sure the model is of a decision, from the score of the favourable outcome."""
    return score if decided == spec.mapping.favourable_class else 1.0 - score


def _chosen(store: Store, room: int) -> Iterator[Pair]:
    """Choose pairs: flagged ones, then unmarked ones spread evenly; what two runs found, once."""
    others = store.spec.domain.others
    seen: set[bytes] = set()
    for mark in ("flagged", ""):
        query = PairQuery(run=None, mark=mark)
        count = store.count(query)
        take = min(room, count)
        wanted = frozenset((np.arange(take) * count // max(take, 1)).tolist())
        for position, pair in enumerate(store.each_pair(query)):
            key = pair.row[others].tobytes()
            if position in wanted and key not in seen:
                seen.add(key)
                yield pair
        room -= take
        if not room:
            return


def _value(attribute: Attribute, code: float) -> str | int | float:
    """Return a code's value: numbers as numbers, names as the data's own text."""
    if attribute.numeric:
        text = attribute.text(code)
        return int(text) if text.lstrip("-").isdigit() else float(text)
    if attribute.values:
        return attribute.text(code)
    return int(code) if attribute.integral else code


def _cells(attributes: Sequence[Attribute], codes: Iterable[float]) -> Iterator[str]:
    """Write codes: exact, with a decimal point; texts guarded."""
    for attribute, code in zip(attributes, codes, strict=True):
        value = _value(attribute, code)
        yield guarded(value) if isinstance(value, str) else str(value)


def _heads(names: Iterable[str]) -> list[str]:
    """Name the columns of fields."""
    return [FIELDS[name].export + (" (other)" if name != sides(name)[0] else "") for name in names]


def _exported(spec: AuditSpec, decisions: Sequence[str], pair: Pair, name: str) -> _Value:
    """Return a field's value as it leaves the audit: scores are the model's own numbers."""
    value: Any = getattr(pair, name)
    match FIELDS[name].kind:
        case "decision":
            value = decisions[value]
        case "score":
            value = own_number(value, spec.mapping, spec.model)
        case "attributes":
            value = list(compress(protected_names(spec.domain), value))
    exported: _Value = value
    return exported


def _cell(name: str, value: _Value) -> str | int:
    """Write a value that `_exported` gave for a spreadsheet; texts guarded."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.9g}" if FIELDS[name].kind == "score" else f"{value:.4g}"
    if isinstance(value, list):
        return guarded(", ".join(value))
    return guarded(value) if isinstance(value, str) else value


def _pair_object(spec: AuditSpec, pair: Pair, decisions: tuple[str, ...]) -> dict[str, Any]:
    differing = frozenset(spec.domain.differing.tolist())
    person = zip(spec.domain.attributes, pair.row.tolist(), strict=True)
    other = enumerate(zip(spec.domain.attributes, pair.partner.tolist(), strict=True))
    members: dict[str, Any] = {
        "person": {one.name: _value(one, code) for one, code in person},
        "other": {one.name: _value(one, code) for i, (one, code) in other if i in differing},
    }
    for member, names in _MEMBERS.items():
        values = [_exported(spec, decisions, pair, name) for name in names]
        members[member] = values if len(values) > 1 else values[0]
    return members
