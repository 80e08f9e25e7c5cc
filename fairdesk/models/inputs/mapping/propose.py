"""How table columns become a model's inputs: proposed from everything that the files tell."""

from __future__ import annotations

import msgspec

from fairdesk.data.table import Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.favourable import Answer, answer_of
from fairdesk.models.inputs.mapping.making import as_many, guess_sentence, told_by
from fairdesk.models.inputs.mapping.proposer import Proposer
from fairdesk.models.model import Input, Mapping, ModelCard


class Proposal(msgspec.Struct, frozen=True):
    """A mapping that may still have gaps.

    Attributes
    ----------
    inputs : tuple[Input or None, ...]
        One per input of the model; None where nothing could be proposed.
    matched : str
        As in `Mapping`.
    answer : Answer, optional
        What the model's answers mean; None where that has to be chosen.
    problems : tuple[str, ...]
        What is open about the inputs and why, whole sentences.
    unanswered : str
        Why ``answer`` is None.
    notes : tuple[str, ...]
        What was assumed and is to be checked, whole sentences.
    names : tuple[str, ...]
        What the model's classes are called for people, as in `Mapping`.
    """

    inputs: tuple[Input | None, ...]
    matched: str
    answer: Answer | None
    problems: tuple[str, ...] = ()
    unanswered: str = ""
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def guess(self) -> str:
        """The note on numbers that were only guessed; empty where none were."""
        guessed = [item.attribute for item in self.inputs if item is not None and item.guessed]
        return guess_sentence(tuple(dict.fromkeys(guessed))) if guessed else ""

    def mapping(self) -> Mapping:
        """Return the mapping.

        Raises
        ------
        ModelError
            When something is open.
        """
        inputs = tuple(item for item in self.inputs if item is not None)
        if self.answer is not None and len(inputs) == len(self.inputs) and not self.problems:
            return self.answer.onto(Mapping(inputs, self.matched, 0, names=self.names))
        if self.unanswered and len(inputs) == len(self.inputs) and not self.problems:
            raise ModelError(self.unanswered, setting="model_favourable")
        open_ones = [*self.problems, *([self.unanswered] if self.answer is None else [])]
        first, *others = open_ones or ["How some of the model’s inputs are made is not specified."]
        raise ModelError(
            first,
            why=" ".join(others),
            remedy=(
                "Choose the data and the files that belong to this model, or specify how each "
                "input is made."
            ),
            setting="map",
        )


def propose(
    card: ModelCard,
    table: Table,
    label: str,
    favourable: str,
    model_favourable: str | None = None,
    *,
    threshold: float | None = None,
    arrangement: str = "",
) -> Proposal:
    """Propose how the table's columns become the model's inputs, as far as the files tell.

    A model whose inputs have names, its own or those of a list beside it, gets the columns of
    those names: exactly, else without regard to case, spaces and punctuation; inputs that no
    column is called like may stand for one value of a column each. Any other gets the table's
    columns in their order, without the label and ignored ones, or with an input for each of
    their values. What encoders and scalers tell is done as they do it.

    Parameters
    ----------
    label : str
        The column with the decision or the truth; no input.
    favourable : str
        What is favourable in it, as `fairdesk.data.profiling.outcomes` reads it.
    model_favourable : str, optional
        The model's class, or several joined by " or ", that mean the favourable outcome.
    threshold : float, optional
        Where the model's decision changes, when not at one half.
    arrangement : str
        Of inputs without names: how they are put in order, as `arrangements` names it.

    Raises
    ------
    DataError
        When the table has no column ``label``.
    ModelError
        When the inputs cannot be put in this order.
    """
    table.column(label)
    proposer = Proposer(card, table, label, favourable)
    inputs, matched = proposer.inputs(arrangement)
    answer, unanswered = None, ""
    try:
        answer = answer_of(card, table, label, favourable, model_favourable, threshold)
    except ModelError as error:
        unanswered = str(error)
    return Proposal(
        tuple(inputs),
        matched,
        answer,
        tuple(proposer.problems),
        unanswered,
        tuple(proposer.notes),
        _names(card),
    )


def columns_in_order(card: ModelCard, table: Table, label: str, favourable: str) -> tuple[str, ...]:
    """Return the columns that are as many as a model's inputs without names, excluded ones too.

    In the table's order, and without other outcomes. Empty where they are not as many, or where
    several choices are.
    """
    found = as_many(card, table, label, told_by(table, label, favourable))
    return tuple(column.name for column in found[0]) if len(found) == 1 else ()


def _names(card: ModelCard) -> tuple[str, ...]:
    """Return what a file beside the model calls its classes, where it only numbers them itself."""
    called = card.hints.classes
    numbered = all(name.isdigit() for name in card.classes)
    return called if numbered and len(called) == len(card.classes) else ()


def arrangements(
    card: ModelCard, table: Table, label: str
) -> tuple[tuple[str, str, tuple[Input, ...]], ...]:
    """Return the orders in which a table's columns can be a model's inputs that have no names.

    Returns
    -------
    tuple[tuple[str, str, tuple[Input, ...]], ...]
        Of each: its key, what it is (for people), and the inputs. Empty where inputs have names.
    """
    proposer = Proposer(card, table, label)
    if proposer.names() is not None:
        return ()
    return tuple(
        (way.key, way.short, tuple(item for item in way.inputs if item is not None))
        for way in proposer.ways()
        if None not in way.inputs
    )
