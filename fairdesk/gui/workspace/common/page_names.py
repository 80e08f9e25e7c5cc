"""What the pages of an audit are called, their icons, and which one shows what a run answers."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import QuestionKind

OVERVIEW, DATA, EXAMPLES = "Overview", "Data and model", "Discriminatory pairs"
SHARE, PROOF = "Estimates", "Certification"
COMPARE, GROUPS, REPAIR, REPORT, LOG = (
    "Compare methods",
    "Groups",
    "Mitigation",
    "Report",
    "Audit log",
)
#: The pages, in the order of the questions that they answer.
NAMES = (OVERVIEW, DATA, GROUPS, SHARE, EXAMPLES, PROOF, REPAIR, COMPARE, REPORT, LOG)
#: The icons of these, in their order.
ICONS = (
    *("overview", "data", "groups", "estimates", "pairs"),
    *("certification", "mitigation", "compare", "report", "log"),
)
#: The page that shows what a run answers.
PAGES = {
    QuestionKind.EXAMPLES: EXAMPLES,
    QuestionKind.SHARE: SHARE,
    QuestionKind.PROOF: PROOF,
    QuestionKind.DIAGNOSIS: COMPARE,
    QuestionKind.GROUPS: GROUPS,
    QuestionKind.RATES: GROUPS,
    QuestionKind.REPAIR: REPAIR,
}
