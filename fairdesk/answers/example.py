"""The one pair that stands for all: flagged, or plausible, with one attribute changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN, PairQuery
from fairdesk.audit.store.store import Store

#: So many pairs of each order are looked at.
_POOL = 200


def clearest(store: Store, hidden: Callable[[Pair], bool] = lambda _pair: False) -> Pair | None:
    """Return the clearest discriminatory pair of an audit; ``None`` where there is none to show.

    Flagged pairs come first; then plausible ones (where that was computed); then those in which one
    protected attribute alone changes; then those of which both are more typical; then the greater
    difference of scores. Dismissed ones are never shown.

    Parameters
    ----------
    store : Store
        The audit.
    hidden : callable, optional
        Whether a pair must not be shown.
    """
    protected = store.spec.domain.protected

    def first(query: PairQuery) -> list[Pair]:
        held = store.each_pair(query)
        return [*islice((each for each in held if may_show(each)), _POOL)]

    def may_show(pair: Pair) -> bool:
        return pair.mark != "dismissed" and not hidden(pair)

    def rank(pair: Pair) -> tuple[float, ...]:
        changed = int((pair.row[protected] != pair.partner[protected]).sum())
        apart = abs(pair.row_score - pair.partner_score)
        typical = min(pair.typicality or 0.0, pair.partner_typicality or 0.0)
        return -(pair.plausible or 0), changed, -typical, -apart, pair.id

    pool = first(PairQuery(mark="flagged"))
    if not pool:
        pool = first(SHOWN)
        pool += first(PairQuery(order="difference", descending=True))
    return min(pool, key=rank, default=None)
