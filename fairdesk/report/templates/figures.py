"""What forms of reports show of an audit's figures: metrics, accuracy, tables of groups, tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.document import groups
from fairdesk.document.blocks import Block, Grid, Heading, SignatureLine, Text, stated
from fairdesk.groups.statistics import wilson_ends
from fairdesk.report.content.fields import seen
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.provenance import evidence
from fairdesk.report.sections import results
from fairdesk.results.groups import GroupTable
from fairdesk.results.trials import measure_of, trial_of
from fairdesk.wording import figures, words
from fairdesk.wording import trials as trial_words
from fairdesk.wording.decisions import favourable, outcome_text
from fairdesk.wording.groups.impact_ratio import accuracy_statement
from fairdesk.wording.language import say

#: Groups listed of an intersection, those that fare worst first; a card is to stay short.
_MOST = 12
_SHARE = "Share of individual discrimination"


def _decided(material: Material) -> list[GroupTable]:
    """Return the tables of groups about the favourable decision; of one attribute, then of more."""
    wanted = favourable(material.spec)
    tables = [each for each in material.group_tables if each.of == "decisions"]
    held = [each for each in tables if each.outcome == wanted] or tables
    return sorted(held, key=lambda each: len(each.attributes))


def _metrics(material: Material, *, repairs: bool = True) -> Iterator[Grid]:
    """List what was measured, on what each figure rests, and where it stands.

    Parameters
    ----------
    repairs : bool
        Whether also what was measured of models that were trained again.
    """
    found = [each for each in _measured(material) if repairs or each[3] != "mitigation"]
    rows = [
        (name, meaning, rests, str(material.number(chapter) or "–"))
        for name, meaning, rests, chapter in found
    ]
    # a short report has no sections to refer to
    columns = 4 if any(material.number(each[3]) for each in found) else 3
    yield Grid(
        header=("Metric", "What it shows", "Evidence", "Section")[:columns],
        rows=tuple(row[:columns] for row in rows),
        widths=(1.5, 2.6, 0.9, 0.6)[:columns],
        right=(3,) if columns == 4 else (),
        caption="What was measured",
        key="metrics",
    )


def _measured(material: Material) -> Iterator[tuple[str, str, str, str]]:
    """Yield the metrics: the name, what it shows, on what it rests, in which section it is."""
    rates = (
        "How often each group receives the favourable decision, compared with the reference group"
        if material.measured is not None or material.spec.predictions
        else "How often each group has the favourable recorded outcome; this does not describe the "
        "model"
    )
    yield "Rate and impact ratio", rates, "observed", "outcomes"
    if material.judged:
        name = "Error rates, precision, accuracy, calibration"
        shown = "How often decisions differ from the recorded outcomes in each group"
        yield name, shown, "observed", "errors"
    if material.searches:
        shown = "Instances whose decision changes when only a protected attribute changes"
        yield "Individual discrimination", shown, "example", "results"
    of_data, of_domain = (
        [share for run in material.runs if (share := find(run.figures))]
        for find in (figures.share_of_data, figures.share_of_domain)
    )
    if of_data:
        shown = "The share of the {people} in the data whose decision changes"
        rests = "observed" if any(each.exact for each in of_data) else "estimated"
        yield _SHARE, say(shown, people=material.people), rests, "results"
    if of_domain:
        shown = "The share of the input domain whose decision changes"
        rests = "proven" if any(each.exact for each in of_domain) else "estimated"
        yield _SHARE, shown, rests, "results"
    if material.subtle:
        shown = (
            "How far the selection rate of a rule-defined subgroup differs from that of all others"
        )
        yield "Group fairness score", shown, "estimated", "subtle"
    if material.proofs:
        shown = "The share of the input domain whose decision is proven to be unchanged"
        yield "Certified share", shown, "proven", "certification"
    if material.repairs:
        shown = "How the measures above and the accuracy change when the model is retrained"
        yield "Before and after a mitigation", shown, "observed", "mitigation"


def _accuracy(material: Material) -> Iterator[Block]:
    """Say how accurate the model is on all rows with a label, or on the test rows of a repair."""
    for table in _decided(material):
        lines = [each for each in table.lines if None not in (each.positives, each.negatives)]
        people = sum((each.positives or 0) + (each.negatives or 0) for each in lines)
        right = sum(
            (each.true_positives or 0) + (each.negatives or 0) - (each.false_positives or 0)
            for each in lines
        )
        if people:
            share, counted = (
                words.percent(right, people),
                words.counted(people, material.spec.person),
            )
            ends = words.interval(*wilson_ends(right, people), 0.95, 1)
            place = "errors" if "errors" in material.chapters else ""
            yield stated(accuracy_statement(share, counted), (f"{ends}.",), place=place)
            return
    for run in material.repairs:
        measure = measure_of(trial_of(run.figures, 0), "accuracy", "test")
        if measure is not None and measure.estimate is not None:
            value, ends = trial_words.measure_parts(measure)
            interval = say("95 % confidence interval: {ends}.", ends=ends) if ends else ""
            place = "mitigation" if "mitigation" in material.chapters else ""
            yield stated(accuracy_statement(value), (interval,), place=place)
            return


def _accuracy_by_group(material: Material) -> Iterator[Block]:
    """Yield how accurate the model is of each group, in tables."""
    judged = [
        table
        for table in _decided(material)
        if any(line.positives is not None for line in table.lines)
    ]
    alone = [table for table in judged if len(table.attributes) == 1]
    for table in (*alone, *judged[len(alone) :][:1]):
        caption = say(
            "Accuracy, and how often the favourable decision is right or wrong, by {by}",
            by=words.listed(table.attributes),
        )
        key = f"accuracy-{'-'.join(table.attributes)}"
        yield groups.grid(table, ("n_samples", "accuracy", "tpr", "fpr"), caption, key)
    if not judged:
        yield Text(
            "the accuracy by group. A run of “Group metrics” on rows with a recorded outcome "
            "would show it.",
            lead="Not measured in this audit:",
        )


def _tests(material: Material) -> Iterator[Block]:
    """List the runs, with the time at which each began and ended."""
    if not material.runs:
        yield Text("No test has been run yet.")
        return
    yield Grid(
        header=("Run", "Test", "Started (UTC)", "Ended (UTC)", "State", "Section"),
        rows=tuple(
            (
                str(run.id),
                METHODS[run.spec.method].title,
                evidence.clock(run.started),
                evidence.clock(run.ended) if run.ended else "–",
                words.state_word(run.state),
                material.place(run) or "–",
            )
            for run in material.runs
        ),
        widths=(0.35, 1.5, 1.35, 1.35, 0.9, 0.6),
        right=(0, 5),
        caption="The tests of this audit",
        key="tests",
    )


def _of_card(material: Material) -> Iterator[Block]:
    """Yield a card's figures: of all, by attributes, by their intersections, of single people."""
    yield from _accuracy(material)
    tables = _decided(material)
    if tables:
        alone = [table for table in tables if len(table.attributes) == 1]
        yield Heading("Unitary results")
        yield from (_rates(material, table) for table in alone)
        if len(tables) > len(alone):
            yield Heading("Intersectional results")
            yield _rates(material, tables[-1], _MOST)
    else:
        if not material.spec.predictions:
            yield not_run(
                "Group metrics. The run would show the model’s own rates and errors by group and "
                "by intersectional subgroup; the figures below describe the recorded outcomes in "
                "the data."
            )
        yield from groups.observed(material.spec, material.observed)
    # the tables above are of groups, and what was repaired is another model
    elsewhere = ("outcomes", "mitigation")
    if found := [each for each in results.statements(material) if each.place not in elsewhere]:
        yield Heading("Individual discrimination, subgroup discovery, certification")
        yield from found


def _rates(material: Material, table: GroupTable, most: int = groups.LISTED) -> Grid:
    by = words.listed(table.attributes)
    outcome = outcome_text(material.spec, table.outcome)
    caption = say("The decision “{outcome}”, by {by}", outcome=outcome, by=by)
    columns = ("n_samples", "rate", "interval", "impact", "accuracy", "tpr", "fpr")
    return groups.grid(table, columns, caption, f"rates-{'-'.join(table.attributes)}", most=most)


def _evidence_shown(material: Material) -> Iterator[Text]:
    """Yield what the kinds of evidence in a card can show."""
    if material.one_by_one and material.searches:
        yield Text(words.EXAMPLES)
    if material.subtle:
        yield Text(material.estimated)
    yield Text(words.OBSERVED)


#: By their names in the forms.
MAKERS: dict[str, Callable[[Material], Iterable[Block]]] = {
    "metrics": _metrics,
    "metrics, no mitigation": partial(_metrics, repairs=False),
    "accuracy": _accuracy,
    "accuracy by group": _accuracy_by_group,
    "tests": _tests,
    "figures of the card": _of_card,
    "what evidence shows": _evidence_shown,
    "signatures": lambda material: [
        SignatureLine(each.name, each.role, each.date)
        for each in material.details.signers
        if seen(each.name)
    ],
}
