"""The audit's question in sentences, from the wizard's answers. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairdesk.audit.methods import METHODS
from fairdesk.data.domain import Attribute, Role
from fairdesk.gui.wizard.state import Length, WizardState, compared_text
from fairdesk.report.words import duration, listed, number, percent, plural, quoted


def question(state: WizardState) -> tuple[tuple[str, str], ...]:
    """Tell what will be asked.

    Parameters
    ----------
    state : WizardState
        With every step before the review answered; else there is nothing to tell.

    Returns
    -------
    tuple of (str, str)
        A heading and its sentences.
    """
    if state.table is None or state.card is None or state.mapping is None or state.proof is None:
        return ()
    return tuple(
        (head, " ".join(sentences))
        for head, sentences in (
            ("The question", _asked(state)),
            ("Data", _data(state)),
            ("Model", _model(state)),
            ("People", _people(state)),
            ("Search", _search(state)),
        )
    )


def _asked(state: WizardState) -> Iterator[str]:
    protected = _named(state, Role.PROTECTED)
    differ = quoted(protected[0]) if len(protected) == 1 else listed(protected)
    verb = "differs" if len(protected) == 1 else "differ"
    yield (
        f"Are there two {plural(state.person)} who get different decisions although only {differ} "
        f"{verb} between them?"
    )


def _data(state: WizardState) -> Iterator[str]:
    if state.table is None:
        return
    name = Path(state.table.source.path).name
    rows = number(len(state.table.codes))
    yield f"“{name}”: {rows} {plural(state.person)}, {len(state.table.columns)} columns."
    yield f"The decision stands in {quoted(state.label)}; “{state.favourable}” is good to get."


def _model(state: WizardState) -> Iterator[str]:
    card, mapping, proof = state.card, state.mapping, state.proof
    if card is None or mapping is None or proof is None:
        return
    yield f"“{Path(card.path).name}”: {card.format}. {card.summary.rstrip('.')}."
    yield f"Its {len(card.inputs)} inputs are matched to the columns {mapping.matched};"
    yield f"its answer “{card.classes[mapping.favourable_class]}” is the good one."
    yield f"It agrees with {quoted(state.label)} in {percent(proof.accuracy, 1)} of the rows."
    if state.trusted and card.needed_trust:
        yield "The file is a program that was trusted."


def _people(state: WizardState) -> Iterator[str]:
    attributes = [state.attribute(name) for name in state.attribute_names()]
    compared = [
        f"{quoted(each.name)} ({compared_text(each)})"
        for each in attributes
        if each.role is Role.PROTECTED
    ]
    yield f"Protected: {', '.join(compared)}: {number(state.combinations())} combinations."
    yield f"May vary: {listed(_named(state, Role.VARIES))}."
    if fixed := _named(state, Role.FIXED):
        yield f"Fixed: {listed(fixed)}."
    if narrowed := [_narrowed(each) for each in attributes if state.choice(each.name).limits]:
        yield f"Narrowed: {'; '.join(narrowed)}."
    yield f"The search starts from {number(state.people())} rows of the data."


def _search(state: WizardState) -> Iterator[str]:
    method = METHODS[state.method]
    limit = (
        "until it is done"
        if state.length is Length.UNTIL_DONE
        else f"for {duration(float(state.length))} at most"
    )
    yield f"{method.title}, {limit}, with seed {state.seed}."
    if changed := state.options.get(state.method):
        yield f"Set by you: {', '.join(f'{name} = {value:g}' for name, value in changed.items())}."
    yield method.cannot


def _named(state: WizardState, role: Role) -> list[str]:
    return [name for name in state.attribute_names() if state.choice(name).role is role]


def _narrowed(attribute: Attribute) -> str:
    if attribute.values:
        return f"{quoted(attribute.name)} to {listed(attribute.values)}"
    low, high = attribute.text(attribute.low), attribute.text(attribute.high)
    return f"{quoted(attribute.name)} to {low}–{high}"
