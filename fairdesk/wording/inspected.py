"""What came of opening a table and a model, for the command line: figures and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import Inspection
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.store.records import Agreement
from fairdesk.data.columns.rereading import is_undecided, missing_words
from fairdesk.data.domain.support import AbsentCombination
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import Table
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.inputs.mapping_file import written
from fairdesk.models.inputs.numbering import CAVEAT as CAVEAT_OF_CODES
from fairdesk.models.inputs.numbering import EXAMPLE, Numbering, Order, codes_text
from fairdesk.models.inputs.usual import CAVEAT, Offer
from fairdesk.models.model import Capability
from fairdesk.wording import words

#: What the audit log says of how often decisions are right.
AGREES = "decision matches the recorded outcome"
#: What a model can do, as what an audit gets from it.
_OFFERS = {
    Capability.DECIDES: "decisions",
    Capability.SCORES: "scores",
    Capability.GRADIENTS: "gradients",
    Capability.LAYERS: "its layers",
    Capability.TREES: "its trees",
    Capability.TEXT: "text as an input",
    Capability.RETRAINS: "retraining",
}
OFFERED = (
    "With its inputs as they are, the model is hardly more accurate than guessing, and no "
    "scaler came with it. With a usual preparation, computed from this table, it would be "
    "more accurate."
)
#: What is said of the combinations of values that no row has.
ABSENT = (
    "These pairs of values of two columns never occur in the data, although they would if the two "
    "attributes were independent."
)
#: So many of them are listed as text.
_MOST_ABSENT = 10


def figures(
    found: Inspection,
    confinement: Confinement | None,
    absent: Sequence[AbsentCombination] = (),
    tried: Sequence[Numbering] = (),
) -> dict[str, object]:
    """Return what ``inspect --json`` prints: plain data."""
    card, proof, source = found.card, found.proof, found.table.source
    facts = {
        "data": {
            "path": source.path,
            "sha256": source.sha256,
            "format": source.dialect.format,
            "table": source.dialect.table,
            "rows": source.rows,
            "columns": sum(not column.derived for column in found.table.columns),
            "problems": [problem.what for problem in problems(found.table)],
            "odd_cells": {each.name: each.odd for each in found.table.columns if each.odd},
            "garbled": {each.name: each.garbled for each in found.table.columns if each.garbled},
            "number_formats": {
                each.name: each.format for each in found.table.columns if each.format is not None
            },
            "one_hot": {each.name: each.derived for each in found.table.columns if each.is_one_hot},
            "decided": {
                "columns": source.dialect.columns,
                "encoding_mended": source.dialect.encoding_mended,
            },
        },
        "favourable": found.favourable,
        "format": card.format,
        "summary": card.summary,
        "sha256": card.sha256,
        "saved_with": card.saved_with,
        "versions": found.contents.saved_with,
        "environment": card.environment,
        "read_as_data": card.read_as_data,
        "needed_trust": card.needed_trust,
        "imports": found.contents.imports,
        "capabilities": card.can,
        "inputs": card.inputs,
        "outputs": card.outputs,
        "output": card.output,
        "scores": card.scores,
        "classes": card.classes,
        "decisions": found.mapping.decisions(card),
        "favourable_class": found.decision,
        "companions": card.companions,
        "matched": found.mapping.matched,
        "mapping": written(found.mapping, card),
        "rows": None if proof is None else proof.rows,
        "left_out": None if proof is None else proof.left_out,
        "accuracy": None if proof is None else proof.accuracy,
        "majority": None if proof is None else proof.majority,
        "auc": None if proof is None else proof.auc,
        "confusion": None if proof is None else proof.confusion,
        "predictions": None if proof is None else dict(proof.predictions),
        "repeatability": None if proof is None else proof.repeatability,
        "methods_off": {key: why for key, each in METHODS.items() if (why := why_off(each, card))},
        "sample": () if proof is None else proof.sample,
        "preparations": [
            {
                "prepare": offer.key,
                "what": offer.title,
                "rows": offer.rows,
                "accuracy": offer.accuracy,
                "auc": offer.auc,
            }
            for offer in found.offers
        ],
        "guessed_codes": found.mapping.guessed,
        "numberings": tried,
        "absent_combinations": absent,
        "isolation": confinement,
        "warnings": warnings(found),
    }
    plain: dict[str, object] = msgspec.to_builtins(facts)
    return plain


def warnings(found: Inspection) -> tuple[str, ...]:
    """Gather what looks wrong with the model and how it is fed, a sentence or two each."""
    whole = words.sampled(found.table.source)
    weights = words.unweighted(found.table.columns, found.mapping)
    return (*filter(None, (whole, weights)), *found.card.warnings, *notes(found))


def notes(found: Inspection) -> tuple[str, ...]:
    """Gather what was noticed while the model was opened and fed; no audit plan keeps it."""
    return (*found.notes, *(() if found.proof is None else found.proof.warnings))


def of_spec(spec: AuditSpec) -> tuple[str, ...]:
    """Gather what looks wrong with data and model as the audit plan has them."""
    said = (words.sampled(spec.data), words.unweighted(spec.columns, spec.mapping))
    return (*filter(None, said), *spec.model.warnings)


def cells(table: Table) -> list[str]:
    """List attributes in several columns, and cells unlike their column, with how to decide."""
    changed = [problem for problem in problems(table) if problem.changes]
    lines = [f"  {column.note}" for column in table.columns if column.is_one_hot]
    lines += [f"  {problem.what} {problem.remedy}" for problem in changed]
    dialect = table.source.dialect
    undecided = [column.name for column in table.columns if is_undecided(column, dialect)]
    if undecided:
        lines.append(
            f"  Decide with --odd-cells “{undecided[0]}=missing” or “{undecided[0]}=mended”, with "
            f"--mend “{undecided[0]}:CELL=NUMBER”, or with --categorical “{undecided[0]}”."
        )
    words = [each.name for each in table.columns if missing_words(each)]
    if words:
        lines.append(f"  Keep such texts as values with --text “{words[0]}”.")
    if not dialect.encoding_mended and any(column.garbled for column in table.columns):
        lines.append("  Repair the encoding with --mend-encoding.")
    return lines


def agreed(proof: InputCheck | None) -> Agreement | None:
    """Return how often the decision matches the recorded outcome; ``None``: it is the outcome."""
    return None if proof is None else Agreement(proof.rows, proof.accuracy, proof.majority)


def agreement(found: Agreement | None) -> str:
    """Say how often the model matches the recorded outcome, by which a wrong set-up shows."""
    if found is None:
        return (
            "The recorded outcome is the decision itself, so there is nothing to compare it with."
        )
    return (
        f"The {AGREES} in {words.percent(found.accuracy, 1)} of "
        f"{words.counted(found.rows, 'row')}; always guessing the more frequent outcome would "
        f"match in {words.percent(found.majority, 1)}."
    )


def absent_counts(absent: AbsentCombination) -> str:
    """Say how many rows have a combination, and how many were expected to."""
    expected = words.number(absent.expected)
    return f"0 of {words.counted(absent.rows, 'row')} (expected {expected})"


def _absent(found: Sequence[AbsentCombination]) -> Iterator[str]:
    """List the combinations that never occur, and how to exclude them."""
    if not found:
        return
    yield ""
    yield (
        f"{ABSENT} To exclude one, give “not (…)” or “… is determined by …” among the constraints "
        "of --domain:"
    )
    for each in found[:_MOST_ABSENT]:
        yield f"  {each.what}: {absent_counts(each)}"
    if (more := len(found) - _MOST_ABSENT) > 0:
        yield f"  and {words.number(more)} more; --json lists all."


def summary(
    found: Inspection,
    confinement: Confinement | None,
    absent: Sequence[AbsentCombination] = (),
    tried: Sequence[Numbering] = (),
) -> str:
    """Say what came of it, for people."""
    card, mapping, source = found.card, found.mapping, found.table.source
    columns = sum(not column.derived for column in found.table.columns)
    size = f"{words.number(source.rows)} rows, {columns:,} columns"
    lines = [
        f"Data: {source.path}: {size}.",
        f"Model: {card.format}. {card.summary.rstrip('.')}."
        if card.can
        else f"{card.summary.rstrip('.')}.",
    ]
    lines[1:1] = cells(found.table)
    if card.saved_with:
        lines.append(f"Saved with {card.saved_with}.")
    if card.environment:
        lines.append(f"Opened in an environment of its own: {card.environment}.")
    if card.can:
        lines.append(f"It offers: {', '.join(_OFFERS[each] for each in card.can)}.")
    if mapping.inputs:
        lines += ["", f"Its inputs, matched {mapping.matched}:"]
        lines += [
            f"  {one.name} ← {one.attribute or 'nothing'}: {words.how_made(one)}"
            for one in mapping.inputs
        ]
    lines += ["", f"“{found.decision}” is the favourable decision."]
    lines.append(agreement(agreed(found.proof)))
    if found.proof is not None and found.proof.auc is not None:
        lines.append(roc_sentence(found.proof.auc))
    if (repeated := card.repeatability) is not None and repeated.holds:
        lines.append(
            f"Repeatable: {words.counted(repeated.rows, 'row')} got the same answers, up to "
            "rounding, when queried again in another order and in other batches."
        )
    if repeated is not None and not repeated.holds:
        usable = [each.title for each in METHODS.values() if not why_off(each, card)]
        lines.append(f"Methods that can be run for this model: {', '.join(usable)}.")
    if confinement is not None and card.can:
        held = [one.what for one in confinement.holds if one.holds]
        lines.append(f"The model’s process is confined: {', '.join(held) or 'not at all'}.")
    lines += [f"Warning: {warning}" for warning in warnings(found)]
    lines += _numbered(tried)
    lines += _absent(absent)
    lines += _offered(found)
    return "\n".join(lines)


def roc_sentence(area: float) -> str:
    """Say the area under the ROC curve, and what it measures."""
    return (
        f"Area under the ROC curve: {area:.3f}. It measures how well the scores rank rows with "
        "the favourable outcome above the others: 1 is perfect, 0.5 is as good as chance."
    )


def _numbered(tried: Sequence[Numbering]) -> Iterator[str]:
    """List the orders in which an author may have numbered each column's values."""
    for each in tried:
        yield ""
        yield f"Which number has each value of “{each.column}”? Orders that authors use:"
        yield from (
            f"  {codes_text(one.codes)} ({one.title}): {tried_as(one)}" for one in each.orders
        )
    if tried:
        yield ""
        yield f"{CAVEAT_OF_CODES} State them with --codes FILE, like {EXAMPLE}."


def tried_as(tried: Order | Offer) -> str:
    """Say how far the model would agree with the label when fed in another way."""
    parts = [f"accuracy {words.percent(tried.accuracy, 1)}"]
    parts += [f"AUC {tried.auc:.2f}"] if tried.auc is not None else []
    calibration = tried.calibration if isinstance(tried, Order) else None
    parts += [f"calibration error {calibration:.3f}"] if calibration is not None else []
    return ", ".join(parts)


def _offered(found: Inspection) -> Iterator[str]:
    """List the preparations that the auditor may choose."""
    if not found.offers:
        return
    yield ""
    yield f"{OFFERED} {CAVEAT} To choose one:"
    for offer in found.offers:
        yield f"  --prepare {offer.key}: {offer.title}: {tried_as(offer)}"
