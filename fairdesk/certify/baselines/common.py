"""What the published methods share here: a network over its space, and what is proven in sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.layout import network_over
from fairdesk.certify.proof.certificate import share_down
from fairdesk.certify.results import Course, of_points
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import Layers, OpaqueError, structure_of
from fairdesk.results.events import Event, Measured, Progress, Rows
from fairdesk.results.proofs import Proven

#: Figures are told so often, in seconds.
_REPORT_SECONDS = 0.25


def network_of(context: SearchContext, people: Rows, method: str) -> Encoded:
    """Write the model under audit over the space of its domain.

    Parameters
    ----------
    context : SearchContext
        Its model is a `FedModel`.
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.
    method : str
        What the method is called.

    Raises
    ------
    SpecError
        When the model is no network of dense layers, or mixes attributes before it decides.
    """
    fed = cast("FedModel", context.cached_model.model)
    remedy = (
        "Choose “Certification”, which supports other models too, or use a random-sample estimate."
    )
    try:
        anatomy = structure_of(fed.opened)
    except OpaqueError as error:
        raise SpecError(
            f"{method} cannot use this model, because its internal structure is not "
            f"available: {error}.",
            why="It needs the weights of dense layers.",
            remedy=remedy,
        ) from error
    if not isinstance(anatomy.body, Layers):
        raise SpecError(
            f"{method} supports networks of dense layers only, and this model is made of trees.",
            remedy=remedy,
        )
    return network_over(context.domain, people, anatomy, fed)


class Tally:
    """Adds up what is proven of boxes that share no point.

    Parameters
    ----------
    domain : Domain
        Of the audit.
    total : int
        How many points all boxes could have together.

    Attributes
    ----------
    boxes : int
        How many were looked at; counted by whoever looks.
    seconds : float
        How long that took.
    margin : float
        As of `fairdesk.results.proofs.Proven`.
    """

    def __init__(self, domain: Domain, total: int) -> None:
        self.boxes, self.seconds, self.margin = 0, 0.0, 0.0
        self._total = total
        self._consistent = self._discriminatory = 0
        self._course = Course()
        self._names = tuple(domain.names[i] for i in domain.protected)

    @property
    def decided(self) -> float:
        """The share of the domain that is proven so or so, about."""
        return (self._consistent + self._discriminatory) / max(self._total, 1)

    def add(self, points: int, *, discriminatory: bool) -> None:
        """Count the points of boxes that are consistent, or discriminatory, as a whole."""
        if discriminatory:
            self._discriminatory += points
        else:
            self._consistent += points

    def figure(self, notes: Sequence[str] = ()) -> Proven:
        """Return what is proven of the domain."""
        proven = (self._total, self._consistent, self._discriminatory)
        certified, falsified = (share_down(each, self._total) for each in proven[1:])
        self._course.add(self.seconds, certified, falsified)
        return of_points(
            *(self._names, *proven),
            boxes=self.boxes,
            seconds=self.seconds,
            margin=self.margin,
            course=self._course,
            notes=notes,
        )


class Proving(Protocol):
    """A method at work: what it has proven, told often."""

    tally: Tally

    def progress(self) -> Progress:
        """Return how far it is."""

    def figure(self) -> Proven:
        """Return what is proven so far."""


def reported(phase: str, proving: Proving, turns: Iterator[Event | None]) -> Iterator[Event]:
    """Yield what comes of each turn of a method, how far it is, and now and then its figures."""
    last = -_REPORT_SECONDS
    for event in turns:
        if event is not None:
            yield event
        if proving.tally.seconds - last >= _REPORT_SECONDS:
            last = proving.tally.seconds
            yield Measured(phase, (proving.figure(),))
        yield proving.progress()
    yield Measured(phase, (proving.figure(),))
    yield proving.progress()


def compared_in(encoded: Encoded) -> list[NDArray[np.intp]]:
    """Return for each group the members (`Space.members`) that the model can distinguish.

    One stands for all that are the same to the model. None where there is no comparison.
    """
    columns = encoded.columns
    reach = (encoded.layers[0].weights[columns.combined] != 0).any(axis=1)
    _, which = np.unique(columns.combinations[:, reach], axis=0, return_inverse=True)
    compared = []
    for allowed in encoded.space.members:
        members = np.flatnonzero(allowed) if allowed.sum() > 1 else np.empty(0, dtype=np.intp)
        _, first = np.unique(which.ravel()[members], return_index=True)
        compared.append(members[np.sort(first)])
    return compared
