"""The answers of an audit to its questions, one each: the best evidence of all its runs.

A card of the overview, a line of the terminal, a statement of a template.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import msgspec

from fairdesk.answers import (
    ANSWERING,
    Answer,
    Observed,
    Question,
    Run,
    all_off,
    answering,
    best_run,
    best_shares,
    decision_tables,
    measured_any,
    pairs_found,
    shown_shares,
    without_misfit,
)
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.document import pairs, pictures
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import ExcessChange
from fairdesk.wording import comparisons, figures, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import terms as term_words
from fairdesk.wording.groups.impact_ratio import shown_of, worst_of, worst_statement
from fairdesk.wording.groups.tables import group_text
from fairdesk.wording.language import Statement, say, say_many, unmeasured
from fairdesk.wording.proofs import main_proof, neighbourhoods_of

#: A count of the rows answers what is certain where at most this share of them is undecided.
_FEW = 0.05
#: Categories of terms that are told of, at most.
_CATEGORIES = 2


#: The answers that stand for the whole, the first that is known.
_ORDER = (Question.SHARE, Question.CERTAIN, Question.GROUPS, Question.SUBGROUPS, Question.EXAMPLE)


def answers(
    spec: AuditSpec,
    runs: Sequence[Run],
    seen: Sequence[Observed] = (),
    pair: Pair | None = None,
    value: pairs.Value | None = None,
    reverse: Pair | None = None,
) -> tuple[Answer, ...]:
    """Answer every question that can be asked of an audit, in the order of `Question`.

    Where one reason keeps several from being answered, the first of them names the others.

    Parameters
    ----------
    runs : sequence of RunRecord or RunState
        In the order in which they began; the one under way may be among them.
    seen : sequence of Observed
        The outcomes of groups in the data, see `fairdesk.answers.observed`.
    pair : Pair, optional
        The pair to show, see `fairdesk.answers.clearest`.
    value : callable, optional
        Writes a value of a pair, by the position of its attribute; in full if it is not given.
    reverse : Pair, optional
        One of the same values as `pair` with the decisions the other way round, see
        `fairdesk.answers.opposite`.
    """
    found: dict[Question, Answer] = {Question.GROUPS: _groups(spec, runs, seen)}
    if not spec.predictions:
        found |= {
            Question.SHARE: _share(spec, runs),
            Question.EXAMPLE: _example(spec, runs, pair, value, reverse),
            Question.CERTAIN: _certain(spec, runs),
            Question.SUBGROUPS: _subgroups(spec, runs),
            Question.MITIGATION: _mitigation(spec, runs),
        }
    return _reasons_once(
        each if each.known or each.said.sentence else _unanswered(spec, each.question)
        for each in found.values()
    )


def _unanswered(spec: AuditSpec, question: Question) -> Answer:
    reasons = [reason for kind in ANSWERING[question] for reason in all_off(spec, kind)]
    return Answer(question, unmeasured(" ".join(reasons) or question.missing))


def _reasons_once(found: Iterable[Answer]) -> tuple[Answer, ...]:
    """Give one reason why several questions have no answer once, for the first of them."""
    by_reason: dict[str, list[Answer]] = {}
    for each in found:
        # what is known is never one of several
        reason = each.question.value if each.known else each.said.sentence
        by_reason.setdefault(reason, []).append(each)
    return tuple(_speaking_for(first, others) for first, *others in by_reason.values())


def _speaking_for(first: Answer, others: Sequence[Answer]) -> Answer:
    if not others:
        return first
    asked = words.joined([words.in_quotes(each.question.title) for each in others])
    said = first.said.with_more(say("The same applies to {questions}.", questions=asked))
    return dataclasses.replace(first, said=said)


def _answer(
    question: Question,
    said: Statement,
    details: Sequence[str],
    run: Run,
    runs: Sequence[Run],
    drawn: pictures.Pictured = pictures.Pictured(),  # noqa: B008 - immutable
) -> Answer:
    others = tuple(each.id for each in runs if each.id != run.id)
    return Answer(question, said, tuple(filter(None, details)), run.id, others, *drawn)


def _groups(spec: AuditSpec, runs: Sequence[Run], seen: Sequence[Observed]) -> Answer:
    """Compare groups by the model's decisions if measured, and by the recorded outcomes."""
    rated = [run for run in answering(runs, Question.GROUPS) if measured_any(run, GroupTable)]
    by_data = [_lowest(each.outcomes) for each in seen]
    of_data = [table for table in by_data if table is not None]
    if rated:
        tables = ratio_words.of_main_kind(spec, _tables(rated[-1].figures))
        table = _lowest(tables)
        if table is not None:
            details = [words.FOUR_FIFTHS]
            details += [_of_data(spec, each) for each in of_data if each.of != table.of]
            said = worst_statement(spec, table)
            if crossed := _with_intersection(tables, table):
                brief = f"{said.brief} {crossed}"
                said = msgspec.structs.replace(said.with_more(crossed), brief=brief)
            drawn = pictures.ratios(table, rated[-1])
            return _answer(Question.GROUPS, said, details, rated[-1], rated, drawn)
    if not of_data:
        grouped = seen and spec.domain.grouping
        none = "No two groups can be compared." if grouped else ""
        return Answer(Question.GROUPS, unmeasured(none))
    first, *rest = of_data
    more = [_of_data(spec, each) for each in rest]
    if not spec.predictions:
        more.append("The model’s own decisions are not measured yet.")
    said = worst_statement(spec, first)
    more.insert(0, words.FOUR_FIFTHS)
    return Answer(Question.GROUPS, said, tuple(more), chart=pictures.ratios(first).chart)


def _with_intersection(tables: Sequence[GroupTable], shown: GroupTable) -> str:
    """Say the lowest impact ratio of several attributes together, and whose it is; if lower."""
    crossed = [each for each in tables if len(each.attributes) > 1 and shown_of(each)]
    lowest = min(crossed, key=_worst_ratio, default=None)
    if lowest is None or len(shown.attributes) > 1 or _worst_ratio(lowest) >= _worst_ratio(shown):
        return ""
    worst = shown_of(lowest)
    return (
        ""
        if worst is None
        else say(
            "By {both} it is {ratio}: {group} against {best}.",
            both=words.listed(lowest.attributes),
            ratio=words.number(_worst_ratio(lowest), 2),
            group=group_text(lowest, worst),
            best=group_text(lowest, lowest.lines[lowest.reference]),
        )
    )


def _worst_ratio(table: GroupTable) -> float:
    worst = shown_of(table)
    return 1.0 if worst is None or worst.impact_ratio is None else worst.impact_ratio


def _of_data(spec: AuditSpec, table: GroupTable) -> str:
    """Say the lowest impact ratio of what the data hold, shortly: the model is compared with it."""
    said = worst_statement(spec, table)
    column = "recorded outcomes" if table.of == "label" else "decisions in the data"
    if shown_of(table) is None:
        by = words.listed(table.attributes)
        return say("In the {column}, no group by {by} is shown to differ.", column=column, by=by)
    return say(
        "In the {column}, the {label} is {value}.",
        column=column,
        value=said.value,
        label=_small(said.label),
    )


def _small(text: str) -> str:
    """Return a text with its first letter as inside a sentence."""
    return text[:1].lower() + text[1:]


def _tables(figures: Sequence[Metric]) -> list[GroupTable]:
    return [each for each in figures if isinstance(each, GroupTable)]


def _lowest(tables: Sequence[GroupTable]) -> GroupTable | None:
    """Return the table with the lowest impact ratio, if any groups can be compared."""
    compared = [each for each in tables if worst_of(each) is not None]
    return ratio_words.lowest(compared) if compared else None


def _share(spec: AuditSpec, runs: Sequence[Run]) -> Answer:
    """Say for which share the decision changes: of the rows of the data, else of the domain."""
    best = shown_shares(runs)
    if best:
        (run, share), *rest = best
        telling = [each for each in runs if comparisons.shares_of(each.figures)]
        # who was not tested is said where the share is explained
        said = figures.share_statement(spec, share, run.figures, parts=False)
        if share.whom == "data":
            # beside a share of real people, one of combinations would be read as of people
            studies = comparisons.studies_of(spec, run.figures)
            drawn = (
                pictures.studies(spec, run, studies)
                if studies
                else pictures.shares_alone(spec, run, share)
            )
            tables = decision_tables(runs)
            details = [comparisons.against_sentence(spec, each, tables) for each in studies]
            return _answer(Question.SHARE, said, details, run, telling, drawn)
        details = [figures.share_line(spec, each, run.figures) for run, each in rest]
        drawn = pictures.shares(spec, best)
        return _answer(Question.SHARE, said, details, run, telling, drawn)
    repeated = [(run, one) for run in runs for one in run.figures if isinstance(one, ExcessChange)]
    if not repeated:
        return Answer(Question.SHARE, unmeasured(""))
    run, excess = repeated[-1]
    said = figures.excess_statement(spec, excess)
    return _answer(Question.SHARE, said, (), run, [each for each, _ in repeated])


def _example(
    spec: AuditSpec,
    runs: Sequence[Run],
    pair: Pair | None,
    value: pairs.Value | None,
    reverse: Pair | None,
) -> Answer:
    """Show one pair, the other way round another, and how many the searches found."""
    searched = [run for run in answering(runs, Question.EXAMPLE) if run.tried]
    if not searched:
        return Answer(Question.EXAMPLE, unmeasured(""))
    most = best_run(Question.EXAMPLE, searched) or searched[-1]
    if pair is None:
        return _answer(Question.EXAMPLE, words.headline(spec, most), (), most, searched)
    # a run that estimates or certifies finds pairs too
    of = next((run for run in runs if run.id == pair.run), most)
    said = pairs.statement(spec, pair, value)
    turned = "" if reverse is None else pairs.reverse_sentence(reverse)
    brief = " ".join(filter(None, (said.brief, turned)))
    said = msgspec.structs.replace(said, brief=brief)
    counted = _counted(runs, one=not turned)
    finding = [run for run in runs if run.found]
    return _answer(Question.EXAMPLE, said, (turned, counted), of, finding)


def _counted(runs: Sequence[Run], *, one: bool) -> str:
    """Say how many pairs all runs found together.

    ``one`` is whether the pair that is shown stands alone.
    """
    found = say_many(
        pairs_found(runs),
        "[It is the only discriminatory pair found|One of {n} pairs found: examples, not a rate].",
    )
    alone = "In others the change may be the opposite." if one and pairs_found(runs) > 1 else ""
    return f"{found} {alone}".rstrip()


def _certain(spec: AuditSpec, runs: Sequence[Run]) -> Answer:
    """Say what is certified: of the rows with their neighbours, of the population, of the domain.

    Or what an exhaustive count of the domain shows, where nothing else does.
    """
    tried = answering(runs, Question.CERTAIN)
    around = next((each for each in reversed(tried) if _decides_rows(each)), None)
    run = around or best_run(Question.CERTAIN, tried)
    if run is not None:
        shown = without_misfit(spec, run.figures, decision_tables(runs))
        said, details = figures.certified_statement(spec, run, shown)
        if main_proof(shown) is not None or neighbourhoods_of(shown) is not None:
            drawn = pictures.proof(spec, run, shown)
            return _answer(Question.CERTAIN, said, details, run, tried, drawn)
    exact = [each for each in best_shares(runs) if each[1].whom == "domain" and each[1].exact]
    if not exact:
        return Answer(Question.CERTAIN, unmeasured(""))
    run, share = exact[0]
    said = figures.share_statement(spec, share, run.figures)
    return _answer(Question.CERTAIN, said, (), run, tried, pictures.proof(spec, run, run.figures))


def _decides_rows(run: Run) -> bool:
    """Return whether a run certified around the data rows, and left few of them undecided."""
    found = neighbourhoods_of(run.figures)
    return found is not None and found.undecided <= _FEW * found.rows


def _subgroups(spec: AuditSpec, runs: Sequence[Run]) -> Answer:
    """Say which subgroup differs most from all others: by rules rather than by other methods."""
    tried = [run for run in answering(runs, Question.SUBGROUPS) if run.figures]
    ruled = [run for run in tried if any(True for _ in finding_words.mined_with(run.figures))]
    if not tried:
        return Answer(Question.SUBGROUPS, unmeasured(""))
    run = (ruled or tried)[-1]
    said = group_words.headline(spec, run.figures) or unmeasured(figures.no_result(run))
    details = [each for each in _of_texts(spec, run) if each not in said.sentence]
    return _answer(Question.SUBGROUPS, said, details, run, tried, pictures.gaps(spec, run))


def _of_texts(spec: AuditSpec, run: Run) -> tuple[str, ...]:
    """Say for how many texts terms change the decision, of the categories that change most."""
    told = sorted(
        term_words.by_category(run.figures),
        key=lambda terms: -max(term.flips for term in terms),
    )
    return tuple(
        term_words.category_statement(spec, terms).sentence
        for place, terms in enumerate(told[:_CATEGORIES])
        if not place or any(term.flips for term in terms)
    )


def _mitigation(spec: AuditSpec, runs: Sequence[Run]) -> Answer:
    """Say what the newest mitigation changed, and at what cost."""
    tried = [run for run in answering(runs, Question.MITIGATION) if run.figures]
    if not tried:
        return Answer(Question.MITIGATION, unmeasured(""))
    run = tried[-1]
    said = mitigation_words.headline(spec, run.figures)
    drawn = pictures.before_and_after(run.figures)
    return _answer(Question.MITIGATION, said, (), run, tried, drawn)


def headline(spec: AuditSpec, runs: Sequence[Run], found: Sequence[Answer]) -> Statement:
    """Return an audit's figure: ``1,442 of 9,769 applicants, 14.76 %``, with one sentence.

    Parameters
    ----------
    found : sequence of Answer
        Its answers, see `fairdesk.document.answers.answers`.
    """
    for run, share in best_shares(runs):
        if share.whom == "data" and share.exhaustive:
            said = figures.share_statement(spec, share, run.figures)
            if not comparisons.is_answered(spec, share):
                return said
            value = say(
                "{hits} of {people}, {share}",
                hits=words.number(share.hits),
                people=words.counted(share.n_samples, spec.person),
                share=words.percent(share.hits, share.n_samples, 2),
            )
            return msgspec.structs.replace(said, value=value)
    by_question = {each.question: each for each in found}
    known = [by_question[each] for each in _ORDER if each in by_question]
    return next((each.said for each in known if each.known and each.said.value), unmeasured(""))
