"""What two kinds of report tell of an audit's figures: metrics, accuracy, tables of groups."""

from __future__ import annotations

from collections.abc import Iterator

from fairdesk.document.blocks import Grid, Statement, stated
from fairdesk.groups.statistics import wilson_ends
from fairdesk.report.content.material import Material
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.trials import measure_of, trial_of
from fairdesk.wording import figures, words
from fairdesk.wording import trials as trial_words
from fairdesk.wording.decisions import favourable
from fairdesk.wording.groups.impact_ratio import accuracy_statement
from fairdesk.wording.language import say


def decided(material: Material) -> list[GroupTable]:
    """Return the tables of groups about the favourable decision; of one attribute, then of more."""
    wanted = favourable(material.spec)
    tables = [each for each in material.group_tables if each.of == "decisions"]
    held = [each for each in tables if each.outcome == wanted] or tables
    return sorted(held, key=lambda each: len(each.attributes))


def metrics(material: Material, *, repairs: bool = True) -> Grid:
    """List what was measured, on what each figure rests, and where it stands.

    Parameters
    ----------
    repairs : bool
        Whether also what was measured of models that were trained again.
    """
    found = [each for each in _metrics(material) if repairs or each[3] != "mitigation"]
    rows = [
        (name, meaning, rests, str(material.number(chapter) or "–"))
        for name, meaning, rests, chapter in found
    ]
    header = ("Metric", "What it shows", "Evidence", "Section")
    widths = (1.5, 2.6, 0.9, 0.6)
    # a short report has no sections to refer to
    columns = 4 if any(material.number(each[3]) for each in found) else 3
    return Grid(
        header=header[:columns],
        rows=tuple(row[:columns] for row in rows),
        widths=widths[:columns],
        right=(3,) if columns == 4 else (),
        caption="What was measured",
        key="metrics",
    )


def _metrics(material: Material) -> Iterator[tuple[str, str, str, str]]:
    of_model = material.measured is not None or bool(material.spec.predictions)
    yield (
        "Rate and impact ratio",
        ("How often each group receives the favourable decision, compared with the reference group")
        if of_model
        else (
            "How often each group has the favourable recorded outcome; this does not describe "
            "the model"
        ),
        "observed",
        "outcomes",
    )
    if material.judged:
        yield (
            "Error rates, precision, accuracy, calibration",
            "How often decisions differ from the recorded outcomes in each group",
            "observed",
            "errors",
        )
    if material.searches:
        yield (
            "Individual discrimination",
            "Instances whose decision changes when only a protected attribute changes",
            "example",
            "results",
        )
    share = "Share of individual discrimination"
    real = [each for run in material.runs if (each := figures.share_of_data(run.figures))]
    if real:
        counted = "observed" if any(each.exact for each in real) else "estimated"
        said = say(
            "The share of the {people} in the data whose decision changes", people=material.people
        )
        yield share, said, counted, "results"
    whole = [each for run in material.runs if (each := figures.share_of_domain(run.figures))]
    if whole:
        said = "The share of the input domain whose decision changes"
        proven = "proven" if any(each.exact for each in whole) else "estimated"
        yield share, said, proven, "results"
    if material.subtle:
        yield (
            "Group fairness score",
            (
                "How far the selection rate of a rule-defined subgroup differs from that of all "
                "others"
            ),
            "estimated",
            "subtle",
        )
    if material.proofs:
        yield (
            "Certified share",
            "The share of the input domain whose decision is proven to be unchanged",
            "proven",
            "certification",
        )
    if material.repairs:
        yield (
            "Before and after a mitigation",
            "How the measures above and the accuracy change when the model is retrained",
            "observed",
            "mitigation",
        )


def accuracy(material: Material) -> Statement | None:
    """Say how accurate the model is on all rows with a label; ``None`` where that is not known."""
    for table in decided(material):
        right, people = _right(table.lines)
        if people:
            low, high = wilson_ends(right, people)
            said = accuracy_statement(
                words.percent(right, people), words.counted(people, material.spec.person)
            )
            ends = f"{words.interval(low, high, 0.95, 1)}."
            return stated(said, (ends,), place=_there(material, "errors"))
    return _tested(material)


def _right(lines: tuple[GroupLine, ...]) -> tuple[int, int]:
    """Count the people decided about as labelled, and all who have a label."""
    right = people = 0
    for line in lines:
        if line.positives is not None and line.negatives is not None:
            people += line.positives + line.negatives
            right += (line.true_positives or 0) + line.negatives - (line.false_positives or 0)
    return right, people


def _tested(material: Material) -> Statement | None:
    """Return the accuracy of the imported model from a repair, which keeps test rows apart."""
    for run in material.repairs:
        imported = trial_of(run.figures, 0)
        measure = measure_of(imported, "accuracy", "test")
        if measure is not None and measure.estimate is not None:
            value, ends = trial_words.measure_parts(measure)
            interval = say("95 % confidence interval: {ends}.", ends=ends) if ends else ""
            place = _there(material, "mitigation")
            return stated(accuracy_statement(value), (interval,), place=place)
    return None


def _there(material: Material, chapter: str) -> str:
    return chapter if chapter in material.chapters else ""
