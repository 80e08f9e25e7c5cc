"""What is said of comparisons: what changes with a protected attribute, for how many rows, and why.

Everything that window, report, terminal and exports say of `ComparedRows` and `AuditStudy` is here,
and what a share of the rows needs of it: that there may be no comparison for a row, and that a
companion that nobody confirmed leaves a share open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.dependencies import Companion, in_order
from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    Share,
    StudiedValue,
    ValueChanges,
)
from fairdesk.wording import words
from fairdesk.wording.attributes import refused_said
from fairdesk.wording.decisions import name_of
from fairdesk.wording.groups.tables import people as members
from fairdesk.wording.language import Statement, say, say_many, unmeasured

#: The heading below which it is said which comparisons the data support.
SUPPORTED = "What changes together, and what is not compared"
#: A change explains little of a gap when it moves the rate by less than this part of it.
_LITTLE = 0.25
#: What is lost or gained.
FAVOURABLE = "the favourable decision"
#: Pairs of a companion's values that a sentence names.
_PAIRS = 2
#: Values of an audit study in a sentence; of more the reference, the lowest and the highest.
_VALUES = 4
#: The columns of `study_rows`.
STUDY_HEADER = (
    "Had all been",
    "Would be selected",
    "Rate",
    "Difference",
    "Would gain",
    "Would lose",
)
#: The columns of `compared_table`.
COMPARED_HEADER = (
    "Changed",
    "Compared",
    "Rows",
    "No comparison",
    "Decision changes",
    "Would lose",
    "Would gain",
)
#: The columns of `value_change_rows`.
VALUE_CHANGE_HEADER = (
    "Recorded as",
    "Tested as",
    "Compared",
    "Decision changes",
    "Would lose",
    "Would gain",
)
_COMPARISONS = {
    "supported": "supported by the data",
    "proposed": "with the companion, if confirmed",
    "all": "all combinations, possible or not",
}


def compared_rows(
    figures: Iterable[Metric], attributes: Sequence[str] | None = None
) -> dict[str, ComparedRows]:
    """Return the counts of each comparison, by its name, of one set of protected attributes.

    Without ``attributes`` of the set with most.
    """
    found = [each for each in figures if isinstance(each, ComparedRows)]
    if attributes is None:
        attributes = max((each.attributes for each in found), key=len, default=())
    return {each.comparison: each for each in found if each.attributes == tuple(attributes)}


def shares_of(figures: Iterable[Metric]) -> tuple[Share, ...]:
    """Return the shares that were measured, and those of rows of which none has a comparison."""
    found: list[Share] = []
    for each in figures:
        if isinstance(each, Share):
            found.append(each)
        elif isinstance(each, ComparedRows) and each.comparison == "supported":
            none = Share("data", each.attributes, 0, 0, True, 0.95, 0.0, 0.0, 0.0, 0.0, 0.0)  # noqa: FBT003
            if not each.compared:
                found.append(msgspec.structs.replace(none, unsupported=each.n_rows))
    return tuple(found)


def studies_of(spec: AuditSpec, figures: Iterable[Metric]) -> tuple[AuditStudy, ...]:
    """Return the audit studies, the one whose rates differ most first.

    Not those of attributes with a companion that is only proposed: equal rates would be taken for
    an answer.
    """
    found = [
        each
        for each in figures
        if isinstance(each, AuditStudy) and not words.proposed_of(spec.domain, (each.attribute,))
    ]
    return tuple(sorted(found, key=lambda each: -_spread(each)))


def _spread(study: AuditStudy) -> float:
    counts = [each.favourable for each in study.values]
    return (max(counts, default=0) - min(counts, default=0)) / max(study.n_rows, 1)


def is_open(spec: AuditSpec, share: Share) -> bool:
    """Return whether a companion of what was changed is neither confirmed nor refused."""
    return bool(words.proposed_of(spec.domain, share.attributes))


def is_answered(spec: AuditSpec, share: Share) -> bool:
    """Return whether a share of rows may be quoted: rows were compared, and nothing is open."""
    return bool(share.n_samples) and not is_open(spec, share)


def not_known(share: Share, figures: Iterable[Metric]) -> str:
    """Say in two words that a share of nothing is no answer; empty where it is one.

    Parameters
    ----------
    figures : iterable of Metric
        Those of the same run.
    """
    proposed = compared_rows(figures, share.attributes).get("proposed")
    # of attributes without such a companion the counts are the same with it
    if proposed is not None and not share.hits and (proposed.hits or not share.n_samples):
        return "not known yet"
    return "" if share.n_samples else "no comparison"


def companion_text(domain: Domain, companion: Companion) -> str:
    """Say what a companion's values become: ``relationship: Husband is compared with Wife``."""
    attribute = _attribute(domain, companion.attribute)
    pairs = dict.fromkeys(
        tuple(sorted((move.code, move.becomes)))
        for move in companion.moves
        if move.code != move.becomes
    )
    said = [
        say(
            "{one} is compared with {other}" if place == 0 else "{one} with {other}",
            one=name_of(attribute, one),
            other=name_of(attribute, other),
        )
        for place, (one, other) in enumerate(pairs)
    ]
    name = words.quoted(companion.attribute)
    return say("{name}: {pairs}", name=name, pairs=words.some(said, _PAIRS)) if said else name


def changed(spec: AuditSpec, attributes: Sequence[str], *, rows: bool = True) -> str:
    """Say what is changed: ``the person’s sex and nothing else``, or what goes with it.

    Parameters
    ----------
    rows : bool
        Whether it is changed in rows of the data, and not in combinations of values.
    """
    domain = spec.domain
    names = [words.quoted(name) for name in attributes]
    match len(names):
        case 1:
            what = names[0]
        case 2:
            what = say("{first}, {second} or both", first=names[0], second=names[1])
        case _:
            what = say("{names}, alone or together", names=words.joined(names, "or"))
    if rows:
        what = say("the {person}’s {what}", person=spec.person, what=what)
    companions = [each for each in domain.support.companions if each.by in attributes]
    following = _following(domain, {*attributes, *(each.attribute for each in companions)})
    along = [companion_text(domain, each) for each in companions]
    along += [say("{name} follows", name=words.quoted(name)) for name in following]
    if not along:
        return say("{what} and nothing else", what=what)
    it = "it" if len(names) == 1 else words.listed(_sources(domain, attributes))
    return say("{what} and what goes with {it} ({along})", what=what, it=it, along="; ".join(along))


def _sources(domain: Domain, attributes: Sequence[str]) -> list[str]:
    """Name those of the attributes with which others change."""
    found = {each.by for each in domain.support.companions}
    found |= {each.by for each in domain.determined}
    return [name for name in attributes if name in found] or list(attributes)


def _following(domain: Domain, names: set[str]) -> list[str]:
    found = []
    for each in in_order(domain.determined):
        if each.by in names:
            names.add(each.attribute)
            found.append(each.attribute)
    return found


def lost_and_gained(share: Share, figures: Iterable[Metric], outcome: str = "") -> str:
    """Say of how many the favourable decision would be lost, and of how many gained; else empty.

    Parameters
    ----------
    figures : iterable of Metric
        Of the same run. An audit study by one of the share's attributes is of some of its rows, of
        all of them where they are as many, and counts how many are selected as they are.
    outcome : str
        The name of the favourable decision; without it, it is called that.
    """
    if share.gains is None or share.losses is None or not share.hits:
        return ""
    found = (each for each in figures if isinstance(each, AuditStudy) and share.whom == "data")
    of_same = (e for e in found if e.attribute in share.attributes and e.n_rows == share.n_samples)
    selected = next((each.actual for each in of_same), None)
    values = {"losses": words.number(share.losses), "gains": words.number(share.gains)}
    values["decision"] = say("“{outcome}”", outcome=outcome) if outcome else FAVOURABLE
    if selected is None:
        return say("{gains} would gain {decision}, {losses} would lose it.", **values)
    return say(
        "{gains} of the {rest} not selected would gain {decision}; {losses} of the {selected} "
        "selected would lose it.",
        selected=words.number(selected),
        rest=words.number(share.n_samples - selected),
        **values,
    )


def alone_sentence(spec: AuditSpec, share: Share, figures: Iterable[Metric]) -> str:
    """Say for how many each of several attributes alone changes the decision; else empty.

    Of all rows of the data in parts that add up.
    """
    figures = tuple(figures)
    split = split_of(share, figures)
    if split is not None and is_answered(spec, share):
        return _split_sentence(spec, split)
    alone = [
        say(
            "{name} for {hits}",
            name=words.quoted(each.attributes[0]),
            hits=words.number(each.hits),
        )
        for each in figures
        if isinstance(each, Share)
        and each.whom == share.whom
        and len(each.attributes) == 1 < len(share.attributes)
        and is_answered(spec, each)
    ]
    return say("Enough alone: {parts}.", parts=", ".join(alone)) if alone else ""


def split_of(share: Share, figures: Iterable[Metric]) -> ChangeSplit | None:
    """Return into what the rows that change fall, where all rows of the data were counted."""
    counted = (each for each in figures if isinstance(each, ChangeSplit) and share.whom == "data")
    wanted = share.attributes, share.hits
    return next((each for each in counted if (each.attributes, each.hits) == wanted), None)


def _split_sentence(spec: AuditSpec, split: ChangeSplit) -> str:
    """Say into which parts the rows fall whose decision changes."""
    ways = [say("only with {name}", name=with_companions(spec, name)) for name in split.attributes]
    ways += (
        ["with either alone", "only with both together"]
        if len(ways) == 2
        else ["with any of several alone", "only with several together"]
    )
    counted = zip(ways, (*split.alone, split.several, split.together), strict=True)
    parts = [say("{way} for {n}", way=way, n=words.number(n)) for way, n in counted if n]
    said, hits = words.joined(parts), words.number(split.hits)
    return (
        say("Of the {hits}, the decision changes {parts}.", hits=hits, parts=said) if said else ""
    )


def with_it(spec: AuditSpec, by: str) -> str:
    """Name in brackets what changes with a protected attribute; empty where nothing does."""
    found = [one for one in spec.domain.support.companions if one.by == by]
    along = [exchanged(spec.domain, one) or words.quoted(one.attribute) for one in found]
    return say(" ({names} exchanged)", names="; ".join(along)) if along else ""


def unless(spec: AuditSpec, by: str) -> str:
    """Say as the end of a sentence that it holds with what changes together only; else empty."""
    found = [one.attribute for one in spec.domain.support.companions if one.by == by]
    return say("; with {names} as recorded it may", names=words.listed(found)) if found else ""


def exchanged(domain: Domain, companion: Companion) -> str:
    """Name the two values of a companion that change into one another; empty where there are more.

    ``Husband and Wife``
    """
    attribute = _attribute(domain, companion.attribute)
    moved = [(e.code, e.becomes) for e in companion.moves if e.code != e.becomes]
    pairs = {frozenset(each) for each in moved}
    if len(pairs) != 1:
        return ""
    return words.joined([name_of(attribute, code) for code in sorted(moved[0])])


def with_companions(spec: AuditSpec, *attributes: str) -> str:
    """Name protected attributes with what changes with them: ``sex and relationship``."""
    along = (one.attribute for one in spec.domain.support.companions if one.by in attributes)
    return words.listed([*attributes, *along])


def value_change_rows(
    spec: AuditSpec, figures: Iterable[Metric], most: int
) -> list[tuple[str, ...]]:
    """Write from which protected value to which decisions change, below `VALUE_CHANGE_HEADER`."""
    rows: list[tuple[str, ...]] = []
    for each in figures:
        if not isinstance(each, ValueChanges) or words.proposed_of(spec.domain, (each.attribute,)):
            continue
        attribute = _attribute(spec.domain, each.attribute)
        rows += [
            (
                f"{each.attribute}: {name_of(attribute, value.code)}",
                name_of(attribute, value.other),
                words.number(value.compared),
                f"{words.number(value.changed)} ({words.percent(value.changed, value.compared)})",
                words.number(value.losses),
                words.number(value.gains),
            )
            for place, value in enumerate(each.values[:most])
            if value.changed or not place
        ]
    return rows


def open_statement(spec: AuditSpec, share: Share, figures: Sequence[Metric]) -> Statement:
    """Say both figures of the rows where a companion is neither confirmed nor refused.

    Neither is the answer: nothing here says "0 %".
    """
    proposed = words.proposed_of(spec.domain, share.attributes)
    counted = compared_rows(figures, share.attributes).get("proposed")
    by = words.listed(list(dict.fromkeys(each.by for each in proposed)))
    along = "; ".join(companion_text(spec.domain, each) for each in proposed)
    names = words.listed([each.attribute for each in proposed])
    first = say(
        "Not known yet: {names} says nearly the same as {by}, so changing {by} alone compares "
        "values that hardly occur together.",
        names=names,
        by=by,
    )
    rest = ""
    if counted is not None and counted.compared:
        rest = say(
            "If {they} too ({along}), the decision changes for {hits} of {people} ({share}): "
            "{losses} would lose {decision}, {gains} would gain it.",
            they="it changes" if len(proposed) == 1 else "they change",
            along=along,
            hits=words.number(counted.hits),
            people=words.counted(counted.compared, spec.person),
            share=words.percent(counted.hits, counted.compared),
            losses=words.number(counted.losses),
            gains=words.number(counted.gains),
            decision=FAVOURABLE,
        )
    without = (
        say(
            "If not, the decision changes for {hits} of the {n} that can be compared then.",
            hits=words.number(share.hits),
            n=words.counted(share.n_samples, spec.person),
        )
        if share.n_samples
        else say("If not, none of the {people} has a comparison.", people=_all(spec, share))
    )
    alone = f"{without} {alone_sentence(spec, share, figures)}".rstrip()
    sentence = " ".join(filter(None, (first, rest, alone, words.CONFIRM)))
    label = say("{People} whose decision changes", People=_people(spec))
    brief = " ".join(filter(None, (rest, alone, words.CONFIRM)))
    return Statement("observed", label, "Not known yet", sentence, brief)


def none_statement(spec: AuditSpec, share: Share) -> Statement:
    """Say that no row has a comparison: that is not a share of zero."""
    return unmeasured(
        say(
            "Not known: the data support no comparison by {names} for any of the {people}, because "
            "too few rows combine their values.",
            names=words.listed(share.attributes, "or"),
            people=_all(spec, share),
        )
    )


def _all(spec: AuditSpec, share: Share) -> str:
    return words.counted(share.n_samples + share.unsupported, spec.person)


def _people(spec: AuditSpec) -> str:
    return words.capital(words.plural(spec.person))


def unsupported_sentence(spec: AuditSpec, share: Share) -> str:
    """Say how many rows have no comparison, and why; empty where each has one."""
    if not share.unsupported:
        return ""
    values = {
        "people": _all(spec, share),
        "names": words.listed(share.attributes, "or"),
    }
    if proposed := words.proposed_of(spec.domain, share.attributes):
        return say(
            "For {n} of {people} the data support no comparison by {names} unless {along}.",
            n=words.number(share.unsupported),
            along="; ".join(companion_text(spec.domain, each) for each in proposed),
            **values,
        )
    return say_many(
        share.unsupported,
        "{n} of {people} [is|are] not compared: the data rule out every other {names} for "
        "[this row|these rows].",
        **values,
    )


def absent_text(text: str) -> str:
    """Write a pair of values that no row has without the words that negate it."""
    return text.removeprefix("not (").removesuffix(")") if text.startswith("not (") else text


def shown_values(study: AuditStudy, most: int = _VALUES) -> tuple[StudiedValue, ...]:
    """Return the reference value and the others; of many the lowest and the highest count."""
    first = [each for each in study.values if each.code == study.reference]
    others = [each for each in study.values if each.code != study.reference]
    if len(study.values) > most:
        others.sort(key=lambda each: each.favourable)
        others = [others[0], *others[-1:]]
    return (*first, *others)


def difference_text(study: AuditStudy, value: StudiedValue) -> str:
    """Write a difference from the reference in percentage points, with its paired interval."""
    if value.code == study.reference:
        return "reference"
    points = 100 * (value.gains - value.losses) / max(study.n_rows, 1)
    return say(
        "{points} points ({low} to {high})",
        points=words.signed(points, 1),
        low=words.signed(100 * value.low, 1),
        high=words.signed(100 * value.high, 1),
    )


def study_rows(spec: AuditSpec, study: AuditStudy) -> list[tuple[str, ...]]:
    """Write the rows of the table of a study, below `STUDY_HEADER`: as they are first."""
    attribute = _attribute(spec.domain, study.attribute)
    n = study.n_rows
    rows = [
        (
            f"{study.attribute}: {name_of(attribute, each.code)}",
            words.number(each.favourable),
            words.percent(each.favourable, n),
            difference_text(study, each),
            *(
                ("–", "–")
                if each.code == study.reference
                else (words.number(each.gains), words.number(each.losses))
            ),
        )
        for each in shown_values(study, len(study.values))
    ]
    recorded = f"{study.attribute}: {'as recorded'}"
    return [
        (recorded, words.number(study.actual), words.percent(study.actual, n), "", "", ""),
        *rows,
    ]


def study_caption(spec: AuditSpec, studies: Sequence[AuditStudy]) -> str:
    """Say what chart and table of the studies show."""
    counted = [
        say("{n} by {name}", n=words.number(each.n_rows), name=words.quoted(each.attribute))
        for each in studies
    ]
    return say(
        "Audit study: how many of the same {people} would be selected if all had this value, where "
        "the data rule out none: {counted}. Lines: {confidence} intervals of the difference from "
        "the square",
        people=words.plural(spec.person),
        confidence=words.percent(studies[0].confidence, 1.0, 0),
        counted=words.joined(counted),
    )


def against_sentence(spec: AuditSpec, study: AuditStudy, tables: Sequence[GroupTable]) -> str:
    """Say where a study runs against the groups' own rates by the model; else empty."""
    table = next((each for each in tables if each.attributes == (study.attribute,)), None)
    found = against(spec, study, tables)
    if found is None or table is None:
        return ""
    line, own, more = found
    return say(
        "{rate} of {group} and {own_rate} of {own} are selected, yet {more} of the same {people} "
        "would be selected if all were {group} than if all were {own}: changing {name} does not "
        "explain the gap{unless}.",
        unless=unless(spec, study.attribute),
        name=words.quoted(study.attribute),
        rate=words.percent(line.rate or 0.0, 1.0),
        group=members(spec, table, line),
        own_rate=words.percent(own.rate or 0.0, 1.0),
        own=members(spec, table, own),
        more="more" if more else "fewer",
        people=words.plural(spec.person),
    )


def against(
    spec: AuditSpec, study: AuditStudy, tables: Iterable[GroupTable]
) -> tuple[GroupLine, GroupLine, bool] | None:
    """Return the group and the reference for which a study runs against their own rates.

    And whether more of the same rows would be selected as the group. ``None`` where there is no
    such group.
    """
    attribute = _attribute(spec.domain, study.attribute)
    table = next((each for each in tables if each.attributes == (study.attribute,)), None)
    lines = {} if table is None else {line.values[0]: line for line in table.lines}
    own = lines.get(name_of(attribute, study.reference))
    for value in study.values:
        line, more = lines.get(name_of(attribute, value.code)), value.low > 0
        if own is None or line is None or own.rate is None or line.rate is None:
            continue
        # neither of the two differences may be chance
        if line.high < own.low if more else value.high < 0 and line.low > own.high:
            return line, own, more
    return None


def explains_little(
    study: AuditStudy,
    value: StudiedValue,
    lines: Mapping[str, GroupLine],
    attribute: Attribute,
) -> bool:
    """Return whether changing to a value moves the rate by less than a quarter of the gap.

    By the ends of the intervals that speak most against it.

    Parameters
    ----------
    lines : mapping of str to GroupLine
        The groups' own rates, by their values.
    """
    line, best = (lines.get(name_of(attribute, code)) for code in (value.code, study.reference))
    if line is None or best is None or line.rate is None or best.rate is None:
        return False
    # the study's difference is that of the value from the reference
    return value.losses >= value.gains and 0 < -value.low < _LITTLE * (best.low - line.high)


def compared_table(figures: Iterable[Metric]) -> list[tuple[str, ...]]:
    """Write the rows of the table of all comparisons, below `COMPARED_HEADER`."""
    return [
        (
            words.listed(each.attributes, "or"),
            _COMPARISONS[each.comparison],
            words.number(each.n_rows),
            words.number(each.unsupported),
            words.number(each.hits) if each.compared else "–",
            words.number(each.losses) if each.compared else "–",
            words.number(each.gains) if each.compared else "–",
        )
        for each in figures
        if isinstance(each, ComparedRows)
    ]


def limits(spec: AuditSpec, figures: Iterable[Metric] = ()) -> Iterator[tuple[str, str]]:
    """Yield the limits of the comparisons of this audit, each with its first words.

    Parameters
    ----------
    figures : iterable of Metric
        Of the run that counted the rows: what would change without the companions.
    """
    domain, support = spec.domain, spec.domain.support
    if support.proposed:
        names = words.listed([each.attribute for each in support.proposed])
        yield (
            say("Open: {names}.", names=names),
            words.open_sentence(domain, [each.by for each in support.proposed]),
        )
    if support.companions:
        along = "; ".join(companion_text(domain, each) for each in support.companions)
        held, figures = "The figures hold for this choice ({along}).", tuple(figures)
        without = filter(None, (_without(spec, each, figures) for each in support.companions))
        rest = " ".join(without) or "With another one they differ."
        yield "What changes together is a choice.", f"{say(held, along=along)} {rest}"
    for name, by in support.refused:
        yield say("Does not change: {name}.", name=name), refused_said(name, by)
    if support.rare or support.constraints:
        yield (
            "What the data clearly rule out is not compared.",
            say(
                "These are values that too few rows have, and pairs of values that no row has "
                "although chance would bring several (see “{title}”). All else was tested, so a "
                "changed row may still be rare or impossible.",
                title=SUPPORTED,
            ),
        )


def _without(spec: AuditSpec, companion: Companion, figures: Sequence[Metric]) -> str:
    """Say what changing an attribute would do if its companion stayed as it is recorded."""
    counted = compared_rows(figures, (companion.by,))
    every, supported = counted.get("all"), counted.get("supported")
    if every is None or supported is None or not companion.moves:
        return ""
    domain = spec.domain
    attribute, by = (_attribute(domain, name) for name in (companion.attribute, companion.by))
    tested = [
        say("{one} as {other}", one=name_of(attribute, move.code), other=name_of(by, move.to))
        for move in companion.moves[:_PAIRS]
    ]
    return say(
        "If {name} stayed as recorded ({tested}, which hardly any row supports), changing {by} "
        "would make {losses} lose and {gains} gain {decision}, not {own_losses} and {own_gains}.",
        name=words.quoted(companion.attribute),
        tested=", ".join(tested),
        by=words.quoted(companion.by),
        losses=words.number(every.losses),
        gains=words.number(every.gains),
        own_losses=words.number(supported.losses),
        own_gains=words.number(supported.gains),
        decision=FAVOURABLE,
    )


def untested_sentence(spec: AuditSpec, attributes: Sequence[str]) -> str:
    """Say with which protected values no row is tested, since too few have them; else empty."""
    rare = _rare(spec.domain, attributes)
    if not rare:
        return ""
    return say("No row is changed to {values}: too few have it.", values=words.listed(rare, "or"))


def _rare(domain: Domain, attributes: Sequence[str]) -> list[str]:
    """Write the protected values that too few rows have: ``race = Other``."""
    return [
        say("{name} = {value}", name=name, value=name_of(_attribute(domain, name), code))
        for name, code in domain.support.rare
        if name in attributes
    ]


def support_sentence(domain: Domain) -> str:
    """Say which comparisons the data support; empty where they support all."""
    support = domain.support
    if not support.rare and not support.constraints:
        return ""
    rare = _rare(domain, domain.names)
    said = (
        "A row is compared with itself with another protected value where enough rows have that "
        "value, and where the data rule out no two of its values then: two that no row has "
        "together, although chance would bring several."
    )
    few = rare and say("Too few rows have {values}.", values=words.joined(rare))
    return f"{said} {few}" if few else said


def _attribute(domain: Domain, name: str) -> Attribute:
    return domain.attributes[domain.names.index(name)]
