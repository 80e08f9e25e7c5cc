"""One walk over all findings: what the report counts and shows of them."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

import msgspec
import numpy as np

from fairdesk.answers.example import clearest, margin_of, opposite
from fairdesk.audit.runs.plausibility import PlausibleShare, plausible_share
from fairdesk.audit.store.finding_table import PairColumns
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN as SHOWN_ORDER
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.realism.plausibility import Reference
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

    changes: dict[int, list[Counter[tuple[float, float]]]] = field(default_factory=dict)
    marks: Counter[str] = field(default_factory=Counter)
    shown: list[Pair] = field(default_factory=list)
    more: list[Pair] = field(default_factory=list)
    hidden: int = 0
    clearest: Pair | None = None
    reverse: Pair | None = None
    plausible: PlausibleShare | None = None
    reference: Reference | None = None


def difference(pair: Pair) -> float:
    """Return how far apart the scores of a pair are."""
    return abs(pair.row_score - pair.partner_score)


def gather(store: Store, shown: Shown | None = None) -> Gathered:
    """Walk over all findings once, in memory that does not grow with their number.

    Parameters
    ----------
    shown : Shown, optional
        What may be told of single people; everything, where it is left out.
    """
    domain = store.spec.domain
    favourable = store.spec.mapping.favourable_class
    found = Gathered()
    flagged: list[Pair] = []
    widest: list[tuple[float, int, Pair]] = []
    for pairs in store.each_columns(PairQuery(run=None)):
        found.marks.update(pairs.fields["mark"])
        _count_changes(found.changes, pairs, domain, favourable)
        # whoever is not flagged, and not farther apart than those kept so far, needs no look
        least = widest[0][0] if len(widest) >= _POOL else 0.0
        for pair in _worth_a_look(store, pairs, least):
            entry = (difference(pair), -pair.id, pair)
            if pair.mark != "flagged" and len(widest) >= _POOL and entry < widest[0]:
                continue
            if shown is not None and shown.hides(pair):
                found.hidden += 1
            elif pair.mark == "flagged":
                flagged.append(pair)
            elif len(widest) < _POOL:
                heapq.heappush(widest, entry)
            else:
                heapq.heappushpop(widest, entry)
    hides = (shown.hides,) if shown is not None else ()
    found.clearest = clearest(store, *hides)
    if found.clearest is not None:
        found.reverse = opposite(store, found.clearest, *hides)
    first = [each for each in (found.clearest, found.reverse) if each is not None]
    flagged = [pair for pair in flagged if all(pair.id != one.id for one in first)]
    widest_first = sorted(flagged, key=difference, reverse=True)
    found.shown = [*first, *widest_first][:MOST_FLAGGED]
    pool = sorted(_plausible(store, shown), key=lambda pair: margin_of(pair) < NARROW)
    pool = by_turns(pool, domain)
    held = {pair.id for pair in pool}
    pool += [pair for _, _, pair in sorted(widest, reverse=True) if pair.id not in held]
    _fill(found.shown, pool, domain)
    found.reference = store.reference()
    if found.reference is not None:
        found.plausible = plausible_share(store, domain.people(store.table()))
    shown_ids = {pair.id for pair in found.shown}
    found.more = [pair for pair in pool if pair.id not in shown_ids][:MORE]
    return found


def _plausible(store: Store, shown: Shown | None) -> list[Pair]:
    """Return the first plausible pairs that may be shown and are not flagged anyway."""
    query = msgspec.structs.replace(SHOWN_ORDER, plausible=True, mark="")
    found = (pair for pair in store.each_pair(query) if shown is None or not shown.hides(pair))
    return [*islice(found, _POOL)]


def by_turns(pool: list[Pair], domain: Domain) -> list[Pair]:
    """Return pairs by turns of what changes: else those of one attribute alone may come first."""
    protected = domain.protected.tolist()
    held: dict[tuple[int, ...], list[Pair]] = {}
    for pair in pool:
        changed = tuple(i for i in protected if pair.row[i] != pair.partner[i])
        held.setdefault(changed, []).append(pair)
    turns = chain.from_iterable(zip_longest(*held.values()))
    return [pair for pair in turns if pair is not None]


def _count_changes(
    changes: dict[int, list[Counter[tuple[float, float]]]],
    pairs: PairColumns,
    domain: Domain,
    favourable: int,
) -> None:
    """Count what the better and the worse decided have of each protected attribute, by run."""
    partner_better = np.array(pairs.fields["partner_class"]) == favourable
    better = np.where(partner_better[:, None], pairs.partners, pairs.rows)
    worse = np.where(partner_better[:, None], pairs.rows, pairs.partners)
    runs = np.array(pairs.fields["run"])
    for run in dict.fromkeys(pairs.fields["run"]):
        counters = changes.setdefault(run, [Counter() for _ in domain.protected])
        for counter, position in zip(counters, domain.protected.tolist(), strict=True):
            apart = (runs == run) & (better[:, position] != worse[:, position])
            counter.update(
                zip(better[apart, position].tolist(), worse[apart, position].tolist(), strict=True)
            )


def _worth_a_look(store: Store, pairs: PairColumns, least: float) -> list[Pair]:
    """Return the flagged of some pairs, and those whose scores are so far apart."""
    scores = np.array([pairs.fields["row_score"], pairs.fields["partner_score"]])
    marks = np.array(pairs.fields["mark"])
    wanted = (np.abs(scores[0] - scores[1]) >= least) | (marks == "flagged")
    numbers = np.array(pairs.fields["id"])[wanted & (marks != "dismissed")].tolist()
    return store.pairs(PairQuery(among=tuple(numbers)), 0, len(numbers)) if numbers else []


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
