"""Which of a model's answers is the favourable one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from fairdesk.data.profiling.outcomes import comparison, meaning, several, spelt_as
from fairdesk.data.table import Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.rule import VALUES, names_around
from fairdesk.models.model import Mapping, ModelCard, names_of_groups


class Answer(msgspec.Struct, frozen=True):
    """What a model's answers mean; its members are those of `Mapping`.

    ``clear`` tells whether names say which decision is favourable. Where they do not, that is
    to be seen from the data (`fairdesk.models.inputs.input_check.settled`).
    """

    favourable_class: int
    outcomes: tuple[str, ...] = ()
    together: tuple[int, ...] = ()
    threshold: float | None = None
    beyond: bool = False
    spread: float = 1.0
    clear: bool = True

    def onto(self, mapping: Mapping) -> Mapping:
        """Return a mapping with its answers meant so."""
        meant = msgspec.structs.asdict(self)
        del meant["clear"]
        return msgspec.structs.replace(mapping, **meant)


def answer_of(
    card: ModelCard,
    table: Table,
    label: str,
    favourable: str,
    model_favourable: str | None = None,
    threshold: float | None = None,
) -> Answer:
    """Find out what a model's answers mean.

    Parameters
    ----------
    table, label
        The data and the column with the decision or the truth.
    model_favourable : str, optional
        The class that means it, several joined by " or ", or of a model that estimates a number
        a comparison. By default what is called as the favourable value, by the model or an
        encoder beside it; of two classes that are called otherwise, the second.
    threshold : float, optional
        Where the decision changes; of an estimated number by default the favourable value's.

    Raises
    ------
    ModelError
        When it cannot be told, or there is no such class.
    """
    if card.scores == VALUES:
        compared = comparison(favourable if model_favourable is None else model_favourable)
        if compared is None and threshold is None:
            raise ModelError(
                "The model estimates a number, but the limit from which the outcome is "
                "favourable is not specified.",
                remedy="Give a threshold, or a favourable outcome like “>= 50”.",
            )
        sign, number = compared or (">=", 0.0)
        limit = number if threshold is None else threshold
        answer = of_estimate(sign, limit, _spread(table, label, limit))
        return msgspec.structs.replace(answer, clear=compared is not None)
    places = _places(card, favourable, model_favourable)
    if (
        len(card.classes) > 2
        and model_favourable is None
        and isinstance(meaning(favourable), float)
    ):
        _refuse_other_numbers(card, table, label, favourable)
    answer = of_classes(card, places or (1,), threshold)
    return msgspec.structs.replace(answer, clear=bool(places))


def of_estimate(sign: str, threshold: float, spread: float) -> Answer:
    """Take an estimated number for favourable by how it compares with a threshold."""
    beyond = sign in (">", "<=")
    return Answer(
        favourable_class=int(sign in (">", ">=")),
        outcomes=names_around(threshold, beyond=beyond),
        threshold=threshold,
        beyond=beyond,
        spread=spread,
    )


def sign_of(mapping: Mapping | Answer) -> str:
    """Return how an estimated number compares with the threshold where it is favourable."""
    if mapping.favourable_class == 1:
        return ">" if mapping.beyond else ">="
    return "<=" if mapping.beyond else "<"


def of_classes(card: ModelCard, places: Sequence[int], threshold: float | None = None) -> Answer:
    """Take classes for favourable, one or several; decided at a threshold, where one is given.

    Raises
    ------
    ModelError
        When these are all classes, or the model does not decide at a threshold.
    """
    if len(places) == len(card.classes):
        raise ModelError(
            "All of the model’s classes would be favourable.",
            remedy=f"Choose some of: {', '.join(card.classes)}.",
        )
    if threshold is not None and (card.scores == "labels" or len(card.classes) > 2):
        raise ModelError(
            "The model does not decide by comparing one score with a threshold.",
            remedy="Omit the threshold.",
        )
    if threshold is not None and not 0 < threshold < 1:
        raise ModelError(
            f"{threshold:g} cannot be a decision threshold.",
            why="The model’s scores lie between 0 and 1.",
            remedy="Give a number between them.",
        )
    if len(places) == 1:
        return Answer(places[0], threshold=threshold)
    return Answer(1, names_of_groups(card.classes, places), tuple(sorted(places)))


def flipped(mapping: Mapping) -> Mapping:
    """Return a mapping with the other of two decisions as the favourable one."""
    return msgspec.structs.replace(mapping, favourable_class=1 - mapping.favourable_class)


def _spread(table: Table, label: str, threshold: float) -> float:
    """Return a distance from the threshold that is far: as the label's numbers are spread."""
    if not table.column(label).values:
        codes = table.codes[:, table.index(label)]
        spread = float(np.nanstd(codes)) if not np.isnan(codes).all() else 0.0
        if 0 < spread < np.inf:
            return spread
    return max(abs(threshold) / 10, 1.0)


def _refuse_other_numbers(card: ModelCard, table: Table, label: str, favourable: str) -> None:
    """Refuse to take a number for a class's name where label and model count different things."""
    values = tuple(table.counts(label))
    if len(values) != len(card.classes) or any(spelt_as(v, card.classes) is None for v in values):
        raise ModelError(
            f"The model has {len(card.classes)} classes and the recorded outcome {len(values)} "
            f"values, all numbers: “{favourable}” may have another meaning in the model.",
            remedy=f"Choose one or several of its classes: {', '.join(card.classes)}.",
        )


def _places(card: ModelCard, favourable: str, model_favourable: str | None) -> tuple[int, ...]:
    """Find the classes that mean the favourable outcome; none where two have other names."""
    beside = card.hints.classes if len(card.hints.classes) == len(card.classes) else ()
    named = model_favourable is not None
    wanted = favourable if model_favourable is None else model_favourable
    for names in (card.classes, beside) if named else (beside, card.classes):
        place = spelt_as(wanted, names)
        places = several(wanted, names) if place is None else (place,)
        if places:
            return places
    if named:
        raise ModelError(
            f"The model has no class “{wanted}”.",
            remedy=f"Its classes are: {_with_names(card.classes, beside)}.",
            setting="model_favourable",
        )
    if len(card.classes) > 2:
        raise ModelError(
            f"None of the model’s classes is called “{favourable}”.",
            why="Therefore FairDesk cannot determine which class is the favourable outcome.",
            remedy=f"Choose one or several of: {_with_names(card.classes, beside)}.",
            setting="model_favourable",
        )
    return ()


def _with_names(classes: Sequence[str], names: Sequence[str]) -> str:
    if not names:
        return ", ".join(classes)
    return ", ".join(f"{own} ({name})" for own, name in zip(classes, names, strict=True))
