"""The report's sections for judging and repeating it: limits, formulas, evidence."""

from __future__ import annotations

from fairdesk.audit.methods import METHODS
from fairdesk.report import evidence, words
from fairdesk.report.blocks import (
    Block,
    Code,
    Fact,
    Facts,
    Formula,
    Grid,
    Heading,
    Section,
    Text,
)
from fairdesk.report.material import Material

#: A file that a command reads is printed up to so many characters: about a page.
_LONGEST_FILE = 4_000


def limits(material: Material) -> Section:
    """Say what this audit cannot tell."""
    people, person = material.people, material.spec.person
    if material.spec.predictions:
        return Section("Limits", _limits_of_all(), fresh=True)
    return Section(
        "Limits",
        (
            Text(
                lead="Examples, no rate.",
                text="The search goes where it expects to find. How many real "
                f"{people} are treated differently cannot be read from its counts.",
            ),
            Text(
                lead="Nothing found is no proof.",
                text="A search that finds nothing has not shown that there "
                "is nothing; it tells how much was tried.",
            ),
            Text(
                lead=f"Invented {people}.",
                text="The pairs are combinations of values that each occur in the "
                "data or lie in the allowed range. Some combinations may hardly occur in life; the "
                f"distance to the nearest real {person} helps to judge that.",
            ),
            *_limits_of_all(),
        ),
        fresh=True,
    )


def _limits_of_all() -> tuple[Text, ...]:
    return (
        Text(
            lead="Only the protected attributes that were marked.",
            text="Other attributes can stand in for them (a postcode for origin); comparing "
            "protected attributes alone does not show that. What is not in the data cannot be "
            "compared.",
        ),
        Text(
            lead="The model, not its use.",
            text="Whether a person reviews the decisions, for whom the system is used, and "
            "whether the label itself is fair, is not measured here.",
        ),
        Text(
            lead="The data as they are.",
            text="Whether they stand for the people whom the system will decide on is not known "
            "to this audit. Groups with few rows say little.",
        ),
    )


def formulas(material: Material) -> Section:
    """Define each quantity: formula, what is counted, which way is which, where it comes from."""
    if material.spec.predictions:
        return Section("Quantities and formulas", _of_groups(), fresh=True)
    galhotra = (
        "Galhotra, Brun, Meliou: Fairness testing: testing software for discrimination, "
        "ESEC/FSE 2017."
    )
    return Section(
        "Quantities and formulas",
        (
            Text(
                "In the formulas x stands for a person as the model sees them, A for the set of "
                "all attributes, P for the protected ones, f for the decision of the model and s "
                "for its score of the favourable outcome."
            ),
            Formula(
                "similar",
                "Similar set",
                "S of x is the set of all other people who equal x in every attribute that is not "
                "protected",
                f"Everybody with whom x is compared. {galhotra}",
            ),
            Formula(
                "instance",
                "Individual discriminatory instance (a finding)",
                "x is discriminatory when the decision differs for some member of its similar set",
                "Counted once however many protected values show it: two people who differ in "
                "protected attributes only are one finding. The pair holds the member of S(x) with "
                f"another decision whose score is farthest from that of x. {galhotra}",
            ),
            Formula(
                "alone",
                "Enough alone",
                "the decision differs for a member of the similar set that equals x in every "
                "protected attribute but p",
                "Whether changing the one protected attribute p is enough. A finding can count for "
                "several attributes, or for none when only a joint change shows it.",
            ),
            Formula(
                "share",
                "Estimated share",
                "the estimate is the discriminatory people divided by the people drawn",
                "Of people drawn at random, never of those whom a search came upon. The interval "
                "is exact for a number fixed beforehand (Clopper and Pearson: The use of "
                "confidence or fiducial limits, Biometrika 26, 1934); that for who stops when they "
                "like holds at every moment together (Howard, Ramdas, McAuliffe, Sekhon: "
                "Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of "
                "Statistics 49, 2021).",
            ),
            *([_CERTIFIED] if material.proofs else []),
            Formula(
                "cost",
                "Rows per finding",
                "rows per finding equals rows sent divided by found",
                "All rows that were sent to the model, by unique findings. Lower is cheaper. "
                "Compare it with that of random sampling.",
            ),
            Formula(
                "difference",
                "Difference of scores",
                "d of x and x prime is the absolute difference of their scores",
                "How far apart the two people of a pair are in the model’s eyes: 0 to 1 for "
                "probabilities. Higher is worse.",
            ),
            Formula(
                "gower",
                "Distance to the nearest real record",
                "D is the mean of the distances over all attributes that are not protected",
                "For names 0 when equal, else 1; for numbers the difference as a share of the "
                "range. 0 is the same person, 1 differs in everything. The least over all complete "
                "rows of the data is shown. Gower: A general coefficient of similarity and some of "
                "its properties, Biometrics 27 (1971).",
            ),
            *_of_groups(),
        ),
    )


_CERTIFIED = Formula(
    "certified",
    "Certified share",
    "the certified share is the people in boxes that are proven alike divided by all people",
    "Counted in whole numbers, rounded down; a person counts once, whatever their protected "
    "values. The falsified share likewise counts those who are proven to be told apart. What is "
    "left is undecided. Kim, Wang, Wang: FairQuant: certifying and quantifying fairness of deep "
    "neural networks, ICSE 2025.",
)


def _of_groups() -> tuple[Formula, ...]:
    return (
        Formula(
            "favourable",
            "Observed rate",
            "r of g equals s of g divided by n of g",
            "Rows of group g with the favourable outcome, by rows of group g with a known one. Its "
            "interval is Wilson’s, 95 %. Wilson: Probable inference, JASA 22 (1927).",
        ),
        Formula(
            "impact",
            "Impact ratio",
            "the impact ratio of g is r of g divided by the highest rate of any group",
            "1 for the group that fares best; lower is worse for g. People whose group is unknown "
            "are counted and not compared. Below 0.8 is the four-fifths screening line "
            "(29 CFR 1607.4(D)), which is no verdict.",
        ),
    )


def appendix(material: Material) -> Section:
    """Give what is needed to check and repeat the audit."""
    spec = material.spec
    blocks: list[Block] = [
        Facts(
            (
                Fact("Audit", evidence.identity(spec), exact=True),
                Fact("Created", evidence.date_text(evidence.moment(spec.created))),
                Fact("Data, SHA-256", spec.data.sha256, exact=True),
                *(
                    []
                    if spec.predictions
                    else [Fact("Model, SHA-256", spec.model.sha256, exact=True)]
                ),
                *(Fact(name, version) for name, version in spec.versions.items()),
            )
        ),
        Text(
            "The file “manifest.json” attached to this document holds the whole question, all "
            "runs, versions and fingerprints, and the log below, for machines."
        ),
    ]
    if material.runs:
        blocks += [
            Heading("Runs"),
            Grid(
                header=("Run", "Method", "Seed", "Began (UTC)", "Ended (UTC)", "State"),
                rows=tuple(
                    (
                        str(run.id),
                        METHODS[run.spec.method].title,
                        str(run.spec.seed),
                        evidence.clock(run.started),
                        evidence.clock(run.ended) if run.ended else "–",
                        words.state_word(run.state),
                    )
                    for run in material.runs
                ),
                widths=(0.4, 1.4, 0.6, 1.4, 1.4, 1),
                right=(0, 2),
            ),
        ]
    blocks += _to_repeat(material)
    blocks.append(Heading("Log of the auditor’s decisions"))
    if material.log:
        blocks.append(
            Grid(
                header=("Time (UTC)", "What"),
                rows=tuple((evidence.clock(entry.at), entry.what) for entry in material.log),
                widths=(1, 3),
            )
        )
    else:
        blocks.append(Text("The log is empty."))
    return Section("Evidence", tuple(blocks), fresh=True)


def _to_repeat(material: Material) -> list[Block]:
    """Give the commands that ask the same again, with the files that they read."""
    spec, runs = material.spec, material.runs
    mapping, domain = evidence.map_file(spec, material.table), evidence.domain_file(spec)
    asked = evidence.commands(spec, runs, mapped=bool(mapping))
    if not asked:
        return []
    blocks: list[Block] = [Heading("To repeat it"), *map(Code, asked)]
    beyond = [sentence for run in runs for sentence in evidence.beyond_command(spec, run.spec)]
    blocks += [Text(sentence) for sentence in dict.fromkeys(beyond)]
    for name, held in (("mapping.json", mapping), ("domain.json", domain)):
        blocks += _file(name, held)
    return blocks


def _file(name: str, held: str) -> list[Block]:
    if not held:
        return []
    if len(held) > _LONGEST_FILE:
        key = "map_file" if name == "mapping.json" else "domain_file"
        return [Text(f"with a file {name}: it is long, and stands in the manifest as “{key}”.")]
    return [Text(f"with a file {name} that holds:"), Code(held)]
