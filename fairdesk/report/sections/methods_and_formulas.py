"""The report's sections for judging and repeating it: limits, method, formulas, evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from fairdesk.answers import Question, best_run
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, options_of, parse_options
from fairdesk.audit.plan.spec import AuditSpec, OptionValue
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import PASSING, LogEntry, RunRecord
from fairdesk.document.blocks import (
    Block,
    Callout,
    Code,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Text,
    appended,
)
from fairdesk.document.board import is_assumed
from fairdesk.report.content import passages
from fairdesk.report.content.material import Material
from fairdesk.report.content.redacted_json import RedactedJson
from fairdesk.report.provenance import evidence
from fairdesk.results.individual import Share
from fairdesk.results.trials import chosen_of, trials_of
from fairdesk.wording import comparisons, figures, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.groups.tables import people
from fairdesk.wording.language import say, say_many
from fairdesk.wording.rules import rule_phrase

#: A file that a command reads is printed up to so many characters: about a page.
_LONGEST_FILE = 4_000
#: Digits of an entry's fingerprint that are printed.
_LINK = 12
_DEFAULTS = (
    "Settings that are not listed have their default values. All are in the manifest (“runs”)."
)
#: Definitions for the documentation, of what files and JSON have and no report shows.
_UNSHOWN = ("cost", "margin", "shortfall", "difference")
#: Definitions of what is reported of a chosen model only.
_OF_CHOSEN = ("auc", "brier", "calibration", "gaps")
#: In which lines the commands of two runs differ.
_OF_ONE_RUN = ("--method ", "--option ", "--bins ", "--terms ", "--seed ")
#: A run that took more of its limit than this may have been ended by it.
_NEARLY = 0.95
#: Options of subgroups of rows, which have no effect on texts.
_OF_COLUMNS = ("bins", "subsets")

#: What a version may be of but programs, and its name in the report.
_NO_VERDICT = (
    "This report presents evidence. It draws no legal conclusion and does not decide whether the "
    "system may be used; that rests with those accountable for its use."
)
_COMPUTER = {"system": "Operating system", "processor": "Processor"}


def limits(material: Material) -> Section:
    """Say what this audit cannot tell."""
    known = material.filled("Limitations")
    hidden = material.shown.sentence
    return Section(
        "Limitations",
        (
            *_not_done(material),
            *_of_this_audit(material),
            *([Text(hidden, lead="Omitted from this report.")] if hidden else ()),
            *([Heading("Limitations stated by the auditor"), Facts(known)] if known else ()),
            *_of_such_audits(material),
        ),
    )


def _not_done(material: Material) -> Iterator[Block]:
    """Yield what was not run, and what changed while runs were made."""
    if material.spec.predictions:
        yield Callout(
            "No model.",
            "Only decisions are available, so the audit compares groups. Whether the decision "
            "depends on a protected attribute for an individual cannot be tested.",
        )
    elif missing := [name for name, done in material.parts_done if not done]:
        yield Text(say("{parts}.", parts=words.capital(words.joined(missing))), lead="Not run:")
    for run in material.runs:
        if changed := figures.changed_answers(run):
            yield Callout("Outputs changed.", changed)


def _of_this_audit(material: Material) -> Iterator[Text]:
    """Yield the limits that are of this audit's data."""
    spec = material.spec
    if is_assumed(material.log):
        name = spec.decisions[spec.mapping.favourable_class]
        yield Text(
            say(
                "The model’s “{name}” was taken as the favourable decision, “{outcome}”. If it is "
                "not, every figure about the model changes.",
                name=name,
                outcome=outcome_text(spec, name),
            ),
            "Assumed, not confirmed.",
        )
    if few := _too_few(material):
        yield Text(say("{groups}.", groups=words.capital(words.joined(few))), "Too few to judge.")
    if spec.label:
        yield from passages.limits("records")
    if _searched(material):
        run = best_run(Question.SHARE, material.runs)
        held = comparisons.limits(material.spec, () if run is None else run.figures)
        yield from (Text(text, lead) for lead, text in held)
    if weights := words.unweighted(material.spec.columns, material.spec.mapping):
        yield Text(weights)
    yield Text(_NO_VERDICT)


def _too_few(material: Material) -> list[str]:
    """Name the groups of one attribute that are not compared, with their rows."""
    found = {
        people(material.spec, table, line): line.n_samples
        for table in material.group_tables
        if len(table.attributes) == 1 and table.of == "decisions"
        for line in table.lines
        if line.known and line.excluded
    }
    return [f"{group} ({words.number(n)})" for group, n in found.items()]


def _searched(material: Material) -> bool:
    return material.one_by_one and "results" in material.chapters


def _of_such_audits(material: Material) -> Iterator[Block]:
    """Yield by subject the limits of every audit of this kind, for the appendix."""
    of_pairs = passages.limits("searches", people=material.people, person=material.spec.person)
    for subject, texts in (
        ("Pairs", of_pairs if _searched(material) else ()),
        ("Groups", _of_groups(material)),
        ("Certification and mitigation", _of_proofs(material)),
        ("Every audit", _of_all(material)),
    ):
        if held := list(texts):
            yield Heading(subject, appended=True)
            yield from map(appended, held)


def _of_groups(material: Material) -> Iterator[Text]:
    if material.subtle and "subtle" in material.chapters:
        if any(not run.spec.text for run in material.subtle):
            yield from passages.limits("rules")
        if any(run.spec.text for run in material.subtle):
            yield from passages.limits("terms")
    if material.measured is not None:
        yield from passages.limits("rates")


def _of_proofs(material: Material) -> Iterator[Text]:
    if material.proofs and "certification" in material.chapters:
        yield from passages.limits("proofs", people=material.people)
    if material.repairs and "mitigation" in material.chapters:
        place = str(material.number("mitigation") or "")
        where = " For what this does not show, see the end of section {place}."
        yield from passages.limits("mitigation", where=say(where, place=place) if place else "")


def _of_all(material: Material) -> Iterator[Text]:
    if material.spec.domain.grouping:
        yield from passages.limits("protected")
    yield from passages.limits("all")


def method(material: Material) -> Section:
    """Say how it was searched: each run's settings; and what each quantity is."""
    blocks: list[Block] = method_blocks(material)
    if "formulas" in material.chapters:
        return Section("Methods and settings", tuple(blocks))
    blocks += [Heading("Quantities and formulas", appended=True), *_definitions(material)]
    return Section("Methods and settings", tuple(blocks))


def formulas(material: Material) -> Section:
    """Define each quantity: formula, what is counted, which way is which, where it comes from."""
    return Section("Quantities and formulas", tuple(_definitions(material)), fresh=True)


def _definitions(material: Material) -> Iterator[Block]:
    """Yield what the quantities are that this report names."""
    unshown = {*_UNSHOWN}
    if all(run.spec.max_distance is None for run in material.runs):
        unshown.add("gower")
    shares = [each for run in material.runs for each in run.figures if isinstance(each, Share)]
    if all(each.exhaustive for each in shares):
        unshown.add("share")
    if not any(chosen_of(run.figures) for run in material.repairs):
        unshown.update(_OF_CHOSEN)
    return (each for each in _defined(material) if getattr(each, "key", "") not in unshown)


def _defined(material: Material) -> Iterator[Block]:
    if material.one_by_one:
        for each in passages.definitions("people"):
            if material.proofs or getattr(each, "key", "") != "certified":
                yield each
    if material.gathered.plausible is not None:
        yield from passages.definitions("plausibility")
    if material.spec.domain.grouping:
        yield from passages.definitions("groups")
    if material.measured is not None:
        for each in passages.definitions("comparisons"):
            # tables of scores are shown where the auditor asks for them
            scored = any("scores" in key for key in material.choice.added)
            if scored or getattr(each, "key", "") != "smd":
                yield each
    if material.judged:
        yield from passages.definitions("errors")
    if material.subtle:
        of_texts = all(run.spec.text for run in material.subtle)
        yield from passages.definitions("terms" if of_texts else "rules")
    trials = [each for run in material.repairs for each in trials_of(run.figures)]
    if any(each.changes for each in trials):
        yield from passages.definitions("mitigation")
        if any(each.name == "Reweighing" for each in trials):
            yield from passages.definitions("reweighing")


def _how_verified(spec: AuditSpec) -> str:
    if spec.predictions:
        return (
            "Anyone who has the audit file and the data can verify all of this: “fairdesk verify” "
            "compares the SHA-256 hashes below, checks the hash chain of the audit log and counts "
            "again; “fairdesk reproduce” repeats every run."
        )
    return (
        "Anyone who has the audit file, the data and the model can verify all of this: “fairdesk "
        "verify” compares the SHA-256 hashes below, checks the hash chain of the audit log, "
        "re-queries the model and counts again; “fairdesk reproduce” repeats every run."
    )


def appendix(material: Material) -> Section:
    """Return what is needed to check and repeat the audit: what the manifest says, in print."""
    spec, held = material.spec, material.spec.versions
    log = lasting(material.log)
    blocks: list[Block] = [
        Text(
            say(
                "{how} The file “manifest.json” attached to this document contains the same in "
                "machine-readable form: the whole audit plan, all runs and settings, versions, "
                "hashes and the audit log.",
                how=_how_verified(spec),
            )
        ),
        Heading("Identity and SHA-256 hashes"),
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
                    "Last hash of the audit log’s chain",
                    log[-1].link if log else digests.GENESIS,
                    exact=True,
                ),
            )
        ),
        Heading("Computer and versions", appended=True),
        Facts(tuple(Fact(_COMPUTER[key], held[key]) for key in _COMPUTER if key in held)),
        Facts(
            tuple(Fact(name, held[name]) for name in held if evidence.figures_depend_on(spec, name))
        ),
        Text("The versions of all libraries are in the manifest."),
    ]
    blocks += _runs(material)
    blocks += _to_repeat(material)
    blocks.append(Heading("Audit log", appended=True))
    if log:
        blocks += [
            Text(
                "Each entry’s hash includes that of the entry before it: changing, removing "
                "or inserting an entry changes all hashes that follow. The first twelve "
                "digits of each are shown, and all of the last one in the section itself. Entries "
                "that do not change the audit (an export, a verification) are in the audit "
                "file and in the manifest exported with the report, not here, so the report "
                "stays the same."
            ),
            Grid(
                header=("Time (UTC)", "Entry", "Hash"),
                rows=tuple(
                    (evidence.clock(entry.at), entry.what, entry.link[:_LINK]) for entry in log
                ),
                widths=(1.15, 3, 0.95),
                caption="Audit log",
                key="log",
            ),
            *_set_back(log),
        ]
    else:
        blocks.append(Text("The audit log is empty."))
    return Section("Evidence and verification", tuple(blocks))


def _set_back(log: Sequence[LogEntry]) -> list[Block]:
    """Mention entries that are earlier than the one before them."""
    earlier = digests.set_back(log)
    if not earlier:
        return []
    return [
        Text(
            say_many(
                len(earlier),
                "{n} [entry|entries] [has|have] an earlier time than the entry before [it|them] "
                "([|the first ]{time}): the clock was set back in between. The entries are in "
                "the order of the hash chain.",
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
        Heading("Runs", appended=True),
        Grid(
            header=(
                "Run",
                "Method",
                "Random seed",
                "Started (UTC)",
                "Ended (UTC)",
                "Queries",
                "State",
            ),
            rows=tuple(
                (
                    str(run.id),
                    METHODS[run.spec.method].short_title,
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
            caption=(
                "The runs; queries include those that verify repeatability, and all settings are "
                "in the manifest"
            ),
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
        Heading("Commands to repeat the runs", appended=True),
        *(
            Code(material.shown.words(each)) if isinstance(each, str) else each
            for each in _each_once(asked)
        ),
    ]
    beyond = [sentence for run in runs for sentence in evidence.beyond_command(spec, run.spec)]
    blocks += [Text(sentence) for sentence in dict.fromkeys(beyond)]
    terms = {evidence.terms_name(run.spec): evidence.terms_file(run.spec) for run in runs}
    for name, held in (("mapping.json", mapping), ("domain.json", domain), *terms.items()):
        blocks += _file(name, RedactedJson(material.shown).file(held))
    together = evidence.companions_file(spec)
    return [*blocks, *_file("companions.json", material.shown.words(together, strict=True))]


def _each_once(commands: Sequence[str]) -> Iterator[str | Text]:
    """Yield commands: the first whole, of those that search the same data what differs only."""
    between = " \\\n  "
    first: list[str] = []
    said = False
    for command in commands:
        lines = command.split(between)
        same = [line for line in lines if not line.startswith(_OF_ONE_RUN)]
        if same != first:
            first, said = same, False
            yield command
            continue
        if not said:
            said = True
            yield Text("The other runs differ in these lines only:")
        yield between.join(line for line in lines if line not in same)


def _file(name: str, held: str) -> list[Block]:
    if not held:
        return []
    if len(held) > _LONGEST_FILE:
        key = {
            "mapping.json": "map_file",
            "domain.json": "domain_file",
            "companions.json": "spec",
        }.get(name, "runs")
        return [
            Text(
                say(
                    "The commands read a file {name}, which is too long to print: “{key}” in the "
                    "manifest.",
                    name=name,
                    key=key,
                )
            )
        ]
    return [
        Text(say("The commands read a file {name} that contains:", name=name)),
        Code(held),
    ]


def method_blocks(material: Material) -> list[Block]:
    """Say how was searched: each method in plain words, and each run's settings."""
    spec = material.spec
    blocks: list[Block] = []
    if material.runs:
        blocks.append(_methods(material))
    else:
        blocks.append(Text("No method has been run yet."))
    seen: set[str] = set()
    for run in material.runs:
        used = METHODS[run.spec.method]
        blocks.append(Heading(material.run_name(run), appended=True))
        if used.key not in seen:
            seen.add(used.key)
            blocks += [
                Facts(
                    (
                        Fact("Shows", used.in_texts if run.spec.text else used.shows),
                        Fact(
                            "Does not show",
                            used.cannot_in_texts if run.spec.text else used.cannot,
                        ),
                    )
                ),
            ]
        budget = run.spec.budget
        limits = [
            *([words.duration(budget.seconds)] if budget.seconds is not None else []),
            *(
                [say("{queries} queries", queries=words.number(budget.queries))]
                if budget.queries is not None
                else []
            ),
            *(
                [say("{time} without a new pair", time=words.duration(budget.idle))]
                if budget.idle is not None
                else []
            ),
        ]
        settings = [
            (
                "seed",
                str(run.spec.seed),
                "the random seed; the same seed gives the same random numbers",
            ),
            (
                "budget",
                " or ".join(limits) or "none",
                "the limit at which the run ends; of a limit for all runs, what others left",
            ),
            *_near_rows(run),
            *option_rows(run),
            *_group_rows(run),
            *_repair_rows(spec, run),
        ]
        blocks.append(
            Grid(
                header=("Setting", "Value", "Description"),
                rows=tuple(settings),
                widths=(1.1, 0.8, 2.5),
                caption="All settings",
                key=f"settings-{run.id}",
                optional=True,
            )
        )
        if changed := tuple(_changed_settings(run, settings)):
            blocks.append(Facts(changed))
    if material.runs:
        blocks.append(appended(Text(_DEFAULTS)))
    return blocks


def _cut_short(run: RunRecord) -> bool:
    """Whether a limit of time or queries may have ended a run: else it says nothing of results."""
    budget = run.spec.budget
    within = (
        (budget.seconds, run.elapsed),
        (run.spec.options.get("seconds"), run.elapsed),
        (budget.idle, run.elapsed),
        (budget.queries, run.queries),
    )
    return run.state != "done" or any(
        isinstance(most, int | float) and used > _NEARLY * most for most, used in within
    )


def _changed_settings(run: RunRecord, settings: Sequence[tuple[str, str, str]]) -> Iterator[Fact]:
    """Yield the settings of a run but for those that have their default value."""
    asked = msgspec.structs.replace(run.spec, options={})
    usual = {
        name: value for name, value, _ in option_rows(msgspec.structs.replace(run, spec=asked))
    }
    for name, value, meaning in settings:
        if name in {"budget", "seconds"} and not _cut_short(run):
            continue
        if name not in usual and name != "seed":
            yield Fact(name, value if name == "budget" else f"{value}: {meaning}")
        elif value != usual.get(name, value):
            title, _, what_it_does = meaning.partition(". ")
            yield Fact(
                f"{title} ({name})", f"{value}: {what_it_does.split('. ')[0]}".removesuffix(": ")
            )


def _methods(material: Material) -> Grid:
    """List the methods that were run, each once."""
    runs: dict[str, list[str]] = {}
    for run in material.runs:
        runs.setdefault(run.spec.method, []).append(str(run.id))
    of_texts = {run.spec.method for run in material.runs if run.spec.text}
    return Grid(
        header=("Run", "Method", "What it does", "Source"),
        rows=tuple(
            (
                ", ".join(numbers),
                METHODS[key].short_title,
                METHODS[key].in_texts if key in of_texts else METHODS[key].sentence,
                METHODS[key].paper,
            )
            for key, numbers in runs.items()
        ),
        widths=(0.4, 1, 2.4, 1.7),
        caption="The methods that were run",
        key="methods",
    )


def _near_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a search was told beside its options: how near, and what it goes on with."""
    rows = []
    if run.spec.plausible:
        text = "both instances of a pair look as ordinary as 95\u00a0% of the rows of the data"
        rows.append(("plausible", "yes", text))
    if run.spec.max_distance is not None:
        text = (
            "maximum Gower distance of a tested instance to the nearest data row (0: identical; "
            "1: different in every attribute)"
        )
        rows.append(("near", words.short(run.spec.max_distance), text))
    if run.spec.continues:
        text = "pairs that this earlier run found are not reported again"
        rows.append(("continues run", str(run.spec.continues), text))
    return rows


def _group_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a run about groups was told beside its options: edges of bins, texts, terms."""
    rows = [
        (
            say("bin boundaries of {name}", name=words.quoted(name)),
            ", ".join(words.short(edge) for edge in edges),
            "boundaries between the bins of this number, instead of bins of equal width",
        )
        for name, edges in run.spec.edges.items()
    ]
    if run.spec.text:
        rows.append(("text", run.spec.text, "the text column in which identity terms are compared"))
        listed = [
            (
                say("identity terms of {category}", category=words.quoted(category)),
                words.number(len(terms)),
                say("the identity terms: {terms}", terms=", ".join(terms)),
            )
            for category, terms in run.spec.terms.items()
        ]
        rows += listed or [("terms", "as in the paper", "the identity terms, by category")]
    return rows


def _repair_rows(spec: AuditSpec, run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a repair was told beside its options: the rule set, or which pairs."""
    asked = run.spec
    if asked.rule:
        decision = (
            say(", for the decision “{outcome}”", outcome=asked.outcome) if asked.outcome else ""
        )
        return [
            (
                "subgroup",
                rule_phrase(spec, asked.rule),
                say("the target of the mitigation{decision}", decision=decision),
            )
        ]
    if method_named(asked.method).answers is not QuestionKind.REPAIR:
        return []
    runs = words.joined([str(number) for number in asked.pairs_of]) or "all"
    text = "only pairs that the auditor flagged" if asked.flagged else "flagged pairs first"
    return [
        (
            "pairs of runs",
            runs,
            say("the pairs of these runs were used; {told}", told=text),
        )
    ]


def option_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return each option of a run: its name in the paper, its value, its plain sentence."""
    options = parse_options(run.spec.method, run.spec.options)
    rows = []
    for option in options_of(type(options)):
        if run.spec.text and option.name in _OF_COLUMNS:
            continue
        shown = _option_text(getattr(options, option.name))
        lines = [option.title, option.help]
        if (run.spec.method, option.name) == ("repair-testsgd", "labels"):
            # whatever is chosen, there is one way only
            shown, lines = "opposite", ["Labels", mitigation_words.labels_sentence("opposite")]
        rows.append((option.name, shown, ". ".join(text.rstrip(".") for text in lines)))
    return rows


def _option_text(value: OptionValue) -> str:
    if isinstance(value, str):
        return value
    return words.number(value) if isinstance(value, int) else words.short(value, 12)
