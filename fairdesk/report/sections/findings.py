"""The report's sections on what came out: the summary, and what was found of single people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Pair, RunRecord
from fairdesk.charts.kinds.counts import Counts
from fairdesk.charts.kinds.lines import Drawing, Line
from fairdesk.report.blocks import (
    Block,
    Callout,
    Chart,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Statement,
    Text,
    stated,
)
from fairdesk.report.content.gathering import difference
from fairdesk.report.content.material import Material, not_run, proves
from fairdesk.report.provenance import evidence
from fairdesk.report.render.drawing import drawn
from fairdesk.report.sections import certification, group_tables, mitigation
from fairdesk.report.sections.pairs import pair_blocks
from fairdesk.report.sections.plan.compared import compared_blocks
from fairdesk.results.individual import Share
from fairdesk.wording import figures, words
from fairdesk.wording.language import say

_NO_VERDICT = (
    "This report states what was asked, what was tried and what was found. It gives no verdict on "
    "whether the model may be used; that is for the people who answer for its use to decide."
)
_LEFT_OUT = "whom the search came upon, but who break a constraint or are unlike anybody real"
_RESULTS = "Individual discrimination"
_NO_SEARCH = (
    "a search for individual discrimination. It would have told whether there are single people "
    "who get another decision when only a protected attribute changes, with examples of them."
)
_NO_MODEL = (
    "every search for individual discrimination, for no model is at hand that could be asked. It "
    "would have told whether there are single people who get another decision when only a "
    "protected attribute changes."
)
#: Value changes listed per protected attribute.
_CHANGES_SHOWN = 20


def summary(material: Material) -> Section:
    """Say what was found, one sentence per finding with its number first; or how much was tried."""
    spec = material.spec
    blocks: list[Block] = []
    runs = [run for run in material.runs if _in_summary(material, run)]
    for run in runs:
        blocks += _statements(material, run)
        if changed := figures.changed_answers(run):
            blocks.append(Callout("Answers changed.", changed))
        if proves(run):
            blocks += certification.strip(run)
    if spec.predictions:
        blocks += _without_model(material)
    elif not runs:
        blocks.append(Text("No search has been run yet, so nothing can be said."))
    searched = [run for run in material.searches if figures.tells_of_people(run)]
    if searched and not material.proofs and not any(run.found for run in searched):
        blocks.append(
            Text(
                "Nothing was found within what was tried. Discrimination that the search did not "
                "come upon may still exist: another method, another seed or a larger budget can "
                "find it. Only a certificate can prove that there is none."
            )
        )
    if material.gathered.shown:
        widest = max(material.gathered.shown, key=difference)
        blocks.append(Text(_widest_sentence(material, widest)))
    blocks += _what_it_shows(material)
    blocks.append(Text(_NO_VERDICT))
    return Section("Summary", tuple(blocks), fresh=True)


def _statements(material: Material, run: RunRecord) -> Sequence[Statement | Text]:
    """Say what came of a run, and where more of it stands."""
    spec, place = material.spec, material.place(run)
    effort, name = figures.effort(run), material.run_name(run)
    where = (
        say("{run}: {effort}; section {place}.", run=name, effort=effort, place=place)
        if place
        else say("{run}: {effort}.", run=name, effort=effort)
    )
    if proves(run):
        return certification.statements(spec, run, (where,))
    if run in material.repairs:
        return [mitigation.statement(material, run, (where,))]
    if run in material.searches:
        return search_statements(material, run, where)
    said = figures.headline(spec, run)
    if not said.value:
        return [Text(f"{said.sentence} {where}")]
    return [stated(said, (where,), place=material.chapter_of(run))]


def search_statements(
    material: Material, run: RunRecord, where: str = "", place: str = "results"
) -> list[Statement]:
    """Say what a search found, and apart from it how common that is, where it was measured.

    What a search comes upon is an example. A share is of people drawn at random, or of everybody.
    """
    spec = material.spec
    share, real = figures.share_of_domain(run.figures), figures.share_of_data(run.figures)
    also = figures.near_sentence(spec, run), words.ending(run)
    searched = figures.searches(run)
    made: list[Statement] = []
    if searched or (share is None and figures.tells_of_people(run)):
        said = (
            words.headline(spec, run, ending_too=False).with_more(*also)
            if searched
            else figures.headline(spec, run)
        )
        details = (*figures.alone_sentences(spec, run), _most_often(spec, run), where)
        made.append(stated(said, details, place=place))
    if share is not None:
        said = figures.share_statement(spec, share).with_more(*(() if searched else also))
        details = (figures.anytime_sentence(share), where if not made else "")
        made.append(stated(said, details, place=place))
    if real is not None and real.people:
        said = figures.share_statement(spec, real)
        made.append(stated(said, (figures.anytime_sentence(real),), place=place))
    return made


def _most_often(spec: AuditSpec, run: RunRecord) -> str:
    """Say which protected attribute is most often enough alone; empty with one of them."""
    names = words.protected_names(spec.domain)
    if len(names) < 2 or not run.found or not any(run.alone) or not figures.searches(run):
        return ""
    place = max(range(len(names)), key=lambda i: run.alone[i])
    return say(
        "The attribute that most often changes a decision by itself is {name}.",
        name=words.quoted(names[place]),
    )


def _in_summary(material: Material, run: RunRecord) -> bool:
    """Whether the summary speaks of a run: of runs that measure groups only of the latest."""
    if METHODS[run.spec.method].answers is QuestionKind.RATES:
        return run is material.measured
    return figures.tells_of_people(run)


def _without_model(material: Material) -> list[Block]:
    """Say how the groups fared, where the model's decisions are known and not the model."""
    blocks: list[Block] = []
    if material.measured is None:
        decided = group_tables.observed(material.spec, material.table)[0]
        blocks += group_tables.statements(decided, material.spec.person, "outcomes")
        if not blocks:
            blocks.append(
                Text("No two groups can be compared: fewer than two have people in them.")
            )
    blocks.append(
        Callout(
            "No model was asked.",
            "Only the decisions that it made are known, so this audit can tell how groups of real "
            "people fared, and not whether one person would have fared otherwise: every search "
            "for individual discrimination is off.",
        )
    )
    return blocks


def _what_it_shows(material: Material) -> list[Block]:
    """Say what kinds of statement the summary makes: examples, estimates, observations."""
    blocks: list[Block] = []
    if material.one_by_one:
        blocks.append(Callout("Examples, not a rate.", words.EXAMPLES))
    if material.subtle:
        blocks.append(Callout("Estimated.", words.ESTIMATED_GROUPS))
    if material.measured is not None:
        blocks.append(Callout("Observed.", words.OBSERVED))
    if material.repairs:
        blocks.append(Callout("After a repair.", mitigation.WHAT))
    return blocks


def _widest_sentence(material: Material, pair: Pair) -> str:
    spec = material.spec
    changes = [
        say(
            "{name} from {before} to {after}",
            name=words.quoted(spec.domain.names[i]),
            before=material.shown.value(i, pair.row[i]),
            after=material.shown.value(i, pair.partner[i]),
        )
        for i in spec.domain.protected.tolist()
        if pair.row[i] != pair.partner[i]
    ]
    return say(
        "The widest difference among the pairs shown is finding {number}{place}: changing "
        "{changes} moves the score of the favourable outcome from {one} to {other}, all else being "
        "equal.",
        number=words.number(pair.id),
        place=material.see("pairs"),
        changes=words.joined(changes),
        one=words.score(spec, pair.row_score),
        other=words.score(spec, pair.partner_score),
    )


def results(material: Material) -> Section:
    """Show what each run about single people tried and found; with what has no section of its own.

    That is examples, and who is compared with whom.
    """
    if not material.one_by_one:
        return Section(_RESULTS, (not_run(_NO_MODEL if material.spec.predictions else _NO_SEARCH),))
    blocks: list[Block] = []
    finished = [run for run in material.runs if run.tried and figures.searches(run)]
    if len(finished) > 1 and any(run.found for run in finished):
        blocks += [
            Text(
                "A count of findings says little by itself: a longer search finds more. The lines "
                "show what each method found for what it tried; random sampling is the yardstick "
                "that a search should beat."
            ),
            _found_chart(
                material,
                finished,
                say("All searches: findings against {people} tried", people=material.people),
                "all",
            ),
        ]
    for run in material.searches:
        blocks += _run_blocks(material, run)
    if not material.searches:
        blocks.append(not_run(_NO_SEARCH))
        if material.proofs and (place := material.number("certification")):
            blocks.append(
                Text(
                    say(
                        "No search was made; section {place} says what is proven.", place=str(place)
                    )
                )
            )
    marks = material.gathered.marks
    if marks["flagged"] or marks["dismissed"]:
        blocks.append(
            Text(
                say(
                    "The auditor flagged {flagged} of these findings and dismissed {dismissed}. "
                    "Dismissed ones stay in the counts.",
                    flagged=words.number(marks["flagged"]),
                    dismissed=words.number(marks["dismissed"]),
                )
            )
        )
    if "pairs" not in material.chapters:
        blocks += [Heading("Examples"), *pair_blocks(material)]
    if "compared" not in material.chapters:
        blocks += [Heading("Who is compared with whom"), *compared_blocks(material)]
    return Section(_RESULTS, tuple(blocks), fresh=True)


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    """Describe a run: the finding, charts, tables, and how it was obtained."""
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run))]
    if ended := words.ending(run):
        blocks.append(Callout("Not to the end.", ended))
    blocks += search_statements(material, run, place="")
    if near := figures.near_sentence(spec, run):
        blocks.append(Callout("Only near real people.", near))
    blocks += _course(material, run)
    if run.found and figures.searches(run) and len(material.progress[run.id]):
        title = say("Findings against {people} tried", people=material.people)
        blocks += [
            _found_chart(
                material,
                [run],
                title,
                f"found-{run.id}",
            ),
            _cost_chart(material, run),
        ]
    names = words.protected_names(spec.domain)
    if run.found and len(names) > 1:
        counts = tuple(zip(names, run.alone, strict=True))
        blocks.append(
            Chart(
                *drawn(Counts("", say("findings"), counts, run.found)),
                caption=say(
                    "Of {found} findings: the decision changes already when only this attribute "
                    "changes",
                    found=words.number(run.found),
                ),
                key=f"alone-{run.id}",
                evidence="example",
            )
        )
    counters = material.gathered.changes.get(run.id, [])
    blocks += [
        _changes_grid(
            material,
            position,
            counter,
            f"changes-{run.id}-{place}",
        )
        for place, (position, counter) in enumerate(
            zip(spec.domain.protected.tolist(), counters, strict=False), start=1
        )
        if counter
    ]
    measured = (figures.share_of_domain(run.figures), figures.share_of_data(run.figures))
    shares = [each for each in run.figures if isinstance(each, Share)]
    if len(shares) > 1:
        blocks.append(_shares(material, run, shares))
    elif shares and shares[0] not in measured:
        blocks.append(Text(figures.share_statement(spec, shares[0]).sentence))
    others = [each for each in run.figures if not isinstance(each, Share)]
    blocks += [Text(each) for each in figures.sentences(spec, others)]
    return [*blocks, Facts(_facts(material, run)), *_phases(run)]


def _shares(material: Material, run: RunRecord, shares: Sequence[Share]) -> Grid:
    """List how common it is among whom, by which attributes, and how that is known."""
    whom = {
        "domain": say("all possible {people}", people=material.people),
        "data": say("the {people} in the data", people=material.people),
        "perturbed": say("{people} a little unlike those in the data", people=material.people),
    }
    rows = []
    for each in shares:
        digits = words.digits_of(each.low, each.high)
        exact = each.exhaustive or not each.people
        known = say("not exact") if each.wavered else say("exact")
        rows.append(
            (
                whom[each.whom],
                words.listed(each.attributes, "or"),
                words.shown_percent(each.estimate, 2 if exact else digits)
                if each.people
                else words.UNDEFINED,
                known if exact else words.percent_ends(each.low, each.high, digits),
                known if exact else words.percent_ends(each.anytime_low, each.anytime_high, digits),
                say(
                    "{hits} of {people}",
                    hits=words.number(each.hits),
                    people=words.number(each.people),
                ),
            )
        )
    confidence = words.percent(shares[0].confidence, 1.0, 0)
    return Grid(
        header=("Of whom", "When only", "Share", "Interval", "While watching", "Counted"),
        rows=tuple(rows),
        widths=(1.7, 1.1, 0.7, 1.15, 1.15, 1.2),
        right=(2, 3, 4, 5),
        caption=say(
            "How common it is to get another decision when only these change: of people "
            "drawn at random; “exact” where all were asked about. The first interval "
            "({confidence}) is for who looks once, the other for who watches and stops when they "
            "like",
            confidence=confidence,
        ),
        key=f"shares-{run.id}",
        evidence="estimated",
    )


def _facts(material: Material, run: RunRecord) -> tuple[Fact, ...]:
    """Say how a run's result was obtained."""
    alike = "; no two alike but for protected attributes, each asked about again"
    return (
        Fact("How", METHODS[run.spec.method].sentence),
        Fact("State", words.state_word(run.state) + (f". {run.message}" if run.message else "")),
        Fact(
            "Tried",
            say(
                "{tried} invented {people}, each once",
                tried=words.number(run.tried),
                people=material.people,
            ),
        ),
        Fact("Found", words.number(run.found) + (alike if run.found else "")),
        Fact("Rows sent to the model", words.number(run.queries)),
        *([Fact("Left out", f"{words.number(run.rejected)} {_LEFT_OUT}")] if run.rejected else []),
        *(_rates(run) if run.found and run.queries and figures.searches(run) else ()),
        Fact("Time", words.duration(run.elapsed)),
        Fact("Seed", str(run.spec.seed)),
        Fact("Began", evidence.date_text(evidence.moment(run.started))),
    )


def _rates(run: RunRecord) -> tuple[Fact, ...]:
    """Say how much a finding cost, which is no rate among people."""
    return (
        Fact("Rows per finding", words.number(run.queries / run.found, 1)),
        Fact(
            "Findings per 1,000 rows",
            say(
                "{rate}: how well the search works, not how common a finding is",
                rate=words.number(1_000 * run.found / run.queries, 1),
            ),
        ),
    )


def _phases(run: RunRecord) -> list[Grid]:
    """List the time of each part of a run of several parts."""
    if len(run.seconds) < 2:
        return []
    return [
        Grid(
            header=("Part", "Time"),
            rows=tuple((phase, words.duration(took)) for phase, took in run.seconds.items()),
            widths=(2, 1),
            right=(1,),
            caption="Time of each part of the run",
            key=f"parts-{run.id}",
            optional=True,
        )
    ]


def _course(material: Material, run: RunRecord) -> list[Block]:
    """Draw how the estimate of the share of the domain came, where there is one."""
    share = figures.share_of_domain(run.figures)
    if share is None or len(share.course) < 2:
        return []
    people, *shown = np.array(share.course, dtype=np.float64).T * [[1], [100], [100], [100]]
    # where the band is still wide it may leave the chart: what matters is where it ends
    line = Line("", people, shown[0], "series 0", low=shown[1], high=shown[2])
    chart = Drawing(
        "",
        say("{people} drawn at random", people=material.people),
        say("share of all possible {people}", people=material.people),
        (line,),
        y_digits=words.digits_of(share.low, share.high),
        y_unit=f"{words.NBSP}%",
        y_high=min(100.0, max(1.6 * shown[2][-1], 1.1 * shown[0].max())),
    )
    caption = say(
        "How the estimate came. With {share} confidence the share lies in the band at "
        "every moment together",
        share=words.percent(share.confidence, 1.0, 0),
    )
    return [Chart(*drawn(chart), caption=caption, key=f"course-{run.id}", evidence="estimated")]


def _found_chart(material: Material, runs: Sequence[RunRecord], caption: str, key: str) -> Chart:
    courses = [material.progress[run.id] for run in runs]
    lines = [
        Line(material.run_name(run), course[:, 1], course[:, 2], f"series {place}")
        for place, (run, course) in enumerate(zip(runs, courses, strict=True))
    ]
    x_title = say("{people} tried", people=material.people)
    y_title = say("{people} found who get another decision", people=material.people)
    chart = Drawing(caption, x_title, y_title, tuple(lines))
    return Chart(*drawn(chart), caption=caption, key=key, evidence="example")


def _cost_chart(material: Material, run: RunRecord) -> Chart:
    """Draw the course of a search against what it cost."""
    course = material.progress[run.id]
    line = Line(material.run_name(run), course[:, 3], course[:, 2], "series 0")
    y_title = say("{people} found who get another decision", people=material.people)
    return Chart(
        *drawn(Drawing("", say("rows sent to the model"), y_title, (line,))),
        caption="Findings against rows sent to the model",
        key=f"cost-{run.id}",
        optional=True,
        evidence="example",
    )


def _changes_grid(
    material: Material, position: int, counted: Counter[tuple[float, float]], key: str
) -> Grid:
    """Count the findings by the values of the one who fares better and of the one who does not."""
    total = sum(counted.values())
    counter: Counter[tuple[str, str]] = Counter()
    # values that are shown alike are one
    for (better, worse), count in sorted(counted.items()):
        shown = (material.shown.value(position, each) for each in (better, worse))
        counter[next(shown), next(shown)] += count
    rows = [
        (better, worse, words.number(count), words.percent(count, total))
        for (better, worse), count in counter.most_common()
    ]
    name = material.spec.domain.names[position]
    caption = say("Which values of {name} were paired, in findings where it differs", name=name)
    if len(rows) > _CHANGES_SHOWN:
        rest = sum(sorted(counter.values(), reverse=True)[_CHANGES_SHOWN:])
        other = say("{rows} other pairings", rows=words.number(len(rows) - _CHANGES_SHOWN))
        rows = [*rows[:_CHANGES_SHOWN], (other, "", words.number(rest), words.percent(rest, total))]
    return Grid(
        header=("Favourable for", "Not for", "Findings", "Share"),
        rows=tuple(rows),
        widths=(1.5, 1.5, 0.8, 0.8),
        right=(2, 3),
        caption=caption,
        key=key,
        evidence="example",
    )
