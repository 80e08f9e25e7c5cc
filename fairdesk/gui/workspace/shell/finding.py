"""What there is in an audit that can be found by its name: runs, attributes, groups, pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from fairdesk.answers.answer import Question
from fairdesk.answers.selection import best_run
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.gui.kit.keys import Found
from fairdesk.gui.workspace.groups.group_tables import tables_of
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.findings_view import Key
from fairdesk.gui.workspace.subgroups.terms_view import terms_of
from fairdesk.wording import words
from fairdesk.wording.groups.findings import findings, mined_with
from fairdesk.wording.rules import rule_phrase

#: A pair, or only its number as it is printed.
_PAIR = re.compile(r"\s*(?:pair\b)?\s*(?:no\.?|#)?\s*(\d[\d,]*)\s*", re.IGNORECASE)


class Showing(Protocol):
    """Shows a thing where it belongs."""

    def show_run(self, number: int) -> None:
        """Show what a run found."""

    def show_attribute(self, name: str) -> None:
        """Show an attribute."""

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""

    def show_term(self, term: str) -> None:
        """Show an identity term that was compared."""

    def show_pair(self, number: int) -> None:
        """Show a pair."""


def find(session: Session, text: str, showing: Showing) -> Iterator[Found]:
    """Yield what may be meant by a text; of pairs, which are many, only the one of its number."""
    if named := _PAIR.fullmatch(text):
        number = int(named[1].replace(",", ""))
        # its name has what was typed, with or without the comma
        yield Found(f"Pair {named[1]}", partial(showing.show_pair, number))
    for run in session.runs:
        name = f"Run {run.id}: {method_named(run.method).title}, {words.state_word(run.state)}"
        yield Found(name, partial(showing.show_run, run.id))
    domain = session.spec.domain
    for attribute in (*domain.attributes, *domain.unseen):
        shown = partial(showing.show_attribute, attribute.name)
        yield Found(f"Attribute: {attribute.name}", shown)
    yield from _groups(session, showing.show_group)
    known = best_run(Question.SUBGROUPS, session.runs)
    for _mined, sets in mined_with(known.figures) if known is not None else ():
        for each, _similar in findings(session.spec, sets):
            name = f"Subgroup: {rule_phrase(session.spec, each.conditions)}"
            yield Found(name, partial(showing.show_subgroup, (each.outcome, each.conditions)))
    for term in terms_of(known) if known is not None else ():
        yield Found(f"Identity term: {term.term}", partial(showing.show_term, term.term))


def _groups(
    session: Session, show: Callable[[tuple[str, ...], tuple[str, ...]], object]
) -> Iterator[Found]:
    """Yield the groups whose metrics are known, each once."""
    known = best_run(Question.GROUPS, session.runs)
    groups = dict.fromkeys(
        (table.attributes, line.values)
        for table in (tables_of(known) if known is not None else ())
        for line in table.lines
        if line.known
    )
    for names, values in groups:
        said = " and ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
        yield Found(f"Group: {said}", partial(show, names, values))
