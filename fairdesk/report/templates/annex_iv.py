"""The fairness annex to the technical documentation of a high-risk system.

Its first nine sections are the nine points of Annex IV, with their numbers (Regulation (EU)
2024/1689); what an audit cannot tell of them is said in a line. Behind them stands the test report.
"""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.verify.files import base_name
from fairdesk.document import groups
from fairdesk.document.blocks import Block, Callout, Fact, Facts, Grid, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.report.provenance import evidence
from fairdesk.report.sections import results, system
from fairdesk.report.templates import shared
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable_text
from fairdesk.wording.language import say

#: Before what an audit for discrimination cannot tell; a line each.
_OUTSIDE = "Not part of this audit:"


def _filled(material: Material, *keys: str) -> Block:
    """Return what people told; in a draft also what they have not told yet."""
    known = system.facts_of(material, *keys)
    return Facts(known) if known else Text("No information was supplied.")


def general(material: Material) -> Section:
    """Point 1: what the system is, whose, and for what."""
    return Section(
        "General description of the system",
        (
            Text(
                "This is what a discrimination audit can contribute to the technical "
                "documentation that Annex IV of the AI Act lists. Sections 1 to 9 have the "
                "numbers of its points, and their headings name its letters. Each point "
                "outside the audit is stated in one line, for the provider to add. The "
                "sections after them are the test report."
            ),
            Heading("Intended purpose, provider and version (a)"),
            _filled(
                material,
                *("system", "system_version", "provider", "purpose", "decision", "favourable"),
                *("affected", "how_many", "in_use_since", "versions"),
            ),
            Heading("Interactions (b)"),
            _filled(material, "interactions"),
            Heading("Software, forms, hardware, interface, instructions (c to h)"),
            Text(
                "the versions of software and firmware, the forms in which the system is placed on "
                "the market, the hardware, illustrations, the user interface and the instructions "
                "for use.",
                lead=_OUTSIDE,
            ),
            Heading("About the auditor"),
            _filled(material, "auditor", "organisation", "commissioner", "independence"),
        ),
        fresh=True,
    )


def elements(material: Material) -> Section:
    """Point 2: how the system was made, and how it was tested."""
    return Section(
        "Elements of the system and its development",
        (
            Heading("Methods and steps of development (a)"),
            Text(
                "how the system was developed, and with which systems or tools of others.",
                lead=_OUTSIDE,
            ),
            Heading("Design specifications (b)"),
            _filled(material, "design_choices"),
            *_design(material),
            Heading("Architecture (c)"),
            *_architecture(material),
            Heading("Data requirements and training data (d)"),
            _filled(
                material,
                *("training_provenance", "training_scope", "training_labelling"),
                "training_cleaning",
            ),
            Text(
                say(
                    "The training data were not examined. This audit describes the audited "
                    "rows{place}.",
                    place=material.see("data"),
                )
            ),
            Heading("Human oversight (e)"),
            _filled(material, "oversight", "human_review"),
            Heading("Pre-determined changes (f)"),
            Text("changes to the system that were determined beforehand.", lead=_OUTSIDE),
            Heading("Validation and testing (g)"),
            *_testing(material),
            Heading("Cybersecurity (h)"),
            Text("measures of cybersecurity.", lead=_OUTSIDE),
        ),
        fresh=True,
    )


def _design(material: Material) -> list[Block]:
    spec = material.spec
    given = words.protected_names(spec.domain)
    unseen = [attribute.name for attribute in spec.domain.unseen]
    inputs = "Protected" if spec.predictions else "Protected, and an input of the model"
    facts = [
        Fact("Each row is", say("one {person}", person=spec.person)),
        Fact("Favourable decision", favourable_text(material.spec, material.table)),
        *([Fact(inputs, words.listed(given))] if given else []),
        *(
            [Fact("Protected, and not an input of the model", words.listed(unseen))]
            if unseen
            else []
        ),
    ]
    return [Text("", lead="As found in this audit."), Facts(tuple(facts))]


def _architecture(material: Material) -> list[Block]:
    card = material.spec.model
    if material.spec.predictions:
        return [Text("the architecture: no model was available, only decisions.", lead=_OUTSIDE)]
    return [
        Facts(
            (
                Fact("Format", card.format),
                Fact("Inside", card.summary),
                Fact("SHA-256", card.sha256, exact=True),
            )
        ),
        Text(
            say(
                "For the input mapping and the decision rule, see the section on the model{place}.",
                place=material.see("model"),
            )
        ),
        Text(
            "other components of the system, and the computational resources used to develop, "
            "train and test it.",
            lead=_OUTSIDE,
        ),
    ]


def _testing(material: Material) -> list[Block]:
    """Describe procedures, data, metrics and results, and where the logs are (point 2 (g))."""
    spec = material.spec
    blocks: list[Block] = [
        Text("", lead="The data used."),
        Facts(
            (
                Fact("File", base_name(spec.data.path), exact=True),
                Fact("SHA-256", spec.data.sha256, exact=True),
                Fact("Rows", words.number(spec.data.rows)),
                *system.facts_of(
                    material,
                    *("data_source", "data_period", "data_kind", "test_data_why"),
                    *("test_data_made", "sampling", "labels", "cleaning"),
                ),
            )
        ),
        Text("", lead="The procedures and the test log."),
    ]
    if material.runs:
        blocks.append(_tests(material))
    else:
        blocks.append(Text("No test has been run yet."))
    blocks.append(shared.metrics(material))
    found = results.statements(material)
    if found:
        blocks.append(
            Text(
                "What the tests found on potentially discriminatory impacts, and on "
                "robustness against changes of protected attributes alone. These are "
                "findings, each with its evidence type, and not a legal conclusion. For "
                "accuracy see point 3.",
                lead="The results.",
            )
        )
        blocks += found
    blocks.append(
        Text(
            say(
                "For the audit log of every decision and run, and the SHA-256 hashes of all "
                "files, see the evidence appendix{evidence}; dates and signatures are at the "
                "end{signed}.",
                evidence=material.see("evidence"),
                signed=material.see("sign-off"),
            ),
            lead="Dated and signed.",
        )
    )
    return blocks


def _tests(material: Material) -> Grid:
    """List the runs, with the time at which each began and ended."""
    return Grid(
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


def functioning(material: Material) -> Section:
    """Point 3: what the system can do and for whom it does it less well."""
    blocks: list[Block] = [
        Heading("Accuracy, also for specific persons or groups"),
        _filled(material, "accuracy_limits"),
    ]
    overall = shared.accuracy(material)
    blocks += [overall] if overall is not None else []
    judged = [
        table
        for table in shared.decided(material)
        if any(line.positives is not None for line in table.lines)
    ]
    if judged:
        alone = [table for table in judged if len(table.attributes) == 1]
        blocks += [
            groups.grid(
                table,
                ("n_samples", "accuracy", "tpr", "fpr"),
                say(
                    "Accuracy, and how often the favourable decision is right or wrong, by {by}",
                    by=words.listed(table.attributes),
                ),
                f"accuracy-{'-'.join(table.attributes)}",
            )
            for table in (*alone, *judged[len(alone) :][:1])
        ]
    else:
        blocks.append(
            Text(
                "the accuracy by group. A run of “Group metrics” on rows with a recorded "
                "outcome would show it.",
                lead="Not measured in this audit:",
            )
        )
    blocks += [
        Heading("Foreseeable unintended outcomes, and sources of risks"),
        _filled(material, "unintended"),
        Text(
            say(
                "For what this audit found on discrimination see point 2 (g); for what it "
                "cannot show see the limitations{place}.",
                place=material.see("limits"),
            )
        ),
        Heading("Human oversight, and the input data"),
        Text("For measures of oversight see point 2 (e)."),
        Text(
            "the input data of a model: only decisions were available."
            if material.spec.predictions
            else say(
                "For the model’s inputs and the source of each, see the section on the "
                "model{place}.",
                place=material.see("model"),
            ),
            lead=_OUTSIDE if material.spec.predictions else "",
        ),
    ]
    return Section("Monitoring, functioning and control", tuple(blocks), fresh=True)


def appropriate(material: Material) -> Section:
    """Point 4: why these metrics."""
    return Section(
        "Appropriateness of the performance metrics",
        (
            _filled(material, "metrics_chosen"),
            Text(
                "No single figure shows whether individuals and groups are treated equally: "
                "equal selection rates and equal error rates can exclude each other, and "
                "neither says anything about individuals. This document therefore reports "
                "group rates, error rates, individual discrimination and certification side "
                "by side, each with its sample size and uncertainty. Which of them matters "
                "most for this system depends on its purpose, not on numbers."
            ),
        ),
    )


def risks(material: Material) -> Section:
    """Point 5."""
    del material
    return Section(
        "Risk management system",
        (
            Text(
                "the risk management system (Article 9). The findings above can go into it.",
                lead=_OUTSIDE,
            ),
        ),
    )


def changes(material: Material) -> Section:
    """Point 6: what was changed, and which state was audited."""
    spec = material.spec
    which = spec.data if spec.predictions else spec.model
    blocks: list[Block] = [
        _filled(material, "changes"),
        Text(
            say(
                "This document describes one state of the system: that of the file with the "
                "SHA-256 hash {sha256}. Repeat the audit after a change.",
                sha256=which.sha256,
            )
        ),
    ]
    if material.repairs:
        blocks.append(
            Text(
                say(
                    "Models were retrained in this audit to test mitigations{place}. None of "
                    "them is the audited system.",
                    place=material.see("mitigation"),
                )
            )
        )
    return Section("Changes through the life cycle", tuple(blocks))


def standards(material: Material) -> Section:
    """Point 7."""
    return Section(
        "Standards applied",
        (
            _filled(material, "standards"),
            Text(
                say(
                    "For the rules and standards that this document follows, and their "
                    "sources, see the notes on rules{place}.",
                    place=material.see("rules"),
                )
            ),
        ),
    )


def declaration(material: Material) -> Section:
    """Point 8."""
    return Section(
        "EU declaration of conformity",
        (
            _filled(material, "declaration"),
            Callout("No declaration.", "This document is not the declaration, nor a part of it."),
        ),
    )


def afterwards(material: Material) -> Section:
    """Point 9."""
    del material
    return Section(
        "Post-market monitoring",
        (
            Text(
                "the system to evaluate performance after placing on the market, and the "
                "monitoring plan (Article 72). The tests listed under point 2 (g) can be repeated "
                "with the same settings.",
                lead=_OUTSIDE,
            ),
        ),
    )


MAKERS: dict[str, Callable[[Material], Section]] = {
    "annex-1": general,
    "annex-2": elements,
    "annex-3": functioning,
    "annex-4": appropriate,
    "annex-5": risks,
    "annex-6": changes,
    "annex-7": standards,
    "annex-8": declaration,
    "annex-9": afterwards,
}
