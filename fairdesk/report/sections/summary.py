"""The answers to an audit's questions as statements, for the kinds of report that print them."""

from __future__ import annotations

from fairdesk.answers import Answer, Question
from fairdesk.document import blocks
from fairdesk.document.answers import answers
from fairdesk.document.blocks import Statement
from fairdesk.document.pairs import key_of
from fairdesk.report.content.material import Material
from fairdesk.wording import figures, words
from fairdesk.wording.language import say, say_many

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
            "Source: {run}; also run {others}.",
            "Source: {run}; also runs {others}.",
            run=name,
            others=words.joined(others),
        )
        if others
        else say("Source: {run}.", run=name)
    )
    return f"{said} {ended}".strip()
