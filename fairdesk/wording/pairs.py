"""How the fields of a found pair are written, each by its kind; how many pairs are plausible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from typing import Any

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.plausibility import PlausibleShare
from fairdesk.audit.store.pair import FOUND, Compared, Kind, Pair, PairField, sides
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.models.decisions.rule import score_name
from fairdesk.population.plausible import LEAST_ROWS, MOST_ATTRIBUTES, RAREST
from fairdesk.wording import words
from fairdesk.wording.language import Statement, say

#: Instead of what is not known yet.
UNKNOWN = "–"
#: A score that is less apart from the decision threshold is next to it.
NARROW = 0.01


def distance_text(distance: float | None) -> str:
    """Write how far the nearest real person is; only who is the same is at 0."""
    if distance is None:
        return UNKNOWN
    return "<0.01" if 0 < distance < 0.005 else f"{distance:.2f}"


def typicality_text(typicality: float | None) -> str:
    """Write how usual an instance is, as a share of the rows held out."""
    if typicality is None:
        return UNKNOWN
    whole = words.percent(typicality, 1, 0)
    return whole.replace("below ", "<").replace("above ", ">")


def usual(typicality: float, many: str) -> str:
    """Say how usual an instance is among the ``many`` held out."""
    if not typicality:
        return f"Less typical than all {many} in the data."
    share = words.percent(typicality, 1, 0)
    if share.startswith("below "):
        return f"Less typical than nearly all {many} in the data."
    return f"At least as typical as {share} of the {many} in the data."


def plausible_text(pair: Compared[Any]) -> str:
    """Say whether a pair that was compared with the data is plausible, and else why not."""
    if pair.plausible:
        usual = "" if pair.typicality is None else "about as usual as data rows and "
        return f"Plausible: both instances are {usual}as near to the data as data rows are."
    rare = [
        what
        for what, typicality in (
            ("the instance", pair.typicality),
            ("its counterfactual", pair.partner_typicality),
        )
        if typicality is not None and typicality <= RAREST
    ]
    share = words.percent(1 - RAREST, 1, 0)
    if not rare:
        return f"Not plausible: farther from every data row than {share} of the data rows."
    verb = "is" if len(rare) == 1 else "are"
    return f"Not plausible: {' and '.join(rare)} {verb} rarer than {share} of the data rows."


def writers(spec: AuditSpec, decision: Callable[[int], str]) -> dict[Kind, Callable[[Any], str]]:
    """Return what writes a value of each kind; a decision is written by ``decision``."""
    protected = words.protected_names(spec.domain)
    return {
        "number": words.number,
        "text": str,
        "mark": str,
        "decision": decision,
        "score": lambda score: words.score(spec, score),
        "attributes": lambda truths: ", ".join(compress(protected, truths)),
        "distance": distance_text,
        "share": typicality_text,
        "truth": lambda truth: UNKNOWN if truth is None else ("yes" if truth else "no"),
    }


def entitled(spec: AuditSpec, text: str) -> str:
    """Return a field's title or tip with the auditor's words and the name of the score in it."""
    score = score_name(spec.model)
    return text.format(
        person=spec.person, people=words.plural(spec.person), Score=score, score=score.lower()
    )


def outcomes(
    spec: AuditSpec, pair: Pair, decision: Callable[[int], str]
) -> Iterator[tuple[PairField, str, str]]:
    """Yield what the model answered for both of a pair, with the two values written."""
    write = writers(spec, decision)
    for name, field in FOUND.items():
        both = sides(name)
        if field.title and len(both) > 1 and name == both[0]:
            one, other = (write[field.kind](getattr(pair, each)) for each in both)
            yield field, one, other


def plausible_pairs(share: PlausibleShare) -> Statement:
    """Make the statement of which share of the pairs is plausible."""
    part = words.percent(share.plausible, share.compared)
    reference = share.reference
    values = {
        "plausible": words.number(share.plausible),
        "n": words.number(share.compared),
        "share": part,
    }
    told = (
        say(
            "{plausible} of {n} compared pairs look realistic ({share}): both instances are as "
            "near to the data as 95\u00a0% of data rows. How typical they are "
            "was not estimated: that takes at least {rows} data rows, and at most {attributes} "
            "attributes.",
            rows=words.number(LEAST_ROWS),
            attributes=words.number(MOST_ATTRIBUTES),
            **values,
        )
        if reference.by_distance
        else say(
            "{plausible} of {n} compared pairs look realistic ({share}): both instances are as "
            "ordinary as 95\u00a0% of data rows.",
            **values,
        )
    )
    return Statement("example", "plausible pairs", part, told)


def held_out_sentence(reference: Reference) -> str:
    """Say how many data rows held out are plausible, and how many instances drawn uniformly."""
    values = {"held_out": words.shown_percent(reference.held_out, 1)}
    if reference.uniform is not None:
        values["uniform"] = words.shown_percent(reference.uniform, 1)
        return say(
            "Of data rows held out for this check, {held_out} are plausible; of instances drawn "
            "uniformly from the input domain, {uniform}.",
            **values,
        )
    return say("Of data rows held out for this check, {held_out} are plausible.", **values)


def naturalness_sentence(share: PlausibleShare) -> str:
    """Say how alike the instances shown first are to the data as a set, and what there can be."""
    values = {
        "atn": words.number(100 * share.atn, 1),
        "rows": words.number(100 * share.atn_rows, 1),
    }
    if share.atn_changing is not None:
        values["changing"] = words.number(100 * share.atn_changing, 1)
        return say(
            "Average trueness of naturalness (ATN; 100: distributed as the data are) of the "
            "instances shown first: {atn}; of data rows drawn at random: {rows}; of data rows "
            "whose decision changes: {changing}.",
            **values,
        )
    return say(
        "Average trueness of naturalness (ATN; 100: distributed as the data are) of the instances "
        "shown first: {atn}; of data rows drawn at random: {rows}.",
        **values,
    )


def plausible_in_short(share: PlausibleShare) -> str:
    """Write how many pairs of a run are plausible in a line, for below its table."""
    plausible, n = words.number(share.plausible), words.number(share.compared)
    if share.plausible == share.compared:
        return say("Plausible: all {n} compared pairs.", n=n)
    return say("Plausible: {plausible} of {n} compared pairs.", plausible=plausible, n=n)
