"""How the fields of a found pair are written: each value by its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from typing import Any

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import FIELDS, Kind, Pair, PairField, sides
from fairdesk.models.decisions.rule import score_name
from fairdesk.wording import words

#: Instead of what is not known yet.
UNKNOWN = "–"


def distance_text(distance: float | None) -> str:
    """Write how far the nearest real person is; only who is the same is at 0."""
    if distance is None:
        return UNKNOWN
    return "<0.01" if 0 < distance < 0.005 else f"{distance:.2f}"


def plausibility_text(plausibility: float | None) -> str:
    """Write how usual somebody is, as a share of the real people."""
    if plausibility is None:
        return UNKNOWN
    whole = words.percent(plausibility, 1, 0)
    return whole.replace("below ", "<").replace("above ", ">")


def writers(spec: AuditSpec, decision: Callable[[int], str]) -> dict[Kind, Callable[[Any], str]]:
    """Return what writes a value of each kind; a decision is written by ``decision``."""
    protected = words.protected_names(spec.domain)
    return {
        "number": str,
        "text": str,
        "mark": str,
        "decision": decision,
        "score": lambda score: words.score(spec, score),
        "attributes": lambda truths: ", ".join(compress(protected, truths)),
        "distance": distance_text,
        "share": plausibility_text,
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
    """Yield what there is of both of a pair and has a title, with the two values written."""
    write = writers(spec, decision)
    for name, field in FIELDS.items():
        both = sides(name)
        if field.title and len(both) > 1 and name == both[0]:
            one, other = (write[field.kind](getattr(pair, each)) for each in both)
            yield field, one, other
