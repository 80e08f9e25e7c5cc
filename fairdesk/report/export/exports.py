"""The files that leave an audit besides its pairs: groups, proofs, and data to retrain with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.labels import class_labels
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.certify.proof import certificate
from fairdesk.data.table import Table
from fairdesk.errors import ReportError
from fairdesk.report.export.tables import (
    Extended,
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
from fairdesk.results.individual import AuditStudy
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording.groups.findings import mined_with
from fairdesk.wording.groups.tables import group_text, outcome_of
from fairdesk.wording.rules import rule_phrase

#: Pairs that are read at once.
_AT_ONCE = 1_000
#: What is written of a group, and of a rule set, in this order.
_LINE = (
    *("known", "n_samples", "share", "favourable", "rate", "low", "high", "excluded"),
    *("impact_ratio", "below", "flips", "shortfall", "test", "z", "p", "holm"),
    *("difference", "difference_low", "difference_high", "smd", "mean_score"),
    *("positives", "true_positives", "negatives", "false_positives"),
    *("true_positive_rate", "false_positive_rate", "precision", "accuracy"),
    *("equal_opportunity", "average_odds"),
)
_RULE = (
    *("score", "phi_in", "phi_out", "low", "high", "p", "margin", "confidence"),
    *("support", "rows", "n_in", "n_out", "data_in", "data_out", "holds_on_data"),
    "data_rows",
)
#: The heads of those whose names in the code are not the field's.
_HEADS = {
    "n_samples": "n",
    "holm": "corrected p",
    "score": "gap",
    "phi_in": "rate inside",
    "phi_out": "rate outside",
    "margin": "margin of the paper",
    "confidence": "confidence of the paper",
    "n_in": "samples inside",
    "n_out": "samples outside",
    "data_in": "rate inside, original data rows",
    "data_out": "rate outside, original data rows",
    "holds_on_data": "seen in original data rows",
    "data_rows": "original data rows, smaller side",
}


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
    write_rows(path, [*header, *map(_head, _LINE)], rows)


def write_subgroups_csv(store: Store, path: Path) -> None:
    """Write every rule set that is kept as one row, for a spreadsheet; like `write_groups_csv`.

    Columns: ``run``, ``outcome`` (empty for a mean score), ``rank`` by gap, ``subgroup``,
    ``near-duplicate of`` (the rank of the rule set that it nearly describes the people of), then
    the figures of `fairdesk.results.subgroups.RuleSet` as numbers.

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
    header = ("run", "outcome", "rank", "subgroup", "near-duplicate of")
    # that of a subgroup is always corrected
    figures = (_head("holm" if name == "p" else name) for name in _RULE)
    write_rows(path, [*header, *figures], rows)


def write_study_csv(store: Store, path: Path) -> None:
    """Write the audit studies, a row for each value, for a spreadsheet; like `write_groups_csv`.

    Columns: ``run``, ``attribute``, ``value`` (empty for the rows as they are), ``rows``,
    ``selected``, ``rate``; then against the ``reference`` value ``gains``, ``losses``,
    ``difference`` and the ends of its interval.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    attributes = {each.name: each for each in store.spec.domain.attributes}
    rows: list[list[object]] = []
    for run in store.runs():
        for study in (each for each in run.figures if isinstance(each, AuditStudy)):
            attribute, n = attributes[study.attribute], max(study.n_rows, 1)
            about = [run.id, guarded(study.attribute)]
            reference = guarded(attribute.text(study.reference))
            actual = [study.n_rows, study.actual, plain(study.actual / n), reference]
            rows.append([*about, "", *actual, "", "", "", "", ""])
            for each in study.values:
                counts = [study.n_rows, each.favourable, plain(each.favourable / n), reference]
                change = plain((each.gains - each.losses) / n)
                paired = [each.gains, each.losses, change, plain(each.low), plain(each.high)]
                text = guarded(attribute.text(each.code))
                rows.append([*about, text, *counts, *paired])
    header = ("run", "attribute", "value", "rows", "selected", "rate", "reference")
    write_rows(path, [*header, "gains", "losses", "difference", "low", "high"], rows)


#: What is written of groups: from which figures, and by whom.
GROUP_FILES: dict[str, tuple[type[Metric], Callable[[Store, Path], None]]] = {
    "groups.csv": (GroupTable, write_groups_csv),
    "subgroups.csv": (RuleSet, write_subgroups_csv),
    "audit-study.csv": (AuditStudy, write_study_csv),
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
    domain = store.spec.domain
    seen: set[bytes] = set()
    for mark in ("flagged", ""):
        numbers = store.numbers(PairQuery(run=None, mark=mark))
        take = min(room, len(numbers))
        wanted = numbers[np.arange(take) * len(numbers) // max(take, 1)].tolist()
        for start in range(0, take, _AT_ONCE):
            for pair in store.each_pair(PairQuery(among=tuple(wanted[start : start + _AT_ONCE]))):
                key = domain.identity(pair.row[None]).tobytes()
                if key not in seen:
                    seen.add(key)
                    yield pair
        room -= take
        if not room:
            return


def _head(name: str) -> str:
    return _HEADS.get(name, name.replace("_", " "))
