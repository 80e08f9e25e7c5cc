"""What a finished audit says in the terminal: its figures, as window and report have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairdesk.answers import (
    Answer,
    Observed,
    Question,
    best_run,
    best_shares,
    decision_tables,
    observed,
    pairs_found,
)
from fairdesk.app.audit import Outcome, warnings_of
from fairdesk.app.outputs import AUDIT_FILE, MANIFEST, OUTPUTS
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.plausibility import PlausibleShare, plausible_share
from fairdesk.audit.store.records import Agreement, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.record import recorded_agreement, recorded_note
from fairdesk.cli.terminal import table_lines
from fairdesk.document import blocks, comparison, mitigation, proofs, shares, subgroups
from fairdesk.document.answers import answers
from fairdesk.document.board import board
from fairdesk.report.content.status import standing
from fairdesk.report.export.exports import GROUP_FILES
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import Share
from fairdesk.wording import comparisons, figures, inspected, words
from fairdesk.wording.attributes import companion_said
from fairdesk.wording.groups.impact_ratio import (
    is_shown,
    lowest,
    of_main_kind,
    ranked,
    shown_of,
    worst_of,
)
from fairdesk.wording.groups.tables import outcome_of, rate_of, reference_of
from fairdesk.wording.groups.terms import by_category, category_statement
from fairdesk.wording.pairs import plausible_pairs
from fairdesk.wording.proofs import VERDICTS, neighbourhoods_of

#: Runs of these kinds are in the tables above the others.
_IN_TABLES = (QuestionKind.RATES, QuestionKind.SHARE)


class Finished(NamedTuple):
    """A finished audit.

    Attributes
    ----------
    seen : tuple[Observed, ...]
        The outcomes of groups in the data.
    agreed : Agreement, optional
        How often the decision matches the recorded outcome; ``None`` where that is not known.
    warnings, left_out : tuple[str, ...]
        What to check, and which methods a plan left out, a sentence or two each.
    files : Mapping[str, str]
        Name and place of each file of the audit.
    status : str
        Of the report: ``"Draft"`` or ``"Final"``.
    """

    spec: AuditSpec
    runs: tuple[RunRecord, ...]
    seen: tuple[Observed, ...]
    agreed: Agreement | None
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]
    files: Mapping[str, str]
    plausible: Mapping[int, PlausibleShare]
    status: str = "Draft"

    def tables(self, of: str) -> list[GroupTable]:
        """Return the tables of the ``"decisions"`` or of the recorded outcomes (``"label"``)."""
        found = [table for each in self.seen for table in each.outcomes if table.of == of]
        measured = decision_tables(self.runs) if of == "decisions" else ()
        return of_main_kind(self.spec, measured or found)

    @property
    def outcome(self) -> str:
        """The favourable decision, as the table of groups calls it."""
        tables = self.tables("decisions") or self.tables("label")
        return outcome_of(self.spec, tables[0]) if tables else self.spec.favourable

    @property
    def verdict(self) -> str:
        """The answer of the page for those who decide; empty without rates of groups."""
        tabled = self.tables("decisions") or self.tables("label")
        said = board(self.spec, self.runs, self.seen).answer if tabled else ""
        return words.capital(said.removeprefix("No: "))

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that window and report give."""
        return answers(self.spec, self.runs, self.seen)


def finished_of(outcome: Outcome) -> Finished:
    """Return an audit that has just been made."""
    tables = decision_tables(outcome.runs)
    return Finished(
        outcome.spec,
        outcome.runs,
        observed(outcome.spec, outcome.found.table, tables),
        inspected.agreed(outcome.found.proof),
        outcome.warnings,
        tuple(outcome.left_out.values()),
        outcome.files,
        outcome.plausible,
    )


def finished_in(path: Path) -> Finished:
    """Return the audit in an audit file.

    Raises
    ------
    StoreError
        When it cannot be read.
    """
    with Store.read(path) as store:
        spec, table, runs = store.spec, store.table(), tuple(store.runs())
        log, people = store.log_entries(), spec.domain.people(table)
        plausible = {run.id: plausible_share(store, people, run.id) for run in runs if run.found}
        status = standing(store, store.choice().template).word
    noted = filter(None, map(recorded_note, log))
    dropped = [each.what for each in log if each.kind == "planned" and '"dropped"' in each.facts]
    warnings = dict.fromkeys((*dropped, *warnings_of(spec, table, runs, noted)))
    beside = [path.with_name(each) for each in (*OUTPUTS, *GROUP_FILES, MANIFEST)]
    return Finished(
        spec,
        runs,
        observed(spec, table, decision_tables(runs)),
        next(filter(None, map(recorded_agreement, log)), None),
        tuple(warnings),
        (),
        {AUDIT_FILE: str(path.absolute())}
        | {each.name: str(each.absolute()) for each in beside if each.exists()},
        {run: share for run, share in plausible.items() if share is not None},
        status,
    )


def group_rows(audit: Finished, *, everything: bool) -> list[list[tuple[str, ...]]]:
    """Return for each attribute its groups, a row each, the attribute with the lowest ratio first.

    Of each attribute the group with the lowest ratio and the reference, or all. A row is:
    attribute, group, rate and ratio of the decisions, rate and ratio of the recorded outcomes.
    """
    of_model, of_records = (
        {each.attributes: each for each in audit.tables(of)} for of in ("decisions", "label")
    )
    held = (of_model or of_records).values()
    main = ranked(each for each in held if len(each.attributes) == 1)
    # several attributes together where they show a lower ratio than each alone
    crossed = sorted((each for each in held if len(each.attributes) > 1), key=_shown_ratio)[:1]
    main += [e for e in crossed if _shown_ratio(e) < min(map(_shown_ratio, main), default=1.0)]
    found = []
    for table in main:
        lines = [*filter(None, (_lowest_line(table), reference_of(table)))] or table.lines[:2]
        tables = [each.get(table.attributes) for each in (of_model, of_records)]
        shown = [line for line in table.lines if line.rate is not None] if everything else lines
        cells = [[cell for each in tables for cell in _cells(each, line)] for line in shown]
        found.append(
            [
                (words.listed(table.attributes), ", ".join(line.values), *row)
                for line, row in zip(shown, cells, strict=True)
            ]
        )
    return found


def _shown_ratio(table: GroupTable) -> float:
    """Return the lowest impact ratio that chance does not explain; 1 where there is none."""
    line = shown_of(table)
    return 1.0 if line is None or line.impact_ratio is None else line.impact_ratio


def _lowest_line(table: GroupTable) -> GroupLine | None:
    """Return the group that is shown to have the lowest rate, else the lowest that is compared."""
    others = [each for each in table.lines if each is not reference_of(table)]
    compared = [each for each in others if each.impact_ratio is not None]
    return shown_of(table) or min(compared, key=lambda each: each.impact_ratio or 0, default=None)


def _cells(table: GroupTable | None, group: GroupLine) -> tuple[str, str]:
    """Write rate and ratio of a group: ``!`` is below the threshold, ``~`` may be chance."""
    found = () if table is None else table.lines
    line = next((each for each in found if each.values == group.values), None)
    if table is None or line is None or line.rate is None:
        return "", ""
    ratio = "" if line.impact_ratio is None else words.number(line.impact_ratio, 2)
    if ratio:
        ratio += " !" if line.below else "  "
        ratio = ratio if is_shown(table, line) else f"{ratio[:-1]}~"
    return rate_of(table, line), "ref.  " if line is reference_of(table) else ratio


def lowest_ratio(audit: Finished) -> float | None:
    """Return the lowest impact ratio of the decisions, as the report has it.

    Returns
    -------
    float, optional
        1 where no group is shown to have a lower rate; ``None`` where no two can be compared.
    """
    compared = [each for each in audit.tables("decisions") if worst_of(each) is not None]
    shown = shown_of(lowest(compared)) if compared else None
    return None if not compared else 1.0 if shown is None else shown.impact_ratio


def changing_share(audit: Finished) -> Share | None:
    """Return the share of rows whose decision changes; ``None`` where there is no answer."""
    shares = [share for _, share in best_shares(audit.runs) if share.whom == "data"]
    return next((each for each in shares if comparisons.is_answered(audit.spec, each)), None)


def change_rows(audit: Finished) -> list[tuple[str, ...]]:
    """Return a row for each attribute and all together: name, count, share, losses and gains."""
    spec, run = audit.spec, best_run(Question.SHARE, audit.runs)
    held = () if run is None else comparisons.shares_of(run.figures)
    found = sorted((each for each in held if each.whom == "data"), key=lambda s: len(s.attributes))
    beside, rows = () if run is None else run.figures, list[tuple[str, ...]]()
    alike = len({each.n_samples for each in found}) == 1 and all(
        each.exhaustive and comparisons.is_answered(spec, each) for each in found
    )
    for share in found:
        if len(share.attributes) in (1, len(found[-1].attributes)):
            answered = comparisons.is_answered(spec, share)
            cells = _counts(share, beside) if answered else _open(spec, share, beside)
            if alike:
                # of how many stands above them all
                cells = (cells[0].partition(" of ")[0], *cells[1:])
            name, short = words.together(share.attributes), "any of these"
            if len(share.attributes) == 1:
                name = comparisons.with_companions(spec, *share.attributes)
                short = words.shortened(name, _NAME)
            rows.append((name if len(name) <= _NAME else short, *cells))
    return rows


def _open(spec: AuditSpec, share: Share, beside: Sequence[Metric]) -> tuple[str, str, str]:
    """Write the count of a share that is open as it is if the companions change too."""
    counted = comparisons.compared_rows(beside, share.attributes).get("proposed")
    if counted is None or not counted.compared:
        return comparisons.not_known(share, beside) or "not known yet", "", ""
    names = words.listed([e.attribute for e in words.proposed_of(spec.domain, share.attributes)])
    return (
        f"{words.number(counted.hits)} of {words.number(counted.compared)}",
        words.percent(counted.hits, counted.compared),
        f"if {words.shortened(names, _NAME)} changes too",
    )


def term_rows(audit: Finished) -> list[tuple[str, ...]]:
    """Return the same for each category of the identity terms that were replaced in texts."""
    rows: list[tuple[str, ...]] = []
    for terms in (terms for run in audit.runs for terms in by_category(run.figures)):
        texts = max(terms, key=lambda each: (each.flips, -each.tried)).tried
        rates = [words.percent(each.rate, 1.0) for each in terms]
        told = f"{rates[0]} (“{terms[0].term}”) to {rates[-1]} (“{terms[-1].term}”)"
        told = f"{rates[0]} with every term" if rates[0] == rates[-1] else told
        count = f"{category_statement(audit.spec, terms).value} of {words.number(texts)}"
        rows.append((terms[0].category, count, "", f"favourable: {told}"))
    return rows


def _counts(share: Share, beside: Sequence[Metric]) -> tuple[str, str, str]:
    """Write the count of a share, the share, and how many lose, gain and need several changes."""
    if not share.exhaustive:
        return figures.short_share(share), "", figures.share_known(share)
    counted = f"{words.number(share.hits)} of {words.number(share.n_samples)}"
    parts, split = [], comparisons.split_of(share, beside)
    if share.gains is not None and share.losses is not None:
        parts.append(f"{words.number(share.losses)} lose, {words.number(share.gains)} gain")
    if split is not None and split.together:
        need = "both" if len(split.attributes) == 2 else "several"
        parts.append(f"{words.number(split.together)} only if {need} change")
    return counted, words.percent(share.hits, share.n_samples), "; ".join(parts)


def change_notes(audit: Finished) -> Iterator[str]:
    """Yield which changes are enough, what the audit studies show, and what is not compared."""
    spec, run = audit.spec, best_run(Question.SHARE, audit.runs)
    told = [share for _, share in best_shares(audit.runs) if share.whom == "data"]
    if run is None or not told:
        return
    yield comparisons.alone_sentence(spec, max(told, key=lambda s: len(s.attributes)), run.figures)
    for study in comparisons.studies_of(spec, run.figures):
        yield comparisons.against_sentence(spec, study, decision_tables(audit.runs))
    for share in comparisons.shares_of(run.figures):
        if share.whom == "data" and not comparisons.is_answered(spec, share):
            yield figures.share_statement(spec, share, run.figures).sentence
    yield comparisons.unsupported_sentence(spec, told[0])
    for grid in shares.comparison_tables(spec, run.figures):
        yield from _told(grid)
    yield figures.changed_answers(run)
    yield words.ending(run)


#: Letters of the names of attributes that are changed together.
_NAME = 24
#: The word with which each answer begins.
_LEADS = {
    Question.EXAMPLE: "EXAMPLES",
    Question.CERTAIN: "PROVEN",
    Question.SUBGROUPS: "SUBGROUP",
    Question.MITIGATION: "RETRAINED",
}


def results(audit: Finished, *, counted: bool) -> Iterator[tuple[str, str]]:
    """Yield the other answers, each with a word for what it is; then what is not known.

    Parameters
    ----------
    counted : bool
        Whether the rows whose decision changes were counted: then no share of combinations, which
        are not people, is quoted.
    """
    runs = {run.id: run for run in audit.runs}
    for each in audit.answers:
        run, said = runs.get(each.run or 0), each.said
        if each.question not in _LEADS or not each.known or run is None:
            continue
        text = said.sentence
        match each.question:
            case Question.EXAMPLE if said.evidence:
                found = words.counted(pairs_found(audit.runs), "discriminatory pair")
                text = f"{found}: examples, not a rate."
            case Question.CERTAIN if counted and neighbourhoods_of(run.figures) is None:
                text = "Only of a model of the data, or of combinations of values: see the report."
            case Question.CERTAIN:
                text = said.shortest
            case Question.SUBGROUPS:
                added = subgroups.added(audit.spec, run, audit.tables("decisions"))
                if added is not None and not added.value:
                    continue
                text = (added or said).shortest
        yield _LEADS[each.question], text
    for run in audit.runs:
        if method_named(run.method).answers is QuestionKind.DIAGNOSIS:
            yield "SEARCH", comparison.diagnosed(comparison.likened(run))
    tabled = (Question.GROUPS,) if counted else (Question.GROUPS, Question.SHARE)
    for each in audit.answers:
        if each.question in tabled and not each.known and audit.spec.domain.grouping:
            yield "NOT KNOWN", f"{each.question.title} {each.said.sentence}"
    if audit.spec.predictions:
        yield "NOT KNOWN", f"{Question.SHARE.title} There is no model to query."


def to_check(audit: Finished, *, everything: bool) -> Iterator[str]:
    """Yield how runs ended that did not end by themselves, and what looks wrong."""
    for run in audit.runs:
        if said := " ".join(filter(None, (words.ending(run), figures.changed_answers(run)))):
            yield f"{METHODS[run.spec.method].title}: {said}"
    # what changes together is said with what changes
    domain = audit.spec.domain
    told = [companion_said(each, domain.attributes) for each in domain.support.companions]
    yield from (each for each in audit.warnings if everything or each not in told)


def run_lines(audit: Finished, *, tabled: bool) -> Iterator[str]:
    """Yield everything that came of each run; of those in the tables only where there are none."""
    for run in audit.runs:
        if not tabled or method_named(run.method).answers not in _IN_TABLES:
            yield from _run_lines(audit, run, short=len(audit.runs) > 1)


def _run_lines(audit: Finished, run: RunRecord, *, short: bool) -> tuple[str, ...]:
    """Say what came of one run; shortly where there are several."""
    made, share = _composed(audit, run), audit.plausible.get(run.id)
    told = [each for block in made for each in _told(block)] or [figures.no_result(run)]
    effort = f"{words.capital(figures.effort(run))}."
    if short:
        return (f"{METHODS[run.spec.method].title}: {told[0]} {effort}",)
    return (
        *told,
        *([plausible_pairs(share).sentence] if share is not None else []),
        *([run.message] if run.state == "done" and run.message else []),
        effort,
    )


def _composed(audit: Finished, run: RunRecord) -> Sequence[blocks.Block]:
    """Return what came of a run as the window and the report have it."""
    spec, tables = audit.spec, decision_tables(audit.runs)
    match method_named(run.method).answers:
        case QuestionKind.PROOF:
            return [*proofs.compose(spec, run, audit.runs, tables), blocks.Text(VERDICTS)]
        case QuestionKind.SHARE:
            return shares.compose(spec, run, tables)
        case QuestionKind.GROUPS:
            return subgroups.compose(spec, run, tables, {})
        case QuestionKind.REPAIR:
            return mitigation.compose(spec, run)
        case QuestionKind.DIAGNOSIS:
            return comparison.diagnosis(comparison.likened(run))
        case QuestionKind.RATES | QuestionKind.EXAMPLES:
            share = audit.plausible.get(run.id)
            said = figures.headline(spec, run, None if share is None else share.reference)
            alone = map(blocks.Text, figures.alone_sentences(spec, run))
            return [blocks.stated(said), *alone, *comparison.phases([run])]


def _told(block: blocks.Block) -> Iterator[str]:
    """Yield what a block says in sentences, or as a table: with long names after the numbers."""
    match block:
        case blocks.Grid():
            named = max(len(row[0]) for row in (block.header, *block.rows))
            order = [*range(len(block.header))]
            if named > _NAME:
                order.sort(key=lambda at: at not in block.right)
            heads, *rows = ([row[at] for at in order] for row in (block.header, *block.rows))
            right = [place for place, at in enumerate(order) if at in block.right]
            yield from (block.caption, *table_lines(heads, rows, right))
        case blocks.Chart() if not block.optional:
            yield block.alt
        case blocks.Text():
            yield f"{block.lead} {block.text}".lstrip()
        case blocks.Statement():
            yield " ".join((block.sentence, *block.details))
