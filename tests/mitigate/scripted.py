"""Repairs whose models are made up: each has the share and the accuracy that a test gives it."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.mitigate.context import Split
from fairdesk.mitigate.methods import repairs, trial_runner
from fairdesk.mitigate.options import AequitasRepairOptions
from fairdesk.mitigate.rows.pool import Pool
from fairdesk.models.retrain.retraining import Saved
from fairdesk.results.events import Measured
from fairdesk.results.mitigation import Augmented, Change, Measure, Retrained

#: Rows to train with, to choose by and to test with.
TRAIN, HELD_OUT = 1_000, 500
#: Differences of shares within this are not shown.
MARGIN = 0.02


@dataclass(frozen=True)
class Model:
    """How a model fares; or why there is none."""

    share: float = 0.2
    accuracy: float = 0.8
    fails: str = ""
    memory: bool = False
    refuses: str = ""


@dataclass
class Script:
    """The models of a repair in turn: imported, retrained, first portion, ...

    Attributes
    ----------
    models : list of Model
        They are used up one by one.
    rows : int
        Of the pool.
    obstacle : str
        Why the model cannot be retrained.
    winding : int
        The repair is told to end when so many models were begun.
    halfway : int
        It is told so while so many models were begun, and the last of them is half measured.
    size : int
        Bytes of each file.
    luck : Model, optional
        The one that is retrained by another seed; by default the same as by the first.
    proof : Exception, optional
        What goes wrong when something is to be proven.
    lessons, seeds : list
        What each training was given.
    """

    models: list
    rows: int = 10_000
    obstacle: str = ""
    winding: int = 0
    halfway: int = -1
    size: int = 10
    luck: Model | None = None
    proof: Exception | None = None
    lessons: list = field(default_factory=list)
    seeds: list = field(default_factory=list)
    saved: list = field(default_factory=list)
    proven: list = field(default_factory=list)
    mitigation: object = None

    def refit(self, model, training_set, held_out, training, seed):
        assert len(held_out.rows) == HELD_OUT
        if self.seeds and seed != self.seeds[0]:
            # the same once more, by luck of another kind
            assert len(training_set.rows) == TRAIN
            return self.luck or self.models[1]
        at = self.models[len(self.lessons) + 1]
        self.lessons.append(training_set)
        self.seeds.append(seed)
        yield 0, 2
        if len(self.lessons) == self.winding:
            self.mitigation.request_finish()
        if at.memory:
            raise MemoryError
        if at.fails:
            raise ModelError(at.fails)
        yield 1, 2
        return at

    def steps(self, model):
        if len(self.lessons) == self.halfway:
            self.mitigation.request_finish()
        yield 50
        yield 50
        at = model if isinstance(model, Model) else self.models[0]
        if at.refuses:
            raise ModelError(at.refuses)
        measures = [
            Measure("accuracy", "", where, at.accuracy, None, None, HELD_OUT)
            for where in ("validation", "test")
        ]
        shares = [
            Measure("share_domain", "", where, at.share, None, None, 100)
            for where in ("validation", "domain")
        ]
        return Verdict(at, (*measures, *shares))

    def save(self, model, rows):
        assert len(rows) == HELD_OUT
        self.saved.append(model)
        yield Saved("model.joblib", "It answers alike.", b"x" * self.size)

    def certified(self, mitigation, model, seconds):
        self.proven.append(model)
        if self.proof is not None:
            raise self.proof
        yield from ()
        return (Measure("certified", "", "domain", 0.5, None, None, 100),)


@dataclass
class Verdict:
    """What the script says of a model."""

    model: Model
    measures: tuple


def target_change(after, best, against, looks):
    apart = after.model.share - best.model.share
    return Change("share_domain", "", "validation", against, apart, apart - MARGIN, apart + MARGIN)


def changes(after, before, against):
    apart = after.model.accuracy - before.model.accuracy
    return (Change("accuracy", "", "test", against, apart, None, None),)


def play(monkeypatch, mitigation, script, options=None, method=repairs.aequitas, seed=0):
    """Run a repair by a script; give what it told in the end, and all events."""
    script.mitigation = mitigation
    places = np.arange(len(mitigation.rows))
    parts = Split(places[:TRAIN], places[TRAIN:1_500], places[1_500:2_000])
    pool = Pool(
        np.tile(mitigation.rows[:1], (script.rows, 1)),
        np.zeros(script.rows, dtype=np.int64),
        np.arange(script.rows),
        np.zeros(script.rows, dtype=np.int64),
        available=script.rows,
        notes=("Some were left out.",),
    )
    examiner = SimpleNamespace(steps=script.steps, total=100)
    for name, made in {
        "split": lambda *_: parts,
        "Examiner": lambda *_: examiner,
        "why_not": lambda _: script.obstacle,
        "refit": script.refit,
        "save": script.save,
        "certified": script.certified,
        "changes": changes,
        "target_change": target_change,
    }.items():
        monkeypatch.setattr(trial_runner, name, made)

    def of_pool(*given):
        most = given[-2]
        count = min(script.rows, most)
        return replace(pool, rows=pool.rows[:count], targets=pool.targets[:count])

    monkeypatch.setattr(repairs, "of_pairs", of_pool)
    monkeypatch.setattr(repairs, "of_rule", of_pool)
    options = options or AequitasRepairOptions(compare="none")
    rng = np.random.default_rng(seed)
    events = list(method(mitigation, mitigation.rows, options, rng))
    return Played(script, events)


@dataclass
class Played:
    """What a repair told."""

    script: Script
    events: list

    @property
    def repair(self):
        return self.figures[0]

    @property
    def figures(self):
        return [each for each in self.events if isinstance(each, Measured)][-1].figures

    @property
    def trials(self):
        return self.figures[1:]

    @property
    def portions(self):
        return [each for each in self.trials if each.kind == "portion"]

    @property
    def verdicts(self):
        return [each.verdict for each in self.portions]

    @property
    def files(self):
        return [each for each in self.events if isinstance(each, Retrained)]

    @property
    def added(self):
        (added,) = (each for each in self.events if isinstance(each, Augmented))
        return added
