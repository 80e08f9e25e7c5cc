"""The report's sections on what came out: summary, results, examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairdesk.audit.methods import METHODS, Answers
from fairdesk.audit.store import Pair, RunRecord
from fairdesk.data.nearest import nearest
from fairdesk.events import Rows
from fairdesk.models.decision import score_name
from fairdesk.report import certification, charts, evidence, figures, groups, mitigation, words
from fairdesk.report.blocks import (
    Block,
    Callout,
    Chart,
    Fact,
    Facts,
    Grid,
    Heading,
    PairCard,
    PairRow,
    Section,
    Statement,
    Text,
)
from fairdesk.report.decisions import class_texts
from fairdesk.report.gathering import difference
from fairdesk.report.material import Material, proves

_NO_VERDICT = (
    "This report states what was asked, what was tried and what was found. It gives no verdict on "
    "whether the model may be used; that is for the people who answer for its use to decide."
)
_LEFT_OUT = "whom the search came upon, but who break a constraint or are unlike anybody real"
#: Value changes listed per protected attribute.
_CHANGES_SHOWN = 20


def summary(material: Material) -> Section:
    """Say what was found, one sentence per finding with its number first; or how much was tried."""
    spec = material.spec
    blocks: list[Block] = []
    told = [run for run in material.runs if _is_told(material, run)]
    for run in told:
        where = f"{material.run_name(run)}: {figures.effort(run)}; section {material.place(run)}."
        if proves(run):
            blocks.append(certification.statement(spec, run, (where,)))
            continue
        if run in material.repairs:
            blocks.append(mitigation.statement(material, run, (where,)))
            continue
        first, _, rest = figures.headline(spec, run).partition(" ")
        blocks.append(Statement(first, rest, (*figures.alone_sentences(spec, run), where)))
    if spec.predictions:
        blocks += _without_model(material)
    elif not told:
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


def _is_told(material: Material, run: RunRecord) -> bool:
    """Whether the summary speaks of a run: of runs that measure groups only of the latest."""
    if METHODS[run.spec.method].answers is Answers.RATES:
        return run is material.measured
    return figures.tells_of_people(run)


def _without_model(material: Material) -> list[Block]:
    """Say how the groups fared, where the model's decisions are known and not the model."""
    blocks: list[Block] = []
    if material.measured is None:
        decided = groups.observed(material.spec, material.table)[0]
        blocks += groups.statements(decided, material.spec.person)
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
    if "results" in material.chapters:
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
        f"{words.quoted(spec.domain.names[i])} from {material.shown.value(i, pair.row[i])} "
        f"to {material.shown.value(i, pair.partner[i])}"
        for i in spec.domain.protected.tolist()
        if pair.row[i] != pair.partner[i]
    ]
    return (
        f"The widest difference among the pairs shown is finding {words.number(pair.id)}: changing "
        f"{words.joined(changes)} moves the score of the favourable outcome from "
        f"{words.score(spec, pair.row_score)} to {words.score(spec, pair.partner_score)}, all else "
        "being equal."
    )


def results(material: Material) -> Section:
    """Show what each run tried and found."""
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
                material, finished, f"All searches: findings against {material.people} tried"
            ),
        ]
    for run in material.searches:
        blocks += _run_blocks(material, run)
    if not material.searches:
        nothing = "No search has been run yet."
        if material.proofs:
            place = material.number("certification")
            nothing = f"No search was made; section {place} says what is proven."
        blocks.append(Text(nothing))
    marks = material.gathered.marks
    if marks["flagged"] or marks["dismissed"]:
        blocks.append(
            Text(
                f"The auditor flagged {words.number(marks['flagged'])} of these findings and "
                f"dismissed {words.number(marks['dismissed'])}. Dismissed ones stay in the counts."
            )
        )
    return Section("Results", tuple(blocks), fresh=True)


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    spec = material.spec
    facts = [
        Fact("State", words.state_word(run.state) + (f". {run.message}" if run.message else "")),
        Fact("Tried", f"{words.number(run.tried)} invented {material.people}, each once"),
        Fact(
            "Found",
            words.number(run.found)
            + (
                "; no two alike but for protected attributes, each asked about again"
                if run.found
                else ""
            ),
        ),
        Fact("Rows sent to the model", words.number(run.queries)),
        *([Fact("Left out", f"{words.number(run.rejected)} {_LEFT_OUT}")] if run.rejected else []),
        *(
            [Fact("Rows per finding", words.number(run.queries / run.found, 1))]
            if run.found
            else []
        ),
        Fact("Time", words.duration(run.elapsed)),
        *(
            Fact(f"Time, {phase} part", words.duration(seconds))
            for phase, seconds in run.seconds.items()
            if len(run.seconds) > 1
        ),
        Fact("Began", evidence.date_text(evidence.moment(run.started))),
    ]
    blocks: list[Block] = [Heading(material.run_name(run))]
    if ended := words.ending(run):
        blocks.append(Callout("Not to the end.", ended))
    blocks.append(Facts(tuple(facts)))
    if near := figures.near_sentence(spec, run):
        blocks.append(Callout("Only near real people.", near))
    blocks += [Text(each) for each in figures.sentences(spec, run.figures)]
    blocks += _course(material, run)
    if run.found and figures.searches(run) and len(material.progress[run.id]):
        title = f"Findings against {material.people} tried"
        blocks.append(_found_chart(material, [run], title))
    names = words.protected_names(spec.domain)
    if run.found and len(names) > 1:
        bars = list(zip(names, run.alone, strict=True))
        picture = charts.bar_chart(bars, whole=run.found, unit="findings")
        blocks.append(
            Chart(
                picture.svg,
                picture.alt,
                f"Of {words.number(run.found)} findings: the decision changes already when only "
                "this attribute changes",
            )
        )
    counters = material.gathered.changes.get(run.id, [])
    blocks += [
        _changes_grid(material, i, counter)
        for i, counter in zip(spec.domain.protected.tolist(), counters, strict=False)
        if counter
    ]
    return blocks


def _course(material: Material, run: RunRecord) -> list[Block]:
    """Draw how the estimate of the share of the domain came, where there is one."""
    share = figures.share_of_domain(run.figures)
    if share is None or len(share.course) < 2:
        return []
    picture = charts.course_chart(
        share.course,
        x_title=f"{material.people} drawn at random",
        y_title=f"share of all possible {material.people}",
    )
    caption = (
        f"How the estimate came. With {words.percent(share.confidence, 1.0, 0)} confidence the "
        "share lies in the band at every moment together"
    )
    return [Chart(picture.svg, picture.alt, caption)]


def _found_chart(material: Material, runs: Sequence[RunRecord], caption: str) -> Chart:
    lines = [
        charts.Series(
            material.run_name(run), material.progress[run.id][:, 1], material.progress[run.id][:, 2]
        )
        for run in runs
    ]
    picture = charts.line_chart(
        lines,
        x_title=f"{material.people} tried",
        y_title=f"{material.people} found who get another decision",
    )
    return Chart(picture.svg, picture.alt, caption)


def _changes_grid(
    material: Material, position: int, counted: Counter[tuple[float, float]]
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
    caption = f"Which values of {name} were paired, in findings where it differs"
    if len(rows) > _CHANGES_SHOWN:
        rest = sum(sorted(counter.values(), reverse=True)[_CHANGES_SHOWN:])
        other = f"{words.number(len(rows) - _CHANGES_SHOWN)} other pairings"
        rows = [*rows[:_CHANGES_SHOWN], (other, "", words.number(rest), words.percent(rest, total))]
    return Grid(
        header=("Favourable for", "Not for", "Findings", "Share"),
        rows=tuple(rows),
        widths=(1.5, 1.5, 0.8, 0.8),
        right=(2, 3),
        caption=caption,
    )


def pairs(material: Material) -> Section:
    """Show pairs in full: those that the auditor flagged, then the widest differences."""
    shown = material.gathered.shown
    total = sum(material.gathered.marks.values())
    if not shown:
        return Section("Examples", (Text("There are no pairs to show."),), fresh=True)
    flagged = sum(pair.mark == "flagged" for pair in shown)
    order = []
    if flagged:
        order.append(f"first the {words.number(flagged) if flagged > 1 else 'one'} flagged")
    if flagged < len(shown):
        order.append("those whose scores differ most, unlike people before near copies")
    intro = (
        f"{words.number(len(shown))} of {words.number(total)} pairs: {', then '.join(order)}. "
        "The whole list is in the findings file (CSV or JSON) and in the audit file. The two "
        "people of a pair are equal in everything but the lines marked “≠”. Scores are those of "
        "the favourable outcome."
    )
    people = material.spec.domain.people(material.table)
    cards = [_card(material, pair, people) for pair in shown]
    return Section("Examples", (Text(intro), *cards), fresh=True)


def _card(material: Material, pair: Pair, people: Rows) -> PairCard:
    spec = material.spec
    shown = material.shown
    decisions = class_texts(spec, material.table)
    rows = tuple(
        PairRow(name, shown.value(i, first), shown.value(i, second), first != second)
        for i, (name, first, second) in enumerate(
            zip(spec.domain.names, pair.row.tolist(), pair.partner.tolist(), strict=True)
        )
    )
    outcome = (
        PairRow(
            "Decision",
            f"{decisions[pair.row_class]} ({words.decision_word(spec, pair.row_class)})",
            f"{decisions[pair.partner_class]} ({words.decision_word(spec, pair.partner_class)})",
            changed=True,
        ),
        PairRow(
            score_name(spec.model),
            words.score(spec, pair.row_score),
            words.score(spec, pair.partner_score),
            changed=True,
        ),
    )
    run = next(run for run in material.runs if run.id == pair.run)
    detail = [material.run_name(run)]
    if len(run.seconds) > 1:
        detail.append(f"{pair.phase} search")
    if len(people) and shown.whole:
        _, distance = nearest(spec.domain, people, pair.row)
        detail.append(f"distance to the nearest real {spec.person} {distance:.3f}")
    title = f"Finding {words.number(pair.id)}" + (", flagged" if pair.mark == "flagged" else "")
    person = spec.person[:1].upper() + spec.person[1:]
    return PairCard(
        title,
        "; ".join(detail),
        pair.note if shown.whole else "",
        f"{person} A",
        f"{person} B",
        rows,
        outcome,
    )
