"""Discriminatory pairs, as blocks: a pair side by side, what it shows, and tables of pairs.

What is observed of pairs are examples: they are found by searches, and are no rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.bars import Counts, Weight, Weights
from fairdesk.document.blocks import (
    Block,
    Chart,
    Grid,
    Heading,
    PairCard,
    PairRow,
    Text,
    chart_block,
)
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.decisions.rule import score_name
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable_from, name_of
from fairdesk.wording.language import Statement, say
from fairdesk.wording.pairs import UNKNOWN, distance_text, entitled, outcomes

#: Writes a value of a pair, by the position of its attribute.
Value = Callable[[int, float], str]
#: The line with what the data say of the nearest row.
RECORDED = "Recorded outcome"
#: The key of the chart of an explanation.
WHY = "why"
#: Attributes that are drawn in it: those with the largest weights.
STRONGEST = 8
#: From this R squared on a local explanation follows the model well; below the second, poorly.
_WELL, _POORLY = 0.7, 0.4
#: Pairings of values that are listed.
_CHANGES = 20


class DataRow(msgspec.Struct, frozen=True):
    """The row of the data that is nearest to an instance.

    Attributes
    ----------
    codes : NDArray[np.float64]
        ``(d,)``.
    distance : float
        0 (equal in every attribute compared) to 1.
    row : int
        Its number in the data, from 1.
    outcome : str
        Its recorded outcome.
    """

    codes: NDArray[np.float64]
    distance: float
    row: int
    outcome: str

    def is_first(self, pair: Pair) -> bool:
        """Return whether the first instance of a pair is this row."""
        return np.array_equal(self.codes, pair.row)


class _Change(NamedTuple):
    """An attribute that differs within a pair, and whether it is protected."""

    name: str
    before: str
    after: str
    protected: bool

    def in_words(self) -> str:
        return say(
            "{name} from {before} to {after}",
            name=words.quoted(self.name),
            before=self.before,
            after=self.after,
        )

    def short(self) -> str:
        return f"{self.before} → {self.after}"


def _writer(spec: AuditSpec, value: Value | None) -> Value:
    attributes = spec.domain.attributes
    return value or (lambda position, code: name_of(attributes[position], code))


def _changes(spec: AuditSpec, pair: Pair, value: Value | None) -> Iterator[_Change]:
    """Yield what differs, protected attributes first."""
    write, protected = _writer(spec, value), spec.domain.protected.tolist()
    others = [i for i in spec.domain.differing.tolist() if i not in protected]
    for i in (*protected, *others):
        if pair.row[i] != pair.partner[i]:
            sides = write(i, pair.row[i]), write(i, pair.partner[i])
            yield _Change(spec.domain.names[i], *sides, i in protected)


# One pair


def statement(spec: AuditSpec, pair: Pair, value: Value | None = None) -> Statement:
    """Say what changes in a pair, and what that does to the decision, else to the score."""
    changes = [*_changes(spec, pair, value)]
    own = [each for each in changes if each.protected]
    along = words.joined([each.in_words() for each in changes if not each.protected])
    changed = words.joined([each.in_words() for each in own])
    number = words.number(pair.id)
    before, after = _decisions(spec, pair)
    values = {
        "changes": say("{changes}, and with it {with_it}", changes=changed, with_it=along)
        if along
        else changed,
        "before": before,
        "after": after,
        "row": words.score(spec, pair.row_score),
        "partner": words.score(spec, pair.partner_score),
        "number": number,
        "known": ""
        if pair.distance is None
        else ", not a row of the data"
        if pair.distance
        else ", a row of the data",
    }
    sentence = (
        say(
            "Changing {changes}, with everything else equal, changes the score from {row} to "
            "{partner}; the decision stays {before} (pair number {number}{known}).",
            **values,
        )
        if pair.row_class == pair.partner_class
        else say(
            "Changing {changes}, with everything else equal, changes the decision from {before} "
            "to {after} (score {row} to {partner}; pair number {number}{known}).",
            **values,
        )
    )
    shown = say(
        "As {before}: {first}. As {after}: {second}.",
        before=", ".join(each.before for each in own),
        first=before,
        after=", ".join(each.after for each in own),
        second=after,
    )
    brief = (
        say(
            "With it changes {with_it}; everything else is equal (pair number {number}).",
            with_it=along,
            number=number,
        )
        if along
        else say("Everything else is equal (pair number {number}).", number=number)
    )
    label = say("One discriminatory pair: {names}", names=words.listed([each.name for each in own]))
    return Statement("example", label, shown, sentence, brief)


def _decisions(spec: AuditSpec, pair: Pair) -> tuple[str, str]:
    """Say how both are decided; of two that are unfavourable each by its name."""
    before = words.decision_word(spec, pair.row_class)
    after = words.decision_word(spec, pair.partner_class)
    if before != after or pair.row_class == pair.partner_class:
        return before, after
    names = spec.decisions
    return f"“{names[pair.row_class]}”", f"“{names[pair.partner_class]}”"


def reverse_sentence(pair: Pair) -> str:
    """Say in which pair the other of the same two values is favoured."""
    return say(
        "In pair number {number} the same two values have the opposite effect.",
        number=words.number(pair.id),
    )


def key_of(pair: Pair) -> str:
    """Return the key of a pair's card within its section."""
    return f"pair-{pair.id}"


def change(spec: AuditSpec, pair: Pair) -> str:
    """Write what is changed between a pair's two sides: ``White → Asian``."""
    return ", ".join(each.short() for each in _changes(spec, pair, None) if each.protected)


def card(
    spec: AuditSpec, pair: Pair, decision: Callable[[int], str], value: Value | None = None
) -> PairCard:
    """Set both instances of a pair side by side; a class is written by ``decision``."""
    write, limit = _writer(spec, value), favourable_from(spec)
    limit = f" ({limit})" if limit else ""
    sides = zip(spec.domain.names, pair.row.tolist(), pair.partner.tolist(), strict=True)
    return PairCard(
        say("Pair {n}", n=words.number(pair.id)),
        "",
        pair.note,
        "Instance",
        "Counterfactual",
        tuple(
            PairRow(name, write(i, first), write(i, second), first != second)
            for i, (name, first, second) in enumerate(sides)
        ),
        tuple(
            PairRow(
                entitled(spec, field.title) + (limit if field.kind == "score" else ""),
                *(one, other, one != other),
            )
            for field, one, other in outcomes(spec, pair, decision)
        ),
        key=key_of(pair),
    )


def with_nearest(spec: AuditSpec, pair: Pair, made: PairCard, near: DataRow | None) -> PairCard:
    """Add the nearest row of the data as a column, where it is not the first instance itself.

    Its recorded outcome is added too: instances have none, and what the model decides about that
    row is another thing. Until the row is known, its values are not.
    """
    attributes = spec.domain.attributes
    recorded = UNKNOWN if near is None else near.outcome
    first = near is not None and near.is_first(pair)
    outcome = PairRow(RECORDED, recorded if first else "", "", changed=False, nearest=recorded)
    if near is not None and first:
        called = say("Data row {number}", number=words.number(near.row))
        return msgspec.structs.replace(made, first=called, outcome=(*made.outcome, outcome))
    rows = (
        msgspec.structs.replace(
            row,
            nearest=UNKNOWN if near is None else attributes[i].text(near.codes[i]),
            strays=near is not None and bool(near.codes[i] != pair.row[i]),
        )
        for i, row in enumerate(made.rows)
    )
    return msgspec.structs.replace(
        made,
        rows=tuple(rows),
        outcome=(*made.outcome, outcome),
        nearest="Nearest data row",
    )


def nearest_sentence(spec: AuditSpec, pair: Pair, near: DataRow | None) -> str:
    """Say which data row is nearest to a pair's first instance; nothing where it is that row."""
    if near is None:
        return "No row of the data is complete, so no distance can be calculated."
    if near.is_first(pair):
        return ""
    others = spec.domain.others
    alike = sum(near.codes[p] == pair.row[p] for p in others)
    count = "all" if alike == len(others) else f"{alike} of"
    return (
        f"Nearest data row: {words.number(near.row)}, recorded outcome “{near.outcome}”; equal in "
        f"{count} {len(others)} attributes that are not protected."
    )


def brought(spec: AuditSpec, before: Pair, after: Pair) -> str:
    """Say what was changed to bring a pair nearer to a data row, and how near it is now."""
    moved = [
        f"{words.quoted(attribute.name)} {attribute.text(before.row[p])} → "
        f"{attribute.text(after.row[p])}"
        for p, attribute in enumerate(spec.domain.attributes)
        if before.row[p] != after.row[p]
    ]
    if not moved and not before.distance:
        return "No change was needed: the instance equals a data row in every attribute compared."
    if not moved:
        return (
            "No further change is possible: any other value taken from the data row removes the "
            "difference."
        )
    was = "" if before.distance is None else f" (it was {distance_text(before.distance)})"
    now = f"Distance to the data row now: {distance_text(after.distance)}{was}."
    return f"{now} Changed: {words.some(moved, 6)}."


# Why the decisions differ


def explanation(
    spec: AuditSpec, pair: Pair, why: Explanation, decisions: Sequence[str]
) -> list[Block]:
    """Return the local explanation of both instances, and all other protected values."""
    return [
        Text(_fit_sentence(why)),
        Text(
            "Solid bars: the instance; hatched: the counterfactual. Bars to the right count "
            f"towards “{spec.favourable}”, bars to the left against it."
        ),
        chart_block(_strongest(spec, pair, why), key=WHY),
        Heading("With other protected values"),
        _variants(spec, pair, why, decisions),
    ]


def _strongest(spec: AuditSpec, pair: Pair, why: Explanation) -> Weights:
    """Draw the attributes with the largest weights for either instance, the largest first."""
    weights = []
    for p, attribute in enumerate(spec.domain.attributes):
        here, there = attribute.text(pair.row[p]), attribute.text(pair.partner[p])
        value = here if here == there else f"{here} / {there}"
        weights.append(
            Weight(f"{attribute.name}: {value}", (why.row.weights[p], why.partner.weights[p]))
        )
    weights.sort(key=lambda each: -max(map(abs, each.values)))
    return Weights(
        [each for each in weights[:STRONGEST] if any(each.values)],
        "Values that raise or lower the score of each instance",
        ("instance", "counterfactual"),
        digits=3,
        toned=True,
    )


def _fit_sentence(why: Explanation) -> str:
    """Say how well the local explanations follow the model."""
    fits = why.row.fit, why.partner.fit
    here, there = (
        "well" if fit >= _WELL else "poorly" if fit < _POORLY else "partly" for fit in fits
    )
    one, other = (words.plain(fit, 2) for fit in fits)
    if here == there:
        said = f"The local explanation fits the model {here} (R squared {one} and {other})."
    else:
        said = (
            f"The local explanation fits the model {here} around the instance (R squared {one}) "
            f"and {there} around the counterfactual ({other})."
        )
    return f"{said} Where it fits poorly, its bars explain little." if min(fits) < _POORLY else said


def _variants(spec: AuditSpec, pair: Pair, why: Explanation, decisions: Sequence[str]) -> Grid:
    """List the instance with every combination of protected values."""
    domain = spec.domain
    attributes = [domain.attributes[p] for p in domain.protected]
    own, other = (tuple(who[domain.protected].tolist()) for who in (pair.row, pair.partner))
    whose = {own: "the instance", other: "the counterfactual"}
    return Grid(
        header=(*(each.name for each in attributes), score_name(spec.model), "Decision", ""),
        rows=tuple(
            (
                *(each.text(code) for each, code in zip(attributes, variant.values, strict=True)),
                words.score(spec, variant.score),
                decisions[variant.decided],
                whose.get(tuple(variant.values), ""),
            )
            for variant in why.variants
        ),
        widths=(1.0,) * (len(attributes) + 3),
        right=(len(attributes),),
        key="variants",
    )


# Many pairs


def listed(spec: AuditSpec, pairs: Sequence[Pair], value: Value | None = None) -> list[Grid]:
    """List pairs, a line each: what changes, and what that does to the score."""
    rows = tuple(
        (
            words.number(pair.id),
            ", ".join(
                f"{words.quoted(each.name)} {each.short()}" for each in _changes(spec, pair, value)
            ),
            words.score(spec, pair.row_score),
            words.score(spec, pair.partner_score),
        )
        for pair in pairs
    )
    if not rows:
        return []
    return [
        Grid(
            header=("Pair", "Change", "Score before", "Score after"),
            rows=rows,
            widths=(0.7, 3, 0.9, 0.9),
            right=(0, 2, 3),
            caption=(
                "More pairs, plausible ones first, then by difference in scores; all other "
                "attributes of a pair are equal"
            ),
            key="more",
            optional=True,
            evidence="example",
        )
    ]


def alone(spec: AuditSpec, run: RunRecord | RunState) -> Chart:
    """Draw in how many of a run's pairs a change of one attribute alone changes the decision."""
    counts = tuple(zip(words.protected_names(spec.domain), run.sufficient_alone, strict=False))
    return chart_block(
        Counts(
            "Pairs found, by protected attribute whose change alone is sufficient",
            "discriminatory pairs",
            counts,
            run.found,
        ),
        say(
            "Of {found} discriminatory pairs: those where changing this attribute alone "
            "changes the decision; several may do so, or none. The counts depend on the "
            "search and on the number of values tested, and do not rank attributes",
            found=words.number(run.found),
        ),
        key=f"alone-{run.id}",
        optional=True,
        evidence="example",
    )


def pairings(
    spec: AuditSpec,
    position: int,
    counted: Counter[tuple[float, float]],
    key: str,
    value: Value | None = None,
) -> Grid:
    """Count the pairs by the favourable and the unfavourable value of a protected attribute."""
    write, total = _writer(spec, value), sum(counted.values())
    counter: Counter[tuple[str, str]] = Counter()
    # values that are shown alike are one
    for (better, worse), count in sorted(counted.items()):
        counter[write(position, better), write(position, worse)] += count
    rows = [
        (better, worse, words.number(count), words.percent(count, total))
        for (better, worse), count in counter.most_common()
    ]
    if len(rows) > _CHANGES:
        rest = sum(sorted(counter.values(), reverse=True)[_CHANGES:])
        other = say("{rows} other pairings", rows=words.number(len(rows) - _CHANGES))
        rows = [*rows[:_CHANGES], (other, "", words.number(rest), words.percent(rest, total))]
    return Grid(
        header=("Favourable with", "Not favourable with", "Pairs", "Share"),
        rows=tuple(rows),
        widths=(1.5, 1.5, 0.8, 0.8),
        right=(2, 3),
        caption=say(
            "The {n} pairs in which {name} differs, by its values; where another attribute is "
            "enough as well, a pair can differ in that one instead",
            n=words.number(total),
            name=spec.domain.names[position],
        ),
        key=key,
        optional=True,
        evidence="example",
    )
