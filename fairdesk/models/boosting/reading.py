"""What a reader of boosted trees makes of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdesk.models.boosting.ensemble import Ensemble, Linear


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says.

    Attributes
    ----------
    body : Ensemble or Linear
        What it computes.
    scores : str
        As in `ModelCard`.
    classes : tuple[str, ...]
        As in `ModelCard`.
    names : tuple[str, ...]
        The inputs' names; empty where the file has none of its own.
    codes : dict[int, dict[str, float]]
        Of inputs that take categories: the number of each.
    saved_with : str
        The library and its version.
    summary : str
        What is inside, without its inputs and classes: ``"120 trees"``.
    notes : tuple[str, ...]
        What the auditor must know, a sentence each.
    """

    body: Ensemble | Linear
    scores: str
    classes: tuple[str, ...]
    names: tuple[str, ...]
    saved_with: str
    summary: str
    codes: dict[int, dict[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class UnsupportedError(Exception):
    """A sound file holds a kind of model that is not read; the message says which in a clause."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


def unstated_categories(places: list[int], names: tuple[str, ...]) -> list[str]:
    """Return the inputs whose categories have numbers that the file does not state."""
    if not places:
        return []
    shown = ", ".join(f"“{names[i]}”" if names else f"input {i + 1}" for i in places[:6])
    more = f" and {len(places) - 6:,} more" if len(places) > 6 else ""
    note = (
        f"Categories are numbers in {shown}{more}, and the file does not say which is which: add "
        "one with the codes, {“column”: {“value”: 0, …}}."
    )
    return [note]
