"""The sections on what was certified, discovered and mitigated, and the answers as statements."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdesk.answers import Answer, Question, decision_tables
from fairdesk.audit.store.records import RunRecord
from fairdesk.document import blocks, proofs, subgroups, terms
from fairdesk.document import mitigation as composed
from fairdesk.document.answers import answers
from fairdesk.document.blocks import Block, Callout, Grid, Heading, Section, Statement, Text
from fairdesk.document.pairs import key_of
from fairdesk.report.content.material import Made, Material
from fairdesk.results.subgroups import RuleSearchSummary
from fairdesk.results.trials import trials_of
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.decisions import class_texts
from fairdesk.wording.language import say, say_many
from fairdesk.wording.trials import trial_name


def certification(material: Material) -> Section:
    """Say what each run that certifies shows; in the appendix, of which run is in each heading."""
    spec, runs = material.spec, material.runs
    tables = tuple(map(material.shown.table, decision_tables(runs)))
    blocks: list[Block] = [Text(proof_words.VERDICTS, lead="How to read it.")]
    for run in material.proofs:
        name = material.run_name(run)
        blocks.append(Heading(name))
        blocks += [
            msgspec.structs.replace(each, text=f"{name}: {each.text}")
            if isinstance(each, Heading)
            else each
            for each in proofs.compose(spec, run, runs, tables)
        ]
    # what follows the sign-off begins on a page of its own
    return Section("Certification", (*blocks, *proofs.covers(spec, material.proofs)), fresh=True)


_KINDS = (
    "Three types of evidence are kept apart. Observed figures were counted on the test rows, "
    "which no model retrained here was trained on. Estimated figures come from random "
    "samples, the same ones for every model. Proven figures cover the whole input domain. "
    "Intervals are 95 % confidence intervals; a change whose interval contains zero may be "
    "sampling error."
)


def mitigation(material: Material) -> Section:
    """Show what each mitigation tried, what came of it, and what that does not show."""
    blocks: list[Block] = []
    for run in material.repairs:
        blocks.append(Heading(material.run_name(run)))
        if ended := words.ending(run):
            blocks.append(Callout("Incomplete.", ended))
        blocks += composed.compose(material.spec, run)
        blocks += _files(run, material.made.get(run.id, ()))
    blocks += [Heading("What a mitigation is", appended=True), Text(composed.WHAT), Text(_KINDS)]
    blocks += [Heading(composed.NOT_SHOWN), *composed.limits(material.spec)]
    return Section("Mitigation", tuple(blocks))


def _files(run: RunRecord, made: Sequence[Made]) -> list[Grid]:
    """List the files of the retrained models, by which they are known again."""
    names = {trial.number: trial_name(trial) for trial in trials_of(run.figures)}
    rows = tuple(
        (
            names.get(each.trial, str(each.trial)),
            each.name,
            each.remark,
            words.number(each.size),
            each.sha256,
        )
        for each in made
        if each.size
    )
    if not rows:
        return []
    return [
        Grid(
            header=("Model", "File", "How the file was checked", "Bytes", "SHA-256"),
            rows=rows,
            widths=(1.0, 1.0, 2.2, 0.7, 2.2),
            right=(3,),
            caption="Files of the retrained models, kept in the audit file",
            key=f"files-{run.id}",
            appended=True,
        )
    ]


def subtle(material: Material) -> Section:
    """Show the subgroups that were discovered; where they add nothing, one sentence says so.

    All else is in the appendix then, and so is what other methods found beside them.
    """
    spec, tables = material.spec, decision_tables(material.runs)
    called = terms.names_of(spec, class_texts(spec, material.table))
    ruled = [
        run
        for run in material.subtle
        if any(isinstance(each, RuleSearchSummary) for each in run.figures)
    ]
    main: list[Block] = []
    appendix: list[Block] = []
    for run in material.subtle:
        said = subgroups.added(spec, run, tables)
        ended = words.ending(run)
        quoted = (run in ruled or not ruled) and (said is None or bool(said.value))
        if said is not None and not quoted:
            main.append(Text(said.sentence))
        held = [
            Heading(material.run_name(run), appended=not quoted),
            *([Callout("Incomplete.", ended)] if ended else []),
            *subgroups.compose(spec, run, tables if quoted else (), called),
        ]
        (main if quoted else appendix).extend(held)
    return Section("Subgroup discovery", (*main, *appendix))


#: The section that says more of each answer.
_CHAPTERS = {
    Question.GROUPS: "outcomes",
    Question.SHARE: "results",
    Question.EXAMPLE: "pairs",
    Question.CERTAIN: "certification",
    Question.SUBGROUPS: "subtle",
    Question.MITIGATION: "mitigation",
}


def found(material: Material) -> tuple[Answer, ...]:
    """Return the answers to all questions, as far as the report may tell of single people."""
    gathered, value = material.gathered, material.shown.value
    return answers(
        *(material.spec, material.runs, material.observed),
        *(gathered.clearest, value),
        reverse=gathered.reverse,
    )


def statements(material: Material) -> tuple[Statement, ...]:
    """Return the answers that are known as statements, each with what it rests on."""
    return tuple(_statement(material, each) for each in found(material) if each.known)


def _statement(material: Material, answer: Answer) -> Statement:
    details = " ".join(filter(None, (*answer.details, _source(material, answer))))
    return blocks.stated(answer.said, (details,), place=_place(material, answer.question))


def _place(material: Material, question: Question) -> str:
    """Return where more is said: of the example the very pair."""
    chapter = _CHAPTERS[question]
    if chapter == "pairs" and chapter not in material.chapters:
        chapter = "results"
    pair = material.gathered.clearest if question is Question.EXAMPLE else None
    return chapter if pair is None else f"{chapter}/{key_of(pair)}"


def _source(material: Material, answer: Answer) -> str:
    """Name the run that an answer comes from, and the others that answer the same question."""
    runs = {run.id: run for run in material.runs}
    run = runs.get(answer.run or 0)
    if run is None:
        return ""
    name, ended = material.short_name(run), words.ending(run)
    # a method named for its samples, of which nothing was a sample here
    if answer.said.evidence == "observed" and figures.share_of_data(run.figures):
        name = say("count of all rows, run {n}", n=str(run.id))
    others = [str(each) for each in answer.others if each in runs]
    said = (
        say_many(
            len(others),
            "Source: {run}; also run[|s] {others}.",
            run=name,
            others=words.joined(others),
        )
        if others
        else say("Source: {run}.", run=name)
    )
    return f"{said} {ended}".strip()
