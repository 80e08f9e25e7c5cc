"""The audit's question in sentences, from the wizard's answers. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.confinement import Confinement
from fairdesk.data.columns.rereading import counted_cells, is_undecided
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.profiling.outcomes import comparison
from fairdesk.groups.text.terms import TERMS
from fairdesk.gui.wizard.state.domain import compared_text
from fairdesk.gui.wizard.state.examining import rows_sentence
from fairdesk.gui.wizard.state.first_runs import Length
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.wording.words import (
    counted,
    duration,
    joined,
    listed,
    number,
    percent,
    plural,
    quoted,
)

#: So many values of a narrowed attribute are named.
_MOST_VALUES = 12
_LIMITS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}


def question(state: WizardState) -> tuple[tuple[str, str], ...]:
    """Return what will be asked.

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
            *((("Repair", _repair(state)),) if state.repair_spec() is not None else ()),
        )
    )


def _asked(state: WizardState) -> Iterator[str]:
    protected, run = _named(state, Role.PROTECTED), state.run_spec()
    groups = [*protected, *(each.name for each in state.unseen())]
    match METHODS[state.method].answers:
        case QuestionKind.RATES:
            yield (
                f"How do groups of {plural(state.person)} fare that differ in {listed(groups)}, in "
                "the data and by the decisions?"
            )
            return
        case QuestionKind.GROUPS if run.text:
            yield (
                f"Do the texts in “{run.text}” get other decisions when they name somebody else?"
            )
            return
        case QuestionKind.GROUPS:
            yield (
                f"Which groups of {plural(state.person)}, told apart by {listed(groups)}, get a "
                "decision most unlike all others?"
            )
            return
    differ = quoted(protected[0]) if len(protected) == 1 else listed(protected)
    verb = "differs" if len(protected) == 1 else "differ"
    yield (
        f"Are there two {plural(state.person)} who get different decisions although only {differ} "
        f"{verb} between them?"
    )


def outcome_words(state: WizardState) -> str:
    """Say what is good to get: ``“yes” is good to get``."""
    compared = comparison(state.favourable)
    if compared is not None and state.favourable not in state.label_values():
        return f"{_LIMITS[compared.sign]} {compared.number:g} is good to get"
    return f"“{state.favourable}” is good to get"


def _data(state: WizardState) -> Iterator[str]:
    table = state.table
    if table is None:
        return
    name = Path(table.source.path).name
    if table.source.dialect.table:
        name = f"{name}”, “{table.source.dialect.table}"
    rows = counted(len(table.codes), state.person)
    yield f"“{name}”: {rows}, {len(table.columns)} columns."
    for column in table.columns:
        if is_undecided(column, table.source.dialect):
            yield (
                f"{quoted(column.name)} holds numbers and {counted_cells(column.odd_rows)} that "
                "hold something else; these count as missing, and nothing was decided of them."
            )
    good, known = state.outcome()
    yield f"The decision stands in {quoted(state.label)}; {outcome_words(state)}."
    yield f"{number(good)} of {number(known)} rows have it ({percent(good, known)})."
    if missing := len(table.codes) - known:
        yield f"In {number(missing)} rows no decision stands."


def _model(state: WizardState) -> Iterator[str]:
    card, mapping, proof = state.card, state.mapping, state.proof
    if card is None or mapping is None or proof is None:
        return
    if state.predictions:
        yield f"{card.summary.rstrip('.')}."
    else:
        yield f"“{Path(card.path).name}”: {card.format}. {card.summary.rstrip('.')}."
        if card.companions:
            names = joined([f"“{Path(each.path).name}”" for each in card.companions])
            yield f"How it is fed was read from {names} too."
        inputs = "Its input is" if len(card.inputs) == 1 else f"Its {len(card.inputs)} inputs are"
        yield f"{inputs} matched to the columns {mapping.matched}."
        if len(card.outputs) > 1 and card.output:
            yield f"Of its outputs “{card.output}” decides."
    yield from _decides(state)
    yield f"It agrees with {quoted(state.label)} in {percent(proof.accuracy, 1)} of the rows."
    if card.environment:
        yield f"It runs in an environment of its own: {card.environment}."
    if state.trusted and card.needed_trust:
        yield "The file is a program that was trusted."
    if not state.predictions and state.confinement is not None:
        yield confined(state.confinement)


def _decides(state: WizardState) -> Iterator[str]:
    """Say which of the model's answers is the good one, and where it begins."""
    card, mapping = state.card, state.mapping
    if card is None or mapping is None:
        return
    good = mapping.decisions(card)[mapping.favourable_class]
    if mapping.together:
        classes = joined([f"“{card.classes[place]}”" for place in mapping.together])
        yield f"Its answers {classes} are the good ones."
        return
    yield f"Its answer “{good}” is the good one."
    if mapping.threshold is not None:
        second = mapping.decisions(card)[1]
        what = "number that it estimates" if card.scores == "values" else "score"
        where = "at least" if card.scores == "values" and not mapping.beyond else "above"
        yield f"It decides “{second}” where the {what} is {where} {mapping.threshold:g}."


def confined(confinement: Confinement) -> str:
    """Say what the process that holds the model cannot do on this computer, and what it can."""
    held = [hold.what for hold in confinement.holds if hold.holds]
    free = [hold.what for hold in confinement.holds if not hold.holds]
    if not held:
        return (
            "On this computer nothing confines the process that holds the model: code in the file "
            "could do whatever you may do."
        )
    by = f" by {confinement.by}" if confinement.by else ""
    sentence = f"It runs in a process confined{by}; withheld or limited: {joined(held)}."
    return f"{sentence} Not withheld on this computer: {joined(free)}." if free else sentence


def _people(state: WizardState) -> Iterator[str]:
    attributes = [state.attribute(name) for name in state.attribute_names()]
    compared = [
        f"{quoted(each.name)} ({compared_text(each)})"
        for each in attributes
        if each.role is Role.PROTECTED
    ]
    if compared:
        yield f"Protected: {', '.join(compared)}: {number(state.combinations())} combinations."
    if unseen := [each.name for each in state.unseen()]:
        pronoun = "it" if len(unseen) == 1 else "them"
        yield f"Tells groups apart only, for the model is not given {pronoun}: {listed(unseen)}."
    if not compared and not unseen:
        yield "Nothing is protected: what is compared are terms in texts."
    follows = state.determined_by()
    if vary := [name for name in _named(state, Role.VARIES) if name not in follows]:
        yield f"May vary: {listed(vary)}."
    if fixed := _named(state, Role.FIXED):
        yield f"Never changed: {listed(fixed)}."
    if unknown := [each.name for each in attributes if each.unknown]:
        yield (
            f"Where it is missing, “Unknown” is a category of its own: {listed(unknown)}. "
            "Nothing is filled in."
        )
    if narrowed := [_narrowed(each) for each in attributes if _is_narrowed(state, each.name)]:
        yield f"Narrowed: {'; '.join(narrowed)}."
    if state.constraints:
        said = "; ".join(f"“{text}”" for text in state.constraints)
        yield f"For everybody holds: {said}."
    examined = state.examined()
    if examined is not None:
        yield rows_sentence(examined, state.person)


def _search(state: WizardState) -> Iterator[str]:
    method, run = METHODS[state.method], state.run_spec()
    limit = (
        "until it is done"
        if state.length is Length.UNTIL_DONE
        else f"for {duration(float(state.length))} at most"
    )
    yield f"{method.title}, {limit}, with seed {state.seed}."
    if run.near is not None:
        yield (
            f"Asks only about {plural(state.person)} at most {run.near:g} far from a real one "
            "(0 alike, 1 unlike in everything)."
        )
    if changed := state.options.get(state.method):
        set_to = [
            f"{name} = {value if isinstance(value, str) else f'{value:g}'}"
            for name, value in changed.items()
        ]
        yield f"Set by you: {', '.join(set_to)}."
    for name, edges in run.edges.items():
        yield f"{quoted(name)} is divided at {', '.join(f'{edge:g}' for edge in edges)}."
    if run.text:
        yield _terms(run)
    yield f"What it cannot tell: {method.cannot[:1].lower()}{method.cannot[1:]}"


def _repair(state: WizardState) -> Iterator[str]:
    """Say what follows the search."""
    run = state.repair_spec()
    if run is not None:
        method = METHODS[run.method]
        yield f"When the search is done: {method.title}. {method.sentence}"
        yield f"What it cannot tell: {method.cannot[:1].lower()}{method.cannot[1:]}"


def _terms(run: RunSpec) -> str:
    """Say which terms are compared."""
    if not run.terms:
        return f"Compared are {sum(map(len, TERMS.values()))} terms of its paper."
    said = [f"{category}: {', '.join(terms)}" for category, terms in run.terms.items()]
    return f"Compared are your terms. {'; '.join(said)}."


def _is_narrowed(state: WizardState, name: str) -> bool:
    choice = state.choice(name)
    return bool(choice.limits or choice.step)


def _named(state: WizardState, role: Role) -> list[str]:
    return [name for name in state.attribute_names() if state.attribute(name).role is role]


def _narrowed(attribute: Attribute) -> str:
    if attribute.values:
        values = listed(attribute.values[:_MOST_VALUES])
        rest = len(attribute.values) - _MOST_VALUES
        more = f" and {number(rest)} more" if rest > 0 else ""
        return f"{quoted(attribute.name)} to {values}{more}"
    low, high = attribute.text(attribute.low), attribute.text(attribute.high)
    step = f" in steps of {attribute.step:g}" if attribute.step else ""
    return f"{quoted(attribute.name)} to {low}–{high}{step}"
