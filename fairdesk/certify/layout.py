"""A domain laid out for a model: its space, and who examines its boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from fairdesk.certify.bounds.forest import ForestExaminer, arranged
from fairdesk.certify.bounds.forest_encoding import encode_forest
from fairdesk.certify.bounds.linear import LinearExaminer, is_linear
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.certify.bounds.rates import CountedRates, ForestRates, LinearRates, NetworkRates
from fairdesk.certify.counting.exhaustive import PointCounter, QueriedExaminer
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.encoded import Encoded, encode
from fairdesk.certify.domain.population import Population, fitted
from fairdesk.certify.domain.space import Space, space_of
from fairdesk.certify.rates import MOST_COMBINATIONS, MOST_RATED, RateExaminer
from fairdesk.certify.refine import Examiner, First, Steps, at_once
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Mapping
from fairdesk.models.structure import Layers, ModelStructure, structure_of
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
    anatomy : ModelStructure, optional
        What is inside it; ``None`` where that is not known, and it is only queried.
    encoded : Encoded, optional
        Of a network: its layers over the space.
    examiner : Examiner
        Who says what is proven in boxes of the space.
    unused : bool
        Whether no protected attribute reaches what decides: then everybody is consistent.
    """

    space: Space
    fed: FedModel
    anatomy: ModelStructure | None
    encoded: Encoded | None
    examiner: Examiner
    unused: bool

    @property
    def concentrates(self) -> bool:
        """Whether it pays to halve boxes where their people are, and to count the dense ones.

        Not of trees: their boxes end at the thresholds, and a cut elsewhere decides nothing.
        """
        return not isinstance(self.examiner, ForestExaminer)

    def comparing(self, first: int, second: int) -> Layout:
        """Compare two combinations of protected values only, by their places."""
        only = np.zeros(self.space.may_be.shape[1], dtype=np.bool_)
        only[[first, second]] = True
        space = replace(self.space, may_be=self.space.may_be & only, people=None)
        examiner: Examiner
        if isinstance(self.examiner, ForestExaminer):
            trees = self.examiner.encoded.comparing(space.members)
            examiner = ForestExaminer(space, trees, self.fed)
            return replace(self, space=space, examiner=examiner)
        if self.encoded is None:
            return replace(self, space=space)
        encoded = replace(self.encoded, space=space)
        if isinstance(self.examiner, LinearExaminer):
            examiner = self.examiner.comparing(encoded)
        else:
            examiner = _of_layers(encoded, self.fed)
        return replace(self, space=space, encoded=encoded, examiner=examiner)


def lay_out_in_steps(
    domain: Domain,
    people: Rows,
    anatomy: ModelStructure,
    fed: FedModel,
    *,
    weighed: bool = False,
    first: First = "combinations",
    ascending: bool = False,
) -> Steps[Layout]:
    """Lay a domain out, step by step: of a forest of millions of nodes it takes many seconds.

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
    weighed : bool
        Whether a population is fitted to the data's rows, under which boxes have masses.
    first : str
        As of `fairdesk.certify.refine.Refinery`.
    ascending : bool
        Whether the numbers of the space ascend along their axes.

    Raises
    ------
    SpecError
        When the model mixes attributes before it decides, or is given what is no number.
    """
    encoded = None
    examiner: Examiner
    if isinstance(anatomy.body, Layers):
        encoded = network_over(domain, people, anatomy, fed, ascending=ascending)
        yield
        if weighed:
            encoded = replace(encoded, space=_peopled(encoded.space, people))
            yield
        space, columns = encoded.space, encoded.columns
        examiner = _of_layers(encoded, fed, by_mass=first == "people")
    else:
        real, _ = domain.admit(people)
        space = partitioned((yield from arranged(space_of(domain, real), anatomy, fed)))
        yield
        if weighed:
            space = _peopled(space, people)
            yield
        trees = yield from encode_forest(space, anatomy, fed)
        columns, examiner = trees.columns, ForestExaminer(space, trees, fed)
    unused = bool((columns.combinations == columns.combinations[:1]).all())
    if unused:
        space = replace(space, alike=True)
    return Layout(space, fed, anatomy, encoded, examiner, unused)


lay_out = at_once(lay_out_in_steps)


@dataclass(frozen=True)
class _Kept:
    """A layout, and what it is of."""

    of: tuple[Domain, Mapping, str]
    people: Rows
    layout: Layout
    margin: float


def laid_out(
    context: SearchContext, people: Rows, first: First, over: Callable[[], bool]
) -> Iterator[Layout | None]:
    """Lay out what a search works with, weighed by the population, unless an earlier part has.

    Parameters
    ----------
    context, people
        As of `fairdesk.certify.certify.search`.
    first : str
        As of `lay_out`.
    over : callable
        Tells between steps whether there is no time for more.

    Yields
    ------
    Layout, optional
        ``None`` between steps, and the layout at the end, unless there was no time for it.

    Raises
    ------
    OpaqueError
        When the model cannot be looked into.
    SpecError
        As `lay_out`.
    """
    fed = cast("FedModel", context.cached_model.model)
    of = context.domain, fed.mapping, first
    kept = context.kept.get("layout")
    if isinstance(kept, _Kept) and kept.of == of and np.array_equal(kept.people, people):
        kept.layout.examiner.margin = kept.margin
        yield kept.layout
        return
    anatomy = structure_of(fed.opened)
    steps = lay_out_in_steps(context.domain, people, anatomy, fed, weighed=True, first=first)
    while not over():
        try:
            next(steps)
        except StopIteration as end:
            layout: Layout = end.value
            context.kept["layout"] = _Kept(of, people, layout, layout.examiner.margin)
            yield layout
            return
        yield None


def lay_out_queried(domain: Domain, people: Rows, fed: FedModel) -> Layout | None:
    """Lay a domain out for a model that can only be queried; ``None`` without data in it.

    Parameters
    ----------
    domain, people, fed
        As of `lay_out`.

    Raises
    ------
    SpecError
        When there are more combinations than can be counted.
    """
    real, _ = domain.admit(people)
    if not len(real):
        return None
    space = _peopled(partitioned(space_of(domain, real)), people)
    return Layout(space, fed, None, None, QueriedExaminer(), unused=False)


def network_over(
    domain: Domain, people: Rows, anatomy: ModelStructure, fed: FedModel, *, ascending: bool = False
) -> Encoded:
    """Write a network over the space of a domain, divided by its constraints.

    Parameters
    ----------
    domain, people, anatomy, fed, ascending
        As of `lay_out`; the body are `Layers`.

    Raises
    ------
    SpecError
        As `lay_out`.
    """
    real, _ = domain.admit(people)
    encoded = encode(space_of(domain, real), anatomy, fed, ascending=ascending)
    return replace(encoded, space=partitioned(encoded.space))


def _peopled(space: Space, people: Rows) -> Space:
    """Fit a population to the data's rows; without rows there is none."""
    real, _ = space.domain.admit(people)
    of = fitted(space, real)
    return space if of is None else replace(space, people=Population.over(space, of))


def _of_layers(encoded: Encoded, fed: FedModel, *, by_mass: bool = False) -> Examiner:
    """Return who examines boxes for dense layers: one alone can be counted outright."""
    if is_linear(encoded):
        return LinearExaminer(encoded, fed)
    return NetworkExaminer(encoded, fed, by_mass=by_mass)


def rates_for(layout: Layout) -> RateExaminer | None:
    """Return who says which decisions are certain; ``None`` where no rates can be proven.

    That is where there is no population, too many combinations of protected values, or too many
    roots.
    """
    space, encoded = layout.space, layout.encoded
    combinations = len(space.domain.combinations)
    if space.people is None or combinations > MOST_COMBINATIONS:
        return None
    if combinations * len(space.low) > MOST_RATED:
        return None
    if isinstance(layout.examiner, ForestExaminer):
        return ForestRates(space, layout.examiner.encoded, layout.fed)
    if layout.anatomy is None or encoded is None:
        return CountedRates(space, layout.fed, None)
    if isinstance(layout.examiner, LinearExaminer):
        return LinearRates(layout.examiner, encoded, layout.fed)
    return CountedRates(space, layout.fed, NetworkRates(encoded, layout.fed))


def everyone_for(layout: Layout) -> PointCounter:
    """Return who counts the people of a domain that was laid out."""
    encoded = layout.encoded
    return PointCounter(layout.space, layout.fed, None if encoded is None else encoded.columns)
