"""A found pair: its fields, declared once.

The columns of the audit file, the exports and the tables of pairs are made of this declaration,
each value written by its kind. What a method yields in `Found` becomes a field by an entry here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.store.records import Count
from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Found

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Mark = Literal["", "flagged", "dismissed"]
Codes = TypeVar("Codes")

#: What a value is, and so how it is written. A decision is the position of a class; a score is that
#: of the favourable class; attributes are one truth for each protected attribute, in the audit file
#: as the bits of a whole number; a truth is 0 or 1.
Kind = Literal[
    "number", "text", "mark", "decision", "score", "attributes", "distance", "share", "truth"
]


@dataclass(frozen=True, kw_only=True)
class PairField:
    """How a field of a pair is stored, exported and shown.

    Attributes
    ----------
    kind : str
        What its value is.
    column : str
        The type of its column in the audit file.
    found : callable, optional
        Return its values, ``(n,)``, of ``n`` findings and the favourable class; ``None`` where
        they are not written with the findings.
    weighed : callable, optional
        Return its values, ``(n,)``, of how plausible ``n`` pairs are; likewise.
    counted : bool
        Whether the audit file counts it when findings are weighed.
    marked : bool
        Whether the auditor writes it.
    export : str
        What it is called in findings.csv. Two fields of one name are the instance's and its
        partner's. Empty: it is not exported.
    member : str
        What it is called in findings.json, where that is another name.
    title, tip : str
        The header of its column in tables, and what that means; ``{person}``, ``{people}``,
        ``{Score}`` and ``{score}`` are put in. Without a title it has no column of its own.
    """

    kind: Kind
    column: str
    found: Callable[[Found, int], NDArray[Any]] | None = None
    weighed: Callable[[Plausibility], NDArray[Any]] | None = None
    counted: bool = False
    marked: bool = False
    export: str = ""
    member: str = ""
    title: str = ""
    tip: str = ""


class Compared(msgspec.Struct, Generic[Codes], frozen=True):
    """An instance and its partner, and what the model answered for both.

    Attributes
    ----------
    row, partner : Codes
        ``(d,)`` codes of the domain; different in protected attributes and what follows them.
    row_class, partner_class : int
        The decided classes: positions in the model card's classes.
    row_score, partner_score : float
        The model's score of the favourable class.
    plausible : int, optional
        1 where both are plausible, 0 where one is not, as in
        `fairdesk.individual.realism.pair_plausibility.Plausibility`; like all that follows ``None``
        until the pair was compared with the data.
    distance, partner_distance : float, optional
        How far the nearest row of the data is from each.
    typicality, partner_typicality : float, optional
        The share of rows held out that are no more usual than each; ``None`` also where there are
        too few rows to tell.
    nearest : int, optional
        The position of the row nearest to the instance in ``domain.people(table)``.
    """

    row: Codes
    partner: Codes
    row_class: Annotated[
        Count,
        PairField(
            kind="decision",
            column="INTEGER NOT NULL",
            found=lambda found, _: labels(found.row_scores),
            export="decision",
            title="Decision",
            tip="The decision for each of the two",
        ),
    ]
    partner_class: Annotated[
        Count,
        PairField(
            kind="decision",
            column="INTEGER NOT NULL",
            found=lambda found, _: labels(found.partner_scores),
            export="decision",
        ),
    ]
    row_score: Annotated[
        float,
        PairField(
            kind="score",
            column="REAL NOT NULL",
            found=lambda found, favourable: favourable_scores(found.row_scores, favourable),
            export="score",
            title="{Score}",
            tip="Score of the favourable class for the instance",
        ),
    ]
    partner_score: Annotated[
        float,
        PairField(
            kind="score",
            column="REAL NOT NULL",
            found=lambda found, favourable: favourable_scores(found.partner_scores, favourable),
            export="score",
            title="Counterfactual’s {score}",
            tip="Score of the favourable class for its counterfactual",
        ),
    ]
    plausible: Annotated[
        Literal[0, 1] | None,
        PairField(
            kind="truth",
            column="INTEGER",
            weighed=lambda weighed: weighed.plausible.astype(np.int64),
            export="plausible",
            title="Plausible",
            tip=(
                "Whether both instances are plausible: neither is rarer, or farther from every "
                "data row, than 95 % of the data rows held out"
            ),
        ),
    ]
    distance: Annotated[
        Share | None,
        PairField(
            kind="distance",
            column="REAL",
            weighed=lambda weighed: weighed.distance,
            export="distance",
            title="Distance to data row",
            tip=(
                "Gower distance to the nearest data row, protected attributes included: 0 is "
                "identical, 1 different in every attribute"
            ),
        ),
    ]
    partner_distance: Annotated[
        Share | None,
        PairField(
            kind="distance",
            column="REAL",
            weighed=lambda weighed: weighed.partner_distance,
            export="distance",
        ),
    ]
    typicality: Annotated[
        float | None,
        PairField(
            kind="share",
            column="REAL",
            weighed=lambda weighed: weighed.typicality,
            export="typicality",
            title="Typicality",
            tip=(
                "Typicality percentile: the share of the {people} held out that are at most as "
                "typical as the instance"
            ),
        ),
    ]
    partner_typicality: Annotated[
        float | None,
        PairField(
            kind="share",
            column="REAL",
            weighed=lambda weighed: weighed.partner_typicality,
            export="typicality",
            title="Counterfactual’s typicality",
            tip="The same of the counterfactual",
        ),
    ]
    nearest: Annotated[
        Count | None,
        PairField(kind="number", column="INTEGER", weighed=lambda weighed: weighed.nearest),
    ]


class MinimalPair(Compared[tuple[float, ...]], frozen=True):
    """A pair brought as near to a real person as it still gets different decisions."""


class Pair(Compared[NDArray[np.float64]], frozen=True):
    """One finding: an individual discriminatory instance and its partner.

    Attributes
    ----------
    id, run : int
        Of the finding and its run.
    phase : str
        Of the method.
    sufficient_alone : tuple[bool, ...]
        Per protected attribute: whether changing it alone changes the decision.
    repeats : int, optional
        How many earlier pairs of the run have the same nearest row and are as plausible: the first
        ones of each row are diverse.
    mark, note : str
        The auditor's: ``""``, ``"flagged"`` or ``"dismissed"``; any text.
    """

    id: Annotated[
        int,
        PairField(
            kind="number",
            column="INTEGER PRIMARY KEY",
            export="pair",
            member="id",
            title="No.",
            tip="Pairs of all runs are numbered in the order found",
        ),
    ]
    run: Annotated[int, PairField(kind="number", column="INTEGER NOT NULL", export="run")]
    phase: Annotated[str, PairField(kind="text", column="TEXT NOT NULL", export="phase")]
    sufficient_alone: Annotated[
        tuple[bool, ...],
        PairField(
            kind="attributes",
            column="INTEGER NOT NULL",
            found=lambda found, _: (
                found.sufficient_alone @ (1 << np.arange(found.sufficient_alone.shape[1]))
            ),
            export="enough alone",
            member="enough_alone",
        ),
    ]
    repeats: Annotated[Count | None, PairField(kind="number", column="INTEGER", counted=True)]
    mark: Annotated[
        Mark,
        PairField(
            kind="mark",
            column="TEXT NOT NULL DEFAULT ''",
            marked=True,
            export="review status",
            member="review_status",
            title="Mark",
            tip="⚑ flagged, ✕ dismissed, ✎ has a note",
        ),
    ]
    note: Annotated[
        str, PairField(kind="text", column="TEXT NOT NULL DEFAULT ''", marked=True, export="note")
    ]

    def brought(self, minimal: MinimalPair) -> "Pair":
        """Return this pair with the instances that it was brought to."""
        nearer = msgspec.structs.asdict(minimal)
        codes = {name: np.array(nearer[name]) for name in ("row", "partner")}
        return msgspec.structs.replace(self, **nearer | codes)


def _declared() -> dict[str, PairField]:
    return {
        name: each
        for name, hint in get_type_hints(Pair, include_extras=True).items()
        for each in getattr(hint, "__metadata__", ())
        if isinstance(each, PairField)
    }


_ALL = _declared()
#: The fields by when they are written: with the findings, when these are weighed, by the auditor.
FOUND = {name: field for name, field in _ALL.items() if field.found}
WEIGHED = {name: field for name, field in _ALL.items() if field.weighed or field.counted}
MARKED = {name: field for name, field in _ALL.items() if field.marked}
#: Whose a finding is.
FIRST = {name: field for name, field in _ALL.items() if name not in FOUND | WEIGHED | MARKED}
#: All but the codes, in the order of the file's columns.
FIELDS = FIRST | FOUND | WEIGHED | MARKED


def found_values(found: Found, favourable: int) -> dict[str, NDArray[Any]]:
    """Return what is written with findings, ``(n,)`` for each of `FOUND`."""
    return {name: each.found(found, favourable) for name, each in _ALL.items() if each.found}


def weighed_values(weighed: Plausibility) -> dict[str, NDArray[Any]]:
    """Return what is written when pairs are weighed and is not counted: ``(n,)`` for each."""
    return {name: each.weighed(weighed) for name, each in _ALL.items() if each.weighed}


def minimal_pair(found: Found, weighed: Plausibility, favourable: int) -> MinimalPair:
    """Return what a pair was brought to: the only one of ``found``, and how plausible it is."""
    values = found_values(found, favourable) | weighed_values(weighed)
    document = {name: each[0].item() for name, each in values.items()}
    codes = {"row": found.rows[0].tolist(), "partner": found.partners[0].tolist()}
    return msgspec.convert(document | codes, MinimalPair)


def sides(name: str) -> tuple[str, ...]:
    """Return the fields of one exported name: the instance's own, and its partner's."""
    export = FIELDS[name].export
    return tuple(each for each, field in FIELDS.items() if field.export == export)


def of_kind(kind: Kind) -> tuple[str, ...]:
    """Return the names of the fields of a kind."""
    return tuple(name for name, field in FIELDS.items() if field.kind == kind)


def orderable(name: str) -> bool:
    """Return whether pairs can be ordered by a field: by those that are shown, but decisions."""
    return bool(FIELDS[name].title) and FIELDS[name].kind != "decision"
