"""The one pair that stands for all, and one of the same change with the opposite effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.results.individual import Share
from fairdesk.wording.pairs import NARROW

#: So many pairs of each order are looked at.
_POOL = 200
#: The threshold that scores of decisions have. What is next to it a rounding could turn.
_THRESHOLD = 0.5


def clearest(store: Store, hidden: Callable[[Pair], bool] = lambda _pair: False) -> Pair | None:
    """Return the clearest discriminatory pair of an audit; ``None`` where there is none to show.

    Flagged pairs come first; then plausible ones (where that was computed); then those whose effect
    is not the rarer one of that change among the individuals in the data; then those of a data
    row; then those of which neither score is next to the decision threshold; then those in which
    one protected attribute alone changes; then those of which both are more typical; then those
    whose score nearer to the threshold is farther from it. Dismissed ones are never shown.

    Parameters
    ----------
    hidden : callable, optional
        Whether a pair must not be shown.
    """

    def first(query: PairQuery) -> list[Pair]:
        held = store.each_pair(query)
        return [*islice((each for each in held if _may_show(each, hidden)), _POOL)]

    pool = first(PairQuery(mark="flagged"))
    if not pool:
        pool = first(SHOWN)
        pool += first(PairQuery(order="difference", descending=True))
        # those of rows of the data, of which the plausible ones need not be among the first
        pool += first(PairQuery(order="plausible", descending=True, within=0.0))
    return min(pool, key=partial(_rank, store.spec, _directed(store)), default=None)


def opposite(
    store: Store, pair: Pair, hidden: Callable[[Pair], bool] = lambda _pair: False
) -> Pair | None:
    """Return the clearest pair of the same values with the decisions the other way round.

    Of a pair in which “White” is declined and “Black” approved it is one in which “Black” is
    declined and “White” approved. See `clearest` for ``hidden``. ``None`` where none is plausible.
    """
    spec, domain = store.spec, store.spec.domain
    changed = _changed(spec, pair)
    pool: list[Pair] = []
    for first, second, decided in (
        (pair.row, pair.partner, (pair.partner_class, pair.row_class)),
        (pair.partner, pair.row, (pair.row_class, pair.partner_class)),
    ):
        codes = tuple((domain.names[i], float(first[i]), float(second[i])) for i in changed)
        # few fit: they are sorted once found, which is quicker than to walk all in order
        query = PairQuery(order="typicality", descending=True, changed=codes, decided=decided)
        held = store.each_pair(query)
        alike = (each for each in held if _changed(spec, each) == changed)
        pool += islice((each for each in alike if _may_show(each, hidden)), _POOL)
    found = min(pool, key=partial(_rank, spec, {}), default=None)
    # one that is not plausible shows little of real decisions
    return None if found is not None and found.plausible in (0, False) else found


def _may_show(pair: Pair, hidden: Callable[[Pair], bool]) -> bool:
    return pair.mark != "dismissed" and not hidden(pair)


def _changed(spec: AuditSpec, pair: Pair) -> list[int]:
    """Return the places of the protected attributes that differ."""
    return [i for i in spec.domain.protected.tolist() if pair.row[i] != pair.partner[i]]


def _rank(
    spec: AuditSpec, directed: Mapping[frozenset[str], Share], pair: Pair
) -> tuple[float, ...]:
    """Return what pairs are ordered by, the clearest first."""
    away = margin_of(pair)
    typical = min(pair.typicality or 0.0, pair.partner_typicality or 0.0)
    changed, rare = len(_changed(spec, pair)), _is_rare(spec, directed, pair)
    real = pair.distance == 0
    return -(pair.plausible or 0), rare, not real, away < NARROW, changed, -typical, -away, pair.id


def _directed(store: Store) -> dict[frozenset[str], Share]:
    """Return the shares of the individuals in the data of whom it is counted who gains and loses.

    By the attributes that were changed; of the newest run with each.
    """
    return {
        frozenset(each.attributes): each
        for run in store.runs()
        for each in run.figures
        if isinstance(each, Share) and each.whom == "data" and each.gains is not None
    }


def _is_rare(spec: AuditSpec, directed: Mapping[frozenset[str], Share], pair: Pair) -> bool:
    """Return whether more individuals in the data have the opposite effect by the same change.

    Of all of them, or of those with the instance's own value of the one attribute that changes.
    """
    good = spec.mapping.favourable_class
    gains = int(pair.partner_class == good) - int(pair.row_class == good)
    changed = _changed(spec, pair)
    share = directed.get(frozenset(spec.domain.names[i] for i in changed))
    if share is None:
        return False
    own = [(up, down) for code, up, down in share.by_value if code == pair.row[changed[0]]]
    counts = [(share.gains or 0, share.losses or 0), *own]
    return any(gains * (up - down) < 0 for up, down in counts)


def margin_of(pair: Pair) -> float:
    """Return how far from the decision threshold the nearer of both scores is, 0 to 0.5.

    Scores of two decisions have their threshold at one half. Of more than two classes both may lie
    on one side of it: then half of what is between them.
    """
    scores = pair.row_score, pair.partner_score
    if (scores[0] > _THRESHOLD) == (scores[1] > _THRESHOLD):
        return abs(scores[0] - scores[1]) / 2
    return min(abs(each - _THRESHOLD) for each in scores)
