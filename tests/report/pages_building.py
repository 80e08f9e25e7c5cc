"""A report made by hand: every kind of block, every script, and what people write to do harm."""

import msgspec

from fairdesk.charts.kinds.bars import Counts
from fairdesk.document.blocks import (
    Callout,
    Chart,
    Code,
    Fact,
    Facts,
    Formula,
    Grid,
    Heading,
    Note,
    PairCard,
    PairRow,
    Report,
    Section,
    SignatureLine,
    Statement,
    Text,
)
from fairdesk.report.document import drawn
from tests import phrases

#: A word in each script that the report's own fonts draw, by the script's name.
SCRIPTS = {
    "Latin": "Łódź žluťoučký Ərzurum Việt",
    "Greek": "Ηλικία",
    "Cyrillic": "Возраст",
    "Arabic": "الجنس",
    "Persian": "جنسیت می‌شود",
    "Hebrew": "מגדר",
    "Devanagari": "लिंग स्त्री",
    "Bengali": "লিঙ্গ",
    "Tamil": "பாலினம்",
    "Thai": "เพศหญิง",
    "Armenian": "Սեռ",
    "Georgian": "სქესი",
    "Chinese": "性别年龄",
    "Japanese": "性別カタカナひらがな",
    "Korean": "성별나이",
    "Emoji": "👩‍⚖️🙂✅",
}
HOSTILE = "#evil[*bold*] $x$ @ref <b>bold</b> =cmd() `raw` \\ // */ _x_"
LAW = ("29 CFR 1607.4(D), as of 1 July 2024", "https://www.ecfr.gov/current/title-29")


def pair(key="finding-1", **changed):
    names = ("sex", "age", *SCRIPTS.values())
    card = PairCard(
        title="Finding 1",
        detail="Quick audit, run 1",
        note="Ask the vendor.",
        first="Applicant A",
        second="Applicant B",
        rows=(
            PairRow("sex", "female", "male", True),
            *(PairRow(name, "41", "41", False) for name in names[1:]),
        ),
        outcome=(PairRow("Decision", "no", "yes", True), PairRow("Score", "0.235", "0.761", True)),
        key=key,
    )
    return msgspec.structs.replace(card, **changed)


def report(*sections, **changed):
    """Return a report of all kinds of blocks, or of the sections that are told."""
    counts = [(name, i + 1) for i, name in enumerate(SCRIPTS.values())]
    bars = drawn(Counts("", "x", counts, 20))
    whole = (
        Section(
            "Summary",
            (
                Statement(
                    "37,950",
                    "37,950 pairs found: the decision changes when only sex changes.",
                    ("Run 1: 112,507 tried.", "Seed 0."),
                    "example",
                    "outcomes",
                ),
                Statement(
                    "3.08 %",
                    "of all possible applicants get another decision (2.75 to 3.44 %).",
                    (),
                    "estimated",
                    "pairs",
                ),
                Statement("0.71", "is the impact ratio of women.", (), "observed", "outcomes"),
                Statement("99.2 %", "of all applicants are treated alike.", (), "proven"),
                Callout("Not a rate.", f"{phrases.PROVE_EXISTENCE}."),
            ),
            key="summary",
        ),
        Section(
            "Group metrics",
            (
                Text("A paragraph.", "Lead."),
                Heading("Rates"),
                Facts((Fact("SHA-256", "0f" * 32, exact=True), Fact("Rows", "48,842"))),
                Grid(
                    ("Group", "n", "Rate", "p"),
                    (
                        ("women", "1,234", "9.5 %", "0.0123"),
                        ("men", "31,114", "24.05 %", "< 0.001"),
                        ("unknown", "9", "100 %", "–"),
                    ),
                    (1.0, 0.0, 0.0, 0.0),
                    (1, 2, 3),
                    "Rates by sex",
                    "sex",
                    evidence="observed",
                ),
                Chart(
                    bars.alt, "Counts by script", svg=bars.svg, key="course-1", evidence="estimated"
                ),
                Formula("impact", "Impact ratio", "I is r over max r", "The rate by the highest."),
                Note("Four-fifths", "read 1 July 2026", "A rate below 4/5 …", *LAW),
                Note("Again", "read 1 July 2026", "Smaller differences may count.", *LAW),
            ),
            fresh=True,
            key="outcomes",
        ),
        Section(
            "Examples",
            (
                pair(),
                Grid(
                    ("Script", "Label"),
                    tuple(SCRIPTS.items()),
                    (0.0, 1.0),
                    caption="Labels: " + " ".join(SCRIPTS.values()),
                    key="labels",
                ),
                Text(HOSTILE),
                Code("fairdesk audit --protected sex\n" + HOSTILE),
            ),
            fresh=True,
            key="pairs",
        ),
        Section(
            "Sign-off",
            (
                Text("Who signs has read all of this."),
                SignatureLine("Dr. Ada Meyer", "Lead auditor", "22 November 2026"),
                SignatureLine("שרה לוי", "Reviewer", ""),
            ),
            key="sign-off",
        ),
    )
    made = Report(
        title="Who gets credit?",
        header="Who gets credit?",
        kind=phrases.INDIVIDUAL_AUDIT,
        status="Draft",
        identity="FD-0000-1111-2222",
        cover=(
            Fact("Model", "credit.keras (Keras 3 network)"),
            Fact("Data", "credit.csv"),
        ),
        promise=f"{phrases.PROVE_EXISTENCE}; they never tell how common it is.",
        sections=sections or whole,
        manifest='{"audit": "FD-0000-1111-2222"}',
        moment="2026-11-22T02:20:00+00:00",
    )
    return msgspec.structs.replace(made, **changed)
