"""The report's sections on what came out: the summary, and what was found of single people."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdesk.answers import (
    Question,
    best_run,
    best_shares,
    decision_tables,
    pairs_found,
    pooled,
    without_misfit,
)
from fairdesk.audit.store.records import RunRecord
from fairdesk.document import comparison, pairs, shares
from fairdesk.document.blocks import (
    Block,
    Callout,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Statement,
    Text,
    appended,
    stated,
)
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.sections.compared import compared_blocks
from fairdesk.report.sections.pairs import pair_blocks
from fairdesk.results.events import Metric
from fairdesk.results.individual import ExcessChange, Share
from fairdesk.wording import comparisons, figures, language, words
from fairdesk.wording.language import say
from fairdesk.wording.pairs import plausible_pairs
from fairdesk.wording.proofs import least_share, proven_fractions, proven_of

_LEFT_OUT = (
    "{n} instances that break a constraint, are too far from every data row or are not plausible"
)
_RESULTS = "Individual discrimination"
_NO_SEARCH = (
    "a search for individual discrimination. It would show whether there are instances whose "
    "decision changes when only a protected attribute changes, with examples."
)
_NOT_HOW_OFTEN = "The number of pairs does not show how often this happens."


def results(material: Material) -> Section:
    """Show for how many the decision changes, how many pairs were found, and some of them.

    What each run drew and tried is in the appendix.
    """
    told = _told(material)
    compared = _shares_compared(material)
    blocks: list[Block] = [*_how_often(material, told), *_studied(material), *compared]
    looked = [run for run in material.runs if run.found or figures.searches(run)]
    here = "pairs" not in material.chapters
    # beside a share of people a number of pairs would be taken for one of people
    told_first = any(share.whom == "data" for share in told)
    counted: list[Block] = []
    if looked:
        found = _found(material, looked)
        said = " ".join((found.sentence, *found.details, _NOT_HOW_OFTEN))
        counted.append(
            Text(said, lead="" if here else f"{found.label}.")
            if told_first
            else msgspec.structs.replace(found, details=(*found.details, _NOT_HOW_OFTEN))
        )
        blocks += [] if told_first and here else counted
    if not material.searches:
        blocks.append(not_run(_NO_SEARCH))
        if material.proofs and (place := material.number("certification")):
            blocks.append(
                Text(
                    say(
                        "No search was run; section {place} shows what is certified.",
                        place=str(place),
                    )
                )
            )
    blocks += [
        Callout("Incomplete.", f"{material.run_name(run)}: {ended}")
        for run in material.searches
        if (ended := words.ending(run))
    ]
    marks = material.gathered.marks
    if marks["flagged"] or marks["dismissed"]:
        blocks.append(
            Text(
                say(
                    "The auditor flagged {flagged} of these pairs and dismissed {dismissed}. "
                    "Dismissed pairs stay in the counts.",
                    flagged=words.number(marks["flagged"]),
                    dismissed=words.number(marks["dismissed"]),
                )
            )
        )
    if here:
        blocks += [Heading("Discriminatory pairs"), *(counted if told_first else ())]
        blocks += pair_blocks(material)
    if "compared" not in material.chapters:
        blocks.append(Heading("What is compared", appended=True))
        blocks += map(appended, compared_blocks(material))
    blocks += _all_searches(material)
    for run in material.searches:
        blocks += _run_blocks(material, run, told, listed=bool(compared))
    return Section(_RESULTS, tuple(blocks))


def _told(material: Material) -> tuple[Share, ...]:
    """Return the share that is quoted: of the people in the data, else of what was drawn from."""
    best = [share for _, share in best_shares(material.runs)]
    return tuple(best[:1])


def _how_often(material: Material, told: Sequence[Share]) -> list[Statement]:
    """Say for how many the decision changes."""
    spec = material.spec
    made = [shares.statement(spec, share, _beside(material, share)) for share in told]
    repeated = [run for run in material.searches if figures.repeats_rows(run)]
    if not told and repeated:
        made.append(stated(figures.headline(spec, repeated[-1])))
    return made


def _beside(material: Material, share: Share) -> tuple[Metric, ...]:
    """Return what the run that measured a share measured, as far as the report may tell it."""
    runs = (run for run in material.runs if share in comparisons.shares_of(run.figures))
    return next((tuple(run.figures) for run in runs), ())


def _studied(material: Material) -> list[Block]:
    """Show the audit studies, and in the appendix every comparison, supported or not."""
    run = best_run(Question.SHARE, material.runs)
    if run is None:
        return []
    tables = tuple(map(material.shown.table, decision_tables(material.runs)))
    return [
        *shares.audit_studies(material.spec, run.figures, tables),
        *shares.comparison_tables(material.spec, run.figures),
    ]


def _shares_compared(material: Material) -> list[Grid]:
    """Set the shares of several populations beside each other, each with what it describes."""
    spec, rows = material.spec, []
    for run, share in best_shares(material.runs):
        if share.whom == "perturbed" or not share.n_samples:
            continue
        if share.whom == "domain":
            rows += _proven_of_people(material)
        alone = [
            f"{words.quoted(each.attributes[0])}: {figures.short_share(each, run.figures)}"
            for each in run.figures
            if isinstance(each, Share) and each.whom == share.whom and len(each.attributes) == 1
        ]
        known = figures.share_known(share)
        rows.append(
            (
                figures.instances(spec, share.whom),
                f"{figures.short_share(share, run.figures)} ({known})",
                (", ".join(alone) if len(share.attributes) > 1 else "") or "–",
                _described(material, share),
            )
        )
    if len(rows) < 2:
        return []
    # nothing is known of attributes alone where there is one, or none was counted
    kept = [i for i in range(4) if i != 2 or any(row[2] != "–" for row in rows)]
    header = ("Share of", "Decision changes", "One attribute changed", "What it describes")
    widths = (1.1, 1.2, 1.1, 1.8)
    return [
        Grid(
            header=tuple(header[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in rows),
            widths=tuple(widths[i] for i in kept),
            caption="How often the decision changes, of rows and of combinations",
            key="shares",
            appended=True,
        )
    ]


def _proven_of_people(material: Material) -> list[tuple[str, ...]]:
    """Return the proven share of the population, where the model of the data fits all groups."""
    run = best_run(Question.CERTAIN, material.proofs)
    tables = tuple(map(material.shown.table, decision_tables(material.runs)))
    shown = () if run is None else without_misfit(material.spec, run.figures, tables)
    proven = proven_of(shown, "people")
    if proven is None or "certification" not in material.chapters:
        return []
    changes = proven_fractions(proven)[1]
    return [
        (
            figures.instances(material.spec, "people"),
            say("{share} (proven)", share=least_share(changes)),
            "–",
            say("Simulated {people} that resemble the data, not real ones", people=material.people),
        )
    ]


def _described(material: Material, share: Share) -> str:
    """Say in a line what a share describes: real people, or combinations."""
    if share.whom == "data":
        return say(
            "Real {people}: {hits} of {n}",
            people=material.people,
            hits=words.number(share.hits),
            n=words.number(share.n_samples),
        )
    reference = material.gathered.reference
    if reference is None or reference.uniform is None:
        return say("Combinations of allowed values, not {people}", people=material.people)
    return say(
        "Combinations of allowed values, {share} of them realistic; not {people}",
        share=words.shown_percent(reference.uniform, 1) if reference.uniform else "almost none",
        people=material.people,
    )


def _found(material: Material, looked: Sequence[RunRecord]) -> Statement:
    """Say how many pairs all runs found together, and how many of them are plausible."""
    finding = [run for run in looked if run.found]
    if len(finding) > 1:
        pairs = words.number(pairs_found(finding))
        label = "Discriminatory pairs"
        said = language.Statement("example", label, pairs, pooled(finding))
    else:
        found = finding[0] if finding else max(looked, key=lambda run: run.tried)
        said = words.headline(material.spec, found, ending_too=False)
    plausible = material.gathered.plausible
    # one share of searches that keep plausible pairs only and of others would mean nothing
    if plausible is None or len(finding) > 1:
        return stated(said)
    return stated(said, (plausible_pairs(plausible).sentence,))


def _all_searches(material: Material) -> list[Block]:
    """Draw the searches beside each other, where there are several."""
    finished = [run for run in material.runs if run.tried and figures.searches(run)]
    if len(finished) < 2 or not any(run.found for run in finished):
        return []
    return [
        Heading("All searches", appended=True),
        Text(
            "The number of pairs alone says little: a longer search finds more. The "
            "lines show how many discriminatory pairs each method found for the "
            "queries that it cost; random sampling is the baseline that a search should "
            "exceed."
        ),
        *comparison.cautions(finished),
        comparison.courses([(run, material.progress[run.id]) for run in finished], "all"),
    ]


def _statements(material: Material, run: RunRecord, told: Sequence[Share]) -> list[Statement]:
    """Say what a run found, and apart from it how common that is, but for what was told before.

    What a search comes upon is an example. A share is of people drawn at random, or of everybody.
    """
    spec = material.spec
    share, real = figures.share_of_domain(run.figures), figures.share_of_data(run.figures)
    near = figures.near_sentence(run, material.gathered.reference, sampling=False)
    made: list[Statement] = []
    if figures.searches(run):
        made.append(stated(words.headline(spec, run, ending_too=False).with_more(near)))
        near = ""
    elif share is None and real is None and figures.tells_of_people(run):
        made.append(stated(figures.headline(spec, run, material.gathered.reference)))
    # beside the share of people, that of combinations is in the table only
    of_people = any(each.whom == "data" for each in told)
    for each in (real, None if of_people else share):
        if each is not None and each.n_samples and each not in told:
            said = figures.share_statement(spec, each, run.figures).with_more(near)
            made.append(stated(said, (figures.anytime_sentence(each),)))
    return made


def _run_blocks(
    material: Material, run: RunRecord, told: Sequence[Share], *, listed: bool
) -> list[Block]:
    """Describe a run: the finding, charts, tables, and how it was obtained.

    ``listed`` is whether the section itself has a table of shares.
    """
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run), appended=True)]
    blocks += _statements(material, run, told)
    blocks += shares.courses(spec, filter(None, [figures.share_of_domain(run.figures)]), run.id)
    if run.found and figures.searches(run) and len(material.progress[run.id]):
        found = comparison.courses([(run, material.progress[run.id])], f"cost-{run.id}")
        blocks.append(msgspec.structs.replace(found, optional=True))
    names = words.protected_names(spec.domain)
    if run.found and len(names) > 1:
        blocks.append(pairs.alone(spec, run))
    counters = material.gathered.changes.get(run.id, [])
    blocks += [
        pairs.pairings(spec, position, counter, f"changes-{run.id}-{place}", material.shown.value)
        for place, (position, counter) in enumerate(
            zip(spec.domain.protected.tolist(), counters, strict=False), start=1
        )
        if counter
    ]
    measured = (figures.share_of_domain(run.figures), figures.share_of_data(run.figures))
    grouped = shares.gaps_between_groups(spec, run.figures)
    counted = [each for each in run.figures if isinstance(each, Share)]
    if len(counted) > 1 and not grouped:
        held = shares.table(spec, run, counted)
        blocks.append(msgspec.structs.replace(held, optional=listed))
    elif counted and not grouped and counted[0] not in (*measured, *told):
        blocks.append(Text(figures.share_statement(spec, counted[0], run.figures).sentence))
    blocks += grouped
    blocks += comparison.diagnosis(comparison.likened(run), f"diagnosis-{run.id}")
    if each := figures.changed_answers(run):
        blocks.append(Text(each))
    excess = (each for each in run.figures if isinstance(each, ExcessChange))
    blocks += [Text(figures.excess_statement(spec, each).sentence) for each in excess]
    facts = _facts(run)
    return [
        *blocks,
        *([Facts(facts)] if facts else []),
        *comparison.phases([run], f"parts-{run.id}"),
    ]


def _facts(run: RunRecord) -> tuple[Fact, ...]:
    """Say what a search tested and what not; when and with how many queries is told of all runs."""
    state = words.state_word(run.state) + (f". {run.message}" if run.message else "")
    tested = say("{tried}, each counted once", tried=words.number(run.tried))
    left_out = say(_LEFT_OUT, n=words.number(run.rejected))
    facts = (
        Fact("State", state) if run.state != "done" or run.message else None,
        Fact("Instances tested", tested) if figures.searches(run) else None,
        Fact("Excluded", left_out) if run.rejected else None,
    )
    return tuple(each for each in facts if each is not None)
