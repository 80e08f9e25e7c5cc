"""Which page of the documentation belongs to each part of the window: declared here only."""

from __future__ import annotations

from fairdesk.manual.places import CHOICE, FIRST

#: Places in the documentation by the topics of the window: the start, the steps of the wizard, the
#: pages of the workspace by their names, and the dialogs by their classes.
TOPICS = {
    "": FIRST,
    "start": "index.md#where-to-begin",
    "step DATA": "how-to/own-data.md#check-how-the-table-was-read",
    "step MODEL": "how-to/own-data.md#check-how-the-model-is-read",
    "step PEOPLE": "tutorial.md#3-the-protected-attributes",
    "step CHECKS": CHOICE,
    "step REVIEW": "tutorial.md#5-review",
    "Overview": "tutorial.md#see-all-answers-at-once",
    "Data and model": "how-to/own-data.md",
    "Discriminatory pairs": "tutorial.md#read-the-pairs",
    "Estimates": "tutorial.md#estimate-how-often",
    "Certification": "explanation/proofs.md",
    "Compare methods": "reference/methods.md#what-a-method-costs",
    "Groups": "tutorial.md#compare-groups",
    "Mitigation": "how-to/mitigation.md",
    "Report": "how-to/report.md",
    "Audit log": "how-to/verify-and-reproduce.md",
    "Wizard": "how-to/own-data.md",
    "AgainDialog": "reference/methods.md#which-method-answers-which-question",
    "AttributeDialog": "how-to/own-data.md#limit-the-input-domain",
    "CellsDialog": "how-to/own-data.md#check-how-the-table-was-read",
    "CheckDialog": "how-to/verify-and-reproduce.md#verify",
    "ChoiceDialog": CHOICE,
    "Commands": FIRST,
    "CompareDialog": "reference/methods.md#what-a-method-costs",
    "ContentsDialog": "how-to/report.md",
    "ExportDialog": "how-to/mitigation.md#what-you-get",
    "InputDialog": "how-to/own-data.md#check-how-the-model-is-read",
    "NamesDialog": "how-to/text-models.md",
    "RowsDialog": "tutorial.md#compare-groups",
    "Shortcuts": FIRST,
    "SignDialog": "how-to/signing.md",
    "WhereDialog": "how-to/cluster.md",
    "ValuesDialog": "how-to/own-data.md#limit-the-input-domain",
}


def place_of(topic: str) -> str:
    """Return the place of a topic; dialogs without one, such as messages, have the first page."""
    return topic if ".md" in topic else TOPICS.get(topic, FIRST)
