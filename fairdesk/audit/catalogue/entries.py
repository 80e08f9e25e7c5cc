"""The entries of the catalogue: each method's options, what it needs, and how it is divided."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Divides, Division, Method, QuestionKind, Repeats
from fairdesk.certify import options as proofs
from fairdesk.data.domain.domain import Domain
from fairdesk.groups import options as groups
from fairdesk.individual.searches import options as searches
from fairdesk.individual.shares import options as shares
from fairdesk.individual.shares.finite import obstacle
from fairdesk.mitigate import options as repairs
from fairdesk.models.model import Capability, Mapping, ModelCard

_FROM_ROWS = Division(Divides.ROWS, ("global_num",))
_DRAWN = Division(Divides.STREAMS, ("global_iteration_limit",))


def _no_groups(domain: Domain) -> str:
    return "" if domain.grouping else "no attribute is protected, so there are no groups to compare"


def _none_to_invent(domain: Domain) -> str:
    if domain.grouping and not domain.protected.size:
        return (
            "the model does not receive any protected attribute, so its decision cannot "
            "depend directly on one"
        )
    return _no_groups(domain)


def _unfit(options: groups.TestSgdOptions, card: ModelCard, mapping: Mapping) -> str:
    """Say why mean scores cannot be compared, where they are asked for; else empty."""
    if options.outcome != "score":
        return ""
    if card.scores == "probabilities" and mapping.threshold is None:
        return ""
    return (
        "Mean scores cannot be compared for this model: its outputs are not probabilities, "
        "or they were shifted because its decision threshold is not one half. Compare the "
        "shares of decisions instead."
    )


#: In the order in which they are shown.
ENTRIES = (
    Method(
        key="quick",
        options=searches.QuickOptions,
        division=Division(why="each round depends on what the rounds before found"),
    ),
    Method(key="maft", options=searches.MaftOptions, division=_FROM_ROWS),
    Method(
        key="eidig",
        options=searches.EidigOptions,
        division=_FROM_ROWS,
        needs=(Capability.GRADIENTS,),
    ),
    Method(
        key="adf", options=searches.AdfOptions, division=_FROM_ROWS, needs=(Capability.GRADIENTS,)
    ),
    Method(key="aequitas-random", options=searches.RandomOptions, division=_DRAWN),
    Method(key="aequitas-semi", options=searches.SemiDirectedOptions, division=_DRAWN),
    Method(key="aequitas-full", options=searches.FullyDirectedOptions, division=_DRAWN),
    Method(
        key="sg",
        options=searches.SymbolicOptions,
        division=Division(Divides.ROWS, ("global_num", "max_iter")),
    ),
    Method(
        key="uniform",
        options=searches.UniformOptions,
        division=Division(Divides.STREAMS, ("samples",)),
    ),
    Method(
        key="enumerate",
        options=shares.EnumerateOptions,
        division=Division(Divides.RANGES),
        exhaustive=True,
        obstacle=obstacle,
    ),
    Method(
        key="estimate",
        options=shares.EstimateOptions,
        counts_rows=True,
        division=Division(Divides.DRAWS),
        answers=QuestionKind.SHARE,
    ),
    Method(
        key="repeats",
        options=shares.RepeatsOptions,
        division=Division(Divides.DRAWS),
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.SHARE,
    ),
    Method(
        key="themis",
        options=shares.ThemisOptions,
        division=Division(Divides.DRAWS),
        answers=QuestionKind.SHARE,
    ),
    Method(
        key="certify",
        options=proofs.CertifyOptions,
        division=Division(Divides.REGIONS),
        answers=QuestionKind.PROOF,
        finishes=True,
    ),
    Method(
        key="neighbourhoods",
        options=proofs.NeighbourhoodOptions,
        division=Division(why="it takes seconds to minutes on one computer"),
        answers=QuestionKind.PROOF,
    ),
    Method(
        key="fairquant",
        options=proofs.FairQuantOptions,
        division=Division(
            why="it is included to compare its times, which are those of one thread; "
            "“Certification” is divided"
        ),
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
    Method(
        key="fairify",
        options=proofs.FairifyOptions,
        division=Division(Divides.PARTITIONS),
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
    Method(
        key="diagnose",
        options=searches.DiagnoseOptions,
        division=Division(Divides.SIZES),
        answers=QuestionKind.DIAGNOSIS,
    ),
    Method(
        key="testsgd",
        options=groups.TestSgdOptions,
        division=Division(Divides.DRAWS, why="in texts, into blocks of sentences"),
        repeats=Repeats.INDEPENDENT,
        unfit=_unfit,
        answers=QuestionKind.GROUPS,
        reads=True,
        divides=True,
    ),
    Method(
        key="groups",
        options=groups.MeasureOptions,
        division=Division(Divides.RANGES),
        repeats=Repeats.ANY,
        answers=QuestionKind.RATES,
        needs=(),
        obstacle=_no_groups,
        divides=True,
    ),
    Method(
        key="themis-groups",
        options=groups.ThemisGroupsOptions,
        division=Division(Divides.DRAWS),
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
        obstacle=_none_to_invent,
    ),
    Method(
        key="fairfictplay",
        options=groups.FairFictPlayOptions,
        division=Division(why="each step depends on the one before"),
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
        obstacle=_no_groups,
    ),
    Method(
        key="repair-aequitas",
        options=repairs.AequitasRepairOptions,
        division=Division(why="one process trains the candidate models"),
        answers=QuestionKind.REPAIR,
        finishes=True,
    ),
    Method(
        key="repair-testsgd",
        options=repairs.TestSgdRepairOptions,
        division=Division(why="one process trains the candidate models"),
        answers=QuestionKind.REPAIR,
        finishes=True,
        reads=True,
    ),
)
