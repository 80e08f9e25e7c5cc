"""The pages of the figures and of the limits, made of the texts of the report."""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.manual.reference.markup import plain
from fairdesk.report.content.passages import passages

SUBJECTS = {
    "people": "Individuals, pairs and shares",
    "plausibility": "Plausible pairs",
    "groups": "Groups",
    "comparisons": "Comparisons of groups",
    "errors": "Error rates",
    "rules": "Subgroups",
    "terms": "Identity terms",
    "mitigation": "Mitigation",
    "reweighing": "Reweighing",
}
LIMITS = {
    "searches": "Searches",
    "rules": "Subgroup discovery",
    "terms": "Identity terms",
    "rates": "Group metrics",
    "proofs": "Certification",
    "mitigation": "Mitigation",
    "protected": "Protected attributes",
    "all": "Every audit",
}
#: What the texts of the limits leave open for the auditor's own words.
NEUTRAL = {"people": "individuals", "person": "individual", "where": ""}


def figures(draw: Callable[[str, str], str]) -> str:
    """Return a section for each subject.

    Parameters
    ----------
    draw : callable
        Draws a formula, given its key and what it says in words.
    """
    parts: list[str] = []
    places: set[str] = set()
    for subject, title in SUBJECTS.items():
        parts.append(f"## {title}\n")
        for each in passages("definitions")[subject]:
            if each.formula:
                # one formula may be of two subjects
                place = f"{each.formula}-{subject}" if each.formula in places else each.formula
                places.add(place)
                parts += [
                    f"### {each.name} {{ #{place} }}\n",
                    f"{draw(each.formula, each.alt)}\n",
                    f"In words: {plain(each.alt)}.\n",
                ]
            elif each.lead:
                parts.append(f"### {each.lead.rstrip('.')}\n")
            parts.append(f"{plain(each.text)}\n")
    return "\n".join(parts)


def limits() -> str:
    """Return what an audit cannot show, by what it contains."""
    parts = []
    for subject, title in LIMITS.items():
        parts.append(f"## {title}\n")
        for each in passages("limits")[subject]:
            lead, text = (part.format(**NEUTRAL) for part in (each.lead, each.text))
            parts.append(f"**{plain(lead)}** {plain(text)}\n")
    return "\n".join(parts)
