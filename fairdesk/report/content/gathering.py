"""What the report counts of all findings, and which of them it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

import msgspec

from fairdesk.answers import clearest, margin_of, opposite
from fairdesk.audit.runs.plausibility import PlausibleShare, plausible_share
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN as SHOWN_ORDER
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.report.content.redaction import Shown
from fairdesk.wording.pairs import NARROW

#: So many pairs are shown in full, besides the flagged ones.
SHOWN = 10
#: And never more than so many flagged ones.
MOST_FLAGGED = 40
#: So many more are listed where the auditor asks for it, in a line each.
MORE = 50
#: From so many that are plausible, and with the widest difference, those to show are picked.
_POOL = 500


@dataclass
class Gathered:
    """What was counted.

    Attributes
    ----------
    changes : dict[int, list[Counter[tuple[float, float]]]]
        Per run, per protected attribute: the findings by (value of the one who gets the
        favourable decision, value of the other), where the two differ in it.
    marks : Counter[str]
        The findings by the auditor's mark.
    shown : list[Pair]
        The pairs to show: flagged ones, then plausible ones in their order, those next to the
        decision threshold last, then those with the greatest difference of scores, near copies of
        one shown before only when there are no others; none that was dismissed, or that the report
        is not to show.
    clearest : Pair, optional
        The one that the summary shows; the first of those to show.
    reverse : Pair, optional
        The same change with the opposite effect; the second of them.
    plausible : PlausibleShare, optional
        How many of all pairs are plausible; ``None`` where none was compared with the data.
    reference : Reference, optional
        What that is compared with.
    """

    changes: dict[int, list[Counter[tuple[float, float]]]]
    marks: Counter[str]
    shown: list[Pair] = field(default_factory=list)
    more: list[Pair] = field(default_factory=list)
    clearest: Pair | None = None
    reverse: Pair | None = None
    plausible: PlausibleShare | None = None
    reference: Reference | None = None


def difference(pair: Pair) -> float:
    """Return how far apart the scores of a pair are."""
    return abs(pair.row_score - pair.partner_score)


def gather(store: Store, shown: Shown | None = None) -> Gathered:
    """Count all findings, and pick those to show, in memory that does not grow with their number.

    Parameters
    ----------
    shown : Shown, optional
        What may be told of single people; everything, where it is left out.
    """
    domain = store.spec.domain
    hides = () if shown is None else (shown.hides,)
    found = Gathered(store.changes(), store.marks())
    found.clearest = clearest(store, *hides)
    if found.clearest is not None:
        found.reverse = opposite(store, found.clearest, *hides)
    first = [each for each in (found.clearest, found.reverse) if each is not None]
    flagged = _allowed(store, PairQuery(mark="flagged"), shown)
    widest_first = sorted(flagged, key=difference, reverse=True)
    told = {pair.id for pair in first}
    found.shown = [*first, *(pair for pair in widest_first if pair.id not in told)][:MOST_FLAGGED]
    plausible = _first(store, msgspec.structs.replace(SHOWN_ORDER, plausible=True), shown)
    pool = by_turns(sorted(plausible, key=lambda pair: margin_of(pair) < NARROW), domain)
    held = {pair.id for pair in pool}
    widest = _first(store, PairQuery(order="difference", descending=True), shown)
    pool += [pair for pair in widest if pair.id not in held]
    _fill(found.shown, pool, domain)
    found.reference = store.reference()
    if found.reference is not None:
        found.plausible = plausible_share(store, domain.people(store.table()))
    shown_ids = {pair.id for pair in found.shown}
    found.more = [pair for pair in pool if pair.id not in shown_ids][:MORE]
    return found


def _allowed(store: Store, query: PairQuery, shown: Shown | None) -> Iterator[Pair]:
    """Yield the pairs of a query that may be shown."""
    return (pair for pair in store.each_pair(query) if shown is None or not shown.hides(pair))


def _first(store: Store, query: PairQuery, shown: Shown | None) -> list[Pair]:
    """Return the first pairs of an order that may be shown and have no mark."""
    query = msgspec.structs.replace(query, mark="")
    return [*islice(_allowed(store, query, shown), _POOL)]


def by_turns(pool: list[Pair], domain: Domain) -> list[Pair]:
    """Return pairs by turns of what changes: else those of one attribute alone may come first."""
    protected = domain.protected.tolist()
    held: dict[tuple[int, ...], list[Pair]] = {}
    for pair in pool:
        changed = tuple(i for i in protected if pair.row[i] != pair.partner[i])
        held.setdefault(changed, []).append(pair)
    turns = chain.from_iterable(zip_longest(*held.values()))
    return [pair for pair in turns if pair is not None]


def _fill(shown: list[Pair], pool: list[Pair], domain: Domain) -> None:
    """Add pairs of the pool until `SHOWN` are shown: unlike ones first, then near copies.

    A search that walks from person to person finds many who differ in one step of one attribute;
    ten of them would tell the reader one thing ten times.
    """
    others = domain.others
    for least in (max(1, len(others) // 4), 1):
        for pair in pool:
            if len(shown) >= SHOWN:
                return
            if all((pair.row[others] != one.row[others]).sum() >= least for one in shown):
                shown.append(pair)
