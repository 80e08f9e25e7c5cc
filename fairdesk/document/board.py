"""The board page: the answer of an audit for those who decide, with at most twenty numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from fairdesk.answers import Observed, best_shares, decision_tables
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import LogEntry, RunRecord, RunState
from fairdesk.charts.kinds.gaps import Dumbbell, Rate, Selected
from fairdesk.document.answers import answers, headline
from fairdesk.document.blocks import Board, Chart, Listed, Tile, chart_block
from fairdesk.groups.options import FOUR_FIFTHS
from fairdesk.models.inputs.input_check import ASSUMED
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import Share
from fairdesk.wording import comparisons, figures, words
from fairdesk.wording.decisions import name_of, outcome_text
from fairdesk.wording.groups.impact_ratio import error_gap, higher_of, shown_of, worst_of
from fairdesk.wording.groups.tables import people, reference_of
from fairdesk.wording.language import say

#: So many protected attributes are compared: those with the lowest ratios.
_ATTRIBUTES = 2
#: Groups that are too small to judge and named.
_NAMED = 3
#: Ratios that have a name.
_FRACTIONS = (
    (0.1, "a tenth of the rate"),
    (0.125, "an eighth of the rate"),
    (1 / 6, "a sixth of the rate"),
    (0.2, "a fifth of the rate"),
    (0.25, "a quarter of the rate"),
    (1 / 3, "a third of the rate"),
    (0.5, "half the rate"),
    (2 / 3, "two thirds of the rate"),
    (0.75, "three quarters of the rate"),
    (0.9, "nine tenths of the rate"),
    (1.0, "the same rate"),
)
#: How far a ratio may be from one with a name to be “about” it, of that one and at most; and below
#: what none is near.
_NEAR, _ABOUT, _TWENTIETH = 0.13, 0.035, 0.05
#: How the gaps in the records are beside those of the model.
_RECORDS = {
    "similar": "The records show such gaps too.",
    "smaller": "In the records the gap is smaller.",
    "larger": "In the records the gap is larger.",
}

#: That the class was taken which agrees better with the records.
_ASSUMED = (
    "Does the model’s output “{name}” mean the favourable decision, “{outcome}”? This was assumed: "
    "so read, it matches the records better."
)

Run = RunRecord | RunState


class _Compared(NamedTuple):
    """A group against the reference of its attribute.

    ``by_model`` are the rates of both by the model, ``by_records`` in the records, each ``None``
    where not counted; ``shown`` whether more than chance explains the difference.
    """

    names: tuple[str, str]
    by_model: tuple[GroupLine, GroupLine] | None
    by_records: tuple[GroupLine, GroupLine] | None
    shown: bool

    @property
    def ratio(self) -> float | None:
        """The impact ratio by the model, or where that was not measured in the records."""
        return _ratio(self.by_model or self.by_records)


def board(
    spec: AuditSpec, runs: Sequence[Run], seen: Sequence[Observed] = (), asked: Sequence[str] = ()
) -> Board:
    """Compose the board page of an audit.

    Parameters
    ----------
    runs : sequence of RunRecord or RunState
        In the order in which they began.
    seen : sequence of Observed
        The outcomes of groups in the data, see `fairdesk.answers.observed`.
    asked : sequence of str
        What the auditor has to settle, see `unsettled`.
    """
    by_model = _alone(_decided(runs, seen))
    by_records = _alone(_recorded(runs, seen))
    compared = _compared(spec, by_model, by_records)
    share = _answered(spec, runs)
    beside = next((e.figures for e in runs if share in comparisons.shares_of(e.figures)), ())
    return Board(
        _question(spec, compared),
        _answer(spec, compared, share, measured=bool(by_model))
        or headline(spec, runs, answers(spec, runs, seen)).sentence
        or "Not measured yet.",
        tuple(_tiles(spec, compared, share, beside)),
        _chart(spec, compared),
        tuple(
            each
            for each in (
                Listed("What is known", tuple(_known(spec, runs, compared, share))),
                Listed(
                    "What is not known",
                    tuple(_unknown(spec, by_model or by_records, share)),
                ),
                Listed("To decide", tuple(_decide(spec, compared, share, asked))),
            )
            if each.items
        ),
    )


def unsettled(spec: AuditSpec, purpose: str, log: Iterable[LogEntry]) -> tuple[str, ...]:
    """Return as questions what only the auditor can settle: an assumed class, an unstated purpose.

    Parameters
    ----------
    purpose : str
        As it was stated; empty where it was not.
    log : iterable of LogEntry
        It has the assumptions that were made when data and model were opened.
    """
    name = spec.decisions[spec.mapping.favourable_class]
    values = {"name": name, "outcome": outcome_text(spec, name)}
    return (
        *(["What is the model used for? Not stated."] if not purpose else []),
        *([say(_ASSUMED, **values)] if is_assumed(log) else []),
    )


def is_assumed(log: Iterable[LogEntry]) -> bool:
    """Return whether which class is favourable was assumed, and confirmed by nobody."""
    return any(entry.kind == "begun" and ASSUMED in entry.what for entry in log)


def _favourable(spec: AuditSpec) -> str:
    """Write the favourable outcome: of the decision, or of the records."""
    return outcome_text(spec, spec.decisions[spec.mapping.favourable_class])


def _answered(spec: AuditSpec, runs: Sequence[Run]) -> Share | None:
    """Return the share of rows that may be quoted; where it is open that of fewer attributes."""
    counted = [each for run in runs for each in comparisons.shares_of(run.figures)]
    fewer = sorted(counted, key=lambda each: -each.hits)
    held = (each for each in (*(e for _, e in best_shares(runs)), *fewer) if each.whom == "data")
    return next((each for each in held if comparisons.is_answered(spec, each)), None)


def rates_message(spec: AuditSpec, tables: Iterable[GroupTable]) -> str:
    """Say how often the groups of the lowest ratios are selected; empty where all is chance."""
    shown = [each for each in _compared(spec, _alone(tables), {}) if each.shown]
    return words.capital(_rates_sentence(spec, shown))


def _decided(runs: Sequence[Run], seen: Sequence[Observed]) -> tuple[GroupTable, ...]:
    """Return the tables of decisions: of the latest run, or of a column with decisions."""
    in_data = (table for each in seen for table in each.outcomes if table.of == "decisions")
    return decision_tables(runs) or tuple(in_data)


def _recorded(runs: Sequence[Run], seen: Sequence[Observed]) -> tuple[GroupTable, ...]:
    in_data = tuple(table for each in seen for table in each.outcomes if table.of == "label")
    if in_data:
        return in_data
    for run in reversed(runs):
        found = (each for each in run.figures if isinstance(each, GroupTable))
        if tables := tuple(each for each in found if each.of == "label"):
            return tables
    return ()


def _alone(tables: Iterable[GroupTable]) -> dict[str, GroupTable]:
    """Return the tables of one attribute in which groups can be compared, by the attribute."""
    return {
        each.attributes[0]: each
        for each in tables
        if len(each.attributes) == 1 and worst_of(each) is not None
    }


def _compared(
    spec: AuditSpec, by_model: dict[str, GroupTable], by_records: dict[str, GroupTable]
) -> list[_Compared]:
    """Return the group with the lowest ratio of each attribute, the lowest of all first."""
    found = []
    for name, table in (by_model or by_records).items():
        worst, best = shown_of(table) or worst_of(table), reference_of(table)
        if worst is None or best is None or worst is best:
            continue
        records = by_records.get(name)
        found.append(
            _Compared(
                (people(spec, table, worst), people(spec, table, best)),
                (worst, best) if by_model else None,
                None if records is None else _same(records, worst, best),
                shown_of(table) is not None,
            )
        )
    found.sort(key=lambda each: each.ratio or 0.0)
    # what chance explains is left out beside what it does not
    return ([each for each in found if each.shown] or found)[:_ATTRIBUTES]


def _same(table: GroupTable, *wanted: GroupLine) -> tuple[GroupLine, GroupLine] | None:
    """Return the lines of the same two groups in another table; ``None`` where one is missing."""
    lines = {line.values: line for line in table.lines if line.rate is not None}
    worst, best = (lines.get(each.values) for each in wanted)
    return None if worst is None or best is None else (worst, best)


def _question(spec: AuditSpec, compared: Sequence[_Compared]) -> str:
    many, names = words.plural(spec.person), words.grouping_names(spec.domain)
    pairs = [_pair(each.names, many) for each in compared]
    if len(pairs) > 1:
        pairs = [say("{first}, and {last},", first=pairs[0], last=pairs[1])]
    for who in pairs:
        if spec.predictions:
            return say("Are {who} selected at equal rates?", who=who.rstrip(","))
        return say("Does the model select {who} at equal rates?", who=who)
    if spec.predictions:
        return say("Are all {people} selected at equal rates?", people=many)
    if names:
        return say("Does the model’s decision depend on {names}?", names=words.listed(names, "or"))
    return "Does the model’s decision depend on who a text speaks of?"


def _pair(names: tuple[str, str], many: str) -> str:
    """Join two groups: ``women and men``, ``Black and White people``."""
    first, second = names
    if first.endswith(f" {many}") and second.endswith(f" {many}"):
        first = first.removesuffix(f" {many}")
    return say("{first} and {last}", first=first, last=second)


def _answer(
    spec: AuditSpec, compared: Sequence[_Compared], share: Share | None, *, measured: bool
) -> str:
    """Answer the question in one or two sentences; empty without rates and shares."""
    shown = [each for each in compared if each.shown]
    rates = _rates_sentence(spec, shown)
    if not measured and compared and not spec.predictions:
        return say(
            "The model’s decisions by group are not measured yet. In the records, {said}",
            said=rates or "no difference between these groups is shown.",
        )
    changing = "" if share is None else figures.share_statement(spec, share, ()).sentence
    if not compared:
        return changing
    unequal = any((each.ratio or 1.0) < FOUR_FIFTHS for each in shown)
    if not shown:
        none = "No difference between the selection rates of these groups is shown."
        return f"{none} {changing}".strip()
    first = say("No: {said}", said=rates) if unequal else words.capital(rates)
    return f"{first} {_records(shown)}".strip()


def _rates_sentence(spec: AuditSpec, shown: Sequence[_Compared]) -> str:
    """Say how often groups are selected: ``women are selected at a quarter of the rate of men``."""
    said = [
        say(
            "{group} at {fraction} of {best}"
            if place
            else "{group} are selected (“{outcome}”) at {fraction} of {best}",
            group=each.names[0],
            fraction=fraction(each.ratio or 0.0),
            best=each.names[1],
            outcome=_favourable(spec),
        )
        for place, each in enumerate(shown)
    ]
    return f"{', and '.join(said)}." if said else ""


def fraction(ratio: float) -> str:
    """Write a ratio below one in words: ``about a quarter of the rate``."""
    if ratio < _TWENTIETH:
        return "less than a twentieth of the rate"
    at, name = min(_FRACTIONS, key=lambda each: abs(each[0] - ratio))
    if abs(ratio - at) <= min(_NEAR * at, _ABOUT):
        return say("about {fraction}", fraction=name)
    if ratio < at:
        return say("less than {fraction}", fraction=name)
    return say("more than {fraction}", fraction=name)


def _records(shown: Sequence[_Compared]) -> str:
    """Say how the gaps in the records are beside those of the model; empty without both.

    One is called larger or smaller only where that holds as a ratio and as a difference.
    """
    sides: set[str] = set()
    for each in shown:
        model, records = _ratio(each.by_model), _ratio(each.by_records)
        if model is None or records is None:
            return ""
        ratio, points = records - model, _apart(each.by_model) - _apart(each.by_records)
        sides.add("similar" if ratio * points <= 0 else "smaller" if ratio > 0 else "larger")
    return _RECORDS[sides.pop() if len(sides) == 1 else "similar"]


def _apart(lines: tuple[GroupLine, GroupLine] | None) -> float:
    return 0.0 if lines is None else (lines[1].rate or 0.0) - (lines[0].rate or 0.0)


def _ratio(lines: tuple[GroupLine, GroupLine] | None) -> float | None:
    if lines is None or not lines[1].rate:
        return None
    return (lines[0].rate or 0.0) / lines[1].rate


def _tiles(
    spec: AuditSpec,
    compared: Sequence[_Compared],
    share: Share | None,
    beside: Sequence[Metric],
) -> Iterator[Tile]:
    """Yield the ratios of the selection rates, and for how many the decision changes."""
    for each in compared:
        if each.ratio is None:
            continue
        values = dict(zip(("group", "best"), each.names, strict=True))
        text = (
            say("The selection rate of {group} as a share of that of {best}", **values)
            if each.by_model
            else say("The rate of {group} in the records as a share of that of {best}", **values)
        )
        records = _ratio(each.by_records) if each.by_model else None
        if records is not None:
            text = say("{text}; in the records {n}", text=text, n=words.percent(records, 1.0, 0))
        if not each.shown:
            text = say("{text}. The difference may be due to chance", text=text)
        yield Tile(words.percent(each.ratio, 1.0, 0), f"{text}.")
    if share is not None and share.exhaustive:
        changes = say(
            "of {people}: the decision changes with at least one other value of {names}.",
            people=words.counted(share.n_samples, spec.person),
            names=words.together(share.attributes),
        )
        lost = comparisons.lost_and_gained(share, beside, _favourable(spec))
        yield Tile(words.number(share.hits), f"{changes} {lost}".rstrip())


def _chart(spec: AuditSpec, compared: Sequence[_Compared]) -> Chart | None:
    groups = [
        Selected(
            words.capital(name),
            None if each.by_records is None else _interval(each.by_records[place]),
            None if each.by_model is None else _interval(each.by_model[place]),
        )
        for each in compared
        for place, name in enumerate(each.names)
    ]
    return chart_block(Dumbbell(groups, _favourable(spec))) if groups else None


def _interval(line: GroupLine) -> Rate:
    return Rate(line.rate or 0.0, line.low, line.high)


def _known(
    spec: AuditSpec, runs: Sequence[Run], compared: Sequence[_Compared], share: Share | None
) -> Iterator[str]:
    tables = decision_tables(runs)
    yield from _of_both(spec, tables, compared)
    for table in _alone(tables).values():
        best, higher = reference_of(table), higher_of(table)
        if best is not None and higher:
            yield say(
                "{groups} are selected more often than {best}.",
                groups=words.capital(words.joined([people(spec, table, e) for e in higher])),
                best=people(spec, table, best),
            )
    if message := errors_message(spec, tables):
        yield message
    if share is None:
        return
    yield from _studied(spec, runs, tables, {name for each in compared for name in each.names})


def _of_both(
    spec: AuditSpec, tables: Sequence[GroupTable], compared: Sequence[_Compared]
) -> Iterator[str]:
    """Name the group of two attributes together that is selected least, where that is lower."""
    crossed = [each for each in tables if len(each.attributes) == 2 and shown_of(each)]
    found = [(shown_of(each), reference_of(each), each) for each in crossed]
    ratios = [
        (_ratio((worst, best)) or 0.0, people(spec, table, worst), people(spec, table, best))
        for worst, best, table in found
        if worst is not None and best is not None
    ]
    lowest = min((each.ratio or 0.0 for each in compared), default=1.0)
    if ratios and min(ratios)[0] < lowest:
        ratio, group, best = min(ratios)
        yield say(
            "Lowest of the groups that are large enough: {group}, at {fraction} of {best}.",
            group=group,
            fraction=fraction(ratio),
            best=best,
        )


def errors_message(spec: AuditSpec, tables: Iterable[GroupTable]) -> str:
    """Say between which groups the error rates differ, of all with one recorded outcome."""
    found = [(error_gap(table), reference_of(table), table) for table in _alone(tables).values()]
    shown = [
        (gap, best, table)
        for gap, best, table in found
        if gap is not None and gap.shown and best is not None
    ]
    if not shown:
        return ""
    gap, best, table = max(shown, key=lambda each: abs(each[0].difference))
    return say(
        "Among those recorded “{outcome}”, {group} are selected {more} often than {best}."
        if gap.what == "true"
        else "Among those not recorded “{outcome}”, {group} are selected {more} often than {best}.",
        outcome=spec.favourable,
        group=people(spec, table, gap.line),
        best=people(spec, table, best),
        more="more" if gap.difference > 0 else "less",
    )


def _studied(
    spec: AuditSpec, runs: Sequence[Run], tables: Sequence[GroupTable], named: Collection[str]
) -> Iterator[str]:
    """Say how many of the same rows would be selected as each group, by the audit studies.

    Of each study the reference, the largest difference that chance does not explain, and those of
    groups that are ``named`` in the question.
    """
    studies = (each for run in runs for each in comparisons.studies_of(spec, run.figures))
    for study in {each.attribute: each for each in studies}.values():
        table = next((each for each in tables if each.attributes == (study.attribute,)), None)
        lines = {} if table is None else {line.values[0]: line for line in table.lines}
        attribute = spec.domain.attributes[spec.domain.names.index(study.attribute)]
        best = lines.get(name_of(attribute, study.reference))
        found = [
            (each, people(spec, table, line))
            for each in study.values
            if (each.low > 0 or each.high < 0)
            and table is not None
            and (line := lines.get(name_of(attribute, each.code))) is not None
        ]
        if table is None or best is None or not found:
            continue
        found.sort(key=lambda each: -abs(each[0].gains - each[0].losses))
        reverse = comparisons.against(spec, study, tables)
        turned = "" if reverse is None else people(spec, table, reverse[0])
        own = next((each for each in study.values if each.code == study.reference), None)
        if own is None:
            continue
        shown = [
            say("{n} as {group}", n=words.percent(value.favourable, study.n_rows), group=group)
            for place, (value, group) in enumerate(found)
            if place == 0 or group in named or group == turned
        ]
        said = say(
            "If all were tested as {best}{along}, {n} would be selected; {others}",
            best=people(spec, table, best),
            along=comparisons.with_it(spec, study.attribute),
            n=words.percent(own.favourable, study.n_rows),
            others=words.joined(shown),
        )
        small = [
            group
            for value, group in found
            if group in named and comparisons.explains_little(study, value, lines, attribute)
        ]
        shows = ""
        if reverse is not None:
            often = "less" if reverse[2] else "more"
            shows = say(
                "does not explain why {group} are selected {n} often", group=turned, n=often
            )
        elif small:
            gap = words.joined([*small, people(spec, table, best)])
            shows = say("explains little of the gap between {groups}", groups=gap)
        only = comparisons.unless(spec, study.attribute)
        yield f"{said}. This change {shows}{only}." if shows else f"{said}."


def _unknown(spec: AuditSpec, tables: dict[str, GroupTable], share: Share | None) -> Iterator[str]:
    if tables:
        yield "Why the groups differ: rates name no cause."
    few = [
        people(spec, table, line)
        for table in tables.values()
        for line in table.lines
        if line.excluded and line.known
    ]
    if few:
        groups = words.joined(few) if len(few) <= _NAMED else words.some(few, _NAMED)
        yield say("How {groups} are treated: too few to judge.", groups=groups)
    open_ones = spec.domain.support.proposed
    if open_ones:
        yield say(
            "For how many the decision depends on {by}: whether {names} changes with it is not "
            "decided yet.",
            by=words.listed(list(dict.fromkeys(each.by for each in open_ones))),
            names=words.listed([each.attribute for each in open_ones]),
        )
    elif share is None and not spec.predictions:
        yield "Whether the decision depends on the protected attributes themselves."
    yield say(
        "Whether these {people} resemble those that the decisions are about.",
        people=words.plural(spec.person),
    )
    if spec.label and tables:
        yield "Whether the records are fair: they may contain past discrimination."


def _decide(
    spec: AuditSpec, compared: Sequence[_Compared], share: Share | None, asked: Sequence[str]
) -> Iterator[str]:
    yield from asked
    for each in spec.domain.support.companions if share is not None else ():
        if values := comparisons.exchanged(spec.domain, each):
            yield say(
                "Should {values} be exchanged when {by} changes? What is known of {by} depends on "
                "it.",
                values=values,
                by=words.quoted(each.by),
            )
    if any(each.shown for each in compared) or (share is not None and share.hits):
        yield "Who explains the differences, and by when?"
        model = "May the model be used until then?"
        yield "May decisions be made so until then?" if spec.predictions else model
