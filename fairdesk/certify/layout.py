"""A domain laid out for a model: its space, and who examines its boxes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairdesk.certify.bounds.forest import ForestExaminer, arranged
from fairdesk.certify.bounds.linear import LinearExaminer, is_linear
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.certify.counting.exhaustive import PointCounter
from fairdesk.certify.domain.constraint_partition import partitioned
from fairdesk.certify.domain.encoded import Encoded, encode
from fairdesk.certify.domain.space import Space, space_of
from fairdesk.certify.refine import Examiner
from fairdesk.data.domain.domain import Domain
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure.types import Layers, ModelStructure
from fairdesk.results.events import Rows


@dataclass(frozen=True)
class Layout:
    """A space, and the model over it.

    Attributes
    ----------
    space : Space
        Divided by the constraints.
    fed : FedModel
        The model.
    anatomy : ModelStructure
        What is inside it.
    encoded : Encoded, optional
        Of a network: its layers over the space.
    examiner : Examiner
        Who says what is proven in boxes of the space.
    unused : bool
        Whether no protected attribute reaches what decides: then everybody is consistent.
    """

    space: Space
    fed: FedModel
    anatomy: ModelStructure
    encoded: Encoded | None
    examiner: Examiner
    unused: bool

    def comparing(self, first: int, second: int) -> Layout:
        """Compare two combinations of protected values only, by their places."""
        only = np.zeros(self.space.may_be.shape[1], dtype=np.bool_)
        only[[first, second]] = True
        space = replace(self.space, may_be=self.space.may_be & only)
        if self.encoded is None:
            examiner: Examiner = ForestExaminer(space, self.anatomy, self.fed)
            return replace(self, space=space, examiner=examiner)
        encoded = replace(self.encoded, space=space)
        if isinstance(self.examiner, LinearExaminer):
            examiner = self.examiner.comparing(encoded)
        else:
            examiner = _of_layers(encoded, self.fed)
        return replace(self, space=space, encoded=encoded, examiner=examiner)


def lay_out(domain: Domain, people: Rows, anatomy: ModelStructure, fed: FedModel) -> Layout:
    """Lay a domain out.

    Parameters
    ----------
    domain : Domain
        Who may be asked about.
    people : Rows
        ``(n, d)``; the data's rows in it.
    anatomy : ModelStructure
        Of ``fed.opened``.
    fed : FedModel
        The model.

    Raises
    ------
    SpecError
        When the model mixes attributes before it decides, or is given what is no number.
    """
    encoded = None
    examiner: Examiner
    if isinstance(anatomy.body, Layers):
        encoded = network_over(domain, people, anatomy, fed)
        space, columns = encoded.space, encoded.columns
        examiner = _of_layers(encoded, fed)
    else:
        real, _ = domain.admit(people)
        space = partitioned(arranged(space_of(domain, real), anatomy, fed))
        forest = ForestExaminer(space, anatomy, fed)
        columns, examiner = forest.columns, forest
    unused = bool((columns.combinations == columns.combinations[:1]).all())
    if unused:
        # one of those who may be stands for all of them
        first = space.may_be & (np.cumsum(space.may_be, axis=1) == 1)
        space = replace(space, may_be=first)
    return Layout(space, fed, anatomy, encoded, examiner, unused)


def network_over(domain: Domain, people: Rows, anatomy: ModelStructure, fed: FedModel) -> Encoded:
    """Write a network over the space of a domain, divided by its constraints.

    Parameters
    ----------
    domain, people, anatomy, fed
        As of `lay_out`; the body are `Layers`.

    Raises
    ------
    SpecError
        As `lay_out`.
    """
    real, _ = domain.admit(people)
    encoded = encode(space_of(domain, real), anatomy, fed)
    return replace(encoded, space=partitioned(encoded.space))


def _of_layers(encoded: Encoded, fed: FedModel) -> Examiner:
    """Return who examines boxes for dense layers: one alone can be counted outright."""
    return LinearExaminer(encoded, fed) if is_linear(encoded) else NetworkExaminer(encoded, fed)


def everyone_for(layout: Layout) -> PointCounter:
    """Return who counts the people of a domain that was laid out."""
    encoded = layout.encoded
    return PointCounter(layout.space, layout.fed, None if encoded is None else encoded.columns)
