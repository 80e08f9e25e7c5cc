"""Where each method is implemented: loaded when it is run, and by nobody who only lists methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, Divides, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.individual.engine.division import Counting, Merging, Queried, Setting, counted_apart
from fairdesk.models.model import Capability
from fairdesk.results.events import Event, Rows, ShardRange, timed

#: ``search(context, people, options, rng)``: ``people`` are ``(n, d)`` rows of the data in the
#: domain's codes, the options are of the method's own class, and all randomness is ``rng``'s: the
#: same generator gives the same events, `Progress` several times a second among them. One about
#: groups works with a `fairdesk.groups.context.GroupContext` instead of a `SearchContext`, a repair
#: with a `fairdesk.mitigate.context.MitigationContext`.
Search = Callable[[Any, Rows, Any, np.random.Generator], Iterator[Event]]


class Implementation(NamedTuple):
    """The generator of a method's events.

    Attributes
    ----------
    module, function : str
        Where it is.
    loops : tuple[str, ...]
        Modules of compiled loops that it needs, beside those of `loops_of` that others need too.
    layers, trees : tuple[str, ...]
        The same for models of dense layers, and of trees: to compile those for layers takes a
        minute or two, once.
    """

    module: str
    function: str = "search"
    loops: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


#: Loops that bound boxes and count people in them, those for dense layers, and those for trees.
_BOXES = (
    "fairdesk.certify.domain.box_kernels",
    "fairdesk.certify.domain.population_kernels",
    "fairdesk.certify.domain.density_kernels",
)
_OF_LAYERS = (
    "fairdesk.certify.bounds.dense.examining",
    "fairdesk.certify.counting.exhaustive_kernels",
)
_OF_TREES = ("fairdesk.certify.bounds.forest_kernels",)


#: By the methods' keys.
IMPLEMENTATIONS: dict[str, Implementation] = {
    "quick": Implementation("fairdesk.individual.searches.quick"),
    "maft": Implementation("fairdesk.individual.searches.maft"),
    "eidig": Implementation("fairdesk.individual.searches.eidig"),
    "adf": Implementation("fairdesk.individual.searches.adf"),
    "aequitas-random": Implementation("fairdesk.individual.searches.aequitas", "random"),
    "aequitas-semi": Implementation("fairdesk.individual.searches.aequitas", "semi_directed"),
    "aequitas-full": Implementation("fairdesk.individual.searches.aequitas", "fully_directed"),
    "sg": Implementation("fairdesk.individual.searches.symbolic"),
    "uniform": Implementation("fairdesk.individual.searches.uniform"),
    "enumerate": Implementation("fairdesk.individual.shares.enumeration"),
    "estimate": Implementation("fairdesk.individual.shares.estimate"),
    "repeats": Implementation("fairdesk.individual.shares.repeats"),
    "themis": Implementation("fairdesk.individual.shares.themis"),
    "certify": Implementation(
        "fairdesk.certify.certify", loops=_BOXES, layers=_OF_LAYERS, trees=_OF_TREES
    ),
    "neighbourhoods": Implementation(
        "fairdesk.certify.neighbourhoods.search", layers=_OF_LAYERS, trees=_OF_TREES
    ),
    "fairquant": Implementation(
        "fairdesk.certify.baselines.fairquant",
        loops=("fairdesk.certify.baselines.fairquant_kernels",),
    ),
    "fairify": Implementation("fairdesk.certify.baselines.fairify"),
    "diagnose": Implementation("fairdesk.individual.searches.diagnostic"),
    "testsgd": Implementation("fairdesk.groups.testsgd"),
    "groups": Implementation("fairdesk.groups.metrics.measuring"),
    "themis-groups": Implementation("fairdesk.groups.baselines.themis_groups"),
    "fairfictplay": Implementation("fairdesk.groups.baselines.fairfictplay"),
    "repair-aequitas": Implementation("fairdesk.mitigate.methods.repairs", "aequitas"),
    "repair-testsgd": Implementation("fairdesk.mitigate.methods.repairs", "testsgd"),
}


#: Compiled loops that all runs which query a model need, those about individuals, and those that
#: stay near the data.
_FILLING = "fairdesk.models.inputs.filling"
_SHARED, _NEAR = "fairdesk.individual.engine.kernels", "fairdesk.population.row_kernels"
#: What networks are read into, and the loops that compute them.
_NETWORK, _FORWARD = "fairdesk.models.dense.layers", "fairdesk.models.dense.forward"


def loops_of(
    method: str, *, can: Collection[Capability] = tuple(Capability), near: bool = False
) -> tuple[str, ...]:
    """Return the modules of compiled loops that a run in this process needs.

    Parameters
    ----------
    method : str
        A key of `IMPLEMENTATIONS`.
    can : collection of Capability
        What the open model can: what is for models of another kind is left out.
    near : bool
        Whether only instances near the data are tested.
    """
    answers = method_named(method).answers
    wanted = {
        _FILLING: answers is not QuestionKind.RATES,
        _FORWARD: _NETWORK in sys.modules,
        _SHARED: answers not in ABOUT_GROUPS,
        _NEAR: near,
    }
    made = IMPLEMENTATIONS[method]
    layers = made.layers if Capability.LAYERS in can else ()
    trees = made.trees if Capability.TREES in can else ()
    return (*(each for each in wanted if wanted[each]), *made.loops, *layers, *trees)


def is_compiled(loops: Iterable[str], kept: Path) -> bool:
    """Return whether loops need not be compiled: they are loaded, or in a folder."""
    return all(
        module in sys.modules or any((kept / package).glob(f"{name}.*.nbi"))
        for module in loops
        for package, _, name in (module.rpartition("."),)
    )


def load_part(method: str, part: ShardRange) -> Search:
    """Import a method, and return what runs a part of it: it is called as a search.

    What counts units yields `fairdesk.results.events.Tallied` instead of figures.
    """
    if method_named(method).division.by is Divides.REGIONS:
        divide = import_module("fairdesk.certify.parts").divide
        return cast(Search, partial(divide, part=part))
    module = import_module(IMPLEMENTATIONS[method].module)

    def search(
        context: Queried, people: Rows, options: msgspec.Struct, rng: np.random.Generator
    ) -> Iterator[Event]:
        counting: Counting = module.counting(context, people, options, rng)
        return counted_apart(timed(counting(part)), context)

    return search


def load_merging(
    method: str, setting: Setting, options: msgspec.Struct, rng: np.random.Generator
) -> Merging:
    """Import a method that counts units, and return what adds up what was counted.

    ``setting`` is what the search is given as its context, without the model; ``rng`` begins as the
    search's does.
    """
    module = import_module(IMPLEMENTATIONS[method].module)
    return cast(Merging, module.merging(setting, options, rng))


def load(method: str) -> Search:
    """Import a method, and return its search."""
    implementation = IMPLEMENTATIONS[method]
    return cast(Search, getattr(import_module(implementation.module), implementation.function))
