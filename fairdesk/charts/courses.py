"""How an estimate came: its share as it stood while it was worked out."""

from __future__ import annotations

import numpy as np

from fairdesk.charts.curves import Line, Mark
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.results.individual import Share
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
