"""How two models differ, both asked about the same rows and people.

**Paired.** Rows that are hard for one model are hard for the other, so differences are far surer
than the two figures by themselves. Whatever is a yes or no of each row or person is compared by
McNemar's exact test and Tango's interval (`fairdesk.mitigate.measures.differences`), the areas
under the ROC curve by DeLong's, everything else by the bootstrap, with the same resamples for both.
Chance makes gaps, scores of rule sets and calibration errors greater than they are; their intervals
allow for that (`fairdesk.mitigate.measures.differences`).
Where no resample differs there is no interval.

**Several looks.** A search over portions compares each with the best so far, all on the same
people: several chances to be misled. Of ``looks`` portions, the model retrained with nothing added
and the imported one, any two may come to be compared, whichever has turned out best by then:
``(looks + 1) * (looks + 2) / 2`` pairs. None of these models hangs on who the people are, so each
comparison may err with that part of 5 % (Bonferroni): the chance that any model of the whole search
is called better, or worse, than another without being so is 5 % at most, wherever the search ends.
To spend a half, a quarter and so on of it would leave least for the greatest portions, which come
last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import msgspec
import numpy as np

from fairdesk.mitigate.measures.differences import (
    ALPHA,
    TIMES,
    Ends,
    Mask,
    Numbers,
    area_change,
    calibration_change,
    mcnemar,
    p_value,
    percentiles,
    resampled,
    share_interval,
)
from fairdesk.mitigate.measures.group_gaps import Gap, gap_changes
from fairdesk.mitigate.measures.measures import Verdict, key, squared_errors
from fairdesk.mitigate.measures.rule_scores import score_change
from fairdesk.results.mitigation import Change, Measure, Trial, What


def front(trials: Sequence[Trial], target: What) -> tuple[Trial, ...]:
    """Mark the trials of the front: no other is as accurate and as little discriminatory, and more.

    On the validation rows: by accuracy, and by what is to fall. Of trials that are equal in both
    all are on it, or none. A trial of which either is not known is not.

    Returns
    -------
    tuple[Trial, ...]
        The same, in their order, with ``front`` set.
    """
    points = [(_of(trial, "accuracy"), _of(trial, target)) for trial in trials]
    known = [(gain, loss) for gain, loss in points if gain is not None and loss is not None]
    return tuple(
        msgspec.structs.replace(
            trial,
            front=gain is not None
            and loss is not None
            and not any(
                other >= gain and least <= loss and (other, least) != (gain, loss)
                for other, least in known
            ),
        )
        for trial, (gain, loss) in zip(trials, points, strict=True)
    )


def _of(trial: Trial, what: What) -> float | None:
    found: list[Measure] = [
        each for each in trial.measures if each.what == what and each.rows == "validation"
    ]
    return found[0].estimate if found else None


#: The tests, by name.
MCNEMAR, DELONG, BOOTSTRAP = "McNemar, exact", "DeLong", "bootstrap"
#: So many resamples are to lie beyond each end of an interval.
_BEYOND = 50


def changes(after: Verdict, before: Verdict, against: int) -> tuple[Change, ...]:
    """Compare two models in everything that was measured of both.

    Parameters
    ----------
    against : int
        The number of the trial that ``before`` is of.

    Returns
    -------
    tuple[Change, ...]
        In the order of ``after.measures``. What was added to these beside the examiner's own (what
        is proven) differs without an interval.
    """
    known = {key(each): each for each in before.measures}
    pair = _Pair(after, before, against, ALPHA)
    return tuple(
        pair.change(measure, old)
        for measure in after.measures
        if measure.estimate is not None
        and (old := known.get(key(measure))) is not None
        and old.estimate is not None
    )


def target_change(after: Verdict, best: Verdict, against: int, looks: int) -> Change:
    """Compare what is to fall with the best so far, on those to choose by.

    Its interval is wide enough for a search of ``looks`` portions (see above): wholly below nought
    it is better, wholly above it is worse, else that is open. Where it could not be measured there
    is no difference.

    Parameters
    ----------
    against : int
        The number of the trial that ``best`` is of.
    looks : int
        How many portions the search may try at most, decided beforehand.
    """
    new, old = (each.measure(each.target, "validation") for each in (after, best))
    if new is None or old is None or new.estimate is None or old.estimate is None:
        return Change(after.target, "", "validation", against, None, None, None)
    alpha = ALPHA / ((looks + 1) * (looks + 2) / 2)
    return _Pair(after, best, against, alpha).change(new, old)


@dataclass
class _Pair:
    """Two models, and the error that an interval of their difference may make."""

    after: Verdict
    before: Verdict
    against: int
    alpha: float
    _known: dict[str, dict[Gap, tuple[Ends, float]]] = field(default_factory=dict)

    def change(self, new: Measure, old: Measure) -> Change:
        """Compare them in one thing, defined of both."""
        difference = cast("float", new.estimate) - cast("float", old.estimate)
        (low, high), p, test = self._sure(new, difference)
        if low is not None and high is not None:
            # last bits must not keep a difference from its own interval
            low, high = min(low, difference), max(high, difference)
        return Change(new.what, new.of, new.rows, self.against, difference, low, high, p, test)

    def _sure(self, new: Measure, difference: float) -> tuple[Ends, float | None, str]:
        """Return a difference's interval, its p-value, and the test."""
        after, before, where = self.after, self.before, new.rows
        ends: Ends = (None, None)
        p: float | None = None
        test = BOOTSTRAP
        match new.what:
            case "accuracy":
                ends, p, test = self._paired(after.rows[where].right, before.rows[where].right)
            case "share_domain" | "share_data":
                ends, p, test = self._paired(after.hits[where], before.hits[where])
            case "auc":
                ends, p = area_change(*self._scores, self._label)
                test = DELONG
            case "brier":
                errors = [squared_errors(each, self._label) for each in self._scores]
                draws = resampled(errors[0] - errors[1], self._rng)[:, 0]
                ends, p = percentiles(draws, difference, self.alpha), float(p_value(draws))
            case "calibration":
                ends = calibration_change(*self._scores, self._label, after.seed)
            case "impact_ratio" | "rate_gap" | "error_gap":
                ends, p = self._gaps(new.of)[new.what]
            case "rule_score":
                times = max(TIMES, int(2 * _BEYOND / self.alpha))
                apart = after.apart[where], before.apart[where]
                ends, p = score_change(*apart, self._rng, times, self.alpha)
            case _:
                test = ""
        return ends, p, test

    def _paired(self, new: Mask, old: Mask) -> tuple[Ends, float, str]:
        return share_interval(new, old, self.alpha), mcnemar(new, old), MCNEMAR

    def _gaps(self, attribute: str) -> dict[Gap, tuple[Ends, float]]:
        if attribute not in self._known:
            grouped = next(each for each in self.after.grouped if each.name == attribute)
            new, old = (
                self.after.rows["test"].favourable_mask,
                self.before.rows["test"].favourable_mask,
            )
            self._known[attribute] = gap_changes(
                grouped, new, old, self._label, self._rng, self.alpha
            )
        return self._known[attribute]

    @property
    def _label(self) -> Mask:
        return self.after.rows["test"].label

    @property
    def _scores(self) -> tuple[Numbers, Numbers]:
        new, old = (each.rows["test"].scores for each in (self.after, self.before))
        return cast("Numbers", new), cast("Numbers", old)

    @property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.after.seed)
