"""The models of a mitigation beside each other, by what each is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Trial
from fairdesk.results.trials import chosen_of, lead_of
from fairdesk.wording import trials as trial_words
from fairdesk.wording.language import say


@dataclass(frozen=True)
class Models(ShareBars):
    """Bars of models; ``heading`` names what they are judged by, ``numbers`` are the trials'."""

    title: str = "Models of the mitigation"
    heading: str = ""
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, figures: Sequence[Metric], trials: Iterable[Trial | None], heading: str = ""
    ) -> Models:
        """Draw trials in their order, as far as they were measured."""
        bars, numbers = [], []
        for trial in trials:
            measure = lead_of(figures, trial)
            if trial is not None and measure is not None and measure.estimate is not None:
                name, at = trial_words.trial_name(trial), measure.estimate
                if trial == chosen_of(figures):
                    name = say("{name}, chosen", name=name)
                low = at if measure.low is None else measure.low
                high = at if measure.high is None else measure.high
                value, counted = trial_words.measure_text(measure), measure.what == "share_data"
                bars.append(ShareBar(name, value, counted, at, low, high, low, high))
                numbers.append(trial.number)
        return cls(tuple(bars), heading=heading, numbers=tuple(numbers))

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        return ("Model", self.heading), [(bar.name, bar.value) for bar in self.bars[:most]]
