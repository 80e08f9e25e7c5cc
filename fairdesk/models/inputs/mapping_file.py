"""A mapping as a JSON file: to say how a model is fed where that is not as proposed."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from fairdesk.data.profiling.outcomes import comparison, spelt_as
from fairdesk.data.table import Table
from fairdesk.errors import DataError, ModelError, SpecError, system_errors
from fairdesk.models.decisions.favourable import Answer, of_classes, of_estimate, sign_of
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs import editing
from fairdesk.models.inputs.editing import problems_of
from fairdesk.models.inputs.mapping.making import input_names, listing, with_steps
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.inputs.usual import steps_of, still_fits
from fairdesk.models.model import Fit, How, Input, Mapping, ModelCard, Step

M = TypeVar("M", Mapping, Proposal)

EXAMPLE = (
    '{"inputs": [{"input": "age", "from": "Age", "then": [["subtract", 38.6], ["divide", 13.7]]}, '
    '{"input": "male", "from": "sex", "how": "code", "codes": {"male": 1}, "others": 0}, '
    '{"input": "year", "value": 2020}], "favourable": ["good"], "threshold": 0.4}'
)


class Entry(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"name": "input", "column": "from"},
):
    """How one input is made; what is left out stays as proposed.

    Attributes
    ----------
    name : str
        The input (``"input"`` in the file).
    column : str
        The column that it is made from (``"from"``).
    how, codes, others, texts, missing, then
        As in `fairdesk.models.model.Input`; a step is ``["subtract", 38.6]``.
    value : float or str, optional
        What everybody gets, instead of a column. An input for which the proposal has nothing, and
        the file neither a column nor a value, is a gap that the auditor has to fill.
    fitted : Fit, optional
        Where ``then`` was computed from the audited table: how. Without ``then`` it is computed
        from the table at hand; else it holds only where that gives the same numbers.
    guessed : bool
        Whether ``codes`` are only a guess, as `fairdesk.models.model.Input` has it; left out, they
        are known.
    why : str
        Why it is made so, or is a gap; for people.
    """

    name: str
    column: str = ""
    how: How | None = None
    codes: dict[str, float] | None = None
    others: float | None = None
    texts: dict[str, str] | None = None
    missing: str = ""
    then: tuple[tuple[Literal["subtract", "divide", "multiply", "add"], float], ...] | None = None
    value: float | str | None = None
    fitted: Fit | None = None
    guessed: bool = False
    why: str = ""


class MapFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a mapping file says.

    Attributes
    ----------
    inputs : tuple[Entry, ...]
        The inputs that are not as proposed.
    favourable : tuple[str, ...]
        The model's favourable classes; of a model that estimates a number one comparison,
        ``">= 50"``.
    threshold : float, optional
        Where the decision changes.
    spread : float, optional
        Of an estimated number: how far from the threshold is far.
    matched : str
        As in `Mapping`; only for people.
    prepare : str
        A usual preparation that is fitted on the table at hand, as `fairdesk.models.inputs.usual`
        reads it: ``"standardise"``. Inputs with a ``then`` of their own are left as that says.
    classes : tuple[str, ...]
        What the model's classes are called for people, in the model's order: `Mapping.names`.
    """

    inputs: tuple[Entry, ...] = ()
    favourable: tuple[str, ...] = ()
    threshold: float | None = None
    spread: float | None = None
    matched: str = ""
    prepare: str = ""
    classes: tuple[str, ...] = ()


def read(path: Path) -> MapFile:
    """Read a mapping file.

    Raises
    ------
    SpecError
        When it cannot be read, or is something else.
    """
    with system_errors(SpecError, f"The mapping file “{path}” cannot be read.", "Check its name."):
        content = path.read_bytes()
    try:
        return parse(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The mapping file “{path}” does not have the expected format.",
            why=f"{error}.",
            remedy=f"It is JSON, like {EXAMPLE}.",
        ) from error


def parse(text: bytes) -> MapFile:
    """Read the text of a mapping file; raises `msgspec.MsgspecError` where it is none."""
    return msgspec.json.decode(text.removeprefix(codecs.BOM_UTF8), type=MapFile)


def apply(mapping_file: MapFile, mapping: M, card: ModelCard, table: Table) -> M:
    """Change a mapping, or what was proposed, as a file says.

    Raises
    ------
    SpecError
        When the model has no such input or class, or it cannot be made so, or an entry is still
        to be filled in; the inputs are named.
    """
    names = input_names(card)
    _refuse_gaps(mapping_file, mapping, names)
    for entry in mapping_file.inputs:
        if entry.name not in names:
            raise SpecError(
                f"The mapping file names the input “{entry.name}”, which the model does not have.",
                remedy=f"Its inputs are: {listing(names, 40)}.",
            )
        try:
            mapping = _apply_entry(entry, mapping, names.index(entry.name), card, table)
        except (ModelError, DataError) as error:
            raise SpecError(
                f"The mapping file’s entry for the input “{entry.name}” cannot be applied.",
                why=error.what,
                remedy=error.remedy,
            ) from error
    stated = {
        names.index(each.name)
        for each in mapping_file.inputs
        if each.then is not None or each.fitted is not None
    }
    inputs = with_steps(card, mapping.inputs, stated)
    mapping = msgspec.structs.replace(mapping, inputs=inputs)
    if mapping_file.inputs:
        matched = mapping_file.matched or "as the mapping file says"
        mapping = msgspec.structs.replace(mapping, matched=matched)
    if mapping_file.classes:
        mapping = msgspec.structs.replace(mapping, names=_names(mapping_file.classes, card))
    if (
        not mapping_file.favourable
        and mapping_file.threshold is None
        and mapping_file.spread is None
    ):
        return mapping
    try:
        answer = _answer(mapping_file, mapping, card)
    except ModelError as error:
        raise SpecError(
            "What the mapping file states about the model’s decisions cannot be applied.",
            why=error.what,
            remedy=error.remedy,
        ) from error
    return editing.answered(mapping, answer)


def with_names(mapping_file: MapFile, card: ModelCard) -> ModelCard:
    """Return a card that knows its classes by the names of a mapping file, too."""
    if not mapping_file.classes:
        return card
    return msgspec.structs.replace(
        card, hints=msgspec.structs.replace(card.hints, classes=mapping_file.classes)
    )


def _names(names: tuple[str, ...], card: ModelCard) -> tuple[str, ...]:
    """Return what the model's classes are called, if there is a name of its own for each."""
    if len(names) != len(card.classes) or len(set(names)) != len(names) or not all(names):
        raise SpecError(
            f"The mapping file names {len(names)} classes; the model has {len(card.classes)}.",
            why="Each class needs a name of its own, in the model’s order.",
            remedy=f"The model’s classes are: {listing(card.classes, 40)}.",
        )
    return names


def _refuse_gaps(mapping_file: MapFile, mapping: Mapping | Proposal, names: Sequence[str]) -> None:
    """Refuse a file with entries that are still to be filled in."""
    made = {name for name, item in zip(names, mapping.inputs, strict=True) if item is not None}
    gaps = [
        each.name
        for each in mapping_file.inputs
        if each.name in set(names) - made and not each.column and each.value is None
    ]
    if gaps:
        raise SpecError(
            f"The mapping file does not specify how these inputs are made: {listing(gaps)}.",
            why="Their entries have neither a column nor a value. Nothing is assumed for them: a "
            "constant in place of what the model was trained with changes its decisions.",
            remedy=(
                "Add the columns to the table, computed as they were for training, and name them "
                "as “from”; or give a constant for all rows as “value”."
            ),
        )


def written(mapping: Mapping, card: ModelCard) -> dict[str, Any]:
    """Write a mapping as plain data; `apply` gives the same mapping again."""
    if card.scores == VALUES and mapping.threshold is not None:
        favourable: tuple[str, ...] = (f"{sign_of(mapping)} {mapping.threshold!r}",)
    else:
        places = mapping.together or (mapping.favourable_class,)
        favourable = tuple(card.classes[place] for place in places if place < len(card.classes))
    content = MapFile(
        inputs=tuple(map(_entry, mapping.inputs)),
        favourable=favourable,
        threshold=mapping.threshold,
        spread=mapping.spread if card.scores == VALUES else None,
        matched=mapping.matched,
        classes=mapping.names,
    )
    plain: dict[str, Any] = msgspec.to_builtins(content)
    return plain


def _entry(item: Input) -> Entry:
    constant = item.how is How.CONSTANT
    return Entry(
        name=item.name,
        column=item.attribute,
        how=item.how,
        codes=item.codes if item.how is How.CODE else None,
        others=item.others,
        texts=item.texts or None,
        missing=item.missing,
        then=tuple((step.op, step.by) for step in item.then),
        value=item.constant if constant else None,
        fitted=item.fitted,
        guessed=item.guessed,
    )


def _apply_entry(entry: Entry, mapping: M, position: int, card: ModelCard, table: Table) -> M:
    """Follow one entry."""
    if entry.value is not None:
        mapping = editing.constant(mapping, position, entry.value, card)
    elif entry.column and (entry.codes is not None or entry.how is How.LABEL):
        table.column(entry.column)
        mapping = _exactly(entry, mapping, position)
    elif entry.column:
        mapping = editing.remap(mapping, position, entry.column, table, card)
        if entry.how is not None and entry.how is not How.CODE:
            mapping = editing.as_way(mapping, position, entry.how, table, card)
    elif entry.codes is not None:
        for value, number in entry.codes.items():
            mapping = editing.numbered(mapping, position, value, number)
    if entry.then is not None:
        steps = [Step(op, by) for op, by in entry.then]
        mapping = editing.computed(mapping, position, steps)
    item = mapping.inputs[position]
    if entry.fitted is not None and item is not None:
        item = _fitted(entry, item, entry.fitted, table)
        mapping = editing.put(mapping, position, item)
    for wrong in () if item is None else problems_of(item, position, card, table):
        raise ModelError(wrong, remedy="Change the entry.")
    return mapping


def _fitted(entry: Entry, item: Input, fit: Fit, table: Table) -> Input:
    """Scale an input by what the table gives, or see whether that is what it is scaled by."""
    if entry.then is None:
        return msgspec.structs.replace(item, then=steps_of(item, table, fit), fitted=fit)
    fitted = msgspec.structs.replace(item, fitted=fit)
    return fitted if still_fits(fitted, table) else item


def _exactly(entry: Entry, mapping: M, position: int) -> M:
    """Make an input as told, with nothing proposed."""
    codes = entry.codes or {}
    how = entry.how or How.CODE
    if how is not How.CODE and codes:
        raise ModelError(
            f"Numbers for values are given, but “how” is “{how}”.",
            remedy="Omit either “how” or the numbers.",
        )
    texts = entry.texts or {}
    if how is not How.LABEL and texts:
        raise ModelError(
            f"Texts for values are given, but “how” is “{how}”.",
            remedy="Omit the texts, or make the input from the text as in the data.",
        )
    item = Input(
        *(entry.name, entry.column, how, codes, entry.missing),
        others=entry.others,
        guessed=entry.guessed,
        texts=texts,
    )
    return editing.put(mapping, position, item)


def _answer(mapping_file: MapFile, mapping: Mapping | Proposal, card: ModelCard) -> Answer:
    now = mapping.answer if isinstance(mapping, Proposal) else mapping
    if card.scores == VALUES:
        return _estimate(mapping_file, now)
    if mapping_file.favourable:
        names = card.classes, mapping_file.classes
        places = [_class(name, *names) for name in mapping_file.favourable]
    elif now is not None:
        places = list(now.together or (now.favourable_class,))
    else:
        raise ModelError(
            "It does not specify which class is favourable.", remedy="Add “favourable”."
        )
    threshold = mapping_file.threshold
    if threshold is None and now is not None:
        threshold = now.threshold
    return of_classes(card, sorted(set(places)), threshold)


def _estimate(mapping_file: MapFile, now: Mapping | Answer | None) -> Answer:
    compared = comparison(mapping_file.favourable[0]) if len(mapping_file.favourable) == 1 else None
    if mapping_file.favourable and compared is None:
        raise ModelError(
            "The model estimates a number, but “favourable” is not a comparison.",
            remedy="Write it in the form “>= 50”.",
        )
    sign, limit = compared or (sign_of(now) if now is not None else ">=", None)
    if mapping_file.threshold is not None:
        limit = mapping_file.threshold
    if limit is None and now is not None:
        limit = now.threshold
    if limit is None:
        raise ModelError(
            "It does not specify the limit from which the number is favourable.",
            remedy="Add “threshold”.",
        )
    spread = mapping_file.spread or (now.spread if now is not None else 1.0)
    return of_estimate(sign, limit, spread)


def _class(name: str, classes: Sequence[str], called: Sequence[str]) -> int:
    place = spelt_as(name, classes)
    if place is None:
        place = spelt_as(name, called)
    if place is None:
        raise ModelError(
            f"The model has no class “{name}”.", remedy=f"Its classes are: {', '.join(classes)}."
        )
    return place
