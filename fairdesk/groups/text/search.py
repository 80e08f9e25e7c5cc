"""TestSGD on texts: sentences that name somebody, compared with the same about somebody else.

M. Zhang, J. Sun, J. Wang, B. Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle
Group Discrimination", ACM TOSEM 2023, sections 3 and 4 (the terms: Table 1). A rule set names one
term of a category or of several; a text is a member when it names these, and can be made one when
it names anybody of the same categories.

**The estimator.** For some categories, the *seeds* are the data's texts that hold a term of each,
and the *choices* are all combinations of one term of each. Every seed is asked about with every
choice: a table of answers, seeds by choices. A rule set is one choice: ``phi_in`` is the mean of
its column, ``phi_out`` that of all other columns, over the same seeds; terms of other categories
stay as the text has them. That is what Algorithm 2 estimates by drawing a seed and a term at
random; but there are only so many such sentences, mostly far fewer than it would draw. So none is
asked about twice, every sentence serves all rule sets of its categories, and the two sides differ
in nothing but the term.

**How many.** Seeds are taken in random order, ``sample_thr`` of them, and then more until the
margin of all rule sets of these categories is within ``error_thr``, or there is no other. Two texts
that differ in these terms only are one seed.

**How sure.** Margins and intervals count seeds, not sentences: see `fairdesk.groups.text.paired`.
They speak of further texts like the seeds. As whether to go on hangs on what was counted, each look
at the margins has half of what the ones before left of the error.

**Individual discrimination** is in the tables of single categories: a sentence that gets another
decision with another term. All sentences of such a seed are asked again, in another order, and only
decisions that were the same both times count.

Which sentences, and what is made of the answers, is in `fairdesk.groups.text.comparing`; here they
are written and the model is queried.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.context import GroupContext
from fairdesk.groups.text.comparing import Answer, Asked, Comparing, Part
from fairdesk.groups.text.sentences import Lexicon, SentenceScorer, ask, text_place
from fairdesk.individual.engine.division import Counting, Merging, Stepping, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows
from fairdesk.results.shards import ShardRange, Tallied

if TYPE_CHECKING:
    from fairdesk.groups.options import TestSgdOptions

#: Figures are told at most every so many seconds ...
TELL_SECONDS = 1.0
#: ... and so many times as long is worked as making them took.
WORKING = 5.0


def search(
    context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Compare how sentences fare by whom they name.

    Parameters
    ----------
    study : GroupContext
        Its ``text`` is the column, its ``terms`` the auditor's own.
    options : TestSgdOptions
        ``bins`` and ``subsets`` have no meaning here.

    Raises
    ------
    SpecError
        At once, when nothing can be compared.
    """
    found = _Merging(context, options, rng)
    yield from counted_here(found, counting(context), found)


def counting(context: GroupContext) -> Counting:
    """Return the half that queries the model."""
    return _Sentences(context).count


def merging(context: GroupContext, options: TestSgdOptions, rng: np.random.Generator) -> Merging:
    """Return the half that compares what the model answered; parameters as of `search`."""
    return _Merging(context, options, rng)


class _Sentences:
    """Queries the model about sentences: the half that needs it."""

    def __init__(self, context: GroupContext) -> None:
        self._context, self._place = context, text_place(context)
        self._lexicon = Lexicon.of(context.terms)
        self._answers, self._pace = SentenceScorer(context), Pace(1, context=context)
        self._stage, self._first, self._tried = "", 0, 0
        self._units: list[Part] = []
        self._again = False

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Query the model about units of what is asked for."""
        if wanted.stage != self._stage:
            self._stage, (self._first, asked) = wanted.stage, Asked.read(wanted.stage)
            self._units, self._again = list(asked.units(self._lexicon)), asked.again
        phase = "confirming" if self._again else "asking"
        for unit in range(wanted.start, wanted.stop):
            part = self._units[unit - self._first]
            texts, rows = self._sentences(part)
            for some, last in self._pace.of_unit(len(texts)):
                yield Tallied(phase, unit, last, self._answered(texts[some], rows[some]))
                if part.categories and not self._again:
                    self._tried += len(texts[some])
                yield Progress(phase, 0, 0, self._tried, 0, self._context.queries)

    def _sentences(self, part: Part) -> tuple[list[str], Rows]:
        """Write all sentences of some texts: text by text, each with all choices."""
        rows = self._context.rows[part.rows]
        values = self._context.domain.attributes[self._place].values
        choices = self._lexicon.choices(part.categories)
        if self._again:
            choices.reverse()
        sentences: list[str] = []
        for code in rows[:, self._place].astype(np.intp).tolist():
            named = self._lexicon.find(values[code])
            if named is None:
                raise ValueError("the stage names a text without identity terms")
            sentences += self._lexicon.rewritten(named, part.categories, choices)
        return sentences, np.repeat(rows, len(choices), axis=0)

    def _answered(self, texts: list[str], rows: Rows) -> dict[str, NDArray[np.generic]]:
        if self._again:
            return {"decided": labels(ask(self._context, texts, rows)).astype(np.int16)}
        decided, scores = self._answers.to(texts, rows)
        return {"decided": decided, "scores": scores}


class _Merging(Stepping[Asked, None]):
    """Compares what the model answered: the half without it."""

    def __init__(
        self, context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
    ) -> None:
        self._context = context
        self._comparing = Comparing(context, options, rng)
        super().__init__(self._comparing.run())
        self._parts: list[Answer] = []
        self._tell_from = perf_counter() + TELL_SECONDS

    def _begin(self, asked: Asked) -> int:
        del asked
        return self._comparing.units

    def _answer(self) -> None:
        self._parts = []

    def add(self, tallied: Tallied) -> bool:
        """Take the answers to a unit, once all are there."""
        self._parts.append(tallied.arrays)
        if tallied.last:
            answers = {
                name: np.concatenate([each[name] for each in self._parts])
                for name in tallied.arrays
            }
            self._comparing.take(tallied.unit - self._first, answers)
            self._parts = []
        return super().add(tallied)

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many rule sets are known."""
        return self._comparing.told(progress)

    def measured(self) -> Measured | None:
        """Return what is known of the rule sets and terms, once there are answers."""
        began = perf_counter()
        measured = self._comparing.measured() if self._comparing.begun else None
        now = perf_counter()
        self._tell_from = now + max(TELL_SECONDS, WORKING * (now - began))
        return measured

    def due(self) -> bool:
        """Return whether figures are to be told: now and then, and once the budget is used up."""
        spent = self._context.rows_left <= 0
        return self._comparing.begun and (spent or perf_counter() > self._tell_from)
