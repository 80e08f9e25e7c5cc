"""What every repair does: divide the data, try one model after the other, choose, and keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fairdesk.errors import ModelError, SpecError
from fairdesk.mitigate.context import MitigationContext, Split, split
from fairdesk.mitigate.measures.changes import changes, front, target_change
from fairdesk.mitigate.measures.measures import Examiner, Verdict, certified
from fairdesk.mitigate.options import RepairOptions
from fairdesk.mitigate.rows.pool import Pool, widened
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.retrain.losses import Training, TrainingSet, why_not
from fairdesk.models.retrain.retraining import refit, save
from fairdesk.results.events import Event, Measured, Progress
from fairdesk.results.mitigation import Augmented, Change, Repair, Retrained, Trial

#: The model as it was imported, and the same retrained with nothing added.
IMPORTED, PLAIN = 0, 1


def luck_of_training(again: Trial, plain: Trial, target: str) -> Iterator[str]:
    """Tell how far another seed alone moves the target, where that is shown.

    Parameters
    ----------
    again, plain : Trial
        The model retrained with nothing added, by another seed and by the repair's own.
    """
    found = {
        each.against: each
        for each in again.changes
        if each.what == target and each.rows != "validation"
    }
    luck = found.get(PLAIN)
    if luck is None or luck.low is None or luck.high is None or luck.low <= 0 <= luck.high:
        return
    (before,) = (
        each.estimate or 0.0
        for each in plain.measures
        if (each.what, each.rows) == (luck.what, luck.rows)
    )
    now, then = (f"{100 * each:.1f}" for each in (before + (luck.difference or 0.0), before))
    told = (
        f"the decision changes for {now} % of the input domain instead of {then} %"
        if target == "share_domain"
        else f"the subgroup is {now} percentage points apart from all others instead of {then}"
    )
    yield (
        "Training is partly random: with the retrained baseline, trained again from another random "
        f"seed, {told}. The confidence intervals do not include this: repeat the mitigation with "
        "other random seeds before relying on a difference of this size."
    )


def of_chosen(chosen: Trial, target: str) -> Iterator[str]:
    """Tell what the figures of the chosen portion do not say by themselves."""
    if chosen.verdict == "open":
        lowest = "fewest decision changes" if target == "share_domain" else "smallest gap"
        yield (
            "The model was chosen on samples apart from those reported here. There, the best "
            f"augmentation sizes did not differ significantly, and the one with the {lowest} was "
            "chosen; a smaller one may do as well."
        )


def of_none(trials: Sequence[Trial], target: str, labels: str) -> Iterator[str]:
    """Tell what may be the cause where nothing was shown to help."""
    portions = [each for each in trials if each.kind == "portion"]
    if all(each.failed for each in portions):
        return
    if any(each.verdict == "costly" for each in portions):
        return
    if any(each.verdict == "worse" for each in portions):
        yield (
            "The labels of the augmentation rows may contradict those of the data: try another "
            "source of labels."
        )
    elif labels == "model" and target == "share_domain":
        yield (
            "The labels are the model’s own, so the model may learn nothing new from the "
            "augmentation rows."
        )
    else:
        yield (
            "The model may learn too little from the augmentation rows, or their labels may depend "
            "on the same attributes as its decisions."
        )


def reason_of(error: ModelError | MemoryError | ImportError) -> str:
    """Return why a model could not be trained or measured."""
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, ImportError):
        # one of its own, made for a model that was saved with older versions
        return f"The model’s environment does not contain {error.name}."
    return "There was not enough memory. Close other programs, or reduce the augmentation size."


def counted(count: int, what: str) -> str:
    """Return a count of things: ``"2 models"``."""
    return f"{count} {what}{'s' if count != 1 else ''}"


#: A greater file of a model is not kept in the audit.
MOST_BYTES = 200_000_000
#: After so many portions in a row that could not be trained, no other is tried.
MOST_FAILED = 2

#: What trains a model; it gives none where it was told to end meanwhile.
Trainer = Generator[Event, None, FedModel | None]


@dataclass(slots=True)
class _Tried:
    """A trial, and what is known of it beside what is told.

    Attributes
    ----------
    trial : Trial
        What is told.
    model : FedModel, optional
        The model; ``None`` where it failed.
    verdict : Verdict, optional
        What was measured, person by person.
    whole : bool
        Whether it is one model of the imported kind, which can be written as files.
    """

    trial: Trial
    model: FedModel | None = None
    verdict: Verdict | None = None
    whole: bool = True


class Repairing:
    """A repair at work.

    Attributes
    ----------
    looks : int
        How many portions are tried at most.
    retrains : bool
        Whether the model can be trained again.
    parts : Split
        The rows that are trained with, chosen by, and tested with; once it is divided.
    pool : Pool
        The rows to add; once it is stocked.
    ended : str
        Why no further portion is tried; empty while some are.
    notes : list[str]
        What must be known beside.
    chosen : int
        The best trial that costs no more accuracy than allowed; -1 while there is none.
    """

    parts: Split
    pool: Pool
    looks: int
    _examiner: Examiner

    def __init__(
        self,
        mitigation: MitigationContext,
        options: RepairOptions,
        target: Literal["share_domain", "rule_score"],
        rng: np.random.Generator,
    ) -> None:
        self.mitigation, self.options, self.target = mitigation, options, target
        self._rng = rng
        # one for all trials, so that only the added rows differ
        self._seed = int(rng.integers(2**31))
        obstacle = why_not(mitigation.model.opened)
        self.retrains = not obstacle
        self.ended = f"No augmentation size was tested. {obstacle}" if obstacle else ""
        self.notes: list[str] = []
        self.chosen = -1
        self._tried: list[_Tried] = []

    @property
    def sound(self) -> bool:
        """Whether the model was retrained with nothing added."""
        return len(self._tried) > PLAIN and self._tried[PLAIN].model is not None

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials so far."""
        return front(tuple(each.trial for each in self._tried), self.target)

    def rows_for(self, percent: float) -> int:
        """Return how many rows are so many percent of the training rows; at least one."""
        return max(1, round(percent / 100 * len(self.parts.train)))

    def percent(self, rows: int) -> float:
        """Return how many percent of the training rows so many are."""
        return 100 * rows / len(self.parts.train)

    def divide(self) -> Iterator[Event]:
        """Set apart the rows that are never trained on."""
        yield self.progress("splitting")
        self.parts = split(self.mitigation, self._rng)
        self._examiner = Examiner(self.mitigation, self.parts, self.options, self._rng)
        yield self.progress("labelling")

    def stock(self, pool: Pool, sizes: Sequence[int], remedy: str) -> Iterator[Event]:
        """Take the rows that may be added, in portions of so many at most.

        Raises
        ------
        SpecError
            When there are fewer than the smallest takes; ``remedy`` says what to do.
        """
        count, least = len(pool.rows), sizes[0]
        if count < (least if self.retrains else 1):
            made = f"Only {count:,} rows" if count else "No rows"
            raise SpecError(
                f"{made} can be added, and the smallest augmentation size needs {least:,}.",
                why=" ".join(
                    (f"They are made from {pool.available:,} that were found.", *pool.notes)
                ),
                remedy=remedy,
            )
        self.pool, self.looks = pool, len(sizes)
        self.notes += pool.notes
        yield Augmented("labelling", pool.rows, pool.targets, pool.pairs, pool.seeds, pool.texts)
        yield self.progress("labelling", 1)

    def begin(self) -> Iterator[Event]:
        """Measure the model as it was imported, and the same retrained with nothing added.

        Raises
        ------
        ModelError
            When the imported model refuses the rows.
        """
        yield self.progress("imported")
        imported = _Tried(Trial(IMPORTED, "imported"), self.mitigation.model)
        if not (yield from self._measure(imported, "imported")):
            return
        self._tried.append(imported)
        yield self._measured_now("imported")
        if self.ended:
            return
        yield from self.attempt(
            Trial(PLAIN, "retrained"), "retraining", lambda: self.train("retraining")
        )
        if not self.ended and (failed := self._tried[PLAIN].trial.failed):
            self.ended = f"The model cannot be retrained, even without augmentation rows. {failed}"

    def grow(
        self, sizes: Sequence[int], stop: Callable[[Trial, Trial], str] | None = None
    ) -> Iterator[Event]:
        """Retrain with more and more of the pool, each time compared with the best before.

        Parameters
        ----------
        sizes : sequence of int
            How many rows each portion adds, ascending.
        stop : callable, optional
            Says of a portion and the best so far, in a sentence, why no other is tried; empty to
            go on.
        """
        best, added, count = PLAIN, 0, len(self.pool.rows)
        for place, size in enumerate(sizes, start=1):
            if self.ended or added == count:
                break
            added = min(size, count)
            trial = yield from self._portion(
                added, f"augmentation size {place} of {len(sizes)}", best
            )
            if trial is None:
                break
            best = trial.number if trial.verdict == "better" else best
            if stop is not None:
                self.ended = stop(trial, self.trials[best])
        if not self.ended:
            self.ended = (
                f"All {count:,} available augmentation rows were added; the largest augmentation "
                f"size would need {sizes[-1]:,}."
                if added == count < sizes[-1]
                else f"All augmentation sizes were tested: the largest added {added:,} rows."
            )

    def _portion(self, added: int, phase: str, best: int) -> Generator[Event, None, Trial | None]:
        """Retrain with the first so many rows of the pool, and compare with the best before.

        Returns
        -------
        Trial, optional
            ``None`` where no other can be tried, and `ended` says why.
        """
        number, percent = len(self._tried), self.percent(added)
        phase = f"{phase}: {percent:.1f} %"
        trial = Trial(number, "portion", percent=percent, added=added)
        yield from self.attempt(trial, phase, lambda: self.train(phase, added), best)
        last = [each.trial.failed for each in self._tried[-MOST_FAILED:]]
        if not self.ended and all(last):
            self.ended = (
                f"{MOST_FAILED} augmentation sizes in a row could not be trained. {last[-1]}"
            )
        return None if self.ended else self._tried[number].trial

    def other(
        self, name: str, train: Callable[[str], Trainer], *, whole: bool = True
    ) -> Iterator[Event]:
        """Try a method of another kind, to stand beside."""
        if not self.mitigation.ending:
            trial, phase = Trial(len(self._tried), "other", name=name), "comparing"
            yield from self.attempt(trial, phase, lambda: train(phase), whole=whole)

    def attempt(
        self,
        trial: Trial,
        phase: str,
        train: Callable[[], Trainer],
        best: int | None = None,
        *,
        whole: bool = True,
    ) -> Iterator[Event]:
        """Train a model, measure it, and judge it beside the best before; a failure is told.

        There is no such trial where it is told to end before there is a model, and it is measured:
        then `ended` says so.
        """
        began, failed = perf_counter(), ""
        tried = _Tried(trial, whole=whole)
        yield self.progress(phase)
        try:
            tried.model = None if self.mitigation.ending else (yield from train())
            seconds = perf_counter() - began
            if not (yield from self._measure(tried, phase)):
                return
        except (ModelError, MemoryError, ImportError) as error:
            seconds, failed = perf_counter() - began, reason_of(error)
            tried.model = tried.verdict = None
        self._tried.append(tried)
        verdict = "" if best is None or failed else self._judged(trial.number, best)
        tried.trial = replace(tried.trial, seconds=seconds, failed=failed, verdict=verdict)
        self._consider(tried.trial)
        yield self._measured_now(phase)
        yield self.progress(phase, 1)

    def train(
        self, phase: str, added: int = 0, weights: NDArray[np.float64] | None = None
    ) -> Trainer:
        """Train the model on the training rows, and the first so many of the pool.

        Parameters
        ----------
        weights : NDArray[np.float64], optional
            ``(n,)``; how much each training row counts, where none are added.
        """
        mitigation, pool, train = self.mitigation, self.pool, self.parts.train
        rows = np.concatenate([mitigation.rows[train], pool.rows[:added]])
        targets = np.concatenate([mitigation.target[train], pool.targets[:added]])
        model = mitigation.model
        if pool.texts:
            model = widened(model, mitigation.domain, pool.texts)
        return self.refit(model, TrainingSet(rows, targets, weights), phase)

    def refit(
        self, model: FedModel, training_set: TrainingSet, phase: str, luck: int = 0
    ) -> Trainer:
        """Train a model on a lesson; by another seed with another ``luck``."""
        mitigation, options, held_out = self.mitigation, self.options, self.parts.validation
        epochs = refit(
            model,
            training_set,
            TrainingSet(mitigation.rows[held_out], mitigation.target[held_out]),
            Training(
                options.start, options.optimiser, options.epochs, options.batch, options.patience
            ),
            self._seed + luck,
        )
        try:
            while not mitigation.ending:
                done, total = next(epochs)
                yield self.progress(phase, done, total)
        except StopIteration as end:
            return cast("FedModel", end.value)
        finally:
            epochs.close()
        return None

    def lowered(self, number: int, against: int) -> Literal["better", "worse", "open"]:
        """Return whether a trial's target is shown below another's on the validation rows."""
        change = self._difference(self._tried[number], self._tried[against])
        if change.low is None or change.high is None:
            return "open"
        return "better" if change.high < 0 else "worse" if change.low > 0 else "open"

    def finish(self) -> Iterator[Event]:
        """Prove what can be proven, write the models worth having as files, and tell the end."""
        yield from self._try_luck()
        self._remark()
        yield from self._prove()
        yield from self._save()
        yield self._measured_now("saving")
        yield self.progress("saving", 1)

    def progress(self, phase: str, done: int = 0, total: int = 1) -> Progress:
        """Return how far a phase is."""
        asked = self.mitigation.queries
        return Progress(phase, done, total, tried=asked, found=0, queries=asked)

    def _measure(self, tried: _Tried, phase: str) -> Generator[Event, None, bool]:
        """Measure a model, and what it changes.

        Returns
        -------
        bool
            Whether it was. Where it is told to end before, `ended` says so: to ask a slow model may
            take minutes.
        """
        if tried.model is not None:
            done, steps = 0, self._examiner.steps(tried.model)
            while done == self._examiner.total or not self.mitigation.ending:
                try:
                    done += next(steps)
                    yield self.progress(phase, done, self._examiner.total)
                except StopIteration as end:
                    tried.verdict = end.value
                    self._compare(tried)
                    return True
        count = len(self._tried)
        when = f"after {counted(count, 'model')}" if count else "before any model was measured"
        self.ended = self.ended or (f"The mitigation was ended, or its budget was used up, {when}.")
        return False

    def _compare(self, tried: _Tried) -> None:
        """Compare a model with nothing added, and with the one that was imported."""
        verdict = tried.verdict
        if verdict is None:
            return
        others = [
            (other.trial.number, other.verdict)
            for other in reversed(self._tried[: PLAIN + 1])
            if other.verdict is not None and other.trial.number < tried.trial.number
        ]
        changes_found = tuple(
            each for number, other in others for each in changes(verdict, other, number)
        )
        tried.trial = replace(tried.trial, measures=verdict.measures, changes=changes_found)

    def _judged(self, number: int, best: int) -> Literal["better", "worse", "open", "costly"]:
        """Compare a model with the best before it; one that costs too much is none to keep."""
        lowered = self.lowered(number, best)
        lost = _accuracy(self._tried[PLAIN]) - _accuracy(self._tried[number])
        # the last bit of a share of rows must not decide
        costly = 100 * lost > self.options.accuracy_loss + 1e-9
        return "costly" if costly and lowered != "worse" else lowered

    def _consider(self, trial: Trial) -> None:
        """Choose a portion that is lower than the chosen one, and shown to help.

        That is: to be lower than with nothing added, at no more cost than allowed. That it is the
        lowest of several owes something to chance; so what is told of it comes from other people.
        """
        if trial.verdict in ("better", "open") and self.lowered(trial.number, PLAIN) == "better":
            tried = self._tried[trial.number]
            before = self._tried[self.chosen if self.chosen >= 0 else PLAIN]
            if (self._difference(tried, before).difference or 0.0) < 0:
                self.chosen = trial.number

    def _difference(self, tried: _Tried, other: _Tried) -> Change:
        if tried.verdict is None or other.verdict is None:
            raise ValueError("a model that failed has no measures")
        return target_change(tried.verdict, other.verdict, other.trial.number, self.looks)

    def _measured_now(self, phase: str) -> Measured:
        """Return all figures as they are."""
        parts = self.parts
        repair = Repair(
            target=self.target,
            chosen=self.chosen,
            pairs=self.pool.available,
            rows=len(self.pool.rows),
            labels=self.options.labels,
            train=len(parts.train),
            validation=len(parts.validation),
            test=len(parts.test),
            allowance=self.options.accuracy_loss,
            retrains=self.retrains,
            ended=self.ended,
            notes=tuple(self.notes),
        )
        return Measured(phase, (repair, *self.trials))

    def _try_luck(self) -> Iterator[Event]:
        """Train the model with nothing added once more, by another seed, and note how it differs.

        Intervals know of people who were drawn, and not of the luck that training has: of a network
        that may be more than what a portion brings, or seems to spoil.
        """
        judged = any(each.trial.verdict for each in self._tried)
        if not judged or self.mitigation.ending:
            return
        phase, train = "retraining", self.parts.train
        training_set = TrainingSet(self.mitigation.rows[train], self.mitigation.target[train])
        again = _Tried(Trial(len(self._tried), "retrained"))
        yield self.progress(phase)
        try:
            again.model = yield from self.refit(self.mitigation.model, training_set, phase, luck=1)
            if not (yield from self._measure(again, phase)):
                return
        except (ModelError, MemoryError, ImportError):
            # that it can be trained is known: this tells of nothing but luck
            return
        self.notes += luck_of_training(again.trial, self.trials[PLAIN], self.target)

    def _remark(self) -> None:
        """Note what the trials do not say by themselves."""
        if not self.retrains:
            self.notes.append("There are augmentation rows, but no other model to compare.")
        elif self.chosen >= 0:
            self.notes += of_chosen(self.trials[self.chosen], self.target)
        elif not self.mitigation.ending:
            # else further portions might have helped
            self.notes += of_none(self.trials, self.target, self.options.labels)

    def _prove(self) -> Iterator[Event]:
        """Prove how much the model discriminates as imported, and as chosen."""
        if not self.options.certify or self.mitigation.ending:
            return
        wanted = [self._tried[number] for number in (IMPORTED, self.chosen) if number >= 0]
        for done, tried in enumerate(wanted):
            yield self.progress("proving", done, len(wanted))
            model = cast("FedModel", tried.model)
            try:
                proven = yield from certified(self.mitigation, model, self.options.certify)
            except (ModelError, MemoryError) as error:
                # a proof is told beside: no result may be lost for it
                self.notes.append(f"Certification was started and failed. {reason_of(error)}")
                break
            verdict = cast("Verdict", tried.verdict)
            tried.verdict = dataclasses.replace(verdict, measures=(*verdict.measures, *proven))
            self._compare(tried)
        yield self._measured_now("proving")
        yield self.progress("proving", 1)

    def _save(self) -> Iterator[Event]:
        """Write the chosen model and the others on the front as files."""
        wanted = [
            each
            for each, trial in zip(self._tried, self.trials, strict=True)
            if each.model is not None
            and each.whole
            and trial.kind != "imported"
            and (trial.front or trial.number == self.chosen)
        ]
        # whoever ends the repair meanwhile has the one that matters
        wanted.sort(key=lambda each: each.trial.number != self.chosen)
        rows = self.mitigation.rows[self.parts.test]
        for done, tried in enumerate(wanted):
            yield self.progress("saving", done, len(wanted))
            for file in save(cast("FedModel", tried.model), rows):
                note, content = file.remark, file.content
                if len(content) > MOST_BYTES:
                    note = (
                        f"The file would have {len(content) / 1e6:,.0f} MB, and an audit keeps at "
                        f"most {MOST_BYTES / 1e6:,.0f} MB. {note}"
                    )
                    content = b""
                yield Retrained(
                    "saving", tried.trial.number, file.name, note, np.frombuffer(content, np.int8)
                )
                yield self.progress("saving", done, len(wanted))


def _accuracy(tried: _Tried) -> float:
    """Return the accuracy on the validation rows."""
    accuracies = [
        each.estimate
        for each in tried.trial.measures
        if each.what == "accuracy" and each.rows == "validation"
    ]
    return accuracies[0] or 0.0
