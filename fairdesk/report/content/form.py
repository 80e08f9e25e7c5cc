"""The questions that only people can answer of a report: data alone, for `content.fields`.

What is asked, and what a kind of report cannot be final without, follows what the rules and
standards in `fairdesk.report.legal` ask for.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fairdesk.audit.store.details import TemplateKey

Kind = Literal["line", "text", "date", "choice"]
Group = Literal[
    "Cover",
    "System and use",
    "Data",
    "Categories",
    "Limits",
    "EU AI Act, Annex IV",
    "Model card",
]

#: What `data_kind` can be.
HISTORICAL, TEST, BOTH = "Historical data", "Test data", "Historical and test data"


class Condition(msgspec.Struct, frozen=True):
    """A field is asked for only when another one is one of these."""

    key: str
    among: tuple[str, ...]


class Field(msgspec.Struct, frozen=True):
    """A question to the auditor.

    Attributes
    ----------
    key : str
        Its name in `fairdesk.audit.store.details.Details.texts`.
    label : str
        What the form calls it.
    help : str
        What belongs there, a sentence or two.
    group : str
        The heading below which the form and the completeness list show it.
    kind : str
        A ``"line"``, a ``"text"`` of several, a ``"date"`` (ISO), or a ``"choice"``.
    choices : tuple[str, ...]
        What can be chosen.
    used_by, required_by : tuple[TemplateKey, ...]
        The templates that print it, and those that cannot be final without it.
    example : str
        Shown while it is empty.
    when : Condition, optional
        Asked for only then.
    """

    key: str
    label: str
    help: str
    group: Group
    kind: Kind = "line"
    choices: tuple[str, ...] = ()
    used_by: tuple[TemplateKey, ...] = ("plain", "ll144", "annex-iv", "model-card")
    required_by: tuple[TemplateKey, ...] = ()
    example: str = ""
    when: Condition | None = None


_TESTED = Condition("data_kind", (TEST, BOTH))

_COVER = (
    Field(
        "system",
        "Audited system",
        "The name under which the system is known.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
        example="CreditCheck",
    ),
    Field(
        "system_version",
        "Version",
        "The version or release that was audited, so that it can be told from others.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
        example="4.2, released on 3 March 2026",
    ),
    Field(
        "audit_date",
        "Date of the audit",
        "The day on which the audit was finished.",
        "Cover",
        "date",
        required_by=("plain", "ll144", "annex-iv"),
        example="2026-11-20",
    ),
    Field(
        "auditor",
        "Auditor",
        "The person or persons who made the audit.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
        example="A. Example",
    ),
    Field(
        "organisation",
        "Organisation",
        "The organisation for which the auditor works.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv"),
        example="Example Audits Ltd",
    ),
    Field(
        "commissioner",
        "Commissioned by",
        "Who asked for the audit, and who pays for it.",
        "Cover",
        used_by=("plain", "ll144", "annex-iv"),
        example="Example Bank plc",
    ),
    Field(
        "independence",
        "Independence",
        "Whether the auditor had a part in making, distributing or using the system, is employed "
        "by those who do, or has a financial interest in them.",
        "Cover",
        "text",
        used_by=("plain", "ll144", "annex-iv"),
        required_by=("plain", "ll144"),
        example="The auditor had no part in making, distributing or using the system, is not "
        "employed by its vendor or its users, and has no financial interest in them.",
    ),
)

_USE = (
    Field(
        "purpose",
        "Purpose",
        "What the system is meant for, and in which setting it is used.",
        "System and use",
        "text",
        required_by=("plain", "annex-iv", "model-card"),
        example="It helps loan officers to decide on applications for small private loans.",
    ),
    Field(
        "decision",
        "Decision",
        "What is decided about a person with its help, and what follows from that for the person.",
        "System and use",
        "text",
        used_by=("plain", "ll144", "annex-iv"),
        required_by=("plain", "annex-iv"),
        example="Whether an application is approved at once, or declined.",
    ),
    Field(
        "favourable",
        "Favourable outcome",
        "The outcome that is good for the person, in words.",
        "System and use",
        used_by=("plain", "annex-iv"),
        required_by=("plain",),
        example="The loan is approved.",
    ),
    Field(
        "affected",
        "Who is affected",
        "The people about whom is decided, and others on whom it has an effect.",
        "System and use",
        "text",
        used_by=("plain", "annex-iv", "model-card"),
        required_by=("plain", "annex-iv"),
        example="Adults who apply for a loan at a branch or online.",
    ),
    Field(
        "how_many",
        "How many people",
        "About how many people are decided about, and in what time.",
        "System and use",
        used_by=("plain", "annex-iv"),
        example="About 40,000 applicants a year",
    ),
    Field(
        "distribution_date",
        "Distribution date",
        "The day on which the employer or agency began to use this tool. Local Law 144 asks for it "
        "in the published summary.",
        "System and use",
        "date",
        used_by=("plain", "ll144"),
        required_by=("ll144",),
        example="2025-06-02",
    ),
    Field(
        "in_use_since",
        "In use since",
        "Since when, and where, the audited version has been in use; or that it is not in use yet.",
        "System and use",
        used_by=("plain", "annex-iv"),
        example="Since 2 June 2025, in all branches",
    ),
    Field(
        "human_review",
        "Human review",
        "Where a person looks at a decision, what that person sees, and how often the decision is "
        "changed.",
        "System and use",
        "text",
        used_by=("plain", "annex-iv"),
        required_by=("plain",),
        example="A loan officer sees every declined application with its score and can approve it; "
        "in 2025 that happened in 3 of 100 cases.",
    ),
)

_DATA = (
    Field(
        "data_source",
        "Source of the data",
        "Where the audited rows come from: who kept them, in which system, and how they were "
        "handed over.",
        "Data",
        "text",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
        example="All applications of the bank’s own loan system, exported by its data office.",
    ),
    Field(
        "data_period",
        "Period",
        "From when to when the rows were collected.",
        "Data",
        required_by=("plain", "ll144"),
        example="January to December 2025",
    ),
    Field(
        "data_kind",
        "Historical or test data",
        "Historical data were collected while the system was used; test data were made or "
        "gathered for the audit.",
        "Data",
        "choice",
        (HISTORICAL, TEST, BOTH),
        used_by=("plain", "ll144", "annex-iv"),
        required_by=("plain", "ll144", "annex-iv"),
        example=HISTORICAL,
    ),
    Field(
        "test_data_why",
        "Why test data",
        "Why historical data alone were not used.",
        "Data",
        "text",
        used_by=("plain", "ll144", "annex-iv"),
        required_by=("plain", "ll144", "annex-iv"),
        example="The system has been in use for six weeks only, so there are too few decisions.",
        when=_TESTED,
    ),
    Field(
        "test_data_made",
        "How the test data were made",
        "How the test data were generated and obtained.",
        "Data",
        "text",
        used_by=("plain", "ll144", "annex-iv"),
        required_by=("plain", "ll144", "annex-iv"),
        example="Drawn from the vendor’s pool of consenting applicants, in the shares of the "
        "city’s labour force.",
        when=_TESTED,
    ),
    Field(
        "sampling",
        "Sampling and representativeness",
        "How the rows were chosen, whom they stand for, and who is missing from them.",
        "Data",
        "text",
        required_by=("annex-iv",),
        example="All rows of the period, no sample. People who gave up before they sent the "
        "application are not in them.",
    ),
    Field(
        "labels",
        "How the labels came about",
        "Who decided, or how it was observed, what the label column says.",
        "Data",
        "text",
        used_by=("plain", "annex-iv", "model-card"),
        example="The label is the loan officer’s decision, before the system was in use.",
    ),
    Field(
        "cleaning",
        "Cleaning",
        "What was changed or left out of the audited rows before they were handed over.",
        "Data",
        "text",
        used_by=("plain", "ll144", "annex-iv", "model-card"),
        example="Double applications of one person within a month were reduced to the last.",
    ),
)

_CATEGORIES = (
    Field(
        "unknown_categories",
        "People of unknown category",
        "Why the sex, or the race or ethnicity, of some people is not known.",
        "Categories",
        "text",
        used_by=("plain", "ll144"),
        example="Applicants may leave both questions unanswered.",
    ),
    Field(
        "small_categories",
        "Categories under 2 %",
        "Why categories under 2 % of the people were left out of the impact ratios, where that was "
        "done. Their number and rate are shown nevertheless.",
        "Categories",
        "text",
        used_by=("plain", "ll144"),
        example="With so few people one decision more or less would change the ratio by a tenth.",
    ),
)

_LIMITS = (
    Field(
        "known_limits",
        "Limits known to the auditor",
        "What the reader must know that the figures do not show: what could not be examined, and "
        "why.",
        "Limits",
        "text",
        example="The data do not say who is disabled, so nothing is known of that.",
    ),
)

_ANNEX: tuple[TemplateKey, ...] = ("annex-iv",)
_ANNEX_IV = (
    Field(
        "provider",
        "Provider",
        "The name of the provider of the system (point 1 (a)).",
        "EU AI Act, Annex IV",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="Example Scoring GmbH",
    ),
    Field(
        "versions",
        "Version history",
        "How this version relates to earlier ones, and which versions of other software it needs "
        "(points 1 (a) and (c)).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        example="4.2 follows 4.1, with the same inputs and a model trained anew on data of 2025.",
    ),
    Field(
        "interactions",
        "Interactions",
        "How the system works together with hardware or software that is no part of it, other AI "
        "systems among them (point 1 (b)).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        example="It reads applications from the bank’s loan system and writes a score back.",
    ),
    Field(
        "design_choices",
        "Design choices and assumptions",
        "The main choices of the design with their reasons, and what was assumed about the persons "
        "or groups for whom the system is meant (point 2 (b)).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="Sex and origin are not given to the model. It was assumed that income means the "
        "same for employees and the self-employed.",
    ),
    Field(
        "training_provenance",
        "Training data: provenance",
        "Where the training data come from, and how they were obtained and selected.",
        "EU AI Act, Annex IV",
        "text",
        used_by=("annex-iv", "model-card"),
        required_by=("annex-iv", "model-card"),
        example="The bank’s own applications of 2022 to 2024.",
    ),
    Field(
        "training_scope",
        "Training data: scope",
        "How many, of whom, and what their main characteristics are.",
        "EU AI Act, Annex IV",
        "text",
        used_by=("annex-iv", "model-card"),
        required_by=_ANNEX,
        example="112,000 applications of adults in two countries, 44 % by women.",
    ),
    Field(
        "training_labelling",
        "Training data: labelling",
        "How the training data were labelled (point 2 (d)).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="By whether the loan was paid back within a year of the last instalment.",
    ),
    Field(
        "training_cleaning",
        "Training data: cleaning",
        "How the training data were cleaned, for example of outliers (point 2 (d)).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="Incomes above the 99.9th percentile were looked at one by one; 14 rows were "
        "removed.",
    ),
    Field(
        "oversight",
        "Human oversight measures",
        "Which measures of human oversight are needed, and what helps those who use the system to "
        "understand its output (points 2 (e) and 3).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="Loan officers see the three inputs that moved the score most, and may decide "
        "otherwise with a reason.",
    ),
    Field(
        "accuracy_limits",
        "Accuracy and robustness: limits",
        "How accurate the system is expected to be for its purpose, and for whom or under which "
        "conditions it is less so (point 3).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="It is not to be used for applicants under 21, of whom there are too few in the "
        "training data.",
    ),
    Field(
        "unintended",
        "Foreseeable unintended outcomes",
        "Which outcomes that nobody intends can be foreseen, and from where risks to health, "
        "safety, fundamental rights and of discrimination may come (point 3).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        required_by=_ANNEX,
        example="The postcode may stand in for origin.",
    ),
    Field(
        "metrics_chosen",
        "Why these metrics",
        "Why the metrics of this document suit the system (point 4).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        example="A declined application is what harms, so rates of approval are compared first.",
    ),
    Field(
        "changes",
        "Changes over the life cycle",
        "Which relevant changes the provider has made to the system through its life cycle "
        "(point 6).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        example="None since it was placed on the market.",
    ),
    Field(
        "standards",
        "Standards applied",
        "The harmonised standards that were applied in full or in part; where there were none, "
        "other standards and technical specifications (point 7).",
        "EU AI Act, Annex IV",
        "text",
        used_by=_ANNEX,
        example="No harmonised standard; ISO/IEC TR 24027:2021 for the metrics.",
    ),
    Field(
        "declaration",
        "EU declaration of conformity",
        "Where the provider’s declaration is to be found (point 8). This document is none.",
        "EU AI Act, Annex IV",
        used_by=_ANNEX,
        example="Document DC-2026-014, kept by the provider",
    ),
)

_CARD: tuple[TemplateKey, ...] = ("model-card",)
_MODEL_CARD = (
    Field(
        "developer",
        "Developer",
        "The person or organisation that developed the model.",
        "Model card",
        used_by=_CARD,
        required_by=_CARD,
        example="Example Scoring GmbH",
    ),
    Field(
        "model_date",
        "Model date",
        "When the model was trained or released.",
        "Model card",
        used_by=_CARD,
        required_by=_CARD,
        example="March 2026",
    ),
    Field(
        "training_method",
        "Training",
        "How the model was trained, and what was done about groups in it, as far as that is known.",
        "Model card",
        "text",
        used_by=_CARD,
        example="Gradient descent, 40 epochs, no weights by group.",
    ),
    Field(
        "reference",
        "More information",
        "A paper or another document about the model, and how to cite it.",
        "Model card",
        used_by=_CARD,
        example="Internal report MR-17",
    ),
    Field(
        "licence",
        "Licence",
        "The terms under which the model may be used.",
        "Model card",
        used_by=_CARD,
        example="Internal use only",
    ),
    Field(
        "contact",
        "Contact",
        "Where to send questions or comments about the model.",
        "Model card",
        used_by=_CARD,
        example="models@example.org",
    ),
    Field(
        "intended_users",
        "Intended users",
        "Who is meant to use the model.",
        "Model card",
        "text",
        used_by=_CARD,
        required_by=_CARD,
        example="Loan officers who were trained to use it.",
    ),
    Field(
        "out_of_scope",
        "Uses out of scope",
        "What the model is not meant for, although somebody might try.",
        "Model card",
        "text",
        used_by=_CARD,
        required_by=_CARD,
        example="Business loans; setting rates of interest; people under 21.",
    ),
    Field(
        "factors",
        "Relevant factors",
        "Which groups, instruments or environments could make a difference to how well the model "
        "works, and why those of this audit were chosen.",
        "Model card",
        "text",
        used_by=_CARD,
        example="Applicants at a branch are helped with the form, those online are not.",
    ),
    Field(
        "ethics",
        "Ethical considerations",
        "Whether sensitive data are used, what is at stake for people, which risks were looked at "
        "and what was done about them.",
        "Model card",
        "text",
        used_by=_CARD,
        required_by=_CARD,
        example="A declined loan can decide about a home. Income is personal data; names are not "
        "used.",
    ),
    Field(
        "caveats",
        "Caveats and recommendations",
        "What else is to be known, tested or kept in mind by those who use the model.",
        "Model card",
        "text",
        used_by=_CARD,
        example="To be audited again when it is trained anew.",
    ),
)

#: All of them, in the order of the form.
FORM: tuple[Field, ...] = (
    *_COVER,
    *_USE,
    *_DATA,
    *_CATEGORIES,
    *_LIMITS,
    *_ANNEX_IV,
    *_MODEL_CARD,
)
