"""How the model's inputs are made and its outputs are read: proposed, chosen, tried, offered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from fairdesk.data.table import Dialect, Table
from fairdesk.gui.wizard.model.inputs_dialog import Fed
from fairdesk.gui.wizard.model.mapping_table import CONSTANT
from fairdesk.models.decisions.favourable import answer_of
from fairdesk.models.inputs.editing import answered, constant, problems, remap
from fairdesk.models.inputs.input_check import InputCheck, settled
from fairdesk.models.inputs.mapping import known_values
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.inputs.numbering import Codes, Numbering, numberings, renumbered
from fairdesk.models.inputs.usual import Offer, offers, read_key
from fairdesk.models.model import Mapping, ModelCard


class Outcome(NamedTuple):
    """Which outcome of the data is asked about: its column, and the favourable value of that."""

    label: str
    favourable: str


class Standing(NamedTuple):
    """What a feeding comes to: a mapping, or ``None`` and what is wrong in it or missing."""

    mapping: Mapping | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """What came of trying the model on the rows."""

    mapping: Mapping
    proof: InputCheck
    note: str
    offers: tuple[Offer, ...] = ()
    numberings: tuple[Numbering, ...] = ()


class Feeding:
    """How a model is fed, as far as that is known.

    Attributes
    ----------
    fed : Mapping or Proposal, optional
        What is proposed or chosen; ``None`` before anything is.
    good : str, optional
        Which output the auditor called favourable.
    notes : tuple[str, ...]
        What is assumed in it.
    offers : tuple[Offer, ...]
        Other ways, by which the model may decide more as the data do.
    unprepared : (Mapping, InputCheck), optional
        The way for which these are offered.
    numberings : tuple[Numbering, ...]
        For each column whose numbers were guessed, the orders that authors use.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin with another model."""
        self.fed: Fed | None = None
        self.good: str | None = None
        self.notes: tuple[str, ...] = ()
        self.offers: tuple[Offer, ...] = ()
        self.unprepared: tuple[Mapping, InputCheck] | None = None
        self.numberings: tuple[Numbering, ...] = ()
        self._by_hand = self._confirmed = False
        self._threshold: float | None = None
        self._first_notes: tuple[str, ...] = ()

    def begin_anew(self) -> None:
        """Have it proposed again: the data, or what is asked of them, are others."""
        self.fed, self._by_hand, self.numberings = None, False, ()

    def propose(self, card: ModelCard, table: Table, outcome: Outcome) -> Dialect:
        """Propose it where nothing is known of it; return how the table is to be read for it."""
        if self.fed is not None:
            return table.source.dialect
        made = propose(card, table, *outcome, self.good, threshold=self._threshold)
        reading = known_values.settled(card, table, made.inputs)
        # what is guessed is asked about
        others = (note for note in made.notes if note != made.guess)
        self.fed, self.notes = made, (*reading.notes, *others)
        return reading.dialect

    def standing(self, card: ModelCard, table: Table, label: str) -> Standing:
        """Return what it comes to; something must be proposed or chosen."""
        fed = self.fed
        if fed is None:
            return Standing(None)
        wrong = problems(fed, card, table, label)
        if isinstance(fed, Mapping):
            return Standing(None, wrong) if wrong else Standing(fed)
        if wrong or fed.answer is None or None in fed.inputs:
            return Standing(None, self._missing(fed.problems, wrong, gaps=None in fed.inputs))
        return Standing(fed.mapping())

    def _missing(
        self, first: tuple[str, ...], wrong: tuple[str, ...], *, gaps: bool
    ) -> tuple[str, ...]:
        """Gather what is to be told: of what is missing once, as long as it is true."""
        if not first or (gaps and self._by_hand):
            # what was missing at first is partly there now
            return wrong
        return tuple(dict.fromkeys((*first, *(wrong[1:] if gaps else wrong))))

    def trial(
        self,
        mapping: Mapping,
        card: ModelCard | None,
        table: Table,
        label: str,
        check: Callable[[Mapping, Table], InputCheck],
    ) -> Callable[[], Tried]:
        """Return what tries a mapping, and others beside it; it may run in any thread.

        Parameters
        ----------
        card, table, label
            The model, the data, and the column of their outcome.
        check : callable
            Tries a mapping on rows.
        """
        answer = None if isinstance(self.fed, Mapping) or self.fed is None else self.fed.answer
        # what was tried of a column stays beside the choice, whatever is confirmed of others
        known = self.numberings if self._confirmed else None
        asked = [each.column for each in self.numberings]
        settle = self.good is None and answer is not None and not answer.clear

        def call() -> Tried:
            chosen, note, proof = mapping, "", check(mapping, table)
            if settle:
                chosen, note = settled(mapping, proof)
                if chosen != mapping:
                    proof = check(chosen, table)
            found = (
                ()
                if card is None
                else offers(check, card, table, label, chosen, proof, clear=not settle)
            )
            columns = tuple(dict.fromkeys((*asked, *chosen.guessed)))
            numbered = known or tuple(numberings(check, table, chosen, columns))
            return Tried(chosen, proof, note, found, numbered)

        return call

    def take(self, tried: Tried) -> None:
        """Keep what came of a trial: from here on outputs mean what they were found to mean."""
        if tried.note:
            self.notes = (*self.notes, tried.note)
        self.fed, self.numberings = tried.mapping, tried.numberings
        self._confirmed = False
        if all(tried.mapping != mapping for mapping in self._choices()):
            # what was offered is for how the model was fed before
            self.offers, self.unprepared = tried.offers, (tried.mapping, tried.proof)
            self._first_notes = self.notes

    def choose(self, mapping: Mapping) -> None:
        """Take a way that is offered."""
        self.change(mapping)
        # what was assumed of the order of the inputs is no more, where another was chosen
        arranged = any(
            offer.mapping == mapping and read_key(offer.key).arrangement for offer in self.offers
        )
        self.notes = () if arranged else self._first_notes

    def confirm(self, columns: tuple[str, ...], codes: Codes | None, table: Table) -> None:
        """Take the numbers of some columns' values: these, or those that they have."""
        self._confirmed = True
        for column in columns:
            if self.fed is not None:
                self.fed = renumbered(self.fed, column, codes, table)

    def change(self, fed: Fed) -> None:
        """Take what the auditor made of it."""
        self.fed, self._by_hand = fed, True

    def connect(self, position: int, attribute: str, card: ModelCard, table: Table) -> None:
        """Feed an input from another column, or with a constant.

        Raises
        ------
        FairDeskError
            It cannot be fed so.
        """
        if self.fed is None:
            return
        self._by_hand = True
        if attribute == CONSTANT:
            self.fed = constant(self.fed, position, 0.0, card)
        else:
            self.fed = remap(self.fed, position, attribute, table, card)

    def read_outputs(
        self, good: str, threshold: float | None, card: ModelCard, table: Table, outcome: Outcome
    ) -> None:
        """Take which output is favourable, and from which score on.

        Raises
        ------
        FairDeskError
            The outputs cannot be read so.
        """
        if self.fed is None:
            return
        self.good, self._threshold = good, threshold
        self.fed = answered(self.fed, answer_of(card, table, *outcome, good, threshold))

    def name_decisions(self, names: tuple[str, ...]) -> None:
        """Take what the model's decisions are called."""
        if isinstance(self.fed, Mapping):
            self.fed = msgspec.structs.replace(self.fed, names=names)

    def _choices(self) -> tuple[Mapping, ...]:
        """Return the ways that are offered, and that before them."""
        before = () if self.unprepared is None else (self.unprepared[0],)
        return (*before, *(offer.mapping for offer in self.offers)) if self.offers else ()
