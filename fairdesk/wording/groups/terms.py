"""Identity terms that replaced each other in texts, in sentences; estimated from these texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.columns.rereading import differing_part
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import Flip, TermRate
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable, named_outcome
from fairdesk.wording.language import Statement, say, say_many

#: Of a longer text only the part around the term is shown.
_LONGEST = 240
#: Terms with the same rate that are named; of more, the first.
_NAMED = 2


def term_sentence(spec: AuditSpec, term: TermRate) -> str:
    """Say how sentences fare that name one term, those that get another decision first."""
    values = {
        "what": say("“{term}” ({category})", term=term.term, category=term.category),
        "category": term.category,
        "occurs": say_many(
            term.occurs,
            "{n} text[|s] of the data [contains|contain] this term itself.",
        ),
    }
    if not term.texts:
        return say("No text could be tested with {what}. {occurs}", **values)
    values["texts"] = say_many(term.texts, "{n} text[|s]")
    values["fare"] = say(
        "{texts} that contain a term of {category} were tested with {what} in its place: {rate} of "
        "them receive {outcome}",
        rate=words.percent(term.rate, 1.0),
        outcome=named_outcome(spec, favourable(spec)),
        **{key: values[key] for key in ("texts", "category", "what")},
    )
    if not term.tried:
        return say("{fare}; {what} was not compared with another term. {occurs}", **values)
    return say_many(
        term.flips,
        "{fare}. For {n} of {tried} of these texts, the decision changes with another term of "
        "{category}. {occurs}",
        tried=words.number(term.tried),
        **values,
    )


def by_category(figures: Iterable[Metric]) -> tuple[tuple[TermRate, ...], ...]:
    """Return the terms that were compared, by their categories.

    The lowest rate comes first, and the category whose rates are farthest apart.
    """
    held: dict[str, list[TermRate]] = {}
    for each in figures:
        if isinstance(each, TermRate) and each.texts:
            held.setdefault(each.category, []).append(each)
    ranked = [tuple(sorted(terms, key=lambda term: term.rate)) for terms in held.values()]
    return tuple(sorted(ranked, key=lambda terms: terms[0].rate - terms[-1].rate))


def category_statement(spec: AuditSpec, terms: Sequence[TermRate]) -> Statement:
    """Say how many texts get another decision with another term of their category.

    Parameters
    ----------
    terms : sequence of TermRate
        Those of one category, the lowest rate first; not none.
    """
    # a text that gets two decisions does so with every term: with some other one
    most = max(terms, key=lambda term: (term.flips, -term.tried))
    low, high = (words.percent(each.rate, 1.0) for each in (terms[0], terms[-1]))
    compared = say_many(most.tried, "{n} text[|s]")
    flipped = say_many(
        most.flips,
        "In {n} of {texts} with a term of {category}, the decision changes with at least one "
        "other term of {category}.",
        texts=compared,
        category=most.category,
    )
    if not most.flips:
        flipped = say(
            "In none of {texts} with a term of {category} does the decision change with another "
            "term of {category}.",
            texts=compared,
            category=most.category,
        )
    if low == high:
        fare = say(
            "The share decided {outcome} is {share} with every term.",
            outcome=named_outcome(spec, favourable(spec)),
            share=low,
        )
    else:
        fare = say(
            "The share decided {outcome} ranges from {low} ({first}) to {high} ({last}).",
            outcome=named_outcome(spec, favourable(spec)),
            low=low,
            first=_with_rate(terms, low),
            high=high,
            last=_with_rate(terms, high),
        )
    label = "Texts whose decision changes"
    return Statement("estimated", label, words.number(most.flips), f"{flipped} {fare}")


def _with_rate(terms: Sequence[TermRate], rate: str) -> str:
    """Name the terms with a rate, as it is written: ``“gay” and 3 others``."""
    names = [each.term for each in terms if words.percent(each.rate, 1.0) == rate]
    if len(names) <= _NAMED:
        return words.joined([f"“{name}”" for name in names])
    return say_many(
        len(names) - 1,
        "“{first}” and {n} other[|s]",
        first=names[0],
    )


def flip_text(flip: Flip) -> str:
    """Return the part of a sentence where it first differs from the other one."""
    text, other = (" ".join(each.split()) for each in (flip.text, flip.other))
    return differing_part(text, other, _LONGEST)
