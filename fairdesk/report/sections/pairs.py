"""The section of pairs in full: two people side by side, and what the model answered."""

from __future__ import annotations

import msgspec

from fairdesk.audit.store.pair import Pair
from fairdesk.document import pairs as composed
from fairdesk.document.blocks import Block, Callout, PairCard, Section, Text, appended
from fairdesk.population.nearest import everywhere, nearest
from fairdesk.report.content.choosing import APPENDIX, APPENDIX_TITLE
from fairdesk.report.content.material import Material
from fairdesk.results.events import Rows
from fairdesk.wording import words
from fairdesk.wording.decisions import class_texts, name_of
from fairdesk.wording.language import say, say_many

#: Pairs in the section itself; the others are in the appendix.
_IN_SECTION = 2


def pairs(material: Material) -> Section:
    """Show pairs in full: those that the auditor flagged, then plausible ones."""
    return Section("Discriminatory pairs", tuple(pair_blocks(material)))


def pair_blocks(material: Material) -> list[Block]:
    """Make the blocks of `pairs`: cards, and a line for each of some more."""
    gathered = material.gathered
    shown = gathered.shown
    hidden: list[Block] = []
    if not material.shown.whole:
        hidden.append(Callout("Omitted.", material.shown.sentence))
    if not shown:
        return [Text("There are no discriminatory pairs to show."), *hidden]
    flagged = sum(pair.mark == "flagged" for pair in shown)
    order = []
    if flagged:
        order.append(say_many(flagged, "The[| {n}] flagged pair[|s] [is|are] first."))
    turned = gathered.reverse
    if turned is not None and turned.mark != "flagged":
        numbers = [words.number(each.id) for each in (gathered.clearest, turned) if each]
        order.append(
            say(
                "Pairs {numbers} exchange the same values: {favoured}.",
                numbers=words.joined(numbers),
                favoured=words.joined(
                    [
                        say(
                            "in pair {n} {values} is favoured",
                            n=words.number(each.id),
                            values=words.joined(_favoured(material, each)),
                        )
                        for each in (gathered.clearest, turned)
                        if each
                    ]
                ),
            )
        )
    if len(shown) > len(order) + max(flagged - 1, 0):
        look = "were chosen to look like rows of the data and to differ from one another."
        if not all(pair.plausible for pair in shown[flagged:]):
            look = (
                "are plausible ones and those with the largest difference in scores, without "
                "near-duplicates."
            )
        order.append(f"{'The others' if order else 'They'} {look}")
    intro = say(
        "{shown} pairs are printed{where}; all are in findings.csv and in the audit file. {order} "
        "Scores are those of the favourable outcome.",
        shown=words.number(len(shown)),
        where=_where(material, len(shown)),
        order=" ".join(order),
    )
    people = material.spec.domain.people(material.table)
    more = composed.listed(material.spec, gathered.more, material.shown.value)
    cards = [_card(material, pair, people) for pair in shown]
    further = map(appended, cards[_IN_SECTION:])
    return [Text(intro), *hidden, *cards[:_IN_SECTION], *further, *more]


def _favoured(material: Material, pair: Pair) -> list[str]:
    """Name the protected values that differ in a pair, as the favoured side has them."""
    domain = material.spec.domain
    chosen = pair.row_class == material.spec.mapping.favourable_class
    side = pair.row if chosen else pair.partner
    differ = (i for i in domain.protected.tolist() if pair.row[i] != pair.partner[i])
    return [name_of(domain.attributes[i], float(side[i])) for i in differ]


def _where(material: Material, shown: int) -> str:
    """Say how many of the pairs stand here and how many in the appendix; empty where all do."""
    if shown <= _IN_SECTION:
        return ""
    return say(
        ", {here} here; the appendix with the other {further} is omitted"
        if APPENDIX in material.choice.left_out
        else ", {here} here and {further} in “{appendix}”",
        here=words.number(_IN_SECTION),
        further=words.number(shown - _IN_SECTION),
        appendix=APPENDIX_TITLE,
    )


def _card(material: Material, pair: Pair, people: Rows) -> PairCard:
    spec = material.spec
    shown = material.shown
    decisions = class_texts(spec, material.table)
    made = composed.card(
        spec,
        pair,
        lambda each: f"{decisions[each]} ({words.decision_word(spec, each)})",
        shown.value,
    )
    detail = [say("found in run {n}", n=str(pair.run))]
    first = made.first
    if len(people) and shown.whole:
        _, distance = nearest(spec.domain, people, pair.row, everywhere(spec.domain))
        if distance:
            detail.append("not a row of the data")
        else:
            person = words.capital(spec.person)
            first = say("{Person} in the data", Person=person)
    if pair.plausible is not None:
        detail.append("plausible" if pair.plausible else "not plausible")
    return msgspec.structs.replace(
        made,
        title=made.title + (", flagged" if pair.mark == "flagged" else ""),
        detail="; ".join(detail),
        note=pair.note if shown.whole else "",
        first=first,
    )
