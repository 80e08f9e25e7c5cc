"""The report's sections for judging and repeating it: limits, method, formulas, evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store import hash_chain
from fairdesk.audit.store.records import PASSING, LogEntry
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
from fairdesk.report.content.material import Material
from fairdesk.report.provenance import evidence
from fairdesk.report.sections.plan import method_blocks
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words
from fairdesk.wording.language import say, say_many

#: A file that a command reads is printed up to so many characters: about a page.
_LONGEST_FILE = 4_000
#: Digits of an entry's fingerprint that are printed.
_LINK = 12


def limits(material: Material) -> Section:
    """Say what this audit cannot tell."""
    known = tuple(
        Text(fact.value, lead=f"{say(fact.name)}.")
        for fact in material.filled("Limits")
        if fact.value
    )
    told = material.chapters.__contains__
    hidden = material.shown.sentence
    return Section(
        "Limits",
        (
            *(_limits_of_searches(material) if material.one_by_one and told("results") else ()),
            *(_limits_of_rules() if material.subtle and told("subtle") else ()),
            *(_limits_of_rates() if material.measured is not None else ()),
            *(_limits_of_proofs(material) if material.proofs and told("certification") else ()),
            *(_limits_of_repairs(material) if material.repairs and told("mitigation") else ()),
            *_limits_of_all(),
            *([Text(hidden, lead="Left out of this report.")] if hidden else ()),
            *([Heading("What the auditor adds"), *known] if known else ()),
        ),
        fresh=True,
    )


def _limits_of_searches(material: Material) -> tuple[Text, ...]:
    people, person = material.people, material.spec.person
    return (
        Text(
            lead="Examples, no rate.",
            text=say(
                "The search goes where it expects to find. How many real {people} are treated "
                "differently cannot be read from its counts.",
                people=people,
            ),
        ),
        Text(
            lead="Nothing found is no proof.",
            text="A search that finds nothing has not shown that there "
            "is nothing; it tells how much was tried.",
        ),
        Text(
            lead=say("Invented {people}.", people=people),
            text=say(
                "The pairs are combinations of values that each occur in the data or lie in "
                "the allowed range. Some combinations may hardly occur in life; the distance "
                "to the nearest real {person} helps to judge that.",
                person=person,
            ),
        ),
    )


def _limits_of_rules() -> tuple[Text, ...]:
    return (
        Text(
            lead="Groups by rules.",
            text="Only groups that a rule about protected attributes describes, and that hold the "
            "least share of the data asked for, were looked at. That others fare alike is not "
            "shown. The bins of a number are a choice: other edges make other groups.",
        ),
        Text(
            lead="Samples near the data.",
            text="Rates of rule sets are those of samples: rows of the data, moved a little. Where "
            "the untouched rows do not show a difference, the moving may have made it. Intervals "
            "and p-values count rows, not samples: they cover individuals drawn as those in the "
            "data were, and do not say whether the data represent those on whom the system will "
            "decide.",
        ),
        Text(
            lead="Which, not why.",
            text="People in a group differ from others in more than what is protected. A "
            "difference of rates does not say that the protected attributes made it; pairs of "
            "people who are alike in all else can.",
        ),
    )


def _limits_of_rates() -> tuple[Text, ...]:
    return (
        Text(
            lead="Rates of groups.",
            text="A ratio of rates is no verdict: small groups differ by chance, large ones in "
            "more than what is protected, and a ratio near 1 does not show that each person is "
            "decided about alike. People of unknown group are counted and not compared.",
        ),
    )


def _limits_of_proofs(material: Material) -> tuple[Text, ...]:
    return (
        Text(
            lead="Proven of this model, and of who could be.",
            text=say(
                "A proof is of the file with the fingerprint above, fed as is told, and of "
                "every combination of allowed values. Most of these {people} are unlike "
                "anybody real. Another model, another preparation or other values need another "
                "proof. What is undecided is neither alike nor unlike: nothing is known of it.",
                people=material.people,
            ),
        ),
    )


def _limits_of_repairs(material: Material) -> tuple[Text, ...]:
    place = material.number("mitigation")
    where = (
        say(" What that does not show stands at the end of section {place}.", place=str(place))
        if place
        else ""
    )
    return (
        Text(
            lead="A trial, not a cure.",
            text=say(
                "A repaired model was measured on these data, and made with labels that "
                "somebody chose.{where}",
                where=where,
            ),
        ),
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
            "whether the label itself is just, is not measured here. Where past decisions made the "
            "label, their injustice is in it.",
        ),
        Text(
            lead="What cannot be measured.",
            text="What people are that no column holds, what a decision does to somebody later, "
            "and what else would have been decided in another setting.",
        ),
        Text(
            lead="The data as they are.",
            text="Whether they stand for the people whom the system will decide on is not known "
            "to this audit. Groups with few rows say little.",
        ),
    )


def method(material: Material) -> Section:
    """Say how it was searched: each run's settings; and what each quantity is."""
    blocks: list[Block] = method_blocks(material)
    if "formulas" in material.chapters:
        return Section("Method and settings", tuple(blocks), fresh=True)
    defined = (Heading("Quantities and formulas"), *_defined(material))
    return Section("Method", (*blocks, *defined), fresh=True)


def formulas(material: Material) -> Section:
    """Define each quantity: formula, what is counted, which way is which, where it comes from."""
    return Section("Quantities and formulas", _defined(material), fresh=True)


def _defined(material: Material) -> tuple[Block, ...]:
    people = _of_people(material) if material.one_by_one else ()
    return (*people, *_of_all_groups(material))


def _of_people(material: Material) -> tuple[Block, ...]:
    galhotra = (
        "Galhotra, Brun, Meliou: Fairness testing: testing software for discrimination, "
        "ESEC/FSE 2017."
    )
    return (
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
            say("Everybody with whom x is compared. {galhotra}", galhotra=galhotra),
        ),
        Formula(
            "instance",
            "Individual discriminatory instance (a finding)",
            "x is discriminatory when the decision differs for some member of its similar set",
            say(
                "Counted once however many protected values show it: two people who differ in "
                "protected attributes only are one finding. The pair holds the member of S(x) "
                "with another decision whose score is farthest from that of x. {galhotra}",
                galhotra=galhotra,
            ),
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
            "Findings per 1,000 rows are its inverse, times 1,000. Both tell how well a search "
            "works, and nothing of how common discrimination is; compare them with those of "
            "random sampling.",
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


def _of_all_groups(material: Material) -> tuple[Block, ...]:
    return (
        *_of_groups(),
        *(_of_comparisons() if material.measured is not None else ()),
        *(_of_errors() if material.judged else ()),
        *(_of_rules() if material.subtle else ()),
        *_of_repairs(material),
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
            "are counted and not compared. The reference is the group with the highest rate, so "
            "this is the adverse impact ratio (AIR) to that reference too. Below 0.8 is the "
            "four-fifths screening line (29 CFR 1607.4(D)), which is no verdict; † says that one "
            "person of the group more, or fewer, with the favourable outcome would change on which "
            "side it is. A group with fewer than two hundredths of the people of known group is "
            "shown, and left out of the comparison (6 RCNY 5-301(d)).",
        ),
    )


def _of_comparisons() -> tuple[Block, ...]:
    return (
        Formula(
            "shortfall",
            "Shortfall",
            "the shortfall of g is n of g times the rate of all people, less s of g",
            "How many more of group g would have the favourable outcome at the rate of all people "
            "together. Below nought it has more than that.",
        ),
        Text(
            lead="Odds ratio.",
            text="The favourable by the others of group g, divided by the favourable by the others "
            "of the reference: s(g) × (n(ref) − s(ref)) / (s(ref) × (n(g) − s(g))). 1 where both "
            "have the same odds; lower is worse for g. Undefined where a product below is nought.",
        ),
        Text(
            lead="Difference of rates (statistical parity difference).",
            text="The rate of g less that of the reference, in percentage points; 0 where both are "
            "equal, below nought where g has the lower one. The interval is Newcombe’s hybrid of "
            "both Wilson intervals (Statistics in Medicine 17, 1998).",
        ),
        Formula(
            "ztest",
            "Test of two rates",
            "Z is the difference of both rates divided by its standard error with the pooled rate",
            "Against the group with the highest rate. Where an expected count is below 5, Fisher’s "
            "exact test with the mid-p value stands in its place. The corrected p-value is Holm’s "
            "for all groups of the table (Holm: A simple sequentially rejective multiple test "
            "procedure, Scandinavian Journal of Statistics 6, 1979).",
        ),
        Formula(
            "smd",
            "Standardised mean difference (SMD)",
            "SMD is the mean score of g less that of the reference, divided by the standard "
            "deviation of all scores",
            "Of scores, where the model gives them. s is the standard deviation of all people. "
            "The scoring rate is the share with a score strictly above the median of all.",
        ),
    )


def _of_errors() -> tuple[Formula, ...]:
    return (
        Formula(
            "errors",
            "True and false positive rate",
            "TPR is true positives by positives, FPR false positives by negatives",
            "Positives are people with the favourable label. Precision is TP by TP + FP, accuracy "
            "the share decided as labelled. ISO/IEC TR 24027:2021.",
        ),
        Formula(
            "odds",
            "Equal opportunity and average odds",
            "EOD is the difference of true positive rates; AOD the mean of the differences of "
            "both rates",
            "To the reference, the group with the highest rate of favourable decisions: 0 where "
            "both groups are treated alike by that measure. 0/0 is undefined.",
        ),
    )


def _of_rules() -> tuple[Formula, ...]:
    return (
        Formula(
            "score",
            "Group fairness score",
            "the score of R is the absolute difference of the share with the decision l among "
            "those whom R describes and among all others",
            "R is a rule set: conditions on protected attributes that hold together. Both shares "
            "are estimated from samples: people of the data with one attribute that is not "
            "protected moved a little. Zhang et al.: TestSGD: interpretable testing of neural "
            "networks against subtle group discrimination, ACM TOSEM 2023.",
        ),
        Formula(
            "margin",
            "The paper’s margin",
            "the margin is z times the standard error of both shares, added",
            "With the product of both confidences, for one rule set by itself and for the rows at "
            "hand. It does not cover the many that were examined, of which the widest is shown, "
            "nor other individuals than these.",
        ),
        Formula(
            "newcombe",
            "The interval for all rule sets together",
            "the ends are the difference less and plus the roots of the squared distances to the "
            "ends of both Wilson intervals",
            "Of the difference of both shares, with 0.05 divided among all rule sets examined "
            "(Bonferroni): with 95 % confidence all of these intervals hold at once. Newcombe: "
            "Interval estimation for the difference between independent proportions, Statistics "
            "in Medicine 17 (1998). n samples of m rows count as n m / (n + m − 1) individuals, "
            "never more than m; the ends are the wider of Wilson’s and those of Korn and Graubard "
            "(Survey Methodology 24, 1998). p-values are corrected by Holm for the same number. In "
            "texts each sentence counts once.",
        ),
    )


def _of_repairs(material: Material) -> tuple[Formula, ...]:
    """Define what models are compared by, before and after a repair."""
    trials = [each for run in material.repairs for each in mitigation_words.trials_of(run.figures)]
    if not any(each.changes for each in trials):
        return ()
    reweighed = any(each.name == "Reweighing" for each in trials)
    return (
        Formula(
            "paired",
            "Change of a share",
            "the change is the rows that became right less those that became wrong, divided by "
            "all rows",
            "Both models are asked about the same n rows, or people: b of them are a yes only "
            "after, c only before. The interval is Tango’s (Equivalence test and confidence "
            "interval for the difference in proportions for the paired-sample design, Statistics "
            "in Medicine 17, 1998). Each line of a table is told by itself: of twenty lines in "
            "which nothing changed, one is expected to look changed.",
        ),
        Formula(
            "mcnemar",
            "McNemar’s exact test",
            "p is twice the chance of at most the smaller of b and c among b plus c tosses of a "
            "coin, and at most 1",
            "How often chance alone would make so great a change, if both were as often right. "
            "Only rows count on which the two models differ. McNemar: Note on the sampling error "
            "of the difference between correlated proportions or percentages, Psychometrika 12 "
            "(1947).",
        ),
        Formula(
            "fall",
            "Relative fall",
            "the fall is 1 less the estimate after divided by the one before",
            "Its interval is Fieller’s: all ratios r that fulfil the condition, in which A and D "
            "are the squared arms of the intervals of both estimates and of their paired change; "
            "for each end those arms that lead to it. It is told only where a fall is shown. "
            "Fieller: Some problems in interval estimation, Journal of the Royal Statistical "
            "Society B 16 (1954).",
        ),
        Formula(
            "auc",
            "Area under the ROC curve (AUC)",
            "AUC is the chance that somebody with the favourable label has a higher score than "
            "somebody without, equal scores counting a half",
            "1 is a perfect order, 0.5 none. Intervals and test: DeLong, DeLong, Clarke-Pearson: "
            "Comparing the areas under two or more correlated receiver operating characteristic "
            "curves, Biometrics 44 (1988).",
        ),
        Formula(
            "brier",
            "Brier score",
            "the Brier score is the mean squared difference of score and label",
            "y is 1 with the favourable label, else 0. 0 is perfect; lower is better. Brier: "
            "Verification of forecasts expressed in terms of probability, Monthly Weather Review "
            "78 (1950). Its interval, as that of every change of which no other way is named, is "
            "made by resampling rows (bootstrap), the same ones for both models.",
        ),
        Formula(
            "calibration",
            "Calibration error",
            "the calibration error is the sum over ten bins of scores of the share of rows in the "
            "bin times the distance of mean score and mean label",
            "How far scores are from the shares that they promise. 0 is perfect; lower is better. "
            "Naeini, Cooper and Hauskrecht: Obtaining well calibrated probabilities using Bayesian "
            "binning, AAAI 2015. Chance alone makes it greater; its interval allows for that.",
        ),
        Formula(
            "gaps",
            "Widest gaps",
            "the gap of rates is the highest rate of any group less the lowest; the gap of error "
            "rates is the greater one of those of the true and of the false positive rates",
            "Of the groups of one attribute that have at least two hundredths of the test rows, by "
            "the model’s decisions. Which two groups are farthest apart is not known beforehand: "
            "the interval is made of those of all pairs of groups, which hold together "
            "(Bonferroni).",
        ),
        Formula(
            "front",
            "Pareto front",
            "t is on the front when there is no other model u that is at least as accurate and at "
            "least as little discriminatory, and better in one of them",
            "acc is the accuracy on the validation rows, h what is to fall (share or gap), both as "
            "estimated. Which point of the front is wanted is no question of numbers.",
        ),
        *([_REWEIGHING] if reweighed else []),
    )


_REWEIGHING = Formula(
    "reweighing",
    "Reweighing",
    "the weight of group g and label y is the product of both shares divided by the share of both "
    "together",
    "Weights of the training rows that make group and label independent; no row is added, no label "
    "changed. It stands beside the repair. Kamiran and Calders: Data preprocessing techniques for "
    "classification without discrimination, Knowledge and Information Systems 33 (2012).",
)


def appendix(material: Material) -> Section:
    """Return what is needed to check and repeat the audit: what the manifest says, in print."""
    spec = material.spec
    log = lasting(material.log)
    blocks: list[Block] = [
        Text(
            "Whoever has the audit file, the data and the model can check all of this: “fairdesk "
            "verify” compares the fingerprints below, follows the log’s chain, asks the model "
            "again and counts again; “fairdesk reproduce” makes every run anew. The file "
            "“manifest.json” attached to this document holds the same for machines: the whole "
            "question, all runs and settings, versions, fingerprints, and the log."
        ),
        Heading("Fingerprints"),
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
                *(
                    Fact(
                        say("{name}, SHA-256", name=Path(each.path).name),
                        each.sha256,
                        exact=True,
                    )
                    for each in spec.model.companions
                ),
                Fact(
                    "Head of the log’s chain",
                    log[-1].link if log else hash_chain.GENESIS,
                    exact=True,
                ),
            )
        ),
        Heading("Versions"),
        Facts(tuple(Fact(name, version) for name, version in spec.versions.items())),
    ]
    blocks += _runs(material)
    blocks += _to_repeat(material)
    blocks.append(Heading("Log of the auditor’s decisions"))
    if log:
        blocks += [
            Text(
                "Each entry’s fingerprint holds that of the entry before it: who changes, removes "
                "or inserts one changes all that follow. The first twelve digits of each are "
                "shown, the last one whole above. What only looks at the audit (an export, a "
                "check) is in the audit file and the manifest beside exported files, not here: so "
                "the report stays the same."
            ),
            Grid(
                header=("Time (UTC)", "What", "Fingerprint"),
                rows=tuple(
                    (evidence.clock(entry.at), entry.what, entry.link[:_LINK]) for entry in log
                ),
                widths=(1.15, 3, 0.95),
                caption="The log",
                key="log",
            ),
            *_set_back(log),
        ]
    else:
        blocks.append(Text("The log is empty."))
    return Section("Evidence", tuple(blocks), fresh=True)


def _set_back(log: Sequence[LogEntry]) -> list[Block]:
    """Mention entries that are earlier than the one before them."""
    earlier = hash_chain.set_back(log)
    if not earlier:
        return []
    return [
        Text(
            say_many(
                len(earlier),
                "{n} entry has an earlier time than the entry before it ({time}): the clock was "
                "set back in between. The order of the entries is that of the chain.",
                "{n} entries have an earlier time than the entry before them (the first {time}): "
                "the clock was set back in between. The order of the entries is that of the chain.",
                time=evidence.clock(log[earlier[0]].at),
            )
        )
    ]


def lasting(log: Sequence[LogEntry]) -> list[LogEntry]:
    """Leave out of the log what does not change an audit, and so no report."""
    return [entry for entry in log if entry.kind not in PASSING]


def _runs(material: Material) -> list[Block]:
    """List the runs: how each began and ended, and with which seed."""
    if not material.runs:
        return []
    return [
        Heading("Runs"),
        Grid(
            header=("Run", "Method", "Seed", "Began (UTC)", "Ended (UTC)", "Rows sent", "State"),
            rows=tuple(
                (
                    str(run.id),
                    METHODS[run.spec.method].title,
                    str(run.spec.seed),
                    evidence.clock(run.started),
                    evidence.clock(run.ended) if run.ended else "–",
                    words.number(run.queries),
                    words.state_word(run.state),
                )
                for run in material.runs
            ),
            widths=(0.4, 1.3, 0.6, 1.3, 1.3, 0.9, 0.9),
            right=(0, 2, 5),
            caption=say(
                "The runs; their settings stand in section {place}, and in the manifest",
                place=str(material.number("method")),
            )
            if material.number("method")
            else "The runs; their settings stand in the manifest",
            key="runs",
        ),
    ]


def _to_repeat(material: Material) -> list[Block]:
    """Return the commands that ask the same again, with the files that they read."""
    spec, runs = material.spec, material.runs
    mapping, domain = evidence.map_file(spec, material.table), evidence.domain_file(spec)
    asked = evidence.commands(spec, runs, mapped=bool(mapping))
    if not asked:
        return []
    blocks: list[Block] = [
        Heading("To repeat it"),
        *(Code(material.shown.words(each)) for each in asked),
    ]
    beyond = [sentence for run in runs for sentence in evidence.beyond_command(spec, run.spec)]
    blocks += [Text(sentence) for sentence in dict.fromkeys(beyond)]
    terms = {evidence.terms_name(run.spec): evidence.terms_file(run.spec) for run in runs}
    for name, held in (("mapping.json", mapping), ("domain.json", domain), *terms.items()):
        blocks += _file(name, material.shown.file(held))
    return blocks


def _file(name: str, held: str) -> list[Block]:
    if not held:
        return []
    if len(held) > _LONGEST_FILE:
        key = {"mapping.json": "map_file", "domain.json": "domain_file"}.get(name, "runs")
        return [
            Text(
                say(
                    "with a file {name}: it is long, and stands in the manifest as “{key}”.",
                    name=name,
                    key=key,
                )
            )
        ]
    return [
        Text(say("with a file {name} that holds:", name=name)),
        Code(held),
    ]
