"""The audit's question in sentences, from the wizard's answers. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.data.columns.rereading import counted_cells, is_undecided
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.profiling.outcomes import comparison
from fairdesk.groups.text.terms import TERMS
from fairdesk.gui.wizard.state.plans import compared_text, rows_sentence
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.wording import words
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
    return (
        ("Question", " ".join(_asked(state))),
        ("Data", " ".join(_data(state))),
        ("Model", " ".join(_model(state))),
        ("Attributes", " ".join(_people(state))),
        ("Methods", "\n".join(_methods(state))),
    )


def _asked(state: WizardState) -> Iterator[str]:
    """Give each question that the runs answer once, in their order."""
    yield from dict.fromkeys(filter(None, (_asks(state, run) for run in state.first_runs().runs)))


def _asks(state: WizardState, run: RunSpec) -> str:
    """Return the question that a run answers; empty for a mitigation."""
    protected = _named(state, Role.PROTECTED)
    groups = [*protected, *(each.name for each in state.unseen())]
    match METHODS[run.method].answers:
        case QuestionKind.REPAIR:
            return ""
        case QuestionKind.RATES:
            return (
                f"How do the recorded outcomes and the decisions of {plural(state.person)} differ "
                f"between groups by {listed(groups)}?"
            )
        case QuestionKind.GROUPS if run.text:
            return f"Does the decision for texts in “{run.text}” change with another identity term?"
        case QuestionKind.GROUPS:
            return (
                f"In which subgroups of {plural(state.person)}, defined by {listed(groups)}, do "
                "decisions differ most from all others?"
            )
    differ = quoted(protected[0]) if len(protected) == 1 else listed(protected)
    verb = "changes" if len(protected) == 1 else "change"
    return f"Does the decision change for any {state.person} when only {differ} {verb}?"


def outcome_words(state: WizardState) -> str:
    """Say what is good to get: ``“yes” is good to get``."""
    compared = comparison(state.favourable)
    if compared is not None and state.favourable not in state.label_values():
        return f"{_LIMITS[compared.sign]} {words.short(compared.number)} is favourable"
    return f"“{state.favourable}” is favourable"


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
                "are not numbers; these count as missing, because no reading was chosen for them."
            )
    good, known = state.outcome()
    yield f"The recorded outcome is {quoted(state.label)}; {outcome_words(state)}."
    yield f"{number(good)} of {number(known)} outcomes are favourable ({percent(good, known)})."
    if missing := len(table.codes) - known:
        yield f"The recorded outcome is missing in {number(missing)} rows."


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
            yield f"Its input mapping was also read from {names}."
        inputs = "Its input is" if len(card.inputs) == 1 else f"Its {len(card.inputs)} inputs are"
        yield f"{inputs} mapped to the columns {mapping.matched}."
        if len(card.outputs) > 1 and card.output:
            yield f"The decision is taken from its output “{card.output}”."
    yield from _decides(state)
    yield f"Its decision matches {quoted(state.label)} in {percent(proof.accuracy, 1)} of the rows."
    if card.environment:
        yield f"It runs in a separate environment: {card.environment}."
    if state.trusted and card.needed_trust:
        yield "The file can run code and was trusted."
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
        yield f"Its favourable decisions are {classes}."
        return
    yield f"Its favourable decision is “{good}”."
    if mapping.threshold is not None:
        second = mapping.decisions(card)[1]
        what = "estimated number" if card.scores == "values" else "score"
        where = "at least" if card.scores == "values" and not mapping.beyond else "above"
        limit = words.short(mapping.threshold)
        yield f"The decision is “{second}” where the {what} is {where} {limit}."


def confined(confinement: Confinement) -> str:
    """Say what the process that holds the model cannot do on this computer, and what it can."""
    held = [hold.what for hold in confinement.holds if hold.holds]
    free = [hold.what for hold in confinement.holds if not hold.holds]
    if not held:
        return (
            "On this computer the model process is not confined: code in the file could do "
            "anything that you are permitted to do."
        )
    sentence = f"The model process is confined; blocked or limited: {joined(held)}."
    return f"{sentence} Not blocked on this computer: {joined(free)}." if free else sentence


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
        yield f"Defines groups only, as the model does not receive {pronoun}: {listed(unseen)}."
    if not compared and not unseen:
        yield "No attribute is protected: identity terms in texts are compared."
    follows = state.determined_by()
    if vary := [name for name in _named(state, Role.VARIES) if name not in follows]:
        yield f"Variable: {words.some(vary, 6)}."
    if fixed := _named(state, Role.FIXED):
        yield f"Fixed: {listed(fixed)}."
    if unknown := [each.name for each in attributes if each.unknown]:
        yield (
            f"Missing values are a separate category, “Unknown”: {listed(unknown)}. "
            "Nothing is imputed."
        )
    if narrowed := [_narrowed(each) for each in attributes if _is_narrowed(state, each.name)]:
        yield f"Restricted: {'; '.join(narrowed)}."
    if state.constraints:
        said = "; ".join(f"“{text}”" for text in state.constraints)
        yield f"Constraints: {said}."
    examined = state.examined()
    if examined is not None:
        yield rows_sentence(examined, state.person)


def _methods(state: WizardState) -> Iterator[str]:
    """List the runs, and what is left out; of the auditor's own each has its time."""
    made = state.first_runs()
    limit = "no time limit" if state.limit is None else f"at most {duration(state.limit)}"
    kind = {PlanKind.QUICK: "Quick", PlanKind.FULL: "Full", PlanKind.CUSTOM: "Custom"}[state.kind]
    early = "" if state.limit is None else " A run that ends early leaves its time to later ones."
    yield f"{kind} audit: {limit}, random seed {state.seed}.{early}"
    for place, run in enumerate(made.runs, 1):
        seconds = run.budget.seconds
        own = seconds is not None and state.kind is PlanKind.CUSTOM
        time = f", at most {duration(seconds or 0.0)}" if own else ""
        yield " ".join((f"{place}. {METHODS[run.method].title}{time}.", *_settings(state, run)))
    yield from (f"Left out: {why}" for why in made.left_out.values())


def _settings(state: WizardState, run: RunSpec) -> Iterator[str]:
    """Say what of a run is not by default."""
    if run.plausible:
        yield "Finds plausible pairs only."
    if run.max_distance is not None:
        yield (
            f"Tests only instances within Gower distance {words.short(run.max_distance)} of a data "
            "row (0: identical; 1: different in every attribute)."
        )
    changed = state.options.get(run.method) if state.kind is PlanKind.CUSTOM else None
    if changed:
        set_to = [
            f"{name} = {value if isinstance(value, str) else words.short(value)}"
            for name, value in changed.items()
        ]
        yield f"Parameters set: {', '.join(set_to)}."
    for name, edges in run.edges.items():
        yield f"Bin boundaries of {quoted(name)}: {', '.join(words.short(edge) for edge in edges)}."
    if run.text:
        yield _terms(run)
    if METHODS[run.method].answers is QuestionKind.REPAIR:
        yield METHODS[run.method].description


def _terms(run: RunSpec) -> str:
    """Say which terms are compared."""
    if not run.terms:
        return f"The {sum(map(len, TERMS.values()))} identity terms of its paper are compared."
    said = [f"{category}: {', '.join(terms)}" for category, terms in run.terms.items()]
    return f"Your identity terms are compared. {'; '.join(said)}."


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
    step = f" in steps of {words.short(attribute.step)}" if attribute.step else ""
    return f"{quoted(attribute.name)} to {low}–{high}{step}"
