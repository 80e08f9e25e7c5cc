"""The one pair that stands for all: flagged, or plausible, with one attribute changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.wording.pairs import NARROW

#: So many pairs of each order are looked at.
_POOL = 200
#: The threshold that scores of decisions have. What is next to it a rounding could turn.
_THRESHOLD = 0.5


def clearest(store: Store, hidden: Callable[[Pair], bool] = lambda _pair: False) -> Pair | None:
    """Return the clearest discriminatory pair of an audit; ``None`` where there is none to show.

    Flagged pairs come first; then plausible ones (where that was computed); then those of which
    neither score is next to the decision threshold; then those in which one protected attribute
    alone changes; then those of which both are more typical; then those whose score nearer to the
    threshold is farther from it. Dismissed ones are never shown. `fairdesk.wording.pairs.CLEAREST`
    says so.

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
        away = _away(pair)
        typical = min(pair.typicality or 0.0, pair.partner_typicality or 0.0)
        return -(pair.plausible or 0), away < NARROW, changed, -typical, -away, pair.id

    pool = first(PairQuery(mark="flagged"))
    if not pool:
        pool = first(SHOWN)
        pool += first(PairQuery(order="difference", descending=True))
    return min(pool, key=rank, default=None)


def _away(pair: Pair) -> float:
    """Return how far from the decision threshold the nearer of both scores is, 0 to 0.5.

    Scores of two decisions have their threshold at one half. Of more than two classes both may lie
    on one side of it: then half of what is between them.
    """
    scores = pair.row_score, pair.partner_score
    if (scores[0] > _THRESHOLD) == (scores[1] > _THRESHOLD):
        return abs(scores[0] - scores[1]) / 2
    return min(abs(each - _THRESHOLD) for each in scores)
