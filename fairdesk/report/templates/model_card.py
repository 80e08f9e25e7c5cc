"""A model card: a short description of a model with figures by group and by intersection.

Its sections are those of Mitchell et al.: Model cards for model reporting, FAT* 2019, section 4.
"""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document import groups
from fairdesk.document.blocks import Block, Fact, Facts, Heading, Section, SignatureLine, Text
from fairdesk.report.content.fields import seen
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.provenance import evidence
from fairdesk.report.sections import results, system
from fairdesk.report.templates import shared
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.language import say

#: Groups listed of an intersection, those that fare worst first; the card is to stay short.
_SHOWN = 12
_NOT_MEASURED = (
    "Group metrics. The run would show the model’s own rates and errors by group and by "
    "intersectional subgroup; the figures below describe the recorded outcomes in the data."
)


def details(material: Material) -> Section:
    """Say whose model it is, and which."""
    spec, card = material.spec, material.spec.model
    inside = (
        (Fact("Decisions", say("the column {name}", name=words.quoted(spec.predictions))),)
        if spec.predictions
        else (
            Fact("Format", card.format),
            Fact("Inside", card.summary),
            Fact("SHA-256", card.sha256, exact=True),
        )
    )
    people = system.facts_of(
        material,
        *("system", "system_version", "developer", "model_date", "training_method"),
        *("reference", "licence", "contact"),
    )
    audit = Fact("Audit", evidence.identity(spec), exact=True)
    return Section("Model details", (Facts((*people, *inside, audit)),), fresh=True)


def use(material: Material) -> Section:
    """Return what the model is for, and what not."""
    known = system.facts_of(material, "purpose", "intended_users", "affected", "out_of_scope")
    return Section("Intended use", _facts(known))


def _facts(known: tuple[Fact, ...]) -> tuple[Block, ...]:
    return (Facts(known),) if known else (Text("No information was supplied."),)


def factors(material: Material) -> Section:
    """Say by what the figures are divided."""
    names = words.grouping_names(material.spec.domain)
    texts = [material.spec.domain.names[i] for i in material.spec.domain.texts.tolist()]
    blocks: list[Block] = []
    if known := system.facts_of(material, "factors"):
        blocks.append(Facts(known))
    if names:
        blocks.append(
            Text(
                say(
                    "The figures of this card are by {names}: the attributes in the data "
                    "that the auditor has marked as protected.",
                    names=words.listed(names),
                ),
                lead="Evaluated by.",
            )
        )
    if texts:
        blocks.append(
            Text(say("Identity terms in {names}.", names=words.listed(texts)), lead="Evaluated by.")
        )
    return Section("Factors", tuple(blocks) or (Text("No attribute is protected."),))


def metrics(material: Material) -> Section:
    """Return what was measured, and with what uncertainty."""
    return Section(
        "Metrics",
        (
            shared.metrics(material, repairs=False),
            Text(
                "Group rates, and shares estimated from random samples, have 95\u00a0% confidence "
                "intervals; proven figures have none, because they cover every combination that "
                "they refer to.",
                lead="Uncertainty.",
            ),
        ),
    )


def evaluation(material: Material) -> Section:
    """Say on which data the figures were measured."""
    spec = material.spec
    known = system.facts_of(
        material, "data_source", "data_period", "sampling", "labels", "cleaning"
    )
    return Section(
        "Evaluation data",
        (
            Facts(
                (
                    *known,
                    Fact("Rows", words.counted(spec.data.rows, spec.person)),
                    Fact("SHA-256", spec.data.sha256, exact=True),
                )
            ),
        ),
    )


def training(material: Material) -> Section:
    """Say on which data the model was trained, as far as people know."""
    known = system.facts_of(material, "training_provenance", "training_scope")
    return Section(
        "Training data",
        (
            *_facts(known),
            Text(
                "The training data were not available to the audit. Rows of them may be among "
                "those evaluated, which would make decisions look more accurate."
            ),
        ),
    )


def figures(material: Material) -> Section:
    """Show the figures: of all, by single attributes, by their intersections, of single people."""
    blocks: list[Block] = []
    overall = shared.accuracy(material)
    blocks += [overall] if overall is not None else []
    tables = shared.decided(material)
    if tables:
        alone = [table for table in tables if len(table.attributes) == 1]
        blocks.append(Heading("Unitary results"))
        blocks += [groups.grid(table, _COLUMNS, *_named(material.spec, table)) for table in alone]
        if len(tables) > len(alone):
            blocks += [
                Heading("Intersectional results"),
                groups.grid(tables[-1], _COLUMNS, *_named(material.spec, tables[-1]), most=_SHOWN),
            ]
    else:
        if not material.spec.predictions:
            blocks.append(not_run(_NOT_MEASURED))
        blocks += groups.observed(material.spec, material.observed)
    # the tables above are of groups, and what was repaired is another model
    elsewhere = ("outcomes", "mitigation")
    found = [each for each in results.statements(material) if each.place not in elsewhere]
    if found:
        blocks += [Heading("Individual discrimination, subgroup discovery, certification"), *found]
    return Section("Quantitative analyses", tuple(blocks))


_COLUMNS = ("n_samples", "rate", "interval", "impact", "accuracy", "tpr", "fpr")


def _named(spec: AuditSpec, table: GroupTable) -> tuple[str, str]:
    by = words.listed(table.attributes)
    outcome = outcome_text(spec, table.outcome)
    caption = say("The decision “{outcome}”, by {by}", outcome=outcome, by=by)
    return caption, f"rates-{'-'.join(table.attributes)}"


def ethics(material: Material) -> Section:
    """Return what is at stake."""
    return Section("Ethical considerations", _facts(system.facts_of(material, "ethics")))


def caveats(material: Material) -> Section:
    """Return what else is to be known, and where the whole audit stands."""
    known = system.facts_of(material, "caveats", "known_limits")
    said = [words.EXAMPLES] if material.one_by_one and material.searches else []
    said += [material.estimated] if material.subtle else []
    said += [words.OBSERVED]
    signers = [each for each in material.details.signers if seen(each.name)]
    return Section(
        "Caveats and recommendations",
        (
            *([Facts(known)] if known else []),
            *(Text(each) for each in said),
            Text(
                "This card is short. For the audit plan, every table and the evidence to "
                "verify them, see the audit report with the same id."
            ),
            *(SignatureLine(each.name, each.role, each.date) for each in signers),
        ),
    )


MAKERS: dict[str, Callable[[Material], Section]] = {
    "card-details": details,
    "card-use": use,
    "card-factors": factors,
    "card-metrics": metrics,
    "card-evaluation": evaluation,
    "card-training": training,
    "card-figures": figures,
    "card-ethics": ethics,
    "card-caveats": caveats,
}
