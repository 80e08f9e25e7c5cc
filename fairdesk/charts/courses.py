"""How an estimate and a proof came: their shares as they stood while they were worked out."""

from __future__ import annotations

import numpy as np

from fairdesk.charts.curves import Line, Mark
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven
from fairdesk.results.rounding import exactly, percent_digits
from fairdesk.wording import words
from fairdesk.wording.language import say

_PERCENT = f"{words.NBSP}%"


def course_of_estimate(share: Share) -> Drawing:
    """Draw how an estimate settled, with its anytime band, and its trials beside it as dots.

    It is empty where the share has fewer than two points.
    """
    course = np.array(share.course, dtype=np.float64).reshape(-1, 4)
    asked, shown = course[:, 0], np.multiply(course[:, 1:], 100)
    estimate = Line(
        say("estimate"), asked, shown[:, 0], "discriminatory", low=shown[:, 1], high=shown[:, 2]
    )
    lines = [estimate]
    if share.trials and len(asked):
        each = share.n_samples / len(share.trials)
        ends = np.arange(1, len(share.trials) + 1, dtype=np.float64) * each
        trials = 100 * np.array(share.trials)
        lines.append(Line(say("trials"), ends, trials, "undecided", mark=Mark.DOTS))
    # the band begins at 0 to 100 %: shown whole it would press all that follows against the axis
    settled = max(100 * share.high, *(100 * trial for trial in share.trials), 1e-3)
    return Drawing(
        title=say("Progress of the estimate"),
        x_title=say("instances drawn at random"),
        y_title=say("share"),
        lines=tuple(lines) if len(asked) > 1 else (),
        y_digits=words.digits_of(share.low, share.high),
        y_unit=_PERCENT,
        y_high=min(1.6 * settled, 100.0),
    )


def course_of_proof(proven: Proven, *, whole: bool) -> Drawing:
    """Draw how the proven shares grew, rounded down; ``whole`` with what was undecided."""
    seconds, *proven_shares = np.array(proven.course, dtype=np.float64).reshape(-1, 3).T
    certified, falsified = (
        np.array([float(percent_digits(share, 2)) for share in shares]) for shares in proven_shares
    )
    rest = np.array(
        [
            float(percent_digits(1 - exactly(alike) - exactly(unlike), 2, up=True))
            for alike, unlike in zip(*proven_shares, strict=True)
        ]
    )
    # less than is shown would be written as nought
    fallen = [Line(say("falsified"), seconds, falsified, "discriminatory")] * bool(falsified.any())
    # a run that goes on with another does not begin with nothing
    lines = (
        Line(say("certified"), seconds, certified, "consistent"),
        *fallen,
        *([Line(say("undecided"), seconds, rest, "undecided")] if whole else []),
    )
    return Drawing(
        title=say("Progress of the certification"),
        x_title=say("seconds"),
        y_title=say("share of the population")
        if proven.of == "people"
        else say("share of combinations"),
        lines=lines if len(seconds) > 1 else (),
        x_digits=1,
        y_digits=2,
        y_unit=_PERCENT,
        y_high=100.0 if whole else None,
    )
