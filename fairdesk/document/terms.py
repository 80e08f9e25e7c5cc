"""Identity terms that replaced each other in texts, as blocks: the categories, and each term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document.blocks import Block, Grid, Statement, Text, appended, stated
from fairdesk.results.subgroups import Flip, TermRate
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable, named_outcome
from fairdesk.wording.groups.terms import (
    by_category,
    category_statement,
    flip_text,
    term_sentence,
)
from fairdesk.wording.language import say

#: Terms that are listed on paper, and texts that are shown.
_LISTED, _EXAMPLES = 60, 5


def compose(
    spec: AuditSpec, terms: Sequence[TermRate], called: Mapping[str, str], key: str
) -> list[Block]:
    """Return what was found of terms: by their categories, then each, and some of the texts.

    Parameters
    ----------
    called : mapping
        What the model's decisions are called.
    """
    if not terms:
        return []
    return [
        *categories(spec, terms),
        appended(listed(spec, terms, f"terms-{key}", _LISTED)),
        *examples(spec, terms, called, f"examples-{key}"),
    ]


def names_of(spec: AuditSpec, decisions: Sequence[str]) -> dict[str, str]:
    """Return what the model's decisions are called, where they were not given names."""
    return {} if spec.mapping.names else dict(zip(spec.decisions, decisions, strict=False))


def categories(spec: AuditSpec, terms: Sequence[TermRate]) -> list[Block]:
    """Say for each category how many decisions change; the one with the widest range leads."""
    said = [category_statement(spec, each) for each in by_category(terms)]
    return [*map(stated, said[:1]), *(Text(each.sentence) for each in said[1:])]


def ordered(terms: Sequence[TermRate]) -> list[TermRate]:
    """Return the terms by their categories, the lowest rate first; last what was not compared."""
    compared = [each for group in by_category(terms) for each in group]
    return [*compared, *(each for each in terms if not each.texts)]


def listed(spec: AuditSpec, terms: Sequence[TermRate], key: str, most: int = 0) -> Grid:
    """List the terms; with ``most`` only so many."""
    held = ordered(terms)
    shown = held[: most or None]
    first = (
        say("the first {terms} of {held}", terms=words.number(most), held=words.number(len(held)))
        if len(held) > len(shown)
        else ""
    )
    return Grid(
        header=(
            *("Category", "Term", "Texts in the data with it", "Texts tested with it"),
            say("Share decided {outcome}", outcome=named_outcome(spec, favourable(spec))),
            "Decision changes",
        ),
        rows=tuple(
            (
                each.category,
                each.term,
                words.number(each.occurs),
                words.number(each.texts),
                words.percent(each.rate, 1.0) if each.texts else words.UNDEFINED,
                say("{n} of {all}", n=words.number(each.flips), all=words.number(each.tried))
                if each.tried
                else words.UNDEFINED,
            )
            for each in shown
        ),
        widths=(1.0, 1.3, 1.1, 1.0, 1.1, 1.0),
        right=(2, 3, 4, 5),
        caption="Identity terms",
        key=key,
        evidence="estimated",
        note="; ".join(
            filter(
                None,
                (
                    first,
                    (
                        "a term is tested in every text with a term of its category, in that "
                        "one’s place, even if the data never contain it"
                    ),
                    "decision changes: texts whose decision is another with some other term",
                ),
            )
        ),
    )


def examples(
    spec: AuditSpec, terms: Sequence[TermRate], called: Mapping[str, str], key: str
) -> list[Grid]:
    """Show some texts whose decision changes; with one term only all that the run kept of it."""
    # the lowest rate of each category first, then the second of each
    in_turn = [each for place in zip_longest(*by_category(terms)) for each in place if each]
    flips = terms[0].examples if len(terms) == 1 else tuple(_each_once(in_turn))[:_EXAMPLES]
    if not flips:
        return []

    def decided(decision: str, score: float) -> str:
        return f"{called.get(decision, decision)} ({words.score(spec, score)})"

    return [
        Grid(
            header=(
                *("Row", "Text after replacement", "Decision (score)"),
                *("With another term", "Decision (score)"),
            ),
            rows=tuple(
                (
                    words.number(flip.row + 1),
                    say("“{text}”", text=flip_text(flip)),
                    decided(flip.decision, flip.score),
                    f"“{flip.other_term}”",
                    decided(flip.other_decision, flip.other_score),
                )
                for flip in flips
            ),
            widths=(0.5, 3.2, 0.9, 1.2, 0.9),
            right=(0,),
            caption="Texts whose decision changes with another term",
            key=key,
            evidence="example",
            note="some texts, with a term in its place; each was queried again to confirm it; they "
            "are examples and do not show how frequent such texts are",
        )
    ]


def _each_once(terms: Sequence[TermRate]) -> Iterator[Flip]:
    """Yield an example of each term, of no text twice."""
    seen: set[int] = set()
    for term in terms:
        new = next((flip for flip in term.examples if flip.row not in seen), None)
        if new is not None:
            seen.add(new.row)
            yield new


def detail(
    spec: AuditSpec,
    term: TermRate,
    called: Mapping[str, str],
    texts: Sequence[tuple[int, str]] | None = None,
) -> list[Block]:
    """Return what is known of one term, and some texts of the data with it: rows from 1, and text.

    ``texts`` are none while they are looked for.
    """
    name = say("{category}: {term}", category=term.category, term=term.term)
    blocks: list[Block] = [
        Statement(words.number(term.flips), term_sentence(spec, term), (), "estimated", label=name),
        *examples(spec, (term,), called, "examples"),
    ]
    if texts is None:
        return blocks
    if not texts:
        none = "No text of the data contains this term: it was tested in the place of other terms."
        return [*blocks, Text(none)]
    return [
        *blocks,
        Grid(
            header=("Row", "Text"),
            rows=tuple((words.number(row), say("“{text}”", text=text)) for row, text in texts),
            widths=(0.5, 5.0),
            right=(0,),
            caption="Texts of the data with this term",
            key="texts",
            evidence="observed",
            note=say("the first {n}", n=words.number(len(texts)))
            if len(texts) < term.occurs
            else "",
        ),
    ]
